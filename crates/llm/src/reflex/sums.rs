//! Arithmetic: a request that is nothing but a sum, as the expression that `calc` reads.

use super::why::Why;

const LEADS: &[&str] = &[
    "what is the result of",
    "what's the result of",
    "what is",
    "what's",
    "whats",
    "how much is",
    "how much are",
    "how much would",
    "calculate",
    "compute",
    "work out",
    "evaluate",
    "solve",
    "can you",
    "could you",
    "please",
    "tell me",
    "what do",
    "what does",
    "what are",
    "find",
    "give me",
    "the value of",
    "the result of",
    "would you",
    "i need",
    "i want to know",
    "i need to know",
    "let me know",
    "kindly",
    "do the math:",
    "the answer to",
    "hey",
    "hi",
    "hello",
    "for me",
    "determine",
    "i'd like to know",
    "i would like to know",
    "figure out",
    "get",
    "calc",
    "do",
    "result of",
    "value of",
    "what",
];
const TAILS: &[&str] = &[
    "comes to",
    "amounts to",
    "please",
    "for me",
    "equal",
    "equals",
    "=",
    "?",
    "!",
    ".",
    "thanks",
    "thank you",
    "make",
    "come to",
    "altogether",
    "in total",
    "add up to",
    "exactly",
    "be",
    "is",
    "equal to",
];

/// Nothing if it is no arithmetic at all.
///
/// # Errors
/// If it is arithmetic, and has no result.
pub(super) fn expression(text: &str) -> Result<Option<String>, Why> {
    let mut rest = text
        .trim()
        .to_lowercase()
        .replace(['×', '·'], " * ")
        .replace('÷', " / ")
        .replace('−', "-")
        .replace('’', "'");
    let mut adds = false;
    loop {
        let before = rest.clone();
        rest = rest.trim().trim_matches(',').trim().to_owned();
        for lead in LEADS {
            if let Some(behind) = rest.strip_prefix(lead)
                && behind.starts_with([' ', ','])
            {
                rest = behind.to_owned();
            }
        }
        for tail in TAILS {
            if let Some(ahead) = rest.strip_suffix(tail) {
                let whole = tail.chars().all(char::is_alphabetic) || tail.contains(' ');
                if whole && !ahead.ends_with([' ', ',']) {
                    continue;
                }
                adds |= *tail == "add up to";
                rest = ahead.to_owned();
            }
        }
        if rest == before {
            break;
        }
    }
    // `2026-11-01` is a day and no subtraction.
    let day = |word: &str| {
        word.len() == 10
            && word
                .bytes()
                .enumerate()
                .all(|(i, b)| if matches!(i, 4 | 7) { b == b'-' } else { b.is_ascii_digit() })
    };
    let slashed = |word: &str| {
        let parts: Vec<&str> = word.split('/').collect();
        parts.len() == 3
            && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    if rest.split_whitespace().any(|word| day(word) || slashed(word)) {
        return Ok(None);
    }
    let Some(words) = words(&rest) else { return Ok(None) };
    let Some(expression) = listed(&words, adds).or_else(|| commanded(&words)).or_else(|| infix(&words))
    else {
        return Ok(None);
    };
    let zero = |part: &str| {
        let digits = part.trim_start().trim_start_matches('(');
        let number: String = digits.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        !number.is_empty() && number.chars().all(|c| matches!(c, '0' | '.'))
    };
    if expression.split('/').skip(1).any(zero) { Err(Why::NoResult) } else { Ok(Some(expression)) }
}

/// How many bytes of the text have been read.
fn at(text: &str, rest: &std::iter::Peekable<std::str::Chars<'_>>) -> usize {
    text.len() - rest.clone().map(char::len_utf8).sum::<usize>()
}

/// Numbers, operators and words, each by itself.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(&c) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
        } else if c.is_ascii_digit() || c == '.' {
            let mut number = String::new();
            while let Some(&d) = chars.peek().filter(|d| d.is_ascii_digit() || matches!(d, '.' | ',' | '_')) {
                number.push(d);
                chars.next();
            }
            let comma = number.ends_with(',');
            words.push(plain_number(number.trim_end_matches(','))?);
            if comma {
                words.push(",".into());
            }
        } else if c.is_alphabetic() {
            if text.as_bytes().get(at(text, &chars).wrapping_sub(1)).is_some_and(u8::is_ascii_digit) {
                return None; // `0x10`
            }
            let mut word = String::new();
            while let Some(&d) = chars.peek().filter(|d| d.is_alphabetic() || **d == '\'') {
                word.push(d);
                chars.next();
            }
            words.push(word);
        } else if "+-*/^()%,".contains(c) {
            words.push(c.to_string());
            chars.next();
        } else {
            return None;
        }
    }
    Some(words)
}

/// `1,200` is 1200; commas elsewhere separate numbers.
fn plain_number(number: &str) -> Option<String> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let grouped = whole.contains(',');
    let groups: Vec<&str> = whole.split(',').collect();
    let right =
        !grouped || (groups.first()?.len() <= 3 && groups.iter().skip(1).all(|group| group.len() == 3));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    if !right || part.contains([',', '.']) || !digits(part) || whole.is_empty() && part.is_empty() {
        return None;
    }
    let whole = if whole.is_empty() { "0".to_owned() } else { whole.replace([',', '_'], "") };
    Some(if part.is_empty() { whole } else { format!("{whole}.{part}") })
}

fn number(word: &str) -> Option<String> {
    let digits =
        word.bytes().all(|b| b.is_ascii_digit() || b == b'.') && word.bytes().any(|b| b.is_ascii_digit());
    digits.then(|| word.to_owned()).or_else(|| super::words::number(word).map(|n| n.to_string()))
}

