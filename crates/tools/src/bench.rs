//! The reading tools as plain functions, for the benchmark alone. Programs call them through the broker.

use domain::Stop;
use domain::call::Failure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Workspace, find, glob, read};

/// # Errors
/// As the tool fails, or if there is no such tool.
pub fn call(workspace: &Workspace, tool: &str, args: Value) -> Result<Value, Failure> {
    match tool {
        "find_files" => run(find::run, workspace, args),
        "glob" => run(glob::run, workspace, args),
        "read_file" => run(read::run, workspace, args),
        _ => Err(Failure::logical(format!("`{tool}` is not measured"))),
    }
}

fn run<A: DeserializeOwned, R: Serialize>(
    run: fn(&Workspace, &A, &Stop) -> Result<R, Failure>,
    workspace: &Workspace,
    args: Value,
) -> Result<Value, Failure> {
    let wrong = |error: serde_json::Error| Failure::logical(error.to_string());
    let args = serde_json::from_value(args).map_err(wrong)?;
    serde_json::to_value(run(workspace, &args, &Stop::default())?).map_err(wrong)
}
