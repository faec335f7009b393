//! One file of `docs/errors`: how it is read, what is wrong with it, and the Rust that all of them become.
//!
//! The front matter is the small part of YAML that the files need: `key: text`, `key: "text"`, `key: >-` with one
//! indented paragraph, and a list of such values. What YAML would read in another way is refused.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Lines;

pub(crate) const FOLDER: &str = "docs/errors";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ErrorPage {
    pub(crate) code: u16,
    /// Of the constant: `AUDIT_BROKEN`.
    name: String,
    title: String,
    cause: String,
    remedies: Vec<String>,
    /// What follows the front matter.
    details: String,
}

impl ErrorPage {
    /// # Errors
    /// If something is missing or in the wrong form; the text names the file and what to do.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, String> {
        Self::read(file, text).map_err(|what| format!("{FOLDER}/{file}: {what}"))
    }

    fn read(file: &str, text: &str) -> Result<Self, String> {
        let code = code_of(file)?;
        let mut lines = text.lines().peekable();
        if lines.next() != Some("---") {
            return Err("the first line must be `---`, which begins the front matter".into());
        }
        let (mut texts, mut remedies) = (BTreeMap::new(), Vec::new());
        loop {
            let line = lines.next().ok_or("the front matter does not end: put `---` on a line after it")?;
            if line == "---" {
                break;
            }
            let (key, value) = line
                .split_once(':')
                .filter(|(_, value)| value.is_empty() || value.starts_with(' '))
                .ok_or_else(|| format!("`{line}` is not of the form `key: text`"))?;
            match key {
                "name" | "title" | "cause" => {
                    let value = read_value(key, value.trim(), "  ", &mut lines)?;
                    if texts.insert(key, value).is_some() {
                        return Err(format!("`{key}` is there twice: remove one"));
                    }
                }
                "remedies" if value.is_empty() && remedies.is_empty() => {
                    while let Some(item) = lines.peek().and_then(|line| line.strip_prefix("  - ")) {
                        lines.next();
                        remedies.push(read_value("remedies", item.trim(), "    ", &mut lines)?);
                    }
                }
                "remedies" => {
                    return Err("write `remedies:` once and each remedy below it, `  - text`".into());
                }
                _ => {
                    return Err(format!(
                        "`{key}` is not a key: use `name`, `title`, `cause` and `remedies`, or write it below the front matter"
                    ));
                }
            }
        }
        let mut take = |key: &str, example: &str| {
            texts.remove(key).ok_or_else(|| format!("`{key}` is missing: add `{key}: {example}`"))
        };
        let name = take("name", "AUDIT_BROKEN")?;
        if !is_constant(&name) {
            return Err(format!(
                "the name `{name}` cannot be a constant: use A-Z, 0-9 and _, as in `AUDIT_BROKEN`"
            ));
        }
        let title = take("title", "the audit is broken")?;
        let cause = take("cause", "why it happens, and what was and was not done")?;
        if remedies.is_empty() {
            return Err("there is no remedy: add `remedies:` and below it `  - what to do`".into());
        }
        let details = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
        Ok(Self { code, name, title, cause, remedies, details })
    }

    fn heading(&self) -> String {
        format!("R{} · {}", self.code, self.title)
    }

    /// What `regent explain` prints, and a section of `docs/errors.md`. Links lead from that file, not from ours.
    fn render(&self, anchors: &BTreeMap<u16, String>) -> String {
        let mut parts = vec![self.heading(), self.cause.clone()];
        if !self.details.is_empty() {
            parts.push(self.details.clone());
        }
        parts.push(format!("What to do: {}", self.remedies.join(" ")));
        let page = parts.join("\n\n").replace("](../", "](");
        anchors.iter().fold(page, |page, (code, anchor)| {
            page.replace(&format!("](R{code}.md)"), &format!("](#{anchor})"))
        })
    }
}

fn code_of(file: &str) -> Result<u16, String> {
    let digits = file.strip_prefix('R').and_then(|rest| rest.strip_suffix(".md"));
    digits
        .filter(|digits| digits.len() == 4 && digits.starts_with(['1', '2', '3', '4', '5']))
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| {
            "the file must be named after its code, as `R1001.md`: R, the exit code (1 to 5), three digits"
                .into()
        })
}

fn is_constant(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// The text behind `key:` or `- `; a paragraph behind `>-` is taken from the lines that are indented by `indent`.
fn read_value(
    key: &str,
    value: &str,
    indent: &str,
    lines: &mut Peekable<Lines<'_>>,
) -> Result<String, String> {
    if value == ">-" {
        let mut paragraph = Vec::new();
        while let Some(line) = lines.peek().and_then(|line| line.strip_prefix(indent)) {
            if line.is_empty() || line.starts_with(' ') {
                return Err(format!(
                    "`{key}` is one paragraph: indent each of its lines by {} spaces",
                    indent.len()
                ));
            }
            paragraph.push(line.trim_end());
            lines.next();
        }
        return if paragraph.is_empty() { Err(format!("`{key}` is empty")) } else { Ok(paragraph.join(" ")) };
    }
    if let Some(quoted) = value.strip_prefix('"') {
        return unquote(quoted).ok_or_else(|| {
            format!("`{key}`: close the text with one `\"`, and write `\\\"` and `\\\\` inside it")
        });
    }
    match value {
        "" => Err(format!("`{key}` is empty")),
        _ if is_plain(value) => Ok(value.to_owned()),
        _ => Err(format!("`{key}`: put the text into double quotes, or YAML reads `{value}` in another way")),
    }
}

/// What stands before the closing quote, which has to be the last character.
fn unquote(quoted: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = quoted.chars();
    loop {
        match rest.next()? {
            '"' => return (rest.next().is_none() && !text.is_empty()).then_some(text),
            '\\' => text.push(rest.next().filter(|c| matches!(c, '"' | '\\'))?),
            c => text.push(c),
        }
    }
}

/// Whether YAML takes this as it stands.
fn is_plain(text: &str) -> bool {
    !text.starts_with(|c: char| "`'\"[]{}<>|*&!%#@,?:-~=".contains(c))
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
}

/// The Rust of all pages, which are sorted by their code.
///
/// # Errors
/// If two pages have the same name, or there are none.
pub(crate) fn generate(pages: &[ErrorPage]) -> Result<String, String> {
    let mut names = BTreeMap::new();
    for page in pages {
        if let Some(first) = names.insert(&page.name, page.code) {
            return Err(format!(
                "{FOLDER}/R{}.md: R{first} has the name `{}` already: choose another",
                page.code, page.name
            ));
        }
    }
    if names.is_empty() {
        return Err(format!("{FOLDER} has no pages: each error code has a file there, as `R1001.md`"));
    }
    let anchors = pages.iter().map(|page| (page.code, anchor(&page.heading()))).collect();
    let each = |line: &dyn Fn(&ErrorPage) -> String| pages.iter().map(line).collect::<String>();
    Ok(format!(
        "impl Code {{\n{}}}\n\n\
         /// Every code there is, by number.\n\
         pub const CODES: &[Code] = &[\n{}];\n\n\
         /// What `regent explain` prints for each code, in the order of [`CODES`].\n\
         const PAGES: &[&str] = &[\n{}];\n",
        each(&|page| format!(
            "    #[doc = {:?}]\n    pub const {}: Self = Self({});\n",
            page.title, page.name, page.code
        )),
        each(&|page| format!("    Code::{},\n", page.name)),
        each(&|page| format!("    {:?},\n", page.render(&anchors))),
    ))
}

/// The anchor that Markdown viewers give a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}
