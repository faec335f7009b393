//! `tools list`.

use clap::Args;
use kernel::Problem;
use present::{Page, Style, inline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ToolLine, Tools, line};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    json_each,
};

/// Every tool, with its tier, its level and whether it is on
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListTools {}

impl Operation for ListTools {
    const SPEC: OperationSpec =
        OperationSpec::new("tools list", OperationAccess::READ, &["regent tools list"])
            .route(HttpMethod::Get, "/tools");
    type Output = ToolList;

    async fn run(self, context: &OperationContext<'_>) -> Result<ToolList, OperationError> {
        let (lines, mut mistakes) = context.app.tools().list().await?;
        mistakes.extend(context.app.instance().unknown_switches(&lines));
        let list = ToolList { lines, mistakes };
        if context.io.reads_data() {
            context.io.note(&list.render_mistakes());
        }
        Ok(list)
    }
}

#[derive(Debug, Serialize)]
pub struct ToolList {
    pub lines: Vec<ToolLine>,
    /// What is wrong with tools that cannot be used, and with the switches. A note, also beside data.
    pub mistakes: Vec<String>,
}

impl ToolList {
    fn render_mistakes(&self) -> Page {
        let mut page = Page::new();
        for mistake in &self.mistakes {
            page.add_note(format!("! {}", inline(mistake)));
        }
        page
    }
}

impl Output for ToolList {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        page.add_all(self.lines.iter().map(|line| line.row(style)));
        page.append(self.render_mistakes());
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.lines)
    }
}

impl Tools<'_> {
    /// Every tool there is, with what is wrong with those that cannot be used.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "tools.list", skip_all)]
    pub async fn list(self) -> Result<(Vec<ToolLine>, Vec<String>), Problem> {
        let tool_set = self.tool_set().await?;
        let switches = self.app.host.switches();
        let lines = tool_set.registry.specs().map(|spec| line(&tool_set, spec, &switches)).collect();
        let mut mistakes = tool_set.mistakes;
        mistakes.extend(switches.mistake().map(|why| format!("tool-access.json: {why}")));
        Ok((lines, mistakes))
    }
}
