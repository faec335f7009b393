//! What `cargo metadata` says, as far as the rules need it.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use anyhow::Context as _;
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

/// A dependency as a manifest declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// One of ours: a path, not a registry.
    pub(crate) ours: bool,
}

/// A crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) manifest: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
}

/// The crates of the workspace, from `cargo metadata --no-deps`.
pub(crate) fn members(metadata: &Value) -> anyhow::Result<Vec<Member>> {
    list(metadata, "packages")?
        .iter()
        .map(|package| {
            let dependencies = list(package, "dependencies")?.iter().map(|dependency| {
                Ok(Dependency {
                    name: text(dependency, "name")?.to_owned(),
                    kind: kind(dependency.get("kind"))?,
                    ours: dependency.get("path").is_some_and(|path| !path.is_null()),
                })
            });
            Ok(Member {
                name: text(package, "name")?.to_owned(),
                manifest: PathBuf::from(text(package, "manifest_path")?),
                dependencies: dependencies.collect::<anyhow::Result<_>>()?,
            })
        })
        .collect()
}

/// What is built below what, from `cargo metadata`: normal dependencies only.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    names: HashMap<String, String>,
    below: HashMap<String, Vec<String>>,
    members: Vec<String>,
}

impl Resolved {
    pub(crate) fn read(metadata: &Value) -> anyhow::Result<Self> {
        let mut resolved = Self::default();
        for package in list(metadata, "packages")? {
            resolved.names.insert(text(package, "id")?.to_owned(), text(package, "name")?.to_owned());
        }
        for node in list(metadata.get("resolve").context("a resolve graph")?, "nodes")? {
            let mut below = Vec::new();
            for dependency in list(node, "deps")? {
                let kinds = list(dependency, "dep_kinds")?.iter().map(|one| kind(one.get("kind")));
                if kinds.collect::<anyhow::Result<Vec<_>>>()?.contains(&Kind::Normal) {
                    below.push(text(dependency, "pkg")?.to_owned());
                }
            }
            resolved.below.insert(text(node, "id")?.to_owned(), below);
        }
        for member in list(metadata, "workspace_members")? {
            resolved.members.push(member.as_str().context("a member's id")?.to_owned());
        }
        Ok(resolved)
    }

    /// The id of a crate of ours.
    pub(crate) fn member(&self, name: &str) -> Option<&str> {
        self.members
            .iter()
            .find(|id| self.names.get(*id).is_some_and(|found| found == name))
            .map(String::as_str)
    }

    /// The shortest way down from a crate to one of `wanted`, by names, for each that there is.
    pub(crate) fn ways<'a>(&'a self, from: &'a str, wanted: &[&str]) -> Vec<Vec<&'a str>> {
        let mut ways = Vec::new();
        let mut came_from: HashMap<&str, Option<&str>> = HashMap::from([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while let Some(id) = queue.pop_front() {
            if id != from && wanted.contains(&self.name(id)) {
                ways.push(self.way_back(id, &came_from));
            }
            for below in self.below.get(id).into_iter().flatten() {
                if !came_from.contains_key(below.as_str()) {
                    came_from.insert(below, Some(id));
                    queue.push_back(below);
                }
            }
        }
        ways
    }

    fn way_back<'a>(&'a self, id: &'a str, came_from: &HashMap<&'a str, Option<&'a str>>) -> Vec<&'a str> {
        let mut way = vec![self.name(id)];
        let mut at = id;
        while let Some(Some(above)) = came_from.get(at) {
            way.push(self.name(above));
            at = above;
        }
        way.reverse();
        way
    }

    fn name<'a>(&'a self, id: &'a str) -> &'a str {
        self.names.get(id).map_or(id, String::as_str)
    }
}

fn list<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a Vec<Value>> {
    value.get(key).and_then(Value::as_array).with_context(|| format!("cargo metadata has no list `{key}`"))
}

fn text<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a str> {
    value.get(key).and_then(Value::as_str).with_context(|| format!("cargo metadata has no text `{key}`"))
}

fn kind(value: Option<&Value>) -> anyhow::Result<Kind> {
    match value {
        None | Some(Value::Null) => Ok(Kind::Normal),
        Some(Value::String(kind)) if kind == "build" => Ok(Kind::Build),
        Some(Value::String(kind)) if kind == "dev" => Ok(Kind::Dev),
        Some(other) => anyhow::bail!("cargo metadata has an unknown kind of dependency: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_with_kind_and_owner() {
        let metadata = serde_json::json!({ "packages": [{
            "name": "broker", "manifest_path": "/x/broker/Cargo.toml", "dependencies": [
                { "name": "domain", "kind": null, "path": "/x/domain" },
                { "name": "testkit", "kind": "dev", "path": "/x/testkit" },
                { "name": "serde", "kind": null },
            ]
        }]});
        let dependency = |name: &str, kind, ours| Dependency { name: name.to_owned(), kind, ours };
        let expected = Member {
            name: "broker".to_owned(),
            manifest: PathBuf::from("/x/broker/Cargo.toml"),
            dependencies: vec![
                dependency("domain", Kind::Normal, true),
                dependency("testkit", Kind::Dev, true),
                dependency("serde", Kind::Normal, false),
            ],
        };
        assert_eq!(members(&metadata).unwrap(), [expected]);
    }

    #[test]
    fn metadata_of_another_shape_is_an_error_not_an_empty_graph() {
        assert!(members(&serde_json::json!({})).is_err());
        assert!(Resolved::read(&serde_json::json!({ "packages": [], "resolve": null })).is_err());
    }
}
