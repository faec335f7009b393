//! A program that can write the database, and nothing else, cannot make a call run, a person trusted, a policy active or a
//! halt disappear. And a yes does not last for ever. On both databases.

use std::sync::Arc;
use std::time::Duration;

use app::approvals::Act;
use app::instance::backup::How;
use app::people::NewPerson;
use app::record::Check;
use app::{Code, Problem};
use domain::approval::{Fate, Lasting, Status as Asked};
use domain::ask::Action;
use domain::task::Status;
use ledger::Select;
use ledger::records::{Approval, EntityKind, Halt};
use serde_json::json;
use testkit::scripted::call;
use testkit::{Kept, Place, Scripted, World};

const REFERENCE: &str = "how many Rust files are here, and which is the largest?";
const YES: Act = Act::Approve { lasting: Lasting::Once, typed: None, good_for: None };
const HOUR: Duration = Duration::from_secs(3_600);
const DATABASES: [Kept; 2] = [Kept::InSqlite, Kept::InPostgres];

/// What another program does to the database.
async fn sql(world: &World, statement: &str) {
    match world.place() {
        Place::File(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.execute_batch(statement).unwrap();
            connection.close().unwrap();
        }
        Place::Url(url) => {
            let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
            let connection = tokio::spawn(connection);
            client.batch_execute("SET search_path = brainframe").await.unwrap();
            client.batch_execute(statement).await.unwrap();
            drop(client);
            connection.await.unwrap().unwrap();
        }
        Place::Given(_) => unreachable!("there is no SQL in memory"),
    }
}

fn refused<T: std::fmt::Debug>(done: Result<T, Problem>) -> String {
    let problem = done.expect_err("must be refused");
    assert_eq!(problem.code, Code::AUTHORITY, "{problem}");
    problem.what
}

fn deletes() -> Arc<Scripted> {
    Arc::new(Scripted::new(|seen| match seen.last() {
        None => call("delete_file", json!({ "path": "old.txt" })),
        Some(last) => Action::done(format!("{:?}", last.outcome)),
    }))
}

/// A task that waits for a yes to the deletion of a file.
async fn waiting(kept: Kept) -> World {
    let mut world = World::new(kept).await;
    world.file("old.txt", "keep me");
    world.think(deletes());
    world.run("delete old.txt").await.unwrap();
    world
}

fn is_there(world: &World) -> bool {
    world.path().join("old.txt").exists()
}

async fn asked(world: &World) -> Approval {
    let rows = world.store().await.select(&Select::<Approval>::all().query).await.unwrap();
    let mut rows: Vec<Approval> =
        rows.into_iter().map(|row| ledger::table::Record::from_row(row).unwrap()).collect();
    rows.sort_by_key(|row| row.created_at);
    rows.pop().unwrap()
}

async fn say(world: &World, act: Act) {
    world.app.approvals().resolve(&asked(world).await.id.to_string(), act, "terminal").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_in_the_database_runs_no_call() {
    for kept in DATABASES {
        let mut world = waiting(kept).await;
        sql(
            &world,
            "UPDATE approval_queue SET status = 'approved', leave = fingerprint, resolved_at = created_at, \
             resolved_by = 'owner', resolved_via = 'terminal'",
        )
        .await;
        for _ in 0..2 {
            world.restart();
            assert_eq!(
                refused(world.resume(None).await),
                "one approval in the database was not written by this instance"
            );
        }
        assert!(is_there(&world));
    }
}

/// The question that a person sees is not the one whose fingerprint they would answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_was_changed_is_not_answered() {
    for kept in DATABASES {
        let world = waiting(kept).await;
        sql(&world, "UPDATE approval_queue SET fingerprint = shape").await;
        let id = asked(&world).await.id.to_string();
        refused(world.app.approvals().resolve(&id, YES, "terminal").await);
        assert_eq!(asked(&world).await.status, Asked::Pending);
    }
}

