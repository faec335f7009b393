//! Every link from one Markdown file to another file of the repository leads somewhere.

use super::files::Texts;

/// Links whose target is not there. `exists` is asked for paths from the checkout's root.
pub(crate) fn broken(texts: &Texts, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| path.ends_with(".md")) {
        for (line, target) in targets(text) {
            match resolve(path, &target) {
                Target::Elsewhere => {}
                Target::Outside => problems.push(format!(
                    "{path}:{line} links to `{target}`, outside the repository: nobody who clones it has that"
                )),
                Target::File(file) if exists(&file) => {}
                Target::File(file) => problems.push(format!(
                    "{path}:{line} links to `{target}`, but there is no {file}: mend the link or add the file"
                )),
            }
        }
    }
    problems
}

#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// The web, a mail address, a place in the same file.
    Elsewhere,
    Outside,
    File(String),
}

fn resolve(from: &str, target: &str) -> Target {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let scheme = path.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    if path.is_empty() || scheme || path.starts_with("//") {
        return Target::Elsewhere;
    }
    let path = path.replace("%20", " ");
    let mut parts: Vec<&str> = match path.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => from.rsplit_once('/').map(|(folder, _)| folder.split('/').collect()).unwrap_or_default(),
    };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return Target::Outside,
            ".." => {}
            part => parts.push(part),
        }
    }
    Target::File(parts.join("/"))
}

/// The targets of a Markdown text with their lines: `[text](target)`, `![image](target)` and `[name]: target`.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => found.extend(targets_of_line(line).into_iter().map(|target| (at + 1, target))),
        }
    }
    found
}

fn targets_of_line(line: &str) -> Vec<String> {
    let line = without_code(line);
    let mut found: Vec<String> = line.split("](").skip(1).filter_map(inline_target).collect();
    if let Some(definition) = line.trim_start().strip_prefix('[')
        && !definition.starts_with('^') // a footnote
        && let Some((_, target)) = definition.split_once("]:")
        && let Some(target) = target.split_whitespace().next()
    {
        found.push(target.trim_matches(['<', '>']).to_owned());
    }
    found
}

/// The target at the beginning of what follows `](`, with its own parentheses and without its title.
fn inline_target(rest: &str) -> Option<String> {
    if let Some(angled) = rest.trim_start().strip_prefix('<') {
        return angled.split_once('>').map(|(target, _)| target.to_owned());
    }
    let mut depth = 0_usize;
    let mut target = String::new();
    for c in rest.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return target.split_whitespace().next().map(str::to_owned),
            ')' => depth -= 1,
            _ => {}
        }
        target.push(c);
    }
    None
}

/// The line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code() {
        let text = "[a](a.md) and ![b](<b c.png>) and [c](c_(1).md \"title\")\n\
                    `[no](no.md)` [d](d.md#part)\n\
                    ```\n[no](no.md)\n```\n\
                    [ref]: e.md\n[^1]: a footnote";
        let found = targets(text);
        let expected = [(1, "a.md"), (1, "b c.png"), (1, "c_(1).md"), (2, "d.md#part"), (6, "e.md")];
        assert_eq!(found, expected.map(|(line, target)| (line, target.to_owned())));
    }

    #[test]
    fn targets_are_resolved_from_the_file_that_links() {
        let file = |path: &str| Target::File(path.to_owned());
        let table = [
            ("docs/a.md", "b.md", file("docs/b.md")),
            ("docs/a.md", "../README.md#x", file("README.md")),
            ("docs/a.md", "/LICENSE-MIT", file("LICENSE-MIT")),
            ("docs/a.md", "./my%20file.md", file("docs/my file.md")),
            ("README.md", "docs/", file("docs")),
            ("README.md", "../elsewhere/x.md", Target::Outside),
            ("README.md", "#part", Target::Elsewhere),
            ("README.md", "https://example.org/x.md", Target::Elsewhere),
            ("README.md", "mailto:a@example.org", Target::Elsewhere),
        ];
        for (from, target, expected) in table {
            assert_eq!(resolve(from, target), expected, "{from} {target}");
        }
    }

    #[test]
    fn a_link_to_nothing_is_told_with_its_place() {
        let texts = Texts::from([
            ("README.md".to_owned(), "[yes](docs/a.md)\n[no](docs/b.md)\n".to_owned()),
            ("src/lib.rs".to_owned(), "//! [no](nowhere.md)".to_owned()),
        ]);
        let problems = broken(&texts, |path| path == "docs/a.md");
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("README.md:2 links to `docs/b.md`"), "{problems:?}");
    }
}
