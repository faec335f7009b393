//! The catalog of operations: who is offered what, and that each is declared completely.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use app::Code;

use app::operation::{
    Offer, OfferedOperation, OperationCaller, OperationEffect, OperationEntry, TokenScope, json_name,
};
use serde_json::json;

fn all() -> Vec<&'static OperationEntry> {
    Offer::to(OperationCaller::Owner)
        .groups()
        .flat_map(|(_, offered)| offered)
        .map(OfferedOperation::entry)
        .collect()
}

/// A surface as the server will have them: it can only show what it is offered, and only run what it shows.
struct FakeSurface(Offer);

impl FakeSurface {
    fn shown(&self) -> BTreeSet<&'static str> {
        let offered = self.0.groups().flat_map(|(_, offered)| offered);
        offered.map(|operation| operation.entry().spec.name).collect()
    }

    fn calls(&self, name: &str) -> bool {
        self.0.find(name).is_some()
    }
}

#[test]
fn a_surface_offers_what_its_caller_may_use_and_nothing_else() {
    use TokenScope::{Admin, Approve, Read, Run};
    let scopes: [&[TokenScope]; 6] =
        [&[], &[Read], &[Read, Run], &[Read, Run, Approve], &[Read, Run, Approve, Admin], &[Admin]];
    let tokens = scopes.iter().flat_map(|scopes| {
        [true, false].map(|owner| OperationCaller::Token { scopes: scopes.to_vec(), owner })
    });
    for caller in tokens.chain([OperationCaller::Owner, OperationCaller::Client, OperationCaller::Webhook]) {
        let surface = FakeSurface(Offer::to(caller.clone()));
        // Read from the table in spec 03 §1, not from the code under test.
        let may = |entry: &&&OperationEntry| match (&caller, entry.spec.access.scope) {
            (OperationCaller::Owner, _) => true,
            (OperationCaller::Webhook, _) | (_, None) => false,
            (OperationCaller::Token { scopes, .. }, Some(scope @ (Read | Run))) => scopes.contains(&scope),
            (OperationCaller::Token { scopes, owner }, Some(scope)) => *owner && scopes.contains(&scope),
            (OperationCaller::Client, Some(scope)) => entry.spec.mcp && matches!(scope, Read | Run),
        };
        let expected: BTreeSet<&str> = all().iter().filter(may).map(|entry| entry.spec.name).collect();
        assert_eq!(surface.shown(), expected, "{caller:?}");
        for entry in all() {
            let name = entry.spec.name;
            assert_eq!(surface.calls(name), expected.contains(name), "{caller:?} {name}");
        }
    }
}

#[test]
fn a_client_behind_which_a_model_may_be_neither_approves_nor_administers() {
    let client = FakeSurface(Offer::to(OperationCaller::Client));
    for name in
        ["approvals approve", "approvals reject", "grants add", "restore", "forget", "authority reset"]
    {
        assert!(FakeSurface(Offer::to(OperationCaller::Owner)).calls(name), "{name}");
        assert!(!client.calls(name), "{name}");
    }
    assert!(client.calls("run") && client.calls("approvals list"));
}

#[test]
fn names_and_routes_are_unique_and_every_operation_has_an_example() {
    let (mut names, mut routes) = (BTreeSet::new(), BTreeSet::new());
    for entry in all() {
        let spec = &entry.spec;
        assert!(names.insert(spec.name), "`{}` twice", spec.name);
        assert!(!spec.examples.is_empty(), "`{}` has no example", spec.name);
        if let Some((method, path)) = spec.route {
            assert!(routes.insert((method.name(), path)), "{} {path} twice", method.name());
            let reads = method.name() == "GET";
            assert_eq!(
                reads,
                spec.access.effect == OperationEffect::Read,
                "`{}` is {}",
                spec.name,
                method.name()
            );
        }
        let command = entry.command();
        assert!(command.get_about().is_some(), "`{}` has no help", spec.name);
    }
}

