//! Expressions, calculated while they are read.
//!
//! From weak to strong: `+ -`, then `* / %`, then the sign, then `^` (from the right), then a percent sign behind
//! a number. So `-2^2` is -4 and `2^3^2` is 512.

use domain::call::Failure;

use super::number::{Number, Trouble};

/// Brackets, signs and powers within each other. Each costs stack.
const DEEPEST: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) number: Number,
    /// Whether every step was exact.
    pub(crate) exact: bool,
}

pub(crate) fn calculate(text: &str) -> Result<Value, Failure> {
    let mut parser = Parser { rest: text.chars().collect(), depth: 0, at: 0 };
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(',') => {
            Err(parser.wrong("`,` is only for the arguments of a function; write decimals with a point"))
        }
        Some(c) => Err(parser.wrong(&format!("`{}` is not expected here", c.escape_debug()))),
    }
}

struct Parser {
    rest: Vec<char>,
    at: usize,
    depth: usize,
}

impl Parser {
    /// The next character that is no blank.
    fn peek(&mut self) -> Option<char> {
        while self.here().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
        self.here()
    }

    fn here(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn takes(&mut self, any: &[char]) -> bool {
        let found = self.peek().is_some_and(|c| any.contains(&c));
        self.at += usize::from(found);
        found
    }

    fn wrong(&self, problem: &str) -> Failure {
        self.wrong_at(self.at, problem)
    }

    fn wrong_at(&self, at: usize, problem: &str) -> Failure {
        Failure::logical(format!("column {}: {problem}", at + 1))
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        if self.depth == DEEPEST {
            return Err(self.wrong(&format!("more than {DEEPEST} levels; calculate it in parts")));
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    fn sum(&mut self) -> Result<Value, Failure> {
        let mut value = self.product()?;
        loop {
            self.peek();
            let at = self.at;
            let step = match self.here() {
                Some('+') => Number::plus,
                Some('-' | '−') => Number::minus,
                _ => return Ok(value),
            };
            self.at += 1;
            let other = self.product()?;
            value = self.both(at, value, other, step)?;
        }
    }

    fn product(&mut self) -> Result<Value, Failure> {
        let mut value = self.signed()?;
        loop {
            self.peek();
            let at = self.at;
            let step = match self.here() {
                Some('*' | '×' | '·') => Number::times,
                Some('/' | '÷') => Number::divided_by,
                Some('%') => Number::modulo, // a percent sign was taken with its number
                _ => return Ok(value),
            };
            self.at += 1;
            let other = self.signed()?;
            value = self.both(at, value, other, step)?;
        }
    }

    fn both(
        &self,
        at: usize,
        one: Value,
        two: Value,
        step: fn(Number, Number) -> Result<Number, Trouble>,
    ) -> Result<Value, Failure> {
        let number = step(one.number, two.number).map_err(|trouble| self.failed(at, trouble))?;
        Ok(Value { number, exact: one.exact && two.exact })
    }

    fn failed(&self, at: usize, trouble: Trouble) -> Failure {
        self.wrong_at(
            at,
            match trouble {
                Trouble::TooLarge => "the number becomes too large or too fine; about 38 digits can be held",
                Trouble::ByZero => "division by zero",
                Trouble::NoRealNumber => "there is no real number for this",
                Trouble::NoNumber => "this is no number; write it like `1234.5`, `1_000` or `1e-3`",
            },
        )
    }

    fn signed(&mut self) -> Result<Value, Failure> {
        if self.takes(&['-', '−']) {
            let value = self.deeper(Self::signed)?;
            return Ok(Value { number: value.number.negated(), ..value });
        }
        if self.takes(&['+']) { self.deeper(Self::signed) } else { self.power() }
    }

    fn power(&mut self) -> Result<Value, Failure> {
        let base = self.percent()?;
        self.peek();
        let at = self.at;
        if !self.takes(&['^']) {
            return Ok(base);
        }
        let exponent = self.deeper(Self::signed)?;
        let result = match exponent.number.as_whole() {
            Some(whole) => base.number.power(whole).map(|number| (number, true)),
            None => Number::near(base.number.to_f64().powf(exponent.number.to_f64()))
                .map(|number| (number, false)),
        };
        let (number, exact) = result.map_err(|trouble| self.failed(at, trouble))?;
        Ok(Value { number, exact: exact && base.exact && exponent.exact })
    }

    /// `%` means hundredths, unless something follows that it could divide.
    fn percent(&mut self) -> Result<Value, Failure> {
        let mut value = self.atom()?;
        while self.peek() == Some('%') {
            let before = self.at;
            self.at += 1;
            if self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '(' | '.')) {
                self.at = before;
                break;
            }
            let hundred = Number::whole(100);
            let number = hundred.and_then(|hundred| value.number.divided_by(hundred));
            value.number = number.map_err(|trouble| self.failed(before, trouble))?;
        }
        Ok(value)
    }

    fn atom(&mut self) -> Result<Value, Failure> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let value = self.deeper(Self::sum)?;
                self.close()?;
                Ok(value)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() => self.function(),
            Some(c) => Err(self.wrong(&format!("a number is expected, not `{}`", c.escape_debug()))),
            None => Err(self.wrong("a number is expected, and there is nothing more")),
        }
    }

    fn close(&mut self) -> Result<(), Failure> {
        if self.takes(&[')']) { Ok(()) } else { Err(self.wrong("`)` is missing")) }
    }

    fn number(&mut self) -> Result<Value, Failure> {
        let start = self.at;
        let mut text = String::new();
        while let Some(c) = self.here() {
            let sign = matches!(c, '-' | '+') && text.ends_with(['e', 'E']);
            if !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_') || sign) {
                break;
            }
            text.push(c);
            self.at += 1;
        }
        let separated = text.split('_').collect::<Vec<_>>();
        let inside_digits = separated.windows(2).all(|pair| match pair {
            [a, b] => {
                a.ends_with(|c: char| c.is_ascii_digit()) && b.starts_with(|c: char| c.is_ascii_digit())
            }
            _ => true,
        });
        let number = if inside_digits { Number::parse(&separated.concat()) } else { Err(Trouble::NoNumber) };
        number.map(|number| Value { number, exact: true }).map_err(|trouble| self.failed(start, trouble))
    }

    fn function(&mut self) -> Result<Value, Failure> {
        let start = self.at;
        let mut name = String::new();
        while let Some(c) = self.here().filter(|c| c.is_alphanumeric() || *c == '_') {
            name.push(c);
            self.at += 1;
        }
        let function = FUNCTIONS.iter().find(|function| function.name == name).ok_or_else(|| {
            let known: Vec<_> = FUNCTIONS.iter().map(|function| function.name).collect();
            self.wrong_at(start, &format!("`{name}` is no function; there are {}", known.join(", ")))
        })?;
        if !self.takes(&['(']) {
            return Err(self.wrong(&format!("`(` is missing behind `{name}`")));
        }
        let args = self.deeper(Self::args)?;
        let (fewest, most) = function.args;
        if !(fewest..=most).contains(&args.len()) {
            let problem = format!("`{name}` takes {}, not {} arguments", function.takes(), args.len());
            return Err(self.wrong_at(start, &problem));
        }
        let numbers: Vec<Number> = args.iter().map(|value| value.number).collect();
        let (number, exact) = (function.run)(&numbers).map_err(|trouble| self.failed(start, trouble))?;
        Ok(Value { number, exact: exact && args.iter().all(|value| value.exact) })
    }

    fn args(&mut self) -> Result<Vec<Value>, Failure> {
        let mut args = Vec::new();
        if self.takes(&[')']) {
            return Ok(args);
        }
        loop {
            args.push(self.sum()?);
            if !self.takes(&[',', ';']) {
                self.close()?;
                return Ok(args);
            }
        }
    }
}

