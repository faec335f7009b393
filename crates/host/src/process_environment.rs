//! The clock, random ids and the environment of the process. The environment is read once and handed on.

#![expect(clippy::disallowed_methods, reason = "this is where clock, randomness and environment come from")]

use std::path::PathBuf;

use app::instance::paths::InstancePaths;
use app::{Code, Problem};
use domain::{Clock, IdSource, Time};

/// The clock of the machine.
#[derive(Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        Time::from_micros(jiff::Timestamp::now().as_microsecond())
    }
}

/// Ids from the randomness of the operating system.
#[derive(Debug)]
pub struct OsIds;

impl IdSource for OsIds {
    fn bits(&self) -> u128 {
        let mut bytes = [0; 16];
        #[expect(clippy::expect_used, reason = "without randomness no id is safe, and nothing can be done")]
        getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
        u128::from_be_bytes(bytes)
    }
}

/// What the process was started with: variables, arguments and the current folder.
#[derive(Clone, Debug)]
pub struct ProcessEnvironment {
    pub variables: Vec<(String, String)>,
    pub arguments: Vec<std::ffi::OsString>,
    pub folder: Option<PathBuf>,
}

impl ProcessEnvironment {
    /// Reads it. The program does this once.
    pub fn read() -> Self {
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        Self {
            variables: std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect(),
            arguments: std::env::args_os().collect(),
            folder: std::env::current_dir().ok(),
        }
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Finds the folders of the instance: `REGENT_HOME`, or the folders that the desktop specification (XDG) names.
    ///
    /// # Errors
    /// If no variable says where they are.
    pub fn locate_instance(&self) -> Result<InstancePaths, Problem> {
        let nowhere = |what: &str| {
            Problem::new(Code::HOUSE, what).safe("nothing was written").remedy("regent explain R4001")
        };
        for name in ["REGENT_HOME", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
            if self.variable(name).is_some_and(|path| path.contains(char::REPLACEMENT_CHARACTER)) {
                return Err(nowhere(&format!("the path in {name} is not UTF-8")));
            }
        }
        if let Some(home) = self.variable("REGENT_HOME").map(PathBuf::from) {
            let here = || {
                self.folder
                    .clone()
                    .ok_or_else(|| nowhere("REGENT_HOME is relative, and the current folder is gone"))
            };
            return Ok(InstancePaths::under(&if home.is_absolute() { home } else { here()?.join(home) }));
        }
        let folder = |variable: &str, usual: &str| {
            let given = self.variable(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            let usual = || self.variable("HOME").map(|home| PathBuf::from(home).join(usual));
            let folder = given.or_else(usual).map(|folder| folder.join("regent"));
            folder.ok_or_else(|| nowhere("neither REGENT_HOME nor HOME says where the house is"))
        };
        Ok(InstancePaths {
            config: folder("XDG_CONFIG_HOME", ".config")?,
            data: folder("XDG_DATA_HOME", ".local/share")?,
        })
    }

    /// The time zone of the machine.
    pub fn system_zone(&self) -> jiff::tz::TimeZone {
        crate::system_zone::find(&self.variables)
    }
}
