//! The validation policies that come with the program. They are a file like the owner's own, with examples that are checked.

use super::load::{Loaded, load};
use crate::yaml::{Mistakes, Origin, Source};

pub const FILES: [Source<'static>; 1] =
    [Source { file: "defaults.yaml", text: include_str!("defaults.yaml"), origin: Origin::Shipped }];

/// # Errors
/// Never in a program that passed its tests: `what_ships_is_what_the_program_knows`.
pub fn defaults() -> Result<Loaded, Mistakes> {
    load(&FILES)
}
