//! Access control by policies: who is let in, into which session, with which tools, credentials and data.
//!
//! Policies are YAML that the owner writes ([`load()`]), a set of them is compiled once ([`PolicySet`]), and
//! [`PolicySet::decide`] answers one [`Case`] with an [`Access`] and its reason. Nothing here reads a file, a clock or a
//! message.
//!
//! What the specification leaves open is decided so that it shrinks:
//!
//! - **A ceiling names all that gets through.** One that names no tools, no credentials or no data level lets none through;
//!   loading notes it.
//! - **A ceiling without an effect** only caps: it admits nobody, gives nothing, and has no session. Adding one never
//!   allows more. A ceiling that says `effect: allow` admits like any other policy, and gives its own tools.
//! - **Held or denied is nothing allowed**: permissions, credentials and data are empty unless the effect is `allow`.
//! - **`credentials: []`** names none, and so leaves none; leaving the field out names nothing.
//! - **Tags** of a policy must all be there. `webhook: true` is any webhook, a name only that one; agents the same.
//! - **`main`**, the owner's own session, is never a group's, and nobody gets there by a name that they have.
//! - **What is not known** matches nothing that asks for it, not even `false`.
//!
//! Start reading at [`evaluate`](PolicySet::decide).

pub mod access;
pub mod case;
pub mod credentials;
mod evaluate;
pub mod filter;
pub mod key;
pub mod limits;
pub mod load;
pub mod name;
pub mod permissions;
pub mod policy;
pub mod set;
pub mod shipped;
pub mod when;

pub use access::{Access, Placed, Why};
pub use case::{Case, Mark, Moment, Scene, Who};
pub use credentials::Credentials;
pub use load::{Loaded, Mistake, Mistakes, Note, load};
pub use name::Name;
pub use permissions::{Permissions, Verdict, WhyNot};
pub use policy::{DataLevel, Effect, Policy};
pub use set::{PolicySet, Switch};

#[cfg(test)]
mod tests;