/// A yes that was used is there to be brought back, with everything that once belonged to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_used_yes_does_not_come_back() {
    for kept in DATABASES {
        let mut world = waiting(kept).await;
        say(&world, YES).await;
        for table in
            ["approval_queue", "authority_seals", "audit_heads", "agent_tasks", "tool_calls", "leases"]
        {
            sql(&world, &format!("CREATE TABLE old_{table} AS SELECT * FROM {table}")).await;
        }
        world.restart();
        assert_eq!(world.resume(None).await.unwrap().status, Status::Done);
        assert!(!is_there(&world));
        world.file("old.txt", "keep me, too");
        for table in ["approval_queue", "authority_seals", "audit_heads"] {
            sql(&world, &format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM old_{table}")).await;
            world.restart();
            assert!(
                world.app.instance().verify_authority().await.is_ok_and(|report| !report.verified),
                "{table}"
            );
            // A changed approval is in the way of the call that relies on it, changed seals are in the way of every call.
            if table != "approval_queue" {
                refused(world.run("delete old.txt").await);
            }
        }
        assert!(is_there(&world));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_halt_does_not_disappear() {
    for kept in DATABASES {
        let mut world = World::new(kept).await;
        world.file("a.rs", "");
        world.run(REFERENCE).await.unwrap();
        world.app.instance().halt().await.unwrap();
        sql(&world, "DELETE FROM halts").await;
        for _ in 0..2 {
            refused(world.run(REFERENCE).await);
            world.restart();
        }
        sql(&world, "DELETE FROM authority_seals WHERE kind = 'halt'").await;
        world.restart();
        refused(world.run(REFERENCE).await);
        assert_eq!(world.seen().len(), 1, "nothing ran");
    }
}

fn lea() -> NewPerson {
    NewPerson {
        name: "Lea".into(),
        kind: EntityKind::Person,
        relationship: Some("partner".into()),
        tags: Vec::new(),
        trust: None,
        addresses: Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_address_becomes_somebody_and_nobody_becomes_trusted() {
    let message = |n: u32| {
        json!({ "adapter": "demo", "source_id": n.to_string(), "sender": "mallory", "content": "hello" })
            .to_string()
    };
    let attacks = [
        "UPDATE entity_identities SET is_verified = 1, entity_id = (SELECT id FROM entities WHERE is_owner = 1) \
         WHERE identifier = 'mallory'",
        "UPDATE entity_identities SET entity_id = (SELECT id FROM entities WHERE relationship = 'partner') \
         WHERE identifier = 'mallory'",
    ];
    for kept in DATABASES {
        for attack in attacks {
            let world = World::new(kept).await;
            world.file("a.rs", "");
            world.run(REFERENCE).await.unwrap();
            world.app.people().add(lea()).await.unwrap();
            world.app.events().ingest(&message(1)).await.unwrap().unwrap();
            world.app.events().admit_waiting().await.unwrap();
            sql(&world, attack).await;
            match world.app.events().ingest(&message(2)).await {
                Err(problem) => assert_eq!(problem.code, Code::AUTHORITY),
                Ok(_) => drop(refused(world.app.events().admit_waiting().await)),
            }
        }
        for attack in [
            "UPDATE entities SET trust = 'operator' WHERE name = 'Lea'",
            "UPDATE entities SET relationship = 'owner' WHERE name = 'Lea'",
            "INSERT INTO entity_tags (entity_id, tag) SELECT id, 'role:billing' FROM entities WHERE name = 'Lea'",
            "DELETE FROM entities WHERE name = 'Lea'",
        ] {
            let world = World::new(kept).await;
            world.app.people().add(lea()).await.unwrap();
            sql(&world, attack).await;
            refused(world.app.people().list().await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_policy_becomes_active_and_none_is_switched_off() {
    const CLOSED: &str =
        "- name: nobody\n  match: { principal: { unknown: true } }\n  effect: deny\n  priority: 99\n";
    for kept in DATABASES {
        for attack in [
            "UPDATE active_policies SET policies = sources WHERE kind = 'acl'",
            "DELETE FROM active_policies WHERE kind = 'acl'",
            "UPDATE policy_switches SET enabled = 1 - enabled",
            "DELETE FROM policy_switches",
            "INSERT INTO policy_switches (name, enabled, at) SELECT 'block-unknown', enabled, at FROM policy_switches",
        ] {
            let mut world = World::new(kept).await;
            world.policy("a.yaml", Ok(CLOSED));
            world.app.policies().switch("quiet-hours", true).await.unwrap();
            world.file("a.rs", "");
            world.run(REFERENCE).await.unwrap();
            sql(&world, attack).await;
            world.restart();
            refused(world.run(REFERENCE).await);
            refused(world.app.policies().list().await);
        }
    }
}

/// What the owner withdraws is gone, what restricts stays, and what is left counts again.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_reset_nothing_is_allowed_and_the_owner_goes_on() {
    for kept in DATABASES {
        let mut world = waiting(kept).await;
        say(&world, YES).await;
        sql(&world, "DELETE FROM authority_seals").await;
        world.restart();
        refused(world.run(REFERENCE).await);
        let would = world.app.instance().reset_authority(How::Rehearse).await.unwrap();
        assert_eq!((would.approvals, would.done), (1, false));
        refused(world.run(REFERENCE).await);
        let reset = world.app.instance().reset_authority(How::Really).await.unwrap();
        assert_eq!((reset.approvals, reset.done), (1, true));
        assert!(world.app.instance().verify_authority().await.unwrap().verified);
        assert_eq!(asked(&world).await.fate, Some(Fate::Void));
        let ended = world.resume(None).await.expect_err("what was unfinished is over");
        assert_eq!(ended.code, Code::NOTHING_TO_RESUME);
        world.clock.turn(HOUR);
        assert_eq!(world.run("delete old.txt").await.unwrap().status, Status::Waiting, "it asks again");
        say(&world, YES).await;
        let halted = world.resume(None).await.expect_err("it is halted");
        assert_eq!((halted.code, is_there(&world)), (Code::HALTED, true));
        world.app.instance().resume_all().await.unwrap();
        world.restart();
        assert_eq!(world.resume(None).await.unwrap().status, Status::Done);
        assert!(!is_there(&world));
        let check = Check { complete: true, ..Check::default() };
        assert_eq!(world.app.record().verify(&check).await.unwrap().problem(), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_is_good_for_a_day_unless_it_says_otherwise() {
    let for_three_days = Act::Approve { lasting: Lasting::Once, typed: None, good_for: Some(72 * HOUR) };
    for kept in Kept::each() {
        for (act, hours, runs) in [(YES, 23, true), (YES, 25, false), (for_three_days.clone(), 71, true)] {
            let mut world = waiting(kept).await;
            say(&world, act).await;
            let first = asked(&world).await;
            world.clock.turn(HOUR * hours);
            world.restart();
            let report = world.resume(None).await.unwrap();
            assert_eq!((report.status == Status::Done, is_there(&world)), (runs, !runs), "{hours} hours");
            let last = asked(&world).await;
            assert_eq!(last.id == first.id, runs, "whoever was too late is asked again");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_that_nobody_used_in_time_is_void_and_on_record() {
    for kept in Kept::each() {
        let world = waiting(kept).await;
        say(&world, YES).await;
        world.clock.turn(HOUR * 25);
        world.app.instance().tick().await.unwrap();
        let void = asked(&world).await;
        assert_eq!((void.status, void.fate, void.live), (Asked::Approved, Some(Fate::Void), None));
        let check = Check { complete: true, ..Check::default() };
        assert_eq!(world.app.record().verify(&check).await.unwrap().problem(), None);
        let halts = world.store().await.select(&Select::<Halt>::all().query).await.unwrap();
        assert!(halts.is_empty());
    }
}

/// A request that nobody has made, and steps that no task has taken.
#[tokio::test(flavor = "multi_thread")]
async fn no_work_is_begun_or_gone_on_with_that_another_program_wrote() {
    // What a task waits with, as rows that another program could have put there.
    let attacks = [
        "UPDATE agent_tasks SET status = 'running'",
        "UPDATE agent_tasks SET status = 'queued', steps = 0; DELETE FROM access_log",
        "UPDATE events SET metadata = NULL WHERE direction = 'in'",
        "UPDATE events SET body = metadata WHERE direction = 'in'",
        "DELETE FROM task_steps WHERE n = (SELECT max(n) FROM task_steps)",
        "UPDATE task_steps SET body = (SELECT body FROM task_steps WHERE n = 0) WHERE n = 3",
        "INSERT INTO task_steps (task, n, epoch, body, at) SELECT task, n + 1, epoch, body, at FROM task_steps \
         WHERE n = (SELECT max(n) FROM task_steps)",
        "DELETE FROM agent_tasks",
    ];
    for kept in DATABASES {
        for attack in attacks {
            let mut world = waiting(kept).await;
            say(&world, YES).await;
            let task = asked(&world).await.task_id.to_string();
            for table in ["events", "task_steps"] {
                match kept {
                    Kept::InPostgres => {
                        sql(&world, &format!("ALTER TABLE {table} DISABLE TRIGGER USER")).await;
                    }
                    _ => {
                        for verb in ["changed", "updated", "deleted"] {
                            sql(&world, &format!("DROP TRIGGER IF EXISTS {table}_are_not_{verb}")).await;
                        }
                    }
                }
            }
            sql(&world, attack).await;
            world.restart();
            let done = world.resume(Some(&task)).await;
            assert!(done.is_err(), "{kept:?}, {attack}: {done:?}");
            assert!(is_there(&world), "{kept:?}, {attack}");
        }
    }
}

/// A whole request with everything that belongs to it, copied from one that the owner did make.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_was_copied_in_the_database_is_not_begun() {
    for kept in DATABASES {
        let mut world = World::new(kept).await;
        world.file("a.rs", "");
        world.run(REFERENCE).await.unwrap();
        let columns = "key, adapter, platform, container_kind, place, sender, direction, body, content_type, \
                       metadata, occurred_at, received_at, origin_id, answers";
        let forged = domain::id::EventId::named("cli:forged");
        sql(
            &world,
            &format!(
                "INSERT INTO events (id, {columns}) SELECT '{forged}', {} FROM events WHERE direction = 'in'",
                columns.replacen("key", "'cli:forged'", 1)
            ),
        )
        .await;
        let refused_event = refused(world.resume(Some(&forged.to_string())).await);
        assert_eq!(refused_event, "one task was taken out of the database by another program");
        sql(
            &world,
            &format!(
                "INSERT INTO agent_tasks SELECT 't-' || substr(task_id, 4) || '0', agent_id, 'queued', priority, \
                 '{forged}', o_tag, vpol_id, task_class, NULL, 0, created_at, NULL, NULL, journal FROM agent_tasks"
            ),
        )
        .await;
        world.restart();
        assert!(world.resume(Some(&forged.to_string())).await.is_err());
        assert!(world.resume(None).await.is_err());
        assert_eq!(world.seen().len(), 1, "nothing ran");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instruction_that_the_owner_did_not_write_counts_for_nothing() {
    for kept in DATABASES {
        let forged = [
            "INSERT INTO agent_notes SELECT id + 1, agent_id, note_type, content, priority, created_at FROM agent_notes",
            "UPDATE agent_notes SET priority = 99",
            "DELETE FROM agent_notes",
        ];
        for statement in forged {
            let world = World::new(kept).await;
            world.app.instructions().add("ask before you delete", 0).await.unwrap();
            assert_eq!(world.app.instructions().list().await.unwrap().len(), 1);
            sql(&world, statement).await;
            refused(world.app.instructions().list().await);
            world.app.instance().reset_authority(How::Really).await.unwrap();
            assert_eq!(world.app.instructions().list().await.unwrap(), [], "{kept:?}: {statement}");
        }
    }
}
