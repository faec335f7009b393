//! What one clause asks of its files: one thing, or it is refused. What does not go together is not done by halves.

use domain::limits;

use super::literal::is_file_name;
use super::request::{By, Files, Kind, Matching, Measure, Part, Rank, To, What};
use super::said::{Act, Key, Noun, Piece, Said, Target};
use super::when::Age;
use super::why::Why;

/// What is asked of them.
pub(super) fn what(said: &Said, files: &Files) -> Result<What, Why> {
    called_so(said, files)?;
    alone(said, files)?;
    let what = match () {
        () if said.by.is_some() => grouped(said, files)?,
        () if !said.functions.is_empty() || said.column.is_some() => statistics(said, files)?,
        () if said.noun == Some(Noun::Columns) => table(files).map(|()| What::Columns)?,
        () if said.noun == Some(Noun::Rows) || said.only.is_some() || said.thing.is_some() => {
            rows(said, files)?
        }
        () if said.part.is_some() => part(said, files)?,
        () => acted(said, files)?,
    };
    fits(&what, said, files)?;
    let extra = said.text.is_some()
        && !matches!(
            what,
            What::Lines(_)
                | What::Measure(Measure::Matching(_) | Measure::Occurrences(_))
                | What::Show { .. }
                | What::Exists
        );
    if extra { Err(Why::NotTogether) } else { Ok(what) }
}

/// What can be asked of such files at all.
fn fits(what: &What, said: &Said, files: &Files) -> Result<(), Why> {
    let shows = matches!(what, What::Show { .. } | What::Exists);
    let changes = matches!(what, What::Delete | What::Copy(_) | What::Move(_));
    if let (Some(pattern), false) = (&files.pattern, shows || changes || *what == What::Size) {
        return Err(Why::PatternAlone(pattern.clone()));
    }
    let plainly = Files {
        path: files.path.clone(),
        under: files.under.clone(),
        direct: files.direct,
        ..Files::default()
    };
    if files.path.is_some() && !shows && *files != plainly {
        return Err(Why::NotTogether);
    }
    let several = matches!(files.top, Some(top) if top.n != Some(1) && !matches!(top.rank, Rank::MostMatches | Rank::MostLines));
    let counts = matches!(what, What::Measure(_) | What::Lines(_) | What::Groups(_));
    let each = said.each && said.number.is_none() && matches!(what, What::Measure(_) | What::Size);
    let of_top = said.of_top
        && (files.contains.is_some()
            || files.lacks.is_some()
            || files.size != (None, None)
            || files.age != Age::default()
            || files.empty.is_some());
    let bare =
        said.save && !said.count && said.text.is_none() && matches!(what, What::Measure(_) | What::Rows(_));
    if (several && counts) || each || of_top || bare { Err(Why::NotTogether) } else { Ok(()) }
}

/// What must not be said beside each other.
fn alone(said: &Said, files: &Files) -> Result<(), Why> {
    let other = said.list
        || said.count
        || said.search
        || said.noun.is_some()
        || said.save
        || said.text.is_some()
        || said.by.is_some()
        || said.part.is_some();
    if said.changes() && (other || !said.functions.is_empty() || said.headless || said.thing.is_some()) {
        return Err(Why::TwoActs);
    }
    let lines = matches!(said.noun, Some(Noun::Lines | Noun::Words));
    if said.headless && (lines || said.part.is_some()) {
        return Err(Why::NotTogether);
    }
    let twice = said.text.is_some() && (files.contains.is_some() || files.lacks.is_some());
    let manners = matches!((&files.contains, &files.lacks), (Some(one), Some(other)) if (one.any_case, one.whole_word) != (other.any_case, other.whole_word));
    let read = said.part.is_some() && (files.contains.is_some() || files.lacks.is_some());
    let lines_of = files.contains.is_some()
        && matches!(files.top, Some(top) if top.rank.is_of_text() && top.rank != Rank::MostMatches);
    let every = said.act == Some(Act::Exists) && said.all;
    if twice || manners || read || every || lines_of { Err(Why::NotTogether) } else { Ok(()) }
}

fn grouped(said: &Said, files: &Files) -> Result<What, Why> {
    let together = !said.functions.is_empty()
        || said.part.is_some()
        || said.rank.is_some()
        || matches!(said.act, Some(Act::Delete | Act::Copy | Act::Move | Act::Hash(_) | Act::Size));
    if together || matches!(said.noun, Some(Noun::Lines | Noun::Words | Noun::Times | Noun::Columns)) {
        return Err(Why::NotTogether);
    }
    match &said.by {
        // `rows of expenses.csv per kind`: one file has one type, so a column is meant.
        Some(Key::Extension(column)) if table(files).is_ok() && files.path.is_some() => {
            Ok(What::Values { column: column.clone(), only: said.only.clone() })
        }
        Some(Key::Extension(_)) if !files.folders => Ok(What::Groups(By::Extension)),
        Some(Key::Folder) if !files.folders && files.path.is_none() => Ok(What::Groups(By::Folder)),
        Some(Key::Column(column)) => {
            table(files)?;
            called_so(said, files)?;
            Ok(What::Values { column: column.clone(), only: said.only.clone() })
        }
        _ => Err(Why::NotTogether),
    }
}

