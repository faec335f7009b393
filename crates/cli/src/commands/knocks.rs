//! Somebody who wants in, among the questions of `approvals`: shown, let in, or not.

use app::people::{AccessRequestAnswer, AccessRequestView, PersonDetails, STRANGER_BECOMES};
use app::{App, Code, Problem};
use domain::approval::Status;
use domain::event::TERMINAL;
use ledger::records::KnockKind;

use super::{Done, OperationError};
use crate::show::{Screen, Tone, brief, inline, plural, span};

/// `? 6 days  k-7q2m  demo:lea wants in   2 messages`.
pub(super) fn row(app: &App, screen: &Screen, view: &AccessRequestView) -> String {
    let left = span(view.timeout_at.since(app.now()));
    let (mark, short) = (screen.theme().mark_question(), screen.tinted(&view.short, Tone::Command));
    let messages = plural(view.messages.len(), "message", "messages");
    format!("{mark} {left:>6}  {short}  {} wants in   {messages}", who(view))
}

/// How much of a message is shown, unless all of it is wanted.
const SHOWN: usize = 500;

pub(super) async fn show(app: &App, screen: &Screen, id: &str, all: bool) -> Done {
    let view = app.access_requests().show(id).await?;
    if screen.json {
        screen.json_line(&view)?;
        return Ok(0);
    }
    let asked = match view.kind {
        KnockKind::Pairing => "nobody knows whose address this is",
        KnockKind::Ask => "a policy wants you asked first",
    };
    screen.line(&format!("{} {} wants in: {asked}", screen.theme().mark_question(), who(&view)))?;
    for message in &view.messages {
        let at = message.at.date_time(app.zone());
        let text = message.text.as_deref().map_or_else(
            || "(erased)".into(),
            |text| {
                let text = calm(text);
                if all { text } else { brief(&text, SHOWN) }
            },
        );
        let place = if message.group { ", in a group" } else { "" };
        screen.line(&format!("  {}  {at}{place}  {}", message.short, message.effect))?;
        screen.line(&format!("    they say: {text}"))?;
        for why in &message.why {
            screen.line(&format!("    because {}", inline(why)))?;
        }
    }
    if !view.status.is_open() {
        screen.line(&format!("  {}", outcome(app, &view)))?;
        return Ok(0);
    }
    let id = match view.messages.len() {
        0 | 1 => view.short.clone(),
        count => format!("{}/{count}", view.short),
    };
    if view.kind == KnockKind::Pairing && view.person.is_none() {
        screen.note(&format!("a plain yes makes them a {STRANGER_BECOMES}; say more with:"));
        let more = format!("regent approvals approve {id} --name NAME --relationship partner");
        screen.note(&command(screen, &more));
    }
    screen.note(&command(screen, &format!("regent approvals approve {id}")));
    screen.note(&command(screen, &format!("regent approvals reject {}", view.short)));
    Ok(0)
}

pub(super) async fn approve(app: &App, screen: &Screen, ids: &[String], who: &PersonDetails) -> Done {
    let alone = ids.len() == 1;
    if !alone && *who != PersonDetails::default() {
        let what = "--name, --relationship and --person say who one sender is, and several are named";
        return Err(Problem::new(Code::USAGE, what).safe("nothing was decided").into());
    }
    for id in ids {
        let seen = as_seen(app, id).await?;
        let view =
            app.access_requests().answer(&seen, AccessRequestAnswer::Yes(who.clone()), TERMINAL).await?;
        told(app, screen, &view)?;
    }
    Ok(0)
}

/// The question with how many messages were seen: where there is more than one, it has to be said.
async fn as_seen(app: &App, id: &str) -> Result<String, Problem> {
    if id.contains('/') {
        return Ok(id.to_owned());
    }
    let AccessRequestView { short, messages, status, .. } = app.access_requests().show(id).await?;
    match messages.len() {
        count if count > 1 && status.is_open() => {
            let what = format!("{count} messages wait behind {short}: a yes says how many you have seen");
            Err(Problem::new(Code::BAD_ANSWER, what)
                .safe("it is still open")
                .remedy(format!("regent approvals show {short}"))
                .remedy(format!("regent approvals approve {short}/{count}")))
        }
        count => Ok(format!("{short}/{count}")),
    }
}

pub(super) async fn reject(app: &App, screen: &Screen, id: &str) -> Done {
    let view = app.access_requests().answer(id, AccessRequestAnswer::No, TERMINAL).await?;
    told(app, screen, &view)?;
    Ok(0)
}

fn told(app: &App, screen: &Screen, view: &AccessRequestView) -> Result<(), OperationError> {
    if screen.json {
        return Ok(screen.json_line(view)?);
    }
    screen.line(&format!("{} {}", view.short, outcome(app, view)))?;
    if view.status == Status::Approved && view.messages.iter().all(|message| message.effect != "allow") {
        screen.note(&format!("no policy lets them in: {}", command(screen, "regent acl list")));
    }
    // A yes is no more than a yes: the policies of now decide, and what they still deny is said.
    for message in view.messages.iter().filter(|_| view.status == Status::Approved) {
        let why = message.why.iter().map(|why| inline(why)).collect::<Vec<_>>().join("; ");
        screen.note(&format!("  {}: {} ({why})", message.short, message.effect));
    }
    Ok(())
}

fn outcome(app: &App, view: &AccessRequestView) -> String {
    let when = view.resolved_at.map_or_else(String::new, |at| format!(", {}", at.date_time(app.zone())));
    let let_in = view.messages.iter().filter(|message| message.effect == "allow").count();
    let count = plural(view.messages.len(), "message", "messages");
    match view.status {
        Status::Approved if view.kind == KnockKind::Pairing => {
            format!("{} is known now; {let_in} of {count} let in{when}", who(view))
        }
        Status::Approved => format!("{let_in} of {count} of {} let in{when}", who(view)),
        Status::Rejected => format!("{} stays outside; they are told nothing{when}", who(view)),
        Status::Expired => format!("nobody answered{when}; that is neither yes nor no"),
        Status::Pending | Status::Escalated | Status::Modified => "waits for you".into(),
    }
}

/// Who they are, as far as it is known: a name that you gave, and the address.
fn who(view: &AccessRequestView) -> String {
    let address = view.sender.as_deref().map_or_else(|| "somebody who was erased".into(), calm);
    match &view.person {
        Some(name) => format!("{} ({address})", inline(name)),
        None => address,
    }
}

/// A text of theirs on one line, in which blanks cannot push anything to where a line of ours would begin.
fn calm(text: &str) -> String {
    inline(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn command(screen: &Screen, text: &str) -> String {
    screen.note_tinted(text, Tone::Command)
}
