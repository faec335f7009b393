//! Language models over HTTP. Each server is an [`Endpoint`]: a dialect, an address, a model, a key, a price.
//!
//! The only crate that talks to a model's server. It is asked through `llm::Model`; which ask that is, what it may cost and
//! whether it may leave the machine were decided before.

pub mod breaker;
pub mod dialect;
mod endpoint;
pub mod frames;
mod key;
mod line;
mod price;
pub mod retry;
mod said;
pub mod trouble;
mod wire;

pub use endpoint::{Dialect, Endpoint};
pub use key::Key;
pub use line::{Line, Surroundings};
pub use price::Price;
pub use trouble::Trouble;
pub use wire::{NoClient, Pace, Wire};
