//! The built-in tools as the broker knows them: what is known of each, and the step from an authorised call to the plain
//! functions of this crate.

use std::sync::Arc;

use async_trait::async_trait;
use broker::{Artifact, Author, Authorized, Category, Handler, Looked, Reach, Registry, Returned, ToolSpec};
use domain::call::{Call, Failure};
use domain::{Stop, Tier, Trust};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::expected::{self, Expected};
use crate::{
    Workspace, calc, copy_files, delete, delete_files, edit, find, glob, hash, move_files, read, table, write,
};

/// The built-in tools, confined to one workspace.
#[must_use]
pub fn builtin(workspace: &Arc<Workspace>) -> Registry {
    use Author::{Caller, External, System};
    Shelf { workspace, registry: Registry::default() }
        .put(
            Known::reading("find_files", "finds files by place, name, size, age and content; counts them")
                .sinks(&["under"])
                .authors(&[
                    ("count", System),
                    ("bytes", System),
                    ("matching_lines", System),
                    ("lines", System),
                    ("words", System),
                    ("occurrences", System),
                    ("files.path", External),
                    ("files.matches", External),
                    ("groups.value", External),
                    ("groups.count", System),
                ]),
            find::run,
        )
        .put(
            Known::reading("glob", "finds files by a path pattern with `**`")
                .sinks(&["pattern"])
                .authors(&[("count", System), ("files.path", External)]),
            glob::run,
        )
        .put(
            Known::reading("read_file", "reads one file, some of its lines, or those that contain a text")
                .sinks(&["path"])
                .authors(&[
                    ("path", Caller),
                    ("bytes", System),
                    ("lines", System),
                    ("matching_lines", System),
                ]),
            read::run,
        )
        .put(
            Known::reading("hash", "the SHA-256 or SHA-512 of a file or a text").sinks(&["path"]).authors(&[
                ("algorithm", Caller),
                ("hex", System),
                ("bytes", System),
            ]),
            hash::run,
        )
        .put_changing(
            Known::writing(
                "write_file",
                "writes a new file, or replaces one if `replace` says so",
                Tier::WriteSafe,
            )
            .sinks(&["path", "replace"])
            .authors(&WRITTEN)
            .worse(|args: &write::Args| args.replace.then_some(Tier::WriteDestructive)),
            write::look,
            write::run,
        )
        .put_changing(
            Known::writing("edit_file", "replaces an exact text in a file", Tier::WriteDestructive)
                .sinks(&["path", "old"])
                .authors(&WRITTEN),
            edit::look,
            edit::run,
        )
        .put_changing(
            Known::writing("delete_file", "deletes one file", Tier::WriteDestructive)
                .sinks(&["path"])
                .authors(&[("path", Caller), ("bytes", System), ("digest", System)])
                .leaving(&[Trace { list: None, name: "path", leaves: Leaves::Gap }]),
            delete::look,
            delete::run,
        )
        .put_several()
        .put(Known::computing("calc", "exact arithmetic on an expression"), calc::run)
        .put(
            Known::reading("table_columns", "the columns of a CSV or JSON table: names, kinds, examples")
                .sinks(&["path"])
                .authors(&[("rows", System), ("columns.name", External)]),
            table::columns::run,
        )
        .put(
            Known::reading("table_stats", "count, sum, mean, min and max of a column of a CSV or JSON table")
                .sinks(&["path"])
                .authors(&[
                    ("count", System),
                    ("sum", System),
                    ("mean", System),
                    ("min", System),
                    ("max", System),
                ]),
            table::stats::run,
        )
        .put(
            Known::reading("table_groups", "how often each value of a column occurs in a CSV or JSON table")
                .sinks(&["path"])
                .authors(&[("groups", System), ("listed.value", External), ("listed.count", System)]),
            table::groups::run,
        )
        .registry
        .with(crate::house::spec(), Arc::new(crate::house::AuditClear))
}

const WRITTEN: [(&str, Author); 3] =
    [("path", Author::Caller), ("bytes", Author::System), ("digest", Author::System)];

