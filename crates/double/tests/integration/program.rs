//! The double as a program: what tests in other languages start.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::common::{get, headers, post, request};
use double::Dialect;
use serde_json::Value;

/// The script in the program's own description: it is to be right.
fn example() -> String {
    let source = include_str!("../../src/main.rs");
    let lines = source.lines().skip_while(|line| *line != "//! ```json").skip(1);
    lines.take_while(|line| *line != "//! ```").map(|line| line.trim_start_matches("//!")).collect()
}

fn start(script: &str) -> (Child, tempfile::NamedTempFile) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), script).expect("a script");
    let child = Command::new(env!("CARGO_BIN_EXE_double"))
        .arg(file.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    (child, file)
}

#[test]
fn it_says_where_it_is_plays_its_script_and_ends_with_its_input() {
    let (mut child, _file) = start(&example());
    let mut line = String::new();
    let stdout = child.stdout.take().expect("its output");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    let told: Value = serde_json::from_str(&line).expect("JSON");
    let url = told.get("url").and_then(Value::as_str).expect("an address");
    assert_eq!(told.get("key").and_then(Value::as_str), Some("a-key"));

    let ask = |prompt: &str| {
        let (path, mut body) = request(Dialect::Ollama, false, prompt);
        body["model"] = "small".into();
        let seen = post(url, &path, &headers(Dialect::Ollama), &body);
        let said = seen.json().pointer("/message/content").and_then(Value::as_str).map(str::to_owned);
        (seen.status, seen.header("retry-after").map(str::to_owned), said)
    };
    let said = |text: &str| Some(text.to_owned());
    assert_eq!(ask("the weather"), (200, None, said("rain")));
    assert_eq!(ask("first"), (429, said("2"), None));
    assert_eq!(ask("second"), (200, None, said("")));
    assert_eq!(ask("third"), (200, None, said("as ever")));
    let asked = get(url, "/double/asked", &[]).json();
    let users: Vec<&str> =
        asked.as_array().into_iter().flatten().filter_map(|asked| asked.get("user")?.as_str()).collect();
    assert_eq!(users, ["the weather", "first", "second", "third"]);

    drop(child.stdin.take());
    assert!(child.wait().expect("its end").success());
}

#[test]
fn a_script_that_cannot_be_understood_is_refused_with_its_name() {
    for script in ["{", r#"{"whenn": []}"#, r#"{"otherwise": {"faults": ["no_such_fault"]}}"#] {
        let (child, file) = start(script);
        let output = child.wait_with_output().expect("its end");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{script}: {said}");
        assert!(
            said.contains("cannot be understood") && said.contains(&file.path().display().to_string()),
            "{said}"
        );
    }
}
