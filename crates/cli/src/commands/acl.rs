//! `acl`: the access policies: what is in force, what is applied and taken back, files checked, cases asked. Checking files
//! and asking need no house, and make none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use app::policies::{AclChange, AclCheck, AclLine, AclReport, Apply, Replayed};
use app::{App, Code, PolicyMistake, PolicyStatus, Problem};
use policy::acl::{Effect, Loaded, filter, load, written};

use super::policies::{read, text};
use super::{Done, lines};
use crate::args::Acl;
use crate::show::{Screen, Tone, inline, plural};

pub(crate) async fn acl(app: &App, screen: &Screen, command: Acl) -> Done {
    match command {
        Acl::List => list(app, screen).await,
        Acl::Show { name } => show(app, screen, &name).await,
        Acl::Apply { file, dry_run } => {
            let change = app.policies().apply(&called(&file)?, &text(&file)?, how(dry_run)).await?;
            changed(app, screen, &change).await
        }
        Acl::Remove { file, dry_run } => {
            changed(app, screen, &app.policies().remove(&file, how(dry_run)).await?).await
        }
        Acl::Enable { name } => switched(app, screen, &name, true).await,
        Acl::Disable { name } => switched(app, screen, &name, false).await,
        Acl::Validate { files } if files.is_empty() => {
            let AclCheck { policies, files, notes } = app.policies().check()?;
            valid(screen, policies, files, &notes)
        }
        Acl::Validate { files } => {
            let Loaded { set, notes, .. } = read(&files, load)?;
            let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
            valid(screen, set.iter().count(), files.len(), &notes)
        }
        Acl::Test { policies, events: true, since, all } => {
            replay(app, screen, &policies, since.0, all).await
        }
        Acl::Test { policies, .. } => {
            let set = if policies.is_empty() {
                app.policies().in_force().await?
            } else {
                read(&policies, load)?.set
            };
            if policies.is_empty() {
                warn(app, screen).await;
            }
            let answer = async |line: String| {
                let case = domain::json::from_str(&line).map_err(|error| error.to_string());
                Ok(case.and_then(|case| filter::answer(&set, &case).map_err(|bad| bad.to_string())))
            };
            lines::answer_each(screen, "all other lines were answered, and nothing was written", answer).await
        }
    }
}

/// What the policies would have done to what came in.
async fn replay(app: &App, screen: &Screen, files: &[PathBuf], back: Option<Duration>, all: bool) -> Done {
    let mut given = Vec::new();
    for file in files {
        given.push((called(file)?, text(file)?));
    }
    let replay = app.policies().replay(&given, back).await?;
    let shown = |one: &&Replayed| all || !one.differs.is_empty();
    for one in replay.events.iter().filter(shown) {
        if screen.json {
            screen.json_line(one)?;
            continue;
        }
        let at = one.at.date_time(app.zone());
        let (then, now) = (one.then.name(), one.now.name());
        let effect = if then == now { format!("{now:<13}") } else { format!("{then:<5} > {now:<5}") };
        let differs = if one.differs.is_empty() { "nothing differs".into() } else { one.differs.join(", ") };
        let short = screen.tinted(&one.short, Tone::Command);
        screen.line(&format!("{short}  {at}  {:<10} {effect}  {differs}", inline(&one.platform)))?;
        for why in one.why.iter().filter(|_| !one.differs.is_empty()) {
            screen.line(&format!("    because {}", inline(why)))?;
        }
    }
    if screen.json {
        return Ok(0);
    }
    let differing = replay.events.iter().filter(|one| !one.differs.is_empty()).count();
    let looked_at = plural(replay.events.len(), "event", "events");
    screen.note(&format!("{differing} of {looked_at} would be decided differently; nothing was written"));
    if replay.unknown > 0 {
        screen.note(&format!("{} more: what they were decided from is not kept", replay.unknown));
    }
    if replay.undecided > 0 {
        let tick = screen.note_tinted("regent tick", Tone::Command);
        screen.note(&format!("{} more are not decided about yet: {tick}", replay.undecided));
    }
    Ok(0)
}

/// Nobody locks themselves out unseen.
async fn locked_out(app: &App, screen: &Screen) -> Result<(), Problem> {
    if !app.policies().lets_owner_in().await? {
        let what = "! you are not let in by these policies yourself: `regent run` will say R3001";
        screen.note(&format!("{what}; {}", screen.note_tinted("regent acl list", Tone::Command)));
    }
    Ok(())
}

/// One line beside the result while the files of the house are no good.
pub(crate) async fn warn(app: &App, screen: &Screen) {
    if let Some(warning) = app.policies().warning().await {
        let command = screen.note_tinted("regent acl validate", Tone::Command);
        screen.note(&format!("! {}: {command}", inline(&warning)));
    }
}

