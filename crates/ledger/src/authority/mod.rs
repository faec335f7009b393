//! Rows that carry authority, and what shows that this instance wrote them.
//!
//! An approval token lets a call run, a link makes an address the owner's, a halt stops everything. A process that can only
//! write the database must not be able to make, change, bring back or take away such a row. So each of them has a MAC under
//! the vault's authority key, in `authority_seals`; one MAC over all of these stands in the sealed head of the audit
//! (`audit_heads.authority`). The head moves forward with every change, and the vault notes how far it has come.
//!
//! INVARIANT (sealed-authority): a row counts only if it is the one that was sealed, and nothing that was sealed is missing.
//! Otherwise nothing that depends on the table is decided ([`Unverified`]), and no call starts.
//!
//! `form.rs` has the bytes behind the MACs: they are frozen, and hold no name of a table or a column. `table.rs` lists the
//! tables. `change.rs` is what a batch does to the seals; `state.rs` is what is found in a database.

mod change;
mod form;
mod state;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use change::{Resealed, Resealing, touches};
pub use form::AuthorityMac;
pub use state::Unverified;
pub(crate) use state::{AuthorityState, LOST, Seals, named_by};
pub use table::{AUTHORITY_TABLES, AuthorityTable};
