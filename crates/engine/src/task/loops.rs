//! Going round in circles: an attempt that does the same again and again is ended, not warned.

use std::fmt;

use domain::call::Evidence;

/// The same call with the same result, this often in a row.
const SAME: usize = 3;
/// Two calls in turn, this often.
const TURNS: usize = 3;
/// Calls in a row that were made before, and came to what they came to then.
const NOTHING_NEW: usize = 5;

/// Why an attempt is a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Circle {
    Same { tool: String },
    Alternating { tools: [String; 2] },
    NothingNew { tool: String },
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same { tool } => write!(f, "{tool} was called {SAME} times in a row, with the same result"),
            Self::Alternating { tools: [a, b] } => {
                write!(f, "{a} and {b} were called in turn {TURNS} times, with the same results")
            }
            Self::NothingNew { tool } => {
                write!(f, "{NOTHING_NEW} calls in a row showed nothing new; the last was {tool}")
            }
        }
    }
}

/// Whether what was done last is a circle.
pub(super) fn circle(evidence: &[Evidence]) -> Option<Circle> {
    let last = evidence.last()?;
    let tool = || last.tool.to_string();
    if tail(evidence, SAME).is_some_and(|tail| tail.iter().all(|one| same(one, last))) {
        return Some(Circle::Same { tool: tool() });
    }
    if let Some(turns) = tail(evidence, 2 * TURNS)
        && let [first, second, ..] = turns
        && turns.chunks(2).all(|pair| matches!(pair, [a, b] if same(a, first) && same(b, second)))
    {
        return Some(Circle::Alternating { tools: [first.tool.to_string(), second.tool.to_string()] });
    }
    let known = evidence.len().checked_sub(NOTHING_NEW)?;
    let (before, recent) = evidence.split_at_checked(known)?;
    let seen =
        |at: usize, one: &Evidence| before.iter().chain(recent.iter().take(at)).any(|other| same(other, one));
    let stale = recent.iter().enumerate().all(|(at, one)| seen(at, one));
    stale.then(|| Circle::NothingNew { tool: tool() })
}

fn tail(evidence: &[Evidence], n: usize) -> Option<&[Evidence]> {
    evidence.get(evidence.len().checked_sub(n)?..)
}

fn same(a: &Evidence, b: &Evidence) -> bool {
    a.tool == b.tool && a.args == b.args && a.outcome == b.outcome
}

#[cfg(test)]
mod tests {
    use super::circle;
    use domain::call::{Evidence, Failure};
    use domain::id::CallId;
    use serde_json::json;

    /// Each letter is a call, each digit after it its result; `x` is a failure.
    fn attempt(script: &str) -> Vec<Evidence> {
        let calls = script.split_whitespace().enumerate();
        calls
            .map(|(n, call)| {
                let (tool, result) = call.split_at(1);
                Evidence {
                    call: CallId::from_bits(n as u128),
                    tool: format!("tool_{tool}").parse().unwrap(),
                    args: json!({ "of": tool }),
                    outcome: match result {
                        "x" => Err(Failure::environmental("it is away")),
                        result => Ok(json!(result)),
                    },
                    took_ms: None,
                }
            })
            .collect()
    }

    #[test]
    fn a_circle_is_seen_at_its_last_call_and_not_before() {
        let table = [
            ("a1", None),
            ("a1 a1", None),
            ("a1 a1 a1", Some("tool_a was called 3 times in a row, with the same result")),
            ("ax ax ax", Some("tool_a was called 3 times in a row, with the same result")),
            ("a1 a2 a3 a4 a5 a6 a7 a8", None),
            ("a1 b1 a1 b1 a1", None),
            (
                "a1 b2 a1 b2 a1 b2",
                Some("tool_a and tool_b were called in turn 3 times, with the same results"),
            ),
            ("a1 b2 a1 b2 a1 b3", None),
            ("a1 b2 a1 b2 c3 a1 b2", None),
            ("a1 b2 c3 a1 b2 c3 a1", None),
            ("a1 b2 c3 a1 b2 c3 a1 b2", Some("5 calls in a row showed nothing new; the last was tool_b")),
            ("a1 b2 c3 a1 b2 c3 a1 b4", None),
            ("a1 b1 c1 d1 e1 f1 g1 h1", None), // the same answer to different questions is news
            ("", None),
        ];
        for (script, expected) in table {
            let found = circle(&attempt(script)).map(|circle| circle.to_string());
            assert_eq!(found.as_deref(), expected, "{script}");
        }
    }
}
