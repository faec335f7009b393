//! An `Authorized` call cannot be serialised.
use broker::Authorized;
use domain::call::Call;

pub fn keep(authorized: &Authorized<Call>) -> String {
    serde_json::to_string(authorized).unwrap()
}
