//! `why` with the whole trinity, and every decision made again: on every store, and with every kind of forgery.

use std::sync::Arc;

use app::Code;
use app::record::{Again, Rechecked};
use app::record::{Branch, Why};
use broker::{Answer, Decided};
use domain::id::{BatchId, CallId, TaskId};
use domain::task::Status;
use domain::{By, Digest, Time, canonical};
use ledger::records::{Access, AgentTask, Blob, Salt, TaskStep, ToolCall, Vpol};
use ledger::table::{Record, Table, Write};
use ledger::value::{BadCell, Row};
use ledger::{Batch, Entry, Ledger, Select};
use serde_json::Value;
use testkit::{Kept, World};

const REFERENCE: &str = "how many Rust files are here, and which is the largest?";

/// Rows as somebody overwrites them who owns the database, whatever the ledger thinks of it.
macro_rules! forged {
    ($($name:ident of $record:ident),+) => {$(
        struct $name($record);
        impl Record for $name {
            const TABLE: &'static Table = &Table { write: Write::Replace, ..*$record::TABLE };
            fn row(&self) -> Row {
                self.0.row()
            }
            fn from_row(row: Row) -> Result<Self, BadCell> {
                $record::from_row(row).map(Self)
            }
        }
    )+};
}
forged!(ForgedBlob of Blob, ForgedStep of TaskStep, ForgedAccess of Access, ForgedVpol of Vpol);

struct Scene {
    world: World,
    ledger: Ledger,
    task: TaskId,
}

impl Scene {
    async fn new(kept: Kept) -> Self {
        let world = World::new(kept).await;
        world.file("src/large.rs", "fn main() {}").file("small.rs", "//");
        let task = world.run(REFERENCE).await.expect("a report").task;
        let seal = world.seal();
        let ledger = Ledger::start(world.store().await, seal, Arc::new(domain::probe::Silent));
        Self { world, ledger, task }
    }

    async fn forge(&self, forge: impl for<'a> FnOnce(&'a mut Batch) -> &'a mut Batch) {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1_000);
        let id = BatchId::from_bits(NEXT.fetch_add(1, Ordering::SeqCst).into());
        let mut batch = Batch::new(id, Time::from_micros(0));
        forge(&mut batch);
        self.ledger.commit(batch).await.expect("whoever owns the database can do this");
    }

    async fn call(&self, tool: &str) -> ToolCall {
        let calls = self.ledger.calls_of(self.task).await.expect("calls");
        calls.into_iter().find(|call| call.tool_id.as_str() == tool).expect("a call")
    }

    async fn blob(&self, hash: &Digest) -> Blob {
        self.ledger.first(Select::by("hash", hash)).await.expect("blobs").expect("a blob")
    }

    async fn salt(&self, blob: &Blob) -> Salt {
        let person = blob.person.as_deref().expect("somebody's");
        self.ledger.salt_of(person).await.expect("salts").expect("a salt")
    }

    async fn recheck(&self) -> Rechecked {
        let why = self.world.app.record().recheck(&self.task.to_string()).await.expect("why");
        why.recheck.expect("it was asked for")
    }

    /// What is found about one kind of thing, in words; of the calls only the first.
    async fn found(&self, what: &str) -> Vec<String> {
        let recheck = self.recheck().await;
        let deliver = Some("deliver".to_owned());
        let lines = recheck.lines.into_iter().filter(|line| line.what == what && line.tool != deliver);
        lines.map(|line| said(&line.again)).collect()
    }

    /// A decision with other content under its own digest, in the row and in an audit that is as sealed as the
    /// true one: what a house of another day would hold.
    async fn record_instead(&self, tool: &str, change: impl FnOnce(&mut Value)) {
        let row = self.call(tool).await;
        let kept = self.blob(&row.decision).await;
        let mut body: Value = serde_json::from_slice(&kept.content).expect("json");
        change(&mut body);
        let blob = Blob::personal(canonical::bytes(&body).expect("canonical"), &self.salt(&kept).await);
        let entries = self.ledger.audit_tail(99).await.expect("audit");
        let entries = entries.into_iter().filter(|entry| entry.subject == row.id.to_string());
        let entries = entries.map(|entry| serde_json::from_slice(&entry.bytes).expect("an entry"));
        let mut entries: Vec<Entry> = entries.take(2).collect(); // started, finished
        entries[0].detail["decision"] = blob.hash.to_string().into();
        self.forge(|batch| {
            batch.put(&blob).put(&ToolCall { decision: blob.hash, ..row });
            entries.into_iter().fold(batch, |batch, entry| batch.audit(entry))
        })
        .await;
    }
}

