//! Histories by chance: whatever roles, tools and people answer, in whatever order, some things always hold. A failure
//! names its seed.

mod chance;
mod driver;

use std::collections::BTreeSet;

use domain::ask::{Subject, Want};
use domain::gradient::Params;
use domain::limits::ATTEMPT_RETRIES;
use domain::task::{Cause, Directive, Status};
use serde_json::Value;

use super::world::opening;
use crate::task::{CONTRACT, DELIVER, Effect, Input, Message, Role, Step, Task, Unexpected};
use chance::Chance;
use driver::Driver;

/// Each test has histories of its own.
fn histories(test: u64) -> std::ops::Range<u64> {
    const EACH: u64 = 1_000;
    test * EACH..(test + 1) * EACH
}

fn spoken(message: &Message) -> (Role, Role, &str) {
    (message.from, message.to, message.kind.as_str())
}

fn delivers(effect: &Effect) -> bool {
    matches!(effect, Effect::Call(call) if call.tool.as_str() == DELIVER)
}

fn directives(journal: &[Step]) -> Vec<&Value> {
    let messages = journal.iter().flat_map(|step| &step.messages);
    messages.filter(|message| message.kind == "PlanDirective").map(|message| &message.body).collect()
}

/// "a message whose (from, to, type) is outside the contract table" is a violation; and there is none in the table that
/// is never said.
#[test]
fn exactly_what_the_contract_names_is_ever_said() {
    let mut said = BTreeSet::new();
    for seed in histories(0) {
        let run = Driver::new(seed).run(|_, _| {});
        for message in run.journal.iter().flat_map(|step| &step.messages) {
            let (from, to, kind) = spoken(message);
            assert!(CONTRACT.contains(&(from, to, kind)), "seed {seed}: {from:?} to {to:?}: {kind}");
            said.insert((from, to, kind.to_owned()));
        }
    }
    let contract: BTreeSet<_> =
        CONTRACT.iter().map(|(from, to, kind)| (*from, *to, (*kind).to_owned())).collect();
    assert_eq!(said, contract, "a history that never happens shows nothing");
}

/// The driver keeps its own account of what is open, and that the task ends; here, that every ending is reached.
#[test]
fn every_history_ends_and_every_ending_is_reached() {
    let mut endings: BTreeSet<String> = BTreeSet::new();
    for seed in histories(1) {
        let run = Driver::new(seed).run(|_, _| {});
        let result = run.task.result().unwrap_or_else(|| panic!("seed {seed}: no result"));
        endings.insert(format!("{} {:?}", result.directive, result.cause));
    }
    let causes = [
        Cause::NeedsModel,
        Cause::Unplannable,
        Cause::Refused,
        Cause::Failed,
        Cause::Loop,
        Cause::Exhausted,
        Cause::NoAnswer,
        Cause::Cancelled,
    ];
    let expected = ["accept None".to_owned(), "success None".to_owned()].into_iter();
    let expected = expected.chain(causes.map(|cause| format!("abandon {:?}", Some(cause)))).collect();
    assert_eq!(endings, expected);
}

#[test]
fn folding_a_journal_gives_the_same_task_and_the_same_steps() {
    for seed in histories(2).step_by(2) {
        let run = Driver::taken_over(seed).run(|_, _| {});
        let mut steps = run.journal.iter();
        let first = steps.next().expect("a journal has a first step");
        let (mut task, opened) = Task::open(opening(), first.at);
        assert_eq!(opened, *first);
        for step in steps {
            let again = task.handle(step.input.clone(), step.at).expect("it was expected then");
            assert_eq!(again, *step, "seed {seed}: with the same effects");
        }
        let folded = Task::fold(run.journal.iter().map(|step| (step.input.clone(), step.at)));
        let folded = folded.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(format!("{folded:?}"), format!("{:?}", run.task), "seed {seed}");
    }
}

