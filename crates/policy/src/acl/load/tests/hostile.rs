//! Files that are made to hurt: refused with a word, in bounded time, and never a panic.

use std::time::Duration;

use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_oneof, proptest};
use proptest::test_runner::Config;

use super::{Mistakes, Origin, Source, load, own};
use crate::acl::limits::{
    EXAMPLES, FILE_BYTES, FILES, LIST_ENTRIES, POLICIES, REPORTED, SET_BYTES, TEXT_BYTES,
};
use crate::acl::shipped;

/// Unoptimised, on a machine that does other things.
const BOUNDED: Duration = Duration::from_secs(20);

#[expect(clippy::disallowed_methods, reason = "how long it takes is what is tested")]
fn in_bounded_time<T>(work: impl FnOnce() -> T) -> T {
    let started = std::time::Instant::now();
    let made = work();
    assert!(started.elapsed() < BOUNDED, "it took {:?}", started.elapsed());
    made
}

fn refused(text: &str) -> Mistakes {
    in_bounded_time(|| own(text)).unwrap_err()
}

fn policy(name: &str, more: &str) -> String {
    format!("- {{ name: {name}, match: {{ principal: {{ id: x }} }}, effect: allow, priority: 1{more} }}\n")
}

#[test]
fn what_is_too_much_is_refused_with_a_word() {
    let list = |entry: &str, times: usize| vec![entry; times].join(", ");
    let bomb: String =
        ('b'..='i').zip('a'..).fold("- &a [x, x, x, x, x, x, x, x, x]\n".into(), |bomb, (name, of)| {
            format!("{bomb}- &{name} [{}]\n", list(&format!("*{of}"), 9))
        });
    let aliases = format!("- &a x\n{}", "- *a\n".repeat(101));
    let table = [
        (
            "an alias bomb",
            bomb,
            "p.yaml:5:11: aliases stand for too much here; write out what they stand for",
        ),
        (
            "aliases",
            aliases,
            "p.yaml:102:3: there is too much in this file, or it is nested too deeply; 20000 nodes, 16 levels and 100 aliases are the most for one file",
        ),
        (
            "brackets",
            "[".repeat(5_000),
            "p.yaml:1:65: there is too much in this file, or it is nested too deeply; 16 levels are the most for one file",
        ),
        (
            "dashes",
            "- ".repeat(5_000),
            "p.yaml:1:33: there is too much in this file, or it is nested too deeply; 20000 nodes, 16 levels and 100 aliases are the most for one file",
        ),
        (
            "nodes",
            "- x\n".repeat(30_000),
            "p.yaml:20000:3: there is too much in this file, or it is nested too deeply; 20000 nodes, 16 levels and 100 aliases are the most for one file",
        ),
        ("bytes", "#".repeat(FILE_BYTES + 1), "p.yaml:1:1: the file is larger than 262144 bytes"),
        (
            "a text",
            policy("a", &format!(", session: {{ persona: {} }}", "p".repeat(TEXT_BYTES + 1))),
            "p.yaml:1:95: `persona` is longer than 200 bytes",
        ),
        (
            "globs",
            policy(
                "a",
                &format!(", permissions: {{ tools: {{ allow: [{}] }} }}", list("a", LIST_ENTRIES + 1)),
            ),
            "p.yaml:1:106: there are 201 entries here, and 200 are the most",
        ),
        (
            "examples",
            policy("a", &format!(", examples: [{}]", list("{ expect: { effect: deny } }", EXAMPLES + 1))),
            "p.yaml:1:85: there are 51 entries here, and 50 are the most",
        ),
    ];
    for (name, text, expected) in table {
        assert_eq!(refused(&text).to_string(), expected, "{name}");
    }
}

