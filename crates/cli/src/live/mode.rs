//! How the progress of a task is displayed: a flag counts first, then what the terminal can display.

use app::{Code, Problem};

use super::DisplayMode;
use crate::args::Progress;

/// What standard error is, and what it can display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts about the surroundings, each by itself")]
pub(crate) struct TerminalCapabilities {
    pub(crate) json: bool,
    /// Whether standard error is a terminal.
    pub(crate) terminal: bool,
    /// It cannot move its cursor.
    pub(crate) dumb: bool,
    /// A machine reads it.
    pub(crate) ci: bool,
    /// A screen reader reads it.
    pub(crate) accessible: bool,
}

/// # Errors
/// If a live display is asked for where there can be none.
pub(crate) fn choose_mode(wanted: Progress, around: TerminalCapabilities) -> Result<DisplayMode, Problem> {
    let TerminalCapabilities { json, terminal, dumb, ci, accessible } = around;
    Ok(match wanted {
        _ if json => DisplayMode::Silent,
        Progress::None => DisplayMode::Silent,
        Progress::Plain => DisplayMode::Plain,
        Progress::Live if !terminal || dumb => {
            let why = if terminal {
                "this terminal cannot move its cursor"
            } else {
                "standard error is no terminal"
            };
            let what = format!("`--progress live` is not possible here: {why}");
            return Err(Problem::new(Code::USAGE, what).safe("nothing was done").remedy("regent run --help"));
        }
        Progress::Live => DisplayMode::Live,
        Progress::Auto if terminal && !dumb && !ci && !accessible => DisplayMode::Live,
        Progress::Auto => DisplayMode::Plain,
    })
}

#[cfg(test)]
mod tests {
    use super::{TerminalCapabilities, choose_mode};
    use crate::args::Progress;
    use crate::live::DisplayMode;

    #[test]
    fn what_somebody_says_counts_before_what_can_be_shown() {
        let terminal = TerminalCapabilities { terminal: true, ..TerminalCapabilities::default() };
        let dumb = TerminalCapabilities { dumb: true, ..terminal };
        let ci = TerminalCapabilities { ci: true, ..terminal };
        let accessible = TerminalCapabilities { accessible: true, ..terminal };
        let json = TerminalCapabilities { json: true, ..terminal };
        let none = TerminalCapabilities::default();
        let table = [
            (Progress::Auto, terminal, Some(DisplayMode::Live)),
            (Progress::Auto, dumb, Some(DisplayMode::Plain)),
            (Progress::Auto, ci, Some(DisplayMode::Plain)),
            (Progress::Auto, accessible, Some(DisplayMode::Plain)),
            (Progress::Auto, none, Some(DisplayMode::Plain)),
            (Progress::Auto, json, Some(DisplayMode::Silent)),
            (Progress::Live, ci, Some(DisplayMode::Live)),
            (Progress::Live, accessible, Some(DisplayMode::Live)),
            (Progress::Live, dumb, None),
            (Progress::Live, none, None),
            (Progress::Plain, terminal, Some(DisplayMode::Plain)),
            (Progress::None, terminal, Some(DisplayMode::Silent)),
            (Progress::Plain, json, Some(DisplayMode::Silent)),
        ];
        for (wanted, around, expected) in table {
            assert_eq!(choose_mode(wanted, around).ok(), expected, "{wanted:?} {around:?}");
        }
    }
}
