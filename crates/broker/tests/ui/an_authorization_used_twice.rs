//! A handler consumes the `Authorized` call.
use broker::{Authorized, Handler};
use domain::call::Call;

pub async fn again(handler: &dyn Handler, authorized: Authorized<Call>) {
    handler.call(authorized).await;
    handler.call(authorized).await;
}
