//! Two hundred tools, a hundred globs, and calls that differ: what the broker is measured with.

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use broker::access::Switches;
use broker::budget::{Accounts, Limits, Scope, Standing, Unit};
use broker::secrets::Secrets;
use broker::{
    Authorized, Broker, CallContext, Context, DataLevel, Handler, Level, Registration, Registry, Returned,
    ToolSpec, Validation,
};
use domain::call::{Call, Chooser, ToolId};
use domain::id::{CallId, EntityId, OriginId, ReasonId, TaskId};
use domain::limits::TASK_CALLS;
use domain::principal::Principal;
use domain::probe::Silent;
use domain::source::{Source, Text};
use domain::tags::Tags;
use domain::{Clock, Digest, Tier, Time, Trust};
use ledger::records::{Salt, SaltBytes};
use policy::acl::{Credentials, Permissions};
use policy::vpol::Vpol;
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) const TOOLS: usize = 200;
/// The tool that does nothing, as one of ours would: typed arguments, a record with a schema.
pub(crate) static POLICY: Vpol = Vpol::DEFAULT_OWNER;

pub(crate) const NOTE: &str = "note";

pub(crate) struct Now;

impl Clock for Now {
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
        Time::from_micros(i64::try_from(since.as_micros()).expect("before the year 294,000"))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "they are only read")]
struct Args {
    path: String,
    content: String,
    #[serde(default)]
    replace: bool,
    #[serde(default)]
    project: String,
}

pub(crate) struct Note;

#[async_trait]
impl Handler for Note {
    fn accepts(&self, args: &Value) -> Result<(), String> {
        Args::deserialize(args).map(drop).map_err(|error| error.to_string())
    }

    fn tier(&self, args: &Value) -> Option<Tier> {
        Args::deserialize(args).ok().and_then(|args| args.replace.then_some(Tier::WriteDestructive))
    }

    async fn call(&self, call: Authorized<Call>) -> Returned {
        let Ok(args) = call.args::<Args>() else { return Returned::made(Value::Null, Vec::new()) };
        Returned::made(json!({ "path": args.path, "bytes": args.content.len(), "created": true }), Vec::new())
    }
}

fn note() -> ToolSpec {
    let id = NOTE.parse().expect("an id");
    let text = |what: &str| json!({ "type": "string", "description": what });
    ToolSpec {
        input_schema: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "minLength": 1, "maxLength": 4096, "description": "relative to the workspace" },
                "content": text("the whole text"),
                "replace": { "type": "boolean", "default": false },
                "project": text("whose note it is"),
            },
            "required": ["path", "content"],
            "additionalProperties": false,
        }),
        output_schema: Some(json!({
            "type": "object",
            "properties": {
                "path": text("where it stands"),
                "bytes": { "type": "integer", "minimum": 0 },
                "created": { "type": "boolean" },
            },
            "required": ["path", "bytes", "created"],
        })),
        sinks: vec!["path".into(), "replace".into()],
        ..ToolSpec::shipped(id, "writes nothing down", Tier::WriteSafe)
    }
}

/// The built-in tools, the one that does nothing, and registrations on top of them until there are enough.
pub(crate) fn registry(folder: &Path, tools: usize) -> Registry {
    let workspace = Arc::new(tools::Workspace::new(folder.to_owned()).expect("a workspace"));
    let mut registry = tools::builtin(&workspace).with(note(), Arc::new(Note));
    for n in registry.specs().count()..tools {
        let spec = registered(&registry, n);
        registry = registry.register(spec).expect("registered");
    }
    registry
}

/// One that a person might register: a function of ours with an argument fixed.
pub(crate) fn registered(registry: &Registry, n: usize) -> ToolSpec {
    let function = ["find_files", "read_file", NOTE, NOTE].get(n % 4).expect("one of four");
    let fixed = if *function == NOTE { json!({ "project": format!("p{n}") }) } else { json!({}) };
    let written = json!({
        "tool_id": format!("team{:02}_{function}_{n}", n % 100),
        "description": format!("what {function} does, for the project number {n} of this house"),
        "handler_config": { "function": function, "fixed": fixed },
        "role_requirements": [],
        "agent_access": ["main", "helper-*"],
    });
    let registration: Registration = serde_json::from_value(written).expect("a registration");
    let spec = registration.spec(registry).expect("a specification");
    ToolSpec { level: Level::ReviewedAfter, ..spec }
}

