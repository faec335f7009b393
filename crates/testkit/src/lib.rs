//! For tests only: a clock turned by hand, ids that count, and a [`World`] in which a product test is written in
//! the product's own language: put files there, ask for something, look at what was shown and what was kept.
//!
//! Nothing here is part of the program. Start reading at [`World`]; [`sim`] plays whole histories from a seed.

#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test world makes files and fails loudly"
)]

mod clock;
mod host;
pub mod scripted;
pub mod sim;
mod sleeper;
mod together;
mod world;

pub use clock::{CountingIds, ManualClock};
pub use host::{Place, TestHost};
pub use scripted::{Scripted, Thinker};
pub use together::Together;
pub use world::{Kept, World, database};
