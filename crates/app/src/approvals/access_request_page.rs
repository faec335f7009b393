//! An access request as a page: in a list, alone, and answered.

use domain::approval::Status;
use ledger::records::KnockKind;
use present::{Page, Style, format_span, inline, pluralize, shorten};

use crate::people::{AccessRequestView, STRANGER_BECOMES, WaitingMessage};

/// `? 6 days  k-7q2m  demo:lea wants in   2 messages`.
pub(super) fn render_row(view: &AccessRequestView, style: &Style<'_>) -> String {
    let left = format_span(view.timeout_at.since(style.now));
    let (mark, short) = (style.theme.mark_question(), style.theme.paint_command(&view.short));
    let messages = pluralize(view.messages.len(), "message", "messages");
    format!("{mark} {left:>6}  {short}  {} wants in   {messages}", describe_sender(view))
}

/// Everything about one access request, and how to answer it.
pub(super) fn render_details(view: &AccessRequestView, all: bool, style: &Style<'_>) -> Page {
    let mut page = Page::new();
    let why = match view.kind {
        KnockKind::Pairing => "nobody knows whose address this is",
        KnockKind::Ask => "a policy wants you asked first",
    };
    page.add(format!("{} {} wants in: {why}", style.theme.mark_question(), describe_sender(view)));
    for message in &view.messages {
        add_message(message, all, style, &mut page);
    }
    if view.status.is_open() {
        add_answer_commands(view, style, &mut page);
    } else {
        page.add(format!("  {}", describe_outcome(view, style)));
    }
    page
}

fn add_message(message: &WaitingMessage, all: bool, style: &Style<'_>, page: &mut Page) {
    /// How much of a message is shown, unless all of it is wanted.
    const SHOWN: usize = 500;
    let text = match message.text.as_deref().map(flatten) {
        None => "(erased)".into(),
        Some(text) if all => text,
        Some(text) => shorten(&text, SHOWN),
    };
    let at = message.at.date_time(style.zone);
    let place = if message.group { ", in a group" } else { "" };
    page.add(format!("  {}  {at}{place}  {}", message.short, message.effect));
    page.add(format!("    they say: {text}"));
    page.add_all(message.why.iter().map(|why| format!("    because {}", inline(why))));
}

fn add_answer_commands(view: &AccessRequestView, style: &Style<'_>, page: &mut Page) {
    let command = |text: String| style.note_theme.paint_command(&text);
    let id = match view.messages.len() {
        0 | 1 => view.short.clone(),
        count => format!("{}/{count}", view.short),
    };
    if view.kind == KnockKind::Pairing && view.person.is_none() {
        page.add_note(format!("a plain yes makes them a {STRANGER_BECOMES}; say more with:"));
        page.add_note(command(format!("regent approvals approve {id} --name NAME --relationship partner")));
    }
    page.add_note(command(format!("regent approvals approve {id}")));
    page.add_note(command(format!("regent approvals reject {}", view.short)));
}

/// What became of an access request that was answered just now.
pub(super) fn render_answer(view: &AccessRequestView, style: &Style<'_>) -> Page {
    let mut page = Page::new();
    page.add(format!("{} {}", view.short, describe_outcome(view, style)));
    if view.status != Status::Approved {
        return page;
    }
    // A yes does not let a message in by itself: the policies decide again, and the page shows what they still deny.
    if view.messages.iter().all(|message| message.effect != "allow") {
        let list = style.note_theme.paint_command("regent acl list");
        page.add_note(format!("no policy lets them in: {list}"));
    }
    for message in &view.messages {
        let why = message.why.iter().map(|why| inline(why)).collect::<Vec<_>>().join("; ");
        page.add_note(format!("  {}: {} ({why})", message.short, message.effect));
    }
    page
}

fn describe_outcome(view: &AccessRequestView, style: &Style<'_>) -> String {
    let when = view.resolved_at.map_or_else(String::new, |at| format!(", {}", at.date_time(style.zone)));
    let let_in = view.messages.iter().filter(|message| message.effect == "allow").count();
    let count = pluralize(view.messages.len(), "message", "messages");
    let sender = describe_sender(view);
    match view.status {
        Status::Approved if view.kind == KnockKind::Pairing => {
            format!("{sender} is known now; {let_in} of {count} let in{when}")
        }
        Status::Approved => format!("{let_in} of {count} of {sender} let in{when}"),
        Status::Rejected => format!("{sender} stays outside; they are told nothing{when}"),
        Status::Expired => format!("nobody answered{when}; that is neither yes nor no"),
        Status::Pending | Status::Escalated | Status::Modified => "waits for you".into(),
    }
}

/// The name that the owner gave the sender, if there is one, and the address.
fn describe_sender(view: &AccessRequestView) -> String {
    let address = view.sender.as_deref().map_or_else(|| "somebody who was erased".into(), flatten);
    match &view.person {
        Some(name) => format!("{} ({address})", inline(name)),
        None => address,
    }
}

/// A text of the sender on one line, without runs of blanks: they could move a part of it to where a line of ours begins.
fn flatten(text: &str) -> String {
    inline(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
