//! `approvals list`.

use clap::Args;
use domain::limits::LIST_ENTRIES;
use present::approval::{group_alike, list_files, render_deciding_values};
use present::{Folding, Page, Style, pluralize, shorten};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::page::add_answer_commands;
use super::{ApprovalItem, ApprovalView, PendingList, access_request_page, page};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    json_each,
};

/// List what waits for you, next to expire first
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListApprovals {
    /// How many at most
    #[arg(long, default_value_t = LIST_ENTRIES)]
    #[serde(default = "default_limit")]
    pub limit: u32,
    /// Show every sender that wants in, not only the first three
    #[arg(long)]
    #[serde(default)]
    pub senders: bool,
}

const fn default_limit() -> u32 {
    LIST_ENTRIES
}

/// How many access requests a page lists, unless all are asked for.
const FIRST_SENDERS: u32 = 3;

impl Operation for ListApprovals {
    const SPEC: OperationSpec = OperationSpec::new(
        "approvals list",
        OperationAccess::READ,
        &["regent approvals list --json", "regent approvals list --senders --limit 20"],
    )
    .route(HttpMethod::Get, "/approvals")
    .mcp();
    type Output = PendingList;

    async fn run(self, context: &OperationContext<'_>) -> Result<PendingList, OperationError> {
        let senders = if self.senders || context.io.reads_data() { self.limit } else { FIRST_SENDERS };
        Ok(context.app.approvals().pending(self.limit, senders).await?)
    }
}

impl Output for PendingList {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        if self.items.is_empty() && self.calls + self.senders == 0 {
            page.add_note("nothing waits for you");
        }
        let mut calls: Vec<&ApprovalView> = Vec::new();
        for item in &self.items {
            match item {
                ApprovalItem::AccessRequest(view) => page.add(access_request_page::render_row(view, style)),
                ApprovalItem::Call(view) => {
                    calls.push(view);
                    add_call(view, style, &mut page);
                }
            }
        }
        self.count_left_out(calls.len() as u64, style, &mut page);
        add_groups(&calls, style, &mut page);
        if let Some(first) = self.items.first() {
            let show = format!("regent approvals show {}", first.short());
            page.add_note(style.note_theme.paint_command(&show));
        }
        if let Some(ApprovalItem::Call(first)) = self.items.first() {
            add_answer_commands(first, style, &mut page);
        }
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.items)
    }
}

/// A call on one line; with the values that decide on more lines, if that one does not show them all.
fn add_call(view: &ApprovalView, style: &Style<'_>, page: &mut Page) {
    let (line, is_complete) = page::render_row(view, style);
    page.add(line);
    if !is_complete {
        page.add_all(render_deciding_values(view, &style.with_folding(Folding::Whole)));
    }
}

impl PendingList {
    /// Counts what is not listed, and names the command that lists it.
    fn count_left_out(&self, calls_listed: u64, style: &Style<'_>, page: &mut Page) {
        let command = |text: &str| style.note_theme.paint_command(text);
        let calls = self.calls.saturating_sub(calls_listed);
        if calls > 0 {
            let more = pluralize(calls, "more call waits", "more calls wait");
            let limit = u64::from(self.limit).saturating_add(calls);
            let all = command(&format!("regent approvals list --limit {limit}"));
            page.add_note(format!("  {more}   {all}"));
        }
        let senders = self.senders.saturating_sub(self.items.len() as u64 - calls_listed);
        if senders > 0 {
            let more = pluralize(senders, "more sender wants in", "more senders want in");
            page.add_note(format!("  {more}   {}", command("regent approvals list --senders")));
        }
    }
}

/// One command for the calls that are alike. Only calls that are listed are in it: nobody approves what they have not seen.
fn add_groups(calls: &[&ApprovalView], style: &Style<'_>, page: &mut Page) {
    for group in group_alike(calls).iter().filter(|group| group.len() > 1) {
        let ids: Vec<&str> = group.iter().map(|view| view.short.as_str()).collect();
        let files: Vec<String> =
            group.iter().flat_map(|view| list_files(view)).map(|file| shorten(&file, 60)).collect();
        // The command has a line of its own: a file can be called like one.
        page.add_note(format!("  {} alike: {}", group.len(), files.join(", ")));
        let approve = format!("regent approvals approve {}", ids.join(" "));
        page.add_note(style.note_theme.paint_command(&approve));
    }
}
