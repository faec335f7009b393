//! Requests in other people's words, over a folder with known answers: what the reflex understands it answers rightly,
//! and what is out of its range it refuses. The writers of the data had not seen the grammar.
//!
//! `folder.json` describes the folder; a line of `asked*.jsonl` is a request with what its answer must hold, a line of

//! `beyond*.jsonl` one that must be refused.

mod folder;
mod judge;

use app::approvals::Act;
use app::tasks::Report;
use domain::task::{Cause, Directive, Status};
use serde::Deserialize;
use testkit::{Kept, World};

use folder::Folder;
use judge::Expected;

#[derive(Deserialize)]
struct Asked {
    ask: String,
    answer: Expected,
}

#[derive(Deserialize)]
struct Beyond {
    ask: String,
}

/// Every third of them, and all with `cargo xtask test --full`.
fn lines<T: for<'de> Deserialize<'de>>(text: &str) -> Vec<T> {
    text.lines().step_by(services::stride(3)).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What became of one request.
#[derive(Debug, PartialEq)]
enum Outcome {
    Right,
    /// It said that it does not understand, or that it cannot be done.
    Refused(String),
    Wrong(String),
}

async fn laid(folder: &Folder) -> World {
    let world = World::new(Kept::InMemory).await;
    folder.lay(world.path());
    world.clock.turn(folder.since("2026-11-15T08:30:00Z"));
    world
}

/// Whatever it wants to change, the owner allows.
async fn ask(world: &World, ask: &str) -> Report {
    let mut report = world.run(ask).await.unwrap();
    while report.status == Status::Waiting {
        let questions = world.app.approvals().open_of_task(report.task).await.unwrap();
        for question in &questions {
            let act = Act::Approve { lasting: domain::approval::Lasting::Once, typed: None, good_for: None };
            world.app.approvals().resolve(&question.short, act, "test").await.unwrap();
        }
        if questions.is_empty() {
            break;
        }
        report = world.resume(Some(&report.task.to_string())).await.unwrap();
    }
    report
}

async fn outcome(folder: &Folder, world: &World, asked: &Asked) -> Outcome {
    let report = ask(world, &asked.ask).await;
    let Some(result) = report.result else { return Outcome::Refused("it waits".into()) };
    if result.directive == Directive::Abandon {
        return Outcome::Refused(result.reason.unwrap_or_default());
    }
    match asked.answer.judge(&result.text, folder, world.path()) {
        Ok(()) => Outcome::Right,
        Err(why) => Outcome::Wrong(format!("{why}\n  answer: {}", result.text.replace('\n', "\n          "))),
    }
}

/// At least 95 in a hundred are right, none is wrong.
async fn measure(name: &str, text: &str, share: usize) {
    let folder = Folder::read(include_str!("folder.json"));
    let asked: Vec<Asked> = lines(text);
    let (mut right, mut refused, mut wrong) = (0, Vec::new(), Vec::new());
    let shared = laid(&folder).await;
    for asked in &asked {
        // What changes something gets a folder of its own.
        let own = if asked.answer.changes() { Some(laid(&folder).await) } else { None };
        match outcome(&folder, own.as_ref().unwrap_or(&shared), asked).await {
            Outcome::Right => right += 1,
            Outcome::Refused(why) => refused.push(format!("{} ({why})", asked.ask)),
            Outcome::Wrong(why) => wrong.push(format!("{}: {why}", asked.ask)),
        }
    }
    let total = asked.len();
    println!("{name}: {right} of {total} right, {} refused, {} wrong", refused.len(), wrong.len());
    println!("refused:\n{}\nwrong:\n{}", refused.join("\n"), wrong.join("\n"));
    assert!(wrong.is_empty(), "{} wrong", wrong.len());
    assert!(right * 100 >= total * share, "{right} of {total} right");
}

#[tokio::test]
async fn what_people_ask_for_is_answered_and_nothing_is_answered_wrongly() {
    measure("asked", include_str!("asked.jsonl"), 95).await;
}

/// Two more writers, who wrote while the grammar was being made; it was widened afterwards. What they got at first
/// sight stands in docs/measured.md.
#[tokio::test]
async fn what_others_ask_for_is_answered_too() {
    // Of every third wording of this set 66 of 74 are right; of all 220 more than 90 in a hundred.
    let share = if services::is_full() { 90 } else { 85 };
    measure("asked-2", include_str!("asked-2.jsonl"), share).await;
    measure("asked-3", include_str!("asked-3.jsonl"), 85).await;
}

/// Nothing is done, nothing is asked, and no answer is given.
async fn refuse_all(text: &str) {
    let folder = Folder::read(include_str!("folder.json"));
    let mut answered = Vec::new();
    let world = laid(&folder).await;
    for Beyond { ask: request } in lines::<Beyond>(text) {
        let Ok(report) = world.run(&request).await else { continue }; // an empty request is none
        let refused = report.result.as_ref().is_some_and(|result| {
            result.directive == Directive::Abandon
                && matches!(result.cause, Some(Cause::NeedsModel | Cause::Failed))
        });
        if !refused {
            answered.push(format!("{request}: {:?}", report.result.map(|result| result.text)));
        }
        assert!(folder.is_as_it_was(world.path()), "`{request}` changed something");
    }
    assert!(answered.is_empty(), "{} answered:\n{}", answered.len(), answered.join("\n"));
}

#[tokio::test]
async fn what_is_out_of_range_is_refused() {
    refuse_all(include_str!("beyond.jsonl")).await;
    refuse_all(include_str!("beyond-2.jsonl")).await;
    refuse_all(include_str!("beyond-3.jsonl")).await;
}
