//! A direct answer, and the one question back.

use domain::ask::{Clarified, NotPlanned, Perception, Want};
use domain::source::{Source, Text};
use domain::task::{Cause, Directive, Status};
use serde_json::Value;

use super::super::world::{World, plan};
use crate::task::{Effect, Input, Role};

const WHICH: &str = "which folder?";

fn answer() -> Text {
    Text::new("the one called docs", Source::Owner)
}

fn clarified() -> Clarified {
    Clarified { question: WHICH.into(), answer: answer() }
}

fn perceived(perception: Perception) -> Input {
    Input::Perceived(perception)
}

fn wonders(question: &str) -> Input {
    perceived(Perception::Clarify { question: question.into() })
}

/// "A trivial question must not walk the whole pipeline."
#[test]
fn a_direct_answer_is_the_result_and_nobody_else_is_asked() {
    let mut world = World::open();
    world.give(perceived(Perception::Direct { answer: "4".into() }));
    assert_eq!(world.ending(), (Directive::Accept, None, None));
    assert_eq!((world.result().text.as_str(), world.asks().count()), ("4", 1));
    world.is_delivered();
    assert_eq!(world.status(), Status::Done);
    let said: Vec<_> = world.journal.iter().flat_map(|step| &step.messages).collect();
    let said: Vec<_> = said.iter().map(|m| (m.from, m.to, m.kind.as_str())).collect();
    assert_eq!(said, [(Role::Perceiver, Role::User, "Answer"), (Role::Solver, Role::User, "FinalResult")]);
}

#[test]
fn what_is_beyond_the_provider_needs_a_model() {
    let mut world = World::open();
    world.give(perceived(Perception::Beyond { why: "the word `fly`".into() }));
    assert_eq!(world.ending(), (Directive::Abandon, Some(Cause::NeedsModel), Some("the word `fly`")));
}

#[test]
fn the_perceivers_question_is_asked_answered_and_reaches_perceiver_and_planner() {
    let mut world = World::open();
    world.give(wonders(WHICH));
    assert_eq!((world.status(), world.task.question()), (Status::Waiting, Some(WHICH)));
    assert_eq!(world.said("Question"), [(Role::Perceiver, Role::User, &Value::Null)]);

    world.give(Input::Clarified(answer()));
    assert_eq!(world.said("Clarified"), [(Role::User, Role::Perceiver, &Value::Null)]);
    let Want::Perceive { clarified: told, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    assert_eq!(*told, Some(clarified()));

    world.understands();
    world.remembers_nothing();
    let Want::Plan { clarified: told, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    assert_eq!((told, world.task.question()), (&Some(clarified()), None));
}

#[test]
fn the_planners_question_goes_back_to_the_planner() {
    let mut world = World::planning();
    world.does_not_plan(NotPlanned::Clarify { question: WHICH.into() });
    assert_eq!(world.said("Question"), [(Role::Planner, Role::User, &Value::Null)]);
    world.give(Input::Clarified(answer()));
    assert_eq!(world.said("Clarified"), [(Role::User, Role::Planner, &Value::Null)]);
    world.remembers_nothing();
    let Want::Plan { clarified: told, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    assert_eq!(*told, Some(clarified()));
    world.plans(plan(&[&[]]));
    assert_eq!(world.acting(), [0]);
}

/// Whoever needs a second question has not understood, and it does not matter who asks it.
#[test]
fn a_second_question_ends_the_task() {
    let mut again = World::open();
    again.give(wonders(WHICH));
    again.give(Input::Clarified(answer()));
    let mut of_the_planner = World { task: again.task.clone(), journal: again.journal.clone(), ..again };
    again.give(wonders("and when?"));
    of_the_planner.understands();
    of_the_planner.remembers_nothing();
    of_the_planner.does_not_plan(NotPlanned::Clarify { question: "and when?".into() });
    for world in [again, of_the_planner] {
        let why = Some("it is still not clear: and when?");
        assert_eq!(world.ending(), (Directive::Abandon, Some(Cause::Unplannable), why));
        assert_eq!(world.task.question(), None);
    }
}

#[test]
fn nobody_can_answer_what_was_not_asked() {
    let mut world = World::open();
    assert!(world.task.handle(Input::Clarified(answer()), world.now).is_err());
    world.give(wonders(WHICH));
    world.give(Input::Clarified(answer()));
    assert!(world.task.handle(Input::Clarified(answer()), world.now).is_err());
}

/// A question survives its driver: whoever takes over has nothing to start, and the answer still counts.
#[test]
fn a_question_outlives_whoever_asked_it() {
    let mut world = World::open();
    world.give(wonders(WHICH));
    assert_eq!(world.give(Input::TakenOver).effects, Vec::<Effect>::new());
    assert_eq!(world.status(), Status::Waiting);
    world.give(Input::Clarified(answer()));
    assert_eq!(world.status(), Status::Running);
}
