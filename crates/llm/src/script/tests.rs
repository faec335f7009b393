use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use domain::ask::{Action, Ask, Judgement, NotPlanned, Opinion, Perception, Reply, Unanswered, Usage, Want};
use domain::call::Chooser;
use domain::task::Plan;
use serde_json::json;

use super::{Script, Sleep};
use crate::worded::samples;
use crate::{Answer, Heard, Provider as _};

/// What comes of an ask, or nothing if it takes for ever.
fn play(script: &Script, ask: &Ask) -> Option<Heard> {
    let Answer::Later(later) = script.ask(ask) else { panic!("a script is somebody else") };
    match pin!(later).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(heard) => Some(heard),
        Poll::Pending => None,
    }
}

fn reply(script: &str, ask: &Ask) -> Result<Reply, Unanswered> {
    play(&Script::read(script).unwrap(), ask).unwrap().reply
}

fn sample(name: &str) -> Ask {
    let (_, ask) = samples::all().into_iter().find(|(sample, _)| *sample == name).unwrap();
    ask
}

fn answer(text: &str) -> Result<Reply, Unanswered> {
    Ok(Reply::Perceived(Perception::Direct { answer: text.into() }))
}

#[test]
fn the_first_line_that_matches_answers_as_often_as_it_is_asked() {
    let script = Script::read(
        r#"
        {"role":"executor","text":"{\"output\":\"no\"}"}

        {"repair":true,"text":"{\"answer\":\"repaired\"}"}
        {"role":"perceiver","attempt":0,"round":0,"moves":0,"text":"Sure: {\"answer\":\"first\"}"}
        {"role":"perceiver","text":"{\"answer\":\"never\"}"}
        "#,
    )
    .unwrap();
    for _ in 0..2 {
        assert_eq!(play(&script, &sample("perceiver")).unwrap().reply, answer("first"));
        assert_eq!(play(&script, &sample("perceiver_clarified")).unwrap().reply, answer("repaired"));
    }
    assert!(script.knows_another_way());
}

