//! Whatever a model writes: a reply or a reason, and never a panic.

use super::super::{Form, form, samples};
use crate::model::Place;
use proptest::prelude::{Strategy, any, proptest};
use proptest::sample::{Index, select};

fn read_by_all(text: &str) {
    for (_, ask) in samples::all() {
        let _either = Form::of(&ask).read(text);
    }
}

/// The examples of every role, which are valid replies.
fn examples() -> impl Strategy<Value = &'static str> {
    let lines = |(_, ask): &(&str, _)| form(Place::of(ask).role).lines().filter(|line| line.starts_with('{'));
    select(samples::all().iter().flat_map(lines).collect::<Vec<_>>())
}

proptest! {
    #[test]
    fn any_text_is_a_reply_or_has_a_reason(text in any::<String>()) {
        read_by_all(&text);
    }

    #[test]
    fn a_valid_reply_with_something_else_in_it_is_a_reply_or_has_a_reason(
        example in examples(),
        at in any::<Index>(),
        gone in 0_usize..6,
        put in r#"[{}\[\]",:0-9a-z\\ é]{0,4}"#,
    ) {
        let chars: Vec<char> = example.chars().collect();
        let at = at.index(chars.len() + 1);
        let rest = chars.iter().skip(at + gone);
        let text: String = chars.iter().take(at).chain(put.chars().collect::<Vec<_>>().iter()).chain(rest).collect();
        read_by_all(&text);
    }

    #[test]
    fn a_valid_reply_that_is_cut_off_is_never_taken_for_a_whole_one(example in examples(), at in any::<Index>()) {
        let cut: String = example.chars().take(at.index(example.chars().count())).collect();
        for (_, ask) in samples::all() {
            assert!(Form::of(&ask).read(&cut).is_err(), "{cut}");
        }
    }
}
