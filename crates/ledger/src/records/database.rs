use crate::table::record;

record! {
    /// Which database this is. The vault beside it holds the same, so that neither is used with another one's keys.
    DatabaseStamp in "database_stamp" by [name], Replace {
        name: String,
        /// Random, given with the schema.
        id: String,
        /// How often a restore has replaced what is in it. A process that knows another number writes nothing.
        incarnation: u64,
    }
}

impl DatabaseStamp {
    /// The one row that there is.
    pub const THIS: &'static str = "this";

    #[must_use]
    pub fn new(id: impl Into<String>, incarnation: u64) -> Self {
        Self { name: Self::THIS.into(), id: id.into(), incarnation }
    }
}
