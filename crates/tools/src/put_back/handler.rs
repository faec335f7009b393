//! The tool as the broker knows it.

use std::sync::Arc;

use async_trait::async_trait;
use broker::{Artifact, Author, Authorized, Handler, Looked, Registry, Returned, ToolSpec};
use domain::call::{Call, Chooser, Failure, ToolId};
use domain::change::Standing;
use domain::{Digest, Stop, Tier};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{Args, Done, look, not_kept, run};
use crate::Workspace;
use crate::expected::{self, Expected};
use crate::handlers::blocking;

/// Where the bytes are that calls have taken away.
#[async_trait]
pub trait Kept: Send + Sync {
    /// The bytes of a blob; nothing if it was erased.
    ///
    /// # Errors
    /// If nobody can say at the moment.
    async fn bytes(&self, blob: &Digest) -> Result<Option<Vec<u8>>, String>;
}

/// Adds the tool that `undo` calls.
#[must_use]
pub fn add_put_back(registry: Registry, workspace: &Arc<Workspace>, kept: Arc<dyn Kept>) -> Registry {
    #[expect(clippy::expect_used, reason = "it is written here, and a test reads it")]
    let id: ToolId = "put_back".parse().expect("the id of a tool");
    let handler = PutBack { workspace: Arc::clone(workspace), kept };
    registry.with_described(id.clone(), || spec(id), Arc::new(handler))
}

fn spec(id: ToolId) -> ToolSpec {
    let description = "puts a file back as it was; only for the owner, by `undo`";
    let authors = [("path", Author::Caller), ("bytes", Author::System), ("digest", Author::System)];
    ToolSpec {
        input_schema: schema(),
        sinks: ["path", "from", "to", "folders", "modes", "with", "moved_from"].map(str::to_owned).into(),
        authorship: authors.map(|(field, author)| (field.to_owned(), author)).into(),
        ..ToolSpec::shipped(id, description, Tier::WriteDestructive)
    }
}

fn schema() -> Value {
    let digest = json!({ "type": "string", "pattern": "^[0-9a-f]{64}$" });
    let mode = json!({ "type": "integer", "minimum": 0, "maximum": 0o7777 });
    let id = json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX });
    let file = json!({
        "type": "object",
        "properties": {
            "digest": digest,
            "bytes": { "type": "integer", "minimum": 0 },
            "mode": mode,
            "owner": { "type": "array", "items": id, "minItems": 2, "maxItems": 2 },
            "listed": { "type": "boolean" },
            "kept": digest,
        },
        "required": ["digest", "bytes", "mode"],
        "additionalProperties": false,
    });
    let link = json!({
        "type": "object",
        "properties": { "to": { "type": "string" } },
        "required": ["to"],
        "additionalProperties": false,
    });
    let one = |name: &str, of: &Value| json!({ "type": "object", "properties": { name: of }, "required": [name], "additionalProperties": false });
    let standing = |about: &str| json!({ "description": about, "oneOf": [{ "const": "nothing" }, one("file", &file), one("link", &link)] });
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "Relative to the workspace." },
            "from": standing("What has to be there now; else nothing is done."),
            "to": standing("What is put there; of a file, `kept` names the blob with its bytes."),
            "folders": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Folders on the way that go with the file, if nothing else is in them.",
            },
            "modes": {
                "type": "object",
                "additionalProperties": mode,
                "description": "The permission bits of folders on the way that are made again.",
            },
            "with": {
                "description": "What has to be back by then.",
                "type": ["object", "null"],
                "properties": { "path": { "type": "string" }, "is": standing("What stands there.") },
                "required": ["path", "is"],
                "additionalProperties": false,
            },
            "moved_from": {
                "description": "The name that its bytes were moved to, and that they leave.",
                "type": ["string", "null"],
            },
        },
        "required": ["path", "from", "to"],
        "additionalProperties": false,
    })
}

struct PutBack {
    workspace: Arc<Workspace>,
    kept: Arc<dyn Kept>,
}

#[async_trait]
impl Handler for PutBack {
    fn accepts(&self, args: &Value) -> Result<(), String> {
        Args::deserialize(args).map(drop).map_err(|error| error.to_string())
    }

    async fn look(&self, args: &Value) -> Result<Option<Looked>, Failure> {
        let args = Args::deserialize(args).map_err(|error| Failure::logical(error.to_string()))?;
        self.look_at(args, Stop::default()).await.map(Some)
    }

    fn place(&self) -> Option<String> {
        Some(self.workspace.identity())
    }

