//! A broker, a ledger, and tools that do what their names say.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use broker::access::Switches;
use broker::budget::{Accounts, Limits, Standing};
use broker::secrets::Secrets;
use broker::{
    Artifact, Authorized, Broker, CallContext, Context, DataLevel, Finished, Handler, Looked, Pending,
    Prepared, Registry, Returned, Ruled, Sight, ToolSpec, Used, Validation,
};
use domain::call::{Call, Chooser, Failure, Outcome};
use domain::change::{self, Change, Content};
use domain::id::{BatchId, CallId, EntityId, NodeId, OriginId, ReasonId, TaskId};
use domain::principal::Principal;
use domain::probe::Silent;
use domain::source::{Source, Text};
use domain::{Clock, Digest, Stop, Tags, Tier, Time, Trust};
use ledger::memory::MemoryStore;
use ledger::query::Query;
use ledger::records::{CallStatus, Salt, SaltBytes, TABLES};
use ledger::{Batch, Ledger, Seal, Store};
use policy::acl::{Credentials, Permissions};
use policy::vpol::Vpol;
use serde_json::{Value, json};

/// Later than anything here.
pub(crate) const FAR: Time = Time::from_micros(i64::MAX);

/// The value of the secret `bank`.
pub(crate) const HIDDEN: &str = "hidden-0123456789";

struct At(i64);

impl Clock for At {
    fn now(&self) -> Time {
        Time::from_micros(self.0)
    }
}