type Read<A, O> = fn(&Workspace, &A, &Stop) -> Result<O, Failure>;
type Look<A> = fn(&Workspace, &A, &Stop) -> Result<Looked, Failure>;
type Change<A, O> = fn(&Workspace, &A, Expected<'_>, &Stop) -> Result<O, Failure>;

/// The functions behind a tool.
enum Run<A, O> {
    Reads(Read<A, O>),
    /// What is looked at first can be shown, compared and taken back.
    Changes(Look<A>, Change<A, O>),
}

impl<A, O> Clone for Run<A, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, O> Copy for Run<A, O> {}

/// What a call leaves behind under the names that its record gives.
#[derive(Clone, Copy)]
struct Trace {
    /// The list of the record that names them; nothing where the record itself does.
    list: Option<&'static str>,
    /// The field that is the name.
    name: &'static str,
    leaves: Leaves,
}

#[derive(Clone, Copy)]
enum Leaves {
    File,
    /// That it is gone.
    Gap,
}

/// What is known of a tool with these arguments, before its schemas.
struct Known<A> {
    spec: ToolSpec,
    traces: &'static [Trace],
    /// What a call of it can do, where that is worse than the tool in general.
    worse: fn(&A) -> Option<Tier>,
}

impl<A> Known<A> {
    fn new(id: &'static str, description: &str, tier: Tier, traces: &'static [Trace]) -> Self {
        #[expect(clippy::expect_used, reason = "the ids are written in this file, and a test reads them all")]
        let id = id.parse().expect("the id of a tool");
        let category = if traces.is_empty() { Category::Data } else { Category::Operations };
        let spec = ToolSpec { category, ..ToolSpec::shipped(id, description, tier) };
        Self { spec, traces, worse: |_| None }
    }

    fn reading(id: &'static str, description: &str) -> Self {
        Self::new(id, description, Tier::ReadOnly, &[])
    }

    /// Never run twice: whoever was killed meanwhile cannot know what somebody else did to the file since.
    fn writing(id: &'static str, description: &str, tier: Tier) -> Self {
        Self::new(id, description, tier, &[Trace { list: None, name: "path", leaves: Leaves::File }])
    }

    /// It only computes from its arguments.
    fn computing(id: &'static str, description: &str) -> Self {
        let mut known = Self::reading(id, description);
        (known.spec.reach, known.spec.data_class) = (Reach::Nothing, None);
        known.spec.output_trust = Trust::System;
        known
    }

    fn sinks(mut self, sinks: &[&str]) -> Self {
        self.spec.sinks = sinks.iter().map(ToString::to_string).collect();
        self
    }

    fn authors(mut self, authors: &[(&str, Author)]) -> Self {
        self.spec.authorship = authors.iter().map(|(field, author)| ((*field).to_owned(), *author)).collect();
        self
    }

    fn worse(mut self, worse: fn(&A) -> Option<Tier>) -> Self {
        self.worse = worse;
        self
    }

    const fn leaving(mut self, traces: &'static [Trace]) -> Self {
        self.traces = traces;
        self
    }
}

struct Shelf<'a> {
    workspace: &'a Arc<Workspace>,
    registry: Registry,
}

