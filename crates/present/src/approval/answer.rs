//! Reads what a person typed at an approval request. It is pure and has no default.

use domain::approval::Lasting;

/// What counts as an answer to the requests that are shown.
#[derive(Clone, Copy, Debug)]
pub struct AnswerRules<'a> {
    /// How many requests the list has.
    pub count: usize,
    /// What has to be typed to say yes.
    pub typed: Option<&'a str>,
    pub offered: bool,
    /// Whether a letter is not enough: it could have been pasted without notice.
    pub whole: bool,
}

/// Indices into the list that is shown.
type QuestionIndices = Vec<usize>;

/// What a person wants to be done about the requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedAnswer {
    Yes { which: QuestionIndices, lasting: Lasting, typed: Option<String> },
    No { which: QuestionIndices, reason: String },
    Edit(usize),
    View,
    Why,
    Later,
}

/// Reads one line.
///
/// # Errors
/// A hint, if it is no answer; it is asked again then.
pub fn read_answer(line: &str, rules: AnswerRules<'_>) -> Result<TypedAnswer, String> {
    let text = line.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let granted = if rules.whole { "yes" } else { "" };
    match (word, rules.typed) {
        ("", _) => Err("nothing is decided by an empty line".into()),
        ("n" | "no", _) => read_no(rest, rules),
        ("e", _) => read_edit(rest, rules),
        ("v", _) if rest.is_empty() => Ok(TypedAnswer::View),
        ("d", _) if rest.is_empty() => Ok(TypedAnswer::Why),
        ("l", _) if rest.is_empty() => Ok(TypedAnswer::Later),
        (_, Some(expected)) => read_typed(line, expected),
        ("y", None) if rules.whole => Err("type the whole word: yes".into()),
        ("y" | "yes", None) => read_yes(Lasting::Once, rest, rules),
        ("g", None) if rules.offered && rest == granted => read_yes(Lasting::Day, "", rules),
        ("ga", None) if rules.offered && rest == granted => read_yes(Lasting::Always, "", rules),
        ("g" | "ga", None) if rules.offered && rest.is_empty() => Err(format!("type {word} yes")),
        ("g" | "ga", None) if !rules.offered => Err("no grant is offered here".into()),
        _ => Err("that is no answer".into()),
    }
}

/// Whether it is a plain yes to one question.
#[must_use]
pub fn is_yes(line: &str, rules: AnswerRules<'_>) -> bool {
    line.trim() == "yes" || (line.trim() == "y" && !rules.whole)
}

/// `=` before it says that it is a value, where the value is also a word that means something here.
fn read_typed(line: &str, expected: &str) -> Result<TypedAnswer, String> {
    let line = line.trim_end_matches(['\n', '\r']);
    let given = [line, line.trim()].into_iter().flat_map(|line| [Some(line), line.strip_prefix('=')]);
    if given.flatten().any(|given| given == expected) {
        return Ok(TypedAnswer::Yes {
            which: vec![0],
            lasting: Lasting::Once,
            typed: Some(expected.to_owned()),
        });
    }
    Err(match line.trim() {
        "y" | "yes" | "g" | "ga" => "a plain yes is not enough here".into(),
        _ => "that is not it".into(),
    })
}

fn read_yes(lasting: Lasting, rest: &str, rules: AnswerRules<'_>) -> Result<TypedAnswer, String> {
    let which = match rest {
        "" => (0..rules.count).collect(),
        numbers => {
            let (which, rest) = read_leading_numbers(numbers, rules)?;
            if which.is_empty() || !rest.is_empty() {
                return Err("that is no answer".into());
            }
            which
        }
    };
    Ok(TypedAnswer::Yes { which, lasting, typed: None })
}

fn read_no(rest: &str, rules: AnswerRules<'_>) -> Result<TypedAnswer, String> {
    let (which, reason) = read_leading_numbers(rest, rules)?;
    let which = if which.is_empty() { (0..rules.count).collect() } else { which };
    Ok(TypedAnswer::No { which, reason })
}

fn read_edit(rest: &str, rules: AnswerRules<'_>) -> Result<TypedAnswer, String> {
    match (read_leading_numbers(rest, rules)?, rules.count) {
        ((_, rest), _) if !rest.is_empty() => Err("that is no answer".into()),
        ((_, _), 1) => Ok(TypedAnswer::Edit(0)),
        ((which, _), _) => match which.as_slice() {
            [only] => Ok(TypedAnswer::Edit(*only)),
            _ => Err("say which one is to be changed: e 2".into()),
        },
    }
}

/// The numbers at the beginning, if there is a list that they could mean, and the rest.
fn read_leading_numbers(text: &str, rules: AnswerRules<'_>) -> Result<(QuestionIndices, String), String> {
    let mut which: QuestionIndices = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(number) = words.peek().and_then(|word| word.trim_end_matches(',').parse::<usize>().ok()) {
        if rules.count == 1 {
            break;
        }
        let index = number.checked_sub(1).filter(|index| *index < rules.count);
        let index = index.ok_or_else(|| format!("there is no number {number} in the list"))?;
        if !which.contains(&index) {
            which.push(index);
        }
        words.next();
    }
    Ok((which, words.collect::<Vec<_>>().join(" ")))
}