#[test]
fn each_coordinate_that_is_given_has_to_be_right() {
    let ask = sample("executor_corrected");
    let (right, done) =
        (r#""subtask":0,"round":1,"attempt":1,"moves":2,"repair":true"#, r#""text":"{\"output\":\"x\"}""#);
    assert!(reply(&format!("{{{right},{done}}}"), &ask).is_ok());
    for wrong in [
        r#""role":"planner""#,
        r#""subtask":1"#,
        r#""round":0"#,
        r#""attempt":0"#,
        r#""moves":1"#,
        r#""repair":false"#,
        r#""claim":"""#,
    ] {
        let why = "the script has no line for executor, round 1, subtask 0, attempt 1, 2 moves, repair";
        assert_eq!(reply(&format!("{{{wrong},{done}}}"), &ask), Err(Unanswered::unreachable(why)), "{wrong}");
    }
}

#[test]
fn a_judge_is_told_apart_by_what_is_claimed() {
    let claimed = |claim: &str| {
        let Want::Judge { spec, of, criteria, evidence, .. } = samples::judge(Some(0)) else { panic!() };
        samples::ask(0, Want::Judge { spec, of, criteria, claim: claim.into(), evidence }, None)
    };
    let script = r#"{"claim":"a","text":"{\"verdict\":\"fail\"}"}
                    {"text":"{\"verdict\":\"unclear\"}"}"#;
    let verdict = |claim| match reply(script, &claimed(claim)) {
        Ok(Reply::Judged(judged)) => judged[0].verdict,
        other => panic!("{other:?}"),
    };
    assert_eq!((verdict("a"), verdict("b")), (Opinion::Fail, Opinion::Unclear));
}

#[test]
fn what_a_line_can_do() {
    let ask = sample("planner");
    let planned = r#"{"reply":{"planned":{"subtasks":[]}}}"#;
    assert_eq!(reply(planned, &ask), Ok(Reply::Planned(Plan::of(vec![]))));
    let declined = Unanswered { kind: domain::ask::Silence::Declined, why: "not that".into() };
    assert_eq!(reply(r#"{"decline":"not that"}"#, &ask), Err(declined));
    assert_eq!(reply(r#"{"fail":"gone"}"#, &ask), Err(Unanswered::unreachable("gone")));
    let rubbish = reply(r#"{"text":"no idea"}"#, &ask).unwrap_err();
    assert!(rubbish.why.starts_with("the reply holds no JSON object; "), "{rubbish}");
    let other = reply(planned, &sample("perceiver")).unwrap_err();
    let why = "the script's line is no reply to perceiver, round 0, attempt 0, 0 moves";
    assert_eq!(other, Unanswered::unusable(why));
    assert_eq!(play(&Script::read(r#"{"hang":true}"#).unwrap(), &ask), None);
}

#[test]
fn what_it_cost_is_what_the_line_says() {
    let usage = |line: &str| play(&Script::read(line).unwrap(), &sample("perceiver")).unwrap().usage;
    let script = || Usage { model: "script".into(), ..Usage::default() };
    assert_eq!(usage(r#"{"fail":"x"}"#), script());
    assert_eq!(usage(""), script());
    let told = Usage { tokens_in: 7, price: 3, ..script() };
    assert_eq!(usage(r#"{"text":"","usage":{"tokens_in":7,"price":3}}"#), told);
}

#[test]
fn a_line_waits_only_where_there_is_a_clock() {
    let line = r#"{"after_ms":50,"text":"{\"answer\":\"late\"}"}"#;
    let refused = Script::read(&format!("\n{line}")).unwrap_err();
    assert_eq!(refused, "line 2: `after_ms` needs a clock, and there is none here");
    let (soon, never): (Sleep, Sleep) = (
        |time| {
            assert_eq!(time, Duration::from_millis(50));
            Box::pin(std::future::ready(()))
        },
        |_| Box::pin(std::future::pending()),
    );
    let wait = |sleep| play(&Script::with_sleep(line, sleep).unwrap(), &sample("perceiver"));
    assert_eq!(wait(soon).unwrap().reply, answer("late"));
    assert_eq!(wait(never), None);
}

#[test]
fn a_line_that_cannot_be_played_is_named() {
    let one = "it has to do one thing: text, reply, hang, fail or decline";
    let table = [
        ("{}", one),
        (r#"{"text":"a","fail":"b"}"#, one),
        (r#"{"hang":false}"#, one),
        (r#"{"rol":"planner","text":""}"#, "unknown field `rol`"),
        (r#"{"role":"cook","text":""}"#, "unknown variant `cook`"),
        (r#"{"reply":{"planned":{}}}"#, "missing field `subtasks`"),
        ("text", "expected ident"),
    ];
    for (line, expected) in table {
        let why = Script::read(&format!("{{\"fail\":\"x\"}}\n{line}")).unwrap_err();
        assert!(why.starts_with(&format!("line 2: {expected}")), "{why}");
    }
}

#[test]
fn a_recording_plays_the_same_again() {
    let call =
        Action::Call { tool: "glob".parse().unwrap(), args: json!({ "a": [1] }), chosen_by: Chooser::Model };
    let judged = Judgement { verdict: Opinion::Pass, failure_class: None, evidence: "seen".into() };
    let task = Perception::Task(Box::new(samples::spec()));
    let impossible = NotPlanned::Impossible { why: "no tool".into() };
    let replies = [
        Reply::Perceived(Perception::Clarify { question: "which?".into() }),
        Reply::Perceived(task),
        Reply::Planned(Plan::of(vec![])),
        Reply::NotPlanned(impossible),
        Reply::Acted(call),
        Reply::Acted(Action::failed("no\n\"way\"")),
        Reply::Judged(vec![judged]),
        Reply::Judged(vec![]),
    ];
    let usage =
        |n: u64| Usage { model: "m".into(), tokens_in: n, tokens_out: 2, cached: 1, latency_ms: 5, price: 9 };
    let heard: Vec<(Ask, Reply, Usage)> = (0..)
        .zip(samples::all().into_iter().zip(replies))
        .map(|(n, ((_, ask), reply))| (ask, reply, usage(n)))
        .collect();
    let text = Script::recording(heard.iter().cloned()).unwrap();
    assert_eq!(text.lines().count(), heard.len());
    let script = Script::read(&text).unwrap();
    for (ask, reply, usage) in heard {
        assert_eq!(play(&script, &ask), Some(Heard { reply: Ok(reply), usage }));
    }
}