/// The same names and the same fields are required, whether an input comes as arguments or as JSON.
#[test]
fn arguments_and_json_agree() {
    for entry in all() {
        let schema = entry.input_schema();
        let field = |name: &str| schema.get(name).cloned().unwrap_or_default();
        let properties: BTreeSet<String> =
            field("properties").as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        let required: BTreeSet<String> = field("required")
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str().map(Into::into))
            .collect();
        let (mut arguments, mut needed) = (BTreeSet::new(), BTreeSet::new());
        for argument in entry.command().get_arguments() {
            let name = json_name(argument);
            if argument.is_required_set() {
                needed.insert(name.clone());
            }
            arguments.insert(name);
        }
        assert_eq!(properties, arguments, "`{}`", entry.spec.name);
        assert_eq!(required, needed, "`{}`", entry.spec.name);
    }
}

/// What may not be typed together may not be sent together.
#[test]
fn json_is_held_to_the_same_rules_as_arguments() {
    let offer = Offer::to(OperationCaller::Owner);
    let read = |name: &str, input: serde_json::Value| offer.find(name).expect("offered").read_json(input);
    let good = [
        ("grants add", json!({ "tool": "write_file", "pins": ["path=a/*"], "for": "7d" })),
        ("grants list", json!({})),
        ("run", json!({ "request": ["--help", "is a flag"], "wait": true, "replay": null })),
        ("approvals approve", json!({ "ids": ["a-1", "a-2"], "for": "24h", "valid_for": "2h" })),
        ("instructions add", json!({ "text": ["count", "twice"], "priority": -3 })),
    ];
    for (name, input) in good {
        assert!(read(name, input.clone()).is_ok(), "{name} {input}: {:?}", read(name, input.clone()).err());
    }
    let bad = [
        ("grants add", json!({})),
        ("grants add", json!({ "tool": "write_file", "for": "a while" })),
        ("run", json!({ "request": ["x"], "plan": true, "wait": true })),
        ("run", json!({ "request": [] })),
        ("audit verify", json!({ "complete": true, "export": "record.jsonl" })),
        ("forget", json!({ "person": "demo:lea", "dry_run": true, "yes": true })),
        ("tools level", json!({ "tool": "write_file", "level": 9 })),
        ("grants revoke", json!("g-1")),
    ];
    for (name, input) in bad {
        let refused = read(name, input.clone()).err().map(|problem| problem.code);
        assert_eq!(refused, Some(Code::BAD_ARGUMENTS), "{name} {input}");
    }
}

/// `docs/operations.md` is made from the catalog: `UPDATE=1` writes it.
#[test]
fn the_document_is_what_the_catalog_says() {
    let mut text = String::from(
        "# Operations\n\nEvery operation, who may call it, and where. This page is made from the catalog (`crates/app/src/operation`): \
         `UPDATE=1 cargo nextest run -p app the_document_is_what_the_catalog_says` writes it.\n\n\
         The owner may call all of them. A token needs the scope in the third column; `approve` and `admin` count only in a token of the \
         owner. Clients of MCP, behind which a model may be, get what the last column says. HTTP and MCP are declared here and served \
         later: today the command line offers all of them.\n\n\
         | operation | what it does | token scope | effect | HTTP, below `/api/v1` | MCP |\n|---|---|---|---|---|---|\n",
    );
    for entry in all() {
        let (spec, command) = (&entry.spec, entry.command());
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let scope = spec.access.scope.map_or("owner only", TokenScope::name);
        let effect = if spec.access.effect == OperationEffect::Read { "reads" } else { "writes" };
        let route =
            spec.route.map_or_else(|| "–".to_owned(), |(method, path)| format!("`{} {path}`", method.name()));
        let mcp = if spec.mcp { "yes" } else { "–" };
        let about = about.replace('|', "\\|");
        writeln!(text, "| `{}` | {about} | {scope} | {effect} | {route} | {mcp} |", spec.name)
            .expect("a string");
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "docs/operations.md is not what the catalog says: run this test with UPDATE=1");
}
