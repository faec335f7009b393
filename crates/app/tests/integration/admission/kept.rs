//! What is kept of a decision: it can be made again, what was changed is named, and nothing of anybody stays who was forgotten.

use app::people::{AccessRequestAnswer, Forget, PersonDetails};
use app::policies::Apply;
use app::record::Again;
use domain::id::{BatchId, EventId};
use domain::{Clock as _, Digest, Trust};
use ledger::records::{Access, Blob, TABLES};
use ledger::table::{Record, Table, Write};
use ledger::value::{BadCell, Row};
use ledger::{Batch, Select};
use serde_json::json;
use testkit::{Kept, World};

use crate::admission::{
    ASK, DAY, admit, decision, knows, ledger_of, question, records, sends, sound, tables_with, writes,
};

/// Rows as somebody overwrites them who owns the database, whatever the ledger thinks of it.
macro_rules! forged {
    ($($name:ident of $record:ident),+) => {$(
        struct $name($record);
        impl Record for $name {
            const TABLE: &'static Table = &Table { write: Write::Replace, ..*$record::TABLE };
            fn row(&self) -> Row {
                self.0.row()
            }
            fn from_row(row: Row) -> Result<Self, BadCell> {
                $record::from_row(row).map(Self)
            }
        }
    )+};
}
forged!(ForgedBlob of Blob, ForgedAccess of Access);

/// Everything that can become of a message: let in, denied, held, and answered in each way.
struct Scene {
    world: World,
    allowed: EventId,
    all: Vec<(&'static str, EventId)>,
}

impl Scene {
    async fn new(kept: Kept) -> Self {
        let world = World::new(kept).await;
        world.app.policies().apply("ask.yaml", ASK, Apply::Really).await.expect("applied");
        knows(&world, "Canary Lea", "partner", "demo:canary-lea").await;
        for name in ["tom", "tim"] {
            knows(&world, &format!("Canary {name}"), "friend", &format!("demo:canary-{name}")).await;
        }
        let ignored = writes(&world, "canary-ignored", 1).await;
        admit(&world).await;
        world.clock.turn(7 * DAY);
        let introduced = writes(&world, "canary-eve", 1).await;
        admit(&world).await;
        let who = PersonDetails {
            name: Some("Canary Eve".into()),
            relationship: Some("canary-colleague".into()),
            person: None,
        };
        answer(&world, AccessRequestAnswer::Yes(who)).await;
        let yes = writes(&world, "canary-tom", 1).await;
        admit(&world).await;
        answer(&world, crate::admission::yes()).await;
        let no = writes(&world, "canary-bob", 1).await;
        admit(&world).await;
        answer(&world, AccessRequestAnswer::No).await;
        let allowed = writes(&world, "canary-lea", 1).await;
        let chat = json!({ "container_kind": "group", "container_id": "canary-chat", "account": "home" });
        let group = sends(&world.app, "canary-lea", "g", chat).await;
        let (denied, held) = (writes(&world, "canary-sue", 1).await, writes(&world, "canary-tim", 1).await);
        admit(&world).await;
        let all = vec![
            ("allowed", allowed),
            ("in a group", group),
            ("denied", denied),
            ("held", held),
            ("introduced", introduced),
            ("said yes", yes),
            ("said no", no),
            ("nobody answered", ignored),
        ];
        Self { world, allowed, all }
    }

    async fn blob(&self, hash: &Digest) -> Blob {
        ledger_of(&self.world).await.first(Select::by("hash", hash)).await.expect("blobs").expect("a blob")
    }

    async fn forge(&self, forge: impl for<'a> FnOnce(&'a mut Batch) -> &'a mut Batch) {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1_000);
        let id = BatchId::from_bits(NEXT.fetch_add(1, Ordering::SeqCst).into());
        let mut batch = Batch::new(id, self.world.clock.now());
        forge(&mut batch);
        ledger_of(&self.world).await.commit(batch).await.expect("whoever owns the database can do this");
    }

    /// What is found wrong with the decision about the message that was let in.
    async fn found(&self) -> Vec<String> {
        let why = self.world.app.record().recheck(&self.allowed.to_string()).await.expect("why");
        let recheck = why.recheck.expect("asked for");
        assert!(!recheck.holds, "{recheck:?}");
        let wrong = recheck.lines.into_iter().filter(|line| line.again != Again::Same);
        wrong
            .map(|line| match line.again {
                Again::Differs(it) => format!("{} {}", line.what, it.field),
                other => format!("{} {other:?}", line.what),
            })
            .collect()
    }
}

