//! A small record of three epochs, and everything that can be done to it.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails loudly")]

use std::sync::Arc;

use domain::id::{NodeId, OriginId};
use domain::{Digest, Time, Trust};

use super::{
    Anchor, Entry, Exported, Fault, Link, MemoryVault, Pinned, PublicKey, Seal, SignedHead, Tip, Vault as _,
    Verification, Verifier, Word,
};
use crate::records::{AuditEntry, AuditHead, Checkpoint};
use crate::table::Record as _;
use crate::value::{Row, Value};

const STREAM: NodeId = NodeId::from_bits(1);

fn entry(n: i64) -> Entry {
    Entry {
        at: Time::from_micros(1_000_000 * n + 7),
        kind: "call.started".into(),
        actor: "agent:main".into(),
        subject: format!("c-{n}"),
        trust: Some(Trust::Operator),
        origin_id: Some(OriginId::from_bits(4821)),
        reason_id: None,
        vpol_id: None,
        detail: serde_json::json!({ "n": n, "text": "a \"quoted\" \\ word" }),
    }
}

/// A record as a database holds it, with what the house keeps outside.
struct Kept {
    seal: Seal,
    rows: Vec<AuditEntry>,
    checkpoints: Vec<Checkpoint>,
    head: Option<AuditHead>,
    outside: Vec<Checkpoint>,
    tip: Option<Tip>,
}

impl Kept {
    fn new(key: u8) -> Self {
        let seal = Seal::new(STREAM, Arc::new(MemoryVault::new([key; 32])));
        Self { seal, rows: Vec::new(), checkpoints: Vec::new(), head: None, outside: Vec::new(), tip: None }
    }

    /// Three epochs: entries 1 and 2, entries 3 and 4, and entry 5 that no checkpoint has signed.
    fn sample(key: u8) -> Self {
        let mut kept = Self::new(key);
        for n in 1..=5 {
            kept.append(&entry(n));
            if n % 2 == 0 {
                kept.end_epoch();
            }
        }
        kept.outside.clone_from(&kept.checkpoints);
        kept.tip = Some(kept.end());
        kept
    }

    fn epoch(&self) -> u64 {
        self.checkpoints.len() as u64 + 1
    }

    fn end(&self) -> Tip {
        self.rows
            .last()
            .map_or(Tip { seq: 0, hash: Digest::ZERO }, |row| Tip { seq: row.seq, hash: row.hash })
    }

    fn append(&mut self, entry: &Entry) {
        let (linked, tip) = self.seal.link(self.end(), [entry]).unwrap();
        self.rows.extend(linked);
        self.head = Some(self.seal.head(self.epoch(), tip, None).unwrap());
    }

    fn end_epoch(&mut self) {
        let Tip { seq, hash } = self.end();
        let (epoch, heads) = (self.epoch(), vec![SignedHead { hash, seq, stream: STREAM }]);
        let at = Time::from_micros(9);
        self.checkpoints.push(self.seal.checkpoint(epoch, heads, self.checkpoints.last(), at).unwrap());
        self.head = Some(self.seal.head(epoch + 1, self.end(), None).unwrap());
    }

    fn root(&self) -> PublicKey {
        self.checkpoints[0].statement().unwrap().public
    }

    fn verify(&self, pinned: Option<&Pinned>) -> Verification {
        let rows: Vec<Row> = self.rows.iter().map(AuditEntry::row).collect();
        self.verify_rows(&rows, pinned)
    }

    fn verify_rows(&self, rows: &[Row], pinned: Option<&Pinned>) -> Verification {
        let mut verifier = Verifier::new(&self.checkpoints, &self.outside, pinned);
        verifier.compare_keys(&self.seal, self.head.as_ref(), pinned).unwrap();
        let mut walk = verifier.walk(STREAM);
        walk.expect(self.tip);
        for row in rows {
            match Link::of(&row.iter().map(Value::look).collect::<Vec<_>>()) {
                Some(link) => walk.step(&link),
                None => walk.stumble(),
            }
        }
        let verdict = walk.end(Some((self.head.as_ref(), &self.seal))).unwrap();
        verifier.finish(vec![verdict])
    }

    fn faults(&self, pinned: Option<&Pinned>) -> Vec<Fault> {
        self.verify(pinned).all_faults().map(|(_, fault)| fault.clone()).collect()
    }

    /// What a stranger gets, verified without anything of the house. It is signed first.
    fn verify_export(mut self, pinned: Option<&Pinned>) -> Word {
        self.end_epoch();
        self.verify_as_it_is(pinned)
    }

