//! Where the settings are written, so that they can be read again when they may have changed.

use std::path::PathBuf;

use runtime::settings::{Layers, Settings};
use runtime::{Code, Problem};

use super::trusted::{self, Untrusted};

#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) file: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) flags: Vec<(&'static str, String)>,
}

impl Written {
    /// # Errors
    /// If others could have written them; or every mistake, each with its place.
    pub(crate) fn read(&self) -> Result<Settings, Unread> {
        let Self { file, environment, flags } = self;
        let name = file.display().to_string();
        let text = trusted::text(file).map_err(|error| match Untrusted::within(&error) {
            Some(untrusted) => Unread::Untrusted(untrusted.clone()),
            None => Unread::Mistakes(vec![format!("cannot read {name}: {error}")]),
        })?;
        let layers = Layers {
            file: text.map(|text| (name, text)),
            environment: environment.clone(),
            flags: flags.clone(),
        };
        Settings::layer(&layers).map_err(Unread::Mistakes)
    }
}

/// Why there are no settings.
#[derive(Debug)]
pub(crate) enum Unread {
    Untrusted(Untrusted),
    Mistakes(Vec<String>),
}

impl Unread {
    pub(crate) fn problem(&self) -> Problem {
        match self {
            Self::Untrusted(untrusted) => untrusted.problem(),
            Self::Mistakes(mistakes) => unreadable(mistakes),
        }
    }

    /// What is wrong in the settings; who could have written them is the host's to look at.
    pub(crate) fn mistakes(self) -> Vec<String> {
        match self {
            Self::Untrusted(_) => Vec::new(),
            Self::Mistakes(mistakes) => mistakes,
        }
    }
}

pub(crate) fn unreadable(mistakes: &[String]) -> Problem {
    Problem::new(Code::SETTINGS, mistakes.join("\n            "))
        .safe("nothing was done")
        .remedy("regent explain R2006")
}
