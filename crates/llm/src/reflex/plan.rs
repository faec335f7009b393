//! One subtask per job, and what must hold of the record for its answer to be true.

use domain::Text;
use domain::criterion::{Check, Criterion};
use domain::task::{Plan, Subtask};
use serde_json::{Value, json};

use super::call::tool;
use super::request::{Files, Job, Request, Show};

pub(super) fn plan(request: &Request) -> Plan {
    let subtask = |job: &Job| Subtask::new(Text::model(job.intent()), criteria(job));
    Plan::of(request.jobs.iter().map(subtask).collect())
}

fn criteria(job: &Job) -> Vec<Criterion> {
    let tool = tool(job);
    let ran = Criterion::checked(format!("{tool} ran"), Check::ToolCalled { tool });
    let about = match job {
        Job::Files { files, show, .. } => about_files(files, *show),
        Job::Lines { .. } => about_lines(),
    };
    [vec![ran], about].concat()
}

fn about_files(files: &Files, show: Option<Show>) -> Vec<Criterion> {
    let mut criteria = vec![
        Criterion::checked("every folder could be read", equals("/complete", json!(true))),
        Criterion::checked("the number of files is known", known("/count")),
    ];
    if files.contains.is_some() {
        criteria.push(Criterion::checked("every file could be searched", equals("/unreadable", json!(0))));
    }
    let named = |text: String, pointer: &str| Criterion::checked(text, unless_none("/count", pointer));
    match show {
        None => {}
        // A tool that ignored the text would name files, but no match in them.
        Some(Show::List) if files.contains.is_some() => {
            criteria.push(named("the matches are shown, if there are any".into(), "/files/0/matches/0"));
        }
        Some(Show::List) => {
            criteria.push(named("the files are named, if there are any".into(), "/files/0/path"))
        }
        Some(Show::Top(rank, _)) => {
            criteria.push(named(format!("the {rank} is named, if there is any"), "/files/0/path"));
        }
    }
    criteria
}

fn about_lines() -> Vec<Criterion> {
    vec![
        Criterion::checked("the whole file was read", equals("/truncated", json!(false))),
        // Null if the tool was not told what to look for.
        Criterion::checked("the number of matching lines is known", known("/matching_lines")),
        Criterion::checked(
            "the matches are shown, if there are any",
            unless_none("/matching_lines", "/matches/0/text"),
        ),
    ]
}

fn equals(pointer: &str, value: Value) -> Check {
    Check::JsonPath { pointer: pointer.into(), equals: value }
}

fn known(pointer: &str) -> Check {
    Check::NumberInRange { pointer: pointer.into(), min: Some(0.0), max: None }
}

fn unless_none(count: &str, pointer: &str) -> Check {
    Check::AnyOf(vec![equals(count, json!(0)), Check::NotEmpty { pointer: pointer.into() }])
}