    fn verify_as_it_is(&self, pinned: Option<&Pinned>) -> Word {
        let rows: Vec<Row> = self.rows.iter().map(AuditEntry::row).collect();
        let links = rows
            .iter()
            .map(|row| Exported::entry(&Link::of(&row.iter().map(Value::look).collect::<Vec<_>>()).unwrap()));
        let checkpoints = self.checkpoints.iter().map(Exported::checkpoint);
        let lines = [Exported::title()].into_iter().chain(checkpoints).chain(links);
        Exported::verify(lines.map(Ok::<_, String>), pinned).map_or(Word::Broken, |verified| verified.word)
    }
}

#[test]
fn the_first_link_hangs_on_32_zero_bytes() {
    let kept = Kept::sample(7);
    assert_eq!(kept.rows[0].prev_hash, Digest::ZERO);
    assert_eq!(kept.rows[0].hash, Digest::of_parts(&[&[0; 32], &kept.rows[0].bytes]));
    assert_eq!(kept.faults(None), []);
}

#[test]
fn without_a_pinned_root_it_is_consistent_and_with_it_intact() {
    let kept = Kept::sample(7);
    assert_eq!(kept.verify(None).word, Word::Consistent);
    let root = Pinned::Root(kept.root());
    assert_eq!(kept.verify(Some(&root)).word, Word::Intact);
    assert_eq!(kept.verify_as_it_is(Some(&root)), Word::Broken, "nobody has signed the last entry");
    assert_eq!(Kept::sample(7).verify_export(None), Word::Consistent);
    assert_eq!(Kept::sample(7).verify_export(Some(&root)), Word::Intact);
    assert_eq!(kept.verify(None).streams[0].signed, 4);
    assert_eq!(kept.verify(None).root, Some(kept.root()));

    // Before the first checkpoint the secret itself says which root it is.
    let mut young = Kept::new(7);
    young.append(&entry(1));
    assert_eq!(young.verify(Some(&root)).word, Word::Intact);
    assert_eq!(young.verify(Some(&Pinned::Root(Kept::sample(8).root()))).word, Word::Broken);
    assert_eq!(
        young.verify_as_it_is(Some(&root)),
        Word::Broken,
        "nothing is signed that a stranger could check"
    );
}

/// Every byte of every cell of every entry, and every byte of every checkpoint.
#[test]
fn every_flipped_byte_is_named() {
    let kept = Kept::sample(7);
    let (rows, mut tried) = (kept.rows.iter().map(AuditEntry::row).collect::<Vec<Row>>(), 0);
    for at in 0..rows.len() {
        for column in 0..rows[at].len() {
            for byte in 0.. {
                let mut forged = rows.clone();
                if !flip(&mut forged[at][column], byte) {
                    break;
                }
                tried += 1;
                let name = AuditEntry::TABLE.columns[column].name;
                let verification = kept.verify_rows(&forged, None);
                assert_eq!(verification.word, Word::Broken, "byte {byte} of {name} of entry {}", at + 1);
                let named: Vec<String> =
                    verification.all_faults().map(|(_, fault)| fault.to_string()).collect();
                let entry = format!("entry {}", at + 1);
                let said = named.iter().any(|fault| fault.contains(&entry) || fault.contains("missing"));
                assert!(said, "byte {byte} of {name} of {entry}: {named:?}");
            }
        }
    }
    for at in 0..kept.checkpoints.len() {
        for byte in 0..kept.checkpoints[at].bytes.len() + 64 {
            let mut forged = Kept::sample(7);
            let checkpoint = &mut forged.checkpoints[at];
            match checkpoint.bytes.len() {
                signed if byte < signed => checkpoint.bytes[byte] ^= 1,
                signed => checkpoint.signature[byte - signed] ^= 1,
            }
            tried += 1;
            forged.outside.clear(); // the file outside the database is not needed for this
            let faults = forged.faults(None);
            let epoch = at as u64 + 1;
            let said = faults.iter().any(|fault| fault.to_string().contains(&format!("checkpoint {epoch}")));
            assert!(said, "byte {byte} of checkpoint {epoch}: {faults:?}");
        }
    }
    assert!(tried > 3_000, "{tried} positions");
}

