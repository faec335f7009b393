//! The conversation, with a terminal that is a script and a desk that is a list.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Duration;

use app::approvals::{Act, ApprovalView};
use app::{Code, Problem};
use broker::question::{NamedBy, Question, Typed};
use domain::Time;
use domain::approval::{Lasting, Status};
use jiff::tz::TimeZone;
use present::Theme;
use present::approval::sample;
use serde_json::{Value, json};

use super::{Conversation, Desk, Heard, Terminal};
use crate::terminal::TerminalSession;

/// What happens on the terminal, in order. After its end nobody types any more.
struct Script {
    heard: RefCell<VecDeque<Heard>>,
    said: RefCell<Vec<String>>,
    rung: Cell<usize>,
    asked: Cell<usize>,
}

impl Script {
    fn new(lines: &[&str]) -> Self {
        Self::of(lines.iter().map(|line| Heard::Line((*line).into())))
    }

    fn of(heard: impl IntoIterator<Item = Heard>) -> Self {
        let heard = RefCell::new(heard.into_iter().collect());
        Self { heard, said: RefCell::default(), rung: Cell::new(0), asked: Cell::new(0) }
    }

    fn text(&self) -> String {
        self.said.borrow().join("\n")
    }
}

impl Terminal for Script {
    fn take(&self) {}

    fn release(&self) {}

    fn say(&self, line: &str) {
        self.said.borrow_mut().push(line.into());
    }

    fn ring(&self) {
        self.rung.set(self.rung.get() + 1);
    }

    fn width(&self) -> usize {
        100
    }

    async fn until_ours(&self) {}

    fn tells_pasted(&self) -> bool {
        true
    }

    async fn ask(&self, prompt: &str) -> Heard {
        self.asked.set(self.asked.get() + 1);
        self.say(prompt);
        let heard = self.heard.borrow_mut().pop_front();
        match heard {
            Some(heard) => heard,
            None => std::future::pending().await,
        }
    }
}

/// Questions and what was said to them. With the last one answered, the work is over.
struct List {
    views: RefCell<Vec<ApprovalView>>,
    acts: RefCell<Vec<(String, Act)>>,
    seat: TerminalSession,
    /// Answered elsewhere while the prompt is open, as this.
    elsewhere: Cell<Option<Status>>,
    looks: Cell<usize>,
}

impl List {
    fn new(views: Vec<ApprovalView>) -> Self {
        Self {
            views: RefCell::new(views),
            acts: RefCell::default(),
            seat: TerminalSession::default(),
            elsewhere: Cell::new(None),
            looks: Cell::new(0),
        }
    }

    fn set(&self, id: &str, status: Status) -> Option<ApprovalView> {
        let mut views = self.views.borrow_mut();
        let view = views.iter_mut().find(|view| view.id.to_string() == id && view.status.is_open())?;
        view.status = status;
        view.resolved_by = Some("owner".into());
        view.resolved_via = Some("terminal".into());
        let view = view.clone();
        if views.iter().all(|view| !view.status.is_open()) {
            self.seat.close();
        }
        Some(view)
    }

    fn acts(&self) -> Vec<(String, Act)> {
        self.acts.borrow().clone()
    }
}

impl Desk for List {
    async fn open(&self) -> Result<Vec<ApprovalView>, Problem> {
        self.looks.set(self.looks.get() + 1);
        if let Some(status) = self.elsewhere.get().filter(|_| self.looks.get() > 1) {
            let ids: Vec<String> = self.views.borrow().iter().map(|view| view.id.to_string()).collect();
            ids.iter().for_each(|id| drop(self.set(id, status)));
        }
        Ok(self.views.borrow().iter().filter(|view| view.status.is_open()).cloned().collect())
    }

    async fn look(&self, id: &str) -> Result<ApprovalView, Problem> {
        let views = self.views.borrow();
        Ok(views.iter().find(|view| view.id.to_string() == id).expect("a question").clone())
    }

