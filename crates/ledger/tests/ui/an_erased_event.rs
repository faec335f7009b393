//! An event is kept for good: it is not `Erasable`.
use domain::{Time, id::{BatchId, EventId}};
use ledger::{Batch, records::Event};

pub fn erase() {
    let mut batch = Batch::new(BatchId::from_bits(1), Time::from_micros(0));
    batch.erase::<Event, _>("id", &[EventId::from_bits(1)]);
}