/// Whether there was such a byte.
fn flip(value: &mut Value, byte: usize) -> bool {
    match value {
        Value::Bytes(bytes) => bytes.get_mut(byte).map(|byte| *byte ^= 1).is_some(),
        Value::Text(text) => {
            let mut bytes = std::mem::take(text).into_bytes();
            let there = bytes.get_mut(byte).map(|byte| *byte ^= 1).is_some();
            *text = String::from_utf8(bytes).unwrap();
            there
        }
        Value::Int(number) if byte < 8 => {
            *number ^= 1 << (8 * byte);
            true
        }
        Value::Time(time) if byte < 8 => {
            *time = Time::from_micros(time.micros() ^ (1 << (8 * byte)));
            true
        }
        // A cell that was empty holds something.
        Value::Null if byte == 0 => {
            *value = Value::Text(String::new());
            true
        }
        // The record holds none of these.
        Value::Null | Value::Int(_) | Value::Real(_) | Value::Time(_) => false,
    }
}

#[test]
fn each_kind_of_damage_has_its_name() {
    type Damage = fn(&mut Kept);
    let missing = |from, to| Fault::Missing { from, to };
    let table: [(&str, Damage, Vec<Fault>); 18] = [
        ("row deleted", |kept| drop(kept.rows.remove(2)), vec![missing(3, 3)]),
        ("rows deleted", |kept| drop(kept.rows.drain(1..4)), vec![missing(2, 4)]),
        (
            "tail cut",
            |kept| drop(kept.rows.pop()),
            vec![Fault::Cut { noted: 5, entries: 4 }, Fault::Tail { head: 5, entries: 4 }],
        ),
        (
            "tail cut, and the head with it",
            |kept| {
                let mut older = Kept::sample(7);
                older.rows.pop();
                older.head = Some(older.seal.head(3, older.end(), None).unwrap());
                (kept.rows, kept.head) = (older.rows, older.head);
            },
            vec![Fault::Cut { noted: 5, entries: 4 }],
        ),
        (
            "cut before a checkpoint",
            |kept| drop(kept.rows.drain(3..)),
            vec![
                Fault::SignedMore { epoch: 2, signed: 4, entries: 3 },
                Fault::Cut { noted: 5, entries: 3 },
                Fault::Tail { head: 5, entries: 3 },
            ],
        ),
        (
            "projection swapped",
            |kept| kept.rows[1].actor = "owner".into(),
            vec![Fault::Projection { seq: 2 }],
        ),
        ("projection emptied", |kept| kept.rows[1].trust = None, vec![Fault::Projection { seq: 2 }]),
        ("link swapped", |kept| kept.rows[1].prev_hash = Digest::ZERO, vec![Fault::Unlinked { seq: 2 }]),
        ("head moved", |kept| kept.head.as_mut().unwrap().hash = Digest::ZERO, vec![Fault::Head]),
        ("seal forged", |kept| kept.head.as_mut().unwrap().mac = Digest::ZERO, vec![Fault::Seal]),
        ("head deleted", |kept| kept.head = None, vec![Fault::NoHead]),
        (
            "head of another epoch",
            |kept| kept.head.as_mut().unwrap().epoch = 9,
            vec![Fault::Seal, Fault::Epoch { head: 9, signed: 3 }],
        ),
        (
            "checkpoint deleted",
            |kept| drop(kept.checkpoints.remove(0)),
            vec![
                Fault::NoCheckpoint { epoch: 1 },
                Fault::NoCheckpoint { epoch: 1 },
                Fault::Epoch { head: 3, signed: 1 },
            ],
        ),
        (
            "last checkpoint deleted",
            |kept| drop(kept.checkpoints.pop()),
            vec![Fault::NoCheckpoint { epoch: 2 }, Fault::Epoch { head: 3, signed: 2 }],
        ),
        (
            "checkpoints swapped with those of another house",
            |kept| kept.checkpoints = Kept::sample(8).checkpoints,
            vec![Fault::Outside { epoch: 1 }, Fault::Outside { epoch: 2 }, Fault::Key { epoch: 3 }],
        ),
        (
            "the file outside the database is ahead",
            |kept| {
                let mut ahead = Kept::sample(7);
                ahead.end_epoch();
                kept.outside = ahead.checkpoints;
            },
            vec![Fault::NoCheckpoint { epoch: 3 }],
        ),
        (
            "last entry rewritten by whoever has the key",
            |kept| {
                kept.rows.pop();
                kept.append(&entry(6));
            },
            vec![Fault::Rewritten { seq: 5 }],
        ),
        (
            "everything deleted",
            |kept| {
                kept.rows.clear();
                kept.checkpoints.clear();
                kept.head = None;
            },
            vec![
                Fault::Cut { noted: 5, entries: 0 },
                Fault::Gone,
                Fault::NoCheckpoint { epoch: 1 },
                Fault::NoCheckpoint { epoch: 2 },
            ],
        ),
    ];
    for (name, damage, mut faults) in table {
        let mut kept = Kept::sample(7);
        damage(&mut kept);
        let mut found = kept.faults(None);
        // The secrets of a test are never really gone, and so never compared here.
        found.retain(|fault| !matches!(fault, Fault::Key { .. }) || faults.contains(fault));
        faults.sort_by_key(ToString::to_string);
        found.sort_by_key(ToString::to_string);
        assert_eq!(found, faults, "{name}");
    }
}