fn statistics(said: &Said, files: &Files) -> Result<What, Why> {
    let column = said.column.clone().ok_or(Why::NoColumn)?;
    table(files)?;
    called_so(said, files)?;
    if said.functions.is_empty() {
        return Err(Why::NothingAsked);
    }
    if said.act.is_some_and(|act| act != Act::Exists)
        || said.noun.is_some_and(|noun| !matches!(noun, Noun::Rows | Noun::Names))
        || said.part.is_some()
        || said.count
    {
        return Err(Why::NotTogether);
    }
    let mut functions = said.functions.clone();
    functions.dedup();
    Ok(What::Stats { functions, column, only: said.only.clone() })
}

fn rows(said: &Said, files: &Files) -> Result<What, Why> {
    table(files)?;
    called_so(said, files)?;
    if !said.count && said.list || said.act.is_some() || said.rank.is_some() {
        return Err(Why::NotTogether);
    }
    Ok(What::Rows(said.only.clone()))
}

/// `how many tickets`: an open word is another word for rows only if the table is called like it.
fn called_so(said: &Said, files: &Files) -> Result<(), Why> {
    let Some(thing) = &said.thing else { return Ok(()) };
    let stem = files
        .path
        .as_deref()
        .and_then(|path| path.rsplit('/').next())
        .and_then(|name| name.split('.').next());
    let plain = |word: &str| {
        let lower = word.to_lowercase();
        lower
            .strip_suffix("ies")
            .map_or_else(|| lower.trim_end_matches('s').to_owned(), |stem| format!("{stem}y"))
    };
    if stem.is_some_and(|stem| plain(stem) == plain(thing)) {
        Ok(())
    } else {
        Err(Why::UnknownWord(thing.clone()))
    }
}

fn table(files: &Files) -> Result<(), Why> {
    let narrowed = !files.outside.is_empty()
        || !files.not_names.is_empty()
        || !files.not_kinds.is_empty()
        || files.contains.is_some()
        || files.lacks.is_some()
        || files.age != Age::default()
        || files.size != (None, None)
        || files.empty.is_some();
    if files.path.is_some() && narrowed {
        return Err(Why::NotTogether);
    }
    let named = files.path.as_deref().is_some_and(|path| {
        let lower = path.to_lowercase();
        [".csv", ".tsv", ".json", ".jsonl", ".ndjson"].iter().any(|end| lower.ends_with(end))
    });
    let kind = |kind: &Kind| kind.extensions.iter().all(|e| ["csv", "json"].contains(&e.as_str()));
    let one = files.is_one() && !files.kinds.is_empty() && files.kinds.iter().all(kind);
    if named || one { Ok(()) } else { Err(Why::NoTable) }
}

fn part(said: &Said, files: &Files) -> Result<What, Why> {
    one_file(files)?;
    if said.act.is_some_and(|act| act != Act::Exists)
        || said.count
        || matches!(said.noun, Some(Noun::Words | Noun::Times))
        || said.text.is_some()
    {
        return Err(Why::NotTogether);
    }
    let most = u32::try_from(limits::MATCHING_LINES).unwrap_or(u32::MAX);
    let lines = |n: Option<u32>| {
        n.ok_or(Why::NoLines).and_then(|n| if (1..=most).contains(&n) { Ok(n) } else { Err(Why::OutOfRange) })
    };
    Ok(What::Part(match said.part {
        Some(Piece::First(n)) => Part::First(lines(n)?),
        Some(Piece::Last(n)) => Part::Last(lines(n)?),
        Some(Piece::Between(from, to)) if from >= 1 && to >= from && to - from < most => {
            Part::Between(from, to)
        }
        Some(Piece::Between(..)) => return Err(Why::OutOfRange),
        None => Part::Whole,
    }))
}

fn one_file(files: &Files) -> Result<(), Why> {
    if files.folders {
        Err(Why::FilesOnly)
    } else if files.is_one() {
        Ok(())
    } else {
        Err(Why::OneFileNeeded)
    }
}

fn acted(said: &Said, files: &Files) -> Result<What, Why> {
    let measures = matches!(said.noun, Some(Noun::Lines | Noun::Words | Noun::Times));
    match said.act {
        Some(act) if act.changes() => changed(act, said, files),
        Some(Act::Hash(_) | Act::Size) if measures || said.text.is_some() => Err(Why::NotTogether),
        Some(Act::Hash(_)) if said.count => Err(Why::NotTogether),
        Some(Act::Hash(algorithm)) => one_file(files).map(|()| What::Hash(algorithm)),
        Some(Act::Size) => Ok(What::Size),
        Some(Act::Exists) if !measures && !said.count && said.rank.is_none() => match &said.text {
            Some(text) if files.contains.is_none() => Ok(What::Lines(text.clone())),
            _ => Ok(What::Exists),
        },
        _ => asked(said, files),
    }
}

