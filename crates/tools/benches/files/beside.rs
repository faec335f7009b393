//! The same questions, asked of the system and of us, in turn.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{call, tree, workspace};

/// What is asked, in a shell and of `find_files`.
struct Question {
    about: &'static str,
    shell: &'static str,
    args: Value,
    /// Where the answer stands that the shell gives too.
    answer: &'static str,
}

fn questions() -> Vec<Question> {
    let question = |about, shell, args, answer| Question { about, shell, args, answer };
    vec![
        question("count all", "find . -type f | wc -l", json!({ "count_only": true }), "/count"),
        question(
            "count by name",
            "find . -type f -name '*.rs' | wc -l",
            json!({ "name": "*.rs", "count_only": true }),
            "/count",
        ),
        question(
            "count and add up sizes",
            "find . -type f -printf '%s\\n' | awk '{ n += $1 } END { print n }'",
            json!({ "limit": 0 }),
            "/bytes",
        ),
        question(
            "list by name",
            "find . -type f -name '*.rs' | sort | head -1000 | wc -l",
            json!({ "extensions": ["rs"], "limit": 1000 }),
            "/count",
        ),
        question(
            "the ten largest",
            "find . -type f -printf '%s %p\\n' | sort -rn | head -10 | wc -l",
            json!({ "order": "largest", "limit": 10 }),
            "/count",
        ),
        question(
            "search (C)",
            "LC_ALL=C grep -rl needle . | wc -l",
            json!({ "contains": "needle" }),
            "/count",
        ),
        question("search (locale)", "grep -rl needle . | wc -l", json!({ "contains": "needle" }), "/count"),
        question(
            "count lines with it (C)",
            "LC_ALL=C grep -rc needle . | awk -F: '{ n += $NF } END { print n }'",
            json!({ "contains": "needle" }),
            "/matching_lines",
        ),
        question(
            "in any case (C)",
            "LC_ALL=C grep -rli NEEDLE . | wc -l",
            json!({ "contains": "NEEDLE", "any_case": true }),
            "/count",
        ),
        question(
            "in any case (locale)",
            "grep -rli NEEDLE . | wc -l",
            json!({ "contains": "NEEDLE", "any_case": true }),
            "/count",
        ),
        question(
            "count lines and words",
            "find . -type f -print0 | LC_ALL=C xargs -0 wc -lw | awk '$3 == \"total\" { n += $2 } END { print n }'",
            json!({ "measure": ["lines", "words"], "limit": 0 }),
            "/words",
        ),
    ]
}

pub(crate) fn measure(folder: &Path, files: usize, rounds: usize) {
    let root = folder.join("tree");
    tree::plant(&root, files);
    let workspace = workspace(&root);
    println!("{files} files, {rounds} rounds in turn after one to warm up; medians in ms\n");
    println!("| what | shell | ours | ours / shell | answers |\n|---|---|---|---|---|");
    for Question { about, shell, args, answer } in questions() {
        let (mut theirs, mut own, mut answers) = (Vec::new(), Vec::new(), [String::new(), String::new()]);
        for round in 0..=rounds {
            let started = Instant::now();
            let output = Command::new("sh").args(["-c", shell]).current_dir(&root).output().expect("a shell");
            let took = started.elapsed();
            let started = Instant::now();
            let found = call(&workspace, "find_files", &args);
            if round > 0 {
                own.push(started.elapsed());
                theirs.push(took);
            }
            let shown = found.pointer(answer).map(ToString::to_string).unwrap_or_default();
            answers = [String::from_utf8_lossy(&output.stdout).trim().to_owned(), shown];
        }
        let (theirs, own) = (median(theirs), median(own));
        let ratio = own.as_secs_f64() / theirs.as_secs_f64();
        let [shell_says, we_say] = answers;
        println!("| {about} | {:.1} | {:.1} | {ratio:.2} | {shell_says} · {we_say} |", ms(theirs), ms(own));
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
