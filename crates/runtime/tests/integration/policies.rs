//! The policies in force: what is activated, what stays, and that nothing malformed ever widens them. On every store.

use ledger::query::Select;
use ledger::records::{ActivePolicies, AuditEntry};
use ledger::table::Record;
use runtime::app::{AclReport, Apply, Check};
use runtime::{Code, Standing};
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
        let first = world.app.acl().await.unwrap();
        assert_eq!((first.standing, names(&first).len(), first.policies.len()), (Standing::Current, 0, 13));
        assert_eq!(activations(&world).await, 1);
        world.policy("lea.yaml", Ok(PARTNER));
        let second = world.app.acl().await.unwrap();
        assert_eq!((second.standing, names(&second)), (Standing::Current, vec!["lea"]));
        assert_eq!(
            second.policies.iter().find(|line| line.name == "lea").unwrap().file.as_deref(),
            Some("policies/acl/lea.yaml")
        );
        // Nothing changes: nothing is written, by this process or another one.
        for _ in 0..2 {
            world.restart();
            assert_eq!(world.app.acl().await.unwrap().set, second.set);
            assert_eq!(activations(&world).await, 2);
        }
        // Another text that says the same is the same set, since the same time.
        world.policy("lea.yaml", Ok(&format!("# a word about Lea\n{PARTNER}")));
        let third = world.app.acl().await.unwrap();
        assert_eq!((third.set, third.since, activations(&world).await), (second.set, second.since, 2));
        world.no_policy("lea.yaml");
        assert_eq!(world.app.acl().await.unwrap().set, first.set);
        assert!(world.app.audit_verify(&Check::default()).await.unwrap().is_sound());
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
        let good = world.app.acl().await.unwrap();
        for (what, text) in &bad {
            // Beside a good one, and what it denies is gone from it at the same moment.
            world
                .policy("other.yaml", *text)
                .policy("nobody.yaml", Ok(if *what == "a name twice" { NOBODY } else { PARTNER }));
            let now = world.app.acl().await.unwrap();
            assert_eq!(
                (now.standing, now.set, now.since),
                (Standing::LastGood, good.set, good.since),
                "{what}"
            );
            assert!(
                now.mistakes.iter().all(|mistake| mistake.file == "policies/acl/other.yaml"),
                "{what}: {:?}",
                now.mistakes
            );
            let warning = world.app.policy_warning().await.unwrap();
            assert!(warning.starts_with("policies/acl/other.yaml has "), "{warning}");
            assert!(
                warning.ends_with("; the last good policies, of 15 Nov 2026 08:30:00, are in force"),
                "{warning}"
            );
            world.restart();
        }
        assert_eq!(activations(&world).await, 1);
        world.no_policy("other.yaml");
        assert_eq!(names(&world.app.acl().await.unwrap()), ["lea"]);
        assert_eq!(world.app.policy_warning().await, None);
    }
}

#[tokio::test]
async fn before_there_is_a_good_set_what_ships_counts_alone() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.policy("a.yaml", Ok("- nonsense")).policy("lea.yaml", Ok(PARTNER));
        assert!(world.app.policy_warning().await.unwrap().contains("the policies that ship"));
        let now = world.app.acl().await.unwrap();
        assert_eq!((now.standing, names(&now).len()), (Standing::ShippedOnly, 0));
        world.policy("a.yaml", Ok("# nothing yet"));
        assert_eq!(names(&world.app.acl().await.unwrap()), ["lea"]);
    }
}

/// For files that come, go, change and break in any order: the set in force is always one that was made without a mistake,
/// and the one that the last good files make.
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
    let mut good = world.app.acl().await.unwrap().set;
    let mut seen = [0, 0];
    for _ in 0..80 {
        let file = ["a.yaml", "b.yaml"][next(2)];
        match next(7) {
            6 => world.no_policy(file),
            text => world.policy(file, texts[text]),
        };
        if next(5) == 0 {
            world.restart();
        }
        let report = world.app.acl().await.unwrap();
        // Checked by itself, without the ledger.
        if world.app.acl_check().is_ok() {
            assert_eq!(report.standing, Standing::Current);
            good = report.set;
            seen[0] += 1;
        } else {
            assert_eq!((report.standing, report.set), (Standing::LastGood, good));
            seen[1] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
}

/// Eight processes find the same change at once: one puts it on record, and all go by it.
#[tokio::test]
async fn of_those_who_find_a_change_at_once_one_puts_it_in_force() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        world.app.acl().await.unwrap();
        world.policy("lea.yaml", Ok(PARTNER));
        let mut looks = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let app = world.another(std::sync::Arc::new(domain::probe::Silent));
            looks.spawn(async move { app.acl().await.unwrap() });
        }
        let found = looks.join_all().await;
        assert!(found.iter().all(|report| names(report) == ["lea"]));
        assert_eq!(activations(&world).await, 2, "the first, and this one");
        let switches = ["lea", "webhooks", "friends-access", "family-access"];
        let mut turns = tokio::task::JoinSet::new();
        for name in switches {
            let app = world.another(std::sync::Arc::new(domain::probe::Silent));
            turns.spawn(async move { app.acl_switch(name, false).await.unwrap() });
        }
        turns.join_all().await;
        let now = world.app.acl().await.unwrap();
        let off = |name: &&str| now.policies.iter().any(|line| line.name == **name && !line.enabled);
        assert!(switches.iter().all(off), "{now:?}");
        assert_eq!(activations(&world).await, 6);
    }
}