/// Nothing else is asked beside it: [`alone`] has seen to that.
fn changed(act: Act, said: &Said, files: &Files) -> Result<What, Why> {
    if files.folders {
        return Err(Why::FilesOnly);
    }
    // `can you delete files?` names none: which they are has to be said.
    let bounded = files.is_narrowed() || files.top.is_some() || said.all || said.same;
    if !bounded {
        return Err(Why::WhichFiles);
    }
    if act == Act::Delete {
        return Ok(What::Delete);
    }
    let target = target(said, if act == Act::Copy { "copy" } else { "move" })?;
    let to = goal(target, files, said.renames)?;
    if let (To::File(path) | To::Name(path), true) = (&to, said.paths.len() > 1) {
        return Err(Why::FolderNeeded(path.clone()));
    }
    Ok(if act == Act::Copy { What::Copy(to) } else { What::Move(to) })
}

fn goal(target: &Target, files: &Files, renames: bool) -> Result<To, Why> {
    let path = target.path.trim_end_matches('/').to_owned();
    let bare = target
        .path
        .strip_prefix('.')
        .filter(|rest| !rest.is_empty() && rest.chars().all(char::is_alphanumeric));
    if let (Some(extension), true, false) = (bare, renames, target.folder) {
        return Ok(To::Extension(extension.to_owned()));
    }
    let bare_name = target.file || is_file_name(&target.path) || renames;
    if target.folder || target.path.ends_with('/') || !bare_name {
        return Ok(To::Folder(path));
    }
    let same = files.path.as_deref() == Some(path.as_str());
    if same {
        return Err(Why::Contradiction);
    }
    if !files.is_one() {
        return Err(Why::FolderNeeded(path));
    }
    Ok(if renames && !path.contains('/') { To::Name(path) } else { To::File(path) })
}

/// Questions: what is counted, shown or ranked.
fn asked(said: &Said, files: &Files) -> Result<What, Why> {
    let counts = said.count || !(said.list || said.search || said.all || said.save);
    match (said.noun, &said.text) {
        (Some(Noun::Words), None) => return Ok(What::Measure(Measure::Words)),
        (Some(Noun::Times), Some(text)) => {
            return Ok(What::Measure(Measure::Occurrences(text.needle.clone())));
        }
        (Some(Noun::Words), Some(_)) | (Some(Noun::Times), None) => return Err(Why::NoText),
        (Some(Noun::Lines), Some(text)) if counts => {
            return Ok(What::Measure(Measure::Matching(text.clone())));
        }
        (_, Some(text)) => return searched(said, files, text),
        (Some(Noun::Lines), None) if said.count || !said.reads => return Ok(What::Measure(Measure::Lines)),
        (Some(Noun::Lines), None) => return one_file(files).map(|()| What::Part(Part::Whole)),
        _ => {}
    }
    if said.search && files.contains.is_none() {
        return Err(Why::NoText);
    }
    if files.path.is_some()
        && said.reads
        && said.rank.is_none()
        && !said.count
        && said.noun.is_none()
        && files.contains.is_none()
    {
        return Ok(What::Part(Part::Whole));
    }
    // `what are toml files?` may ask for something else altogether, and so may `what is in README.md`.
    let kinds = Files { kinds: files.kinds.clone(), ..Files::default() };
    if said.what
        && !said.count
        && (*files == kinds && !said.said_here || files.path.is_some() && files.contains.is_none())
        && said.rank.is_none()
    {
        return Err(Why::NothingAsked);
    }
    let verbless = !said.asks();
    let lone = files.path.is_some() && verbless;
    let said_enough = said.all
        || *files != Files { folders: files.folders, kinds: files.kinds.clone(), ..Files::default() };
    if lone || (verbless && !said_enough) {
        return Err(Why::NothingAsked);
    }
    // `save a.txt as b.txt` wants a copy.
    if said.save && files.path.is_some() && !said.count {
        return Err(Why::NotTogether);
    }
    Ok(What::Show { count: said.count, list: !said.count || said.rank.is_some() })
}

/// Lines that contain a text; asked which files have it, the files.
fn searched(said: &Said, files: &Files, text: &Matching) -> Result<What, Why> {
    if said.count && said.noun.is_none() && !files.is_one() {
        return Err(Why::NotTogether);
    }
    if said.count {
        return Ok(What::Measure(Measure::Matching(text.clone())));
    }
    if files.contains.is_some() { Err(Why::Twice("a text")) } else { Ok(What::Lines(text.clone())) }
}

pub(super) fn target<'a>(said: &'a Said, act: &'static str) -> Result<&'a Target, Why> {
    said.to.as_ref().ok_or(Why::NoTarget(act))
}