/// A number, and whether it is exact.
type Answer = Result<(Number, bool), Trouble>;

struct Function {
    name: &'static str,
    args: (usize, usize),
    run: fn(&[Number]) -> Answer,
}

impl Function {
    fn takes(&self) -> String {
        match self.args {
            (fewest, usize::MAX) => format!("{fewest} or more"),
            (fewest, most) if fewest == most => fewest.to_string(),
            (fewest, most) => format!("{fewest} to {most}"),
        }
    }
}

const FUNCTIONS: [Function; 9] = [
    Function { name: "abs", args: (1, 1), run: |args| exactly(first(args).abs()) },
    Function { name: "round", args: (1, 2), run: round },
    Function { name: "floor", args: (1, 1), run: |args| exactly(first(args).floor()) },
    Function { name: "ceil", args: (1, 1), run: |args| exactly(first(args).ceil()) },
    Function { name: "sqrt", args: (1, 1), run: root },
    Function {
        name: "min",
        args: (1, usize::MAX),
        run: |args| exactly(args.iter().copied().min().unwrap_or(Number::ZERO)),
    },
    Function {
        name: "max",
        args: (1, usize::MAX),
        run: |args| exactly(args.iter().copied().max().unwrap_or(Number::ZERO)),
    },
    Function { name: "sum", args: (0, usize::MAX), run: |args| exactly(sum(args)?) },
    Function { name: "mean", args: (1, usize::MAX), run: mean },
];

#[expect(clippy::unnecessary_wraps, reason = "all functions have one form")]
fn exactly(number: Number) -> Answer {
    Ok((number, true))
}

fn first(args: &[Number]) -> Number {
    args.first().copied().unwrap_or(Number::ZERO)
}

fn sum(args: &[Number]) -> Result<Number, Trouble> {
    args.iter().try_fold(Number::ZERO, |sum, number| sum.plus(*number))
}

fn mean(args: &[Number]) -> Answer {
    let count = i128::try_from(args.len()).map_err(|_too_many| Trouble::TooLarge)?;
    exactly(sum(args)?.divided_by(Number::whole(count)?)?)
}

fn round(args: &[Number]) -> Answer {
    let places = args.get(1).map_or(Some(0), |places| places.as_whole()).ok_or(Trouble::NoNumber)?;
    let places = i32::try_from(places).map_err(|_too_many| Trouble::TooLarge)?;
    exactly(first(args).rounded(places)?)
}

fn root(args: &[Number]) -> Answer {
    let of = first(args);
    match of.exact_root() {
        Some(root) => exactly(root),
        None => Ok((Number::near(of.to_f64().sqrt())?, false)),
    }
}
