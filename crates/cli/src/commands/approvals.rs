//! `approvals`: what waits for a person, and their word about it.

use std::time::Duration;

use app::approvals::{Act, ApprovalView, CodeView, PendingItem, PendingList};
use app::people::PersonDetails;
use app::{App, Code, Problem};
use domain::approval::Status;
use domain::event::TERMINAL;
use domain::id::ApprovalId;
use present::approval::{
    describe_outcome, group_alike, is_title_complete, list_files, render_block, render_deciding_values,
    render_offer, write_title,
};
use present::{Folding, Style};
use serde_json::Value;

use super::{Done, OperationError, knocks};
use crate::args::{Approvals, Lasting};
use crate::show::{Screen, Tone, brief, plural, problem, span};

pub(crate) async fn approvals(app: &App, screen: &Screen, command: Approvals) -> Done {
    match command {
        Approvals::List { limit, senders } => list(app, screen, limit, senders).await,
        Approvals::Show { id, all } if is_knock(app, &id).await => knocks::show(app, screen, &id, all).await,
        Approvals::Show { id, all } => {
            let view = app.approvals().show(&id).await.map_err(|problem| unknown(&id, problem))?;
            if screen.json {
                screen.json_line(&view)?;
                return Ok(0);
            }
            let fold = if all { Folding::Whole } else { Folding::FirstLines("-v shows all") };
            page(app, screen, &view, fold)?;
            Ok(0)
        }
        Approvals::Approve { ids, lasting, valid_for, value, name, relationship, person } => {
            let mut wanting_in = Vec::new();
            for id in &ids {
                wanting_in.push(is_knock(app, id).await);
            }
            let who = PersonDetails { name, relationship, person };
            if wanting_in.iter().all(|knock| *knock)
                && value.is_none()
                && valid_for.is_none()
                && lasting == Lasting::Once
            {
                return knocks::approve(app, screen, &ids, &who).await;
            }
            if wanting_in.contains(&true) || who != PersonDetails::default() {
                let what = "whoever wants in is answered by themselves: with --name, --relationship or --person, and nothing else";
                return Err(usage(what).remedy("regent approvals list").into());
            }
            if let (Some(_), [_, _, ..]) = (&value, ids.as_slice()) {
                let what = "--value is the value of one question, and several are named";
                return Err(usage(what).remedy("regent approvals approve ID --value TEXT").into());
            }
            let act = Act::Approve { lasting: lasting.into(), typed: value, good_for: valid_for };
            each(app, screen, &ids, &act).await
        }
        Approvals::Reject { id, .. } if is_knock(app, &id).await => knocks::reject(app, screen, &id).await,
        Approvals::Reject { id, reason } => {
            each(app, screen, &[id], &Act::Reject { reason: reason.join(" ") }).await
        }
        Approvals::Modify { id, .. } | Approvals::Escalate { id } | Approvals::Code { id }
            if is_knock(app, &id).await =>
        {
            let what = "whoever wants in is let in or not: nothing else can be said about them";
            Err(usage(what).remedy(format!("regent approvals show {id}")).into())
        }
        Approvals::Modify { id, args, json_args: None, .. } if args.is_empty() => {
            let what = "nothing is to be changed: name at least one argument";
            Err(usage(what).remedy(format!("regent approvals modify {id} NAME=VALUE")).into())
        }
        Approvals::Modify { id, args, json_args, value } => {
            let view = app.approvals().show(&id).await.map_err(|problem| unknown(&id, problem))?;
            let args = match json_args {
                Some(whole) => app::tools::read_arguments(app, tool(&view)?, &[], Some(&whole)).await?,
                None => changed(app, &view, &args).await?,
            };
            each(app, screen, &[id], &Act::Modify { args, typed: value }).await
        }
        Approvals::Escalate { id } => each(app, screen, &[id], &Act::Escalate).await,
        Approvals::Code { id } => {
            let made = app.approvals().create_code(&id).await.map_err(|problem| unknown(&id, problem))?;
            code(app, screen, &made)
        }
        Approvals::Reply { text } => {
            let view = app.approvals().reply(&text.join(" ")).await?;
            told(app, screen, &view)?;
            Ok(0)
        }
    }
}

/// Anything else than somebody who wants in is said by whoever looks for it.
async fn is_knock(app: &App, id: &str) -> bool {
    let id = id.split_once('/').map_or(id, |(id, _)| id);
    // A word that can be none makes nobody open a house.
    id.starts_with("k-") && app.access_requests().contains(id).await.unwrap_or(false)
}

