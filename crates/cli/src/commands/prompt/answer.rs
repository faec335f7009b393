//! What somebody typed at a question, read: pure, and without a default.

use domain::approval::Lasting;

/// What is asked, as far as it decides what counts as an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// How many questions stand in the list.
    pub(super) count: usize,
    /// What has to be typed to say yes.
    pub(super) typed: Option<&'a str>,
    pub(super) offered: bool,
    /// Whether a letter is not enough: it could have been pasted, and nobody would know.
    pub(super) whole: bool,
}

/// Indices into the list that is shown.
pub(super) type Which = Vec<usize>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Yes { which: Which, lasting: Lasting, typed: Option<String> },
    No { which: Which, reason: String },
    Edit(usize),
    View,
    Why,
    Later,
}

/// # Errors
/// A hint, if it is no answer; it is asked again then.
pub(super) fn read(line: &str, asked: Asked<'_>) -> Result<Said, String> {
    let text = line.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    let granted = if asked.whole { "yes" } else { "" };
    match (word, asked.typed) {
        ("", _) => Err("nothing is decided by an empty line".into()),
        ("n" | "no", _) => no(rest, asked),
        ("e", _) => edit(rest, asked),
        ("v", _) if rest.is_empty() => Ok(Said::View),
        ("d", _) if rest.is_empty() => Ok(Said::Why),
        ("l", _) if rest.is_empty() => Ok(Said::Later),
        (_, Some(expected)) => typed(line, expected),
        ("y", None) if asked.whole => Err("type the whole word: yes".into()),
        ("y" | "yes", None) => yes(Lasting::Once, rest, asked),
        ("g", None) if asked.offered && rest == granted => yes(Lasting::Day, "", asked),
        ("ga", None) if asked.offered && rest == granted => yes(Lasting::Always, "", asked),
        ("g" | "ga", None) if asked.offered && rest.is_empty() => Err(format!("type {word} yes")),
        ("g" | "ga", None) if !asked.offered => Err("no grant is offered here".into()),
        _ => Err("that is no answer".into()),
    }
}

/// Whether it is a plain yes to one question.
pub(super) fn is_yes(line: &str, asked: Asked<'_>) -> bool {
    line.trim() == "yes" || (line.trim() == "y" && !asked.whole)
}

/// `=` before it says that it is a value, where the value is also a word that means something here.
fn typed(line: &str, expected: &str) -> Result<Said, String> {
    let line = line.trim_end_matches(['\n', '\r']);
    let given = [line, line.trim()].into_iter().flat_map(|line| [Some(line), line.strip_prefix('=')]);
    if given.flatten().any(|given| given == expected) {
        return Ok(Said::Yes { which: vec![0], lasting: Lasting::Once, typed: Some(expected.to_owned()) });
    }
    Err(match line.trim() {
        "y" | "yes" | "g" | "ga" => "a plain yes is not enough here".into(),
        _ => "that is not it".into(),
    })
}

fn yes(lasting: Lasting, rest: &str, asked: Asked<'_>) -> Result<Said, String> {
    let which = match rest {
        "" => (0..asked.count).collect(),
        numbers => {
            let (which, rest) = leading_numbers(numbers, asked)?;
            if which.is_empty() || !rest.is_empty() {
                return Err("that is no answer".into());
            }
            which
        }
    };
    Ok(Said::Yes { which, lasting, typed: None })
}

fn no(rest: &str, asked: Asked<'_>) -> Result<Said, String> {
    let (which, reason) = leading_numbers(rest, asked)?;
    let which = if which.is_empty() { (0..asked.count).collect() } else { which };
    Ok(Said::No { which, reason })
}

fn edit(rest: &str, asked: Asked<'_>) -> Result<Said, String> {
    match (leading_numbers(rest, asked)?, asked.count) {
        ((_, rest), _) if !rest.is_empty() => Err("that is no answer".into()),
        ((_, _), 1) => Ok(Said::Edit(0)),
        ((which, _), _) => match which.as_slice() {
            [only] => Ok(Said::Edit(*only)),
            _ => Err("say which one is to be changed: e 2".into()),
        },
    }
}

