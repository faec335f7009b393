//! An audit entry is kept for good: it is not `Erasable`.
use domain::{Time, id::BatchId};
use ledger::{Batch, records::AuditEntry};

pub fn erase() {
    let mut batch = Batch::new(BatchId::from_bits(1), Time::from_micros(0));
    batch.erase::<AuditEntry, _>("seq", &[1_u64]);
}