/// Whoever can only write the database can recompute a plain chain, but neither its seal nor a signature.
#[test]
fn a_recomputed_chain_lacks_the_seal_and_the_signatures() {
    let honest = Kept::sample(7);
    let mut forger = Kept::new(99);
    for n in [1, 2, 30, 4, 5] {
        forger.append(&entry(n));
        if n % 2 == 0 && n < 5 {
            forger.end_epoch();
        }
    }
    let forged = Kept {
        rows: forger.rows,
        head: forger.head.map(|head| AuditHead { epoch: 3, ..head }),
        ..Kept::sample(7)
    };
    let faults = forged.faults(None);
    assert!(faults.contains(&Fault::Signed { epoch: 2, seq: 4 }), "{faults:?}");
    assert!(faults.contains(&Fault::Seal), "{faults:?}");
    assert_eq!(honest.verify(None).word, Word::Consistent);
}

/// Whoever takes the machine today has the secret of this epoch: what was signed before stays out of reach, even if they
/// do away with everything that is kept beside the database.
#[test]
fn todays_key_does_not_reach_behind_the_last_checkpoint() {
    for changed in 1..=4 {
        let mut thief = Kept::sample(7);
        thief.rows.clear();
        for n in 1..=5 {
            thief.append(&entry(if n == changed { 100 } else { n }));
        }
        // They seal and note what they made up.
        thief.tip = Some(thief.end());
        let faults = thief.faults(None);
        let epoch = if changed <= 2 { 1 } else { 2 };
        assert!(faults.contains(&Fault::Signed { epoch, seq: epoch * 2 }), "entry {changed}: {faults:?}");
        assert!(!faults.contains(&Fault::Seal), "today's seal they can make");
        assert_eq!(thief.verify_as_it_is(None), Word::Broken, "and a stranger sees it, too");
    }
    // The entry after the last checkpoint is within their reach: that is what checkpoints are made often for.
    let mut thief = Kept::sample(7);
    thief.rows.pop();
    thief.append(&entry(6));
    thief.tip = Some(thief.end());
    assert_eq!(thief.verify(None).word, Word::Consistent);
}

/// A checkpoint that somebody else signed: without a pin it fits into nothing, and with one it is not the root's.
#[test]
fn a_swapped_checkpoint_and_a_chain_begun_anew_are_named_against_a_pinned_root() {
    let honest = Kept::sample(7);
    let (root, anchor) = (Pinned::Root(honest.root()), anchor_of(&honest));
    let anew = Kept::sample(8);
    assert_eq!(anew.verify(None).word, Word::Consistent, "whoever owns the machine can begin again");
    assert_eq!(anew.faults(Some(&root)), [Fault::Root]);
    assert_eq!(anew.faults(Some(&anchor)), [Fault::Anchored { epoch: 1 }, Fault::Anchored { epoch: 2 }]);
    assert_eq!(Kept::sample(8).verify_export(Some(&root)), Word::Broken);

    let mut swapped = Kept::sample(7);
    swapped.checkpoints[1] = anew.checkpoints[1].clone();
    swapped.outside.clear();
    assert_eq!(swapped.verify(Some(&root)).word, Word::Broken);
    assert!(swapped.faults(None).contains(&Fault::Handover { epoch: 2 }), "{:?}", swapped.faults(None));

    // Cut back to before what was anchored, sealed and noted again by whoever has every secret there is.
    let mut shorter = Kept::new(7);
    shorter.append(&entry(1));
    shorter.append(&entry(2));
    shorter.end_epoch();
    assert_eq!(shorter.verify(Some(&root)).word, Word::Intact, "a root alone does not show how long it was");
    assert_eq!(shorter.faults(Some(&anchor)), [Fault::AnchorAhead { epoch: 2 }]);
    assert_eq!(honest.verify(Some(&anchor)).word, Word::Intact);
}

