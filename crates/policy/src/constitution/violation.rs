//! What was violated and why, in words that a person understands.

use std::fmt;
use std::net::IpAddr;

use domain::Trust;
use domain::constitution::Rule;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub rule: Rule,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    NotTheOwnersHand,
    NotLoopback(IpAddr),
    OnlyContentMeantIt { sink: String },
    ClearsTheRecord,
    NotRegistered,
    SwitchedOff,
    WrongForm,
    NotForThisAgent,
    NotInThisRole,
    NotThisSecret,
    OutOfTurn,
    BeyondTheChain,
    TrustTooLow { has: Trust, needs: Trust },
    NobodyConfirmed,
    NobodyBehindIt,
    VouchedForByTheMessage,
}

impl Violation {
    /// What would be allowed instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self.rule {
            Rule::CreatorPrimacy => "the owner can do it with their own hand: `regent tools call`",
            Rule::LoopbackOnly => "listen at 127.0.0.1 or ::1",
            Rule::ContentIsNotCommand => "a value that the owner wrote, or their yes to this very call",
            Rule::AuditImmutable => "reading it: `regent audit verify`",
            Rule::LeastPrivilege => "a call that this chain may make; ask the owner",
            Rule::TrustRequired => "a request of somebody who was let in",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.why, self.rule)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::NotTheOwnersHand => {
                "only the owner, with their own hand, changes the house and what governs it"
            }
            Self::NotLoopback(address) => return write!(f, "{address} is not this very machine"),
            Self::OnlyContentMeantIt { sink } => {
                return write!(f, "nothing but content can have meant `{sink}`, and nobody has said yes");
            }
            Self::ClearsTheRecord => "the record cannot be cleared, by anybody, the owner included",
            Self::NotRegistered => "there is no such tool",
            Self::SwitchedOff => "the tool is switched off",
            Self::WrongForm => "the arguments do not have the form that the tool takes",
            Self::NotForThisAgent => "the tool is not for this agent",
            Self::NotInThisRole => "the tool is not for somebody in this role",
            Self::NotThisSecret => "the tool uses a secret that is not for this principal",
            Self::OutOfTurn => "only a task itself hands its result back, when it is over",
            Self::BeyondTheChain => "somebody in the chain may not use the tool, so nobody after them may",
            Self::TrustTooLow { has, needs } => {
                return write!(f, "the caller's trust is {has}, and this needs {needs}");
            }
            Self::NobodyConfirmed => "it can destroy something or changes the house, and nobody has said yes",
            Self::NobodyBehindIt => "nobody is known to stand behind it",
            Self::VouchedForByTheMessage => {
                "only the message says who stands behind it, or how far to trust them"
            }
        };
        f.write_str(text)
    }
}
