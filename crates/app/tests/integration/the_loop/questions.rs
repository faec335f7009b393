//! What a model asks back, what it answers directly, and what a request is read with.

use std::sync::{Arc, Mutex};

use app::Code;
use domain::ask::{Action, Ask, NotPlanned, Perception, Reply, Want};
use domain::source::Source;
use domain::task::{Plan, Status};
use testkit::scripted::understood;
use testkit::{Kept, Thinker, World};

use crate::the_loop::{answers, count_is, find, subtask};

#[tokio::test(flavor = "multi_thread")]
async fn a_trivial_question_is_answered_directly() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.think(Arc::new(answers(Perception::Direct { answer: "I am Regent.".into() })));
        let report = world.run("who are you?").await.unwrap();
        assert_eq!((report.status, report.problem()), (Status::Done, None), "{kept:?}");
        assert_eq!(world.seen(), ["I am Regent."]);
        assert_eq!(report.cost.len(), 1, "one ask of one role");
    }
}

/// It waits, over a restart; the answer goes back to whoever asked, as the owner's own words.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_back_waits_and_its_answer_goes_on() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("docs/a.md", "one");
        world.think(Arc::new(Thinker::new(|ask| {
            Ok(match &ask.want {
                Want::Perceive { clarified: None, .. } => {
                    Reply::Perceived(Perception::Clarify { question: "which folder?".into() })
                }
                Want::Perceive { request, clarified: Some(said), .. } => {
                    assert_eq!(
                        (said.question.as_str(), said.answer.text.as_str()),
                        ("which folder?", "docs")
                    );
                    assert_eq!(said.answer.source, Source::Owner);
                    Reply::Perceived(understood(request))
                }
                Want::Plan { clarified, .. } => {
                    assert!(clarified.is_some(), "the planner is told too");
                    Reply::Planned(Plan::of(vec![subtask("count docs", count_is(1))]))
                }
                Want::Act { evidence, .. } if evidence.is_empty() => Reply::Acted(find("docs")),
                _ => Reply::Acted(Action::done("1")),
            })
        })));
        let report = world.run("count the files in that folder, docs or not").await.unwrap();
        assert_eq!(report.status, Status::Waiting, "{kept:?}");
        assert_eq!(report.question.as_deref(), Some("which folder?"));
        assert_eq!(report.problem().unwrap().code, Code::WAITING);
        world.restart();
        let still = world.resume(Some(&report.short)).await.unwrap();
        assert_eq!((still.status, still.question.as_deref()), (Status::Waiting, Some("which folder?")));
        let done = world.answer(&report.short, "docs").await.unwrap();
        assert_eq!((done.status, world.seen()), (Status::Done, vec!["1".to_owned()]), "{kept:?}");
        assert!(!world.answer(&report.short, "docs").await.unwrap().worked);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_no_question_changes_nothing() {
    let mut world = World::new(Kept::InMemory).await;
    world.think(Arc::new(Thinker::new(|ask| {
        Ok(match &ask.want {
            Want::Perceive { request, .. } => Reply::Perceived(understood(request)),
            _ => Reply::NotPlanned(NotPlanned::Clarify { question: "how?".into() }),
        })
    })));
    let report = world.run("do something").await.unwrap();
    assert_eq!(report.question.as_deref(), Some("how?"));
    // A second question is one too many.
    let ended = world.answer(&report.short, "any way you like").await.unwrap();
    assert_eq!(ended.result.unwrap().reason.as_deref(), Some("it is still not clear: how?"));
    let other = world.answer("t-nonsense", "what?").await.unwrap_err();
    assert_eq!(other.code, Code::NO_SUCH_ID);
}

/// "do it again": what was asked for before in the same folder is told, oldest first, five at the most.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_read_with_the_last_five_of_the_same_folder() {
    let mut world = World::new(Kept::InMemory).await;
    let told: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let notes = Arc::clone(&told);
    world.think(Arc::new(Thinker::new(move |ask: &Ask| {
        let Want::Perceive { request, history, .. } = &ask.want else { panic!("{ask:?}") };
        let pairs = history.iter().map(|pair| format!("{} → {}", pair.input, pair.summary));
        notes.lock().unwrap().push(pairs.collect());
        Ok(Reply::Perceived(Perception::Direct { answer: request.text.to_uppercase() }))
    })));
    for n in 1..=7 {
        world.run(&format!("say {n}")).await.unwrap();
        world.clock.turn(std::time::Duration::from_secs(1));
    }
    let told = told.lock().unwrap();
    assert_eq!(told[0], Vec::<String>::new());
    assert_eq!(told[2], ["say 1 → SAY 1", "say 2 → SAY 2"]);
    assert_eq!(told[6].len(), 5);
    assert_eq!(told[6][4], "say 6 → SAY 6");
}

/// Nothing is done and nothing is written: not even that somebody asked.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_shown_with_what_would_be_asked_and_nothing_is_written() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("a.rs", "fn a() {}");
        let shown = world.app.tasks().plan(&world.request("how many Rust files are here?")).await.unwrap();
        assert_eq!(shown.subtasks.len(), 1, "{kept:?} {shown:?}");
        let first = shown.subtasks[0].first.as_ref().unwrap();
        assert_eq!((first.tool.as_str(), first.decision), ("find_files", "execute"));
        assert_eq!(world.app.tasks().list(10).await.unwrap().len(), 0);
        assert_eq!(world.app.events().list(10).await.unwrap().len(), 0);
        let beyond = world.app.tasks().plan(&world.request("fly to the moon")).await.unwrap();
        assert!(beyond.result.is_some() && beyond.subtasks.is_empty());
        assert_eq!(world.seen(), Vec::<String>::new());
    }
}
