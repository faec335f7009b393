//! `grants`: what may be done without asking, by whom, and what came of it.

use std::collections::BTreeMap;

use app::approvals::{GrantLine, GrantState, GrantView, NewGrant};
use app::{App, Code, Problem};
use present::approval::describe_scope;

use super::Done;
use crate::args::Grants;
use crate::show::{Screen, Tone, inline, plural};

pub(crate) async fn grants(app: &App, screen: &Screen, command: Grants) -> Done {
    match command {
        Grants::List => list(app, screen).await,
        Grants::Add { tool, pins, lasting, principal, agent, session, reason } => {
            let new = NewGrant {
                pins: pinned(&tool, &pins)?,
                tool,
                principal,
                agent,
                session,
                lasting: lasting.0,
                reason: reason.unwrap_or_default(),
            };
            shown(app, screen, &app.grants().add(new).await?)
        }
        Grants::Revoke { id } => {
            let revoked = app.grants().revoke(&id).await.map_err(|problem| unknown(&id, problem))?;
            shown(app, screen, &revoked)
        }
        Grants::Audit { id } => {
            let log = app.grants().log(id.as_deref()).await;
            let log = log.map_err(|problem| unknown(id.as_deref().unwrap_or_default(), problem))?;
            for line in log {
                if screen.json {
                    screen.json_line(&line)?
                } else {
                    screen.line(&happened(app, &line).await?)?
                }
            }
            Ok(0)
        }
    }
}

/// Whoever names a grant learns where grants stand.
fn unknown(id: &str, problem: Problem) -> Problem {
    if problem.code != Code::NO_SUCH_ID {
        return problem;
    }
    Problem::new(Code::NO_SUCH_ID, format!("no grant is called `{id}`")).remedy("regent grants list")
}

async fn list(app: &App, screen: &Screen) -> Done {
    let grants = app.grants().list().await?;
    if grants.is_empty() && !screen.json {
        screen.note("nothing is granted: whatever needs you asks you");
    }
    for grant in &grants {
        if screen.json { screen.json_line(grant)? } else { screen.line(&row(app, screen, grant))? }
    }
    for grant in grants.iter().filter(|grant| grant.look_again && !screen.json) {
        let revoke = screen.note_tinted(&format!("regent grants revoke {}", grant.short), Tone::Command);
        screen.note(&format!("! {} has no end and is old; is it still meant? if not: {revoke}", grant.short));
    }
    Ok(0)
}

fn shown(app: &App, screen: &Screen, grant: &GrantView) -> Done {
    if screen.json {
        screen.json_line(grant)?
    } else {
        screen.line(&row(app, screen, grant))?
    }
    Ok(0)
}

fn row(app: &App, screen: &Screen, grant: &GrantView) -> String {
    let (word, tone) = match grant.state {
        GrantState::Live => ("live", Tone::Good),
        GrantState::Expired => ("expired", Tone::Faint),
        GrantState::Revoked => ("revoked", Tone::Faint),
    };
    let what = match &grant.terms {
        Some(terms) => {
            let session = terms
                .session
                .as_deref()
                .map_or_else(String::new, |session| format!(", session {}", inline(session)));
            let reason =
                if terms.reason.is_empty() { String::new() } else { format!(": {}", inline(&terms.reason)) };
            let whom = if terms.principal == "owner" {
                String::new()
            } else {
                format!(", for {}", inline(&terms.principal))
            };
            format!("{}{whom}, agent {}{session}{reason}", describe_scope(terms), inline(&terms.agent))
        }
        None => "(erased)".into(),
    };
    let end = match (grant.revoked_at, grant.expires_at) {
        (Some(at), _) => format!("revoked {}", at.date_time(app.zone())),
        (None, Some(at)) => format!("until {}", at.date_time(app.zone())),
        (None, None) => "until it is revoked".into(),
    };
    let used = plural(grant.used, "time", "times");
    let id = screen.tinted(&format!("{:<8}", grant.short), Tone::Command);
    format!("{id} {} {what}; {end}, used {used}", screen.tinted(&format!("{word:<8}"), tone))
}

async fn happened(app: &App, line: &GrantLine) -> Result<String, Problem> {
    let call = match line.call {
        Some(call) => format!("  {}", app.short(call).await?),
        None => String::new(),
    };
    Ok(format!("{:<8} {:<8} {}{call}", line.short, line.event.name(), line.at.date_time(app.zone())))
}

/// `path=reports/*`, each name once.
fn pinned(tool: &str, given: &[String]) -> Result<BTreeMap<String, String>, Problem> {
    let bad = |what: String| {
        Problem::new(Code::BAD_ARGUMENTS, what)
            .safe("nothing was granted")
            .remedy(format!("regent tools show {tool}"))
    };
    let mut pins = BTreeMap::new();
    for pair in given {
        let (name, pattern) =
            pair.split_once('=').ok_or_else(|| bad(format!("`{pair}` is not of the form name=pattern")))?;
        if pins.insert(name.to_owned(), pattern.to_owned()).is_some() {
            return Err(bad(format!("`{name}` is given twice")));
        }
    }
    Ok(pins)
}
