//! The same questions, asked of the system and of us, in turn.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
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
    println!("{files} files, {rounds} rounds in turn after one to warm up; in ms\n");
    println!(
        "| what | median: shell | ours | ratio | best: shell | ours | ratio | CPU: shell | ours | ratio | answers |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for Question { about, shell, args, answer } in questions() {
        let (mut theirs, mut own, mut answers) =
            (Spent::default(), Spent::default(), [String::new(), String::new()]);
        for round in 0..=rounds {
            let mut output = None;
            let shell_spent = spend(UsageWho::RUSAGE_CHILDREN, || {
                output = Command::new("sh").args(["-c", shell]).current_dir(&root).output().ok();
            });
            let mut found = Value::Null;
            let own_spent = spend(UsageWho::RUSAGE_SELF, || found = call(&workspace, "find_files", &args));
            if round > 0 {
                theirs.push(shell_spent);
                own.push(own_spent);
            }
            let shown = found.pointer(answer).map(ToString::to_string).unwrap_or_default();
            let said = output.expect("a shell").stdout;
            answers = [String::from_utf8_lossy(&said).trim().to_owned(), shown];
        }
        let columns: Vec<_> = theirs
            .figures()
            .iter()
            .zip(own.figures())
            .map(|(theirs, own)| {
                let (theirs, own) = (theirs.as_secs_f64() * 1000.0, own.as_secs_f64() * 1000.0);
                format!("{theirs:.1} | {own:.1} | {:.2}", own / theirs)
            })
            .collect();
        let [shell_says, we_say] = answers;
        println!("| {about} | {} | {shell_says} · {we_say} |", columns.join(" | "));
    }
}

/// Times and processor times.
#[derive(Default)]
struct Spent([Vec<Duration>; 2]);

impl Spent {
    fn push(&mut self, spent: [Duration; 2]) {
        for (all, one) in self.0.iter_mut().zip(spent) {
            all.push(one);
        }
    }

    /// The median and the best time, and the median of the processor time, which says the same on a busy machine.
    fn figures(self) -> [Duration; 3] {
        let [mut times, mut used] = self.0;
        times.sort_unstable();
        used.sort_unstable();
        let median = |sorted: &[Duration]| sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        [median(&times), times.first().copied().unwrap_or_default(), median(&used)]
    }
}

fn spend(who: UsageWho, work: impl FnOnce()) -> [Duration; 2] {
    let used = || {
        let usage = getrusage(who).expect("its usage");
        let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        Duration::from_micros(micros.try_into().expect("no time before the beginning"))
    };
    let (before, started) = (used(), Instant::now());
    work();
    [started.elapsed(), used() - before]
}
