//! What happens at the same moment: a store on which something is done between a look and the leap. In memory: the guards
//! are the batch's own, and every store has them.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use app::people::{AccessRequestAnswer, Forget};
use app::{App, Code};
use async_trait::async_trait;
use domain::approval::Status;
use domain::id::EventId;
use domain::probe::{Probe, Silent};
use ledger::memory::MemoryStore;
use ledger::query::Query;
use ledger::records::{Access, ActivePolicies, Entity, EntityTag, Knock, Place};
use ledger::store::{Applied, Described, Snapshot};
use ledger::table::Record as _;
use ledger::value::Row;
use ledger::{Batch, Seal, Store, StoreError};
use testkit::World;

use crate::admission::{
    ASK, CANARY, DAY, admit, code, decision, knows, question, records, rows, sends, sound, tables_with,
    writes, yes,
};

type Act = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Right after the next look at a table, something else is done, once.
#[derive(Default)]
struct Meanwhile {
    inner: MemoryStore,
    act: Mutex<Option<(&'static str, Act)>>,
}

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meanwhile").finish_non_exhaustive()
    }
}

impl Meanwhile {
    fn world() -> (Arc<Self>, World) {
        let store = Arc::new(Self::default());
        let given: Arc<dyn Store> = Arc::<Self>::clone(&store);
        (store, World::on(given))
    }

