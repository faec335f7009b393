//! A stranger need not trust this program: `docs/verify/verify.py` shares no code with it, and the two agree on what is
//! intact and on what is not.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const VERIFIER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verify/verify.py");

struct House {
    folder: TempDir,
}

impl House {
    /// Some events, requests and checkpoints, and what happened after the last of them.
    fn lived_in() -> Self {
        let house = Self { folder: tempfile::tempdir().expect("a folder") };
        std::fs::write(house.folder.path().join("a.rs"), "").expect("a file");
        house.regent(&["run", "how many Rust files are here?"]);
        house.regent(&["tick"]); // what did not fit into the moment after the request
        for n in 0..3 {
            house.regent(&["run", "how many Rust files are here?"]);
            house.regent(&[
                "audit",
                "anchor",
                "--to",
                house.at(&format!("anchor-{n}")).to_str().expect("text"),
            ]);
        }
        house.regent(&["run", "how many Rust files are here?"]);
        house
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn try_regent(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_regent"));
        command.args(args).current_dir(self.folder.path()).env("REGENT_HOME", self.at("house"));
        command.output().expect("regent runs")
    }

    fn regent(&self, args: &[&str]) -> String {
        let output = self.try_regent(args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn export(&self, args: &[&str]) -> Vec<String> {
        let text = self.regent(&[&["audit", "export"], args].concat());
        text.lines().map(str::to_owned).collect()
    }

    /// What both say about these lines: `intact`, `consistent`, or `no` for what they do not believe.
    fn verdicts(&self, lines: &[String], root: Option<&str>) -> (String, String) {
        let (ours, theirs) = self.outputs(lines, root);
        (word(&ours), word(&theirs))
    }

    fn outputs(&self, lines: &[String], root: Option<&str>) -> (Output, Output) {
        let file = self.at("record.jsonl");
        std::fs::write(&file, lines.join("\n") + "\n").expect("a file");
        let mut ours = vec!["audit", "verify", "--export", file.to_str().expect("text")];
        let mut theirs = Command::new(python());
        theirs.arg(VERIFIER).arg(&file);
        if let Some(root) = root {
            ours.extend(["--root", root]);
            theirs.args(["--root", root]);
        }
        (self.try_regent(&ours), theirs.output().expect("python runs"))
    }

    /// Both exit with 2 and say why on standard error.
    fn refuse(&self, what: &str, lines: &[String], root: Option<&str>, why: &str) {
        let (ours, theirs) = self.outputs(lines, root);
        for (who, output) in [("regent", ours), ("verify.py", theirs)] {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(2) && said.contains(why), "{what}, {who}: {output:?}");
            assert!(output.stdout.is_empty() && !said.is_empty(), "{what}, {who}: {output:?}");
            assert!(!said.contains("Traceback"), "{what}, {who}: {output:?}");
        }
    }

    fn agree(&self, what: &str, lines: &[String], root: Option<&str>, expected: &str) {
        let (ours, theirs) = self.verdicts(lines, root);
        assert_eq!((ours.as_str(), theirs.as_str()), (expected, expected), "{what}");
    }
}

/// The one that has the package: the system's gets it from a package of the system.
fn python() -> &'static str {
    const SYSTEM: &str = "/usr/bin/python3";
    let has_it = |python: &str| {
        Command::new(python)
            .args(["-c", "import cryptography"])
            .output()
            .is_ok_and(|ran| ran.status.success())
    };
    if Path::new(SYSTEM).exists() && has_it(SYSTEM) { SYSTEM } else { "python3" }
}

fn word(output: &Output) -> String {
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(0) => stdout.split(':').next().unwrap_or_default().to_owned(),
        Some(1 | 2) => "no".into(),
        _ => panic!("{output:?}"),
    }
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).expect("a line is JSON")
}

/// A line with one of its fields changed.
fn with(line: &str, field: &str, value: impl Into<Value>) -> String {
    let mut line = parsed(line);
    *line.get_mut(field).expect("it has this field") = value.into();
    line.to_string()
}