impl Shelf<'_> {
    /// Those that change several files in one call.
    fn put_several(self) -> Self {
        self.put_changing(
            Known::writing("delete_files", "deletes several files in one call", Tier::WriteDestructive)
                .sinks(&["paths"])
                .authors(&[
                    ("count", Author::System),
                    ("deleted.path", Author::Caller),
                    ("deleted.bytes", Author::System),
                    ("deleted.digest", Author::System),
                ])
                .leaving(&[Trace { list: Some("deleted"), name: "path", leaves: Leaves::Gap }]),
            delete_files::look,
            delete_files::run,
        )
        .put_changing(
            Known::writing(
                "copy_files",
                "copies files to other names or into a folder; overwrites nothing",
                Tier::WriteSafe,
            )
            .sinks(&["copies"])
            .authors(&[
                ("count", Author::System),
                ("made.from", Author::Caller),
                ("made.to", Author::Caller),
                ("made.bytes", Author::System),
                ("made.digest", Author::System),
            ])
            .leaving(&[Trace { list: Some("made"), name: "to", leaves: Leaves::File }]),
            copy_files::look,
            copy_files::run,
        )
        .put_changing(
            Known::writing(
                "move_files",
                "renames files, or moves them into a folder; overwrites nothing",
                Tier::WriteDestructive,
            )
            .sinks(&["moves"])
            .authors(&[
                ("count", Author::System),
                ("moved.from", Author::Caller),
                ("moved.to", Author::Caller),
                ("moved.bytes", Author::System),
                ("moved.digest", Author::System),
            ])
            .leaving(&[
                Trace { list: Some("moved"), name: "from", leaves: Leaves::Gap },
                Trace { list: Some("moved"), name: "to", leaves: Leaves::File },
            ]),
            move_files::look,
            move_files::run,
        )
    }

    fn put<A, O>(self, known: Known<A>, run: Read<A, O>) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        self.shelve(known, Run::Reads(run))
    }

    fn put_changing<A, O>(self, known: Known<A>, look: Look<A>, run: Change<A, O>) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        self.shelve(known, Run::Changes(look, run))
    }

    fn shelve<A, O>(self, known: Known<A>, run: Run<A, O>) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + Sync + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        let Known { spec, traces, worse } = known;
        let tool = Function { run, worse, traces, workspace: Arc::clone(self.workspace) };
        let (id, describe) = (spec.id.clone(), || with_schemas::<A, O>(spec));
        let registry = self.registry.with_described(id, describe, Arc::new(tool));
        Self { registry, ..self }
    }
}

/// The schemas of what goes in and what comes out follow from the types.
fn with_schemas<A: JsonSchema, O: JsonSchema>(spec: ToolSpec) -> ToolSpec {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let input = settings.clone().for_deserialize().into_generator().into_root_schema_for::<A>();
    let output = settings.for_serialize().into_generator().into_root_schema_for::<O>();
    ToolSpec { input_schema: input.to_value(), output_schema: Some(output.to_value()), ..spec }
}

struct Function<A, O> {
    run: Run<A, O>,
    worse: fn(&A) -> Option<Tier>,
    traces: &'static [Trace],
    workspace: Arc<Workspace>,
}

#[async_trait]
impl<A, O> Handler for Function<A, O>
where
    A: DeserializeOwned + Send + Sync + 'static,
    O: Serialize + Send + 'static,
{
    fn accepts(&self, args: &Value) -> Result<(), String> {
        A::deserialize(args).map(drop).map_err(|error| error.to_string())
    }

    fn is_typed(&self) -> bool {
        true
    }

    fn tier(&self, args: &Value) -> Option<Tier> {
        A::deserialize(args).ok().as_ref().and_then(self.worse)
    }

    async fn look(&self, args: &Value) -> Result<Option<Looked>, Failure> {
        let Run::Changes(look, _) = self.run else { return Ok(None) };
        let args = A::deserialize(args).map_err(|error| Failure::logical(error.to_string()))?;
        let workspace = Arc::clone(&self.workspace);
        blocking(move || look(&workspace, &args, &Stop::default())).await.map(Some)
    }

    fn place(&self) -> Option<String> {
        Some(self.workspace.identity())
    }

    async fn call(&self, call: Authorized<Call>) -> Returned {
        match self.record(call).await {
            Ok(record) => {
                let artifacts = self.traces.iter().flat_map(|trace| trace.artifacts(&record)).collect();
                Returned::made(record, artifacts)
            }
            Err(failure) => failure.into(),
        }
    }
}

impl<A, O> Function<A, O>
where
    A: DeserializeOwned + Send + Sync + 'static,
    O: Serialize + Send + 'static,
{
    async fn record(&self, call: Authorized<Call>) -> Result<Value, Failure> {
        let args: A = call.args()?;
        let (run, workspace, stop) = (self.run, Arc::clone(&self.workspace), call.stop().clone());
        let changes = call.changes().cloned();
        let record = blocking(move || match run {
            Run::Reads(run) => run(&workspace, &args, &stop),
            Run::Changes(look, run) => match &changes {
                Some(changes) => run(&workspace, &args, Expected::new(Some(changes)), &stop),
                // Why it could not be looked at is said by looking again. Whatever that comes to, nothing is changed.
                None => Err(look(&workspace, &args, &stop).err().unwrap_or_else(expected::unlooked)),
            },
        });
        let record = record.await?;
        serde_json::to_value(record).map_err(|error| Failure::logical(error.to_string()))
    }
}

