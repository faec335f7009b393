//! `audit`: verify, export, anchor, list.

use app::record::{AuditReport, Check};
use app::{App, Code, Problem};
use ledger::BodyReport;
use ledger::chain::{Anchor, Pinned, Word};

use super::Done;
use crate::args::Audit;
use crate::show::{Screen, Tone, inline, plural};

pub(crate) async fn audit(app: &App, screen: &Screen, command: Audit) -> Done {
    match command {
        Audit::Verify { root, complete, bodies, export } => {
            let pinned = root.map(|root| pinned(&root)).transpose()?;
            let report = match &export {
                Some(file) => app.record().verify_export(
                    host::read_lines(file).map_err(|error| unreadable(file, &error))?,
                    pinned.as_ref(),
                )?,
                None => app.record().verify(&Check { pinned, complete, bodies }).await?,
            };
            let problem = report.problem();
            if screen.json {
                screen.json_line(&report)?;
                return Ok(problem.map_or(0, |problem| problem.code.exit()));
            }
            for fault in report.faults.iter().chain(report.gaps.iter().flatten()) {
                screen.line(&inline(fault))?;
            }
            for body in report.bodies.iter().flat_map(|bodies| &bodies.changed) {
                screen.line(&format!("the body {} is not what its digest says", inline(body)))?;
            }
            if let Some(problem) = problem {
                if let Some(bodies) = &report.bodies {
                    screen.line(&counted(bodies))?;
                }
                return Err(problem.into());
            }
            screen.line(&verdict(screen, &report, export.is_some()))?;
        }
        Audit::Export { as_is } => {
            let written = |line: &str| screen.line(line);
            let lines = app.record().export(as_is, written).await?;
            screen.flush()?;
            screen.note(&format!(
                "{}, to be checked with docs/verify/verify.py",
                plural(lines, "line", "lines")
            ));
        }
        Audit::Anchor { to } => {
            let anchored = app.record().anchor(&to).await?;
            if screen.json {
                screen.json_line(&anchored)?;
                return Ok(0);
            }
            let checkpoints = plural(anchored.checkpoints, "checkpoint", "checkpoints");
            screen.line(&format!(
                "{checkpoints} up to entry {} in {}",
                anchored.entries,
                inline(&anchored.to)
            ))?;
        }
        Audit::List { limit } => {
            for line in app.record().list_audit(limit).await? {
                if screen.json {
                    screen.json_line(&line)?;
                    continue;
                }
                let when = line.at.date_time(app.zone());
                screen.line(&format!(
                    "{:>6} {:<18} {:<14} {:<28} {when}",
                    line.seq,
                    inline(&line.kind),
                    inline(&line.actor),
                    inline(&line.subject)
                ))?;
            }
        }
    }
    Ok(0)
}

/// What can be said, and how far it reaches.
fn verdict(screen: &Screen, report: &AuditReport, is_export: bool) -> String {
    let word = screen.tinted(&report.verdict.to_string(), Tone::Good);
    let entries = plural(report.entries, "entry", "entries");
    let signed = match report.signed {
        0 => "none of them signed yet".to_owned(),
        signed if signed == report.entries => {
            format!("all signed by {}", plural(report.checkpoints, "checkpoint", "checkpoints"))
        }
        signed => {
            format!("{signed} of them signed by {}", plural(report.checkpoints, "checkpoint", "checkpoints"))
        }
    };
    let tip = if is_export { "" } else { ", the tip is sealed" };
    let pinned = if report.verdict == Word::Intact { ", and it is the chain that you pinned" } else { "" };
    let complete =
        if report.gaps.is_some() { "; every effect has its entry, and every entry its effect" } else { "" };
    let bodies = report.bodies.as_ref().map(compared).unwrap_or_default();
    format!("{word}: {entries}, each follows from the one before, {signed}{tip}{pinned}{complete}{bodies}")
}

/// Beside a problem, whichever it is.
fn counted(bodies: &BodyReport) -> String {
    let compared = plural(bodies.compared, "body", "bodies");
    let changed = bodies.changed.len() as u64 + bodies.more;
    format!("{compared} compared: {changed} changed; {} erased", bodies.erased)
}

fn compared(bodies: &BodyReport) -> String {
    let compared = match bodies.compared {
        1 => "1 body is what its digest says".to_owned(),
        compared => format!("{compared} bodies are what their digests say"),
    };
    match bodies.erased {
        0 => format!("; {compared}"),
        erased => format!("; {compared}, {erased} cannot be compared because their salt is erased"),
    }
}

/// A key as it was shown, or a file with checkpoints.
fn pinned(root: &str) -> Result<Pinned, Problem> {
    if let Ok(key) = root.parse() {
        return Ok(Pinned::Root(key));
    }
    let neither = |why: String| {
        let what = format!(
            "`{root}` is neither a root key (64 hexadecimal digits) nor a file of checkpoints: {why}"
        );
        Problem::new(Code::PIN, what).remedy("regent explain R2015")
    };
    let text =
        host::read_named_text(std::path::Path::new(root)).map_err(|error| neither(error.to_string()))?;
    let text = text.ok_or_else(|| neither("it is not there".into()))?;
    Anchor::parse(&text).map(Pinned::Anchor).map_err(|error| neither(error.to_string()))
}

fn unreadable(file: &std::path::Path, error: &std::io::Error) -> Problem {
    Problem::new(Code::EXPORT, format!("cannot read {}: {error}", file.display()))
}
