//! `vpol`: validation policies, shown, checked and asked. Nothing is written.

use std::path::PathBuf;

use app::{App, Code, Problem};
use policy::vpol::{Listed, Loaded, VpolSet, filter, load};

use super::policies::{read, sound};
use super::{Done, lines};
use crate::args::Vpol;
use crate::show::{Screen, Tone, inline};

pub(crate) async fn vpol(app: &App, screen: &Screen, command: Vpol) -> Done {
    match command {
        Vpol::List { policies } => list(screen, &counting(app, &policies).await?),
        Vpol::Show { name, policies } => show(screen, &counting(app, &policies).await?, &name),
        Vpol::Validate { files } => {
            let Loaded { set, notes } = read(&files, load)?;
            sound(screen, set.iter().count(), &notes, &files)
        }
        Vpol::Test { policies } => {
            let set = counting(app, &policies).await?;
            let answer = async |line: String| {
                let case = domain::json::from_str(&line).map_err(|error| error.to_string());
                Ok(case.and_then(|case| filter::answer(&set, &case).map_err(|bad| bad.to_string())))
            };
            lines::answer_each(screen, "all other lines were answered, and nothing was written", answer).await
        }
    }
}

/// The policies of these files and no others; those that count, if none is named.
async fn counting(app: &App, files: &[PathBuf]) -> Result<VpolSet, Problem> {
    if files.is_empty() { app.policies().vpols().await } else { read(files, load).map(|loaded| loaded.set) }
}

fn list(screen: &Screen, set: &VpolSet) -> Done {
    for listed in set.iter() {
        if screen.json {
            screen.json_line(&listed.written())?;
        } else {
            screen.line(&row(screen, listed))?;
        }
    }
    Ok(0)
}

fn row(screen: &Screen, Listed { vpol, priority, .. }: &Listed) -> String {
    let name = screen.tinted(&format!("{:<24}", vpol.name), Tone::Command);
    let mode = if vpol.reviews(domain::Tier::Admin) {
        format!("{} above {}", vpol.mode.name(), vpol.up_to)
    } else {
        vpol.mode.name().to_owned()
    };
    format!("{priority:>3}  {name}  {mode}")
}

fn show(screen: &Screen, set: &VpolSet, name: &str) -> Done {
    let listed = set.get(name).ok_or_else(|| {
        Problem::new(Code::NO_SUCH_ID, format!("there is no validation policy `{}`", inline(name)))
            .safe("nothing was done")
            .remedy("regent vpol list")
    })?;
    if screen.json {
        screen.json_line(&listed.written())?;
    } else {
        screen.line(&format!("# {}\n{listed}", listed.vpol.id()))?;
    }
    Ok(0)
}