#[test]
fn attempts_and_rounds_are_bounded() {
    let most = Params::default().max_replans;
    let mut seen = (0, 0);
    for seed in histories(3) {
        let run = Driver::new(seed).run(|_, _| {});
        for effect in run.journal.iter().flat_map(|step| &step.effects) {
            let Effect::Ask(ask) = effect else { continue };
            assert!(ask.round <= most, "seed {seed}: round {}", ask.round);
            seen.0 = seen.0.max(ask.round);
            if let Want::Act { attempt, .. } = ask.want {
                assert!(attempt <= ATTEMPT_RETRIES, "seed {seed}: attempt {attempt}");
                seen.1 = seen.1.max(attempt);
            }
        }
    }
    assert_eq!(seen, (most, ATTEMPT_RETRIES), "the bounds are reached");
}

#[test]
fn there_is_a_result_exactly_when_a_delivery_was_asked_for_and_only_one() {
    for seed in histories(4) {
        let mut asked = BTreeSet::new();
        Driver::new(seed).run(|run, step| {
            let delivery = step.effects.iter().filter(|effect| delivers(effect));
            asked.extend(delivery.filter_map(|effect| match effect {
                Effect::Call(call) => Some((call.id, call.args.to_string())),
                _ => None,
            }));
            assert_eq!(asked.len(), usize::from(run.task.result().is_some()), "seed {seed}");
        });
    }
}

/// Law 0 on every history.
#[test]
fn an_abandoned_task_is_never_done_and_what_is_unmet_is_always_listed() {
    for seed in histories(5) {
        let run = Driver::new(seed).run(|run, _| {
            let abandoned = run.task.result().is_none_or(|result| result.directive == Directive::Abandon);
            assert!(!(abandoned && run.status() == Status::Done), "seed {seed}");
        });
        let result = run.task.result().expect("a result");
        let distance = result.measured.as_ref().map(|measured| measured.loss.d);
        match result.directive {
            Directive::Accept => assert_eq!(result.unmet().count(), 0, "seed {seed}: {result:?}"),
            Directive::Success => {
                assert!(distance.is_some_and(|d| d > 0.0), "seed {seed}: {result:?}");
                assert!(result.unmet().next().is_some(), "seed {seed}: {result:?}");
            }
            Directive::Abandon => {
                assert!(result.cause.is_some() && result.reason.is_some(), "seed {seed}: {result:?}");
                assert!(!result.next.is_empty(), "seed {seed}: {result:?}");
            }
        }
    }
}

#[test]
fn every_step_is_the_same_after_it_was_written_and_read() {
    for seed in histories(6) {
        Driver::new(seed).run(|_, step| {
            let written = serde_json::to_string(step).expect("JSON");
            let read: Step = serde_json::from_str(&written).expect("a step");
            // Effects are not kept, because folding brings them forth again.
            assert_eq!(read, Step { effects: Vec::new(), ..step.clone() }, "seed {seed}");
        });
    }
}

/// Another process that drives on changes nothing, wherever it comes in.
#[test]
fn taking_over_changes_no_result() {
    for seed in histories(7) {
        let plain = Driver::new(seed).run(|_, _| {});
        let taken_over = Driver::taken_over(seed).run(|_, _| {});
        assert_eq!(taken_over.task.result(), plain.task.result(), "seed {seed}");
        assert_eq!(taken_over.status(), plain.status(), "seed {seed}");
        assert_eq!(directives(&taken_over.journal), directives(&plain.journal), "seed {seed}");
    }
}

#[test]
fn an_input_that_nobody_asked_for_changes_nothing_at_any_moment() {
    for seed in histories(8).step_by(20) {
        let mut chance = Chance::new(!seed);
        Driver::new(seed).run(|run, step| {
            let mut task = run.task.clone();
            let (stray, name) = match chance.below(3) {
                0 => (Input::Opened(opening()), "opened"),
                1 => (
                    Input::Acted { subtask: 99, action: domain::ask::Action::done("out of nowhere") },
                    "acted",
                ),
                _ => (
                    Input::Unanswered {
                        ask: Subject::Judge(Some(99)),
                        why: domain::ask::Unanswered::unusable("out of nowhere"),
                    },
                    "unanswered",
                ),
            };
            let before = format!("{task:?}");
            assert_eq!(task.handle(stray, step.at), Err(Unexpected::NobodyAsked(name)), "seed {seed}");
            assert_eq!(format!("{task:?}"), before, "seed {seed}");
        });
    }
}