fn said(again: &Again) -> String {
    match again {
        Again::Same => "same".into(),
        Again::Differs(it) => format!("DIFFERS {}: {} / {}", it.field, it.then, it.now),
        Again::Erased => "erased".into(),
        Again::Unkept => "unkept".into(),
        Again::OtherRules { rules_then, rules_now, differs } => {
            let differs = differs.as_ref().map_or("same", |it| it.field.as_str());
            format!("rules {rules_then:?} {rules_now}: {differs}")
        }
    }
}

fn ids(branches: &[Branch]) -> Vec<String> {
    branches.iter().flat_map(|branch| branch.id.clone().into_iter().chain(ids(&branch.because))).collect()
}

fn kinds(why: &Why) -> String {
    let mut letters: Vec<char> = ids(&why.because).iter().filter_map(|id| id.chars().next()).collect();
    letters.sort_unstable();
    letters.dedup();
    letters.into_iter().collect()
}

#[tokio::test]
async fn the_whole_trinity_is_named_and_every_end_of_a_chain_comes_out_the_same() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        let events = scene.ledger.events(9).await.expect("events");
        let access = scene.ledger.admission_of(events[0].id).await.expect("access").expect("decided");
        let call = scene.call("find_files").await;
        let table = [
            (scene.task.to_string(), "corv", 9),
            (call.id.to_string(), "orv", 6),
            (events[0].id.to_string(), "dortv", 2),
            (events[1].id.to_string(), "ceorv", 7),
            (call.r_tag.to_string(), "orv", 4),
            (access.id.to_string(), "deorv", 2),
            (call.o_tag.to_string(), "dortv", 2),
        ];
        for (id, tags, entries) in table {
            let why = scene.world.app.record().recheck(&id).await.expect("why");
            assert_eq!(kinds(&why), tags, "{kept:?} {id}");
            assert_eq!((why.proof.consistent, why.proof.entries.len()), (true, entries), "{kept:?} {id}");
            assert_eq!(why.origin.map(|origin| origin.id), Some(call.o_tag));
            let policy = why.policy.expect("a policy");
            assert_eq!(
                (policy.id, policy.name.as_str(), policy.mode.as_str()),
                (call.vpol_id, "default-owner", "monitor")
            );
            assert_eq!(domain::id::VpolId::from_digest(policy.rules), call.vpol_id);
            let recheck = why.recheck.expect("it was asked for");
            let found: Vec<_> = recheck.lines.iter().map(|line| (line.what, said(&line.again))).collect();
            assert!(recheck.holds && found.iter().all(|(_, said)| said == "same"), "{kept:?} {found:?}");
            let what: Vec<_> = found.into_iter().map(|(what, _)| what).collect();
            let all = [
                "event",
                "admission",
                "policy",
                "journal",
                "call",
                "call",
                "checks",
                "answer",
                "task",
                "audit",
            ];
            assert_eq!(what, all);
        }
        let why = scene.world.app.record().why(&call.id.to_string()).await.expect("why");
        let reasons: Vec<_> =
            why.reasons.iter().map(|reason| (reason.kind.as_str(), reason.parent)).collect();
        let [call, plan, admit] = reasons.as_slice() else { panic!("three reasons: {reasons:?}") };
        assert_eq!([call.0, plan.0, admit.0], ["call", "plan", "admit"]);
        assert_eq!((call.1, plan.1, admit.1), (Some(why.reasons[1].id), Some(why.reasons[2].id), None));
        let decided: Decided = serde_json::from_value(why.decision.expect("the decision")).expect("decided");
        assert_eq!(decided.by, Some(By::this(broker::decide::RULES)));
        assert!(decided.inputs.is_some_and(|from| from.call.id == scene_call(&why.id)));
        let policy = why.policy.expect("a policy").id.to_string();
        assert_eq!(scene.world.app.record().why(&policy).await.expect_err("no chain").code, Code::NO_CHAIN);
    }
}

fn scene_call(id: &str) -> CallId {
    id.parse().expect("a call")
}