    async fn resolve(&self, id: &str, act: Act) -> Result<ApprovalView, Problem> {
        let status = match &act {
            Act::Approve { .. } => Status::Approved,
            Act::Reject { .. } => Status::Rejected,
            Act::Modify { .. } => Status::Modified,
            Act::Escalate => Status::Escalated,
        };
        let view =
            self.set(id, status).ok_or_else(|| Problem::new(Code::REFUSED, "it is not open any more"))?;
        self.acts.borrow_mut().push((view.short.clone(), act));
        Ok(view)
    }

    async fn changed(&self, view: &ApprovalView, pair: &str) -> Result<Value, Problem> {
        let bad = || Problem::new(Code::BAD_ARGUMENTS, format!("`{pair}` is not of the form name=value"));
        let (name, value) = pair.split_once('=').ok_or_else(bad)?;
        let mut args = view.question.as_ref().expect("a question").args().clone();
        args[name] = value.into();
        Ok(args)
    }

    fn now(&self) -> Time {
        "2026-11-15T14:20:00Z".parse().expect("a time")
    }

    fn zone(&self) -> &TimeZone {
        const UTC: &TimeZone = &TimeZone::UTC;
        UTC
    }
}

fn deletion(path: &str) -> Question {
    sample::question(
        "delete_file",
        json!({ "path": path }),
        vec![sample::sink("path", path, NamedBy::Request)],
    )
}

fn view(number: u8, question: Question) -> ApprovalView {
    ApprovalView {
        id: domain::id::ApprovalId::from_bits(number.into()),
        short: format!("a-{number}"),
        ..sample::view(question)
    }
}

fn typed(number: u8) -> ApprovalView {
    let mut question = deletion("notes.txt");
    question.typed = Some(Typed { sink: "path".into(), expected: "notes.txt".into() });
    view(number, question)
}

fn yes(short: &str) -> (String, Act) {
    (short.into(), Act::Approve { lasting: Lasting::Once, typed: None, good_for: None })
}

fn no(short: &str, reason: &str) -> (String, Act) {
    (short.into(), Act::Reject { reason: reason.into() })
}

/// Holds the conversation; time passes as fast as nobody does anything.
fn hold(desk: &List, script: &Script) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let theme = Theme::PLAIN;
    let mut conversation = Conversation::new(desk, script, &desk.seat, theme);
    runtime.expect("a runtime").block_on(async {
        let held = tokio::time::timeout(Duration::from_secs(60), conversation.hold()).await;
        assert!(held.is_ok(), "it goes on for ever:\n{}", script.text());
    });
}

fn one(lines: &[&str]) -> (List, Script) {
    let (desk, script) = (List::new(vec![view(1, deletion("notes.txt"))]), Script::new(lines));
    hold(&desk, &script);
    (desk, script)
}

#[test]
fn a_typed_yes_is_one_yes() {
    let (desk, script) = one(&["y"]);
    assert_eq!(desk.acts(), [yes("a-1")]);
    assert!(!desk.seat.stopped_while_asked(), "nobody is asked any more");
    assert!(script.text().ends_with("a-1> \na-1: approved, this once"), "{}", script.text());
    assert_eq!(script.rung.get(), 1);
}

#[test]
fn a_no_has_its_reason() {
    let (desk, _) = one(&["n the originals are gone"]);
    assert_eq!(desk.acts(), [no("a-1", "the originals are gone")]);
}

#[test]
fn an_empty_or_unknown_answer_asks_again_and_rings_once() {
    let (desk, script) = one(&["", "  ", "Y", "yes please", "ok", "g", "y"]);
    assert_eq!(desk.acts(), [yes("a-1")]);
    assert_eq!((script.asked.get(), script.rung.get()), (7, 1));
    assert!(script.text().contains("nothing is decided by an empty line"), "{}", script.text());
}

#[test]
fn what_is_pasted_is_no_answer() {
    let desk = List::new(vec![view(1, deletion("notes.txt"))]);
    let script = Script::of([Heard::Pasted, Heard::Pasted, Heard::Line("n".into())]);
    hold(&desk, &script);
    assert_eq!(desk.acts(), [no("a-1", "")]);
}