/// A tool that does what its name says.
pub(crate) struct Tool(pub(crate) &'static str);

#[async_trait]
impl Handler for Tool {
    fn accepts(&self, args: &Value) -> Result<(), String> {
        if args.get("odd").is_some() { Err("`odd` is odd".into()) } else { Ok(()) }
    }

    fn tier(&self, args: &Value) -> Option<Tier> {
        args.get("replace").map(|_| Tier::WriteDestructive)
    }

    async fn look(&self, args: &Value) -> Result<Option<Looked>, Failure> {
        let Some(content) = args.get("there").and_then(Value::as_str) else { return Ok(None) };
        let from = change::Standing::File(Content::new(Digest::of(content.as_bytes()), 1, 0o644));
        let change = Change::new("f".into(), from, change::Standing::Nothing);
        Ok(Some(Sight { change, content: Some(content.into()), modified: None }.into()))
    }

    async fn call(&self, call: Authorized<Call>) -> Returned {
        match self.0 {
            "panics" => panic!("on purpose"),
            "hangs" | "deaf" => std::future::pending().await,
            "listens" => {
                while !call.stop().is_asked() {
                    tokio::task::yield_now().await;
                }
                Failure::environmental("stopped after 3 of 7").into()
            }
            "floods" => Outcome::Ok(json!("x".repeat(2_000))).into(),
            "counts" => Outcome::Ok(json!({ "count": u64::MAX })).into(),
            "nests" => Outcome::Ok((0..70).fold(json!(1), |inner, _| json!([inner]))).into(),
            "lies" => Outcome::Ok(json!({ "count": "many" })).into(),
            "fails" => Failure::environmental(format!("it says no to {}", call.call().args)).into(),
            "leaves" => {
                let name = format!("mail to {}", call.call().args);
                Returned::made(json!({ "made": true }), vec![Artifact { name, digest: None, bytes: None }])
            }
            "proposes" => {
                let key = call.call().args.get("key").and_then(Value::as_str).unwrap_or_default();
                Failure::refused("no", vec![format!("ask at {key}")]).into()
            }
            "rambles" => Failure::logical("é".repeat(5_000)).into(),
            "pays" => {
                Returned { used: Some(Used { money: 30, tokens: 4 }), ..Outcome::Ok(json!(null)).into() }
            }
            _ => Outcome::Ok(json!({ "echo": call.call().args })).into(),
        }
    }
}

pub(crate) fn spec(id: &str, tier: Tier) -> ToolSpec {
    let spec = ToolSpec::shipped(id.parse().unwrap(), "for a test", tier);
    ToolSpec { timeout: Duration::from_millis(200), output_bytes: 1_000, idempotent: false, ..spec }
}

pub(crate) fn registry() -> Registry {
    let tools = [
        ("works", Tier::ReadOnly),
        ("writes", Tier::WriteSafe),
        ("panics", Tier::WriteSafe),
        ("hangs", Tier::WriteSafe),
        ("deaf", Tier::ReadOnly),
        ("listens", Tier::WriteSafe),
        ("floods", Tier::WriteSafe),
        ("counts", Tier::WriteSafe),
        ("nests", Tier::WriteSafe),
        ("fails", Tier::WriteSafe),
        ("rambles", Tier::ReadOnly),
        ("leaves", Tier::WriteSafe),
        ("proposes", Tier::ReadOnly),
    ];
    let all = tools
        .into_iter()
        .fold(Registry::default(), |all, (id, tier)| all.with(spec(id, tier), Arc::new(Tool(id))));
    let count = json!({ "properties": { "count": { "type": "integer" } }, "required": ["count"] });
    let lies = ToolSpec { output_schema: Some(count), ..spec("lies", Tier::WriteSafe) };
    let pays =
        ToolSpec { cost: broker::Cost { money: 100, tokens: 10, bytes: 0 }, ..spec("pays", Tier::WriteSafe) };
    all.with(lies, Arc::new(Tool("lies"))).with(pays, Arc::new(Tool("pays")))
}

pub(crate) fn salt() -> Salt {
    Salt { person: "p-1".into(), salt: SaltBytes::new(Digest::ZERO) }
}

pub(crate) fn batch(id: u128) -> Batch {
    Batch::new(BatchId::from_bits(id), Time::from_micros(0))
}

pub(crate) fn accounts() -> Accounts {
    let name = |name: &str| name.to_owned();
    Accounts { task: name("t"), session: name("s"), agent: name("a"), principal: name("p"), day: name("d") }
}

pub(crate) fn call(number: u128, tool: &str, args: Value) -> Call {
    Call {
        id: CallId::from_bits(number),
        tool: tool.parse().unwrap(),
        args,
        task: TaskId::from_bits(1),
        subtask: None,
        chosen_by: Chooser::Owner { confirmed: true },
        tags: Tags {
            origin: OriginId::from_bits(1),
            reason: ReasonId::from_bits(1),
            vpol: Vpol::DEFAULT_OWNER.id(),
        },
    }
}

/// What is there before a call is asked for.
pub(crate) struct World {
    pub(crate) broker: Broker,
    pub(crate) ledger: Ledger,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) limits: Limits,
    pub(crate) standing: Standing,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(registry(), 0)
    }

    pub(crate) fn with(registry: Registry, now: i64) -> Self {
        let mut secrets = Secrets::default();
        secrets.insert("bank", HIDDEN).unwrap();
        let store = Arc::new(MemoryStore::default());
        let seal = Seal::for_tests(NodeId::from_bits(1), [7; 32]);
        Self {
            broker: Broker::new(registry, Arc::new(secrets), Arc::new(At(now)), Arc::new(Silent)),
            ledger: Ledger::start(Arc::clone(&store) as Arc<dyn Store>, seal, Arc::new(Silent)),
            store,
            limits: Limits::default(),
            standing: Standing::default(),
        }
    }

    pub(crate) fn rule(&self, call: Call) -> Ruled {
        let principal = Principal::Owner { entity: EntityId::from_bits(1) };
        let (request, salt) = (Text::new("x", Source::Owner), salt());
        let (switches, accounts, vpol) = (Switches::default(), accounts(), Vpol::DEFAULT_OWNER);
        let context = CallContext {
            agent: "main",
            principal: &principal,
            trust: Trust::Operator,
            roles: &[],
            labels: &["owner".into()],
            permissions: &Permissions::allowing("all", vec!["*".into()], Credentials::All, DataLevel::Full),
            request: &request,
            salt: &salt,
            switches: &switches,
            limits: &self.limits,
            accounts: &accounts,
            standing: &self.standing,
            validation: Validation::frozen(&vpol),
            grants: &[],
            looked: None,
            leave: None,
            must_not: None,
        };
        self.broker.authorize(call, &context).unwrap()
    }

    /// A call that every layer lets pass, with its records in the batch.
    pub(crate) fn enter(&mut self, call: Call, batch: &mut Batch) -> Pending {
        let ruled = self.rule(call);
        let salt = salt();
        let context = Context { agent: "main", trust: Trust::Operator, salt: &salt };
        let prepared = Prepared::new(ruled, context, Time::from_micros(0));
        prepared.map_err(|refused| refused.decision().to_string()).unwrap().enter(
            None,
            &mut self.standing,
            batch,
        )
    }

    /// Its leave to run, from a batch that is durable.
    pub(crate) async fn authorized(&mut self, call: Call) -> Authorized<Call> {
        let mut started = batch(100 + call_number(&call));
        let pending = self.enter(call, &mut started);
        let receipt = self.ledger.commit(started).await.unwrap();
        pending.authorize(&receipt, FAR).unwrap()
    }

    pub(crate) async fn run(&mut self, call: Call, halt: &Stop) -> Finished {
        let authorized = self.authorized(call).await;
        self.broker.execute(authorized, halt, &Stop::default()).await.unwrap()
    }

    pub(crate) async fn record(&self, finished: &Finished) -> CallStatus {
        let mut records = batch(10_000 + call_number(&finished.call));
        let salt = salt();
        finished.enter(Context { agent: "main", trust: Trust::Operator, salt: &salt }, &mut records).unwrap();
        self.ledger.commit(records).await.unwrap();
        let row = self.ledger.call(finished.call.id).await.unwrap().unwrap();
        assert_eq!(row.status, finished.status());
        assert!(row.output.is_some() && row.duration_ms.is_some());
        row.status
    }

    /// What stands in the record in the end: the call's status, and what came of it.
    pub(crate) async fn ended(&mut self, call: Call) -> (CallStatus, Outcome) {
        let finished = self.run(call, &Stop::default()).await;
        (self.record(&finished).await, finished.outcome)
    }

    /// Every row of every table, as text; bytes as the text they may hold.
    pub(crate) async fn everything(&self) -> String {
        let mut all = String::new();
        for table in TABLES {
            let query = Query { table, filters: Vec::new(), order: None, limit: None };
            for row in self.store.select(&query).await.unwrap() {
                for value in row {
                    all += &match value {
                        ledger::value::Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                        other => format!("{other:?}"),
                    };
                    all.push('\n');
                }
            }
        }
        all
    }

    /// What is used of each budget.
    pub(crate) async fn used(&self) -> Vec<(String, String, u64)> {
        let names: Vec<String> =
            broker::budget::Scope::ALL.iter().map(|scope| accounts().name(*scope)).collect();
        let rows = self.ledger.budgets(&names).await.unwrap();
        let mut used: Vec<_> = rows.into_iter().map(|row| (row.account, row.unit, row.used)).collect();
        used.sort();
        used
    }
}

fn call_number(call: &Call) -> u128 {
    (1..1_000).find(|number| CallId::from_bits(*number) == call.id).unwrap()
}
