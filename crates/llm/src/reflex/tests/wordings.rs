//! What is understood and what is not, as tables.

use domain::limits;

use super::accepted::{CHANGES, TABLES, TEXTS};
use super::accepted_files::FILES;
use super::refused::{BEYOND, REFUSED};
use super::taken;

pub(super) fn accepted() -> impl Iterator<Item = (&'static str, &'static str)> {
    [FILES, TEXTS, TABLES, CHANGES].into_iter().flatten().copied()
}

#[test]
fn wordings_are_taken_for_what_they_say() {
    let wrong = accepted().filter(|(request, intent)| taken(request).as_deref() != Ok(*intent));
    let wrong: Vec<_> = wrong.map(|(request, intent)| (request, intent, taken(request))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn wordings_that_are_beyond_it_and_why() {
    let reason = |request| taken(request).err();
    let wrong = REFUSED.iter().filter(|(request, why)| reason(request).as_deref() != Some(*why));
    let wrong: Vec<_> = wrong.map(|(request, why)| (request, why, taken(request))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn wordings_that_are_beyond_it_whatever_the_reason() {
    for &request in BEYOND {
        assert!(taken(request).is_err(), "{request} is taken for {:?}", taken(request));
    }
}

#[test]
fn no_request_stands_twice_in_the_tables() {
    let refused = REFUSED.iter().map(|&(request, _)| request).chain(BEYOND.iter().copied());
    let mut requests: Vec<_> = accepted().map(|(request, _)| request).chain(refused).collect();
    requests.sort_unstable();
    let before = requests.len();
    requests.dedup();
    assert_eq!(requests.len(), before);
}

#[test]
fn a_request_has_no_more_jobs_than_a_plan_has_subtasks() {
    let jobs = |count: usize| (0..count).map(|n| format!("count .e{n} files")).collect::<Vec<_>>().join("; ");
    assert!(taken(&jobs(limits::PLAN_SUBTASKS)).is_ok());
    assert_eq!(
        taken(&jobs(limits::PLAN_SUBTASKS + 1)),
        Err("these are more questions than one plan holds".into())
    );
}
