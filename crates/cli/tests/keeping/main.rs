//! The real binary and the house as a whole: upgrades from the schema of the first walk, backups, restores. Killed at
//! every step, on a full disk, by two at once; on PostgreSQL, too.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests of the binary: they start processes and look at files"
)]

#[expect(clippy::print_stderr, reason = "shared with the tests of bad input")]
#[path = "../bad_input/mount.rs"]
mod mount;
#[expect(dead_code, reason = "shared with the tests of bad input, which use all of it")]
#[path = "../bad_input/process.rs"]
mod process;
#[expect(dead_code, reason = "shared with the tests of bad input, which use all of it")]
#[path = "../bad_input/sql.rs"]
mod sql;
#[expect(clippy::print_stderr, dead_code, reason = "shared with the tests of bad input, which use all of it")]
#[path = "../bad_input/world.rs"]
mod world;

mod approved;
mod backups;
mod disks;
#[cfg(feature = "faults")]
mod killed;
mod old;
mod restores;
mod server;
mod upgrades;