fn anchor_of(kept: &Kept) -> Pinned {
    let lines: Vec<String> =
        kept.checkpoints.iter().map(|checkpoint| checkpoint.to_line().unwrap()).collect();
    Pinned::Anchor(Anchor::parse(&lines.join("\n")).unwrap())
}

#[test]
fn one_fault_does_not_hide_another() {
    let mut kept = Kept::sample(7);
    kept.rows[0].bytes[3] ^= 1;
    kept.rows[3].actor = "owner".into();
    assert_eq!(kept.faults(None), [Fault::Changed { seq: 1 }, Fault::Projection { seq: 4 }]);
}

/// Two values under one name: the columns stand in the bytes, and so does something else.
#[test]
fn an_entry_that_says_two_things_says_not_what_its_columns_say() {
    let mut kept = Kept::new(7);
    kept.append(&entry(1));
    let text = String::from_utf8(kept.rows[0].bytes.clone()).unwrap();
    let twice = text.replace(r#""detail":"#, r#""detail":0,"actor":"owner","detail":"#);
    kept.rows[0].bytes = twice.into_bytes();
    kept.rows[0].hash = Digest::of_parts(&[&[0; 32], &kept.rows[0].bytes]);
    kept.head = Some(kept.seal.head(1, kept.end(), None).unwrap());
    assert!(matches!(kept.faults(None)[..], [Fault::Projection { seq: 1 } | Fault::Unreadable { seq: 1 }]));
}

#[test]
fn a_secret_is_erased_when_its_checkpoint_stands_outside() {
    let vault = Arc::new(MemoryVault::new([7; 32]));
    let seal = Seal::new(STREAM, vault.clone());
    let first = seal.checkpoint(1, Vec::new(), None, Time::from_micros(1)).unwrap();
    seal.catch_up(std::slice::from_ref(&first)).unwrap();
    assert!(vault.secret(1).unwrap().is_none() && seal.secret(1).unwrap().is_none());
    assert_eq!(vault.checkpoints().unwrap(), [first.to_line().unwrap()]);
    assert!(seal.checkpoint(1, Vec::new(), None, Time::from_micros(2)).is_err(), "yesterday is signed once");
    let second = seal.checkpoint(2, Vec::new(), Some(&first), Time::from_micros(3)).unwrap();
    // Killed before anything was done about the second; whoever comes next is told of both.
    seal.catch_up(&[first.clone(), second.clone()]).unwrap();
    assert_eq!(vault.checkpoints().unwrap().len(), 2);
    assert_eq!(Checkpoint::from_line(&second.to_line().unwrap()).unwrap(), second);
}

/// Anybody can put a row into the database that says it is the first checkpoint, signed by a key of theirs.
#[test]
fn a_checkpoint_that_this_house_has_not_signed_erases_nothing() {
    let (ours, theirs) = (Arc::new(MemoryVault::new([7; 32])), Seal::for_tests(STREAM, [9; 32]));
    let seal = Seal::new(STREAM, ours.clone());
    let forged = theirs.checkpoint(1, Vec::new(), None, Time::from_micros(1)).unwrap();
    seal.catch_up(&[forged]).unwrap();
    assert!(ours.secret(1).unwrap().is_some(), "it is still there");
    assert_eq!(ours.checkpoints().unwrap(), [""; 0]);
}

#[test]
fn a_secret_never_prints() {
    let seal = Seal::for_tests(STREAM, [7; 32]);
    let printed = format!("{seal:?} {:?}", seal.secret(1).unwrap());
    assert!(!printed.contains("07"), "{printed}");
}

#[test]
fn a_walk_may_begin_at_any_entry() {
    let kept = Kept::sample(7);
    let verifier = Verifier::new(&kept.checkpoints, &[], None);
    let mut walk = verifier.walk(STREAM);
    walk.skip_to(2, kept.rows[1].hash);
    for row in kept.rows[2..].iter().map(AuditEntry::row) {
        walk.step(&Link::of(&row.iter().map(Value::look).collect::<Vec<_>>()).unwrap());
    }
    let verdict = walk.end(Some((kept.head.as_ref(), &kept.seal))).unwrap();
    assert_eq!((verdict.faults, verdict.entries, verdict.signed), (vec![], 3, 4));
}
