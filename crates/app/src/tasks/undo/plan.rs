//! What the calls of a task did to each name, taken together, and what would take that back.

use std::collections::{BTreeMap, BTreeSet};
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
    /// How the calls can have left it, if nobody else was at it since; the likeliest last.
    ends: Vec<End>,
    /// Those that were made for it, and those that were made for others and hold it too.
    pub(super) folders: Vec<String>,
    modes: BTreeMap<String, u32>,
    /// The name that its bytes were moved from: it does not go before that is back.
    moved_from: Option<String>,
    /// The name that they were moved to.
    moved_to: Option<String>,
}

/// One way in which the calls can have gone.
#[derive(Clone, Debug, PartialEq, Eq)]
struct End {
    /// What was there before.
    from: Standing,
    /// What is there then.
    now: Standing,
    /// Whether somebody else changed it between two calls: then `from` is what they left, not what was there first.
    touched: bool,
}

/// What puts one name back: the arguments of `put_back`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) path: String,
    pub(super) from: Standing,
    pub(super) to: Standing,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) modes: BTreeMap<String, u32>,
    /// What has to be back by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) with: Option<Beside>,
    /// So that an undo of this undo knows, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) moved_from: Option<String>,
}

/// Another name, and what stands there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Beside {
    pub(super) path: String,
    pub(super) is: Standing,
}

/// What is to be done about one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    PutBack {
        step: Box<Step>,
        touched: bool,
    },
    /// It is as it was.
    Nothing,
    Leave(Obstacle),
}

/// In the order in which they are taken back: what was changed last comes first.
pub(super) fn fold(changes: impl IntoIterator<Item = Recorded>) -> Vec<Folded> {
    let mut all: Vec<Folded> = Vec::new();
    for recorded in changes {
        let known = all.iter().position(|folded| folded.path == recorded.change.path);
        let mut folded = known.map_or_else(|| Folded::new(&recorded), |at| all.remove(at));
        folded.then(recorded);
        all.push(folded);
    }
    all.reverse();
    share_folders(&mut all);
    join_moves(all)
}

/// What was moved is back before it leaves where it is. Where it was moved on, it is the first name that counts: the ones
/// between were not there before.
fn join_moves(mut all: Vec<Folded>) -> Vec<Folded> {
    let made: BTreeMap<String, String> = all
        .iter()
        .filter(|folded| folded.was_nothing())
        .filter_map(|folded| Some((folded.path.clone(), folded.moved_from.clone()?)))
        .collect();
    for folded in &mut all {
        for _ in 0..made.len() {
            let Some(before) = folded.moved_from.as_ref().and_then(|from| made.get(from)) else { break };
            folded.moved_from = Some(before.clone());
        }
    }
    let moved: Vec<(String, String)> =
        all.iter().filter_map(|folded| Some((folded.moved_from.clone()?, folded.path.clone()))).collect();
    for (from, to) in moved {
        let at = |path: &str| all.iter().position(|folded| folded.path == path);
        let (Some(back), Some(leaves)) = (at(&from), at(&to)) else { continue };
        if let Some(folded) = all.get_mut(back) {
            folded.moved_to = Some(to);
        }
        if leaves < back {
            let folded = all.remove(leaves);
            all.insert(back, folded);
        }
    }
    all
}

/// A folder was made for the first file that went into it. It goes with the last one that leaves, whichever that is.
fn share_folders(all: &mut [Folded]) {
    let made: BTreeSet<String> = all.iter().flat_map(|folded| folded.folders.clone()).collect();
    for folded in all {
        let parent = Path::new(&folded.path).parent().unwrap_or(Path::new(""));
        folded.folders = made.iter().filter(|folder| parent.starts_with(folder)).cloned().collect();
    }
}

impl Folded {
    /// Before its first call.
    fn new(Recorded { change, .. }: &Recorded) -> Self {
        let start = End { from: change.from.clone(), now: change.from.clone(), touched: false };
        let (path, ends) = (change.path.clone(), vec![start]);
        let (folders, modes) = (Vec::new(), BTreeMap::new());
        Self { path, ends, folders, modes, moved_from: None, moved_to: None }
    }

    /// Whether nothing was there before the first call.
    fn was_nothing(&self) -> bool {
        self.ends.iter().all(|end| end.from == Standing::Nothing)
    }

