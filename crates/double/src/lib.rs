//! For tests: a local server that speaks the dialects of language models as their vendors document them, faults included.
//!
//! It is written from the vendors' documentation and knows nothing of our adapters: where the two disagree, one of them misread.
//! Beside each shape stands the page it is built from; the vendors' own client libraries are run against it
//! (`cargo xtask test clients`).
//!
//! It has no mind: what it answers is scripted ([`Script`]), once for all dialects. A request is checked as the vendor would
//! check it before the script is asked. It listens on loopback only, has no clock (its answers are the same on every day), and
//! is never shipped.
//!
//! ```
//! let double = double::Double::start(double::Script::new().when("weather", double::Said::text("rain")));
//! assert!(double.url.starts_with("http://127.0.0.1:"));
//! assert!(double.asked().is_empty());
//! ```
//!
//! Start reading at `script.rs` (what it is told), `fault.rs` (what may go wrong), `dialects/mod.rs` (how it is said).

mod asked;
mod check;
mod denied;
mod dialects;
mod fault;
mod gzip;
mod said;
mod script;
mod server;
mod wire;

pub use asked::{Asked, Dialect, Tool};
pub use denied::{Denied, RetryAfter};
pub use fault::Fault;
pub use said::{Call, Said, Thought, Usage};
pub use script::{KEY, Model, Reaction, Script};
pub use server::Double;