fn usage(what: &str) -> Problem {
    Problem::new(Code::USAGE, what).safe("nothing was decided")
}

/// Whoever names a question learns where questions stand.
fn unknown(id: &str, problem: Problem) -> Problem {
    if problem.code != Code::NO_SUCH_ID {
        return problem;
    }
    let what = format!("no question is called `{id}`");
    Problem::new(Code::NO_SUCH_ID, what).safe("nothing was decided").remedy("regent approvals list")
}

fn tool(view: &ApprovalView) -> Result<&str, Problem> {
    let erased = || Problem::new(Code::ERASED, "what was asked was erased").safe("nothing was decided");
    view.question.as_ref().map(|question| question.tool().as_str()).ok_or_else(erased)
}

/// The arguments as they were asked about, with some of them changed.
pub(super) async fn changed(app: &App, view: &ApprovalView, pairs: &[String]) -> Result<Value, Problem> {
    let given = app::tools::read_arguments(app, tool(view)?, pairs, None).await?;
    let mut args = view.question.as_ref().map(|question| question.args().clone()).unwrap_or_default();
    if let (Some(args), Value::Object(given)) = (args.as_object_mut(), given) {
        args.extend(given);
    }
    Ok(args)
}

/// One by one: what one of them comes to is no reason to leave out the next. But each has to be a question: with a word
/// among them that is none, nobody knows what was meant, and nothing is decided.
async fn each(app: &App, screen: &Screen, ids: &[String], act: &Act) -> Done {
    let mut known: Vec<ApprovalId> = Vec::new();
    for id in ids {
        let view = app.approvals().show(id).await.map_err(|problem| unknown(id, problem))?;
        if !known.contains(&view.id) {
            known.push(view.id);
        }
    }
    let mut failed = None;
    for id in &known {
        match app.approvals().resolve(&id.to_string(), act.clone(), TERMINAL).await {
            Ok(view) => told(app, screen, &view)?,
            Err(trouble) if known.len() == 1 => return Err(trouble.into()),
            Err(trouble) => {
                if screen.json {
                    screen.json_line(&serde_json::json!({ "problem": &trouble, "id": id }))?;
                }
                screen.note(&problem(screen, &trouble));
                failed.get_or_insert(trouble.code.exit());
            }
        }
    }
    Ok(failed.unwrap_or(0))
}

fn told(app: &App, screen: &Screen, view: &ApprovalView) -> Result<(), OperationError> {
    if screen.json {
        return Ok(screen.json_line(view)?);
    }
    screen.line(&format!("{} {}", view.short, describe_outcome(view, &look(app, screen, Folding::Whole))))?;
    if view.grant.is_some() {
        screen.note(&format!("  a grant was written: {}", command(screen, "regent grants list")));
    }
    match view.status {
        Status::Pending | Status::Escalated => {}
        _ if view.attended => screen.note(&format!("  {} goes on by itself", view.task_short)),
        _ => screen.note(&format!("  {}", command(screen, &format!("regent resume {}", view.task_short)))),
    }
    Ok(())
}

fn command(screen: &Screen, text: &str) -> String {
    screen.note_tinted(text, Tone::Command)
}

fn look<'a>(app: &'a App, screen: &Screen, fold: Folding) -> Style<'a> {
    screen.style(app).with_folding(fold)
}

fn page(app: &App, screen: &Screen, view: &ApprovalView, fold: Folding) -> std::io::Result<()> {
    let look = look(app, screen, fold);
    for line in render_block(view, &look) {
        screen.line(&line)?;
    }
    if !view.status.is_open() {
        return Ok(());
    }
    // Here nobody presses a key: the offer is a command.
    for line in render_offer(view, &look) {
        screen.line(&line)?;
    }
    answers(screen, view);
    if view.question.as_ref().is_some_and(|question| question.offer.is_some()) {
        screen.note(&command(screen, &format!("regent approvals approve {} --for 24h", view.short)));
    }
    Ok(())
}

/// What can be answered: each line is one command, so that whoever copies it has copied nothing else.
fn answers(screen: &Screen, view: &ApprovalView) {
    let id = &view.short;
    let value = if wants_typing(view) { " --value TEXT" } else { "" };
    screen.note(&command(screen, &format!("regent approvals approve {id}{value}")));
    screen.note(&command(screen, &format!("regent approvals reject {id} \"reason\"")));
}

