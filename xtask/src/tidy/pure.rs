//! Pure crates take values and return values: nothing below them waits, speaks to a network or opens a database.

use super::graph::Resolved;

const PURE: &[&str] = &["domain", "policy", "screen", "provenance", "engine", "memory"];
const IMPURE: &[&str] =
    &["tokio", "mio", "rusqlite", "libsqlite3-sys", "tokio-postgres", "reqwest", "hyper", "axum"];

/// Each way from a pure crate to an impure one. Seeing no pure crate at all is a problem, too.
pub(crate) fn check(resolved: &Resolved) -> Vec<String> {
    let present: Vec<&str> = PURE.iter().filter_map(|name| resolved.member(name)).collect();
    if present.is_empty() {
        return vec![format!(
            "none of the pure crates ({}) seen: nothing was checked below them",
            PURE.join(", ")
        )];
    }
    let ways = present.into_iter().flat_map(|id| resolved.ways(id, IMPURE));
    ways.map(|way| {
        format!("a pure crate has I/O below it: {} — drop that dependency or its feature", way.join(" → "))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn graph(edges: &[(&str, &str, Value)]) -> Resolved {
        let names = ["domain", "cli", "jiff", "tokio", "mio"];
        let node = |id: &str| {
            let below = edges.iter().filter(|(from, ..)| *from == id);
            let deps: Vec<_> =
                below.map(|(_, to, kind)| json!({ "pkg": to, "dep_kinds": [{ "kind": kind }] })).collect();
            json!({ "id": id, "deps": deps })
        };
        Resolved::read(&json!({
            "packages": names.map(|name| json!({ "id": name, "name": name })),
            "resolve": { "nodes": names.map(node) },
            "workspace_members": ["domain", "cli"],
        }))
        .unwrap()
    }

    #[test]
    fn io_far_below_a_pure_crate_is_caught_with_the_way_to_it() {
        let found = check(&graph(&[("domain", "jiff", Value::Null), ("jiff", "tokio", Value::Null)]));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("domain → jiff → tokio"), "{found:?}");
    }

    #[test]
    fn io_below_other_crates_or_for_tests_is_fine() {
        let edges = [
            ("cli", "tokio", Value::Null),
            ("domain", "tokio", json!("dev")),
            ("domain", "jiff", Value::Null),
        ];
        assert_eq!(check(&graph(&edges)), Vec::<String>::new());
    }

    #[test]
    fn cycles_by_dev_dependencies_end() {
        let edges =
            [("domain", "jiff", Value::Null), ("jiff", "domain", Value::Null), ("jiff", "mio", Value::Null)];
        assert_eq!(check(&graph(&edges)).len(), 1);
    }

    #[test]
    fn seeing_no_pure_crate_fails() {
        assert_eq!(check(&Resolved::default()).len(), 1);
    }
}