/// Walking a tree and waiting for a disk block, so they get a thread of their own.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    #[expect(clippy::disallowed_methods, reason = "this is where what blocks gets its thread")]
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        // The broker keeps it in, and says what it means for the call.
        Err(broken) if broken.is_panic() => std::panic::resume_unwind(broken.into_panic()),
        Err(_cancelled) => Err(Failure::interrupted("stopped")),
    }
}

impl Trace {
    fn artifacts(self, record: &Value) -> Vec<Artifact> {
        match self.list {
            None => self.artifact(record).into_iter().collect(),
            Some(list) => {
                let listed = record.get(list).and_then(Value::as_array).into_iter().flatten();
                listed.filter_map(|record| self.artifact(record)).collect()
            }
        }
    }

    fn artifact(self, record: &Value) -> Option<Artifact> {
        let digest = || record.get("digest").and_then(Value::as_str).and_then(|digest| digest.parse().ok());
        let digest = match self.leaves {
            Leaves::File => digest(),
            Leaves::Gap => None,
        };
        let name = record.get(self.name).and_then(Value::as_str)?.to_owned();
        Some(Artifact { name, digest, bytes: record.get("bytes").and_then(Value::as_u64) })
    }
}

#[cfg(test)]
mod tests {
    use super::builtin;
    use crate::Workspace;
    use broker::{Level, Reach};
    use domain::Tier;
    use serde_json::json;
    use std::sync::Arc;

    fn registry() -> broker::Registry {
        let folder = tempfile::tempdir().unwrap();
        builtin(&Arc::new(Workspace::new(folder.path().into()).unwrap()))
    }

    #[test]
    fn the_tools_that_ship() {
        let registry = registry();
        let known: Vec<_> =
            registry.specs().map(|spec| (spec.id.as_str(), spec.tier, spec.level as u8)).collect();
        use Tier::{Admin, ReadOnly, WriteDestructive, WriteSafe};
        let expected = [
            ("audit_clear", Admin, 2),
            ("calc", ReadOnly, 4),
            ("copy_files", WriteSafe, 2),
            ("delete_file", WriteDestructive, 2),
            ("delete_files", WriteDestructive, 2),
            ("edit_file", WriteDestructive, 2),
            ("find_files", ReadOnly, 4),
            ("glob", ReadOnly, 4),
            ("hash", ReadOnly, 4),
            ("move_files", WriteDestructive, 2),
            ("read_file", ReadOnly, 4),
            ("table_columns", ReadOnly, 4),
            ("table_groups", ReadOnly, 4),
            ("table_stats", ReadOnly, 4),
            ("write_file", WriteSafe, 2),
        ];
        assert_eq!(known, expected);
    }

    /// Each says what it takes and what it gives, which of it decides where something goes, and who wrote what.
    #[test]
    fn each_tool_says_everything_about_itself() {
        for spec in registry().specs() {
            let id = &spec.id;
            let properties = spec.input_schema.get("properties").and_then(|all| all.as_object());
            let named = |name: &String| properties.is_some_and(|all| all.contains_key(name));
            assert!(spec.sinks.iter().all(named), "{id}: {:?}", spec.sinks);
            if spec.reach == Reach::House {
                continue;
            }
            assert_eq!(spec.input_schema.get("additionalProperties"), Some(&false.into()), "{id}");
            let output = spec.output_schema.as_ref().unwrap();
            for field in spec.authorship.keys() {
                let top = field.split('.').next().unwrap();
                assert!(output.pointer(&format!("/properties/{top}")).is_some(), "{id}: {field} in {output}");
            }
            assert!(!spec.authorship.is_empty() || spec.reach == Reach::Nothing, "{id}");
            assert!(spec.level > Level::Sampled && !spec.description.is_empty(), "{id}");
            // What writes is never run twice after a crash.
            assert_eq!(spec.may_run_again(), spec.tier == Tier::ReadOnly, "{id}");
        }
    }

