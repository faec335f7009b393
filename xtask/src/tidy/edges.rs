//! Which of our crates may use which.

use super::graph::{Kind, Member};

/// One row per crate, those that do not exist yet included. Dev-dependencies are free.
const ROOMS: &[(&str, &[&str])] = &[
    (SERVICES, &[]),
    (DOUBLE, &[]),
    ("domain", &[]),
    ("policy", &["domain"]),
    ("screen", &["domain"]),
    ("provenance", &["domain"]),
    ("engine", &["domain"]),
    ("memory", &["domain"]),
    ("ledger", &["domain"]),
    ("ledger-sql", &["domain", "ledger"]),
    ("llm", &["domain"]),
    ("models", &["domain", "llm"]),
    ("sandbox", &["domain"]),
    ("hooks", &["domain", "sandbox"]),
    ("broker", &["domain", "policy", "screen", "provenance", "engine", "ledger"]),
    ("tools", &["domain", "broker", "ledger", "memory", "sandbox"]),
    ("kernel", KERNEL),
    ("present", &["domain", "screen", "engine", "llm", "broker"]),
    ("app", APP),
    ("host", &["domain", "policy", "broker", "ledger", "ledger-sql", "llm", "models", "kernel", "app"]),
    ("server", &["domain", "app", "present"]),
    ("channels", &["domain", "app", "present"]),
    ("cli", EVERYTHING),
    (TESTKIT, EVERYTHING),
    ("xtask", &[SERVICES]),
];

const KERNEL: &[&str] = &[
    "domain",
    "policy",
    "screen",
    "provenance",
    "engine",
    "memory",
    "ledger",
    "llm",
    "sandbox",
    "broker",
    "tools",
];

const APP: &[&str] = &[
    "domain",
    "policy",
    "screen",
    "provenance",
    "engine",
    "memory",
    "ledger",
    "llm",
    "sandbox",
    "hooks",
    "broker",
    "tools",
    "kernel",
    "present",
];

const EVERYTHING: &[&str] = &[
    "domain",
    "policy",
    "screen",
    "provenance",
    "engine",
    "memory",
    "ledger",
    "ledger-sql",
    "llm",
    "models",
    "sandbox",
    "hooks",
    "broker",
    "tools",
    "kernel",
    "app",
    "present",
    "host",
    "server",
    "channels",
];

/// Never in the program: others have them as dev-dependencies only. What tests start is of use to `testkit`, and a server of others to
/// `xtask`.
const TESTKIT: &str = "testkit";
const SERVICES: &str = "services";
const DOUBLE: &str = "double";

/// Crates of others that only some of our rooms may name. The first is for what ships.
const ONLY: &[(&str, &[&str])] = &[("axum", &["server", DOUBLE])];

/// What is wrong with the edges between the crates; an empty workspace is wrong, too.
pub(crate) fn check(members: &[Member]) -> Vec<String> {
    if members.is_empty() {
        return vec!["no crates seen: cargo metadata told of none, so nothing was checked".to_owned()];
    }
    members.iter().flat_map(check_member).collect()
}

