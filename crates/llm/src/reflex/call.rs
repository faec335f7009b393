//! The one call that does a job.

use domain::call::ToolId;
use serde_json::{Map, Value, json};

use super::request::{Files, Job, Place, Rank, Show};

const FIND_FILES: &str = "find_files";
const GLOB: &str = "glob";
const READ_FILE: &str = "read_file";

#[expect(clippy::expect_used, reason = "three fixed names, and a test makes an id of each")]
pub(super) fn tool(job: &Job) -> ToolId {
    let name = match job {
        Job::Lines { .. } => READ_FILE,
        Job::Files { files: Files { place: Place::Pattern(_), .. }, .. } => GLOB,
        Job::Files { .. } => FIND_FILES,
    };
    name.parse().expect("a tool id")
}

/// An argument that is not needed is left out.
pub(super) fn args(job: &Job) -> Value {
    let (files, show) = match job {
        Job::Lines { path, text } => return json!({ "path": path, "containing": text }),
        Job::Files { files, show, .. } => (files, show),
    };
    let Files { kind, name, contains, place } = files;
    let mut args = Map::new();
    match place {
        Place::Workspace => args.insert("under".into(), ".".into()),
        Place::Folder(folder) => args.insert("under".into(), folder.as_str().into()),
        Place::Pattern(pattern) => args.insert("pattern".into(), pattern.as_str().into()),
    };
    let extensions = kind.as_ref().map(|kind| ("extensions", json!(kind.extensions)));
    let name = name.as_ref().map(|name| ("name", json!(name)));
    let contains = contains.as_ref().map(|text| ("contains", json!(text)));
    let order = match show {
        None | Some(Show::List) => "name",
        Some(Show::Top(Rank::Largest, _)) => "largest",
        Some(Show::Top(Rank::Newest, _)) => "newest",
    };
    // A count needs no file named; one is the least a call can ask for.
    let limit = show.map_or(1, Show::limit);
    let always = [("order", json!(order)), ("limit", json!(limit))];
    for (name, value) in extensions.into_iter().chain(name).chain(contains).chain(always) {
        args.insert(name.into(), value);
    }
    Value::Object(args)
}

#[cfg(test)]
mod tests {
    use super::{FIND_FILES, GLOB, READ_FILE};
    use domain::call::ToolId;

    #[test]
    fn every_tool_has_an_id() {
        for name in [FIND_FILES, GLOB, READ_FILE] {
            assert!(name.parse::<ToolId>().is_ok(), "{name}");
        }
    }
}