    /// The schemas of shipped tools are not asked where the types have said yes, so the two have to say the same.
    #[test]
    fn what_fits_the_types_fits_the_schema_and_nothing_else_does() {
        let registry = registry();
        let table = [
            ("calc", json!({ "expression": "1" })),
            ("calc", json!({ "expression": 1 })),
            ("calc", json!({})),
            ("find_files", json!({})),
            ("find_files", json!({ "under": "src", "extensions": ["rs"], "limit": 3 })),
            ("find_files", json!({ "limit": -1 })),
            ("find_files", json!({ "limit": 1.5 })),
            ("find_files", json!({ "order": "largest" })),
            ("find_files", json!({ "order": "prettiest" })),
            ("find_files", json!({ "under": null })),
            (
                "find_files",
                json!({ "under": ["a", "b"], "outside": ["c"], "direct": true, "what": "folders" }),
            ),
            ("find_files", json!({ "under": [["a"]] })),
            ("find_files", json!({ "what": "links" })),
            ("find_files", json!({ "name": ["*.rs"], "not_name": ["a"], "not_extensions": ["b"] })),
            ("find_files", json!({ "name": 1 })),
            ("find_files", json!({ "contains": "a", "lacks": "b", "lines_without": "c", "any_case": true })),
            ("find_files", json!({ "whole_word": "yes" })),
            ("find_files", json!({ "modified_from": "2026-01-31T00:00:00Z", "modified_before": null })),
            ("find_files", json!({ "modified_from": 7 })),
            ("find_files", json!({ "larger_than": 0, "smaller_than": 7, "empty": false })),
            ("find_files", json!({ "larger_than": -1 })),
            ("find_files", json!({ "measure": ["lines", "words", "occurrences"], "group_by": "extension" })),
            ("find_files", json!({ "measure": ["bytes"] })),
            ("find_files", json!({ "group_by": "size" })),
            ("find_files", json!({ "show_matches": 3, "order": "fewest_matches" })),
            ("find_files", json!({ "show_matches": -3 })),
            ("find_files", json!({ "count_only": true })),
            ("find_files", json!({ "count_only": 1 })),
            ("read_file", json!({ "path": "a", "containing": null })),
            ("read_file", json!({ "path": "a", "lines": 1 })),
            ("read_file", json!({ "path": "a", "first": 1 })),
            ("read_file", json!({ "path": "a", "last": -1 })),
            ("read_file", json!({ "path": "a", "from": 1, "to": 2 })),
            ("read_file", json!({ "path": "a", "from": "1" })),
            ("write_file", json!({ "path": "a", "content": "b" })),
            ("write_file", json!({ "path": "a", "content": "b", "replace": "yes" })),
            ("edit_file", json!({ "path": "a", "old": "b", "new": "c", "all": true })),
            ("hash", json!({ "text": "a", "algorithm": "sha512" })),
            ("hash", json!({ "text": "a", "algorithm": "md5" })),
            ("table_stats", json!({ "path": "a", "column": "b", "where": { "column": "c", "equals": "d" } })),
            ("table_stats", json!({ "path": "a", "column": "b", "where": { "column": "c" } })),
            (
                "table_groups",
                json!({ "path": "a", "column": "b", "where": { "column": "c", "equals": "d" } }),
            ),
            ("table_groups", json!({ "path": "a", "column": "b", "where": "c" })),
            ("glob", json!("**")),
            ("delete_files", json!({ "paths": ["a", "b"] })),
            ("delete_files", json!({ "paths": "a" })),
            ("delete_files", json!({ "paths": [1] })),
            ("copy_files", json!({ "copies": [{ "from": "a", "to": "b/" }] })),
            ("copy_files", json!({ "copies": [{ "from": "a" }] })),
            ("move_files", json!({ "moves": [{ "from": "a", "to": "b", "replace": true }] })),
            ("move_files", json!({ "moves": {} })),
        ];
        for (tool, args) in table {
            let id = tool.parse().unwrap();
            let schema = jsonschema::validator_for(&registry.spec(&id).unwrap().input_schema).unwrap();
            assert_eq!(registry.accepts(&id, &args).is_ok(), schema.is_valid(&args), "{tool} {args}");
        }
    }
}
