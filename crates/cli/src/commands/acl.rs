//! `acl`: access policies, checked and asked. Neither needs a house, and nothing is written.

use std::path::PathBuf;

use policy::acl::load::{Origin, Source};
use policy::acl::{Loaded, Mistakes, filter, load, shipped};
use runtime::{Code, Problem};

use super::{Done, lines};
use crate::args::Acl;
use crate::edge::text_of;
use crate::show::{Screen, inline, plural};

pub(crate) async fn acl(screen: &Screen, command: Acl) -> Done {
    match command {
        Acl::Validate { files } => validate(screen, &files),
        Acl::Test { policies } => {
            let Loaded { set, .. } = if policies.is_empty() {
                shipped::defaults().map_err(|mistakes| wrong(&mistakes))?
            } else {
                read(&policies)?
            };
            let answer = async |line: String| {
                let case = serde_json::from_str(&line).map_err(|error| error.to_string());
                Ok(case.and_then(|case| filter::answer(&set, &case).map_err(|bad| bad.to_string())))
            };
            lines::answer_each(screen, "all other lines were answered, and nothing was written", answer).await
        }
    }
}

fn validate(screen: &Screen, files: &[PathBuf]) -> Done {
    let Loaded { set, notes, .. } = read(files)?;
    let count = set.iter().count();
    if screen.json {
        let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
        screen.json_line(&serde_json::json!({ "policies": count, "notes": notes }))?;
        return Ok(0);
    }
    for note in &notes {
        screen.note(&format!("note: {}", inline(&note.to_string())));
    }
    let (policies, files) = (plural(count, "policy", "policies"), plural(files.len(), "file", "files"));
    screen.line(&format!("{policies} in {files}: nothing is wrong"))?;
    Ok(0)
}

/// The policies of these files, and of no others.
fn read(files: &[PathBuf]) -> Result<Loaded, Problem> {
    let mut texts = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let text = text_of(file).and_then(|text| text.ok_or_else(missing));
        let unreadable = |error| {
            Problem::new(Code::INPUT, format!("`{name}` cannot be read: {error}")).safe("nothing was done")
        };
        texts.push((name.clone(), text.map_err(unreadable)?));
    }
    let sources: Vec<Source<'_>> =
        texts.iter().map(|(file, text)| Source { file, text, origin: Origin::Own }).collect();
    load(&sources).map_err(|mistakes| wrong(&mistakes))
}

fn wrong(mistakes: &Mistakes) -> Problem {
    Problem::new(Code::BAD_POLICY, mistakes.to_string())
        .safe("nothing was done")
        .remedy("regent explain R2023")
}
