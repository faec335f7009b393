//! `explain`.

use clap::Args;
use kernel::{Code, Problem, page};
use present::{Page, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Instance;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    Requirements,
};
use crate::record::{Why, render_why};

/// What an error code or a decision means
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ExplainCode {
    /// A code like R4010, or an id
    pub what: String,
}

impl Operation for ExplainCode {
    const SPEC: OperationSpec =
        OperationSpec::new("explain", OperationAccess::READ, &["regent explain R4010"])
            .route(HttpMethod::Get, "/explain/{what}");
    type Output = Explanation;

    /// What a code means is known without an instance.
    fn requirements(&self) -> Requirements {
        Requirements { instance: Code::parse(&self.what).is_none(), settings: false }
    }

    async fn run(self, context: &OperationContext<'_>) -> Result<Explanation, OperationError> {
        let explained = context.app.instance().explain(&self.what).await?;
        Ok(Explanation { explained, what: self.what })
    }
}

/// The meaning of what the caller wrote.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Explanation {
    pub explained: Explained,
    #[serde(skip)]
    pub what: String,
}

/// The meaning of a code, or of what an id names.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Explained {
    Code { code: Code, page: &'static str },
    Decision(Box<Why>),
}

impl Output for Explanation {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add(match &self.explained {
            Explained::Code { page, .. } => (*page).to_owned(),
            Explained::Decision(why) => render_why(why, &self.what, style),
        });
        page
    }
}

impl Instance<'_> {
    /// # Errors
    /// If there is no such code, or nothing is called like this.
    #[tracing::instrument(level = "info", name = "instance.explain", skip_all)]
    pub async fn explain(self, what: &str) -> Result<Explained, Problem> {
        if let Some(code) = Code::parse(what) {
            let page = page(code).unwrap_or_default();
            return Ok(Explained::Code { code, page });
        }
        if what.starts_with(['R', 'r']) && what.chars().nth(1).is_some_and(|c| c.is_ascii_digit()) {
            return Err(Problem::new(Code::NO_SUCH_CODE, format!("there is no code `{what}`"))
                .remedy("regent explain R2001"));
        }
        Ok(Explained::Decision(Box::new(self.app.record().why(what).await?)))
    }
}