#[test]
fn an_end_of_input_is_neither_yes_nor_no() {
    let desk = List::new(vec![view(1, deletion("notes.txt"))]);
    hold(&desk, &Script::of([Heard::End]));
    assert_eq!((desk.acts(), desk.seat.has_left()), (vec![], true));
}

#[test]
fn later_leaves_it_open() {
    let (desk, _) = one(&["l"]);
    assert_eq!((desk.acts(), desk.seat.has_left()), (vec![], true));
}

#[test]
fn whoever_is_stopped_while_asked_leaves_without_an_answer() {
    let desk = List::new(vec![view(1, deletion("notes.txt"))]);
    let script = Script::new(&[]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let theme = Theme::PLAIN;
    let mut conversation = Conversation::new(&desk, &script, &desk.seat, theme);
    runtime.expect("a runtime").block_on(async {
        let stopping = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            assert!(desk.seat.stopped_while_asked());
        };
        let held = async { tokio::join!(conversation.hold(), stopping) };
        tokio::time::timeout(Duration::from_secs(60), held).await.expect("it ends");
    });
    assert_eq!(desk.acts(), []);
    assert!(script.text().ends_with("no answer: it stays open, and the task waits"), "{}", script.text());
    assert!(desk.seat.stopped_while_asked(), "who has left was asked");
}

#[test]
fn an_answer_from_elsewhere_closes_the_prompt_and_says_whose_it_is() {
    let told = [
        (Status::Approved, "a-1 was approved by owner, terminal"),
        (Status::Rejected, "a-1 was rejected by owner, terminal"),
        (Status::Expired, "a-1 expired: neither yes nor no"),
    ];
    for (status, expected) in told {
        let (desk, script) = (List::new(vec![view(1, deletion("notes.txt"))]), Script::new(&[]));
        desk.elsewhere.set(Some(status));
        hold(&desk, &script);
        assert!(script.text().ends_with(expected), "{}", script.text());
        assert_eq!((desk.acts(), desk.seat.has_left()), (vec![], false));
    }
}

#[test]
fn a_value_that_has_to_be_typed_is_the_only_yes() {
    let (desk, script) =
        (List::new(vec![typed(1)]), Script::new(&["y", "yes", "g", "notes.tx", "notes.txt"]));
    hold(&desk, &script);
    let act = Act::Approve { lasting: Lasting::Once, typed: Some("notes.txt".into()), good_for: None };
    assert_eq!(desk.acts(), [("a-1".into(), act)]);
    assert!(script.text().contains("to say yes, type the value of path   n no"), "{}", script.text());
    assert!(script.text().contains("a plain yes is not enough here"), "{}", script.text());
}

#[test]
fn alike_questions_are_one_list() {
    let three = || List::new((1..=3).map(|n| view(n, deletion(&format!("{n}.txt")))).collect());
    let desk = three();
    hold(&desk, &Script::new(&["y"]));
    assert_eq!(desk.acts(), [yes("a-1"), yes("a-2"), yes("a-3")]);

    let (desk, script) = (three(), Script::new(&["y 4", "y 1 3", "n not this one"]));
    hold(&desk, &script);
    assert_eq!(desk.acts(), [yes("a-1"), yes("a-3"), no("a-2", "not this one")]);
    let text = script.text();
    for path in ["    path: 1.txt", "    path: 2.txt", "    path: 3.txt", "2 of 3", "3 questions> ", "a-2> "]
    {
        assert!(text.contains(path), "{text}");
    }
    assert_eq!(script.rung.get(), 2, "the one that is left is put again");
}

#[test]
fn questions_that_are_not_alike_are_put_one_by_one() {
    let mut other = view(2, deletion("b.txt"));
    other.shape = domain::Digest::of(b"another shape");
    let desk = List::new(vec![view(1, deletion("a.txt")), other, typed(3)]);
    hold(&desk, &Script::new(&["y", "n", "l"]));
    assert_eq!(desk.acts(), [yes("a-1"), no("a-2", "")]);
    assert!(desk.seat.has_left(), "what is left is put off");
}

