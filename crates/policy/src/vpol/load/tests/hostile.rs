//! Files that are made to hurt: refused with a word, in bounded time, and never a panic. What every policy file has in
//! common is looked at more closely in `acl/load/tests/hostile.rs`.

use std::time::Duration;

use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_oneof, proptest};
use proptest::test_runner::Config;

use super::own;
use crate::vpol::shipped;
use crate::yaml::limits::{EXAMPLES, FILE_BYTES, LIST_ENTRIES, POLICIES, TEXT_BYTES};

/// Unoptimised, on a machine that does other things.
const BOUNDED: Duration = Duration::from_secs(20);

#[expect(clippy::disallowed_methods, reason = "how long it takes is what is tested")]
fn in_bounded_time<T>(work: impl FnOnce() -> T) -> T {
    let started = std::time::Instant::now();
    let made = work();
    assert!(started.elapsed() < BOUNDED, "it took {:?}", started.elapsed());
    made
}

fn policy(name: &str, applies_to: &str, more: &str) -> String {
    format!("- {{ name: {name}, applies_to: {{ {applies_to} }}, mode: strict, priority: 1{more} }}\n")
}

#[test]
fn what_is_too_much_is_refused_with_a_word() {
    let list = |entry: &str, times: usize| vec![entry; times].join(", ");
    let bomb: String =
        ('b'..='i').zip('a'..).fold("- &a [x, x, x, x, x, x, x, x, x]\n".into(), |bomb, (name, of)| {
            format!("{bomb}- &{name} [{}]\n", list(&format!("*{of}"), 9))
        });
    let table = [
        ("an alias bomb", bomb, "aliases stand for too much here"),
        ("brackets", "[".repeat(5_000), "nested too deeply"),
        ("nodes", "- x\n".repeat(30_000), "there is too much in this file"),
        ("bytes", "#".repeat(FILE_BYTES + 1), "the file is larger than"),
        ("globs", policy("a", &format!("tools: [{}]", list("a", LIST_ENTRIES + 1)), ""), "200 are the most"),
        (
            "principals",
            policy("a", &format!("principals: [{}]", list("{ id: x }", LIST_ENTRIES + 1)), ""),
            "200 are the most",
        ),
        (
            "windows",
            policy("a", "", &format!(", rules: {{ hours: [{}] }}", list("mon", LIST_ENTRIES + 1))),
            "200 are the most",
        ),
        ("a bucket", policy("a", &format!("buckets: {}", "b".repeat(TEXT_BYTES + 1)), ""), "longer than 200"),
        (
            "examples",
            policy("a", "", &format!(", examples: [{}]", list("{ expect: { policy: a } }", EXAMPLES + 1))),
            "50 are the most",
        ),
        (
            "policies",
            (0..=POLICIES).map(|n| policy(&format!("p{n}"), "", "")).collect(),
            "there are more than 1000 policies",
        ),
        ("an endless rate", policy("a", "", ", rules: { rate: 99999999999999999999/h }"), "is no rate"),
        (
            "an endless budget",
            policy("a", "", ", rules: { budget: { calls: 99999999999999999999 } }"),
            "an amount is text",
        ),
    ];
    for (name, text, expected) in table {
        let mistakes = in_bounded_time(|| own(&text)).expect_err(name).to_string();
        assert!(mistakes.contains(expected), "{name}: {mistakes}");
    }
}

/// The most that one file can ask for: as many policies and examples as there is room for.
#[test]
fn examples_cannot_be_made_to_take_for_ever() {
    let mut text: String = (0..700).map(|n| policy(&format!("p{n}"), "agents: other", "")).collect();
    let examples = vec!["{ expect: { policy: strictest } }"; EXAMPLES].join(", ");
    for n in 0..20 {
        text.push_str(&policy(&format!("e{n}"), "agents: other", &format!(", examples: [{examples}]")));
    }
    assert!(text.len() <= FILE_BYTES);
    assert!(in_bounded_time(|| own(&text)).is_ok());
}

/// Bits of YAML that a random text would hardly hit upon.
fn pieces() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "- ",
        "name: ",
        "applies_to: ",
        "mode: ",
        "strict",
        "rules: ",
        "rate: ",
        "20/h",
        "budget: ",
        "hours: ",
        "requires: ",
        "role:",
        "principals: ",
        "tools: ",
        "tiers: ",
        "examples: ",
        "expect: ",
        "call: ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        ": ",
        "\n",
        "\n  ",
        "\n    ",
        "&a ",
        "*a",
        "!x ",
        "| \n",
        "\"",
        "'",
        "<<: ",
        "---\n",
        "# ",
        "\t",
        "\0",
        "~",
        ".nan",
        "1e400",
        "-1",
        "99999999999999999999",
        "23:00-08:00",
        "*",
        "ä",
        "\u{202e}",
        "\r\n",
    ]);
    prop::collection::vec(word, 0..60).prop_map(|words| words.concat())
}

/// A good file with something cut out, doubled or put in.
fn mutated() -> impl Strategy<Value = String> {
    let file = prop::sample::select(shipped::FILES.map(|source| source.text).to_vec());
    let edit = (any::<prop::sample::Index>(), 0..12_usize, prop_oneof![Just(String::new()), pieces()]);
    (file, prop::collection::vec(edit, 1..6)).prop_map(|(text, edits)| {
        edits.into_iter().fold(text.to_owned(), |text, (at, cut, put)| {
            let letters: Vec<char> = text.chars().collect();
            let at = at.index(letters.len().max(1)).min(letters.len());
            let (before, after) = letters.split_at(at);
            before.iter().copied().chain(put.chars()).chain(after.iter().copied().skip(cut)).collect()
        })
    })
}

proptest! {
    #![proptest_config(Config { cases: 1_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn whatever_it_is_there_is_a_set_or_a_reason(text in prop_oneof![any::<String>(), pieces(), mutated()]) {
        match in_bounded_time(|| own(&text)) {
            Ok(_) => {}
            Err(mistakes) => {
                prop_assert!(!mistakes.all.is_empty());
                for mistake in &mistakes.all {
                    let line = mistake.to_string();
                    prop_assert!(!line.chars().any(domain::is_unseen), "{line:?}");
                    prop_assert!(line.len() < 2_000, "{line}");
                }
            }
        }
    }
}
