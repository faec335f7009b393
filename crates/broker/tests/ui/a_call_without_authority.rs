//! A handler takes no call that was not authorised.
use broker::Handler;
use domain::call::Call;

pub async fn sneak(handler: &dyn Handler, call: Call) {
    handler.call(call).await;
}
