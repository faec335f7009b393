//! What the book takes in, and how the whole house is judged from it.

use super::super::account::Account;
use super::super::seen::{Blow, End};
use super::super::verdict::{self, Listed};
use super::*;

const ANSWER: &str = "3 Rust files\nall\n";

fn seen(sort: Sort, end: End, stdout: &str, lines: &[&str]) -> Seen {
    let point = |line: &&str| Point { line: (*line).to_owned(), went: true };
    Seen {
        sort,
        args: Vec::new(),
        points: lines.iter().map(point).collect(),
        stopped_at: None,
        end,
        stdout: stdout.to_owned(),
        stderr: String::new(),
    }
}

fn ack(number: u64, id: &str, new: bool) -> String {
    format!("{{\"key\":\"crash:{number}\",\"id\":\"{id}\",\"new\":{new}}}\n")
}

fn ingest(end: End, acks: &[String]) -> Seen {
    seen(Sort::Ingest, end, &acks.concat(), &[])
}

fn event(key: &str, id: &str) -> Listed {
    Listed { key: key.to_owned(), id: id.to_owned(), answer: None }
}

fn answer(call: &str) -> Listed {
    Listed { key: format!("cli:{call}"), id: "e-9".to_owned(), answer: Some(ANSWER.trim_end().to_owned()) }
}

#[test]
fn acknowledgements_are_one_per_line_under_one_id_and_new_once() {
    let table: [(&[u64], End, Vec<String>, bool); 7] = [
        (&[1, 1], End::Exit(0), vec![ack(1, "e-a", true), ack(1, "e-a", false)], true),
        (&[1, 2], End::Killed(Blow::Moment), vec![ack(1, "e-a", true)], true),
        (&[1, 2], End::Exit(0), vec![ack(1, "e-a", true)], false),
        (&[1, 1], End::Exit(0), vec![ack(1, "e-a", true), ack(1, "e-b", false)], false),
        (&[1, 1], End::Exit(0), vec![ack(1, "e-a", true), ack(1, "e-a", true)], false),
        (&[1], End::Exit(0), vec![ack(2, "e-a", true)], false),
        (&[1], End::Exit(0), vec!["{\"error\":\"x\"}\n".to_owned()], false),
    ];
    for (sent, end, acks, right) in table {
        let found = Book::default().add(&ingest(end, &acks), sent, None);
        assert_eq!(found.is_empty(), right, "{acks:?}: {found:?}");
    }
}

#[test]
fn what_was_known_at_once_must_have_been_sent_by_somebody_who_was_cut_off() {
    let mut book = Book::default();
    book.add(&ingest(End::Killed(Blow::Moment), &[]), &[1], None);
    book.add(&ingest(End::Exit(0), &[ack(1, "e-a", false), ack(2, "e-b", false)]), &[1, 2], None);
    let found = book.never_new();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].what.contains("crash:2"), "{found:?}");
}

#[test]
fn what_was_acknowledged_is_there_once_under_its_id() {
    let mut book = Book::default();
    book.add(&ingest(End::Exit(0), &[ack(1, "e-a", true)]), &[1], None);
    let table = [
        (vec![event("crash:1", "e-a"), event("crash:2", "e-x")], true),
        (vec![], false),
        (vec![event("crash:1", "e-b")], false),
        (vec![event("crash:1", "e-a"), event("crash:1", "e-a")], false),
    ];
    for (listed, right) in table {
        assert_eq!(verdict::acknowledged(&book, &listed).is_empty(), right, "{listed:?}");
    }
}

/// Processes that work on the one errand, and the answers on record in the end.
fn finished(processes: &[Seen], listed: &[Listed]) -> Vec<Violation> {
    let (mut book, mut account) = (Book::default(), Account::default());
    let errand = book.errand(|_| ANSWER.to_owned());
    let mut found = Vec::new();
    for seen in processes {
        account.add(seen);
        found.extend(book.add(seen, &[], Some(errand).filter(|_| seen.sort == Sort::Run)));
    }
    found.extend(verdict::finished(&book, &account, listed));
    found
}

#[test]
fn a_request_that_was_begun_is_answered_once_and_shown() {
    let delivered = ["committed", "running deliver c-1", "ran deliver c-1", "committed"];
    let cut = || seen(Sort::Run, End::Killed(Blow::Point), ANSWER, &delivered[..3]);
    let killed = || seen(Sort::Run, End::Killed(Blow::Point), "", &delivered[..1]);
    let resumed = || seen(Sort::Resume, End::Exit(0), ANSWER, &delivered);
    let run = || seen(Sort::Run, End::Exit(0), ANSWER, &delivered);
    let unborn = || seen(Sort::Run, End::Killed(Blow::Point), "", &["committing"]);
    let wrong = || seen(Sort::Run, End::Exit(0), "4 Rust files\n", &delivered);
    let table = [
        (vec![run()], vec![answer("c-1")], true),
        (vec![killed(), resumed()], vec![answer("c-1")], true),
        (vec![cut(), resumed()], vec![answer("c-1")], true),
        (vec![unborn()], vec![], true),
        (vec![run(), resumed()], vec![answer("c-1")], false),
        (vec![killed()], vec![], false),
        (vec![killed()], vec![answer("c-1")], false),
        (vec![run()], vec![answer("c-1"), answer("c-2")], false),
        (vec![wrong()], vec![answer("c-1")], false),
    ];
    for (processes, listed, right) in table {
        let found = finished(&processes, &listed);
        assert_eq!(found.is_empty(), right, "{processes:?} {listed:?}: {found:?}");
    }
}