const fn how(dry_run: bool) -> Apply {
    if dry_run { Apply::Try } else { Apply::Really }
}

async fn list(app: &App, screen: &Screen) -> Done {
    let report = app.policies().list().await?;
    if screen.json {
        screen.json_line(&report)?;
        return Ok(0);
    }
    for line in &report.policies {
        screen.line(&row(screen, line))?;
    }
    mistaken(screen, &report.mistakes);
    screen.note(&inline(&standing(app, &report)));
    if !report.deleted.is_empty() {
        let deleted = inline(&report.deleted.join(", "));
        screen.note(&format!("! not in force, because the file was deleted: {deleted}"));
    }
    Ok(0)
}

fn standing(app: &App, report: &AclReport) -> String {
    let since = report.since.map_or_else(|| "now".to_owned(), |since| since.date_time(app.zone()));
    match report.standing {
        PolicyStatus::Current => format!("in force since {since}"),
        PolicyStatus::LastGood => {
            format!("! the files have mistakes: these are the last good policies, in force since {since}")
        }
        PolicyStatus::ShippedOnly => {
            "! the files have mistakes: only the policies that ship are in force".to_owned()
        }
        PolicyStatus::Closed => {
            "! the files have mistakes, and the last good policies are damaged: nobody is let in".to_owned()
        }
    }
}

fn mistaken(screen: &Screen, mistakes: &[PolicyMistake]) {
    for mistake in mistakes {
        screen.note(&format!("! {}", inline(&mistake.what)));
    }
}

fn row(screen: &Screen, line: &AclLine) -> String {
    let state =
        if line.enabled { screen.tinted("on ", Tone::Good) } else { screen.tinted("off", Tone::Attention) };
    let effect = line.effect.map_or("-", Effect::name);
    let kind = if line.ceiling { "ceiling" } else { "" };
    let file = line.file.as_deref().unwrap_or("a file that is not there any more");
    format!("{state}  {:>3}  {effect:<5}  {kind:<7}  {:<24} {}", line.priority, line.name, inline(file))
}

async fn show(app: &App, screen: &Screen, name: &str) -> Done {
    let view = app.policies().show(name).await?;
    if screen.json {
        screen.json_line(&view)?;
        return Ok(0);
    }
    for line in written(&view.policy).lines() {
        screen.line(&inline(line))?;
    }
    Ok(0)
}

async fn switched(app: &App, screen: &Screen, name: &str, enabled: bool) -> Done {
    let line = app.policies().switch(name, enabled).await?;
    if screen.json {
        screen.json_line(&line)?;
    } else {
        screen.line(&row(screen, &line))?;
    }
    locked_out(app, screen).await?;
    warn(app, screen).await;
    Ok(0)
}

/// What changes, one line each.
async fn changed(app: &App, screen: &Screen, change: &AclChange) -> Done {
    if screen.json {
        screen.json_line(change)?;
        return Ok(0);
    }
    let parts = [
        ("+", &change.added, Tone::Good),
        ("~", &change.changed, Tone::Attention),
        ("-", &change.removed, Tone::Bad),
    ];
    for (mark, names, tone) in parts {
        for name in names {
            let off = if change.off.contains(name) { "   switched off" } else { "" };
            screen.line(&format!("{} {name}{off}", screen.tinted(mark, tone)))?;
        }
    }
    for note in &change.notes {
        screen.note(&format!("note: {}", inline(note)));
    }
    if change.done {
        locked_out(app, screen).await?;
        warn(app, screen).await;
    } else {
        mistaken(screen, &change.mistakes);
    }
    screen.note(match (change.done, change.is_none()) {
        (_, true) if !change.mistakes.is_empty() => {
            "what is in force stays as it is, as long as there are mistakes"
        }
        (true, false) if !change.mistakes.is_empty() => {
            "in force from now on; the rest stays as it is, as long as there are mistakes"
        }
        (true, false) => "in force from now on",
        (true, true) => "what is in force stays as it is",
        (false, false) => "this is what would change; nothing was written",
        (false, true) => "nothing would change, and nothing was written",
    });
    Ok(0)
}

fn valid(screen: &Screen, count: usize, files: usize, notes: &[String]) -> Done {
    if screen.json {
        screen.json_line(&serde_json::json!({ "policies": count, "notes": notes }))?;
        return Ok(0);
    }
    for note in notes {
        screen.note(&format!("note: {}", inline(note)));
    }
    let (policies, files) = (plural(count, "policy", "policies"), plural(files, "file", "files"));
    screen.line(&format!("{policies} in {files}: nothing is wrong"))?;
    Ok(0)
}

/// What a file is called without the folders above it.
fn called(file: &Path) -> Result<String, Problem> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    name.ok_or_else(|| {
        Problem::new(Code::INPUT, format!("`{}` is no file", file.display())).safe("nothing was done")
    })
}
