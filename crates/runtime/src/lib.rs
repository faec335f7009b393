//! The journey of an event, and [`App`]: the typed use cases that every surface maps onto.
//!
//! `pipeline` reads from top to bottom like the journey in ARCHITECTURE: ingest, admit, then the driver, which lets
//! the engine decide, executes through the broker, and delivers. Everything is durable before it is acted on.
//!
//! It never reads the clock, the environment or a file by itself: what it needs of the machine it runs on comes
//! through [`Host`], which the program's edge implements.
//!
//! Start reading at [`App`], then `pipeline/mod.rs`.

pub mod app;
mod bus;
mod carried;
mod clock;
mod duties;
mod host;
mod house;
pub mod keeping;
mod lapsed;
mod minds;
mod pipeline;
mod policies;
mod problem;
mod recheck;
mod retention;
pub mod settings;
mod toolbox;

pub use app::{App, Parts};
pub use bus::{Bus, Display, Posted, Shown, Tap, Tapped, TappedLine};
pub use carried::AuthoritySnapshot;
pub use duties::{DutyLine, DutyState, Pace};
pub use host::{Finding, Furnished, Host, State, User};
pub use house::{House, VaultOwner, VaultPaths};
pub use lapsed::Lapsed;
pub use minds::{Minds, Nobody};
pub use pipeline::{Surety, Surface, Watch};
pub use policies::{Mistaken, PolicyFile, PolicyKind, Standing};
pub use problem::{CODES, Code, Problem, page};
pub use recheck::{Again, Difference, Line, Rechecked};
