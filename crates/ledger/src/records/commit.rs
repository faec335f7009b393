use domain::Time;
use domain::id::BatchId;

use crate::table::record;
use crate::value::Seq;

record! {
    /// One batch that was committed: what makes committing it again a no-op.
    Commit in "commits" by [id], Append, Unguarded {
        seq: Seq,
        id: BatchId,
        at: Time,
    }
}
