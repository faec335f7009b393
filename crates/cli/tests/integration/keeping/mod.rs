//! The real binary and the house as a whole: upgrades from the schema of the first walk, backups, restores. Killed at
//! every step, on a full disk, by two at once; on PostgreSQL, too.

mod approved;
mod backups;
mod disks;
#[cfg(feature = "faults")]
mod killed;
mod old;
mod restores;
mod server;
mod upgrades;
