//! The six rules that no policy, vote or setting overrides, and the four laws that stand above them, as words.
//!
//! What a rule forbids is decided in `policy::constitution`; what realises a law is a table in SECURITY.md. Both stand
//! here because everybody speaks of them: the journal names rules, and prompts and memory will open with the laws.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One rule of the constitution, in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Only the owner, directly, changes who owns the house, what governs it, its keys, and how it is halted.
    CreatorPrimacy,
    /// Whoever listens or is listened to is on this very machine.
    LoopbackOnly,
    /// What was read decides nothing.
    ContentIsNotCommand,
    /// What is on record stays on record.
    AuditImmutable,
    /// A call has passed what it has to pass, with the least that its chain may.
    LeastPrivilege,
    /// Somebody stands behind it, and the message is not who says so.
    TrustRequired,
}

impl Rule {
    pub const ALL: [Self; 6] = [
        Self::CreatorPrimacy,
        Self::LoopbackOnly,
        Self::ContentIsNotCommand,
        Self::AuditImmutable,
        Self::LeastPrivilege,
        Self::TrustRequired,
    ];

    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CreatorPrimacy => "creator primacy",
            Self::LoopbackOnly => "loopback only",
            Self::ContentIsNotCommand => "content ≠ command",
            Self::AuditImmutable => "audit immutable",
            Self::LeastPrivilege => "least privilege",
            Self::TrustRequired => "trust required",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}, {}", self.number(), self.name())
    }
}

/// One law of the artoo seed. Its number is its place: a lower one never gives way to a higher one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    pub name: &'static str,
    pub text: &'static str,
}

pub const LAWS: [Law; 4] = [
    Law {
        name: "Never deceive",
        text: "Never misrepresent what was actually done or achieved, even when the honest answer is \"I failed\".",
    },
    Law {
        name: "Never harm the user's environment without explicit confirmation",
        text: "Take no irreversible action on the user's data or environment unless the user has explicitly authorised \
               that specific action. What can be taken back needs no confirmation.",
    },
    Law {
        name: "Best effort delivery",
        text: "Within laws 0 and 1, pursue the user's goal as hard as possible. Stop when the gap has grown in two replans \
               in a row: going on then is not best effort.",
    },
    Law {
        name: "Preserve own functioning capacity",
        text: "Within laws 0, 1 and 2, keep able to work across tasks: stop on divergence, never remember a wrong cause of \
               a failure, respect the limits of time and tokens.",
    },
];

#[cfg(test)]
mod tests {
    use super::{LAWS, Rule};
    use crate::Digest;

    #[test]
    fn the_six_rules_have_the_numbers_and_names_of_the_seed() {
        let told = Rule::ALL.map(|rule| rule.to_string());
        let expected = [
            "rule 0, creator primacy",
            "rule 1, loopback only",
            "rule 2, content ≠ command",
            "rule 3, audit immutable",
            "rule 4, least privilege",
            "rule 5, trust required",
        ];
        assert_eq!(told, expected);
        assert!(Rule::ALL.is_sorted());
    }

    /// Whoever changes a word of them is asked whether that is meant: write the new digest down.
    #[test]
    fn the_four_laws_stand_in_this_order_and_in_these_words() {
        let names = LAWS.map(|law| law.name);
        let expected = [
            "Never deceive",
            "Never harm the user's environment without explicit confirmation",
            "Best effort delivery",
            "Preserve own functioning capacity",
        ];
        assert_eq!(names, expected);
        let texts = LAWS.map(|law| law.text).join("\n");
        assert_eq!(Digest::of(texts.as_bytes()).to_string().get(..16), Some("15dcc120c157dd44"));
    }
}
