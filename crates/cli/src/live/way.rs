//! Which way is taken: what somebody says counts first, then what the surroundings can show.

use runtime::{Code, Problem};

use super::Way;
use crate::args::Progress;

/// What there is to show it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "facts about the surroundings, each by itself")]
pub(crate) struct Ambience {
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
pub(crate) fn way(wanted: Progress, around: Ambience) -> Result<Way, Problem> {
    let Ambience { json, terminal, dumb, ci, accessible } = around;
    Ok(match wanted {
        _ if json => Way::Silent,
        Progress::None => Way::Silent,
        Progress::Plain => Way::Plain,
        Progress::Live if !terminal || dumb => {
            let why = if terminal {
                "this terminal cannot move its cursor"
            } else {
                "standard error is no terminal"
            };
            let what = format!("`--progress live` is not possible here: {why}");
            return Err(Problem::new(Code::USAGE, what).safe("nothing was done").remedy("regent run --help"));
        }
        Progress::Live => Way::Live,
        Progress::Auto if terminal && !dumb && !ci && !accessible => Way::Live,
        Progress::Auto => Way::Plain,
    })
}

#[cfg(test)]
mod tests {
    use super::{Ambience, way};
    use crate::args::Progress;
    use crate::live::Way;

    #[test]
    fn what_somebody_says_counts_before_what_can_be_shown() {
        let terminal = Ambience { terminal: true, ..Ambience::default() };
        let dumb = Ambience { dumb: true, ..terminal };
        let ci = Ambience { ci: true, ..terminal };
        let accessible = Ambience { accessible: true, ..terminal };
        let json = Ambience { json: true, ..terminal };
        let none = Ambience::default();
        let table = [
            (Progress::Auto, terminal, Some(Way::Live)),
            (Progress::Auto, dumb, Some(Way::Plain)),
            (Progress::Auto, ci, Some(Way::Plain)),
            (Progress::Auto, accessible, Some(Way::Plain)),
            (Progress::Auto, none, Some(Way::Plain)),
            (Progress::Auto, json, Some(Way::Silent)),
            (Progress::Live, ci, Some(Way::Live)),
            (Progress::Live, accessible, Some(Way::Live)),
            (Progress::Live, dumb, None),
            (Progress::Live, none, None),
            (Progress::Plain, terminal, Some(Way::Plain)),
            (Progress::None, terminal, Some(Way::Silent)),
            (Progress::Plain, json, Some(Way::Silent)),
        ];
        for (wanted, around, expected) in table {
            assert_eq!(way(wanted, around).ok(), expected, "{wanted:?} {around:?}");
        }
    }
}
