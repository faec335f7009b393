//! Every tool has a schema for what goes in and what comes out, in words that a model can read.

use schemars::{JsonSchema, schema_for};
use serde_json::Value;

use crate::{
    calc, copy_files, delete, delete_files, edit, find, found, glob, hash, move_files, read, table, write,
};

fn of<A: JsonSchema, R: JsonSchema>() -> [Value; 2] {
    [schema_for!(A).to_value(), schema_for!(R).to_value()]
}

#[test]
fn arguments_are_closed_and_every_field_is_described() {
    let tools = [
        ("find_files", of::<find::Args, found::Found>()),
        ("glob", of::<glob::Args, found::Found>()),
        ("read_file", of::<read::Args, read::Content>()),
        ("write_file", of::<write::Args, write::Written>()),
        ("edit_file", of::<edit::Args, edit::Edited>()),
        ("delete_file", of::<delete::Args, delete::Deleted>()),
        ("delete_files", of::<delete_files::Args, delete_files::AllDeleted>()),
        ("copy_files", of::<copy_files::Args, copy_files::AllCopied>()),
        ("move_files", of::<move_files::Args, move_files::AllMoved>()),
        ("calc", of::<calc::Args, calc::Calculated>()),
        ("table_columns", of::<table::columns::Args, table::columns::Columns>()),
        ("table_stats", of::<table::stats::Args, table::stats::Stats>()),
        ("table_groups", of::<table::groups::Args, table::groups::Groups>()),
        ("hash", of::<hash::Args, hash::Hashed>()),
    ];
    for (tool, [args, record]) in tools {
        assert_eq!(args["additionalProperties"], false, "{tool}");
        for schema in [args, record] {
            let fields = schema["properties"].as_object().unwrap();
            let bare = fields.iter().find(|(_, field)| field.get("description").is_none());
            assert!(!fields.is_empty() && bare.is_none(), "{tool}: {bare:?}");
        }
    }
}
