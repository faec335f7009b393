//! What the questions of one request are about together. Questions over the same files share one job,
//! as far as one call can answer them; where it is not certain whether they are the same, nobody guesses.

use domain::limits;

use super::parse::{Of, Question, Said, What};
use super::request::{Files, Job, Place, Request, Show};
use super::why::Why;

pub(super) fn request(questions: &[Question]) -> Result<Request, Why> {
    if questions.len() > limits::PLAN_SUBTASKS {
        return Err(Why::TooMany);
    }
    ambiguous(questions)?;
    let mut jobs: Vec<Job> = Vec::new();
    for (number, question) in questions.iter().enumerate() {
        let files = match &question.of {
            Of::Lines { path, text } => {
                let job = Job::Lines { path: path.clone(), text: text.clone() };
                if !jobs.contains(&job) {
                    jobs.push(job);
                }
                continue;
            }
            Of::Files(said) => said.clone().into(),
            Of::Same => same(questions, number)?,
        };
        add(&mut jobs, files, question.what);
    }
    Ok(Request { jobs })
}

/// One call orders files one way: another order is another job, a count comes with any.
fn add(jobs: &mut Vec<Job>, asked: Files, what: What) {
    for job in jobs.iter_mut() {
        let Job::Files { files, count, show } = job else { continue };
        if *files != asked {
            continue;
        }
        match what {
            What::Count => {
                *count = true;
                return;
            }
            What::Show(wanted) if show.is_none_or(|show| show == wanted) => {
                *show = Some(wanted);
                return;
            }
            What::Show(_) => {}
        }
    }
    let show = match what {
        What::Count => None,
        What::Show(show) => Some(show),
    };
    jobs.push(Job::Files { files: asked, count: show.is_none(), show });
}

/// `and which is the largest?`: the files named before, or else (`which is the largest and which is the
/// newest Python file`) those that the next one ranks; more than one candidate is none.
fn same(questions: &[Question], number: usize) -> Result<Files, Why> {
    let (before, after) = questions.split_at_checked(number).unwrap_or((questions, &[]));
    let ranks = |question: &Question| matches!(question.what, What::Show(Show::Top(..)));
    let candidates = if before.iter().any(|question| question.of != Of::Same) {
        before
    } else if after.iter().take_while(|question| ranks(question)).any(|question| question.of != Of::Same) {
        after
    } else {
        return Err(Why::WhichFiles);
    };
    let mut found = None;
    for candidate in candidates {
        match &candidate.of {
            Of::Same => {}
            Of::Lines { path, .. } => return Err(Why::OneFile(path.clone())),
            Of::Files(said) => {
                let files = Files::from(said.clone());
                if found.get_or_insert_with(|| files.clone()) != &files {
                    return Err(Why::SameFiles);
                }
            }
        }
    }
    found.ok_or(Why::WhichFiles)
}

/// `how many Rust files are here, and which is the largest file?` may or may not mean the largest Rust
/// file; `how many files are in src, and which is the newest Python file?` may or may not mean in src.
fn ambiguous(questions: &[Question]) -> Result<(), Why> {
    let mut narrowed = false;
    let (mut in_a_folder, mut unplaced) = (false, false);
    for question in questions {
        match &question.of {
            Of::Same => {}
            Of::Lines { .. } => narrowed = true,
            Of::Files(said) => {
                let narrows = said.kind.is_some() || said.name.is_some() || said.contains.is_some();
                let pattern = matches!(said.place, Some(Place::Pattern(_)));
                if narrowed && !narrows && said.place.is_none() {
                    return Err(Why::SameFiles);
                }
                narrowed |= narrows || pattern;
                in_a_folder |= matches!(said.place, Some(Place::Folder(_)));
                unplaced |= said.place.is_none();
            }
        }
    }
    if in_a_folder && unplaced { Err(Why::WhereForEach) } else { Ok(()) }
}

impl From<Said> for Files {
    fn from(said: Said) -> Self {
        let Said { kind, name, contains, place } = said;
        let place = match place {
            None => Place::Workspace,
            Some(Place::Folder(path)) => folder(&path),
            Some(place) => place,
        };
        Self { kind, name, contains, place }
    }
}

/// `./src/` is `src`, and `./` is the workspace.
fn folder(path: &str) -> Place {
    let inner = path.strip_prefix("./").unwrap_or(path).trim_end_matches("/.").trim_end_matches('/');
    match inner {
        "" if path.starts_with('/') => Place::Folder("/".into()),
        "" | "." => Place::Workspace,
        inner => Place::Folder(inner.into()),
    }
}
