//! Language models over HTTP. Each server is an [`Endpoint`]: a dialect, an address, a model, a key, a price.
//!
//! The only crate that talks to a model's server. It is asked through `llm::Model`; which ask that is, what it may cost and
//! whether it may leave the machine were decided before.
//!
//! - `dialect`: what is said to a server and what it says back, as values. No clock, no socket.
//! - `frames`: bytes, cut anywhere, become whole events.
//! - `trouble`: everything that goes wrong, what it leads to, and one sentence for the owner.
//! - `retry`, `breaker`: when to try again, and when to leave a server alone.
//! - `wire`: the one place that opens a connection.
//! - `line`: models in the order in which they are asked.
//! - `catalog`, `choice`, `detect`, `provider`: which models there are, and which of them are asked, and why.
//! - `listener`: whose server it is that listens on this machine.
//! - `price`, `key`, `notice`: what they cost, what lets us in, what the owner is told before anything leaves.
//!
//! INVARIANTS: a stream without its end is never a reply; no call is lost; no key is in anything that is shown, and none goes to
//! another host than the one that was written down; what a prompt costs is never more than its quote.
//!
//! Start reading at [`Line`], then [`dialect::request`] and [`dialect::Reader`].

mod address;
pub mod breaker;
pub mod catalog;
mod choice;
mod detect;
pub mod dialect;
mod endpoint;
pub mod frames;
mod key;
mod line;
pub mod listener;
mod notice;
mod price;
mod provider;
pub mod retry;
mod said;
pub mod trouble;
mod wire;

pub use choice::{Chosen, Environment, Mistake, REFLEX, Wish, Wishes, choose, endpoints, parse};
pub use detect::{Probe, Probing};
pub use endpoint::{Dialect, Endpoint};
pub use key::{Key, looks_like_key};
pub use line::{Line, Surroundings};
pub use notice::notice;
pub use price::{Listed, Price, Prices};
pub use provider::{Provider, confirmable};
pub use trouble::Trouble;
pub use wire::{NoClient, Pace, Wire};
