//! An operation is declared once: its name, its input, its output, who may call it, its route, its examples. The command line
//! is made from these declarations; the HTTP routes, the OpenAPI document, the MCP tools and the reference page follow from them.
//!
//! One file per operation, in the folder of its feature. `grants/add.rs` is the example to copy; CONTRIBUTING explains it.
//!
//! INVARIANT (offered-only): a surface gets operations only from an [`Offer`], and an offer has none that its caller may not
//! use.

mod access;
mod catalog;
mod filter;
mod io;
mod lifetime;
mod output;

use std::future::Future;

use kernel::Problem;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

pub use access::{OperationAccess, OperationCaller, OperationEffect, TokenScope};
pub use catalog::{
    Offer, OfferedOperation, OperationEntry, OperationGroup, PermittedCall, help_after, json_name,
};
pub use filter::{LineFilter, LinePipeline, answer_lines, pipe_lines};
pub use io::{AttendedTask, BoxedFuture, FileLines, InputLine, OperationIo};
pub use lifetime::Lifetime;
pub use output::{AnyOutput, Output, StreamEnd, json_each};

use crate::App;

/// What an operation is, apart from its types. Its first line of help is the comment on its input type.
#[derive(Clone, Copy, Debug)]
pub struct OperationSpec {
    /// The words of the command: `grants add`.
    pub name: &'static str,
    pub access: OperationAccess,
    /// Method and path below `/api/v1`; `None` if it makes sense in the caller's own process only.
    pub route: Option<(HttpMethod, &'static str)>,
    /// Whether clients of the MCP server get it as a tool.
    pub mcp: bool,
    /// Whole commands.
    pub examples: &'static [&'static str],
    /// What its help says after the examples.
    pub notes: &'static str,
    /// Whether it can leave work behind that `resume` goes on with.
    pub starts_work: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    Get,
    Post,
    Put,
    Delete,
}

impl HttpMethod {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

impl OperationSpec {
    #[must_use]
    pub const fn new(name: &'static str, access: OperationAccess, examples: &'static [&'static str]) -> Self {
        Self { name, access, examples, route: None, mcp: false, notes: "", starts_work: false }
    }

    #[must_use]
    pub const fn route(self, method: HttpMethod, path: &'static str) -> Self {
        Self { route: Some((method, path)), ..self }
    }

    #[must_use]
    pub const fn mcp(self) -> Self {
        Self { mcp: true, ..self }
    }

    #[must_use]
    pub const fn notes(self, notes: &'static str) -> Self {
        Self { notes, ..self }
    }

    #[must_use]
    pub const fn starts_work(self) -> Self {
        Self { starts_work: true, ..self }
    }
}

/// What has to be there before an operation can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    /// The place of the instance is known.
    pub instance: bool,
    /// The settings have no mistake.
    pub settings: bool,
}

impl Requirements {
    pub const ALL: Self = Self { instance: true, settings: true };
    /// It helps to correct the settings.
    pub const INSTANCE: Self = Self { instance: true, settings: false };
    pub const NONE: Self = Self { instance: false, settings: false };
}

/// One operation. The type itself is the input: from it follow the arguments of the command, the JSON body and its schema.
pub trait Operation: clap::Args + DeserializeOwned + JsonSchema + Send + 'static {
    const SPEC: OperationSpec;
    type Output: Output;

    fn requirements(&self) -> Requirements {
        Requirements::ALL
    }

    fn run(
        self,
        context: &OperationContext<'_>,
    ) -> impl Future<Output = Result<Self::Output, OperationError>> + Send;
}

/// What an operation works with.
#[derive(Clone, Copy)]
pub struct OperationContext<'a> {
    pub app: &'a App,
    pub io: &'a dyn OperationIo,
}

impl std::fmt::Debug for OperationContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OperationContext").field("app", self.app).finish_non_exhaustive()
    }
}

impl OperationContext<'_> {
    /// Shows a part of the result before the operation is over.
    ///
    /// # Errors
    /// If the caller is gone.
    pub fn emit(&self, part: &impl Output) -> Result<(), OperationError> {
        self.io.emit(part).map_err(OperationError::Output)
    }
}

/// How many entries a list has if its caller does not say.
pub(crate) const fn default_limit() -> u32 {
    domain::limits::LIST_ENTRIES
}

/// How an operation ended, if not well.
#[derive(Debug)]
pub enum OperationError {
    Problem(Box<Problem>),
    /// The output cannot be written. If its reader is gone, that is no error.
    Output(std::io::Error),
}

impl From<Problem> for OperationError {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<std::io::Error> for OperationError {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}
