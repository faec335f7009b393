//! Wrong words on the command line.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::process::Outcome;
use crate::world::{REQUEST, World};

/// In a house in which something has happened: refused, and nothing changes.
pub(crate) fn refused(args: &[&str], exit: i32, code: &str) -> Outcome {
    let world = World::lived_in();
    let outcome = world.refuses(world.regent(args), exit, code);
    // In a house that is not there yet, a mistake does not make one.
    let fresh = World::new();
    fresh.regent(args).run().fails(exit, code);
    assert!(!fresh.home.exists(), "a mistake made a house\n{outcome}");
    outcome
}

#[test]
fn an_unknown_flag_is_refused_with_a_suggestion() {
    refused(&["run", "--colour", "always", REQUEST], 2, "R2001").says(&["'--colour'", "'--color'", "--help"]);
}

#[test]
fn an_unknown_command_is_refused_with_a_suggestion() {
    refused(&["statsu"], 2, "R2001").says(&["'statsu'", "'status'", "--help"]);
}

#[test]
fn an_unknown_command_of_a_group_is_refused_with_a_suggestion() {
    refused(&["tasks", "lits"], 2, "R2001").says(&["'lits'", "'list'", "--help"]);
}

#[test]
fn a_command_that_is_like_none_is_refused() {
    refused(&["frobnicate"], 2, "R2001").says(&["'frobnicate'", "--help"]);
}

#[test]
fn a_missing_request_is_refused_with_the_usage() {
    refused(&["run"], 2, "R2001").says(&["<REQUEST>", "Usage: regent run", "--help"]);
}

#[test]
fn an_empty_request_is_refused_with_an_example() {
    refused(&["run", ""], 2, "R2002").says(&["nothing was written", "regent run \""]);
}

#[test]
fn a_blank_request_is_refused_like_an_empty_one() {
    refused(&["run", " \t\n", "\u{a0}"], 2, "R2002").says(&["nothing was written", "regent run \""]);
}

#[test]
fn a_request_that_is_too_long_is_refused_with_both_sizes() {
    let request = "x".repeat(65_537);
    refused(&["run", &request], 2, "R2003").says(&["65537", "65536", "nothing was written"]);
}

#[test]
fn the_words_of_a_request_count_together() {
    let (half, rest) = ("x".repeat(32_768), "y".repeat(32_768));
    refused(&["run", &half, &rest], 2, "R2003").says(&["65537"]);
}

#[test]
fn the_longest_request_is_taken_in_whole() {
    let world = World::new();
    let request = "x".repeat(65_536);
    world.regent(&["run", &request]).run().fails(4, "R4010");
    let events = world.regent(&["events", "list", "--json"]).run().succeeds().json();
    assert_eq!(events[0]["content"], request);
}

#[test]
fn a_request_that_is_no_text_is_refused() {
    let world = World::lived_in();
    let args = [OsStr::new("run"), OsStr::from_bytes(b"how many \xff files are here?")];
    world.refuses(world.regent(&args), 2, "R2001").says(&["UTF-8"]);
}

#[test]
fn a_limit_that_is_no_number_is_refused() {
    for limit in ["many", "99999999999", "1.5", ""] {
        refused(&["events", "list", "--limit", limit], 2, "R2001").says(&["--limit"]);
    }
}

#[test]
fn an_unknown_colour_word_is_refused_with_the_known_ones() {
    refused(&["--color", "purple", "status"], 2, "R2001").says(&["auto, always, never"]);
}

#[test]
fn an_unknown_shell_is_refused_with_the_known_ones() {
    refused(&["completions", "cmd.exe"], 2, "R2001").says(&["bash", "fish", "zsh"]);
}

#[test]
fn an_unknown_code_is_refused() {
    refused(&["explain", "R9999"], 2, "R2008").says(&["`R9999`", "regent explain "]);
}

#[test]
fn an_id_that_is_none_is_refused() {
    let world = World::lived_in();
    for command in [&["why"][..], &["tasks", "show"], &["resume"], &["explain"]] {
        for id in ["", "t-", "t-zzzzzzz", "x-1234", "t-\u{1b}[31m", "../../etc", "t-%"] {
            let args: Vec<&str> = command.iter().copied().chain([id]).collect();
            world.refuses(world.regent(&args), 2, "R2004").says(&["regent tasks list"]);
        }
    }
}

#[test]
fn an_id_of_another_kind_is_refused_where_a_task_is_meant() {
    let world = World::lived_in();
    let events = world.regent(&["events", "list", "--json"]).run().succeeds().json();
    let id = events[0]["id"].as_str().expect("an id");
    world.refuses(world.regent(&["tasks", "show", id]), 2, "R2004").says(&["regent tasks list"]);
}

#[test]
fn an_id_that_several_begin_with_is_refused_with_their_names() {
    let world = World::new();
    world.regent(&["events", "ingest"]).stdin(crate::world::events(1..=33)).run().succeeds();
    // 33 ids cannot all differ in their first of 32 characters.
    let events = world.regent(&["events", "list", "--json"]).run().succeeds().json();
    let mut starts: Vec<String> =
        events.iter().filter_map(|event| event["id"].as_str()?.get(..3).map(str::to_owned)).collect();
    starts.sort();
    let twice = starts.windows(2).find(|pair| pair[0] == pair[1]).expect("two that begin alike");
    world.refuses(world.regent(&["why", &twice[0]]), 2, "R2005").says(&[&twice[0]]);
}

#[test]
fn nothing_to_resume_is_said_so() {
    let world = World::lived_in();
    world
        .refuses(world.regent(&["resume"]), 2, "R2007")
        .says(&["nothing is unfinished", "regent tasks list"]);
}

#[test]
fn a_limit_of_nothing_does_not_say_that_nothing_has_run() {
    let world = World::lived_in();
    let outcome = world.regent(&["tasks", "list", "--limit", "0"]).run().succeeds();
    assert_eq!(outcome.stdout, "");
    assert!(!outcome.stderr.contains("nothing has run"), "{outcome}");
}

#[test]
fn no_command_at_all_prints_the_help_and_is_a_mistake() {
    let world = World::new();
    let outcome = world.regent::<&str>(&[]).run();
    assert_eq!((outcome.exit, outcome.stdout.as_str()), (Some(2), ""), "{outcome}");
    outcome.says(&["Usage: regent", "Example:"]);
    assert!(!world.home.exists());
}
