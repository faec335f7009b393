//! Only `Broker::authorize` makes a `Ruled` call: its fields are private.
use broker::{Decision, Ruled};
use domain::{Digest, call::Call};
use ledger::records::Blob;

pub fn overrule(call: Call, decision: Decision, digest: Digest, bodies: Vec<Blob>) -> Ruled {
    Ruled {
        call,
        decision,
        input: digest,
        record: digest,
        bodies,
        reservation: Default::default(),
        at_most: None,
        exhausted: false,
        question: None,
        changes: None,
        keeps: Vec::new(),
        leave: None,
        fingerprint: None,
    }
}
