//! What people and programs see. Standard output carries the result, standard error everything else; text from
//! outside reaches a terminal only with its control characters made visible.

mod ansi;

use std::io::{self, IsTerminal as _, Write as _};

use app::operation::AnyOutput;
use app::{App, Problem};
use host::ProcessEnvironment;
use present::{Folding, Page, PageLine, Style, escape, escape_json, leave_plain, render_problem};
use serde::Serialize;

use crate::args::Color;
use crate::live::TerminalCapabilities;
use crate::terminal::tty;
#[cfg(test)]
pub(crate) use ansi::paint as paint_ansi;
pub(crate) use present::{Theme, Tone, inline};

/// The two streams, and how each of them may be written to.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    pub(crate) json: bool,
    /// Columns, where that matters.
    pub(crate) width: usize,
    out: Stream,
    err: Stream,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    terminal: bool,
    theme: Theme,
}

impl Screen {
    pub(crate) fn new(json: bool, color: Color, accessible: bool, surroundings: &ProcessEnvironment) -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| surroundings.variable(name));
        let utf8 = locale.is_some_and(|locale| locale.to_uppercase().replace('-', "").contains("UTF8"));
        // There, what we draw may be as wide as a character of theirs.
        let east_asian =
            locale.is_some_and(|locale| ["ja", "ko", "zh"].iter().any(|one| locale.starts_with(one)));
        let utf8 = utf8 && !east_asian;
        let dumb = surroundings.variable("TERM") == Some("dumb");
        let words = accessible || surroundings.variable("ACCESSIBLE").is_some_and(|set| set != "0");
        let plain = dumb || words;
        let stream = |terminal: bool| {
            let color = match color {
                Color::Always => true,
                Color::Never => false,
                Color::Auto => terminal && !dumb,
            };
            let paint = if color { ansi::paint } else { leave_plain };
            Stream { terminal, theme: Theme { paint, symbols: terminal && utf8 && !plain, words } }
        };
        let told = surroundings.variable("COLUMNS").and_then(|columns| columns.parse().ok());
        let width = wide(told, tty::columns(io::stdout()));
        Self { json, width, out: stream(io::stdout().is_terminal()), err: stream(io::stderr().is_terminal()) }
    }

    /// What there is to show work on.
    pub(crate) fn capabilities(&self, surroundings: &ProcessEnvironment) -> TerminalCapabilities {
        TerminalCapabilities {
            json: self.json,
            terminal: self.err.terminal,
            dumb: matches!(surroundings.variable("TERM"), None | Some("dumb")),
            ci: surroundings.variable("CI").is_some_and(|ci| ci != "false" && ci != "0"),
            accessible: self.err.theme.words,
        }
    }

    /// Whether a person reads the notes.
    pub(crate) const fn is_watched(&self) -> bool {
        self.err.terminal
    }

    /// One line of the result. A terminal sees its control characters escaped, a file or a pipe gets it as it is.
    pub(crate) fn result(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.out.terminal { writeln!(out, "{}", escape(text)) } else { writeln!(out, "{text}") }
    }

    /// One line of a listing: our own words, so tones are allowed; whatever came from outside was escaped before.
    pub(crate) fn line(&self, text: &str) -> io::Result<()> {
        writeln!(io::stdout().lock(), "{}", text.trim_end())
    }

    /// A terminal sees what it would act on as JSON's own escapes, a file or a pipe gets it as it is.
    pub(crate) fn json_line<T: Serialize>(&self, value: &T) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.out.terminal {
            out.write_all(escape_json(&serde_json::to_string(value)?).as_bytes())?;
        } else {
            serde_json::to_writer(&mut out, value)?;
        }
        out.write_all(b"\n")
    }

    pub(crate) fn flush(&self) -> io::Result<()> {
        io::stdout().lock().flush()
    }

    /// A line beside the result. That nobody reads it any more is no reason to stop.
    pub(crate) fn note(&self, text: &str) {
        drop(writeln!(io::stderr().lock(), "{}", text.trim_end()));
    }

    /// Whether somebody listens for the end.
    pub(crate) const fn rings(&self) -> bool {
        self.err.terminal && self.err.theme.words && !self.json
    }

    /// Text beside the result that knows its own lines, in one write.
    pub(crate) fn beside(&self, text: &str) {
        drop(io::stderr().lock().write_all(text.as_bytes())); // nobody looks any more: the work goes on
    }

    /// How a page for this screen is written.
    pub(crate) fn style<'a>(&self, app: &'a App) -> Style<'a> {
        Style {
            theme: self.out.theme,
            note_theme: self.err.theme,
            zone: app.zone(),
            now: app.now(),
            width: self.width,
            folding: Folding::Whole,
        }
    }

    /// Writes each line to its stream, in order.
    pub(crate) fn print(&self, page: &Page) -> io::Result<()> {
        for line in &page.lines {
            match line {
                PageLine::Result(text) => self.line(text)?,
                PageLine::Text(text) => self.result(text)?,
                PageLine::Note(text) => self.note(text),
            }
        }
        Ok(())
    }

    pub(crate) fn note_problem(&self, problem: &Problem) {
        self.note(&render_problem(problem, self.err.theme));
    }

    /// The result of an operation, or a part of it: as JSON, or as a page.
    pub(crate) fn show_output(&self, output: &dyn AnyOutput, app: &App) -> io::Result<()> {
        if !self.json {
            return self.print(&output.render(&self.style(app)));
        }
        output.json_lines().iter().try_for_each(|line| self.json_line(line))
    }

    /// A page beside the result.
    pub(crate) fn note_page(&self, page: &Page) {
        for PageLine::Result(text) | PageLine::Text(text) | PageLine::Note(text) in &page.lines {
            self.note(text);
        }
    }

    /// How what stands beside the result may look.
    pub(crate) const fn note_theme(&self) -> Theme {
        self.err.theme
    }

    pub(crate) fn note_tinted(&self, text: &str, tone: Tone) -> String {
        self.err.theme.paint(text, tone)
    }
}

/// How wide to write. Nobody is told more than a terminal has: it would break our lines where its own edge is.
fn wide(told: Option<usize>, real: Option<usize>) -> usize {
    let told = told.filter(|columns| *columns > 0);
    match (told, real) {
        (Some(told), Some(real)) => told.min(real),
        (told, real) => told.or(real).unwrap_or(tty::WIDTH),
    }
}

#[cfg(test)]
mod tests {
    use super::wide;

    #[test]
    fn nothing_is_written_wider_than_the_terminal_is() {
        let table = [
            (Some(500), Some(80), 80),
            (Some(40), Some(80), 40),
            (None, Some(80), 80),
            (Some(100), None, 100),
            (Some(0), None, 80),
            (None, None, 80),
        ];
        for (told, real, expected) in table {
            assert_eq!(wide(told, real), expected, "{told:?} {real:?}");
        }
    }
}