fn check_member(member: &Member) -> Vec<String> {
    let name = &member.name;
    let Some((_, may_use)) = ROOMS.iter().find(|(room, _)| room == name) else {
        return vec![format!(
            "`{name}` has no row: give it one in xtask/src/tidy/edges.rs, or move its code into one that has"
        )];
    };
    let shipped = member.dependencies.iter().filter(|dependency| dependency.kind != Kind::Dev);
    shipped
        .filter_map(|dependency| {
            let to = dependency.name.as_str();
            if !dependency.ours {
                let (_, only) =
                    ONLY.iter().find(|(theirs, only)| *theirs == to && !only.contains(&name.as_str()))?;
                let only = only.first()?;
                Some(format!("`{name}` depends on `{to}`, which only `{only}` may: move what needs it there"))
            } else if may_use.contains(&to) || (name == TESTKIT && [SERVICES, DOUBLE].contains(&to)) {
                None
            } else if [TESTKIT, SERVICES, DOUBLE].contains(&to) {
                Some(format!("`{name}` ships `{to}`: make it a dev-dependency"))
            } else {
                let may = if may_use.is_empty() { "none of ours".to_owned() } else { may_use.join(", ") };
                Some(format!(
                    "`{name}` depends on `{to}`, but may use {may}: pass what it needs in from above"
                ))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::graph::Dependency;
    use super::*;

    fn member(name: &str, dependencies: &[(&str, Kind)]) -> Member {
        let external = ["axum", "serde"];
        Member {
            name: name.to_owned(),
            manifest: "Cargo.toml".into(),
            dependencies: dependencies
                .iter()
                .map(|(name, kind)| Dependency {
                    name: (*name).to_owned(),
                    kind: *kind,
                    ours: !external.contains(name),
                })
                .collect(),
        }
    }

    #[test]
    fn edges_of_the_table_pass_and_all_others_are_caught() {
        use Kind::{Build, Dev, Normal};
        let table: &[(&str, &str, Kind, Option<&str>)] = &[
            ("policy", "domain", Normal, None),
            ("broker", "ledger", Normal, None),
            ("cli", "ledger-sql", Normal, None),
            ("cli", "host", Normal, None),
            ("host", "ledger-sql", Normal, None),
            ("host", "app", Normal, None),
            ("host", "cli", Normal, Some("`host` depends on `cli`")),
            ("host", "screen", Normal, Some("`host` depends on `screen`")),
            ("app", "host", Normal, Some("`app` depends on `host`")),
            ("kernel", "app", Normal, Some("`kernel` depends on `app`")),
            ("screen", "domain", Normal, None),
            ("screen", "ledger", Normal, Some("may use domain")),
            ("testkit", "ledger-sql", Normal, None),
            ("server", "axum", Normal, None),
            ("double", "axum", Normal, None),
            ("double", "domain", Normal, Some("may use none of ours")),
            ("models", "double", Dev, None),
            ("models", "double", Normal, Some("make it a dev-dependency")),
            ("testkit", "double", Normal, None),
            ("domain", "serde", Normal, None),
            ("engine", "testkit", Dev, None),
            ("kernel", "ledger-sql", Dev, None),
            ("domain", "policy", Normal, Some("may use none of ours")),
            ("engine", "ledger", Normal, Some("may use domain")),
            ("engine", "ledger", Build, Some("may use domain")),
            ("kernel", "ledger-sql", Normal, Some("`kernel` depends on `ledger-sql`")),
            ("server", "ledger-sql", Normal, Some("`server` depends on `ledger-sql`")),
            ("llm", "broker", Normal, Some("`llm` depends on `broker`")),
            ("testkit", "services", Normal, None),
            ("xtask", "services", Normal, None),
            ("cli", "services", Normal, Some("make it a dev-dependency")),
            ("xtask", "domain", Normal, Some("may use services")),
            ("cli", "xtask", Normal, Some("`cli` depends on `xtask`")),
            ("cli", "testkit", Normal, Some("make it a dev-dependency")),
            ("cli", "axum", Normal, Some("only `server` may")),
            ("attic", "domain", Normal, Some("`attic` has no row")),
            ("app", "present", Normal, None),
            ("kernel", "present", Normal, Some("`kernel` depends on `present`")),
            ("present", "ledger-sql", Normal, Some("`present` depends on `ledger-sql`")),
            ("present", "app", Normal, Some("`present` depends on `app`")),
            ("domain", "attic", Normal, Some("`domain` depends on `attic`")),
        ];
        for (from, to, kind, expected) in table {
            let problems = check(&[member(from, &[(to, *kind)])]);
            let case = format!("{from} -> {to} ({kind:?}): {problems:?}");
            match expected {
                None => assert!(problems.is_empty(), "{case}"),
                Some(says) => assert!(problems.len() == 1 && problems[0].contains(says), "{case}"),
            }
        }
    }

    #[test]
    fn all_problems_are_told_at_once() {
        let members = [
            member("domain", &[("policy", Kind::Normal), ("engine", Kind::Normal)]),
            member("policy", &[("domain", Kind::Normal)]),
            member("attic", &[]),
        ];
        assert_eq!(check(&members).len(), 3);
    }

    #[test]
    fn no_crates_fail() {
        assert_eq!(check(&[]).len(), 1);
    }

    #[test]
    fn the_table_names_only_its_own_rooms_and_has_no_cycle() {
        // A room may use only rooms above it, `cli` and `testkit` aside: then there is no way round.
        for (at, (room, may_use)) in ROOMS.iter().enumerate() {
            for used in *may_use {
                let position = ROOMS.iter().position(|(name, _)| name == used);
                assert!(position.is_some_and(|position| position < at), "{room} -> {used}");
            }
        }
    }
}