async fn answer(world: &World, answer: AccessRequestAnswer) {
    let knock = question(world).await;
    world.app.access_requests().answer(&knock, answer, "terminal").await.expect("answered");
    world.clock.turn(crate::admission::SECOND);
}

#[tokio::test]
async fn every_decision_comes_out_the_same_when_it_is_made_again() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        // The policies of now are others: those of then decide again.
        scene.world.app.policies().remove("ask.yaml", Apply::Really).await.expect("removed");
        for (name, event) in &scene.all {
            let why = scene.world.app.record().recheck(&event.to_string()).await.expect("why");
            let recheck = why.recheck.expect("asked for");
            assert!(recheck.holds, "{kept:?} {name}: {recheck:?}");
            let admissions = recheck.lines.iter().filter(|line| line.what == "admission").count();
            assert_eq!(admissions, records(&scene.world, *event).await.len(), "{kept:?} {name}");
            assert!(
                recheck.lines.iter().all(|line| line.again == Again::Same),
                "{kept:?} {name}: {recheck:?}"
            );
        }
        sound(&scene.world).await;
    }
}

#[tokio::test]
async fn a_decision_that_was_changed_is_named() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        let [row] = <[Access; 1]>::try_from(records(&scene.world, scene.allowed).await).expect("one");
        let changed = Access { trust: Trust::Operator, effect: "deny".into(), ..row.clone() };
        scene.forge(|batch| batch.put(&ForgedAccess(changed))).await;
        let expected =
            ["admission effect, in the audit", "admission effect, in its row", "admission trust, in its row"];
        assert_eq!(scene.found().await, expected, "{kept:?}");
        scene.forge(|batch| batch.put(&ForgedAccess(row.clone()))).await;

        let set = decision(&scene.world, scene.allowed).await.facts.policies.expect("they are kept");
        let table = [
            (row.decision, "standard", "operator", "admission decision"),
            (set, "\"deny\"", "\"allow\"", "admission policies"),
        ];
        for (hash, from, to, named) in table {
            let blob = scene.blob(&hash).await;
            let content = String::from_utf8(blob.content.clone()).expect("text").replace(from, to);
            let changed = Blob { content: content.into_bytes(), ..blob.clone() };
            scene.forge(|batch| batch.put(&ForgedBlob(changed))).await;
            assert_eq!(scene.found().await, [named], "{kept:?}");
            scene.forge(|batch| batch.put(&ForgedBlob(blob))).await;
        }
    }
}

#[tokio::test]
async fn nothing_of_anybody_stands_where_it_cannot_be_erased_and_forget_finds_all_of_it() {
    let personal = |name: &&str| TABLES.iter().any(|table| table.name == *name && table.is_personal());
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        let world = &scene.world;
        for canary in ["canary", "Canary"] {
            let tables = tables_with(world, canary).await;
            assert!(tables.iter().all(personal), "{kept:?}: {tables:?}");
            assert!(!tables.is_empty(), "{kept:?}: the test itself must see the canary where it may be");
        }
        let senders = ["lea", "tom", "tim", "eve", "bob", "sue", "ignored"];
        for sender in senders {
            let (address, canary) = (format!("demo:canary-{sender}"), format!("canary-{sender}"));
            world.app.people().forget(&address, Forget::ForGood).await.expect("forgotten");
            assert_eq!(tables_with(world, &canary).await, [""; 0], "{kept:?} {sender}");
        }
        for canary in ["canary", "Canary"] {
            assert_eq!(tables_with(world, canary).await, [""; 0], "{kept:?}");
        }
        for (name, event) in &scene.all {
            let why = world.app.record().recheck(&event.to_string()).await.expect("why");
            assert!(why.recheck.expect("asked for").holds, "{kept:?} {name}");
        }
        sound(world).await;
        // What still waits of somebody who is gone runs out, and says nothing of them.
        world.clock.turn(8 * DAY);
        admit(world).await;
        assert_eq!(world.app.access_requests().list().await.expect("knocks").len(), 0, "{kept:?}");
        assert_eq!(tables_with(world, "canary").await, [""; 0], "{kept:?}");
        sound(world).await;
    }
}
