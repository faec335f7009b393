//! What the clauses of a request mean: each becomes something to do with a set of files, alone or together with the one
//! before it. Where two readings are possible, nobody guesses.

use domain::limits;

use super::meaning::{target, what};
use super::request::{Files, Job, Matching, Measure, Rank, Request, To, Top, What};
use super::said::{Act, Key, Noun, Said};
use super::when::Age;
use super::why::Why;
use super::words::MOST;

pub(super) fn request(clauses: Vec<Said>) -> Result<Request, Why> {
    ambiguous(&clauses)?;
    let mut jobs: Vec<Job> = Vec::new();
    let mut before: Option<Said> = None;
    for mut said in forward(clauses) {
        if let Some(before) = &before {
            said.inherit(before)?;
        }
        add(&mut jobs, &said)?;
        before = Some(said);
    }
    if jobs.len() > limits::PLAN_SUBTASKS {
        return Err(Why::TooMany);
    }
    if jobs.is_empty() { Err(Why::NothingAsked) } else { Ok(Request { jobs }) }
}

/// `how many lines and how many words are in a.txt`: the files may come with the last of several questions.
fn forward(mut clauses: Vec<Said>) -> Vec<Said> {
    let asks =
        |said: &Said| (said.count || said.rank.is_some()) && said.act.is_none() && !said.save && !said.same;
    let bare = clauses.iter().take_while(|said| !said.is_about_files() && asks(said)).count();
    let (first, rest) = clauses.split_at_mut_checked(bare).unwrap_or_default();
    if let Some(with) = rest.first().filter(|said| !said.apart && asks(said) && said.is_about_files()) {
        for said in first.iter_mut().filter(|said| said.noun.is_some() || said.rank.is_some()) {
            (said.files, said.paths) = (with.files.clone(), with.paths.clone());
            (said.headed, said.plural) = (with.headed, with.plural.filter(|_| said.rank.is_none()));
        }
    }
    clauses
}

impl Said {
    /// `count the ERROR lines in a.log and the WARN lines in b.log`: what is done is said once. What changes files is said
    /// for each: whether `delete a and b in docs` means the place for both, nobody knows.
    fn inherit(&mut self, before: &Self) -> Result<(), Why> {
        if before.changes() && !self.apart && !self.has_verb() {
            return Err(Why::SayForEach);
        }
        if self.asks() || !self.is_about_files() || self.apart {
            return Ok(());
        }
        (self.count, self.list, self.search, self.act) =
            (before.count, before.list, before.search, before.act);
        self.noun = self.noun.or(before.noun);
        Ok(())
    }
}

/// What is changed has to be said for itself: neither only if something is so, nor of what somebody spoke about in passing.
fn changeable(jobs: &[Job], said: &Said) -> Result<(), Why> {
    if !said.changes() {
        return Ok(());
    }
    if jobs.iter().any(|job| job.what == What::Exists) {
        return Err(Why::Condition);
    }
    if said.headed && !said.files.is_narrowed() && said.paths.is_empty() && !jobs.is_empty() {
        return Err(Why::SameFiles);
    }
    let reading = |job: &&Job| !job.changes();
    let narrowed = jobs.iter().filter(reading).any(|job| job.files.path.is_none() && job.files.is_narrowed());
    if said.headed && said.paths.is_empty() && narrowed {
        return Err(Why::SameFiles);
    }
    let meant = |job: &Job| matches!(job.what, What::Show { .. }) && job.save.is_none();
    let named = said.headed || !said.paths.is_empty();
    let several = jobs.iter().filter(reading).count() > 1;
    let one = jobs.last().is_some_and(|job| job.files.is_one());
    if !named && !said.same && said.rank.is_none() {
        return Err(Why::WhichFiles);
    }
    if !named && (several || said.it && !one) {
        return Err(Why::SameFiles);
    }
    if !named && !jobs.last().is_some_and(meant) { Err(Why::WhichFiles) } else { Ok(()) }
}

