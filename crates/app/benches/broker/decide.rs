//! What deciding costs: the layers alone, all of `authorize`, and what has to be built first.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use broker::access::Switch;
use broker::budget::Standing;
use broker::decide::decide;
use broker::{DataLevel, DecisionInputs, DecisionView, Policies, Registry};
use domain::call::{Call, Chooser};
use domain::id::{EntityId, TaskId};
use domain::principal::Principal;
use domain::source::{Source, Text};
use domain::task::MustNot;
use domain::{Digest, Tier, Trust};
use policy::acl::Permissions;
use policy::vpol::{Circumstances, Vpol};

use crate::world::{Note, TOOLS, World, accounts, registered, registry};

const ROUNDS: u64 = 5;
const EACH: u64 = 20_000;

pub(crate) fn measure(folder: &Path, globs: usize) {
    // Before anything else compiles one: whatever the library makes once per process is in the first.
    let small = serde_json::json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let mut first = Vec::new();
    assert!(timed(&mut first, || compiled(&small)));
    let mut second = Vec::new();
    assert!(timed(&mut second, || compiled(&small)));
    let world = World::new(folder, globs, true);
    println!("{TOOLS} tools, {globs} globs; µs\n");
    println!("| what | mean | p50 | p99 |");
    println!("|---|---|---|---|");
    for round in 1..=ROUNDS {
        row(&format!("`decide`, every fact another ({round})"), layers(&world));
        row(&format!("`decide`, what is let through ({round})"), let_through(&world));
        row(&format!("`authorize` ({round})"), whole(&world));
    }
    println!("\n| what is built first | mean | p50 | p99 |");
    println!("|---|---|---|---|");
    row("the first schema that a process compiles", first);
    row("the same schema again", second);
    building(folder);
}

fn row(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let at = |percent: usize| micros(times.get(times.len() * percent / 100).copied().unwrap_or_default());
    let mean = times.iter().copied().map(micros).sum::<f64>() / times.len() as f64;
    println!("| {what} | {mean:.2} | {:.2} | {:.2} |", at(50), at(99));
}

fn timed<T>(times: &mut Vec<Duration>, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let made = work();
    times.push(started.elapsed());
    made
}

/// Other tools, arguments, people, trust and choosers each time: most of these calls are refused by some layer.
fn layers(world: &World) -> Vec<Duration> {
    let registry = world.broker.registry();
    let specs: Vec<_> = registry.specs().collect();
    let entity = EntityId::from_bits(1);
    let principals = [
        Principal::Owner { entity },
        Principal::Known { entity },
        Principal::Owner { entity },
        Principal::Unknown,
    ];
    let choosers = [Chooser::Rule, Chooser::Model, Chooser::Owner { confirmed: true }];
    let vpols = Vpol::SHIPPED;
    let roles = vec!["clerk".to_owned()];
    let restricted = Permissions { data: DataLevel::Restricted, ..world.permissions.clone() };
    let mut times = Vec::new();
    for n in 0..EACH {
        let pick = |of: usize| usize::try_from(n).expect("small") % of;
        let spec = specs.get(pick(specs.len())).expect("a tool");
        let mut call = world.call(TaskId::from_bits(n.into()), n);
        (call.tool, call.chosen_by) = (spec.id.clone(), *choosers.get(pick(3)).expect("one"));
        let principal = principals.get(pick(4)).expect("one");
        let source = if principal.is_owner() { Source::Owner } else { Source::Model };
        let request = Text::new(world.request.text.clone(), source);
        let trust = if principal.is_owner() { Trust::Operator } else { Trust::Untrusted };
        let inputs = DecisionInputs {
            switch: if n % 11 == 0 { Switch::Off } else { Switch::On },
            form: if n % 7 == 0 { Err("\"path\" is a required property".into()) } else { Ok(()) },
            tier: if n % 5 == 0 { Tier::WriteDestructive } else { spec.tier },
            agent: if n % 13 == 0 { "stranger".into() } else { "main".into() },
            principal: principal.clone(),
            trust,
            roles: roles.clone(),
            permissions: if n % 3 == 0 { restricted.clone() } else { world.permissions.clone() },
            source: request.source.clone(),
            ..inputs_of(call, world)
        };
        let policies = frozen(vpols.get(pick(3)));
        let facts = DecisionView { inputs: &inputs, tool: Some(spec), policies, request: &request };
        black_box(timed(&mut times, || decide(black_box(&facts))));
    }
    times
}

