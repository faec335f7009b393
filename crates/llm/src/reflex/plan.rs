//! One subtask per job, and what must hold of the record for its answer to be true.

use domain::Text;
use domain::criterion::{Check, Criterion};
use domain::task::{Plan, Subtask};
use serde_json::{Value, json};

use super::request::{Job, Measure, Request, What};
use super::steps::{FIND_FILES, GLOB, WRITE_FILE, finder, needs_finding, tool};

pub(super) fn plan(request: &Request) -> Plan {
    let changes = request.jobs.iter().any(|job| job.changes() || job.save.is_some());
    let subtask = |(number, job): (u32, &Job)| {
        let mut subtask = Subtask::new(Text::model(job.intent()), criteria(job));
        // What changes files is done in the order in which it was said, and nothing after what has failed.
        if changes && let Some(before) = number.checked_sub(1) {
            subtask.depends_on = vec![before];
        }
        subtask
    };
    Plan::of((0..).zip(&request.jobs).map(subtask).collect())
}

fn criteria(job: &Job) -> Vec<Criterion> {
    let main = tool(job);
    let saves = job.save.is_some();
    // There may be nothing to delete; then that is the answer.
    let may_stop = job.what == What::Delete && job.files.path.is_none();
    let mut criteria = Vec::new();
    if needs_finding(job) {
        criteria.push(ran(finder(job)));
    }
    if may_stop {
        let none = Check::JsonPath { pointer: "/count".into(), equals: json!(0) };
        criteria.push(Criterion::checked(
            "the files are deleted, if there are any",
            Check::AnyOf(vec![called(main), none]),
        ));
    } else {
        criteria.push(ran(main));
    }
    if saves {
        criteria.push(ran(WRITE_FILE));
        criteria.extend(job.save.iter().map(|path| {
            Criterion::checked(format!("{path} is written"), Check::FileExists { path: path.clone() })
        }));
    } else {
        // Pointers are about the last record, so about this one only if nothing comes after it.
        criteria.extend(about(job, main));
    }
    criteria
}

fn about(job: &Job, main: &str) -> Vec<Criterion> {
    let listed = |text: &str, pointer: &str| Criterion::checked(text, unless_none("/count", pointer));
    match &job.what {
        What::Part(_) => vec![Criterion::checked("the lines were read", known("/bytes"))],
        What::Hash(_) => {
            vec![Criterion::checked("the hash is known", Check::NotEmpty { pointer: "/hex".into() })]
        }
        What::Stats { .. } => {
            vec![Criterion::checked("there are numbers in the column", at_least_one("/count"))]
        }
        What::Rows(_) | What::Columns => {
            vec![Criterion::checked("the number of rows is known", known("/rows"))]
        }
        What::Values { .. } => vec![Criterion::checked("the groups are known", known("/groups"))],
        What::Calculate(_) => {
            vec![Criterion::checked("there is a result", Check::NotEmpty { pointer: "/result".into() })]
        }
        What::Copy(_) | What::Move(_) => {
            vec![Criterion::checked("something was done", at_least_one("/count"))]
        }
        What::Delete => vec![],
        what => {
            let mut criteria = vec![
                Criterion::checked("every folder could be read", equals("/complete", json!(true))),
                Criterion::checked("the number of files is known", known("/count")),
            ];
            if job.files.contains.is_some() || job.files.lacks.is_some() || matches!(what, What::Lines(_)) {
                criteria.push(Criterion::checked(
                    "every file could be searched",
                    equals("/unreadable", json!(0)),
                ));
            }
            match what {
                What::Show { list: true, .. } if main == FIND_FILES || main == GLOB => {
                    let text = match job.files.top {
                        Some(top) if top.n == Some(1) => {
                            format!("the {} is named, if there is any", top.rank.name())
                        }
                        _ => "the files are named, if there are any".to_owned(),
                    };
                    criteria.push(listed(&text, "/files/0/path"));
                }
                What::Lines(_) => criteria
                    .push(listed("the matches are shown, if there are any", "/files/0/matches/0/text")),
                What::Measure(Measure::Lines) => {
                    criteria.push(Criterion::checked("the lines were counted", known("/lines")))
                }
                What::Measure(Measure::Words) => {
                    criteria.push(Criterion::checked("the words were counted", known("/words")))
                }
                What::Measure(Measure::Matching(_)) => {
                    criteria.push(Criterion::checked("the matches were counted", known("/matching_lines")));
                }
                What::Measure(Measure::Occurrences(_)) => {
                    criteria.push(Criterion::checked("the matches were counted", known("/occurrences")));
                }
                What::Size => criteria.push(Criterion::checked("the size is known", known("/bytes"))),
                _ => {}
            }
            criteria
        }
    }
}

#[expect(clippy::expect_used, reason = "a few fixed names, and a test makes an id of each")]
fn called(tool: &str) -> Check {
    Check::ToolCalled { tool: tool.parse().expect("a tool id") }
}

fn ran(tool: &str) -> Criterion {
    Criterion::checked(format!("{tool} ran"), called(tool))
}

fn equals(pointer: &str, value: Value) -> Check {
    Check::JsonPath { pointer: pointer.into(), equals: value }
}

fn known(pointer: &str) -> Check {
    Check::NumberInRange { pointer: pointer.into(), min: Some(0.0), max: None }
}

fn at_least_one(pointer: &str) -> Check {
    Check::NumberInRange { pointer: pointer.into(), min: Some(1.0), max: None }
}

fn unless_none(count: &str, pointer: &str) -> Check {
    Check::AnyOf(vec![equals(count, json!(0)), Check::NotEmpty { pointer: pointer.into() }])
}
