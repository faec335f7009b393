//! `authority`: whether the rows that carry authority are this instance's, and what to do if they are not.

use std::io::{self, IsTerminal as _};

use app::instance::AuthorityReset;
use app::instance::backup::How;
use app::{App, Code, Problem};

use super::{Done, OperationError, house};
use crate::args::Authority;
use crate::show::{Screen, Tone, inline, plural};

/// What the flags ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Count, and leave it at that.
    DryRun,
    /// Show, ask, and do it.
    Ask,
    /// Do it.
    Yes,
}

impl Way {
    const fn of(dry_run: bool, yes: bool) -> Self {
        match (dry_run, yes) {
            (true, _) => Self::DryRun,
            (false, true) => Self::Yes,
            (false, false) => Self::Ask,
        }
    }
}

pub(crate) async fn authority(app: &App, screen: &Screen, command: Authority) -> Done {
    match command {
        Authority::Show => show(app, screen).await,
        Authority::Reset { dry_run, yes } => reset(app, screen, Way::of(dry_run, yes)).await,
    }
}

async fn show(app: &App, screen: &Screen) -> Done {
    let report = app.instance().verify_authority().await?;
    if screen.json {
        screen.json_line(&report)?;
    } else if report.verified {
        let what = "approvals, grants, people, policies, tools and halts are as this instance wrote them";
        screen.line(&screen.tinted(what, Tone::Good))?;
    } else {
        for fault in &report.faults {
            screen.line(&screen.tinted(&inline(fault), Tone::Attention))?;
        }
    }
    report.problem().map_or(Ok(0), |problem| Err(problem.into()))
}

async fn reset(app: &App, screen: &Screen, way: Way) -> Done {
    if way == Way::Ask {
        confirm(app, screen).await?;
    }
    let how = if way == Way::DryRun { How::Rehearse } else { How::Really };
    let reset = app.instance().reset_authority(how).await?;
    if screen.json {
        screen.json_line(&reset)?;
        return Ok(0);
    }
    for line in lines(&reset) {
        screen.line(&line)?;
    }
    if reset.done {
        screen.note(&format!("  {}", screen.note_tinted("regent resume-all", Tone::Command)));
    }
    Ok(0)
}

async fn confirm(app: &App, screen: &Screen) -> Result<(), OperationError> {
    let not = |what: &str| Problem::new(Code::NOT_CONFIRMED, what).safe("nothing was changed");
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let what = "it was not confirmed, and there is no terminal to ask at";
        return Err(not(what).remedy("regent authority reset --yes").into());
    }
    for line in lines(&app.instance().reset_authority(How::Rehearse).await?) {
        screen.note(&line);
    }
    match house::ask("Type `reset` to withdraw all of it:").await?.as_str() {
        "reset" => Ok(()),
        _ => Err(not("it was not confirmed").into()),
    }
}

fn lines(reset: &AuthorityReset) -> Vec<String> {
    let verb = if reset.done { "withdrawn" } else { "would be withdrawn" };
    let AuthorityReset { approvals, grants, addresses, people, switches, tools, tasks, done } = reset;
    let mut lines = vec![
        format!("{verb}:"),
        format!("  {}", plural(*approvals, "open or unused approval", "open or unused approvals")),
        format!("  {}", plural(*grants, "grant", "grants")),
        format!("  {}", plural(*addresses, "link of an address to a person", "links of addresses to people")),
        format!(
            "  {} of people",
            plural(*people, "relationship, trust or tag", "relationships, trusts or tags")
        ),
    ];
    if *tasks > 0 {
        let verb = if *done { "ended" } else { "would be ended" };
        lines.push(format!("  {verb}: {}", plural(*tasks, "unfinished task", "unfinished tasks")));
    }
    lines.extend(switches.iter().map(|switch| format!("  policy switch: {}", inline(switch))));
    lines.extend(tools.iter().map(|tool| format!("  tool registration or level: {}", inline(tool))));
    lines.push(match done {
        true => "everything is halted; link people and switch policies again, then lift the halt".into(),
        false => "nothing was changed".into(),
    });
    lines
}
