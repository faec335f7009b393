//! What went wrong, in the order a person wants to know it: what, what was tried, what is safe, what to do.

use std::fmt;

use serde::{Serialize, Serializer};

/// `R` and four digits; the first is the exit code. `regent explain` knows each one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(u16);

// The constants (`Code::AUDIT_BROKEN`), `CODES` and `PAGES`: one file each in `docs/errors`, read by `build.rs`.
include!(concat!(env!("OUT_DIR"), "/codes.rs"));

impl Code {
    #[must_use]
    pub const fn exit(self) -> u8 {
        (self.0 / 1000) as u8
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number: u16 = text.strip_prefix(['R', 'r'])?.parse().ok()?;
        CODES.iter().copied().find(|code| code.0 == number)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "R{:04}", self.0)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What `regent explain` prints for a code: the heading, the cause, what to do.
#[must_use]
pub fn page(code: Code) -> Option<&'static str> {
    PAGES.get(CODES.binary_search(&code).ok()?).copied()
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub code: Code,
    pub what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tried: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safe: Option<String>,
    /// Commands, as they are typed.
    #[serde(rename = "do", skip_serializing_if = "Vec::is_empty")]
    pub remedy: Vec<String>,
}

impl Problem {
    #[must_use]
    pub fn new(code: Code, what: impl Into<String>) -> Self {
        Self { code, what: what.into(), tried: None, safe: None, remedy: Vec::new() }
    }

    /// What should not happen.
    pub fn internal(error: impl fmt::Display) -> Self {
        Self::new(Code::INTERNAL, error.to_string())
    }

    #[must_use]
    pub fn tried(mut self, tried: impl Into<String>) -> Self {
        self.tried = Some(tried.into());
        self
    }

    #[must_use]
    pub fn safe(mut self, safe: impl Into<String>) -> Self {
        self.safe = Some(safe.into());
        self
    }

    #[must_use]
    pub fn remedy(mut self, command: impl Into<String>) -> Self {
        self.remedy.push(command.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.what)
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests;
