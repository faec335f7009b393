//! Only an offer gives an operation that can be called: its field is private.
use app::operation::{OfferedOperation, OperationEntry};

pub fn offer(entry: &'static OperationEntry) -> OfferedOperation {
    OfferedOperation(entry)
}
