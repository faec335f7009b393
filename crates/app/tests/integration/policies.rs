//! The policies in force: what is activated, what stays, and that nothing malformed ever widens them. On every store.

use app::policies::{AclReport, Apply};
use app::record::Check;
use app::{Code, PolicyStatus};
use ledger::query::Select;
use ledger::records::{ActivePolicies, AuditEntry};
use ledger::table::Record;
use testkit::{Kept, World};

const PARTNER: &str = "- name: lea\n  match: { principal: { id: lea } }\n  effect: allow\n  priority: 81\n";
const NOBODY: &str = "- name: nobody\n  match: {}\n  effect: deny\n  priority: 99\n";
const TWO: &str = "- name: lea\n  match: { principal: { id: lea } }\n  effect: deny\n  priority: 81\n";

async fn rows<T: Record>(world: &World) -> Vec<T> {
    let rows = world.store().await.select(&Select::<T>::all().query).await.unwrap();
    rows.into_iter().map(|row| T::from_row(row).unwrap()).collect()
}

async fn activations(world: &World) -> usize {
    let audit: Vec<AuditEntry> = rows(world).await;
    audit.iter().filter(|entry| entry.kind == "policies.activated").count()
}

fn names(report: &AclReport) -> Vec<&str> {
    report.policies.iter().filter(|line| !line.shipped).map(|line| line.name.as_str()).collect()
}

#[tokio::test]
async fn what_the_files_say_is_in_force_from_the_next_look_on_and_on_record_once() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        let first = world.app.policies().list().await.unwrap();
        assert_eq!(
            (first.standing, names(&first).len(), first.policies.len()),
            (PolicyStatus::Current, 0, 13)
        );
        assert_eq!(activations(&world).await, 1);
        world.policy("lea.yaml", Ok(PARTNER));
        let second = world.app.policies().list().await.unwrap();
        assert_eq!((second.standing, names(&second)), (PolicyStatus::Current, vec!["lea"]));
        assert_eq!(
            second.policies.iter().find(|line| line.name == "lea").unwrap().file.as_deref(),
            Some("policies/acl/lea.yaml")
        );
        // Nothing changes: nothing is written, by this process or another one.
        for _ in 0..2 {
            world.restart();
            assert_eq!(world.app.policies().list().await.unwrap().set, second.set);
            assert_eq!(activations(&world).await, 2);
        }
        // Another text that says the same is the same set, since the same time.
        world.policy("lea.yaml", Ok(&format!("# a word about Lea\n{PARTNER}")));
        let third = world.app.policies().list().await.unwrap();
        assert_eq!((third.set, third.since, activations(&world).await), (second.set, second.since, 2));
        world.no_policy("lea.yaml");
        assert_eq!(world.app.policies().list().await.unwrap().set, first.set);
        assert!(world.app.record().verify(&Check::default()).await.unwrap().is_sound());
    }
}

/// INVARIANT (last-good).
#[tokio::test]
async fn a_file_that_cannot_be_used_changes_nothing() {
    let bad: [(&str, Result<&str, &str>); 8] = [
        ("no YAML", Ok("- name: [")),
        ("a misspelt field", Ok("- name: x\n  efect: deny\n  priority: 3\n")),
        ("a name that ships", Ok("- name: block-unknown\n  effect: allow\n  priority: 10\n")),
        ("a name twice", Ok("- name: nobody\n  effect: allow\n  priority: 3\n")),
        (
            "an example that does not come out",
            Ok(
                "- name: x\n  effect: deny\n  priority: 3\n  examples:\n    - principal: { is_owner: true }\n      event: { platform: matrix, container_kind: dm }\n      expect: { effect: allow }\n",
            ),
        ),
        ("a text that is none", Err("it is not UTF-8")),
        ("not ours alone", Err("others can write it")),
        ("too deep", Ok("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]")),
    ];
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.policy("nobody.yaml", Ok(NOBODY));
        let good = world.app.policies().list().await.unwrap();
        for (what, text) in &bad {
            // Beside a good one, and what it denies is gone from it at the same moment.
            world
                .policy("other.yaml", *text)
                .policy("nobody.yaml", Ok(if *what == "a name twice" { NOBODY } else { PARTNER }));
            let now = world.app.policies().list().await.unwrap();
            assert_eq!(
                (now.standing, now.set, now.since),
                (PolicyStatus::LastGood, good.set, good.since),
                "{what}"
            );
            assert!(
                now.mistakes.iter().all(|mistake| mistake.file == "policies/acl/other.yaml"),
                "{what}: {:?}",
                now.mistakes
            );
            let warning = world.app.policies().warning().await.unwrap();
            assert!(warning.starts_with("policies/acl/other.yaml has "), "{warning}");
            assert!(
                warning.ends_with("; the last good policies, of 15 Nov 2026 08:30:00, are in force"),
                "{warning}"
            );
            world.restart();
        }
        assert_eq!(activations(&world).await, 1);
        world.no_policy("other.yaml");
        assert_eq!(names(&world.app.policies().list().await.unwrap()), ["lea"]);
        assert_eq!(world.app.policies().warning().await, None);
    }
}

