use domain::id::TaskId;
use domain::{Digest, Time};

use crate::table::record;
use crate::value::Seq;

record! {
    /// One step of a task's journal: the truth. The task's state is the fold of these.
    TaskStep in "task_steps" by [task, n], Append {
        seq: Seq,
        task: TaskId,
        n: u64,
        /// The fencing token of the driver that wrote it.
        epoch: u64,
        /// The input and the messages it led to, as a blob of the person it belongs to.
        body: Digest,
        at: Time,
    }
}
