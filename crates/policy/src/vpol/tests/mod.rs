mod judge;
mod kept;
mod page;
mod pick;
mod properties;
mod world;

use kept::WHOLE;

use super::VpolSet;
use super::load::load;
use crate::yaml::{Origin, Source};

fn set(text: &str) -> VpolSet {
    let loaded = load(&[Source { file: "v.yaml", text, origin: Origin::Own }]);
    loaded.unwrap_or_else(|mistakes| panic!("{mistakes}")).set
}