#[tokio::test]
async fn before_there_is_a_good_set_what_ships_counts_alone() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.policy("a.yaml", Ok("- nonsense")).policy("lea.yaml", Ok(PARTNER));
        assert!(world.app.policies().warning().await.unwrap().contains("the policies that ship"));
        let now = world.app.policies().list().await.unwrap();
        assert_eq!((now.standing, names(&now).len()), (PolicyStatus::ShippedOnly, 0));
        world.policy("a.yaml", Ok("# nothing yet"));
        assert_eq!(names(&world.app.policies().list().await.unwrap()), ["lea"]);
    }
}

/// A file that is deleted takes its policies out of force, whatever the other files are like; what decides is on record.
#[tokio::test]
async fn a_deleted_file_is_out_of_force_while_another_has_a_mistake() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("a.rs", "").policy("lea.yaml", Ok(PARTNER)).policy("nobody.yaml", Ok(NOBODY));
        let good = world.app.policies().list().await.unwrap();
        assert_eq!(names(&good), ["nobody", "lea"]);
        let request = "how many Rust files are here?";
        assert_eq!(world.run(request).await.unwrap_err().code, Code::NOT_ADMITTED);

        world.policy("bad.yaml", Ok("- nonsense")).no_policy("nobody.yaml");
        let now = world.app.policies().list().await.unwrap();
        let deleted = vec!["nobody".to_owned()];
        assert_eq!(
            (now.standing, names(&now), &now.deleted),
            (PolicyStatus::LastGood, vec!["lea"], &deleted)
        );
        assert_eq!(now.since, good.since);
        let line = now.policies.iter().find(|line| line.name == "lea").unwrap();
        assert_eq!(line.file.as_deref(), Some("policies/acl/lea.yaml"));
        let warning = world.app.policies().warning().await.unwrap();
        assert!(warning.ends_with("are in force without `nobody`, whose file was deleted"), "{warning}");
        let report = world.run(request).await.unwrap();
        assert!(world.app.record().recheck(&report.short).await.unwrap().recheck.unwrap().holds, "{kept:?}");

        // A switch counts for what is left, and for nothing else.
        assert_eq!(
            world.app.policies().switch("nobody", false).await.unwrap_err().code,
            Code::NO_SUCH_POLICY
        );
        assert!(!world.app.policies().switch("lea", false).await.unwrap().enabled);
        world.restart();
        let now = world.app.policies().list().await.unwrap();
        assert_eq!((names(&now), &now.deleted), (vec!["lea"], &deleted));
        assert!(now.policies.iter().any(|line| line.name == "lea" && !line.enabled));

        // The last good ones are on record as they were: what comes back before the mistake is mended, counts again.
        world.policy("nobody.yaml", Ok(TWO));
        let now = world.app.policies().list().await.unwrap();
        assert_eq!(
            (now.standing, names(&now), now.deleted.len()),
            (PolicyStatus::LastGood, vec!["nobody", "lea"], 0)
        );
        assert_eq!(world.run(request).await.unwrap_err().code, Code::NOT_ADMITTED);
        world.no_policy("nobody.yaml").no_policy("bad.yaml");
        let now = world.app.policies().list().await.unwrap();
        assert_eq!((now.standing, names(&now), now.deleted.len()), (PolicyStatus::Current, vec!["lea"], 0));
        let check = Check { complete: true, bodies: true, ..Check::default() };
        assert_eq!(world.app.record().verify(&check).await.unwrap().problem(), None, "{kept:?}");
    }
}