    fn then(&mut self, Recorded { change, certain }: Recorded) {
        let Change { path: _, from, to, folders, modes, moved_from } = change;
        let after = self.ends.iter().filter(|end| end.now.is_as(&from));
        let mut after: Vec<End> = after.map(|end| End { now: to.clone(), ..end.clone() }).collect();
        if after.is_empty() {
            // A call that failed may have looked before another one ran; then it began where that one did.
            let touched = !self.ends.iter().any(|end| end.from.is_as(&from));
            after.push(End { from, now: to.clone(), touched });
        }
        if certain {
            self.ends.clear();
        }
        for end in after {
            self.ends.retain(|known| *known != end);
            self.ends.push(end);
        }
        // What takes something away names the folders that go with it; they were not made by it.
        if to != Standing::Nothing {
            self.folders.extend(folders);
        }
        self.modes.extend(modes);
        self.moved_from = moved_from.or(self.moved_from.take());
    }

    /// What takes it back from what stands there now.
    pub(super) fn against(&self, now: Standing) -> Verdict {
        let Some(end) = self.ends.iter().rfind(|end| end.now.is_as(&now)) else {
            let before = |end: &End| !end.touched && end.from.is_as(&now);
            let was = self.ends.iter().any(before);
            return if was { Verdict::Nothing } else { Verdict::Leave(Obstacle::ChangedSince) };
        };
        match &end.from {
            from if from.is_as(&now) => return Verdict::Nothing,
            Standing::File(file) if file.secret => return Verdict::Leave(Obstacle::Secret),
            Standing::File(file) if file.kept.is_none() => return Verdict::Leave(Obstacle::TooLarge),
            Standing::Large { .. } => return Verdict::Leave(Obstacle::TooLarge),
            _ => {}
        }
        Verdict::PutBack { step: self.step(now, end.from.clone()), touched: end.touched }
    }

    pub(super) fn step(&self, from: Standing, to: Standing) -> Box<Step> {
        let (path, folders, modes) = (self.path.clone(), self.folders.clone(), self.modes.clone());
        let moved_from = self.moved_to.clone().filter(|_| to != Standing::Nothing);
        Box::new(Step { path, from, to, folders, modes, with: None, moved_from })
    }

    /// What has to be back before a step takes its bytes away, where they were moved here.
    pub(super) fn needs(&self, step: &Step) -> Option<&str> {
        self.moved_from.as_deref().filter(|_| step.to == Standing::Nothing && step.from != Standing::Nothing)
    }
}

impl Step {
    /// Whether the way to this path is free once this step is done: what stands in its place is a folder that goes, or a
    /// file on the way does.
    pub(super) fn clears(&self, path: &str) -> bool {
        let on_the_way = path != self.path && Path::new(path).starts_with(&self.path);
        self.to == Standing::Nothing && (on_the_way || self.folders.iter().any(|folder| folder == path))
    }
}

#[cfg(test)]
mod tests {
    use super::{Folded, Obstacle, Recorded, Step, Verdict, fold};
    use domain::Digest;
    use domain::change::{Change, Content, Standing};
    use std::collections::BTreeMap;