/// The chain from this line on as somebody recomputes it who has no key.
fn recomputed(lines: &[String], from: usize) -> Vec<String> {
    let mut lines = lines.to_vec();
    for at in from..lines.len() {
        let before = parsed(&lines[at - 1]).get("hash").and_then(Value::as_str).map(str::to_owned);
        let before = before.unwrap_or_else(|| "0".repeat(64));
        let entry = parsed(&lines[at])["entry"].as_str().expect("an entry").to_owned();
        let bytes: domain::Digest = before.parse().expect("a digest");
        let hash = domain::Digest::of_parts(&[bytes.as_bytes(), entry.as_bytes()]).to_string();
        lines[at] = with(&with(&lines[at], "prev_hash", before), "hash", hash);
    }
    lines
}

#[test]
fn the_verifier_of_a_stranger_agrees_on_what_is_intact_and_on_what_is_not() {
    let house = House::lived_in();
    let lines = house.export(&[]);
    let entries = lines.iter().position(|line| line.contains("\"entry\":")).expect("entries");
    let root = parsed(parsed(&lines[1])["checkpoint"].as_str().expect("text"))["public"].clone();
    let root = root.as_str().expect("a key").to_owned();
    let anchor = house.at("anchor-2");
    let anchor = anchor.to_str().expect("text");
    assert!(entries == 6 && lines.len() > 40, "{} lines, entries from {entries}", lines.len());

    house.agree("as it is", &lines, None, "consistent");
    house.agree("against its root", &lines, Some(&root), "intact");
    house.agree("against an anchor", &lines, Some(anchor), "intact");
    house.agree("against another root", &lines, Some(&"ab".repeat(32)), "no");

    let changed = |at: usize, line: String| {
        let mut lines = lines.clone();
        lines[at] = line;
        lines
    };
    let without = |range: std::ops::Range<usize>| {
        let mut lines = lines.clone();
        lines.drain(range);
        lines
    };
    let (middle, last) = (entries + 11, lines.len() - 1);
    let told_otherwise = parsed(&lines[middle])["entry"].as_str().expect("text").replace("system", "owner!");
    let made_up = with(&lines[middle], "entry", told_otherwise);
    let others = House::lived_in().export(&[]);
    let swapped = |at: usize| changed(at, others[at].clone());
    let tampered: Vec<(&str, Vec<String>)> = vec![
        ("an entry deleted", without(middle..middle + 1)),
        ("the first entries deleted", without(entries..entries + 2)),
        ("the signed tail cut", without(middle..lines.len())),
        ("the last entry cut", without(last..last + 1)),
        ("a checkpoint deleted", without(2..3)),
        ("the first checkpoint deleted", without(1..2)),
        ("a column changed", changed(middle, with(&lines[middle], "actor", "owner"))),
        ("a column emptied", changed(entries, with(&lines[entries], "origin_id", Value::Null))),
        ("a moment changed", changed(middle, with(&lines[middle], "at", "2026-11-15T08:30:00.000000Z"))),
        ("an entry changed", changed(middle, made_up.clone())),
        ("the chain recomputed", recomputed(&changed(middle, made_up), middle)),
        (
            "two entries swapped",
            [&lines[..middle], &[lines[middle + 1].clone(), lines[middle].clone()], &lines[middle + 2..]]
                .concat(),
        ),
        ("a checkpoint of another house", swapped(2)),
        ("all checkpoints of another house", [&others[..entries], &lines[entries..]].concat()),
        ("the entries of another house", [&lines[..entries], &others[entries..]].concat()),
        ("no title", without(0..1)),
        ("no checkpoints", without(1..entries)),
        ("no checkpoints and no entries", without(1..lines.len())),
        ("nothing", Vec::new()),
    ];
    for (what, lines) in &tampered {
        house.agree(what, lines, None, "no");
    }
    house.agree("begun anew", &others, None, "consistent");
    house.agree("begun anew, against the root", &others, Some(&root), "no");
    house.agree("begun anew, against the anchor", &others, Some(anchor), "no");

    // A byte here and there, in every kind of line.
    for (at, line) in lines.iter().enumerate().filter(|(at, _)| [0, 1, 3, entries, middle, last].contains(at))
    {
        for (byte, bit) in
            (0..line.len()).step_by(23 * services::stride(12)).zip([0x01, 0x20, 0x04].into_iter().cycle())
        {
            let mut bytes = line.clone().into_bytes();
            bytes[byte] ^= bit;
            let Ok(flipped) = String::from_utf8(bytes) else { continue };
            if flipped.contains('\n') || parsed_same(&flipped, line) {
                continue;
            }
            house.agree(
                &format!("line {}, byte {byte}: {flipped}", at + 1),
                &changed(at, flipped),
                None,
                "no",
            );
        }
    }
}

