//! Language models over HTTP. Each server is an [`Endpoint`]: a dialect, an address, a model, a key, a price.
//!
//! The only crate that talks to a model's server. It is asked through `llm::Model`; which ask that is, what it may cost and
//! whether it may leave the machine were decided before.

mod address;
pub mod catalog;
mod choice;
mod detect;
mod endpoint;
mod key;
mod notice;
mod price;
mod provider;

pub use choice::{Chosen, Environment, Mistake, REFLEX, Wish, Wishes, choose, endpoints, parse};
pub use detect::{Probe, Probing};
pub use endpoint::{Dialect, Endpoint};
pub use key::{Key, looks_like_key};
pub use notice::notice;
pub use price::{Listed, Price, Prices};
pub use provider::Provider;
