//! Why a round ends early: something does not hold, or it could not be played.

use super::super::verdict::Violation;

#[derive(Debug)]
pub(super) enum Cut {
    Found(Vec<Violation>),
    Failed(anyhow::Error),
}

pub(super) type Step<T = ()> = Result<T, Cut>;

/// Goes on where nothing was found.
pub(super) fn sound(found: Vec<Violation>) -> Step {
    if found.is_empty() { Ok(()) } else { Err(Cut::Found(found)) }
}

impl From<Violation> for Cut {
    fn from(violation: Violation) -> Self {
        Self::Found(vec![violation])
    }
}

impl From<anyhow::Error> for Cut {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<std::io::Error> for Cut {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<std::num::TryFromIntError> for Cut {
    fn from(error: std::num::TryFromIntError) -> Self {
        Self::Failed(error.into())
    }
}
