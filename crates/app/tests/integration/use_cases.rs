//! Every command's use case, driven without a command line.

use app::instance::Explained;
use app::{CODES, Code};
use domain::task::Status;
use testkit::{Kept, World};

/// `run`, `tasks`, `why`, `events`, `audit`, `status`, `doctor`, `paths`, `config`, `init`, `explain`, `resume`.
#[tokio::test]
async fn every_command_has_a_use_case_that_works_without_it() {
    for kept in Kept::ALL {
        let world = World::new(kept).await;
        world.file("a.rs", "fn main() {}");
        let app = &world.app;

        let report = world.run("how many Rust files are here?").await.expect("run");
        assert_eq!(report.status, Status::Done);
        let again = world.resume(Some(&report.short)).await.expect("resume");
        assert!(!again.worked && again.result == report.result, "a finished task is shown, not run");

        let tasks = app.tasks().list(10).await.expect("tasks list");
        assert_eq!(tasks.len(), 1);
        let view = app.tasks().show(&report.short).await.expect("tasks show");
        assert_eq!(view.calls.len(), 2);
        assert_eq!(view.journal.first().map(|step| step.input), Some("opened"));

        for call in &view.calls {
            let why = app.record().why(&call.short).await.expect("why");
            let labels: Vec<&str> = why.because.iter().map(|branch| branch.label).collect();
            assert_eq!(labels, ["allowed by", "policy", "wanted by"]);
            assert!(
                why.proof.consistent && why.proof.entries.len() == 6,
                "from the event to the end of its task"
            );
            let text = format!("{why:?}");
            assert!(
                text.contains("default-owner") && text.contains("how many Rust files are here?"),
                "origin and policy"
            );
        }
        assert!(app.record().why(&report.short).await.expect("why task").proof.consistent);
        let again = app.record().recheck(&report.short).await.expect("why --recheck");
        assert!(again.recheck.is_some_and(|recheck| recheck.holds));

        let line = r#"{"adapter":"demo","source_id":"1","sender":"lea","content":"hello"}"#;
        let first = app.events().ingest(line).await.expect("ledger").expect("event");
        let second = app.events().ingest(line).await.expect("ledger").expect("event");
        assert!(first.new && !second.new && first.id == second.id, "the same key is the same event");
        assert_eq!(first.key, "demo:1");
        let bad = app.events().ingest("{}").await.expect("ledger").expect_err("no event");
        assert!(bad.to_string().starts_with("not an event: missing field"), "{bad}");
        assert_eq!(app.events().list(10).await.expect("events list").len(), 3);

        let audit = app.record().verify(&app::record::Check::default()).await.expect("audit verify");
        assert!(audit.is_sound() && audit.entries == 12, "{audit:?}");
        assert_eq!(app.record().list_audit(3).await.expect("audit list").len(), 3);

        let status = app.instance().status().await.expect("status");
        assert_eq!((status.today, status.stopped_today, status.unfinished.len()), (1, 0, 0));
        assert!(app.instance().doctor().await.healthy);
        assert!(app.instance().paths().database.ends_with("regent.db"));
        assert_eq!(app.settings().get("ui.color"), "auto");
        app.instance().init("").await.expect("init");

        for &code in CODES {
            let explained = app.instance().explain(&code.to_string()).await.expect("explain");
            assert!(matches!(explained, Explained::Code { page, .. } if !page.is_empty()));
        }
        assert!(matches!(
            app.instance().explain(&report.short).await.expect("explain"),
            Explained::Decision(_)
        ));
        assert_eq!(app.instance().explain("R9999").await.expect_err("no such code").code, Code::NO_SUCH_CODE);
    }
}

#[tokio::test]
async fn an_ambiguous_id_names_its_candidates() {
    let world = World::new(Kept::InMemory).await;
    for _ in 0..40 {
        world.run("how many files are here?").await.expect("run");
    }
    let tasks = world.app.tasks().list(99).await.expect("tasks");
    let letters: std::collections::BTreeSet<char> =
        tasks.iter().filter_map(|task| task.short.chars().nth(2)).collect();
    let letter = letters
        .iter()
        .find(|letter| tasks.iter().filter(|task| task.short.chars().nth(2) == Some(**letter)).count() > 1);
    let prefix = format!("t-{}", letter.expect("forty tasks share a first letter"));
    let problem = world.app.tasks().show(&prefix).await.expect_err("ambiguous");
    assert_eq!(problem.code, Code::AMBIGUOUS_ID);
    assert!(tasks.iter().all(|task| task.short.len() >= 6), "short ids are long enough to type");
    for task in &tasks {
        assert_eq!(world.app.tasks().show(&task.short).await.expect("unique").line.task, task.task);
    }
}
