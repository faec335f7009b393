//! A salt can be erased: it is declared so.
use domain::{Time, id::BatchId};
use ledger::{Batch, records::Salt};

pub fn erase() {
    let mut batch = Batch::new(BatchId::from_bits(1), Time::from_micros(0));
    batch.erase::<Salt, _>("person", &["p-1".to_owned()]);
}
