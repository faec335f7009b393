//! Transcripts: what a new user types, and what the program answers. Each has a house of its own; the workspace is
//! `cmd/workspace`, and for what writes a folder of its own. `TRYCMD=overwrite cargo test -p cli --test integration transcripts` writes the answers anew; ids and times

//! are `[..]` there and have to be put back.

use std::path::Path;

/// Plays `cmd/<name>.trycmd`. `sh` is there for what needs a pipe.
fn play(name: &str) {
    let folder = tempfile::tempdir().expect("folder");
    let home = folder.path().join("house");
    let program = Path::new(env!("CARGO_BIN_EXE_regent"));
    let programs = program.parent().expect("a folder").display();
    let path = std::env::var("PATH").expect("a path");
    let text = |path: &Path| path.to_str().expect("the path of a temporary folder is text").to_owned();

    // A run that was cut off may have left what this one makes.
    drop(std::fs::remove_dir_all(format!("tests/cmd/{name}.in/made")));
    let cases = trycmd::TestCases::new();
    cases.case(format!("tests/cmd/{name}.trycmd"));
    cases.register_bin("regent", program).register_bin("sh", Path::new("/bin/sh"));
    cases.env("PATH", format!("{programs}:{path}")).env("REGENT_HOME", text(&home));
    for (variable, value) in [("TZ", "UTC"), ("COLUMNS", "100"), ("NO_COLOR", "1"), ("LC_ALL", "C.UTF-8")] {
        cases.env(variable, value);
    }
    cases.insert_var("[HOUSE]", text(&home)).expect("a variable");
    cases.run();
}

macro_rules! transcripts {
    ($($test:ident = $file:literal;)+) => {
        $(#[test]
        fn $test() {
            play($file);
        })+

        #[test]
        fn every_transcript_is_played() {
            let files = std::fs::read_dir("tests/cmd").expect("folder").map(|entry| entry.expect("entry").path());
            let mut found: Vec<_> = files
                .filter(|path| path.extension().is_some_and(|ending| ending == "trycmd"))
                .filter_map(|path| path.file_stem().and_then(|name| name.to_str()).map(str::to_owned))
                .collect();
            let mut played = vec![$($file.to_owned()),+];
            (found.sort(), played.sort());
            assert_eq!(found, played);
        }
    };
}

transcripts! {
    the_first_walk = "first-walk";
    plans_journals_and_ends = "loop";
    requests_within_and_beyond_the_reflexes = "requests";
    settings_and_paths = "settings";
    events_from_elsewhere = "events";
    mistakes = "mistakes";
    the_broker_as_a_filter = "authorize";
    the_solver_as_a_filter = "ggs";
    policies_checked_and_asked = "acl";
    validation_policies = "vpol";
    tools_by_ones_own_hand = "tools";
    what_a_task_changed_is_put_back = "undo";
    asked_answered_and_taken_back = "approvals";
    people_their_addresses_and_trust = "people";
    access = "access";
    models_listed_set_and_told_of = "model";
    help = "help";
}

/// The commands that a help text lists, and those below them.
fn commands(above: &[String]) -> Vec<String> {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_regent")).args(above).arg("--help").output();
    let text = String::from_utf8(output.expect("start").stdout).expect("text");
    let listed =
        text.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let mut found = vec![format!("{} --help", [&["regent".to_owned()], above].concat().join(" "))];
    for line in listed {
        let name = line.split_whitespace().next().expect("a name");
        found.extend(commands(&[above, &[name.to_owned()]].concat()));
    }
    found
}

#[test]
fn the_help_of_every_command_is_in_the_transcript() {
    let transcript = include_str!("../cmd/help.trycmd");
    let shown: Vec<&str> = transcript.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert_eq!(shown, commands(&[]));
}

#[test]
fn every_help_ends_with_an_example() {
    let transcript = include_str!("../cmd/help.trycmd");
    for help in transcript.split("\n$ ").skip(1) {
        assert!(help.contains("\nExample:\n  "), "{help}");
    }
}

/// Whether a line of a transcript, in which `[..]` stands for anything, says the same.
fn says(line: &str, shown: &str) -> bool {
    let mut parts = line.trim_end().split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = shown.strip_prefix(first) else { return false };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.is_empty() || line.ends_with("[..]")
}

#[test]
fn what_the_page_on_access_shows_was_answered_by_the_program() {
    let page = include_str!("../../../../docs/access.md");
    for file in
        [include_str!("../cmd/access.in/neighbours.yaml"), include_str!("../cmd/access.in/ask-first.yaml")]
    {
        assert!(
            page.contains(&format!("```yaml\n{file}```")),
            "another file than the one that is played:\n{file}"
        );
    }
    let played = concat!(include_str!("../cmd/access.trycmd"), include_str!("../cmd/acl.trycmd"));
    let (_, walk) = page.split_once("\n## Strangers\n").expect("where it begins");
    let (walk, _) = walk.split_once("\n## What can be written\n").expect("where it ends");
    let mut compared = 0;
    for block in walk.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").expect("its end");
        // What is typed goes on in the next line after a backslash.
        let block = block.replace("\\\n", "");
        for shown in block.lines().filter(|line| !line.starts_with("$ ") && *line != "…") {
            let (beginning, cut) =
                shown.split_once('…').map_or((shown, false), |(beginning, _)| (beginning, true));
            let found =
                played.lines().any(|line| if cut { line.starts_with(beginning) } else { says(line, shown) });
            assert!(found, "no transcript has this line: {shown}");
            compared += 1;
        }
    }
    assert!(compared > 50, "only {compared} lines were found");
}

#[test]
fn what_the_page_on_models_shows_was_answered_by_the_program() {
    let page = include_str!("../../../../docs/models.md");
    let played = include_str!("../cmd/model.trycmd");
    let mut compared = 0;
    for block in page.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").expect("its end");
        for shown in block.lines().filter(|line| !line.starts_with("$ ")) {
            assert!(played.lines().any(|line| line == shown), "no transcript has this line: {shown}");
            compared += 1;
        }
    }
    assert!(compared >= 10, "only {compared} lines were found");
    for known in &models::catalog::KNOWN {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", known.name)));
        let row = row.unwrap_or_else(|| panic!("{} is not in the table", known.name));
        assert!(
            row.contains(known.dialect.name()) && row.contains(known.brain) && row.contains(known.hands),
            "{row}"
        );
        assert!(known.variables.iter().all(|variable| row.contains(variable)), "{row}");
    }
}