/// A file that cannot be read is there, and one that was moved is not gone.
#[tokio::test]
async fn what_is_not_known_to_be_deleted_stays_in_force() {
    type Files = fn(&World);
    let table: [(&str, Files); 7] = [
        ("it cannot be read", |world| {
            world.policy("nobody.yaml", Err("it is not UTF-8"));
        }),
        ("its folder cannot be read", |world| {
            world.no_policy("nobody.yaml").policy("", Err("others can write it"));
        }),
        ("it was moved", |world| {
            world.no_policy("nobody.yaml").policy("new.yaml", Ok(NOBODY));
        }),
        ("it was moved and changed", |world| {
            let changed = format!("{PARTNER}{}", NOBODY.replace("deny", "allow"));
            world.no_policy("nobody.yaml").policy("new.yaml", Ok(&changed));
        }),
        ("it was moved and has a mistake", |world| {
            world.no_policy("nobody.yaml").policy("new.yaml", Ok("- name: nobody\n  efect: deny\n"));
        }),
        ("it was moved and is no YAML any more", |world| {
            world.no_policy("nobody.yaml").policy("new.yaml", Ok("- name: nobody\n  match: {\n"));
        }),
        ("there are more files than are looked at", |world| {
            world.no_policy("nobody.yaml");
            for n in 0..=100 {
                world.policy(&format!("{n}.yaml"), Ok("# nothing"));
            }
        }),
    ];
    for (what, change) in table {
        let world = World::new(Kept::InMemory).await;
        world.policy("nobody.yaml", Ok(NOBODY));
        let good = world.app.policies().list().await.unwrap();
        world.policy("bad.yaml", Ok("- nonsense"));
        change(&world);
        let now = world.app.policies().list().await.unwrap();
        assert_eq!(
            (now.standing, now.set, now.deleted),
            (PolicyStatus::LastGood, good.set, vec![]),
            "{what}"
        );
    }
}

#[tokio::test]
async fn removing_a_file_counts_at_once_also_beside_a_mistake() {
    let world = World::new(Kept::InMemory).await;
    world.policy("lea.yaml", Ok(PARTNER)).policy("nobody.yaml", Ok(NOBODY));
    world.app.policies().list().await.unwrap();
    world.policy("bad.yaml", Ok("- nonsense"));
    for apply in [Apply::Try, Apply::Really] {
        let change = world.app.policies().remove("nobody.yaml", apply).await.unwrap();
        assert_eq!((change.removed, change.mistakes.len()), (vec!["nobody".to_owned()], 1));
    }
    assert_eq!(names(&world.app.policies().list().await.unwrap()), ["lea"]);
}

/// A set of an older program does not say which files it was made from. It is read, and stays in force as a whole until the
/// files are good.
#[tokio::test]
async fn a_set_that_does_not_know_its_files_stays_whole() {
    use domain::{Clock as _, canonical};
    use ledger::records::Blob;
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.policy("nobody.yaml", Ok(NOBODY));
        world.app.policies().list().await.unwrap();
        let [row] = &rows::<ActivePolicies>(&world).await[..] else { panic!("one row") };
        let store = world.store().await;
        let ledger = ledger::Ledger::start(store, world.seal(), std::sync::Arc::new(domain::probe::Silent));
        let set = ledger.body(&row.policies).await.unwrap().unwrap();
        let mut set: serde_json::Value = serde_json::from_slice(&set).unwrap();
        assert!(set.as_object_mut().unwrap().remove("files").is_some());
        let older = Blob::public(canonical::bytes(&set).unwrap());
        let id = domain::id::BatchId::from_bits(77);
        let mut batch = ledger::Batch::new(id, world.clock.now());
        let sources = domain::Digest::of(b"another program's");
        batch.put(&older).put(&ActivePolicies { policies: older.hash, sources, ..row.clone() });
        ledger.commit(batch).await.unwrap();

        world.restart();
        world.policy("bad.yaml", Ok("- nonsense")).no_policy("nobody.yaml");
        let now = world.app.policies().list().await.unwrap();
        assert_eq!(
            (now.standing, now.set, names(&now)),
            (PolicyStatus::LastGood, older.hash, vec!["nobody"])
        );
        world.policy("nobody.yaml", Ok(NOBODY)).no_policy("bad.yaml");
        assert_eq!(world.app.policies().list().await.unwrap().set, row.policies, "made anew, with its files");
    }
}

