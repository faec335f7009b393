//! A limit on everything that a policy file can make us do or keep.

/// Files of one set.
pub const FILES: usize = 100;
/// One file.
pub const FILE_BYTES: usize = 256 * 1024;
/// All files of a set together.
pub const SET_BYTES: usize = 2 * 1024 * 1024;
/// Policies of one set.
pub const POLICIES: usize = 1_000;
/// Scalars, lists and maps of one file, those that aliases repeat included.
pub const NODES: usize = 20_000;
/// Aliases (`*name`) of one file.
pub const ALIASES: usize = 100;
/// Lists and maps in each other. The deepest field of a policy lies at eight.
pub const DEPTH: usize = 16;
/// One name, glob, tag, window or template.
pub const TEXT_BYTES: usize = 200;
/// Globs, credentials, tags, conditions or windows in one list.
pub const LIST_ENTRIES: usize = 200;
/// Examples of one policy.
pub const EXAMPLES: usize = 50;
/// Mistakes and notes that are reported; what is beyond is counted.
pub const REPORTED: usize = 500;
/// The highest priority.
pub const TOP: u8 = 100;
