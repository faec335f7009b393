//! Who speaks in an episode.

use domain::Trust;
use domain::id::EntityId;
use domain::principal::Principal;
use domain::source::Source;
use policy::vpol::Vpol;
use serde::Deserialize;

/// A word, or an object that may also say how far they are trusted.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(from = "Written")]
pub(super) struct Speaker {
    kind: Kind,
    trust: Option<Trust>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    #[default]
    Owner,
    Known,
    Unknown,
    System,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a principal is owner, known, unknown or system, or {\"kind\": …, \"trust\": …}"
)]
enum Written {
    Word(Kind),
    Object { kind: Kind, trust: Option<Trust> },
    Nothing(()),
}

impl From<Written> for Speaker {
    fn from(written: Written) -> Self {
        match written {
            Written::Word(kind) => Self { kind, trust: None },
            Written::Object { kind, trust } => Self { kind, trust },
            Written::Nothing(()) => Self::default(),
        }
    }
}

impl Speaker {
    pub(super) const fn principal(self) -> Principal {
        match self.kind {
            Kind::Owner => Principal::Owner { entity: EntityId::from_bits(1) },
            Kind::Known => Principal::Known { entity: EntityId::from_bits(2) },
            Kind::Unknown => Principal::Unknown,
            Kind::System => Principal::System,
        }
    }

    pub(super) fn trust(self) -> Trust {
        self.trust.unwrap_or_else(|| policy::admit::default_trust(&self.principal()))
    }

    /// Whose words the request is.
    pub(super) fn source(self) -> Source {
        match self.kind {
            Kind::Owner => Source::Owner,
            Kind::Known | Kind::Unknown => {
                Source::Principal { entity: self.principal().entity(), trust: self.trust() }
            }
            Kind::System => Source::System,
        }
    }

    /// The policy under which such a chain runs.
    pub(super) const fn vpol(self) -> Vpol {
        match self.kind {
            Kind::Owner => Vpol::DEFAULT_OWNER,
            Kind::Known | Kind::Unknown => Vpol::DEFAULT_OTHERS,
            Kind::System => Vpol::UNATTENDED,
        }
    }
}