    fn after<F: Future<Output = ()> + Send + 'static>(
        &self,
        table: &'static str,
        world: &mut World,
        act: impl FnOnce(App) -> F,
    ) {
        let act: Act = Box::pin(act(world.another(Arc::new(Silent))));
        *self.act.lock().unwrap_or_else(PoisonError::into_inner) = Some((table, act));
    }

    async fn act_after(&self, queries: &[Query]) {
        let looked_at = |table: &str| queries.iter().any(|query| query.table.name == table);
        let act = {
            let mut act = self.act.lock().unwrap_or_else(PoisonError::into_inner);
            if act.as_ref().is_some_and(|(table, _)| looked_at(table)) { act.take() } else { None }
        };
        if let Some((_, act)) = act {
            act.await;
        }
    }

    fn is_done(&self) -> bool {
        self.act.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

#[async_trait]
impl Store for Meanwhile {
    async fn transact(
        &self,
        group: Vec<Batch>,
        seal: &Arc<Seal>,
        probe: &Arc<dyn Probe>,
    ) -> Result<Applied, StoreError> {
        self.inner.transact(group, seal, probe).await
    }

    async fn select(&self, query: &Query) -> Result<Vec<Row>, StoreError> {
        let rows = self.inner.select(query).await;
        self.act_after(std::slice::from_ref(query)).await;
        rows
    }

    async fn select_together(&self, queries: &[Query]) -> Result<Vec<Vec<Row>>, StoreError> {
        let answers = self.inner.select_together(queries).await;
        self.act_after(queries).await;
        answers
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>, StoreError> {
        self.inner.snapshot().await
    }

    async fn describe(&self) -> Result<Described, StoreError> {
        self.inner.describe().await
    }

    async fn scrub(&self) -> Result<(), StoreError> {
        self.inner.scrub().await
    }

    async fn upkeep(&self) -> Result<(), StoreError> {
        self.inner.upkeep().await
    }
}

const POLICIES: &str = ActivePolicies::TABLE.name;
const PLACES: &str = Place::TABLE.name;
const TAGS: &str = EntityTag::TABLE.name;
const KNOCKS: &str = Knock::TABLE.name;
const ADMISSIONS: &str = Access::TABLE.name;

async fn lea_writes(app: App) {
    sends(&app, "canary-lea", "meanwhile", serde_json::json!({})).await;
    app.events().admit_waiting().await.expect("decided");
}

#[tokio::test]
async fn a_message_that_comes_while_the_owner_answers_is_looked_at_first() {
    for answer in [yes(), AccessRequestAnswer::No] {
        let (store, mut world) = Meanwhile::world();
        let event = writes(&world, "canary-lea", 1).await;
        admit(&world).await;
        let knock = question(&world).await;
        let before = rows::<Entity>(&world).await;
        store.after(POLICIES, &mut world, lea_writes);
        assert_eq!(
            code(world.app.access_requests().answer(&knock, answer.clone(), "terminal").await),
            Code::ANSWERED
        );
        assert!(store.is_done());
        assert_eq!(rows::<Entity>(&world).await, before, "nobody was introduced");
        let [kept] = &rows::<Knock>(&world).await[..] else { panic!("one question") };
        assert_eq!((kept.status, kept.events, kept.resolved_at), (Status::Pending, 2, None));
        assert_eq!(records(&world, event).await.len(), 1);
        let view = world.app.access_requests().answer(&knock, answer, "terminal").await.expect("answered");
        assert_eq!(view.messages.len(), 2);
        sound(&world).await;
    }
}

#[tokio::test]
async fn a_change_of_other_people_does_not_take_the_answer_away() {
    let (store, mut world) = Meanwhile::world();
    let event = writes(&world, "canary-lea", 1).await;
    admit(&world).await;
    let knock = question(&world).await;
    store.after(POLICIES, &mut world, |app| async move {
        let tom = app::people::NewPerson {
            name: "Tom".into(),
            kind: ledger::records::EntityKind::Person,
            relationship: None,
            tags: Vec::new(),
            trust: None,
            addresses: vec!["demo:tom".into()],
        };
        app.people().add(tom).await.expect("added");
    });
    world.app.access_requests().answer(&knock, yes(), "terminal").await.expect("answered");
    assert!(store.is_done());
    assert_eq!(records(&world, event).await.len(), 2);
    sound(&world).await;
}

/// Somebody with a name, about whom the owner is asked first.
async fn lea_is_known(world: &World) -> EventId {
    world.policy("ask.yaml", Ok(ASK));
    knows(world, "Canary Lea", "friend", "demo:canary-lea").await;
    writes(world, "canary-lea", 1).await
}

async fn forgotten(app: App) {
    app.people().forget("demo:canary-lea", Forget::ForGood).await.expect("forgotten");
}

async fn nothing_is_left(store: &Meanwhile, world: &World) {
    assert!(store.is_done());
    for canary in [CANARY, "Canary"] {
        assert_eq!(tables_with(world, canary).await, [""; 0]);
    }
    sound(world).await;
}

#[tokio::test]
async fn whoever_is_forgotten_while_their_message_is_looked_at_leaves_nothing_behind() {
    for table in [PLACES, TAGS, KNOCKS] {
        let (store, mut world) = Meanwhile::world();
        let event = lea_is_known(&world).await;
        world.app.access_requests().list().await.expect("what was looked at before is looked at again");
        store.after(table, &mut world, forgotten);
        assert_eq!(admit(&world).await, (0, 1, 0), "{table}");
        assert!(decision(&world, event).await.facts.lost, "{table}");
        nothing_is_left(&store, &world).await;
    }
}

#[tokio::test]
async fn whoever_is_forgotten_while_the_owner_answers_leaves_nothing_behind() {
    for answer in [yes(), AccessRequestAnswer::No] {
        for table in [POLICIES, TAGS, PLACES] {
            let (store, mut world) = Meanwhile::world();
            lea_is_known(&world).await;
            admit(&world).await;
            let knock = question(&world).await;
            store.after(table, &mut world, forgotten);
            let answered = world.app.access_requests().answer(&knock, answer.clone(), "terminal").await;
            // The question about them went with them.
            assert_eq!(code(answered), Code::ANSWERED, "{table}");
            nothing_is_left(&store, &world).await;
        }
    }
}

#[tokio::test]
async fn whoever_is_forgotten_while_a_question_runs_out_leaves_nothing_behind() {
    for table in [ADMISSIONS, TAGS, PLACES] {
        let (store, mut world) = Meanwhile::world();
        lea_is_known(&world).await;
        admit(&world).await;
        world.clock.turn(7 * DAY);
        store.after(table, &mut world, forgotten);
        admit(&world).await;
        assert_eq!(rows::<Knock>(&world).await[0].status, Status::Expired, "{table}");
        nothing_is_left(&store, &world).await;
    }
}

#[tokio::test]
async fn whoever_is_introduced_or_marked_while_their_message_is_looked_at_is_looked_at_again() {
    let (store, mut world) = Meanwhile::world();
    let event = writes(&world, "canary-lea", 1).await;
    store.after(PLACES, &mut world, |app| async move {
        let lea = app::people::NewPerson {
            name: "Lea".into(),
            kind: ledger::records::EntityKind::Person,
            relationship: Some("friend".into()),
            tags: Vec::new(),
            trust: None,
            addresses: vec!["demo:canary-lea".into()],
        };
        app.people().add(lea).await.expect("added");
    });
    assert_eq!(admit(&world).await, (1, 0, 0));
    assert!(store.is_done());
    assert_eq!(decision(&world, event).await.matched, ["friends-access"]);
    assert_eq!(rows::<Knock>(&world).await, []);

    let (store, mut world) = Meanwhile::world();
    knows(&world, "Lea", "friend", "demo:canary-lea").await;
    let event = writes(&world, "canary-lea", 1).await;
    store.after(PLACES, &mut world, |app| async move {
        app.people().unlink("demo:canary-lea").await.expect("unlinked");
    });
    assert_eq!(admit(&world).await, (0, 1, 0));
    assert!(store.is_done());
    assert_eq!(decision(&world, event).await.matched, ["block-unknown"]);
    sound(&world).await;
}
