//! Where the settings come from: a file, the environment and flags. They can be read again when they may have changed.

use std::path::PathBuf;

use app::instance::settings::{Layers, Settings};
use app::{Code, Problem};

use crate::trusted_files::{self, UntrustedFile};

/// The file, the variables and the flags that hold the settings.
#[derive(Clone, Debug)]
pub struct SettingsSource {
    pub file: PathBuf,
    pub environment: Vec<(String, String)>,
    pub flags: Vec<(&'static str, String)>,
}

impl SettingsSource {
    /// # Errors
    /// If others could have written them; or every mistake, each with its place.
    pub fn read(&self) -> Result<Settings, SettingsError> {
        let Self { file, environment, flags } = self;
        let name = file.display().to_string();
        let text = trusted_files::read_text(file).map_err(|error| match UntrustedFile::within(&error) {
            Some(untrusted) => SettingsError::Untrusted(untrusted.clone()),
            None => SettingsError::Mistakes(vec![format!("cannot read {name}: {error}")]),
        })?;
        let layers = Layers {
            file: text.map(|text| (name, text)),
            environment: environment.clone(),
            flags: flags.clone(),
        };
        Settings::layer(&layers).map_err(SettingsError::Mistakes)
    }
}

/// Why the settings cannot be used.
#[derive(Debug)]
pub enum SettingsError {
    Untrusted(UntrustedFile),
    Mistakes(Vec<String>),
}

impl SettingsError {
    pub fn problem(&self) -> Problem {
        match self {
            Self::Untrusted(untrusted) => untrusted.problem(),
            Self::Mistakes(mistakes) => settings_problem(mistakes),
        }
    }

    /// What is wrong in the settings; who could have written them is the host's to look at.
    pub fn mistakes(self) -> Vec<String> {
        match self {
            Self::Untrusted(_) => Vec::new(),
            Self::Mistakes(mistakes) => mistakes,
        }
    }
}

pub(crate) fn settings_problem(mistakes: &[String]) -> Problem {
    Problem::new(Code::SETTINGS, mistakes.join("\n            "))
        .safe("nothing was done")
        .remedy("regent explain R2006")
}
