//! What goes wrong on the wire, in every dialect: put right, or said.

use domain::task::{Cause, Status};
use double::{Denied, Double, Fault, RetryAfter, Said, Script};
use models::Dialect;

use super::{Manner, REQUEST, answers, assert_same, endpoint, journal, line, script, world};

/// Faults that nobody may notice.
fn harmless() -> Vec<Vec<Fault>> {
    vec![
        vec![Fault::Pieces(vec![1])],
        vec![Fault::Pieces(vec![7, 1, 3])],
        vec![Fault::Crlf],
        vec![Fault::Bom],
        vec![Fault::KeepAlive],
        vec![Fault::UnknownEvents],
        vec![Fault::CallsWithoutIndex],
        vec![Fault::CallsWithoutIds],
        vec![Fault::ArgumentsWhole],
        vec![Fault::ArgumentsInPieces(1)],
        vec![Fault::ArgumentsAsObject],
        vec![Fault::ArgumentsAsString],
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_only_said_oddly_changes_nothing() {
    for (n, dialect) in Dialect::ALL.into_iter().enumerate() {
        let double = Double::start(script(answers(Manner::Calls), |_| Vec::new()));
        let plain = world(dialect, &double).await;
        let report = plain.run(REQUEST).await.unwrap();
        let expected = journal(&plain, &report.short).await;
        let mut table = harmless();
        // Where the last word is not the reason to stop as well, it may be missing.
        if matches!(dialect, Dialect::Anthropic | Dialect::Chat) {
            table.push(vec![Fault::NoEnd]);
        }
        for faults in table.into_iter().skip(n % services::stride(3)).step_by(services::stride(3)) {
            let double = Double::start(script(answers(Manner::Calls), |_| faults.clone()));
            let world = world(dialect, &double).await;
            let report = world.run(REQUEST).await.unwrap();
            assert_eq!(report.status, Status::Done, "{dialect:?} {faults:?}: {:?}", report.result);
            let journal = journal(&world, &report.short).await;
            assert_same(&expected, &journal, &format!("{dialect:?} {faults:?}"));
        }
    }
}

/// Faults that end a task, always with a word about why, and in seconds.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_put_right_is_said() {
    let table: Vec<(Vec<Fault>, &[&str])> = vec![
        (vec![Fault::CutAt(40)], &["hung up", "cut off"]),
        (vec![Fault::NoFinish], &["hung up", "cut off"]),
        (vec![Fault::HangBeforeHeaders], &["said nothing for", "fell silent"]),
        (vec![Fault::HangAfterHeaders], &["said nothing for", "fell silent"]),
        (vec![Fault::HangAt(40)], &["said nothing for", "fell silent"]),
        (vec![Fault::Gzip], &["compressed"]),
        (vec![Fault::Garbage], &["it is not UTF-8"]),
        (vec![Fault::EmptyBody], &["hung up before it answered"]),
        (vec![Fault::GarbageInStream], &["it is not JSON"]),
        (vec![Fault::ErrorInStream], &["is overloaded", "failed with status 500"]),
        (vec![Fault::Redirect("http://127.0.0.1:9/elsewhere".into())], &["no key follows a redirect"]),
    ];
    for (n, dialect) in Dialect::ALL.into_iter().enumerate() {
        for (faults, words) in table.iter().skip(n % services::stride(3)).step_by(services::stride(3)) {
            let script = Script::new().otherwise(double::Reaction {
                said: answers(Manner::Calls).remove(0),
                faults: faults.clone(),
            });
            let double = Double::start(script);
            let world = world(dialect, &double).await;
            let report = world.run(REQUEST).await.unwrap();
            let result = report.result.unwrap();
            let why = result.reason.clone().unwrap_or_default();
            let shown = format!("{dialect:?} {faults:?}: {why}");
            assert_eq!((report.status, result.cause), (Status::Stopped, Some(Cause::NoAnswer)), "{shown}");
            assert!(words.iter().any(|word| why.contains(word)), "{shown}");
            assert!(why.len() > 40, "{shown}");
            assert!(!why.contains(double::KEY), "{shown}");
        }
    }
}

/// What the owner reads when a server says no.
#[tokio::test(flavor = "multi_thread")]
async fn a_denial_says_in_one_sentence_what_to_do() {
    let table: Vec<(Denied, &[&str])> = vec![
        (Denied::WrongKey, &["double", "DOUBLE_API_KEY"]),
        (Denied::Forbidden, &["DOUBLE_API_KEY"]),
        (Denied::NoModel("double-large".into()), &["double-large", "regent model set"]),
        (Denied::TooLong { tokens: 300_000, limit: 200_000 }, &["larger context", "ask about less"]),
        (Denied::Payment, &["double"]),
        (Denied::Quota, &["double"]),
        (Denied::RateLimited(Some(RetryAfter::Seconds(3_600))), &["double"]),
        (Denied::Overloaded, &["double"]),
        (Denied::BadGateway, &["double"]),
        (Denied::Internal, &["double"]),
    ];
    for dialect in Dialect::ALL {
        for (denied, words) in &table {
            let double = Double::start(Script::new().otherwise(Fault::Deny(denied.clone())));
            let world = world(dialect, &double).await;
            let result = world.run(REQUEST).await.unwrap().result.unwrap();
            let why = result.reason.unwrap();
            let shown = format!("{dialect:?} {denied:?}: {why}");
            assert_eq!(result.cause, Some(Cause::NoAnswer), "{shown}");
            assert!(words.iter().all(|word| why.contains(word)), "{shown}");
            assert!(!why.contains('\n') && !why.contains("<html"), "{shown}");
            assert!(double.asked().len() <= 4, "{shown}: {} tries", double.asked().len());
        }
    }
}

/// A server that is busy for a moment is asked again, and nobody else notices.
#[tokio::test(flavor = "multi_thread")]
async fn what_passes_by_itself_is_waited_for() {
    let busy = [
        Fault::Deny(Denied::RateLimited(Some(RetryAfter::Millis(10)))),
        Fault::Deny(Denied::Overloaded),
        Fault::Deny(Denied::Internal),
        Fault::CutAt(60),
    ];
    for dialect in Dialect::ALL {
        for fault in &busy {
            let first =
                double::Reaction { said: answers(Manner::Calls).remove(0), faults: vec![fault.clone()] };
            let mut script = Script::new().then(first);
            for said in answers(Manner::Calls) {
                script = script.then(said);
            }
            let double = Double::start(script);
            let world = world(dialect, &double).await;
            let report = world.run(REQUEST).await.unwrap();
            assert_eq!(world.seen(), ["one file"], "{dialect:?} {fault:?}: {:?}", report.result);
            assert_eq!(double.asked().len(), 12, "{dialect:?} {fault:?}");
        }
    }
}

/// Nobody listens: that is known in seconds, and who else can be asked is.
#[tokio::test(flavor = "multi_thread")]
async fn a_dead_endpoint_is_left_for_the_next_one() {
    let dead = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    for dialect in Dialect::ALL {
        let double = Double::start(script(answers(Manner::Calls), |_| Vec::new()));
        let mut world = world(dialect, &double).await;
        world.think_with(line(vec![endpoint(dialect, &dead), endpoint(dialect, &double.url)]));
        world.run(REQUEST).await.unwrap();
        assert_eq!(world.seen(), ["one file"], "{dialect:?}");
        world.think_with(line(vec![endpoint(dialect, &dead)]));
        let why = world.run(REQUEST).await.unwrap().result.unwrap().reason.unwrap();
        assert!(why.contains("refused the connection"), "{dialect:?}: {why}");
    }
}

/// Two calls at once: the second would be made without having seen what the first came to, so it is told once.
#[tokio::test(flavor = "multi_thread")]
async fn several_calls_at_once_are_repaired_and_none_is_lost_in_silence() {
    for dialect in Dialect::ALL {
        for fault in [
            vec![],
            vec![Fault::CallsWithoutIndex],
            vec![Fault::CallsInterleaved],
            vec![Fault::CallsWithSameIds],
        ] {
            let mut said = answers(Manner::Calls);
            let two = said[2].clone().and_call("find_files", serde_json::json!({ "under": "docs" }));
            said.insert(2, two);
            let double = Double::start(script(said, |at| if at == 2 { fault.clone() } else { Vec::new() }));
            let world = world(dialect, &double).await;
            let report = world.run(REQUEST).await.unwrap();
            assert_eq!(world.seen(), ["one file"], "{dialect:?} {fault:?}: {:?}", report.result);
            let steps = world.app.record().steps(&report.short).await.unwrap();
            let told: Vec<String> = steps
                .iter()
                .filter(|step| step.input.name() == "unanswered")
                .map(|step| format!("{:?}", step.input))
                .collect();
            assert!(
                told.len() == 1 && told[0].contains("2 tools at once"),
                "{dialect:?} {fault:?}: {told:?}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_will_not_say_is_passed_on_as_that() {
    for dialect in Dialect::ALL {
        for said in [Said::refusing("I would rather not."), Said { filtered: true, ..Said::text("…") }] {
            // One dialect has no word for a refusal: there it is a text, and no reply.
            let plain = dialect == Dialect::Ollama;
            let double = Double::start(Script::new().otherwise(said.clone()));
            let world = world(dialect, &double).await;
            let result = world.run(REQUEST).await.unwrap().result.unwrap();
            let why = result.reason.unwrap();
            assert_eq!(result.cause, Some(Cause::NoAnswer), "{dialect:?} {said:?}: {why}");
            assert!(plain || why.contains("will not answer"), "{dialect:?} {said:?}: {why}");
        }
        let double =
            Double::start(Script::new().otherwise(Said { cut_off: true, ..Said::text("{\"task\":") }));
        let world = world(dialect, &double).await;
        let why = world.run(REQUEST).await.unwrap().result.unwrap().reason.unwrap();
        assert!(why.contains("tokens") || why.contains("limit"), "{dialect:?}: {why}");
    }
}
