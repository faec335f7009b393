//! An `Authorized` call cannot be cloned.
use broker::Authorized;
use domain::call::Call;

pub fn twice(authorized: &Authorized<Call>) -> Authorized<Call> {
    authorized.clone()
}
