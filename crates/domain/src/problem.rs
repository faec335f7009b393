//! What went wrong, in the order a person wants to know it: what, what was tried, what is safe, what to do.

use std::fmt;

use serde::{Serialize, Serializer};

/// `R` and four digits; the first is the exit code. `regent explain` knows each one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(u16);

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal;)+) => {
        impl Code {
            $($(#[$doc])* pub const $name: Self = Self($number);)+
        }
        /// Every code there is.
        pub const CODES: &[Code] = &[$(Code::$name),+];
    };
}

codes! {
    AUDIT_BROKEN = 1001;
    STOPPED = 1002;
    BAD_LINES = 1003;
    UNHEALTHY = 1004;
    DUTY = 1005;
    INCOMPLETE = 1009;
    BACKUP_DAMAGED = 1006;
    NOT_CLEAN = 1007;
    RECHECK_DIFFERS = 1008;
    LOOPED = 1010;
    NOT_ALL_PUT_BACK = 1011;
    OVERTAKEN = 1012;
    CANCELLED = 1013;
    REPLAY_DIFFERS = 1014;
    BODY_CHANGED = 1015;
    AUTHORITY_CHANGED = 1016;
    USAGE = 2001;
    EMPTY_REQUEST = 2002;
    REQUEST_TOO_LONG = 2003;
    NO_SUCH_ID = 2004;
    AMBIGUOUS_ID = 2005;
    SETTINGS = 2006;
    NOTHING_TO_RESUME = 2007;
    NO_SUCH_CODE = 2008;
    PIN = 2015;
    EXPORT = 2016;
    NOT_A_BACKUP = 2009;
    NOBODY = 2010;
    PART_OF_THE_HOUSE = 2011;
    NOT_CONFIRMED = 2012;
    AT_WORK = 2013;
    NO_CHAIN = 2014;
    NO_SUCH_TOOL = 2017;
    BAD_TOOL = 2018;
    BAD_ARGUMENTS = 2019;
    NOTHING_TO_UNDO = 2020;
    BAD_ANSWER = 2021;
    BAD_GRANT = 2022;
    BAD_POLICY = 2023;
    NO_SUCH_POLICY = 2024;
    BAD_PERSON = 2030;
    PERSON_TAKEN = 2031;
    UNVERIFIED = 2032;
    NOTHING_TO_CANCEL = 2033;
    NOTHING_ASKED = 2034;
    BAD_MODEL = 2035;
    BAD_PRICES = 2036;
    BAD_RECORDING = 2037;
    NOT_ADMITTED = 3001;
    REFUSED = 3002;
    HALTED = 3003;
    BUDGET = 3004;
    WAITING = 3005;
    ANSWERED = 3006;
    CODE = 3007;
    HOUSE = 4001;
    DISK_FULL = 4002;
    DATABASE_DAMAGED = 4003;
    DATABASE_NEWER = 4004;
    DATABASE_FOREIGN = 4005;
    DATABASE_BUSY = 4006;
    DATABASE = 4007;
    KEY = 4008;
    UNTRUSTED = 4009;
    NEEDS_MODEL = 4010;
    DRIVEN_ELSEWHERE = 4011;
    NO_MODEL_ANSWERED = 4012;
    ERASED = 4013;
    TAIL_MOVED = 4014;
    WORKSPACE = 4015;
    OUTPUT = 4016;
    INPUT = 4017;
    DATABASE_AWAY = 4018;
    DATABASE_CROWDED = 4019;
    DATABASE_DENIED = 4020;
    DATABASE_OLD = 4021;
    OTHER_HOUSE = 4022;
    UPGRADE_REFUSED = 4023;
    BACKUP_FAILED = 4024;
    BACKUP_OF_ANOTHER = 4025;
    UNCONFIRMED = 4026;
    NO_HOUSE = 4027;
    REPLACED = 4028;
    TOOL_ACCESS = 4029;
    SECRETS = 4030;
    NO_ANSWER = 4032;
    MODEL_UNUSABLE = 4033;
    KEY_HELD_BACK = 4034;
    AUTHORITY = 4035;
    DATABASE_MISMATCH = 4036;
    POLICIES = 4031;
    INTERNAL = 4099;
    UNMET = 5001;
    MODEL_PARTLY = 5002;
}

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

/// The page of a code, from `docs/errors.md`: one section each.
#[must_use]
pub fn page(code: Code) -> Option<&'static str> {
    const PAGES: &str = include_str!("../../../docs/errors.md");
    let heading = format!("## {code}");
    PAGES
        .split("\n## ")
        .skip(1)
        .find(|section| section.starts_with(heading.trim_start_matches("## ")))
        .map(str::trim_end)
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
mod tests {
    use super::{CODES, Code, page};

    #[test]
    fn the_first_digit_is_the_exit_code() {
        assert_eq!((Code::NEEDS_MODEL.exit(), Code::NEEDS_MODEL.to_string().as_str()), (4, "R4010"));
        assert!(CODES.iter().all(|code| (1..=5).contains(&code.exit())));
    }

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        for &code in CODES {
            let page = page(code).unwrap_or_else(|| panic!("{code} has no section in docs/errors.md"));
            assert!(page.lines().count() >= 3, "{code}: a heading and at least a sentence");
        }
        let headings =
            include_str!("../../../docs/errors.md").lines().filter_map(|line| line.strip_prefix("## "));
        for heading in headings {
            let code = heading.split(' ').next().and_then(Code::parse);
            assert!(code.is_some(), "`{heading}` is not a code of the program");
        }
    }
}