#[tokio::test]
async fn however_a_request_ends_it_comes_out_the_same() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        world.file("a.rs", "fn main() {}").file("b.md", "# Hi");
        let requests = [
            "paint the house green",
            "how many files are in nowhere",
            "how many Rust files are here, and how many markdown files are here?",
            "search for \"main\"",
        ];
        for request in requests {
            let report = world.run(request).await.expect("a report");
            let why = world.app.record().recheck(&report.short).await.expect("why");
            let recheck = why.recheck.expect("it was asked for");
            assert_eq!(recheck.count(|again| *again != Again::Same), 0, "{kept:?} {request}: {recheck:?}");
        }
        let line = r#"{"adapter":"mail","source_id":"7","sender":"eve@x.example","content":"let me in"}"#;
        let receipt = world.app.events().ingest(line).await.expect("ledger").expect("event").id.to_string();
        let lines = async || {
            let why = world.app.record().recheck(&receipt).await.expect("why");
            let recheck = why.recheck.expect("it was asked for");
            recheck
                .lines
                .iter()
                .map(|line| format!("{} {}", line.what, said(&line.again)))
                .collect::<Vec<_>>()
        };
        assert_eq!(lines().await, ["event same", "audit same"], "nobody has decided yet");
        assert_eq!(world.resume(Some(&receipt)).await.expect_err("denied").code, Code::NOT_ADMITTED);
        assert_eq!(lines().await, ["event same", "admission same", "policy same", "audit same"]);
    }
}

/// Overwritten in place: the body is not what its digest says.
#[tokio::test]
async fn a_changed_decision_is_named() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        let call = scene.call("find_files").await;
        let blob = scene.blob(&call.decision).await;
        let content = String::from_utf8(blob.content.clone()).expect("text").replace("execute", "deny");
        scene.forge(|batch| batch.put(&ForgedBlob(Blob { content: content.into_bytes(), ..blob }))).await;
        let changed = "DIFFERS decision: what its digest says / something else";
        assert_eq!(scene.found("call").await, [changed], "{kept:?}");
        let why = scene.world.app.record().why(&call.id.to_string()).await.expect("it is said, not an error");
        assert!(why.because[0].text.contains("CHANGED"), "{:?}", why.because[0]);
    }
}

/// Somebody who knows the salt wrote another answer, with the digest that belongs to it, and the row with it.
#[tokio::test]
async fn a_forged_answer_under_its_own_digest_does_not_follow_from_its_facts() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        let call = scene.call("find_files").await;
        let blob = scene.blob(&call.decision).await;
        let mut decided: Decided = serde_json::from_slice(&blob.content).expect("decided");
        decided.decision.answer = Answer::Deny;
        let bytes = canonical::bytes(&decided).expect("canonical");
        let forged = Blob::personal(bytes, &scene.salt(&blob).await);
        let (then, now) = (call.decision, forged.hash);
        scene.forge(|batch| batch.put(&forged).put(&ToolCall { decision: now, ..call })).await;
        let found = scene.found("call").await;
        let expected = [
            format!("DIFFERS decision, in the audit: {then} / {now}"),
            "DIFFERS decision: deny: no layer was asked / execute: find_files is registered and switched on".into(),
            "DIFFERS ruling, in the journal: \"execute\" / {\"denied\":{\"instead\":[],\"why\":\"no layer was asked\"}}"
                .into(),
        ];
        assert_eq!(found, expected, "{kept:?}");
        assert!(!scene.recheck().await.holds);
    }
}

/// Even where the audit says the same: the decision itself does not follow from what it names.
#[tokio::test]
async fn an_answer_that_the_audit_knows_is_still_made_again() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        scene
            .record_instead("find_files", |body| {
                body["made_from"]["permissions"]["own"]["allow"] = serde_json::json!([])
            })
            .await;
        let found = scene.found("call").await;
        assert_eq!(found.len(), 3, "{kept:?} {found:?}");
        let denied = "DIFFERS decision: execute: find_files is registered and switched on / deny: the admission does not allow find_files: no policy allows it";
        assert_eq!(found[0], denied);
        assert!(found[1].starts_with("DIFFERS words: "), "{found:?}");
    }
}

#[tokio::test]
async fn a_row_that_names_another_decision_is_named() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        let (call, other) = (scene.call("find_files").await, scene.call("deliver").await);
        let before = call.decision;
        scene.forge(|batch| batch.put(&ToolCall { decision: other.decision, ..call })).await;
        let found = scene.found("call").await;
        assert_eq!(
            found[0],
            format!("DIFFERS decision, in the audit: {before} / {}", other.decision),
            "{kept:?}"
        );
        assert!(found.iter().any(|found| found.starts_with("DIFFERS call, in the journal")), "{found:?}");
    }
}

