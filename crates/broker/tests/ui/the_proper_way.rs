//! The same shapes, used as they are meant, compile.
use broker::{Authorized, Handler, NotCovered, Pending, Returned};
use domain::{Time, call::Call};
use ledger::Receipt;

pub async fn proper(
    handler: &dyn Handler,
    pending: Pending,
    receipt: &Receipt,
    until: Time,
) -> Result<Returned, NotCovered> {
    let authorized: Authorized<Call> = pending.authorize(receipt, until)?;
    Ok(handler.call(authorized).await)
}
