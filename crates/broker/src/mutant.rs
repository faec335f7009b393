//! Authority with one guard taken out: what claims to notice that, the kill test, must notice it. Never part of the
//! program: nothing that is built for release compiles with it.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use domain::Digest;

use crate::decide::{Answer, Decision, Leave};
use crate::decision_inputs::DecisionInputs;

#[cfg(not(debug_assertions))]
compile_error!("the feature `mutants` takes guards out, so it is for tests alone");

/// What keeps a person's yes to what they said yes to, and can be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// That a yes is for one exact call.
    Fingerprint,
    /// That every layer is asked again when a yes is brought along.
    Reauthorisation,
}

/// Of this process: there is one authority in it, and it is chosen before anything is asked.
static OUT: OnceLock<Guard> = OnceLock::new();

impl Guard {
    pub const ALL: [Self; 2] = [Self::Fingerprint, Self::Reauthorisation];

    const fn name(self) -> &'static str {
        match self {
            Self::Fingerprint => "fingerprint",
            Self::Reauthorisation => "reauthorisation",
        }
    }

    /// Takes it out, for as long as this process lives. The first one that is taken out is the only one.
    pub fn take_out(self) {
        OUT.get_or_init(|| self);
    }

    fn is_out(self) -> bool {
        OUT.get() == Some(&self)
    }
}

/// The call as it is compared with the one that somebody said yes to.
pub(crate) fn compared(now: Digest, leave: Option<Leave>) -> Digest {
    leave.filter(|_| Guard::Fingerprint.is_out()).map_or(now, |leave| leave.to)
}

/// The decision as it counts.
pub(crate) fn counted(decision: Decision, inputs: &DecisionInputs) -> Decision {
    let allowed = inputs.leave.is_some_and(|leave| Some(leave.to) == inputs.fingerprint);
    if allowed && Guard::Reauthorisation.is_out() {
        return Decision { answer: Answer::Execute, ..decision };
    }
    decision
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no guard: fingerprint or reauthorisation")]
pub struct NoGuard(String);

impl FromStr for Guard {
    type Err = NoGuard;

    fn from_str(text: &str) -> Result<Self, NoGuard> {
        Self::ALL.into_iter().find(|guard| guard.name() == text).ok_or_else(|| NoGuard(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::Guard;

    #[test]
    fn a_guard_is_read_as_it_is_printed_and_none_is_out_unless_somebody_takes_it_out() {
        for guard in Guard::ALL {
            assert_eq!(guard.to_string().parse(), Ok(guard));
            assert!(!guard.is_out());
        }
        assert!("fence".parse::<Guard>().is_err());
    }
}
