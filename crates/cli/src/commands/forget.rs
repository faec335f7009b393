//! `forget`.

use std::io::{self, IsTerminal as _};

use app::people::{Forget, Forgotten};
use app::{App, Code, Problem};

use super::{Done, house};
use crate::show::{Screen, Tone, inline, plural};

/// What the flags ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Count, and leave it at that.
    DryRun,
    /// Show, ask, and do it.
    Ask,
    /// Do it.
    Yes,
}

impl Way {
    pub(crate) const fn of(dry_run: bool, yes: bool) -> Self {
        match (dry_run, yes) {
            (true, _) => Self::DryRun,
            (false, true) => Self::Yes,
            (false, false) => Self::Ask,
        }
    }
}

pub(crate) async fn forget(app: &App, screen: &Screen, person: &str, way: Way) -> Done {
    if way == Way::Ask {
        confirm(app, screen, person).await?;
    }
    let how = if way == Way::DryRun { Forget::DryRun } else { Forget::ForGood };
    let forgotten = app.people().forget(person, how).await?;
    if screen.json {
        screen.json_line(&forgotten)?
    } else {
        show(app, screen, &forgotten)?
    }
    match forgotten.cleaned {
        Some(false) => {
            let what = "the words are erased; the database's file is cleaned by the next `regent tick`";
            Err(Problem::new(Code::NOT_CLEAN, what).remedy("regent tick").into())
        }
        Some(true) | None => Ok(0),
    }
}

/// Nothing is erased because somebody pressed Enter, and nothing without a person to ask.
async fn confirm(app: &App, screen: &Screen, person: &str) -> Result<(), super::OperationError> {
    let not = |what: &str| Problem::new(Code::NOT_CONFIRMED, what).safe("nothing was erased");
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let what = "nobody can be asked here: there is no terminal";
        return Err(not(what).remedy("regent forget --person <who> --yes").into());
    }
    let counted = app.people().forget(person, Forget::DryRun).await?;
    if counted.gone.is_nothing() {
        return Ok(()); // there is nothing to ask about
    }
    for line in lines(app, screen, &counted) {
        screen.note(&line);
    }
    let answer = house::ask("This cannot be undone. To erase all of it, type the address:").await?;
    if answer == "yes" || counted.addresses.contains(&answer) {
        return Ok(());
    }
    Err(not("what was typed is not their address").into())
}

fn show(app: &App, screen: &Screen, forgotten: &Forgotten) -> io::Result<()> {
    lines(app, screen, forgotten).iter().try_for_each(|line| screen.line(line))
}

fn lines(app: &App, screen: &Screen, forgotten: &Forgotten) -> Vec<String> {
    let Forgotten { person, dry_run, addresses, gone, events, backups, .. } = forgotten;
    let mut lines = Vec::new();
    if gone.is_nothing() {
        lines.push(format!("nothing is left of {person}"));
    } else {
        let verb = if *dry_run { "would be erased" } else { "erased" };
        lines.push(format!("{verb}: {person}"));
        lines.extend(addresses.iter().map(|address| format!("  address            {}", inline(address))));
        let counts = gone.by_table().into_iter().filter(|(_, count)| *count > 0);
        lines.extend(counts.map(|(table, count)| format!("  {table:<18} {count}")));
        let stay = plural(*events, "event stays, without", "events stay, without");
        lines.push(format!("  {stay} words and sender"));
    }
    if !backups.is_empty() {
        lines.push(screen.tinted("backups that still hold them; delete these yourself:", Tone::Attention));
        lines.extend(backups.iter().map(|kept| {
            let (at, folder) = (kept.at.date_time(app.zone()), inline(&kept.folder.display().to_string()));
            let unfinished = if kept.unfinished { "  (unfinished)" } else { "" };
            let away = if kept.there { "" } else { "  (not there now)" };
            format!("  {at}  {folder}{unfinished}{away}")
        }));
    }
    lines
}
