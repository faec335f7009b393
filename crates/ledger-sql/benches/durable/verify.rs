//! What verifying an entry of the audit costs, beside hashing the same bytes and beside reading them row by row.

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::id::{BatchId, NodeId, OriginId, ReasonId, VpolId};
use domain::probe::Silent;
use domain::{Digest, Time, Trust};
use ledger::chain::Seal;
use ledger::records::AuditEntry;
use ledger::{Batch, Entry, Ledger, Op, Select};

use crate::Place;

const ROUNDS: usize = 5;
const EACH: u64 = 2_000;

/// As entries of calls are: most of them.
fn entry(n: u64) -> Entry {
    let id = |bits: u64| u128::from(bits).wrapping_mul(0x9e37_79b9_7f4a_7c15_9e37_79b9_7f4a_7c15);
    Entry {
        at: Time::from_micros(1_800_000_000_000_000 + i64::try_from(n).expect("small") * 1_313),
        kind: "call.finished".into(),
        actor: "agent:main".into(),
        subject: domain::id::CallId::from_bits(id(n)).to_string(),
        trust: Some(Trust::Operator),
        origin_id: Some(OriginId::from_bits(id(n / 9))),
        reason_id: Some(ReasonId::from_bits(id(n + 1))),
        vpol_id: Some(VpolId::from_bits(7)),
        detail: serde_json::json!({
            "tool": "find_files", "task": domain::id::TaskId::from_bits(id(n / 9)).to_string(),
            "output": Digest::of(&n.to_be_bytes()), "duration_ms": n % 50,
        }),
    }
}

pub(crate) async fn measure(place: &Place<'_>, entries: u64) {
    let ledger =
        Ledger::start(place.store().await, Seal::for_tests(NodeId::from_bits(1), [7; 32]), Arc::new(Silent));
    for (n, first) in (1_u32..).zip((0..entries).step_by(usize::try_from(EACH).expect("small"))) {
        let mut batch = Batch::new(BatchId::from_bits(n.into()), Time::from_micros(1));
        for n in first..(first + EACH).min(entries) {
            batch.audit(entry(n));
        }
        if n % 10 == 0 {
            batch.end_epoch();
        }
        ledger.commit(batch).await.expect("commit");
    }
    let size = ledger.audit_tail(1).await.expect("tail").first().map_or(0, |last| last.bytes.len());
    let bodies: Vec<Vec<u8>> = (0..entries).map(|_| vec![b'x'; size]).collect();
    let rate = |took: Duration| entries as f64 / took.as_secs_f64();
    let (mut hashing, mut rows, mut verifying) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let mut hash = Digest::ZERO;
        for body in &bodies {
            hash = Digest::of_parts(&[hash.as_bytes(), body]);
        }
        hashing.push(rate(begun.elapsed()));
        assert_ne!(hash, Digest::ZERO);

        let begun = Instant::now();
        let mut last = 0_u64;
        loop {
            let page = Select::<AuditEntry>::by("stream", &NodeId::from_bits(1)).filter("seq", Op::Gt, &last);
            let page = ledger.select(page.ascending("seq").limit(2_048)).await.expect("page");
            match page.last() {
                Some(entry) => last = entry.seq,
                None => break,
            }
        }
        rows.push(rate(begun.elapsed()));

        let begun = Instant::now();
        let verified = ledger.verify_audit().await.expect("verify");
        verifying.push(rate(begun.elapsed()));
        assert!(verified.is_consistent() && verified.entries() == entries, "{verified:?}");
    }
    let median = |mut rates: Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates.get(ROUNDS / 2).copied().unwrap_or_default()
    };
    let (hashing, rows, verifying) = (median(hashing), median(rows), median(verifying));
    println!("{entries} entries of {size} bytes, medians of {ROUNDS} rounds, entries per second");
    println!("hashing them in memory     {hashing:>12.0}");
    println!("reading them row by row    {rows:>12.0}");
    println!(
        "verifying                  {verifying:>12.0}   {:.2} of hashing, {:.1} of reading",
        verifying / hashing,
        verifying / rows
    );
}
