//! Only the ledger makes a receipt: its fields are private.
use domain::id::BatchId;
use ledger::{Receipt, Token};

pub fn receipt(batch: BatchId, token: Option<Token>) -> Receipt {
    Receipt { batch, token }
}
