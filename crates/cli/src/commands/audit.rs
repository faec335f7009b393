//! `audit`.

use runtime::{App, Code, Problem};

use super::Done;
use crate::args::Audit;
use crate::show::{Screen, Tone, escaped, plural};

pub(crate) async fn audit(app: &App, screen: &Screen, command: Audit) -> Done {
    match command {
        Audit::Verify => {
            let report = app.audit_verify().await?;
            if screen.json {
                screen.json_line(&report)?;
                return Ok(if report.consistent { 0 } else { Code::AUDIT_BROKEN.exit() });
            }
            let fault = report
                .streams
                .iter()
                .find_map(|stream| stream.fault.as_ref().map(|fault| (stream.stream, fault)));
            if let Some((stream, fault)) = fault {
                let what = format!("the audit is broken: {fault} (stream {stream})");
                return Err(Problem::new(Code::AUDIT_BROKEN, what).into());
            }
            let mark = screen.tinted("consistent", Tone::Good);
            screen.line(&format!(
                "{mark}: {}, each follows from the one before, the tip is sealed",
                plural(report.entries, "entry", "entries")
            ))?;
        }
        Audit::List { limit } => {
            for line in app.audit_list(limit).await? {
                if screen.json {
                    screen.json_line(&line)?;
                    continue;
                }
                let when = line.at.date_time(app.zone());
                screen.line(&format!(
                    "{:>6} {:<18} {:<14} {:<28} {when}",
                    line.seq,
                    escaped(&line.kind),
                    escaped(&line.actor),
                    escaped(&line.subject)
                ))?;
            }
        }
    }
    Ok(0)
}
