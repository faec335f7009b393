//! An approval request for a call as a page: in a list, alone, and answered.

use std::time::Duration;

use domain::approval::Status;
use present::approval::{describe_outcome, is_title_complete, render_block, render_offer, write_title};
use present::{Folding, Page, Style, format_span};

use super::ApprovalView;

/// `?  3 min  a-p2ne  delete_file notes.txt     t-9dmv`, and whether the line shows all that decides.
pub(super) fn render_row(view: &ApprovalView, style: &Style<'_>) -> (String, bool) {
    const LEFT: usize = 20;
    let theme = style.theme;
    let mark = if needs_typed_value(view) { theme.mark_attention() } else { theme.mark_question() };
    let left = view.timeout_at.since(style.now);
    let left = if left == Duration::ZERO { "over".into() } else { format_span(left) };
    let right = format!("   {}", view.task_short);
    let room = style.width.saturating_sub(LEFT + right.chars().count());
    let title = write_title(view, room);
    let id = theme.paint_command(&view.short);
    (format!("{mark} {left:>6}  {id}  {title:<room$}{right}"), is_title_complete(view, room))
}

/// Everything about one approval request, and how to answer it.
pub(super) fn render_details(view: &ApprovalView, all: bool, style: &Style<'_>) -> Page {
    let folding = if all { Folding::Whole } else { Folding::FirstLines("-v shows all") };
    let style = &style.with_folding(folding);
    let mut page = Page::new();
    page.add_all(render_block(view, style));
    if !view.status.is_open() {
        return page;
    }
    // Nobody presses a key here, so the offer is a command.
    page.add_all(render_offer(view, style));
    add_answer_commands(view, style, &mut page);
    if view.question.as_ref().is_some_and(|question| question.offer.is_some()) {
        let grant = format!("regent approvals approve {} --for 24h", view.short);
        page.add_note(style.note_theme.paint_command(&grant));
    }
    page
}

/// The answers that are possible. Each line is one command, so that a copied line is nothing else.
pub(super) fn add_answer_commands(view: &ApprovalView, style: &Style<'_>, page: &mut Page) {
    let id = &view.short;
    let value = if needs_typed_value(view) { " --value TEXT" } else { "" };
    let command = |text: String| style.note_theme.paint_command(&text);
    page.add_note(command(format!("regent approvals approve {id}{value}")));
    page.add_note(command(format!("regent approvals reject {id} \"reason\"")));
}

/// What became of an approval request that was answered just now.
pub(super) fn render_answer(view: &ApprovalView, style: &Style<'_>) -> Page {
    let command = |text: &str| style.note_theme.paint_command(text);
    let mut page = Page::new();
    let outcome = describe_outcome(view, &style.with_folding(Folding::Whole));
    page.add(format!("{} {outcome}", view.short));
    if view.grant.is_some() {
        page.add_note(format!("  a grant was written: {}", command("regent grants list")));
    }
    match view.status {
        Status::Pending | Status::Escalated => {}
        _ if view.attended => page.add_note(format!("  {} goes on by itself", view.task_short)),
        _ => page.add_note(format!("  {}", command(&format!("regent resume {}", view.task_short)))),
    }
    page
}

fn needs_typed_value(view: &ApprovalView) -> bool {
    view.question.as_ref().is_some_and(|question| question.typed.is_some())
}
