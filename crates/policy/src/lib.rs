//! Who may do what. Every function here takes facts and returns a decision with its reasons; nothing is
//! fetched and nothing is done, so each decision can be recomputed later from what was recorded.
//!
//! Deny by default: what no policy admits is denied, and the reason says so.
//!
//! INVARIANT (trust-from-outside): no function here takes the text of a message. Nothing in a message can
//! raise its own trust.
//!
//! Start reading at [`admit::admit`], for policies at [`acl`], for what validates calls at [`vpol`].

/// The number of the deciding code of this crate. A test (`the_deciding_code_is_what_its_number_says`) fails when that
/// code changes; raise the number if it can decide anything differently.
pub const RULES: u32 = 4;

pub mod acl;
pub mod admit;
pub mod constitution;
pub mod knock;
pub mod tier;
pub mod vpol;
pub mod yaml;
