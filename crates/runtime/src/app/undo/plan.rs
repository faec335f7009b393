//! What the calls of a task did to each name, taken together, and what would take that back.

use std::collections::BTreeSet;
use std::path::Path;

use domain::change::{Change, Standing};
use serde::{Deserialize, Serialize};

use super::Obstacle;

/// What a call was to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    pub(super) change: Change,
    /// Whether it did so, for certain. One that failed or was killed may have.
    pub(super) certain: bool,
}

/// One name, from before the first call that changed it to after the last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) path: String,
    from: Standing,
    /// Everything that a call was to leave there; the last one counts, if that is certain.
    left: Vec<Standing>,
    certain: bool,
    folders: Vec<String>,
    /// Whether somebody else changed it between two calls: then `from` is what they left, not what was there first.
    pub(super) touched: bool,
}

/// What puts one name back: the arguments of `put_back`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) path: String,
    pub(super) from: Standing,
    pub(super) to: Standing,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<String>,
}

/// What is to be done about one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    PutBack(Step),
    /// It is as it was.
    Nothing,
    Leave(Obstacle),
}

/// In the order in which they were changed first.
pub(super) fn fold(changes: impl IntoIterator<Item = Recorded>) -> Vec<Folded> {
    let mut all: Vec<Folded> = Vec::new();
    for recorded in changes {
        match all.iter_mut().find(|folded| folded.path == recorded.change.path) {
            Some(folded) => folded.then(recorded),
            None => all.push(Folded::new(recorded)),
        }
    }
    share_folders(&mut all);
    all
}

/// A folder was made for the first file that went into it. It goes with the last one that leaves, whichever that is.
fn share_folders(all: &mut [Folded]) {
    let made: BTreeSet<String> = all.iter().flat_map(|folded| folded.folders.clone()).collect();
    for folded in all {
        let holds = |folder: &&String| Path::new(&folded.path).starts_with(folder.as_str());
        folded.folders = made.iter().filter(holds).cloned().collect();
    }
}

impl Folded {
    fn new(Recorded { change, certain }: Recorded) -> Self {
        let Change { path, from, to, folders } = change;
        Self { path, from, left: vec![to], certain, folders, touched: false }
    }

    fn then(&mut self, next: Recorded) {
        let follows = self.may_be(&next.change.from);
        let Recorded { change, certain } = next;
        if follows {
            self.left.push(change.to);
        } else {
            (self.from, self.left, self.touched) = (change.from, vec![change.to], true);
        }
        self.certain = certain;
        self.folders.extend(change.folders);
    }

    /// Whether the calls can have left this.
    fn may_be(&self, standing: &Standing) -> bool {
        let is = |left: &Standing| left.is_as(standing);
        if self.certain {
            self.left.last().is_some_and(is)
        } else {
            self.from.is_as(standing) || self.left.iter().any(is)
        }
    }

    /// What takes it back from what stands there now.
    pub(super) fn against(&self, now: Standing) -> Verdict {
        if now.is_as(&self.from) {
            return Verdict::Nothing;
        }
        if !self.may_be(&now) {
            return Verdict::Leave(Obstacle::ChangedSince);
        }
        if let Standing::File(file) = &self.from
            && file.kept.is_none()
        {
            return Verdict::Leave(Obstacle::TooLarge);
        }
        let (path, to, folders) = (self.path.clone(), self.from.clone(), self.folders.clone());
        Verdict::PutBack(Step { path, from: now, to, folders })
    }
}

#[cfg(test)]
mod tests {
    use super::{Folded, Obstacle, Recorded, Step, Verdict, fold};
    use domain::Digest;
    use domain::change::{Change, Content, Standing};

    fn file(name: &str) -> Standing {
        let digest = Digest::of(name.as_bytes());
        Standing::File(Content { digest, bytes: 1, mode: 0o644, kept: Some(digest) })
    }

    fn standing(name: &str) -> Standing {
        match name {
            "-" => Standing::Nothing,
            "l" => Standing::Link { to: "t".into() },
            name => file(name),
        }
    }