#[test]
fn a_grant_is_written_once_for_all_of_them() {
    let offered = |n: u8| {
        let mut view = view(n, deletion(&format!("reports/{n}.md")));
        view.question.as_mut().expect("a question").offer = Some(sample::offer());
        view
    };
    for (line, lasting) in [("g", Lasting::Day), ("ga", Lasting::Always)] {
        let (desk, script) = (List::new(vec![offered(1), offered(2)]), Script::new(&[line]));
        hold(&desk, &script);
        let granted = ("a-1".to_owned(), Act::Approve { lasting, typed: None, good_for: None });
        assert_eq!(desk.acts(), [granted, yes("a-2")]);
        assert_eq!(script.text().matches("stop asking to write in reports/").count(), 1, "{}", script.text());
    }
}

#[test]
fn an_argument_is_changed_on_the_next_line() {
    let (desk, script) =
        one(&["e", "nonsense", "e", "", "e", "path=copy.txt", "n", "e", "path=copy.txt", "y"]);
    let args = json!({ "path": "copy.txt" });
    assert_eq!(desk.acts(), [("a-1".into(), Act::Modify { args, typed: None })]);
    let text = script.text();
    assert!(text.contains("`nonsense` is not of the form name=value"), "{text}");
    assert!(text.contains("this is what it would be:\n    path: copy.txt\n"), "{text}");
    assert!(text.ends_with("a-1 as changed> \na-1: approved as changed, this once"), "{text}");
}

#[test]
fn whoever_changes_the_value_has_typed_it_and_whoever_changes_another_still_has_to() {
    let desk = List::new(vec![typed(1)]);
    hold(&desk, &Script::new(&["e", "path=other.txt", "y"]));
    let act = Act::Modify { args: json!({ "path": "other.txt" }), typed: Some("other.txt".into()) };
    assert_eq!(desk.acts(), [("a-1".into(), act)]);

    let desk = List::new(vec![typed(1)]);
    hold(&desk, &Script::new(&["e", "why=x", "y", "e", "why=x", "notes.txt"]));
    let args = json!({ "path": "notes.txt", "why": "x" });
    assert_eq!(desk.acts(), [("a-1".into(), Act::Modify { args, typed: Some("notes.txt".into()) })]);
}

#[test]
fn a_change_too_is_closed_by_an_answer_from_elsewhere_and_left_without_one() {
    for lines in [&["e"][..], &["e", "path=copy.txt"]] {
        let (desk, script) = (List::new(vec![view(1, deletion("notes.txt"))]), Script::new(lines));
        desk.elsewhere.set(Some(Status::Rejected));
        hold(&desk, &script);
        assert!(script.text().ends_with("a-1 was rejected by owner, terminal"), "{}", script.text());
        assert_eq!(desk.acts(), []);

        let desk = List::new(vec![view(1, deletion("notes.txt"))]);
        let heard = lines.iter().map(|line| Heard::Line((*line).into())).chain([Heard::End]);
        let script = Script::of(heard);
        hold(&desk, &script);
        let text = script.text();
        assert!(text.ends_with("> \nno answer: it stays open, and the task waits"), "{text}");
        assert_eq!((desk.acts(), desk.seat.has_left()), (vec![], true));
    }
}

#[test]
fn a_line_that_a_terminal_cuts_is_no_answer() {
    let desk = List::new(vec![view(1, deletion("notes.txt"))]);
    let script = Script::of([Heard::TooLong, Heard::Line("l".into())]);
    hold(&desk, &script);
    assert!(script.text().contains("regent approvals modify a-1 --args JSON"), "{}", script.text());
    assert_eq!(desk.acts(), []);
}

#[test]
fn view_and_why_decide_nothing() {
    let mut question = deletion("notes.txt");
    question.diff = Some((1..=30).map(|n| format!("-line {n}\n")).collect());
    let (desk, script) = (List::new(vec![view(1, question)]), Script::new(&["v", "d", "l"]));
    hold(&desk, &script);
    let text = script.text();
    assert!(text.contains("... 18 more lines, v shows all") && text.contains("      -line 30"), "{text}");
    assert!(text.contains("a-1: deleting always needs you\n  regent why t-k7q2"), "{text}");
    assert_eq!(desk.acts(), []);
}