    fn file(name: &str) -> Standing {
        let digest = Digest::of(name.as_bytes());
        Standing::File(Content { kept: Some(digest), ..Content::new(digest, 1, 0o644) })
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
            Recorded { change: Change::new("f".into(), from, to), certain }
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
            // nobody knows of several, and what no call can have left last is not taken for theirs
            ("A>B B>C C?D", "C", back("A")),
            ("A>B B>C C?D", "B", None),
            ("A?B A?C", "B", back("A")),
            ("A?B A?C", "C", back("A")),
            // one that failed had looked before the other one ran
            ("A>B A?C", "B", back("A")),
            ("A>B A?C", "C", back("A")),
            ("A>B A?C B>D", "D", back("A")),
            ("A>B X?C", "B", back("A")),
            ("A>B X?C", "X", None),
            // somebody else was at it in between
            ("A>B X>C", "C", back("X")),
            ("A?B X>C", "C", back("X")),
            ("A>B X?C", "C", back("X")),
        ];
        for (calls, now, expected) in table {
            let verdict = folded(calls).against(standing(now));
            let expected = expected.map_or(Verdict::Leave(Obstacle::ChangedSince), |to| {
                let (from, to) = (standing(now), standing(&to));
                let step = Step {
                    path: "f".into(),
                    from,
                    to,
                    folders: Vec::new(),
                    modes: BTreeMap::new(),
                    with: None,
                    moved_from: None,
                };
                let touched = step.to == standing("X");
                Verdict::PutBack { step: Box::new(step), touched }
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
        let table = [
            ("A>B B>C", "C", false),
            ("A>B X>C", "C", true),
            ("A?B A>C", "C", false),
            ("A>B X>C C>D", "D", true),
        ];
        for (calls, now, expected) in table {
            let verdict = folded(calls).against(standing(now));
            assert!(
                matches!(verdict, Verdict::PutBack { touched, .. } if touched == expected),
                "{calls}: {verdict:?}"
            );
        }
    }

    #[test]
    fn what_was_not_kept_stays() {
        let digest = Digest::of(b"A");
        let large = Content::new(digest, 1, 0o644);
        let secret = Content { secret: true, ..large.clone() };
        let huge = Standing::Large { bytes: 1, mode: 0o644, changed_at: domain::Time::from_micros(0) };
        let table = [
            (Standing::File(large), Obstacle::TooLarge),
            (huge, Obstacle::TooLarge),
            (Standing::File(secret), Obstacle::Secret),
        ];
        for (from, why) in table {
            let change = Change::new("f".into(), from, Standing::Nothing);
            let folded = fold([Recorded { change, certain: true }]).remove(0);
            assert_eq!(folded.against(Standing::Nothing), Verdict::Leave(why));
        }
    }

    #[test]
    fn each_name_is_one_step_and_a_folder_goes_with_the_last_file_in_it() {
        let change = |path: &str, from: Standing, folders: &[&str]| {
            let folders = folders.iter().map(ToString::to_string).collect();
            let change = Change { folders, ..Change::new(path.into(), from, file("A")) };
            Recorded { change, certain: true }
        };
        let new = |path, folders| change(path, Standing::Nothing, folders);
        let all = fold([
            new("a/b/f", &["a", "a/b"]),
            new("g", &[]),
            new("a/h", &[]),
            new("ab", &[]),
            new("a", &[]),
            change("a/b/f", file("A"), &["a/b"]),
        ]);
        let seen: Vec<(&str, Vec<&str>)> = all
            .iter()
            .map(|one| (one.path.as_str(), one.folders.iter().map(String::as_str).collect()))
            .collect();
        let expected =
            [("a/b/f", vec!["a", "a/b"]), ("a", vec![]), ("ab", vec![]), ("a/h", vec!["a"]), ("g", vec![])];
        assert_eq!(seen, expected, "what was changed last comes first");
    }

    #[test]
    fn what_was_moved_is_back_before_it_leaves() {
        let moved = |from: &str, to: &str| {
            let made = Change::new(to.into(), Standing::Nothing, file("A"));
            let made = Change { moved_from: Some(from.into()), ..made };
            [made, Change::new(from.into(), file("A"), Standing::Nothing)]
        };
        let edited = |path: &str| [Change::new(path.into(), file("A"), file("B"))];
        let table = [
            (vec![moved("a", "b").to_vec()], vec![("a", None), ("b", Some("a"))]),
            (vec![moved("a", "b").to_vec(), edited("b").to_vec()], vec![("a", None), ("b", Some("a"))]),
            // from one to the next: what was first there is what has to be back
            (
                vec![moved("a", "b").to_vec(), moved("b", "c").to_vec()],
                vec![("b", Some("a")), ("a", None), ("c", Some("a"))],
            ),
        ];
        for (calls, expected) in table {
            let changes = calls.into_iter().flatten();
            let all = fold(changes.map(|change| Recorded { change, certain: true }));
            let seen: Vec<_> = all.iter().map(|one| (one.path.as_str(), one.moved_from.as_deref())).collect();
            let order = |path: &str| seen.iter().position(|(name, _)| *name == path);
            assert!(order("a") < order("b").max(order("c")), "{seen:?}");
            let (mut seen, mut expected) = (seen.clone(), expected);
            seen.sort();
            expected.sort();
            assert_eq!(seen, expected);
        }
    }
}
