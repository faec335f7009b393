//! The house as a whole: `upgrade`, `backup`, `restore`.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use app::instance::backup::{Count, How, Present, Restored, SettingsFile, Upgrade};
use app::{App, Code, Problem};

use super::house::ask;
use super::{Done, ProcessEnvironment};
use crate::show::{Screen, Tone, inline, plural};

pub(crate) async fn upgrade(app: &App, screen: &Screen, check: bool) -> Done {
    let upgrade = app.instance().upgrade(if check { How::Rehearse } else { How::Really }).await?;
    if screen.json {
        screen.json_line(&upgrade)?;
        return Ok(0);
    }
    match &upgrade.counted {
        None => screen.line(&format!("schema {}: nothing to do", upgrade.to))?,
        Some(_) if upgrade.done => screen.line(&upgraded(&upgrade))?,
        Some(counted) => screen.line(&format!(
            "schema {} → {}, {}, {}; nothing was changed",
            upgrade.from,
            upgrade.to,
            holds(counted),
            chain(&upgrade)
        ))?,
    }
    Ok(0)
}

/// What was done, with the way back.
pub(crate) fn upgraded(upgrade: &Upgrade) -> String {
    let kept = match &upgrade.kept {
        Some(folder) => format!("as it was before: {}", inline(&folder.display().to_string())),
        None => {
            "no copy was kept: on PostgreSQL that is pg_dump's work, or regent backup's before an upgrade"
                .into()
        }
    };
    let counted = upgrade.counted.as_ref().map(holds).unwrap_or_default();
    let (from, to, chain) = (upgrade.from, upgrade.to, chain(upgrade));
    format!("upgraded: schema {from} → {to}, {counted}, {chain}; {kept}")
}

fn chain(upgrade: &Upgrade) -> String {
    match &upgrade.fault {
        None => "chain verified".into(),
        Some(fault) => format!("the audit was broken before and still is: {}", inline(fault)),
    }
}

fn holds(count: &Count) -> String {
    format!("{} in {}", plural(count.rows, "row", "rows"), plural(count.tables as u64, "table", "tables"))
}

fn entries(count: &Count) -> u64 {
    count.audit.as_ref().map_or(0, |tip| tip.seq)
}

/// A folder as it was typed, seen from where the program was started.
fn from_here(surroundings: &ProcessEnvironment, folder: &Path) -> PathBuf {
    surroundings.folder.as_ref().map_or_else(|| folder.to_owned(), |here| here.join(folder))
}

pub(crate) async fn backup(
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    to: Option<&Path>,
    dry_run: bool,
) -> Done {
    let to = to.map(|folder| from_here(surroundings, folder));
    let backup =
        app.instance().backup(to.as_deref(), if dry_run { How::Rehearse } else { How::Really }).await?;
    if screen.json {
        screen.json_line(&backup)?;
        return Ok(0);
    }
    let what = format!(
        "{}, {}, {} kB",
        holds(&backup.counted),
        plural(backup.files as u64, "file", "files"),
        backup.bytes.div_ceil(1024)
    );
    let folder = inline(&backup.folder.display().to_string());
    screen.line(&match backup.manifest {
        None => format!("would copy {what} to {folder}; nothing was written"),
        Some(_) if backup.fault.is_some() => format!("{folder}\n{what}"),
        Some(_) => format!("{folder}\n{what}; {}", screen.tinted("tried by restoring it", Tone::Good)),
    })?;
    if let Some(fault) = &backup.fault {
        let fault = inline(fault);
        screen.note(&format!(
            "the audit of this house is broken, and so is the copy's, which `restore` refuses: {fault}"
        ));
    }
    if backup.secrets_left_out > 0 {
        let secrets = plural(backup.secrets_left_out as u64, "secret", "secrets");
        screen
            .note(&format!("{secrets} in `secrets` beside the settings: never copied, keep them elsewhere"));
    }
    if backup.manifest.is_some() {
        screen.note("whoever can read it can read everything, and holds the keys of the audit: keep it safe");
    }
    Ok(0)
}

pub(crate) async fn restore(
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    folder: &Path,
    dry_run: bool,
    yes: bool,
) -> Done {
    let folder = &from_here(surroundings, folder);
    if !dry_run && !yes {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Err(unconfirmed("it was not confirmed, and nobody is at a terminal").into());
        }
        screen.note(&told(app, &app.instance().restore(folder, How::Rehearse).await?));
        if ask("Type `restore` to replace what is there:").await? != "restore" {
            return Err(unconfirmed("it was not confirmed").into());
        }
    }
    let restored = app.instance().restore(folder, if dry_run { How::Rehearse } else { How::Really }).await?;
    if screen.json {
        screen.json_line(&restored)?;
    } else {
        screen.line(&told(app, &restored))?;
    }
    Ok(0)
}

fn unconfirmed(what: &str) -> Problem {
    Problem::new(Code::UNCONFIRMED, what)
        .safe("nothing was changed")
        .remedy("regent restore --dry-run FOLDER")
        .remedy("regent restore --yes FOLDER")
}

fn told(app: &App, restored: &Restored) -> String {
    let when = restored.at.date_time(app.zone());
    let mut lines = vec![format!(
        "backup of {when}: schema {}, {}, {} in the audit",
        restored.counted.schema,
        holds(&restored.counted),
        plural(entries(&restored.counted), "entry", "entries")
    )];
    let verb = if restored.done { "replaced" } else { "would replace" };
    lines.push(match &restored.present {
        None => format!("{verb} nothing: there was no house"),
        Some(Present::Unreadable(why)) => {
            format!("{verb} a house that does not open ({}); its files are moved aside", inline(why))
        }
        Some(Present::Counted(now)) => {
            let newer = entries(now).saturating_sub(entries(&restored.counted));
            let newer = match newer {
                0 => "nothing in its audit is newer".into(),
                newer => format!("its audit is {} ahead, which go", plural(newer, "entry", "entries")),
            };
            format!("{verb} the house that is there: {}; {newer}", holds(now))
        }
    });
    let files = [("settings", restored.settings), ("switches of tools", restored.switches)];
    for (what, file) in files.into_iter().chain(restored.policies.map(|file| ("policies", file))) {
        lines.push(match file {
            SettingsFile::PutBack => format!("{what}: put back"),
            SettingsFile::Left => format!("{what}: left as they are"),
        });
    }
    if restored.grants_revoked > 0 {
        let grants = plural(restored.grants_revoked, "grant", "grants");
        lines.push(format!(
            "{grants} in it: revoked, because that may have happened since; `regent grants list`"
        ));
    }
    if !restored.carried.is_empty() {
        let verb = if restored.done { "was" } else { "would be" };
        lines.push(format!("what the backup does not know, and {verb} carried over:"));
        lines.extend(restored.carried.iter().map(|line| format!("  {}", inline(line))));
    }
    match (&restored.kept, restored.done) {
        (Some(kept), _) => lines.push(format!("what was there: {}", inline(&kept.display().to_string()))),
        (None, true) => {}
        (None, false) => lines.push("nothing was changed".into()),
    }
    lines.join("\n")
}
