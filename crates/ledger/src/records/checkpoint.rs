use crate::table::record;

record! {
    /// The end of an epoch: what was signed, and the signature. What it says is `chain::Statement`.
    Checkpoint in "checkpoints" by [epoch], Keep {
        epoch: u64,
        bytes: Vec<u8>,
        signature: Vec<u8>,
    }
}
