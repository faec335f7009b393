//! The file tools as the broker knows them: their specification, and the step from an authorised call to the
//! plain functions of this crate.

use std::sync::Arc;

use async_trait::async_trait;
use broker::{Authorized, Handler, Level, Registry, ToolSpec};
use domain::Tier;
use domain::call::{Call, Failure, Outcome, ToolId};
use domain::limits::FILE_TOOL;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Workspace, find, glob, read};

/// The built-in file tools, confined to one workspace.
#[must_use]
pub fn files(workspace: &Arc<Workspace>) -> Registry {
    let mut registry = Registry::default();
    let found: [Option<Arc<dyn Handler>>; 3] = [
        tool(
            "find_files",
            "finds files by place, name, type and content, and counts them",
            &["under"],
            find::run,
            workspace,
        ),
        tool("glob", "finds files by a path pattern with `**`", &["pattern"], glob::run, workspace),
        tool(
            "read_file",
            "reads one file, or its lines that contain a text",
            &["path"],
            read::run,
            workspace,
        ),
    ];
    for handler in found.into_iter().flatten() {
        registry = registry.with(handler);
    }
    registry
}

type Run<A, O> = fn(&Workspace, &A) -> Result<O, Failure>;

struct FileTool<A, O> {
    spec: ToolSpec,
    run: Run<A, O>,
    workspace: Arc<Workspace>,
}

/// Vetted and reading only: level 4. An id that is none cannot come up here, and then there is no tool.
fn tool<A, O>(
    id: &str,
    description: &str,
    sinks: &[&str],
    run: Run<A, O>,
    workspace: &Arc<Workspace>,
) -> Option<Arc<dyn Handler>>
where
    A: DeserializeOwned + Send + Sync + 'static,
    O: Serialize + Send + 'static,
{
    let id: ToolId = id.parse().ok()?;
    let spec = ToolSpec {
        id,
        description: description.into(),
        tier: Tier::ReadOnly,
        level: Level::Autonomous,
        sinks: sinks.iter().map(ToString::to_string).collect(),
        idempotent: true,
        to_origin: false,
        timeout: FILE_TOOL,
    };
    Some(Arc::new(FileTool { spec, run, workspace: Arc::clone(workspace) }))
}

#[async_trait]
impl<A, O> Handler for FileTool<A, O>
where
    A: DeserializeOwned + Send + Sync + 'static,
    O: Serialize + Send + 'static,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn accepts(&self, args: &Value) -> Result<(), String> {
        A::deserialize(args).map(drop).map_err(|error| error.to_string())
    }

    async fn call(&self, call: Authorized<Call>) -> Outcome {
        let args: A = call.args()?;
        let (run, workspace) = (self.run, Arc::clone(&self.workspace));
        #[expect(
            clippy::disallowed_methods,
            reason = "walking a tree blocks, so it gets a thread of its own"
        )]
        let done = tokio::task::spawn_blocking(move || run(&workspace, &args)).await;
        let record =
            done.map_err(|_panicked| Failure::logical("the tool broke down; this is a bug in it"))??;
        serde_json::to_value(record).map_err(|error| Failure::logical(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::files;
    use crate::Workspace;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn three_tools_that_only_read() {
        let folder = tempfile::tempdir().unwrap();
        let registry = files(&Arc::new(Workspace::new(folder.path().into()).unwrap()));
        let known: Vec<_> = registry.specs().map(|spec| (spec.id.as_str(), spec.tier.name())).collect();
        assert_eq!(known, [("find_files", "read_only"), ("glob", "read_only"), ("read_file", "read_only")]);
    }

    #[test]
    fn arguments_of_another_form_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let registry = files(&Arc::new(Workspace::new(folder.path().into()).unwrap()));
        let accepts = |tool: &str, args| registry.handler(&tool.parse().unwrap()).unwrap().accepts(&args);
        assert_eq!(accepts("find_files", json!({ "under": "." })), Ok(()));
        assert!(
            accepts("find_files", json!({ "udner": "." })).unwrap_err().contains("unknown field `udner`")
        );
        assert!(accepts("read_file", json!({})).unwrap_err().contains("missing field `path`"));
        assert!(accepts("glob", json!({ "pattern": 7 })).is_err());
    }
}
