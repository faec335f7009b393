//! The times that can be given with a yes.

use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;
use domain::approval::Lasting;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::instance::read_duration;

/// How long a yes lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalLifetime {
    #[default]
    Once,
    #[value(name = "24h")]
    #[serde(rename = "24h")]
    Day,
    Always,
}

impl From<ApprovalLifetime> for Lasting {
    fn from(lifetime: ApprovalLifetime) -> Self {
        match lifetime {
            ApprovalLifetime::Once => Self::Once,
            ApprovalLifetime::Day => Self::Day,
            ApprovalLifetime::Always => Self::Always,
        }
    }
}

/// How long a call can wait before it uses the yes: `2h`, `7d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct ApprovalValidity(pub Duration);

impl FromStr for ApprovalValidity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time = read_duration(text).ok_or_else(|| "write it like 2h or 7d, up to 30d".to_owned())?;
        Ok(Self(time))
    }
}

impl TryFrom<String> for ApprovalValidity {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}