    /// `A>B` is a call that did it; `A?B` one of which nobody knows.
    fn folded(changes: &str) -> Folded {
        let change = |text: &str| {
            let certain = text.contains('>');
            let (from, to) = text.split_once(['>', '?']).unwrap();
            let (from, to) = (standing(from), standing(to));
            Recorded { change: Change { path: "f".into(), from, to, folders: Vec::new() }, certain }
        };
        fold(changes.split(' ').map(change)).remove(0)
    }

    #[test]
    fn several_calls_are_taken_back_in_one_step_and_only_from_what_they_left() {
        let back = |to: &str| Some(to.to_owned());
        let table = [
            // the calls, what is there now, what is put back; nothing if it stays
            ("A>B", "B", back("A")),
            ("A>B", "C", None),
            ("->B", "B", back("-")),
            ("A>-", "-", back("A")),
            ("l>-", "-", back("l")),
            ("A>B B>C", "C", back("A")),
            ("A>B B>C", "B", None),
            ("A>B B>- ->D", "D", back("A")),
            // nobody knows whether the last one ran
            ("A?B", "B", back("A")),
            ("A?B", "C", None),
            ("A>B B?C", "B", back("A")),
            ("A>B B?C", "C", back("A")),
            ("A>B B?C", "D", None),
            // the next look tells what became of it
            ("A?B A>C", "C", back("A")),
            ("A?B B>C", "C", back("A")),
            ("A?B B>C", "B", None),
            // somebody else was at it in between
            ("A>B X>C", "C", back("X")),
            ("A?B X>C", "C", back("X")),
        ];
        for (calls, now, expected) in table {
            let verdict = folded(calls).against(standing(now));
            let expected = expected.map_or(Verdict::Leave(Obstacle::ChangedSince), |to| {
                let (from, to) = (standing(now), standing(&to));
                Verdict::PutBack(Step { path: "f".into(), from, to, folders: Vec::new() })
            });
            assert_eq!(verdict, expected, "{calls} now {now}");
        }
    }

    #[test]
    fn what_is_as_it_was_needs_nothing() {
        for calls in ["A>B", "A?B", "A>B B>A", "->B B>-"] {
            let from = if calls.starts_with('-') { "-" } else { "A" };
            assert_eq!(folded(calls).against(standing(from)), Verdict::Nothing, "{calls}");
        }
    }

    #[test]
    fn somebody_elses_change_in_between_is_told() {
        for (calls, touched) in
            [("A>B B>C", false), ("A>B X>C", true), ("A?B A>C", false), ("A>B X>C C>D", true)]
        {
            assert_eq!(folded(calls).touched, touched, "{calls}");
        }
    }

    #[test]
    fn what_was_not_kept_stays() {
        let mut large = file("A");
        if let Standing::File(file) = &mut large {
            file.kept = None;
        }
        let change = Change { path: "f".into(), from: large, to: Standing::Nothing, folders: Vec::new() };
        let folded = fold([Recorded { change, certain: true }]).remove(0);
        assert_eq!(folded.against(Standing::Nothing), Verdict::Leave(Obstacle::TooLarge));
    }

    #[test]
    fn each_name_is_one_step_and_a_folder_goes_with_the_last_file_in_it() {
        let change = |path: &str, from: Standing, folders: &[&str]| {
            let folders = folders.iter().map(ToString::to_string).collect();
            Recorded { change: Change { path: path.into(), from, to: file("A"), folders }, certain: true }
        };
        let new = |path, folders| change(path, Standing::Nothing, folders);
        let all = fold([
            new("a/b/f", &["a", "a/b"]),
            new("g", &[]),
            new("a/h", &[]),
            new("ab", &[]),
            change("a/b/f", file("A"), &["a/b"]),
        ]);
        let seen: Vec<(&str, Vec<&str>)> = all
            .iter()
            .map(|one| (one.path.as_str(), one.folders.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(seen, [("a/b/f", vec!["a", "a/b"]), ("g", vec![]), ("a/h", vec!["a"]), ("ab", vec![])]);
    }
}
