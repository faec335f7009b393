//! A limit on everything that a policy file can make us do or keep.

pub use crate::yaml::limits::{
    ALIASES, DEPTH, EXAMPLES, FILE_BYTES, FILES, LIST_ENTRIES, NODES, POLICIES, REPORTED, SET_BYTES,
    TEXT_BYTES,
};

/// A session key after its variables were filled in.
pub const KEY_BYTES: usize = 512;