#[test]
fn the_limits_themselves_are_let_through() {
    let list = |entry: &str, times: usize| vec![entry; times].join(", ");
    let text = policy(
        "a",
        &format!(
            ", session: {{ persona: {} }}, permissions: {{ tools: {{ allow: [{}] }} }}, examples: [{}]",
            "p".repeat(TEXT_BYTES),
            list("a", LIST_ENTRIES),
            list("{ expect: { effect: deny } }", EXAMPLES),
        ),
    );
    assert!(own(&text).is_ok());
    assert!(
        own(&format!("- &a x\n{}", "- *a\n".repeat(99))).is_err_and(|mistakes| mistakes.all.len() == 100)
    );
}

#[test]
fn too_many_policies_files_and_bytes_are_refused() {
    let many =
        |from: usize, to: usize| -> String { (from..to).map(|n| policy(&format!("p{n}"), "")).collect() };
    let (half, rest) = (many(0, POLICIES / 2), many(POLICIES / 2, POLICIES));
    let source = |file, text| Source { file, text, origin: Origin::Own };
    let (a, b, c) = (source("a", &half), source("b", &rest), source("c", "- { name: too-much }"));
    assert_eq!(in_bounded_time(|| load(&[a, b])).unwrap().set.iter().count(), POLICIES);
    let mistakes = in_bounded_time(|| load(&[a, b, c])).unwrap_err();
    assert_eq!(mistakes.to_string(), "c:1:3: there are more than 1000 policies");

    let mistakes = load(&vec![source("many", ""); FILES + 1]).unwrap_err();
    assert_eq!(
        mistakes.to_string(),
        "many:1:1: there are more than 100 policy files; put several policies into one"
    );

    let large = "#".repeat(FILE_BYTES);
    let mistakes = load(&vec![source("large", &large); SET_BYTES / FILE_BYTES + 1]).unwrap_err();
    assert_eq!(mistakes.to_string(), "large:1:1: the policy files are larger than 2097152 bytes together");
}

#[test]
fn what_is_beyond_the_report_is_counted() {
    let mistakes = refused(&"- x\n".repeat(REPORTED + 7));
    assert_eq!((mistakes.all.len(), mistakes.more), (REPORTED, 7));
    assert!(mistakes.to_string().ends_with("\nand 7 more"));
}

/// The most that one file can ask for: as many policies and examples as there is room for.
#[test]
fn examples_cannot_be_made_to_take_for_ever() {
    let mut text: String = (0..700).map(|n| policy(&format!("p{n}"), ", enabled: false")).collect();
    let examples = vec!["{ expect: { effect: deny } }"; EXAMPLES].join(", ");
    for n in 0..20 {
        text.push_str(&policy(&format!("e{n}"), &format!(", enabled: false, examples: [{examples}]")));
    }
    assert!(text.len() <= FILE_BYTES);
    assert!(in_bounded_time(|| own(&text)).is_ok());
}

/// Bits of YAML that a random text would hardly hit upon.
fn pieces() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "- ",
        "name: ",
        "match: ",
        "effect: ",
        "allow",
        "deny",
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
        "!!binary ",
        "!x ",
        "| \n",
        "> \n",
        "\"",
        "'",
        "\\u",
        "<<: ",
        "? ",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "# ",
        "\t",
        "\u{feff}",
        "\0",
        "~",
        "0x",
        ".nan",
        "1e400",
        "99999999999999999999",
        "priority: ",
        "time: ",
        "23:00-08:00",
        "{principal.name}",
        "examples: ",
        "expect: ",
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
    #![proptest_config(Config { cases: 2_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn whatever_it_is_there_is_a_set_or_a_reason(
        text in prop_oneof![
            any::<String>(),
            prop::collection::vec(any::<u8>(), 0..400).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            pieces(),
            mutated(),
        ]
    ) {
        match in_bounded_time(|| own(&text)) {
            Ok(_) => {}
            Err(mistakes) => {
                prop_assert!(!mistakes.all.is_empty());
                for mistake in &mistakes.all {
                    prop_assert!(mistake.at.line >= 1 && mistake.at.column >= 1, "{mistake}");
                    let line = mistake.to_string();
                    prop_assert!(!line.chars().any(domain::is_unseen), "{line:?}");
                    prop_assert!(line.len() < 2_000, "{line}");
                }
            }
        }
    }
}
