//! What an operation returns: data for programs, and a page for people.

use kernel::Problem;
use present::{Page, Style};
use serde::Serialize;
use serde_json::{Value, json};

pub trait Output: Serialize + Send + Sync + Sized {
    /// The result for a person.
    fn render(&self, style: &Style<'_>) -> Page;

    /// The result for a program, a line for each value. A list has a line for each entry: see [`json_each`].
    fn json_lines(&self) -> Vec<Value> {
        json_each(std::slice::from_ref(self))
    }

    /// What the result falls short of. It is shown beside a page; data say it themselves.
    fn problem(&self) -> Option<Problem> {
        None
    }

    fn exit(&self) -> u8 {
        self.problem().map_or(0, |problem| problem.code.exit())
    }
}

/// A line for each of these values. A value that cannot be written as JSON says so in its line.
pub fn json_each<T: Serialize>(values: &[T]) -> Vec<Value> {
    let line =
        |value: &T| serde_json::to_value(value).unwrap_or_else(|error| json!({ "error": error.to_string() }));
    values.iter().map(line).collect()
}

/// The end of an operation whose result was written part by part.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StreamEnd {
    pub exit: u8,
}

impl Output for StreamEnd {
    fn render(&self, _: &Style<'_>) -> Page {
        Page::new()
    }

    fn json_lines(&self) -> Vec<Value> {
        Vec::new()
    }

    fn exit(&self) -> u8 {
        self.exit
    }
}

/// An [`Output`] whose type is not known.
pub trait AnyOutput: Send + Sync {
    fn render(&self, style: &Style<'_>) -> Page;
    fn json_lines(&self) -> Vec<Value>;
    fn problem(&self) -> Option<Problem>;
    fn exit(&self) -> u8;
}

impl<T: Output> AnyOutput for T {
    fn render(&self, style: &Style<'_>) -> Page {
        Output::render(self, style)
    }

    fn json_lines(&self) -> Vec<Value> {
        Output::json_lines(self)
    }

    fn problem(&self) -> Option<Problem> {
        Output::problem(self)
    }

    fn exit(&self) -> u8 {
        Output::exit(self)
    }
}