#[tokio::test]
async fn rows_beside_the_journal_must_say_what_it_says() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        let task = scene.ledger.task(scene.task).await.expect("tasks").expect("a task");
        scene.forge(|batch| batch.put(&AgentTask { status: Status::Stopped, steps: 4, ..task })).await;
        assert_eq!(
            scene.found("task").await,
            ["DIFFERS status: stopped / done", "DIFFERS steps: 4 / 9"],
            "{kept:?}"
        );

        let scene = Scene::new(kept).await;
        let call = scene.call("find_files").await;
        let (input, output) = (call.input, call.output.expect("an output"));
        scene.forge(|batch| batch.put(&ToolCall { input: output, output: Some(input), ..call })).await;
        let found = scene.found("call").await;
        let expected = [
            format!("DIFFERS input, in the audit: {input} / {output}"),
            format!("DIFFERS output, in the audit: {output} / {input}"),
            format!("DIFFERS input: {output} / {input}"),
            format!("DIFFERS output: {input} / {output}"),
        ];
        assert_eq!(found, expected, "{kept:?}");

        let scene = Scene::new(kept).await;
        let event = scene.ledger.events(1).await.expect("events").remove(0);
        let access = scene.ledger.admission_of(event.id).await.expect("access").expect("decided");
        scene.forge(|batch| batch.put(&ForgedAccess(Access { effect: "deny".into(), ..access }))).await;
        let expected =
            ["DIFFERS effect, in the audit: allow / deny", "DIFFERS effect, in its row: allow / deny"];
        assert_eq!(scene.found("admission").await, expected, "{kept:?}");

        let scene = Scene::new(kept).await;
        let vpol = scene.call("find_files").await.vpol_id;
        let vpol = scene.ledger.vpol(vpol).await.expect("policies").expect("a policy");
        scene
            .forge(|batch| batch.put(&ForgedVpol(Vpol { enforcement_mode: "intercept".into(), ..vpol })))
            .await;
        assert_eq!(
            scene.found("policy").await,
            ["DIFFERS mode, in its row: monitor / intercept"],
            "{kept:?}"
        );
    }
}

#[tokio::test]
async fn a_changed_step_is_named() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        let step = scene.ledger.steps(scene.task).await.expect("steps").remove(5);
        let blob = scene.blob(&step.body).await;
        let content =
            String::from_utf8(blob.content.clone()).expect("text").replace("\"count\":2", "\"count\":3");
        assert_ne!(content.as_bytes(), blob.content, "step 5 holds what the tool returned");
        scene.forge(|batch| batch.put(&ForgedBlob(Blob { content: content.into_bytes(), ..blob }))).await;
        let found = scene.found("journal").await;
        assert_eq!(found, ["DIFFERS step 5: what its digest says / something else"], "{kept:?}");
        let why =
            scene.world.app.record().why(&scene.task.to_string()).await.expect("it is said, not an error");
        assert!(why.because[0].text.contains("was changed"), "{:?}", why.because[0]);
    }
}

