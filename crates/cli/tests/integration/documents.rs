//! Examples of the documents, run as they stand there.

use std::path::Path;
use std::process::Command;

/// The command and what it prints, of the first transcript under a heading.
fn example<'a>(document: &'a str, heading: &str) -> (&'a str, &'a str) {
    let section = document.split_once(heading).expect("the heading").1;
    let block = section.split_once("```console\n$ ").expect("a transcript").1;
    let block = block.split_once("```").expect("its end").0;
    // The command goes on as long as its lines end in a backslash.
    let mut end = 0;
    for line in block.split_inclusive('\n') {
        end += line.len();
        if !line.ends_with("\\\n") {
            break;
        }
    }
    block.split_at(end)
}

#[test]
fn what_the_document_shows_of_authorize_is_what_it_does_and_no_house_is_made() {
    run_as_shown("## `regent authorize`");
}

#[test]
fn what_the_document_shows_of_the_solver_is_what_it_does_and_no_house_is_made() {
    run_as_shown("## `regent ggs step`");
}

fn run_as_shown(heading: &str) {
    let (command, shown) = example(include_str!("../../../../docs/filters.md"), heading);
    let folder = tempfile::tempdir().expect("folder");
    let house = folder.path().join("house");
    let programs = Path::new(env!("CARGO_BIN_EXE_regent")).parent().expect("a folder");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a path"));
    let ran = Command::new("/bin/sh")
        .args(["-c", &format!("( {command} ) 2>&1")])
        .env_clear()
        .envs([("PATH", path.as_str()), ("NO_COLOR", "1")])
        .env("REGENT_HOME", &house)
        .output()
        .expect("start");
    assert_eq!(String::from_utf8(ran.stdout).expect("text"), shown);
    assert_eq!(ran.status.code(), Some(1), "one of its lines is bad");
    assert!(!house.exists(), "it writes nothing");
}
