//! The policies that come with the program. They are files like the owner's own, with examples that are checked.

use super::load::{Loaded, Mistakes, Origin, Source, load};

/// In the order in which equal priorities are heard.
pub const FILES: [Source<'static>; 6] = [
    shipped("owner.yaml", include_str!("owner.yaml")),
    shipped("groups.yaml", include_str!("groups.yaml")),
    shipped("people.yaml", include_str!("people.yaml")),
    shipped("machines.yaml", include_str!("machines.yaml")),
    shipped("quiet-hours.yaml", include_str!("quiet-hours.yaml")),
    shipped("unknown.yaml", include_str!("unknown.yaml")),
];

const fn shipped(file: &'static str, text: &'static str) -> Source<'static> {
    Source { file, text, origin: Origin::Shipped }
}

/// # Errors
/// Never in a program that passed its tests: `what_ships_is_without_a_mistake`.
pub fn defaults() -> Result<Loaded, Mistakes> {
    load(&FILES)
}