/// For files that come, go, change and break in any order: what is in force is always what the last good files made, without
/// the policies that stand in no file any more.
#[tokio::test]
async fn whatever_happens_to_the_files_the_last_good_ones_count() {
    let texts: [Result<&str, &str>; 6] =
        [Ok(PARTNER), Ok(TWO), Ok(NOBODY), Ok("# nothing"), Ok("- name: [half"), Err("it is not UTF-8")];
    let mut seed: u64 = 1;
    let mut next = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((seed >> 33) % most).unwrap()
    };
    let mut world = World::new(Kept::InMemory).await;
    let mut good = world.app.policies().list().await.unwrap();
    let mut seen = [0, 0, 0];
    // What stands in the files now, and what stood there when they were last good.
    let mut files = std::collections::BTreeMap::new();
    let mut good_files = files.clone();
    let name_in = |text: &Result<&str, &str>| match *text {
        Ok(PARTNER | TWO) => Some("lea"),
        Ok(NOBODY) => Some("nobody"),
        _ => None,
    };
    for _ in 0..400 {
        let file = ["a.yaml", "b.yaml", "c.yaml"][next(3)];
        match next(8) {
            6.. => {
                files.remove(file);
                world.no_policy(file)
            }
            text => {
                files.insert(file, texts[text]);
                world.policy(file, texts[text])
            }
        };
        if next(5) == 0 {
            world.restart();
        }
        let report = world.app.policies().list().await.unwrap();
        // Checked by itself, without the ledger.
        if world.app.policies().check().is_ok() {
            assert_eq!(report.standing, PolicyStatus::Current);
            (good, good_files) = (report, files.clone());
            seen[0] += 1;
        } else {
            let is_left = |file: &str, name: &str| {
                files.contains_key(file) || files.values().any(|text| name_in(text) == Some(name))
            };
            let mut deleted: Vec<&str> = good_files
                .iter()
                .filter_map(|(file, text)| name_in(text).filter(|name| !is_left(file, name)))
                .collect();
            deleted.sort_unstable();
            let left: Vec<_> =
                good.policies.iter().filter(|line| !deleted.contains(&line.name.as_str())).collect();
            let said = |line: &app::policies::AclLine| (line.name.clone(), line.effect);
            assert_eq!(report.standing, PolicyStatus::LastGood);
            assert_eq!(
                report.policies.iter().map(said).collect::<Vec<_>>(),
                left.into_iter().map(said).collect::<Vec<_>>()
            );
            assert_eq!(report.deleted, deleted);
            assert_eq!(report.set == good.set, deleted.is_empty());
            seen[if deleted.is_empty() { 1 } else { 2 }] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
}

/// Eight processes find the same change at once: one puts it on record, and all go by it.
#[tokio::test]
async fn of_those_who_find_a_change_at_once_one_puts_it_in_force() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        world.app.policies().list().await.unwrap();
        world.policy("lea.yaml", Ok(PARTNER));
        let mut looks = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let app = world.another(std::sync::Arc::new(domain::probe::Silent));
            looks.spawn(async move { app.policies().list().await.unwrap() });
        }
        let found = looks.join_all().await;
        assert!(found.iter().all(|report| names(report) == ["lea"]));
        assert_eq!(activations(&world).await, 2, "the first, and this one");
        let switches = ["lea", "webhooks", "friends-access", "family-access"];
        let mut turns = tokio::task::JoinSet::new();
        for name in switches {
            let app = world.another(std::sync::Arc::new(domain::probe::Silent));
            turns.spawn(async move { app.policies().switch(name, false).await.unwrap() });
        }
        turns.join_all().await;
        let now = world.app.policies().list().await.unwrap();
        let off = |name: &&str| now.policies.iter().any(|line| line.name == **name && !line.enabled);
        assert!(switches.iter().all(off), "{now:?}");
        assert_eq!(activations(&world).await, 6);
    }
}