/// Whoever changes the kept set in the database, or loses it, gets nothing for it.
#[tokio::test]
async fn a_damaged_set_lets_nobody_in_unless_the_files_are_good() {
    use sqlx::{Connection as _, Executor as _};
    let mut world = World::new(Kept::InSqlite).await;
    world.policy("nobody.yaml", Ok(NOBODY));
    let good = world.app.acl().await.unwrap();
    let path = world.path().join(".regent.db");
    let mut database = sqlx::SqliteConnection::connect(path.to_str().unwrap()).await.unwrap();
    let [row] = &rows::<ActivePolicies>(&world).await[..] else { panic!("one row") };
    assert_eq!(row.policies, good.set);
    let allowing =
        "UPDATE blobs SET content = CAST(replace(CAST(content AS TEXT), '\"deny\"', '\"allow\"') AS BLOB)
        WHERE CAST(content AS TEXT) LIKE '%nobody%'";
    assert_eq!(database.execute(allowing).await.unwrap().rows_affected(), 1);
    database.close().await.unwrap();
    world.restart();
    let now = world.app.acl().await.unwrap();
    assert_eq!(
        (now.standing, now.set, names(&now)),
        (Standing::Current, good.set, vec!["nobody"]),
        "from the files"
    );
    world.policy("other.yaml", Ok("- nonsense"));
    let now = world.app.acl().await.unwrap();
    assert_eq!((now.standing, now.policies.len()), (Standing::Closed, 0));
    assert!(world.app.policy_warning().await.unwrap().contains("nobody is let in"));
    world.no_policy("other.yaml");
    assert_eq!(names(&world.app.acl().await.unwrap()), ["nobody"]);
}

#[tokio::test]
async fn applied_taken_back_and_tried() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        let tried = world.app.acl_apply("lea.yaml", PARTNER, Apply::Try).await.unwrap();
        assert_eq!((tried.added, tried.done), (vec!["lea".to_owned()], false));
        assert_eq!(names(&world.app.acl().await.unwrap()), [""; 0]);
        let applied = world.app.acl_apply("lea.yaml", PARTNER, Apply::Really).await.unwrap();
        assert_eq!((&applied.added[..], applied.done), (&["lea".to_owned()][..], true));
        assert_eq!(names(&world.app.acl().await.unwrap()), ["lea"]);
        let changed = world.app.acl_apply("lea.yaml", TWO, Apply::Really).await.unwrap();
        assert_eq!(changed.changed, ["lea"]);
        // The same name in another file: refused, and nothing of it is there.
        let refused = world.app.acl_apply("b.yaml", PARTNER, Apply::Really).await.unwrap_err();
        assert_eq!(refused.code, Code::BAD_POLICY);
        assert_eq!(world.app.acl().await.unwrap().standing, Standing::Current);
        for name in ["../x.yaml", ".x.yaml", "x", "a b.yaml", "x.yaml~", "", "/x.yaml", "x\n.yaml"] {
            assert_eq!(
                world.app.acl_apply(name, PARTNER, Apply::Really).await.unwrap_err().code,
                Code::BAD_POLICY,
                "{name}"
            );
        }
        let before = activations(&world).await;
        let removed = world.app.acl_remove("lea.yaml", Apply::Really).await.unwrap();
        assert_eq!(removed.removed, ["lea"]);
        assert_eq!(activations(&world).await, before + 1);
        assert_eq!(
            world.app.acl_remove("lea.yaml", Apply::Really).await.unwrap_err().code,
            Code::NO_SUCH_POLICY
        );
    }
}

#[tokio::test]
async fn a_switch_is_kept_whatever_the_files_say_and_counts_even_where_they_are_bad() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.policy("lea.yaml", Ok(PARTNER));
        let on = world.app.acl().await.unwrap();
        let line = world.app.acl_switch("lea", false).await.unwrap();
        assert!(!line.enabled);
        let off = world.app.acl().await.unwrap();
        assert_eq!(off.standing, Standing::Current);
        assert_ne!(off.set, on.set);
        let before = activations(&world).await;
        world.restart();
        assert_eq!((world.app.acl().await.unwrap().set, activations(&world).await), (off.set, before));
        world.policy("bad.yaml", Ok("- nonsense"));
        assert!(world.app.acl_switch("lea", true).await.unwrap().enabled);
        let now = world.app.acl().await.unwrap();
        assert_eq!((now.standing, now.set), (Standing::LastGood, on.set));
        world.no_policy("bad.yaml");
        let now = world.app.acl().await.unwrap();
        assert_eq!((now.standing, now.set), (Standing::Current, on.set));
        assert_eq!(world.app.acl_switch("leah", true).await.unwrap_err().code, Code::NO_SUCH_POLICY);
        let audit: Vec<AuditEntry> = rows(&world).await;
        let switched = audit.iter().filter(|entry| entry.kind == "policy.switched" && entry.subject == "lea");
        assert_eq!(switched.count(), 2);
        // What ships is switched in the same way.
        assert!(!world.app.acl_switch("webhooks", false).await.unwrap().enabled);
    }
}