    async fn call(&self, call: Authorized<Call>) -> Returned {
        match self.record(call).await {
            Ok(done) => {
                let artifact = Artifact { name: done.path.clone(), digest: done.digest, bytes: done.bytes };
                match serde_json::to_value(done) {
                    Ok(record) => Returned::made(record, vec![artifact]),
                    Err(error) => Failure::logical(error.to_string()).into(),
                }
            }
            Err(failure) => failure.into(),
        }
    }
}

impl PutBack {
    async fn record(&self, call: Authorized<Call>) -> Result<Done, Failure> {
        // Whatever the layers say of an agent's call: this one it cannot make.
        if call.call().chosen_by != (Chooser::Owner { confirmed: true }) {
            return Err(Failure::logical("only the owner puts something back, with `regent undo`"));
        }
        let args: Args = call.args()?;
        let (workspace, stop) = (Arc::clone(&self.workspace), call.stop().clone());
        let Some(changes) = call.changes().cloned() else {
            return Err(self.look_at(args, stop).await.err().unwrap_or_else(expected::unlooked));
        };
        let content = self.content(&args).await?;
        blocking(move || run(&workspace, &args, content.as_deref(), Expected::new(Some(&changes)), &stop))
            .await
    }

    async fn look_at(&self, args: Args, stop: Stop) -> Result<Looked, Failure> {
        let content = self.content(&args).await?;
        let workspace = Arc::clone(&self.workspace);
        blocking(move || look(&workspace, &args, content.as_deref(), &stop)).await
    }

    /// The bytes of the file that is to be put there.
    async fn content(&self, args: &Args) -> Result<Option<Vec<u8>>, Failure> {
        let Standing::File(file) = &args.to else { return Ok(None) };
        if args.is_tidying() {
            return Ok(None);
        }
        let blob = file.kept.ok_or_else(|| not_kept(&args.path))?;
        let content = self.kept.bytes(&blob).await.map_err(Failure::environmental)?;
        content.ok_or_else(|| not_kept(&args.path)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, PutBack, add_put_back};
    use crate::testing::Tree;
    use async_trait::async_trait;
    use broker::{Handler as _, Registry};
    use domain::{Digest, Tier};
    use serde_json::json;
    use std::sync::Arc;

    struct NothingKept;

    #[async_trait]
    impl Kept for NothingKept {
        async fn bytes(&self, _: &Digest) -> Result<Option<Vec<u8>>, String> {
            Ok(None)
        }
    }

    #[test]
    fn the_schema_takes_what_the_types_take() {
        let tree = Tree::new(&[("f", "")]);
        let workspace = Arc::new(tree.workspace().clone());
        let registry = add_put_back(Registry::default(), &workspace, Arc::new(NothingKept));
        let spec = registry.specs().next().unwrap();
        let handler = PutBack { workspace, kept: Arc::new(NothingKept) };
        assert_eq!(
            (spec.id.as_str(), spec.tier, spec.may_run_again()),
            ("put_back", Tier::WriteDestructive, false)
        );
        let schema = jsonschema::validator_for(&spec.input_schema).unwrap();
        let digest = Digest::of(b"");
        let file = json!({ "file": { "digest": digest, "bytes": 0, "mode": 0o644, "kept": digest, "owner": [0, 1], "listed": true } });
        let table = [
            (json!({ "path": "f", "from": "nothing", "to": file }), true),
            (json!({ "path": "f", "from": file, "to": "nothing", "folders": ["a"] }), true),
            (json!({ "path": "f", "from": { "link": { "to": "x" } }, "to": "nothing" }), true),
            (json!({ "path": "a/f", "from": "nothing", "to": file, "modes": { "a": 0o750 } }), true),
            (
                json!({ "path": "f", "from": file, "to": "nothing", "with": { "path": "a", "is": file } }),
                true,
            ),
            (json!({ "path": "f", "from": "nothing", "to": file, "moved_from": "a" }), true),
            (json!({ "path": "f", "from": file, "to": "nothing", "with": { "path": "a" } }), false),
            (json!({ "path": "f", "from": "nothing" }), false),
            (json!({ "path": "f", "from": "something", "to": "nothing" }), false),
            (json!({ "path": "f", "from": { "file": { "digest": digest } }, "to": "nothing" }), false),
            (
                json!({ "path": "f", "from": { "file": { "digest": "abc", "bytes": 0, "mode": 0 } }, "to": "nothing" }),
                false,
            ),
            (json!({ "path": "f", "from": "nothing", "to": "nothing", "more": 1 }), false),
        ];
        for (args, fits) in table {
            assert_eq!((handler.accepts(&args).is_ok(), schema.is_valid(&args)), (fits, fits), "{args}");
        }
    }
}
