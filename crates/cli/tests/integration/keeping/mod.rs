//! The real binary and the house as a whole: upgrades from the schema of the first walk, backups, restores. Killed at
//! every step, on a full disk, by two at once; on PostgreSQL, too.

mod approved;
mod backups;
#[cfg(feature = "faults")]
mod carried;
#[cfg(feature = "faults")]
mod databases;
mod disks;
#[cfg(feature = "faults")]
mod killed;
mod old;
mod restores;
#[cfg(feature = "faults")]
mod sequences;
mod server;
#[cfg(feature = "faults")]
mod stopped;
#[cfg(feature = "faults")]
mod unsealed;
mod upgrades;
#[cfg(feature = "faults")]
mod watched;
