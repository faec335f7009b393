//! Files, counted and searched beside `find` and `grep` in the same run:
//! `cargo bench -p tools --features bench --bench files -- beside [--files N] [--rounds N]`, and `-- odd` for a million
//! files and a log of five gigabytes, with the memory that each question takes.
//!
//! It prints, and judges nothing: a timed test fails on a busy machine for no fault of the code.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a tool for the terminal that measures time, and starts the programs it is compared with"
)]

mod beside;
mod odd;
mod tree;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tools::Workspace;

const USAGE: &str = "usage: cargo bench -p tools --features bench --bench files -- beside|odd [--files N] [--rounds N] [--gigabytes N]";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let number = |name: &str, otherwise: usize| {
        let number = args.iter().skip_while(|arg| *arg != name).nth(1);
        number.map_or(otherwise, |number| number.parse().expect(USAGE))
    };
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["beside", ..] => {
            let folder = tempfile::tempdir_in(disk_folder()).expect("a folder");
            beside::measure(folder.path(), number("--files", 100_000), number("--rounds", 11));
        }
        ["odd", ..] => {
            let folder = tempfile::tempdir_in(disk_folder()).expect("a folder");
            odd::measure(folder.path(), number("--files", 1_000_000), number("--gigabytes", 5));
        }
        ["one", root, tool, args] => odd::one(Path::new(root), tool, args),
        _ => println!("{USAGE}"),
    }
}

/// Where things are built: a file system with a disk, unlike perhaps the folder for what is temporary.
fn disk_folder() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    program.parent().expect("a folder").to_owned()
}

/// As programs open it: with places beside it that are closed to tools.
fn workspace(root: &Path) -> Workspace {
    let (house, settings) = (root.join("../house"), root.join("../settings"));
    for place in [&house, &settings] {
        std::fs::create_dir_all(place).expect("a folder");
    }
    Workspace::new(root.to_owned()).expect("a workspace").without(&[house, settings])
}

fn call(workspace: &Workspace, tool: &str, args: &Value) -> Value {
    tools::bench::call(workspace, tool, args.clone()).expect("an answer")
}
