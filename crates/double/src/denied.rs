//! Why a request gets no answer, before it is put into any dialect.

use serde::{Deserialize, Serialize};

/// Each dialect has a status and a body for each of these; where the vendor documents none, the body has the vendor's shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Denied {
    /// 400: the body is no JSON.
    NoJson,
    /// 400: a field that must be there is not.
    Missing(String),
    /// 400: a field is there and wrong.
    Wrong { field: String, why: String },
    /// 400: nobody knows this field.
    Unknown(String),
    /// 400: this model cannot do that.
    Unsupported(String),
    /// 400: this model takes the field, but not this value.
    UnsupportedValue { field: String, value: String },
    /// 400: as an answer to whoever asks for a form of the reply.
    UnsupportedFormat,
    /// 400: as an answer to whoever brings tools.
    UnsupportedTools,
    /// 400: more tokens than fit.
    TooLong { tokens: u64, limit: u64 },
    /// 401, or what the vendor says where no key is.
    NoKey,
    /// 401, or what the vendor says where the key is wrong.
    WrongKey,
    /// 401 as such.
    Unauthorized,
    /// 402.
    Payment,
    /// What the vendor says when the money is gone, if that is not 402.
    Quota,
    /// 403.
    Forbidden,
    /// 404: no such model.
    NoModel(String),
    /// 404: no such address.
    NoPath,
    /// 413: more bytes than are taken.
    TooLarge,
    /// 429.
    RateLimited(Option<RetryAfter>),
    /// 500.
    Internal,
    /// 502, as a page of HTML that somebody in between wrote.
    BadGateway,
    /// 503.
    Unavailable(Option<RetryAfter>),
    /// 529.
    Overloaded,
    /// What it said was held back, where the dialect makes that an error.
    Filtered,
}

/// How long to wait, in the ways in which it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryAfter {
    Seconds(u64),
    /// As in `Fri, 31 Dec 2100 23:59:59 GMT`: given, because there is no clock here.
    Date(String),
    Millis(u64),
}

impl RetryAfter {
    pub(crate) fn header(&self) -> (&'static str, String) {
        match self {
            Self::Seconds(seconds) => ("retry-after", seconds.to_string()),
            Self::Date(date) => ("retry-after", date.clone()),
            Self::Millis(millis) => ("retry-after-ms", millis.to_string()),
        }
    }
}

impl Denied {
    pub(crate) fn wrong(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Wrong { field: field.into(), why: why.into() }
    }

    pub(crate) const fn retry_after(&self) -> Option<&RetryAfter> {
        match self {
            Self::RateLimited(after) | Self::Unavailable(after) => after.as_ref(),
            _ => None,
        }
    }

    /// The status that most vendors have for it; a dialect that differs says so itself.
    pub(crate) const fn status(&self) -> u16 {
        match self {
            Self::NoJson
            | Self::Missing(_)
            | Self::Wrong { .. }
            | Self::Unknown(_)
            | Self::Unsupported(_)
            | Self::UnsupportedValue { .. }
            | Self::UnsupportedFormat
            | Self::UnsupportedTools
            | Self::TooLong { .. }
            | Self::Filtered => 400,
            Self::NoKey | Self::WrongKey | Self::Unauthorized => 401,
            Self::Payment => 402,
            Self::Forbidden => 403,
            Self::NoModel(_) | Self::NoPath => 404,
            Self::TooLarge => 413,
            Self::RateLimited(_) | Self::Quota => 429,
            Self::Internal => 500,
            Self::BadGateway => 502,
            Self::Unavailable(_) => 503,
            Self::Overloaded => 529,
        }
    }
}
