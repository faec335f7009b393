use domain::Time;

use crate::table::record;

record! {
    /// How far an adapter has read at its source, in the source's own words. Written in the batch of the event that
    /// it covers, so that neither can be there without the other.
    Watermark in "watermarks" by [adapter, account], Replace, Personal {
        adapter: String,
        /// Empty where the adapter has only one.
        account: String,
        position: String,
        at: Time,
    }
}
