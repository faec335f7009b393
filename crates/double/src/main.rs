//! The double as a program, for tests in other languages: its script is a file, its address is the first line it prints, and
//! it ends when its input is closed.
//!
//! ```json
//! {
//!   "key": "a-key",
//!   "models": [{"name": "small", "context": 4096, "tools": false}],
//!   "when": [{"says": "weather", "then": {"said": {"text": "rain"}, "faults": [{"pieces": [1]}]}}],
//!   "in_order": [{"faults": [{"deny": {"rate_limited": {"seconds": 2}}}]}, {"said": {"calls": [{"name": "look", "args": {}}]}}],
//!   "otherwise": {"said": {"text": "as ever", "usage": {"in": 10, "cached": 4, "out": 2}}}
//! }
//! ```
//!
//! Every field may be left out; faults are named as in `fault.rs`, in `snake_case`. What was asked is at `GET /double/asked`.

#![expect(
    clippy::disallowed_methods,
    reason = "a tool for tests: its arguments and its script are read here"
)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for tests: its address is what it prints"
)]

use std::io::Read as _;
use std::process::ExitCode;

use double::{Double, Script};

fn main() -> ExitCode {
    match script() {
        Ok(script) => {
            let key = script.key.clone();
            let double = Double::start(script);
            println!("{}", serde_json::json!({"url": double.url, "key": key}));
            // Whatever comes in is of no interest, an error included: only that nothing more will.
            drop(std::io::stdin().read_to_end(&mut Vec::new()));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn script() -> Result<Script, String> {
    let mut args = std::env::args().skip(1);
    let Some(path) = args.next() else { return Ok(Script::new()) };
    let text = std::fs::read_to_string(&path)
        .map_err(|error| format!("the script `{path}` cannot be read: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("the script `{path}` cannot be understood: {error}"))
}
