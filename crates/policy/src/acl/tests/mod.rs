mod kept;
mod permissions;
mod properties;
mod rules;
mod shipped;
mod world;

use serde_json::Value;

use super::load::{Origin, Source, load};
use super::{Access, PolicySet, filter};

fn set(text: &str) -> PolicySet {
    let loaded = load(&[Source { file: "p.yaml", text, origin: Origin::Own }]);
    loaded.unwrap_or_else(|mistakes| panic!("{mistakes}")).set
}

fn decide(set: &PolicySet, line: &Value) -> Access {
    set.decide(&filter::case(line).unwrap())
}