/// `45, 67 and 88` with `add up to`, `the sum of 1, 2 and 3`, `average of 4 and 6`.
fn listed(words: &[String], adds: bool) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (function, rest) = match words.as_slice() {
        ["the", "sum", "of", rest @ ..]
        | ["sum", "of", rest @ ..]
        | ["add", "up", rest @ ..]
        | ["sum", rest @ ..]
        | ["add", rest @ ..]
        | ["the", "total", "of", rest @ ..]
        | ["total", "of", rest @ ..] => ("sum", rest),
        ["the", "average" | "mean", "of", rest @ ..] | ["average" | "mean", "of", rest @ ..] => {
            ("mean", rest)
        }
        ["the", "product", "of", a, "and", b] | ["product", "of", a, "and", b] => {
            return Some(format!("{} * {}", number(a)?, number(b)?));
        }
        ["the", "difference", "between", a, "and", b] | ["difference", "between", a, "and", b] => {
            return Some(format!("abs({} - {})", number(a)?, number(b)?));
        }
        rest if adds => ("sum", rest),
        _ => return None,
    };
    let mut numbers = Vec::new();
    let mut expects = true;
    for word in rest {
        if matches!(*word, "," | "and" | "together") {
            expects = true;
        } else if expects {
            numbers.push(number(word)?);
            expects = false;
        } else {
            return None;
        }
    }
    (numbers.len() > 1).then(|| format!("{function}({})", numbers.join(", ")))
}

/// `multiply 23 by 17`, `subtract 3 from 10`.
fn commanded(words: &[String]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["multiply", a, "by" | "with" | "and", b] => Some(format!("{} * {}", number(a)?, number(b)?)),
        ["divide", a, "by", b] => Some(format!("{} / {}", number(a)?, number(b)?)),
        ["subtract", a, "from", b] => Some(format!("{} - {}", number(b)?, number(a)?)),
        ["add", a, "to", b] => Some(format!("{} + {}", number(b)?, number(a)?)),
        ["take", a, "away", "from", b] => Some(format!("{} - {}", number(b)?, number(a)?)),
        _ => None,
    }
}

/// Operands and operators by turns; words for operators included.
fn infix(words: &[String]) -> Option<String> {
    let words = words.strip_prefix(&["the".to_owned()]).unwrap_or(words);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut sum = Sum { out: String::new(), operators: 0, depth: 0, operand: true };
    let mut at = 0;
    while at < words.len() {
        let ahead = words.get(at..)?;
        at += if sum.operand { sum.operand(ahead)? } else { sum.operator(ahead)? };
    }
    let bare_percent = sum.out.ends_with('%') && sum.operators == 1;
    let whole = !sum.operand && sum.depth == 0 && sum.operators > 0;
    (whole && !bare_percent).then_some(sum.out)
}

struct Sum {
    out: String,
    operators: u32,
    /// Brackets that are open.
    depth: u32,
    /// Whether an operand has to come next.
    operand: bool,
}

impl Sum {
    /// How many words it took.
    fn operand(&mut self, words: &[&str]) -> Option<usize> {
        let part = match words {
            ["half", "of", ..] => Some(("0.5 * ", 2)),
            ["a" | "one", "quarter", "of", ..] => Some(("0.25 * ", 3)),
            ["a" | "one", "third", "of", ..] => Some(("1/3 * ", 3)),
            ["twice" | "double", ..] => Some(("2 * ", 1)),
            _ => None,
        };
        if let Some((factor, length)) = part {
            // Behind another operator, `2 / half of 8` would be `2 / 0.5 * 8`.
            return (self.operators == 0).then(|| self.put(factor, length));
        }
        match words {
            ["(", ..] => {
                self.depth += 1;
                self.out.push('(');
            }
            ["-", next, ..] if number(next).is_some() || *next == "(" => self.out.push('-'),
            ["square", "root", "of", n, ..] => {
                self.operand = false;
                return Some(self.put(&format!("sqrt({})", number(n)?), 4));
            }
            [first, ..] => {
                self.out.push_str(&number(first)?);
                self.operand = false;
            }
            [] => return None,
        }
        Some(1)
    }

    /// The same of what stands between operands, or behind one.
    fn operator(&mut self, words: &[&str]) -> Option<usize> {
        let (symbol, length) = match words {
            [")", ..] => {
                self.depth = self.depth.checked_sub(1)?;
                self.out.push(')');
                return Some(1);
            }
            ["%" | "percent", "of", ..] if self.operators > 0 => return None, // of which of the numbers?
            ["%" | "percent", "of", ..] => ("% * ", 2),
            ["%" | "percent", ..] if self.out.contains([' ', '+', '-']) && !self.out.contains('*') => {
                return None;
            }
            ["%" | "percent", ..] => return Some(self.put("%", 1)),
            ["squared", ..] => return Some(self.put("^2", 1)),
            ["cubed", ..] => return Some(self.put("^3", 1)),
            ["+" | "plus", ..] => (" + ", 1),
            ["-" | "minus", ..] => (" - ", 1),
            ["*" | "x" | "times", ..] => (" * ", 1),
            ["multiplied", "by" | "with", ..] => (" * ", 2),
            ["/" | "over", ..] => (" / ", 1),
            ["divided", "by", ..] => (" / ", 2),
            ["^", ..] => ("^", 1),
            ["to", "the", "power", "of", ..] => ("^", 4),
            ["to", "the", "power", ..] => ("^", 3),
            ["mod" | "modulo", ..] => (" % ", 1),
            _ => return None,
        };
        self.operand = true;
        Some(self.put(symbol, length))
    }

    fn put(&mut self, symbol: &str, words: usize) -> usize {
        self.out.push_str(symbol);
        self.operators += 1;
        words
    }
}
