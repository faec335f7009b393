//! What one process did, as it was seen from outside.

use std::fmt;

/// The commands that a load is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sort {
    Ingest,
    Run,
    Resume,
    Tick,
    Call,
    Halt,
    /// A word about a question.
    Answer,
}

/// A moment that the program told of on its socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) line: String,
    /// Whether it was told to go on. What was not never happened: the program died waiting.
    pub(crate) went: bool,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    Exit(i32),
    /// By our SIGKILL: at the last of its points, or at a moment.
    Killed(Blow),
    /// By a signal that we did not send.
    Foreign(i32),
    /// It was still there after all our patience, and was killed.
    Hung,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blow {
    Point,
    Moment,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) sort: Sort,
    pub(crate) args: Vec<String>,
    pub(crate) points: Vec<Point>,
    /// The place in `points` at which it was held until another process had taken its work over.
    pub(crate) stopped_at: Option<usize>,
    pub(crate) end: End,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Point {
    pub(crate) fn new(line: &str) -> Self {
        Self { line: line.to_owned(), went: false }
    }

    /// What is counted: the line without the id at its end. The set of kinds is open.
    pub(crate) fn kind(&self) -> String {
        self.line.split(' ').take(2).collect::<Vec<_>>().join(" ")
    }

    /// The tool and the id of a call that is about to run.
    pub(crate) fn running(&self) -> Option<&str> {
        self.line.strip_prefix("running ")
    }

    pub(crate) fn is_commit(&self) -> bool {
        self.line == "committed"
    }

    /// Inside an open transaction: whoever is held here holds the database.
    pub(crate) fn is_writing(&self) -> bool {
        self.line.starts_with("writing ")
    }
}

impl Seen {
    /// Whether it was cut off, so that something may have happened and not be written down.
    pub(crate) fn was_interrupted(&self) -> bool {
        matches!(self.end, End::Killed(_)) || self.stopped_at.is_some()
    }

    /// The code of the problem it ended with: `R4011`.
    pub(crate) fn code(&self) -> Option<&str> {
        self.stderr.lines().find_map(|line| line.strip_prefix("error ")?.split(':').next())
    }

    /// It was asked to go on with something that was over, and printed what is on record. Nothing is delivered by that.
    pub(crate) fn only_repeated(&self) -> bool {
        self.stderr.contains("was over already")
    }

    pub(crate) fn committed(&self) -> bool {
        self.points.iter().any(Point::is_commit)
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ingest => "ingest",
            Self::Run => "run",
            Self::Resume => "resume",
            Self::Tick => "tick",
            Self::Call => "call",
            Self::Halt => "halt",
            Self::Answer => "answer",
        })
    }
}

/// For whoever has to find out what happened: everything, in order.
impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: `regent {}`, {:?}", self.sort, self.args.join(" "), self.end)?;
        for (n, point) in self.points.iter().enumerate() {
            let note = match (self.stopped_at == Some(n), point.went) {
                (true, _) => "   (held here)",
                (false, false) => "   (not answered)",
                (false, true) => "",
            };
            writeln!(f, "  {}{note}", point.line)?;
        }
        for (name, text) in [("out", &self.stdout), ("err", &self.stderr)] {
            text.lines().try_for_each(|line| writeln!(f, "  {name} | {line}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_a_point_without_its_id() {
        let table = [
            ("committed", "committed"),
            ("writing events", "writing events"),
            ("running find_files c-1", "running find_files"),
            ("running duty:checkpoint 17", "running duty:checkpoint"),
            ("something new entirely", "something new"),
        ];
        for (line, kind) in table {
            assert_eq!(Point::new(line).kind(), kind);
        }
    }
}