/// Adds what a clause asks for, to the job before it if the two are one.
fn add(jobs: &mut Vec<Job>, said: &Said) -> Result<(), Why> {
    if let (Some(thing), false) = (&said.thing, said.is_about_files()) {
        return Err(Why::UnknownWord(thing.clone()));
    }
    if said.save && !said.is_about_files() && said.functions.is_empty() {
        return save(jobs, said);
    }
    if !said.is_about_files() && refine(jobs, said)? {
        return Ok(());
    }
    // `search for x in a.txt and count them`: the lines are counted, and not the file.
    if let (
        Some(Job { files, what: What::Lines(matching), .. }),
        true,
        None | Some(Noun::Lines | Noun::Times),
    ) = (jobs.last(), said.count && !said.is_about_files(), said.noun)
    {
        let what = What::Measure(Measure::Matching(matching.clone()));
        let job = Job { files: files.clone(), what, save: None };
        jobs.push(job);
        return Ok(());
    }
    changeable(jobs, said)?;
    several_sets(jobs, said)?;
    let files = files(said, jobs.last())?;
    let saved = if said.save { Some(written(said)?) } else { None };
    let several = said.paths.len() > 1;
    for path in
        several.then_some(&said.paths).into_iter().flatten().map(Some).chain((!several).then_some(None))
    {
        let files = match path {
            Some(path) => Files { path: Some(path.clone()), ..files.clone() },
            None => files.clone(),
        };
        check(&files)?;
        let what = what(said, &files)?;
        let job = Job { files, what, save: saved.clone() };
        // What was counted before something changed is counted again.
        let since = jobs.iter().rposition(Job::changes).map_or(0, |at| at + 1);
        let recent = jobs.get_mut(since..).unwrap_or_default();
        if !merged(recent, &job, said) && !recent.contains(&job) {
            jobs.push(job);
        }
    }
    Ok(())
}

/// `how many Rust files, how many TOML files, and which is the largest?`: of which of them?
fn several_sets(jobs: &[Job], said: &Said) -> Result<(), Why> {
    let all = |files: &Files| files.without_top();
    let differ =
        jobs.windows(2).any(|pair| matches!(pair, [one, other] if all(&one.files) != all(&other.files)));
    if !said.is_about_files() && !said.apart && differ { Err(Why::SameFiles) } else { Ok(()) }
}

/// Where an answer is written: to a file of text.
fn written(said: &Said) -> Result<String, Why> {
    const NO_TEXT: [&str; 14] =
        ["zip", "tar", "gz", "tgz", "xz", "7z", "png", "jpg", "jpeg", "gif", "pdf", "docx", "xlsx", "pptx"];
    let path = target(said, "write")?.path.clone();
    let extension = path.rsplit('.').next().unwrap_or("").to_lowercase();
    if NO_TEXT.contains(&extension.as_str()) { Err(Why::NotText(path)) } else { Ok(path) }
}

/// `and write the result to x.txt`.
fn save(jobs: &mut [Job], said: &Said) -> Result<(), Why> {
    let path = written(said)?;
    let names = said.noun == Some(Noun::Names);
    match jobs {
        [] => Err(Why::WhichAnswer),
        [.., last] if last.save.is_some() => Err(Why::WhichAnswer),
        [first @ .., last] => {
            let reading = |job: &Job| !matches!(job.what, What::Delete | What::Copy(_) | What::Move(_));
            if first.iter().any(reading) || !reading(last) {
                return Err(Why::WhichAnswer);
            }
            if let (What::Show { count, list }, true) = (&mut last.what, names) {
                (*count, *list) = (false, true);
            }
            if let (What::Show { count, list }, true) = (&mut last.what, said.count) {
                (*count, *list) = (true, false);
            }
            last.save = Some(path);
            Ok(())
        }
    }
}