/// Globs of which the last one allows the tools.
pub(crate) fn globs(count: usize) -> Vec<String> {
    let others = (1..count).map(|n| format!("department{n:02}_*_report"));
    others.chain(["*".to_owned()]).collect()
}

/// Everything around a call, as it is for the owner's own agent.
pub(crate) struct World {
    pub(crate) broker: Broker,
    /// Tools whose calls run without asking anybody.
    pub(crate) notes: Vec<ToolId>,
    pub(crate) permissions: Permissions,
    pub(crate) limits: Limits,
    pub(crate) salt: Salt,
    pub(crate) principal: Principal,
    pub(crate) request: Text,
    pub(crate) switches: Switches,
}

impl World {
    pub(crate) fn new(folder: &Path, globs_count: usize, budgets: bool) -> Self {
        let registry = registry(folder, TOOLS);
        let is_note = |spec: &&ToolSpec| spec.id.as_str().contains(NOTE);
        let notes = registry.specs().filter(is_note).map(|spec| spec.id.clone()).collect();
        let mut limits = Limits::default();
        limits.set(Scope::Task, Unit::Calls, budgets.then_some(TASK_CALLS));
        let request = "write down what was said in the meeting on Monday, one note per topic, under notes/, and tell me \
             which topics are still open; do not replace what is there already";
        Self {
            broker: Broker::new(registry, Arc::new(Secrets::default()), Arc::new(Now), Arc::new(Silent)),
            notes,
            permissions: Permissions::allowing("all", globs(globs_count), Credentials::All, DataLevel::Full),
            limits,
            salt: Salt { person: "somebody".into(), salt: SaltBytes::new(Digest::of(b"salt")) },
            principal: Principal::Owner { entity: EntityId::from_bits(1) },
            request: Text::new(request, Source::Owner),
            switches: Switches::read(Some(r#"{"calc": {"enabled": true}, "shell": {"enabled": false}}"#)),
        }
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context { agent: "main", trust: Trust::Operator, salt: &self.salt }
    }

    pub(crate) fn call_context<'a>(
        &'a self,
        accounts: &'a Accounts,
        standing: &'a Standing,
    ) -> CallContext<'a> {
        CallContext {
            agent: "main",
            principal: &self.principal,
            trust: Trust::Operator,
            roles: &[],
            labels: &[],
            permissions: &self.permissions,
            request: &self.request,
            salt: &self.salt,
            switches: &self.switches,
            limits: &self.limits,
            accounts,
            standing,
            validation: Validation::frozen(&POLICY),
            grants: &[],
            looked: None,
            leave: None,
            must_not: None,
        }
    }

    /// The n-th call of a task, with arguments of its own.
    pub(crate) fn call(&self, task: TaskId, n: u64) -> Call {
        let tools = self.notes.len() as u64;
        let tool = self.notes.iter().cycle().nth(usize::try_from(n % tools).expect("small"));
        Call {
            id: CallId::derived(task, n, 0),
            tool: tool.expect("a tool").clone(),
            args: json!({ "path": format!("notes/topic-{n}.md"), "content": content(n) }),
            task,
            subtask: Some(1),
            chosen_by: Chooser::Rule,
            tags: Tags {
                origin: OriginId::derived(task, 0, 0),
                reason: ReasonId::derived(task, n, 1),
                vpol: Vpol::DEFAULT_OWNER.id(),
            },
        }
    }
}

fn content(n: u64) -> String {
    format!("Topic {n}\n\n{}", "what was said about it, in a sentence or two. ".repeat(5))
}

pub(crate) fn accounts(task: TaskId) -> Accounts {
    Accounts {
        session: format!("main/{task}"),
        task: task.to_string(),
        agent: "main".into(),
        principal: "owner".into(),
        day: "2026-11-16".into(),
    }
}
