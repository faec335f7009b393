//! A feature of `app` uses what another feature offers at the top of its folder, never a module inside it.

use super::files::Texts;

/// The folders of `crates/app/src` that are no features: every feature may use what is in them.
const SHARED: &[&str] = &["operation"];

pub(crate) fn check(texts: &Texts) -> Vec<String> {
    let features: Vec<&str> = texts.keys().filter_map(|path| feature_of(path)).collect();
    let mut problems = Vec::new();
    for (path, text) in texts {
        let Some(own) = feature_of(path) else { continue };
        for (number, line) in (1..).zip(text.lines()) {
            let code = line.split("//").next().unwrap_or_default();
            for found in code.split("crate::").skip(1) {
                let mut parts = found.splitn(3, "::");
                let (feature, inside) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                let is_module =
                    parts.next().is_some() && inside.starts_with(|c: char| c.is_ascii_lowercase());
                if is_module && feature != own && features.contains(&feature) {
                    problems.push(format!(
                        "{path}:{number} reaches into `{feature}::{inside}`: use what `{feature}` offers in its mod.rs"
                    ));
                }
            }
        }
    }
    problems
}

/// The feature that a file of `app` belongs to.
fn feature_of(path: &str) -> Option<&str> {
    let (feature, _) = path.strip_prefix("crates/app/src/")?.split_once('/')?;
    (!SHARED.contains(&feature)).then_some(feature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_another_feature_is_out_of_reach() {
        let table: [(&str, &str, usize); 7] = [
            ("crates/app/src/grants/add.rs", "use crate::people::words::label;", 1),
            ("crates/app/src/grants/add.rs", "    crate::people::words::label(who)?;", 1),
            ("crates/app/src/grants/add.rs", "use crate::people::{People, view};", 0),
            ("crates/app/src/grants/add.rs", "use crate::people::People::new;", 0),
            ("crates/app/src/people/view.rs", "use crate::people::words::label;", 0),
            ("crates/app/src/people/view.rs", "use crate::operation::io::OperationIo;", 0),
            ("crates/app/src/lib.rs", "use people::words::label;", 0),
        ];
        for (path, line, expected) in table {
            let mut texts: Texts = [(path.to_owned(), line.to_owned())].into();
            texts.entry("crates/app/src/people/mod.rs".to_owned()).or_default();
            assert_eq!(check(&texts).len(), expected, "{path}: {line}");
        }
    }
}