/// Step and row rewritten together. SQLite and PostgreSQL refuse that in the database itself, the store in memory does not.
#[tokio::test]
async fn a_step_that_was_rewritten_with_its_digest_is_named_by_what_follows_from_it() {
    let rewrite = async |n: usize, from: &str, to: &str| {
        let scene = Scene::new(Kept::InMemory).await;
        let row = scene.ledger.steps(scene.task).await.expect("steps").remove(n);
        let blob = scene.blob(&row.body).await;
        let content = String::from_utf8(blob.content.clone()).expect("text").replace(from, to);
        assert_ne!(content.as_bytes(), blob.content, "there is something to rewrite");
        let forged = Blob::personal(content.into_bytes(), &scene.salt(&blob).await);
        let body = forged.hash;
        scene.forge(|batch| batch.put(&forged).put(&ForgedStep(TaskStep { body, ..row }))).await;
        let found = scene.recheck().await.lines.into_iter().filter(|line| line.again != Again::Same);
        found.map(|line| format!("{} {}", line.what, said(&line.again))).collect::<Vec<_>>()
    };
    let has = |found: &[String], what: &str| {
        assert!(found.iter().any(|line| line.starts_with(what)), "{what}: {found:#?}")
    };

    let found = rewrite(5, "\"count\":2", "\"count\":3").await;
    has(&found, "journal DIFFERS journal, in the audit: ");
    has(&found, "call DIFFERS output: ");
    has(
        &found,
        "checks DIFFERS check 3: the number of files is known: proved (/count is 2) / the number of files is known: proved (/count is 3)",
    );

    let found = rewrite(2, "find_files ran", "anything ran").await;
    has(&found, "journal DIFFERS journal, in the audit: ");
    has(
        &found,
        "checks DIFFERS check 1: find_files ran: proved (find_files ran 1 time) / anything ran: proved",
    );

    let found = rewrite(3, "\"r_tag\":\"call\"", "\"r_tag\":\"plan\"").await;
    has(&found, "journal DIFFERS reasons of step 3: ");
    has(&found, "journal DIFFERS r_tag: call / plan");

    let found = rewrite(0, "\"operator\"", "\"system\"").await;
    has(&found, "journal DIFFERS trust: system / operator");

    let found = rewrite(4, "\"execute\"", "{\"refused\":{\"why\":\"no\"}}").await;
    has(&found, "journal DIFFERS step 5: returned / nobody asked");
}

/// Without the salt nothing of a person can be read or guessed; the rest of the chain still holds.
#[tokio::test]
async fn what_was_erased_is_said_and_is_no_error() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        let call = scene.call("find_files").await;
        let person = scene.blob(&call.decision).await.person.expect("somebody's");
        let blobs = scene.ledger.select(Select::<Blob>::by("person", &person)).await.expect("blobs");
        scene
            .forge(|batch| {
                blobs.into_iter().fold(batch, |batch, blob| {
                    let person = Some("nobody".into());
                    batch.put(&ForgedBlob(Blob { person, content: Vec::new(), ..blob }))
                })
            })
            .await;
        let recheck = scene.recheck().await;
        let found: Vec<_> = recheck.lines.iter().map(|line| (line.what, said(&line.again))).collect();
        let expected = [
            ("event", "erased"),
            ("admission", "erased"),
            ("policy", "same"),
            ("journal", "erased"),
            ("call", "erased"),
            ("call", "erased"),
            ("answer", "erased"),
            ("task", "erased"),
            ("audit", "same"),
        ];
        assert!(recheck.holds, "{kept:?} {found:?}");
        assert_eq!(found.iter().map(|(what, said)| (*what, said.as_str())).collect::<Vec<_>>(), expected);
        for id in [scene.task.to_string(), call.id.to_string(), call.r_tag.to_string()] {
            let why = scene.world.app.record().why(&id).await.expect("it is said, not an error");
            assert!(format!("{:?}", why.because).contains("erased"), "{why:?}");
        }
        // What is left of the spine is still compared.
        scene.forge(|batch| batch.put(&ToolCall { input: Digest::ZERO, ..call })).await;
        assert!(scene.found("call").await[0].starts_with("DIFFERS input, in the audit"));
    }
}

#[tokio::test]
async fn a_decision_from_before_inputs_were_kept_is_said() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        scene.record_instead("find_files", |body| *body = body["decision"].take()).await;
        assert_eq!(scene.found("call").await, ["unkept"], "{kept:?}");
        assert!(scene.recheck().await.holds);
        let call = scene.call("find_files").await.id.to_string();
        let why = scene.world.app.record().why(&call).await.expect("it can be read");
        assert_eq!(why.because[0].because.len(), 10, "every layer's word");
    }
}

#[tokio::test]
async fn where_other_rules_decided_a_difference_is_said_and_not_held_against_the_record() {
    for kept in Kept::each() {
        let scene = Scene::new(kept).await;
        let now = broker::decide::RULES;
        let other = now + 1;
        scene.record_instead("find_files", |body| body["by"]["rules"] = other.into()).await;
        assert_eq!(scene.found("call").await, [format!("rules Some({other}) {now}: same")], "{kept:?}");
        scene
            .record_instead("find_files", |body| {
                body["decision"]["words"][0]["reason"] = "it is known".into()
            })
            .await;
        let found = scene.found("call").await;
        let expected =
            [format!("rules Some({other}) {now}: decision"), format!("rules Some({other}) {now}: words")];
        assert_eq!(found, expected, "{kept:?}");
        assert!(scene.recheck().await.holds);
    }
}
