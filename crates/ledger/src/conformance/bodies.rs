//! Bodies that were changed in the database.

use std::sync::Arc;

use domain::Digest;

use super::{batch, personal, salt};
use crate::records::{Blob, Salt};
use crate::{AuditScope, BodyReport, Ledger, Store};

/// Every body of every page is compared, and a row that names another content than it holds is found whoever owns it.
pub(super) async fn changed_bodies_are_named_and_erased_ones_are_counted(ledger: Ledger, _: Arc<dyn Store>) {
    let compare = async || {
        let scope = AuditScope { bodies: true, ..AuditScope::default() };
        ledger.examine_audit(scope).await.expect("examined").bodies.expect("asked for")
    };
    assert_eq!(compare().await, BodyReport::default(), "there are none");
    let mut work = batch(1);
    for n in 0..100_u128 {
        work.put(&personal("p-lea", &format!("words {n}")))
            .put(&Blob::public(format!("ours {n}").into_bytes()));
        work.put(&personal("p-tom", &format!("words {n}")));
    }
    work.put(&personal("p-lea", "")).put(&Blob::public(Vec::new()));
    work.put(&salt("p-lea")).put(&salt("p-tom"));
    ledger.commit(work).await.expect("commit");
    assert_eq!(compare().await, BodyReport { compared: 302, ..BodyReport::default() });

    let content = b"changed".to_vec();
    let names = [Digest::ZERO, Digest::of(b"a"), Digest::of(b"b"), personal("p-tom", "other").hash];
    let people = [None, Some("p-lea".to_owned()), Some("p-nobody".to_owned()), None];
    let mut work = batch(2);
    for (hash, person) in names.into_iter().zip(people) {
        // Whoever is not known has no salt.
        work.put(&Blob { hash, person, content: content.clone() });
    }
    work.erase::<Salt, _>("person", &["p-tom".to_owned()]);
    ledger.commit(work).await.expect("commit");
    let mut changed = [names[0], names[1], names[3]];
    changed.sort_unstable();
    let changed = changed.iter().map(ToString::to_string).collect();
    assert_eq!(compare().await, BodyReport { compared: 205, erased: 101, changed, more: 0 });

    let mut work = batch(3);
    for n in 0..200_u128 {
        let hash = Digest::of(format!("other {n}").as_bytes());
        work.put(&Blob { hash, person: None, content: content.clone() });
    }
    ledger.commit(work).await.expect("commit");
    let BodyReport { compared, changed, more, .. } = compare().await;
    assert_eq!((compared, changed.len(), more), (405, 100, 103), "the first are named, the others counted");
}