#[cfg(test)]
mod tests {
    use super::{AnswerRules, Lasting, TypedAnswer, read_answer};

    const ONE: AnswerRules<'_> = AnswerRules { count: 1, typed: None, offered: false, whole: false };
    const OFFERED: AnswerRules<'_> = AnswerRules { count: 1, typed: None, offered: true, whole: false };
    const THREE: AnswerRules<'_> = AnswerRules { count: 3, typed: None, offered: true, whole: false };
    const TYPED: AnswerRules<'_> =
        AnswerRules { count: 1, typed: Some("aurora.example"), offered: false, whole: false };

    /// A terminal that does not tell what is pasted.
    const WHOLE: AnswerRules<'_> = AnswerRules { whole: true, ..THREE };

    fn yes(which: &[usize], lasting: Lasting) -> TypedAnswer {
        TypedAnswer::Yes { which: which.to_vec(), lasting, typed: None }
    }

    fn no(which: &[usize], reason: &str) -> TypedAnswer {
        TypedAnswer::No { which: which.to_vec(), reason: reason.into() }
    }

    #[test]
    fn answers() {
        let typed =
            TypedAnswer::Yes { which: vec![0], lasting: Lasting::Once, typed: Some("aurora.example".into()) };
        let table = [
            (ONE, "y", yes(&[0], Lasting::Once)),
            (ONE, "  yes ", yes(&[0], Lasting::Once)),
            (ONE, "n", no(&[0], "")),
            (ONE, "n 2 files are enough", no(&[0], "2 files are enough")),
            (ONE, "e", TypedAnswer::Edit(0)),
            (ONE, "v", TypedAnswer::View),
            (ONE, "d", TypedAnswer::Why),
            (ONE, "l", TypedAnswer::Later),
            (OFFERED, "g", yes(&[0], Lasting::Day)),
            (OFFERED, "ga", yes(&[0], Lasting::Always)),
            (THREE, "y", yes(&[0, 1, 2], Lasting::Once)),
            (THREE, "y 1 3", yes(&[0, 2], Lasting::Once)),
            (THREE, "y 3, 1, 1", yes(&[2, 0], Lasting::Once)),
            (THREE, "n 2 not that one", no(&[1], "not that one")),
            (THREE, "n none of them", no(&[0, 1, 2], "none of them")),
            (THREE, "e 2", TypedAnswer::Edit(1)),
            (WHOLE, "yes", yes(&[0, 1, 2], Lasting::Once)),
            (WHOLE, "yes 1 3", yes(&[0, 2], Lasting::Once)),
            (WHOLE, "g yes", yes(&[0, 1, 2], Lasting::Day)),
            (WHOLE, "ga  yes", yes(&[0, 1, 2], Lasting::Always)),
            (WHOLE, "n", no(&[0, 1, 2], "")),
            (TYPED, "aurora.example", typed.clone()),
            (TYPED, " =aurora.example ", typed),
            (TYPED, "n", no(&[0], "")),
            (TYPED, "l", TypedAnswer::Later),
        ];
        for (rules, line, expected) in table {
            assert_eq!(read_answer(line, rules), Ok(expected), "{line}");
        }
    }

    #[test]
    fn what_is_none_is_asked_again() {
        let table = [
            (ONE, ""),
            (ONE, "   "),
            (ONE, "Y"),
            (ONE, "yy"),
            (ONE, "y please"),
            (ONE, "y 1"),
            (ONE, "ok"),
            (ONE, "\x1b[201~y"),
            (ONE, "\u{200b}y"),
            (ONE, "g"),
            (ONE, "ga"),
            (OFFERED, "G"),
            (OFFERED, "g 1"),
            (THREE, "y 0"),
            (THREE, "y 4"),
            (THREE, "y 1 and 3"),
            (THREE, "e"),
            (THREE, "e 1 2"),
            (WHOLE, "y"),
            (WHOLE, "y 1"),
            (WHOLE, "g"),
            (WHOLE, "ga"),
            (OFFERED, "g yes"),
            (TYPED, "y"),
            (TYPED, "yes"),
            (TYPED, "g"),
            (TYPED, "Aurora.example"),
            (TYPED, "aurora.examp1e"),
            (TYPED, "aurora.example x"),
        ];
        for (rules, line) in table {
            assert!(read_answer(line, rules).is_err(), "`{}` is no answer", line.escape_debug());
        }
    }

    /// A file may be called `n`; the word that means no is never a yes.
    #[test]
    fn no_is_never_yes() {
        let rules = AnswerRules { typed: Some("n"), ..ONE };
        assert_eq!(read_answer("n", rules), Ok(no(&[0], "")));
        assert!(matches!(read_answer("=n", rules), Ok(TypedAnswer::Yes { .. })));
    }
}
