//! Whatever is asked: an answer of the right kind, the same every time, and never a guess.

use domain::ask::{Action, Perception};
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::{Index, select};

use super::accepted::CHANGES;
use super::wordings::accepted;
use super::{Asked, taken};

/// All three asks; what is understood has a plan, and every subtask begins with a call.
fn walk(request: &str) {
    if let Perception::Task(spec) = Asked::UTC.perceived(request) {
        let subtasks = Asked::UTC.planned(&spec).subtasks;
        assert!(!subtasks.is_empty(), "{request}");
        for (number, subtask) in (0..).zip(subtasks) {
            let action = Asked::UTC.moved(&spec, number, subtask, vec![]);
            assert!(matches!(action, Action::Call { .. }), "{request}: {action:?}");
        }
    }
}

/// Requests that can be taken apart at their spaces: a quoted text may have any word in it.
fn unquoted() -> Vec<(&'static str, &'static str)> {
    accepted().filter(|(request, _)| !request.contains(['"', '`', '“']) && !request.contains(" '")).collect()
}

fn with_inserted(request: &str, word: &str, at: usize) -> String {
    let mut words: Vec<_> = request.split(' ').collect();
    words.insert(at, word);
    words.join(" ")
}

/// Here a word in front of the files is still taken for the folder they are in, or for a text. It is said back, at least.
const NAMED: &[&str] = &[
    "count the words in all markdown files",
    "find lines containing ERROR in the log files",
    "how many lines in the rust files contain TODO",
    "how many files are in each folder",
    "copy all pdfs into a folder called papers",
    "list text files",
    "list text files older than a year",
    "show text files",
    "which text files are in docs",
    "find text files in docs",
    "find the text file notes.txt",
];

#[test]
fn an_unknown_word_anywhere_is_refused() {
    for (request, _) in unquoted() {
        for at in 0..=request.split(' ').count() {
            let changed = with_inserted(request, "zzz", at);
            let Ok(now) = taken(&changed) else { continue };
            assert!(NAMED.contains(&request) && now.contains("zzz"), "{changed}: {now}");
        }
    }
}

#[test]
fn negation_in_front_of_a_change_is_never_overheard() {
    for &(request, intent) in CHANGES.iter().filter(|(_, intent)| !intent.contains("list ")) {
        for not in ["do not", "don't", "never", "you must not", "I would not", "please do not"] {
            let changed = format!("{not} {request}");
            assert!(taken(&changed).is_err(), "{changed} is taken for {intent}");
        }
    }
}

#[test]
fn a_text_of_any_length_is_answered() {
    for piece in ["a", "files ", "and ", "\"", "'", "(", "1+", "in ", "not ", "\u{0}", "é", "list ", "*", "9"]
    {
        walk(&piece.repeat(300));
        walk(&format!("list files {}", piece.repeat(300)));
    }
}

#[test]
fn odd_characters_are_refused_or_taken_as_they_are() {
    let odd = [
        "\u{0}",
        "\u{7}",
        "\u{1b}[2J",
        "\u{202e}",
        "\u{feff}",
        "\u{200b}",
        "💥",
        "٣",
        "ﬁles",
        "İ",
        "ß",
        "\u{85}",
    ];
    for odd in odd {
        for request in [
            format!("list files {odd}"),
            format!("{odd} list files"),
            format!("li{odd}st files"),
            format!("list \"{odd}\""),
        ] {
            walk(&request);
        }
        let quoted = taken(&format!("which files contain \"a{odd}b\""));
        assert_eq!(quoted, Ok(format!("list the files that contain `a{odd}b`")));
    }
}

fn vocabulary() -> impl Strategy<Value = &'static str> {
    select(accepted().flat_map(|(request, _)| request.split(' ')).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_gets_an_answer(request in any::<String>()) {
        walk(&request);
    }

    #[test]
    fn any_text_with_quotes_and_marks_gets_an_answer(
        request in r#"[a-z0-9 "'`“”‘’„.,;:?!*/\[\]{}()+%^=<>~$\\\n\t-]{0,60}"#,
    ) {
        walk(&request);
    }

    #[test]
    fn any_order_of_known_words_gets_an_answer(words in proptest::collection::vec(vocabulary(), 0..12)) {
        walk(&words.join(" "));
    }

    #[test]
    fn two_requests_in_a_row_get_an_answer(
        first in select(accepted().collect::<Vec<_>>()),
        second in select(accepted().collect::<Vec<_>>()),
        between in select(vec![" and ", ", ", ". ", ", then ", " "]),
    ) {
        walk(&format!("{}{between}{}", first.0, second.0));
    }

    #[test]
    fn the_same_request_is_taken_for_the_same(request in prop_oneof![
        any::<String>(),
        proptest::collection::vec(vocabulary(), 0..12).prop_map(|words| words.join(" ")),
    ]) {
        prop_assert_eq!(taken(&request), taken(&request));
    }

    #[test]
    fn a_made_up_word_anywhere_is_refused(
        (request, _) in select(unquoted()),
        word in "[bcdfghjkmqvwxz]{5,9}",
        at in any::<Index>(),
    ) {
        let changed = with_inserted(request, &word, at.index(request.split(' ').count() + 1));
        if let Ok(now) = taken(&changed) {
            prop_assert!(NAMED.contains(&request) && now.contains(&word), "{}: {}", changed, now);
        }
    }

    #[test]
    fn courtesy_and_spacing_change_nothing(
        (request, intent) in select(ungreeted()),
        before in select(vec!["please", "Hi, can you", "Could you please", " \n ", "hello,", "kindly"]),
        after in select(vec![", please", ", thanks", " ", "\n"]),
    ) {
        let polite = format!("{before} {request}{after}");
        prop_assert_eq!(taken(&polite), Ok(intent.to_owned()), "{}", polite);
    }

    /// Names and texts keep theirs, so only requests without any are changed.
    #[test]
    fn the_case_of_the_words_of_the_grammar_does_not_matter(
        (request, intent) in select(plain()),
        upper in proptest::collection::vec(any::<bool>(), 120),
    ) {
        let changed: String = request
            .chars()
            .zip(upper.into_iter().cycle())
            .map(|(c, upper)| if upper { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
            .collect();
        let lower = taken(&changed).map(|intent| intent.to_lowercase());
        prop_assert_eq!(lower, Ok(intent.to_lowercase()), "{}", changed);
    }
}

/// Nobody says please before hello.
fn ungreeted() -> Vec<(&'static str, &'static str)> {
    accepted().filter(|(request, _)| !request.starts_with("Hello")).collect()
}

/// Requests without a name or a text of the owner's.
fn plain() -> Vec<(&'static str, &'static str)> {
    let named = |intent: &str| intent.contains(['`', '.', '/']) || intent.contains(" under ");
    unquoted().into_iter().filter(|(_, intent)| !named(intent)).collect()
}