fn wants_typing(view: &ApprovalView) -> bool {
    view.question.as_ref().is_some_and(|question| question.typed.is_some())
}

/// Senders that are shown of all that want in, unless all are asked for.
const SENDERS: u32 = 3;

async fn list(app: &App, screen: &Screen, limit: u32, all_senders: bool) -> Done {
    let senders = if all_senders || screen.json { limit } else { SENDERS };
    let PendingList { items, calls, senders } = app.approvals().pending(limit, senders).await?;
    if screen.json {
        for item in &items {
            screen.json_line(item)?;
        }
        return Ok(0);
    }
    if items.is_empty() && calls + senders == 0 {
        screen.note("nothing waits for you");
    }
    let mut shown: Vec<&ApprovalView> = Vec::new();
    for item in &items {
        match item {
            PendingItem::Sender(view) => screen.line(&knocks::row(app, screen, view))?,
            PendingItem::Call(view) => {
                shown.push(view);
                let (line, says_all) = row(app, screen, view);
                screen.line(&line)?;
                if !says_all {
                    for line in render_deciding_values(view, &look(app, screen, Folding::Whole)) {
                        screen.line(&line)?;
                    }
                }
            }
        }
    }
    let (calls_shown, all_shown) = (shown.len() as u64, items.len() as u64);
    let senders_left = senders.saturating_sub(all_shown - calls_shown);
    left_out(screen, limit, calls.saturating_sub(calls_shown), senders_left);
    // Every one of them has been shown; where that cannot be, a yes to all of them is not offered.
    for group in group_alike(&shown).iter().filter(|group| group.len() > 1) {
        let ids: Vec<&str> = group.iter().map(|view| view.short.as_str()).collect();
        let files: Vec<String> =
            group.iter().flat_map(|view| list_files(view)).map(|file| brief(&file, 60)).collect();
        // The command has a line of its own: a file can be called like one.
        screen.note(&format!("  {} alike: {}", group.len(), files.join(", ")));
        screen.note(&command(screen, &format!("regent approvals approve {}", ids.join(" "))));
    }
    match items.first() {
        Some(PendingItem::Sender(first)) => {
            screen.note(&command(screen, &format!("regent approvals show {}", first.short)));
        }
        Some(PendingItem::Call(first)) => {
            screen.note(&command(screen, &format!("regent approvals show {}", first.short)));
            answers(screen, first);
        }
        None => {}
    }
    Ok(0)
}

/// Counts what is not shown, and names the command that shows it.
fn left_out(screen: &Screen, limit: u32, calls: u64, senders: u64) {
    if calls > 0 {
        let more = plural(calls, "more call waits", "more calls wait");
        let all = format!("regent approvals list --limit {}", u64::from(limit).saturating_add(calls));
        screen.note(&format!("  {more}   {}", command(screen, &all)));
    }
    if senders > 0 {
        let more = plural(senders, "more sender wants in", "more senders want in");
        screen.note(&format!("  {more}   {}", command(screen, "regent approvals list --senders")));
    }
}

/// `?  3 min  a-p2ne  delete_file notes.txt     t-9dmv`, and whether it shows all that decides.
fn row(app: &App, screen: &Screen, view: &ApprovalView) -> (String, bool) {
    const LEFT: usize = 20;
    let theme = screen.theme();
    let mark = if wants_typing(view) { theme.mark_attention() } else { theme.mark_question() };
    let left = view.timeout_at.since(app.now());
    let left = if left == Duration::ZERO { "over".into() } else { span(left) };
    let right = format!("   {}", view.task_short);
    let room = screen.width.saturating_sub(LEFT + right.chars().count());
    let says_all = is_title_complete(view, room);
    let title = write_title(view, room);
    let line =
        format!("{mark} {left:>6}  {}  {title:<room$}{right}", screen.tinted(&view.short, Tone::Command));
    (line, says_all)
}

fn code(app: &App, screen: &Screen, code: &CodeView) -> Done {
    if screen.json {
        screen.json_line(code)?;
        return Ok(0);
    }
    let CodeView { number, code, until, .. } = code;
    screen
        .line(&format!("number {number}, code {code}, good once, until {}", until.date_time(app.zone())))?;
    screen.note(&format!(
        "reply `yes {number} {code}`, or `no {number} {code} because ...`; it is shown only now"
    ));
    Ok(0)
}