fn let_through(world: &World) -> Vec<Duration> {
    let registry = world.broker.registry();
    let mut times = Vec::new();
    for n in 0..EACH {
        let call = world.call(TaskId::from_bits(n.into()), n);
        let inputs = inputs_of(call, world);
        let tool = registry.spec(&inputs.call.tool);
        let policies = frozen(Some(&crate::world::POLICY));
        let facts = DecisionView { inputs: &inputs, tool, policies, request: &world.request };
        let decision = timed(&mut times, || decide(black_box(&facts)));
        assert_eq!(decision.answer, broker::Answer::Execute, "{decision:?}");
    }
    times
}

/// The inputs of a decision about a call that every layer lets through.
fn inputs_of(call: Call, world: &World) -> DecisionInputs {
    DecisionInputs {
        call,
        tool: None,
        switch: Switch::On,
        form: Ok(()),
        tier: Tier::WriteSafe,
        agent: "main".into(),
        principal: world.principal.clone(),
        trust: Trust::Operator,
        roles: Vec::new(),
        labels: Vec::new(),
        permissions: world.permissions.clone(),
        needs: Vec::new(),
        vpol: None,
        of_now: None,
        circumstances: Circumstances::default(),
        exhausted: None,
        leaks: None,
        request: Digest::of(world.request.text.as_bytes()),
        source: world.request.source.clone(),
        session: "s".into(),
        grants: Vec::new(),
        changes: None,
        place: None,
        fingerprint: None,
        leave: None,
        must_not: MustNot::default(),
    }
}

const fn frozen(vpol: Option<&Vpol>) -> Policies<'_> {
    Policies { frozen: vpol, of_now: None }
}

/// Facts, schema, canonical JSON and digests included; the compiled schemas are there already.
fn whole(world: &World) -> Vec<Duration> {
    let standing = Standing::default();
    let mut times = Vec::new();
    for n in 0..world.notes.len() as u64 {
        let task = TaskId::from_bits(1);
        let accounts = accounts(task);
        drop(world.broker.authorize(world.call(task, n), &world.call_context(&accounts, &standing)));
    }
    for n in 0..EACH {
        let task = TaskId::from_bits(n.into());
        let (call, accounts) = (world.call(task, n), accounts(task));
        let context = world.call_context(&accounts, &standing);
        let ruled = timed(&mut times, || world.broker.authorize(call, &context)).expect("a form");
        assert_eq!(ruled.decision().answer, broker::Answer::Execute, "{:?}", ruled.decision());
    }
    times
}

/// What every start of the program pays, and what the first call of a tool does.
fn building(folder: &Path) {
    const TIMES: usize = 200;
    let mut times = Vec::new();
    for _ in 0..TIMES {
        drop(timed(&mut times, || tools::Workspace::new(folder.to_owned())));
    }
    row("the workspace", times);
    let workspace = Arc::new(tools::Workspace::new(folder.to_owned()).expect("a workspace"));
    let mut times = Vec::new();
    for _ in 0..TIMES {
        drop(timed(&mut times, || tools::builtin(&workspace)));
    }
    row("the built-in tools", times);
    let builtin = tools::builtin(&workspace);
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let specs: Vec<_> = builtin.specs().cloned().collect();
        let shelf =
            || specs.into_iter().fold(Registry::default(), |shelf, spec| shelf.with(spec, Arc::new(Note)));
        drop(timed(&mut times, shelf));
    }
    row("the same, with schemas that are there", times);

    let registry = registry(folder, TOOLS);
    let (mut registering, mut both) = (Vec::new(), Vec::new());
    for n in TOOLS..2 * TOOLS {
        let spec = registered(&registry, n);
        let (input, output) = (spec.input_schema.clone(), spec.output_schema.clone());
        let one = registry.clone();
        drop(timed(&mut registering, || one.register(spec)));
        let compiles = timed(&mut both, || (compiled(&input), output.as_ref().map(compiled)));
        assert_eq!(compiles, (true, Some(true)));
    }
    row("registering one tool", registering);
    row("of that, compiling its two schemas", both);
    let mut first = Vec::new();
    for n in 0..20 {
        let world = World::new(folder, 1, true);
        let (task, standing) = (TaskId::from_bits(1), Standing::default());
        let (call, accounts) = (world.call(task, n), accounts(task));
        let context = world.call_context(&accounts, &standing);
        timed(&mut first, || world.broker.authorize(call, &context)).expect("a form");
    }
    row("the first `authorize` of a tool", first);
}

fn compiled(schema: &serde_json::Value) -> bool {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(schema)
        .is_ok()
}
