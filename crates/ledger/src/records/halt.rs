use domain::Time;

use crate::table::record;

record! {
    /// Whoever starts something expects that there is none of these; it is erased when work may go on.
    Halt in "halts" by [name], Append, Erasable {
        name: String,
        at: Time,
        /// Whose word it was: a word of ours, such as `owner`.
        by: String,
    }
}

impl Halt {
    /// The one name there is: everything stands still.
    pub const ALL: &'static str = "all";
    /// The word that stands for the owner.
    pub const OWNER: &'static str = "owner";
}
