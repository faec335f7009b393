//! Where the settings are written, so that they can be read again when they may have changed.

use std::path::PathBuf;

use runtime::settings::{Layers, Settings};
use runtime::{Code, Problem};

use super::text_of;

#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) file: PathBuf,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) flags: Vec<(&'static str, String)>,
}

impl Written {
    /// # Errors
    /// Every mistake, each with its place.
    pub(crate) fn read(&self) -> Result<Settings, Vec<String>> {
        let Self { file, environment, flags } = self;
        let name = file.display().to_string();
        let text = text_of(file).map_err(|error| vec![format!("cannot read {name}: {error}")])?;
        Settings::layer(&Layers {
            file: text.map(|text| (name, text)),
            environment: environment.clone(),
            flags: flags.clone(),
        })
    }
}

pub(crate) fn unreadable(mistakes: &[String]) -> Problem {
    Problem::new(Code::SETTINGS, mistakes.join("\n            "))
        .safe("nothing was done")
        .remedy("regent explain R2006")
}
