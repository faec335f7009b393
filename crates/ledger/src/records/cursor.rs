use crate::table::record;

record! {
    /// Up to which event somebody has looked at all of them.
    Cursor in "cursors" by [name], Replace {
        name: String,
        seq: i64,
    }
}
