//! Whatever is asked: an answer of the right kind, and never a guess.

use super::super::{understand, words};
use super::wordings::{ACCEPTED, compact};
use super::{acted, perceived, planned};
use domain::ask::{Action, Perception};
use proptest::prelude::{Strategy, any, prop_assume, proptest};
use proptest::sample::{Index, select};

/// All three asks; what is understood has a plan, and every subtask begins with a call.
fn walk(request: &str) {
    if let Perception::Task(spec) = perceived(request) {
        let subtasks = planned(&spec).subtasks;
        assert!(!subtasks.is_empty());
        for (number, _) in (0..).zip(&subtasks) {
            assert!(matches!(acted(&spec, number, &[]), Action::Call { .. }), "{request}");
        }
    }
}

/// Wordings that can be taken apart at their spaces.
fn unquoted() -> impl Strategy<Value = &'static str> {
    let quotes = ['"', '`', '“'];
    let plain: Vec<_> = ACCEPTED.iter().map(|(text, _)| *text).collect();
    select(
        plain.into_iter().filter(|text| !text.contains(quotes) && !text.contains(" '")).collect::<Vec<_>>(),
    )
}

fn vocabulary() -> impl Strategy<Value = &'static str> {
    select(ACCEPTED.iter().flat_map(|(text, _)| text.split(' ')).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn any_text_gets_an_answer(request in any::<String>()) {
        walk(&request);
    }

    #[test]
    fn any_order_of_known_words_gets_an_answer(words in proptest::collection::vec(vocabulary(), 0..12)) {
        walk(&words.join(" "));
    }

    #[test]
    fn an_unknown_word_anywhere_is_beyond_it(
        request in unquoted(),
        word in r"[\p{Ll}0-9_-]{1,12}",
        at in any::<Index>(),
    ) {
        prop_assume!(!words::known(&word) && words::number(&word).is_none());
        prop_assume!(!words::GREETING.contains(&word.as_str()));
        let mut words: Vec<_> = request.split(' ').collect();
        words.insert(at.index(words.len() + 1), &word);
        let changed = words.join(" ");
        assert!(matches!(perceived(&changed), Perception::Beyond { .. }), "{changed}");
    }

    #[test]
    fn courtesy_and_spacing_change_nothing(
        (request, expected) in select(ACCEPTED),
        before in select(vec!["please", "Hi, can you", "Could you please", "tell me:", " \n "]),
        after in select(vec![", please", ", thanks", " "]),
    ) {
        let understood = understand(&format!("{before} {request}{after}")).map(|request| compact(&request));
        assert_eq!(understood.as_deref(), Ok(expected), "{before} {request}{after}");
    }
}
