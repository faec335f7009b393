//! Only `Pending::authorize` makes an `Authorized` call: its fields are private.
use broker::Authorized;
use domain::{Time, call::Call};
use ledger::records::ToolCall;

pub fn forge(call: Call, row: ToolCall, not_after: Time) -> Authorized<Call> {
    Authorized { call, row, not_after, at_most: None, changes: None, stop: Default::default() }
}