/// A clause that only adds to the question before: `and show the top 3`, `which ones?`, `and tell me which have it`.
fn refine(jobs: &mut [Job], said: &Said) -> Result<bool, Why> {
    let plain = said.list
        && !said.count
        && said.act.is_none()
        && said.part.is_none()
        && said.functions.is_empty()
        && said.by.is_none()
        && !matches!(said.noun, Some(Noun::Lines | Noun::Words | Noun::Rows | Noun::Columns | Noun::Times));
    let Some(last) = jobs.last_mut().filter(|_| plain) else { return Ok(false) };
    match (&last.what, said.number, said.rank) {
        (
            What::Measure(Measure::Matching(_) | Measure::Occurrences(_)),
            Some(n),
            None | Some(Rank::MostMatches | Rank::Largest),
        ) => {
            last.files.top = Some(Top { rank: Rank::MostMatches, n: Some(in_range(n)?) });
            Ok(true)
        }
        (What::Measure(Measure::Lines), Some(n), None | Some(Rank::MostLines | Rank::Largest)) => {
            last.files.top = Some(Top { rank: Rank::MostLines, n: Some(in_range(n)?) });
            Ok(true)
        }
        (What::Exists, None, None) => {
            last.what = What::Show { count: true, list: true };
            Ok(true)
        }
        (What::Lines(matching), None, None) if !matching.lacking && last.files.path.is_none() => {
            last.files.contains = Some(matching.needle.clone());
            last.what = What::Show { count: true, list: true };
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Which files this clause is about: what it says itself, on top of the clause before if it says only a part.
fn files(said: &Said, before: Option<&Job>) -> Result<Files, Why> {
    if said.changed {
        return Err(Why::NoAge);
    }
    if said.deep && said.files.direct {
        return Err(Why::Contradiction);
    }
    if said.same && said.headed {
        return Err(Why::SameFiles);
    }
    if said.sized && (said.headed || !said.paths.is_empty()) {
        return Err(Why::TwoPlaces);
    }
    if said.files.empty.is_some() && !said.paths.is_empty() && said.noun.is_some() {
        return Err(Why::NotHere("empty".into()));
    }
    // Only a size is taken up; `use` says something else everywhere else.
    if said.takes && said.act != Some(Act::Size) && said.rank.is_none() {
        return Err(Why::NotHere("use".into()));
    }
    let mut files = match before.filter(|_| !said.headed && said.paths.is_empty()) {
        Some(before) if said.is_about_files() => over(&before.files, &said.files)?,
        Some(before) if before.changes() => afterwards(before)?,
        Some(before) => Files {
            contains: found(before).or_else(|| before.files.contains.clone()),
            ..before.files.clone()
        },
        None => {
            let aged = said.files.age != Age::default();
            if said.act == Some(Act::Delete)
                && !said.files.under.is_empty()
                && !said.headed
                && said.paths.is_empty()
            {
                return Err(Why::FilesOnly);
            }
            let placed = said.act == Some(Act::Size) && !said.files.under.is_empty();
            let named = said.act == Some(Act::Size) && said.all;
            let searched = said.text.is_some();
            let grouped = matches!(said.by, Some(Key::Extension(_) | Key::Folder)) && said.headed;
            if !(said.headed || !said.paths.is_empty() || aged || placed || named || searched || grouped) {
                return Err(if said.asks() { Why::WhichFiles } else { Why::NothingAsked });
            }
            said.files.clone()
        }
    };
    if said.same && before.is_none() && !said.headed && said.paths.is_empty() {
        return Err(Why::WhichFiles);
    }
    if let [path] = said.paths.as_slice() {
        files.path = Some(path.clone());
    }
    files.single |= said.changes()
        && said.headed
        && said.paths.is_empty()
        && said.plural == Some(false)
        && !said.all
        && said.rank.is_none();
    if let Some(top) = top(said)? {
        files.top = Some(top);
    }
    Ok(files)
}

/// What is left of a file that was changed: `rename a.txt to b.txt and show its first line`.
fn afterwards(before: &Job) -> Result<Files, Why> {
    let path = match (&before.what, &before.files.path) {
        (What::Move(To::File(path)), Some(_)) => path.clone(),
        (What::Move(To::Name(name)), Some(old)) => {
            old.rsplit_once('/').map_or_else(|| name.clone(), |(folder, _)| format!("{folder}/{name}"))
        }
        (What::Copy(_), Some(path)) => path.clone(),
        _ => return Err(Why::SameFiles),
    };
    Ok(Files { path: Some(path), ..Files::default() })
}

/// The text that the lines of the job before were to contain: `its` files are those that have it.
fn found(before: &Job) -> Option<super::request::Needle> {
    match &before.what {
        What::Lines(Matching { needle, lacking: false }) => Some(needle.clone()),
        _ => None,
    }
}

/// The same files, elsewhere or narrowed differently.
fn over(before: &Files, said: &Files) -> Result<Files, Why> {
    let twice = !before.outside.is_empty() && !said.outside.is_empty()
        || before.contains.is_some() && said.contains.is_some()
        || before.lacks.is_some() && said.lacks.is_some()
        || before.age != Age::default() && said.age != Age::default()
        || before.size != (None, None) && said.size != (None, None)
        || !before.names.is_empty() && !said.names.is_empty();
    if twice || before.top.is_some() || before.path.is_some() {
        return Err(Why::SameFiles);
    }
    let mut files = before.clone();
    if !said.under.is_empty() {
        files.under.clone_from(&said.under);
        files.direct = said.direct;
    }
    if !said.outside.is_empty() {
        files.outside.clone_from(&said.outside);
    }
    files.contains = said.contains.clone().or(files.contains);
    files.lacks = said.lacks.clone().or(files.lacks);
    if said.age != Age::default() {
        files.age = said.age.clone();
    }
    files.size = (said.size.0.or(files.size.0), said.size.1.or(files.size.1));
    files.empty = said.empty.or(files.empty);
    files.not_kinds.extend(said.not_kinds.iter().cloned());
    files.not_names.extend(said.not_names.iter().cloned());
    files.names.extend(said.names.iter().cloned());
    Ok(files)
}

fn in_range(n: u32) -> Result<u32, Why> {
    if (1..=MOST).contains(&n) { Ok(n) } else { Err(Why::OutOfRange) }
}

/// `the largest` is one; `the largest files` is no number at all.
fn top(said: &Said) -> Result<Option<Top>, Why> {
    let rank = match (said.rank, said.number) {
        (Some(_), _) if !said.paths.is_empty() => return Err(Why::NotTogether), // `is a.txt the largest?`
        (None, None) => return Ok(None),
        (None, Some(n)) => {
            in_range(n)?;
            let counted = matches!(said.noun, Some(Noun::Lines | Noun::Times)) && said.text.is_some();
            if !counted {
                return Err(Why::TopOfWhat);
            }
            Rank::MostMatches
        }
        (Some(rank), _) => rank,
    };
    let n = match said.number {
        Some(n) => Some(in_range(n)?),
        None if said.ordered => None,
        None if said.plural == Some(true) && !said.single => return Err(Why::HowManyOf(rank)),
        None => Some(1),
    };
    Ok(Some(Top { rank, n }))
}

fn check(files: &Files) -> Result<(), Why> {
    if let Some(pattern) = &files.pattern
        && *files != (Files { pattern: files.pattern.clone(), top: files.top, ..Files::default() })
    {
        return Err(Why::PatternAlone(pattern.clone()));
    }
    if let (Some(more), Some(less)) = files.size
        && more.saturating_add(1) >= less
    {
        return Err(Why::Contradiction);
    }
    // A file with its folder is where it is: another place would be somewhere else.
    if files.path.as_deref().is_some_and(|path| path.contains('/')) && !files.under.is_empty() {
        return Err(Why::Twice("a place"));
    }
    let impossible = files.empty == Some(true) && (files.contains.is_some() || files.size.0.is_some());
    let itself = files.not_kinds.iter().any(|kind| files.kinds.contains(kind))
        || files.outside.iter().any(|place| files.under.contains(place));
    let folders = files.folders
        && (!files.kinds.is_empty()
            || files.contains.is_some()
            || files.lacks.is_some()
            || files.size != (None, None)
            || matches!(
                files.top,
                Some(Top {
                    rank: Rank::Largest
                        | Rank::Smallest
                        | Rank::MostLines
                        | Rank::FewestLines
                        | Rank::MostWords
                        | Rank::MostMatches,
                    ..
                })
            ));
    let inside = |outer: &String| {
        files
            .under
            .iter()
            .any(|under| outer.strip_prefix(under.as_str()).is_some_and(|rest| rest.starts_with('/')))
    };
    if !files.under.is_empty()
        && !files.under.iter().any(|under| under == ".")
        && !files.outside.iter().all(inside)
    {
        return Err(Why::SameFiles);
    }
    if impossible || itself {
        return Err(Why::Contradiction);
    }
    if folders { Err(Why::FilesOnly) } else { Ok(()) }
}

/// Questions over the same files share one job, as far as one call can answer them.
fn merged(jobs: &mut [Job], new: &Job, said: &Said) -> bool {
    let (What::Show { count, list }, None) = (&new.what, &new.save) else { return false };
    let without = |files: &Files| Files { top: None, ..files.clone() };
    for job in jobs.iter_mut().filter(|_| !said.apart || !said.headed) {
        let Job { files, what: What::Show { count: old_count, list: old_list }, save: None } = job else {
            continue;
        };
        if without(files) != without(&new.files) {
            continue;
        }
        match (files.top, new.files.top) {
            (old, new) if old == new || new.is_none() && !*list => {}
            (None, Some(_)) if !*old_list => files.top = new.files.top,
            _ => continue,
        }
        *old_count |= *count;
        *old_list |= *list;
        return true;
    }
    false
}

/// `how many Rust files are here, and which is the largest file?` may or may not mean the largest Rust
/// file; `how many files are in src, and which is the newest Python file?` may or may not mean in src.
fn ambiguous(clauses: &[Said]) -> Result<(), Why> {
    let asks = |said: &&Said| {
        said.headed
            && said.paths.is_empty()
            && !said.save
            && matches!(said.act, None | Some(Act::Exists | Act::Size))
            && said.part.is_none()
    };
    // `how often do TODO and FIXME occur in a.txt`: where the first one?
    let placeless =
        |said: &Said| said.text.is_some() && !said.is_about_files() && !said.same && !said.said_here;
    if clauses
        .windows(2)
        .any(|pair| matches!(pair, [one, other] if placeless(one) && !other.apart && other.is_about_files()))
    {
        return Err(Why::WhereForEach);
    }
    let (mut narrowed, mut in_a_folder, mut unplaced) = (false, false, false);
    for said in clauses.iter().filter(asks) {
        if said.apart {
            (narrowed, in_a_folder, unplaced) = (false, false, false);
        }
        let placed = !said.files.under.is_empty();
        let narrows = said.files.is_narrowed()
            && said.files
                != Files { under: said.files.under.clone(), direct: said.files.direct, ..Files::default() };
        if narrowed && !narrows && !placed && !said.said_here {
            return Err(Why::SameFiles);
        }
        narrowed |= narrows;
        in_a_folder |= placed;
        unplaced |= !placed && !said.said_here && said.files.pattern.is_none();
    }
    if in_a_folder && unplaced { Err(Why::WhereForEach) } else { Ok(()) }
}