/// The numbers at the beginning, if there is a list that they could mean, and the rest.
fn leading_numbers(text: &str, asked: Asked<'_>) -> Result<(Which, String), String> {
    let mut which: Which = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(number) = words.peek().and_then(|word| word.trim_end_matches(',').parse::<usize>().ok()) {
        if asked.count == 1 {
            break;
        }
        let index = number.checked_sub(1).filter(|index| *index < asked.count);
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
    use super::{Asked, Lasting, Said, read};

    const ONE: Asked<'_> = Asked { count: 1, typed: None, offered: false, whole: false };
    const OFFERED: Asked<'_> = Asked { count: 1, typed: None, offered: true, whole: false };
    const THREE: Asked<'_> = Asked { count: 3, typed: None, offered: true, whole: false };
    const TYPED: Asked<'_> = Asked { count: 1, typed: Some("aurora.example"), offered: false, whole: false };

    /// A terminal that does not tell what is pasted.
    const WHOLE: Asked<'_> = Asked { whole: true, ..THREE };

    fn yes(which: &[usize], lasting: Lasting) -> Said {
        Said::Yes { which: which.to_vec(), lasting, typed: None }
    }

    fn no(which: &[usize], reason: &str) -> Said {
        Said::No { which: which.to_vec(), reason: reason.into() }
    }

    #[test]
    fn answers() {
        let typed =
            Said::Yes { which: vec![0], lasting: Lasting::Once, typed: Some("aurora.example".into()) };
        let table = [
            (ONE, "y", yes(&[0], Lasting::Once)),
            (ONE, "  yes ", yes(&[0], Lasting::Once)),
            (ONE, "n", no(&[0], "")),
            (ONE, "n 2 files are enough", no(&[0], "2 files are enough")),
            (ONE, "e", Said::Edit(0)),
            (ONE, "v", Said::View),
            (ONE, "d", Said::Why),
            (ONE, "l", Said::Later),
            (OFFERED, "g", yes(&[0], Lasting::Day)),
            (OFFERED, "ga", yes(&[0], Lasting::Always)),
            (THREE, "y", yes(&[0, 1, 2], Lasting::Once)),
            (THREE, "y 1 3", yes(&[0, 2], Lasting::Once)),
            (THREE, "y 3, 1, 1", yes(&[2, 0], Lasting::Once)),
            (THREE, "n 2 not that one", no(&[1], "not that one")),
            (THREE, "n none of them", no(&[0, 1, 2], "none of them")),
            (THREE, "e 2", Said::Edit(1)),
            (WHOLE, "yes", yes(&[0, 1, 2], Lasting::Once)),
            (WHOLE, "yes 1 3", yes(&[0, 2], Lasting::Once)),
            (WHOLE, "g yes", yes(&[0, 1, 2], Lasting::Day)),
            (WHOLE, "ga  yes", yes(&[0, 1, 2], Lasting::Always)),
            (WHOLE, "n", no(&[0, 1, 2], "")),
            (TYPED, "aurora.example", typed.clone()),
            (TYPED, " =aurora.example ", typed),
            (TYPED, "n", no(&[0], "")),
            (TYPED, "l", Said::Later),
        ];
        for (asked, line, expected) in table {
            assert_eq!(read(line, asked), Ok(expected), "{line}");
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
        for (asked, line) in table {
            assert!(read(line, asked).is_err(), "`{}` is no answer", line.escape_debug());
        }
    }

    /// A file may be called `n`; the word that means no is never a yes.
    #[test]
    fn no_is_never_yes() {
        let asked = Asked { typed: Some("n"), ..ONE };
        assert_eq!(read("n", asked), Ok(no(&[0], "")));
        assert!(matches!(read("=n", asked), Ok(Said::Yes { .. })));
    }
}