/// Whoever changes the kept set in the database, or loses it, gets nothing for it.
#[tokio::test]
async fn a_damaged_set_lets_nobody_in_unless_the_files_are_good() {
    let mut world = World::new(Kept::InSqlite).await;
    world.policy("nobody.yaml", Ok(NOBODY));
    let good = world.app.policies().list().await.unwrap();
    let path = world.path().join(".regent.db");
    let database = rusqlite::Connection::open(path).unwrap();
    let [row] = &rows::<ActivePolicies>(&world).await[..] else { panic!("one row") };
    assert_eq!(row.policies, good.set);
    let allowing =
        "UPDATE blobs SET content = CAST(replace(CAST(content AS TEXT), '\"deny\"', '\"allow\"') AS BLOB)
        WHERE CAST(content AS TEXT) LIKE '%nobody%'";
    assert_eq!(database.execute(allowing, []).unwrap(), 1);
    database.close().unwrap();
    world.restart();
    let now = world.app.policies().list().await.unwrap();
    assert_eq!(
        (now.standing, now.set, names(&now)),
        (PolicyStatus::Current, good.set, vec!["nobody"]),
        "from the files"
    );
    world.policy("other.yaml", Ok("- nonsense"));
    let now = world.app.policies().list().await.unwrap();
    assert_eq!((now.standing, now.policies.len()), (PolicyStatus::Closed, 0));
    assert!(world.app.policies().warning().await.unwrap().contains("nobody is let in"));
    world.no_policy("other.yaml");
    assert_eq!(names(&world.app.policies().list().await.unwrap()), ["nobody"]);
}

#[tokio::test]
async fn applied_taken_back_and_tried() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let tried = world.app.policies().apply("lea.yaml", PARTNER, Apply::Try).await.unwrap();
        assert_eq!((tried.added, tried.done), (vec!["lea".to_owned()], false));
        assert_eq!(names(&world.app.policies().list().await.unwrap()), [""; 0]);
        let applied = world.app.policies().apply("lea.yaml", PARTNER, Apply::Really).await.unwrap();
        assert_eq!((&applied.added[..], applied.done), (&["lea".to_owned()][..], true));
        assert_eq!(names(&world.app.policies().list().await.unwrap()), ["lea"]);
        let changed = world.app.policies().apply("lea.yaml", TWO, Apply::Really).await.unwrap();
        assert_eq!(changed.changed, ["lea"]);
        // The same name in another file: refused, and nothing of it is there.
        let refused = world.app.policies().apply("b.yaml", PARTNER, Apply::Really).await.unwrap_err();
        assert_eq!(refused.code, Code::BAD_POLICY);
        assert_eq!(world.app.policies().list().await.unwrap().standing, PolicyStatus::Current);
        for name in ["../x.yaml", ".x.yaml", "x", "a b.yaml", "x.yaml~", "", "/x.yaml", "x\n.yaml"] {
            assert_eq!(
                world.app.policies().apply(name, PARTNER, Apply::Really).await.unwrap_err().code,
                Code::BAD_POLICY,
                "{name}"
            );
        }
        let before = activations(&world).await;
        let removed = world.app.policies().remove("lea.yaml", Apply::Really).await.unwrap();
        assert_eq!(removed.removed, ["lea"]);
        assert_eq!(activations(&world).await, before + 1);
        assert_eq!(
            world.app.policies().remove("lea.yaml", Apply::Really).await.unwrap_err().code,
            Code::NO_SUCH_POLICY
        );
    }
}

#[tokio::test]
async fn a_switch_is_kept_whatever_the_files_say_and_counts_even_where_they_are_bad() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.policy("lea.yaml", Ok(PARTNER));
        let on = world.app.policies().list().await.unwrap();
        let line = world.app.policies().switch("lea", false).await.unwrap();
        assert!(!line.enabled);
        let off = world.app.policies().list().await.unwrap();
        assert_eq!(off.standing, PolicyStatus::Current);
        assert_ne!(off.set, on.set);
        let before = activations(&world).await;
        world.restart();
        assert_eq!(
            (world.app.policies().list().await.unwrap().set, activations(&world).await),
            (off.set, before)
        );
        world.policy("bad.yaml", Ok("- nonsense"));
        assert!(world.app.policies().switch("lea", true).await.unwrap().enabled);
        let now = world.app.policies().list().await.unwrap();
        assert_eq!((now.standing, now.set), (PolicyStatus::LastGood, on.set));
        world.no_policy("bad.yaml");
        let now = world.app.policies().list().await.unwrap();
        assert_eq!((now.standing, now.set), (PolicyStatus::Current, on.set));
        assert_eq!(world.app.policies().switch("leah", true).await.unwrap_err().code, Code::NO_SUCH_POLICY);
        let audit: Vec<AuditEntry> = rows(&world).await;
        let switched = audit.iter().filter(|entry| entry.kind == "policy.switched" && entry.subject == "lea");
        assert_eq!(switched.count(), 2);
        // What ships is switched in the same way.
        assert!(!world.app.policies().switch("webhooks", false).await.unwrap().enabled);
    }
}