/// `intact` says that something pinned was compared: a file with nothing in it pins nothing, and a record that no key has
/// signed can be made by anybody.
#[test]
fn without_a_pin_or_a_checkpoint_both_verifiers_refuse_and_say_why() {
    let house = House::lived_in();
    let lines = house.export(&[]);
    let entries = lines.iter().position(|line| line.contains("\"entry\":")).expect("entries");
    let anchor = std::fs::read_to_string(house.at("anchor-2")).expect("an anchor");
    let first = anchor.lines().next().expect("a checkpoint");
    let pins: [(&str, String, &str); 7] = [
        ("empty", String::new(), "holds no checkpoint"),
        ("blank lines", "\n \n\t\n".into(), "holds no checkpoint"),
        ("no JSON", "a root\n".into(), "line 1 is no checkpoint"),
        ("JSON that is no checkpoint", "{}\n".into(), "line 1 is no checkpoint"),
        ("a list", "[]\n".into(), "line 1 is no checkpoint"),
        ("an export", lines.join("\n"), "line 1 is no checkpoint"),
        ("half a line", format!("{first}\n{}\n", first.replace('}', "")), "line 2 is no checkpoint"),
    ];
    for (what, pin, why) in pins {
        let file = house.at("pin.jsonl");
        std::fs::write(&file, pin).expect("a file");
        house.refuse(what, &lines, Some(file.to_str().expect("text")), why);
    }
    let title = &lines[..1];
    let unsigned = [title, &lines[entries..]].concat();
    for root in [None, Some("ab".repeat(32))] {
        house.refuse("only a title", title, root.as_deref(), "holds no checkpoint");
        house.refuse("no checkpoints", &unsigned, root.as_deref(), "holds no checkpoint");
    }
}

/// What has the wrong shape is no export. Exit code 1 would say that a chain is broken.
#[test]
fn lines_of_another_shape_are_refused_and_not_called_broken() {
    let house = House::lived_in();
    let lines = house.export(&[]);
    let entries = lines.iter().position(|line| line.contains("\"entry\":")).expect("entries");
    let deep = "[".repeat(100_000);
    let in_objects = "{\"a\":".repeat(100_000);
    let mut hostile = vec![
        (1, r#"["checkpoint","signature"]"#.into()),
        (1, r#""checkpoint""#.into()),
        (1, "5".into()),
        (1, "null".into()),
        (0, deep.clone()),
        (1, deep.clone()),
        (1, in_objects),
        (entries, deep.clone()),
        (0, "[]".into()),
    ];
    for name in ["checkpoint", "signature"] {
        for value in [Value::from(5), Value::Null, serde_json::json!([]), serde_json::json!({})] {
            hostile.push((1, with(&lines[1], name, value)));
        }
    }
    for name in ["stream", "entry", "prev_hash", "hash"] {
        for value in [Value::from(5), Value::Null, serde_json::json!([]), serde_json::json!({})] {
            hostile.push((entries, with(&lines[entries], name, value)));
        }
    }
    for value in [Value::from("1"), Value::Null, Value::from(true), Value::from(1.0)] {
        hostile.push((entries, with(&lines[entries], "seq", value)));
    }
    for (at, line) in hostile {
        let mut lines = lines.clone();
        lines[at].clone_from(&line);
        house.refuse(&line.chars().take(100).collect::<String>(), &lines, None, "");
    }
    let pin = house.at("pin.jsonl");
    for line in [deep.as_str(), r#"["checkpoint","signature"]"#, r#"{"checkpoint":5,"signature":[]}"#] {
        std::fs::write(&pin, line).expect("a file");
        house.refuse("a pin", &lines, pin.to_str(), "line 1 is no checkpoint");
    }
}

/// A blank for a tab is no change.
fn parsed_same(one: &str, other: &str) -> bool {
    serde_json::from_str::<Value>(one).is_ok_and(|one| one == parsed(other))
}

/// What a database holds that was tampered with, both find in its export.
#[test]
fn an_export_of_a_damaged_record_is_as_damaged() {
    let house = House::lived_in();
    let database = crate::sql::Database::open(&house.at("house/data/regent.db"));
    database.execute("DROP TRIGGER audit_is_not_changed; UPDATE audit SET actor = 'owner' WHERE seq = 7;");
    database.close();
    house.agree("damaged in the database", &house.export(&["--as-is"]), None, "no");
}
