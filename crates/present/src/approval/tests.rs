//! The block as text, at 80 columns and at 40, and what hostile values make of it.

use super::view::Coverage;
use broker::question::{Name, Typed};
use domain::Digest;
use domain::change::{Change, Content, Standing};
use serde_json::json;

use super::sample::{offer, question, sink, time, view};
use super::{ApprovalView, NamedBy, Status, render_block, render_offer_key};
use crate::{Folding, Style, Theme, Tone, inline};

pub(super) const BARE: Theme = Theme::PLAIN;
const RICH: Theme = Theme { paint: bracket, symbols: true, words: false };

/// A paint that is seen in a test.
fn bracket(text: &str, tone: Tone) -> String {
    format!("<{tone:?} {text}>")
}

pub(super) fn shown(view: &ApprovalView, width: usize, theme: Theme, folding: Folding) -> Vec<String> {
    let zone = jiff::tz::TimeZone::UTC;
    let now = time("2026-11-15T14:20:00Z");
    let style = Style { now, zone: &zone, theme, note_theme: theme, width, folding };
    [render_block(view, &style), render_offer_key(view, &style)].concat()
}

pub(super) fn folded(view: &ApprovalView, width: usize) -> String {
    shown(view, width, BARE, Folding::FirstLines("v shows all")).join("\n")
}

pub(super) fn file(bytes: u64) -> Standing {
    Standing::File(Content::new(Digest::of(b"bytes"), bytes, 0o644))
}

pub(super) fn gone(path: &str, bytes: u64, modified: &str) -> Name {
    let change = Change::new(path.into(), file(bytes), Standing::Nothing);
    Name { change, modified: Some(time(modified)), undo: true }
}

fn delete() -> ApprovalView {
    let path = "invoices/Aurora-2026-08 (1).pdf";
    let mut question =
        question("delete_file", json!({ "path": path }), vec![sink("path", path, NamedBy::Request)]);
    question.names = vec![gone(path, 213_412, "2026-09-02T09:00:00Z")];
    question.wanted = "Byte for byte the same as the originals, which stay.".into();
    view(question)
}

fn mail() -> ApprovalView {
    let mut body: Vec<String> = (1..=14).map(|n| format!("line {n}")).collect();
    body[2].push_str(" https://aurora.example/pay");
    let args = json!({
        "to": "billing@aurora-power-desk.example", "subject": "Invoices 2026-08 and 2026-09 charged twice",
        "body": body.join("\n"),
    });
    let to = sink("to", "billing@aurora-power-desk.example", NamedBy::Model);
    let mut question = question("message_send", args, vec![to]);
    question.asked[0].reason = "the recipient comes from content (rule 2)".into();
    question.wanted = "It is the address in their imprint.".into();
    question.typed = Some(Typed { sink: "to".into(), expected: "aurora-power-desk.example".into() });
    view(question)
}

fn write() -> ApprovalView {
    let content: String = (1..=252).map(|n| format!("line {n}\n")).collect();
    let args = json!({ "path": "reports/q3/a.md", "content": content, "replace": true });
    let mut question = question("write_file", args, vec![sink("path", "reports/q3/a.md", NamedBy::Rule)]);
    let change = Change {
        folders: vec!["reports".into(), "reports/q3".into()],
        ..Change::new("reports/q3/a.md".into(), file(812), file(2_160_000))
    };
    question.names = vec![Name { change, modified: None, undo: false }];
    question.diff = Some("-old\n+new".into());
    question.offer = Some(offer());
    let mut view = view(question);
    view.coverage = Some(Coverage { covered: 45, of: 63 });
    view
}

#[test]
fn a_deletion_at_80_columns() {
    let expected = "\
? a-m3xd  delete_file invoices/Aurora-2026-08 (1).pdf
    step 4 of t-k7q2, open until 14:48
    path: invoices/Aurora-2026-08 (1).pdf
  named by     your own words
  file         deleted: 214 kB, last changed 2 Sep 2026
  why asked    deleting always needs you
  undo: yes, regent undo t-k7q2
  agent says   \"Byte for byte the same as the originals, which stay.\"";
    assert_eq!(folded(&delete(), 80), expected);
}

#[test]
fn a_deletion_at_40_columns() {
    let expected = "\
? a-m3xd  delete_file
    step 4 of t-k7q2, open until 14:48
    path, 31 characters:
    | invoices/Aurora-2026-08 (1).pdf
  named by     your own words
  file         deleted: 214 kB, last
               changed 2 Sep 2026
  why asked    deleting always needs you
  undo: yes, regent undo t-k7q2
  agent says   \"Byte for byte the same
               as the originals, which
               stay.\"";
    assert_eq!(folded(&delete(), 40), expected);
}

#[test]
fn a_mail_to_an_address_that_only_a_model_named() {
    let expected = "\
! a-m3xd  message_send billing@aurora-power-desk.example
    step 4 of t-k7q2, open until 14:48
    to: billing@aurora-power-desk.example
! named by     a model, nobody knows from what
    subject: Invoices 2026-08 and 2026-09 charged twice
    body: 14 lines, 1 link (https://aurora.example/pay)
      line 1
      line 2
      line 3 https://aurora.example/pay
      line 4
      line 5
      line 6
      line 7
      line 8
      line 9
      line 10
      line 11
      line 12
      ... 2 more lines, v shows all
  why asked    the recipient comes from content (rule 2)
  undo: no
  agent says   \"It is the address in their imprint.\"";
    assert_eq!(folded(&mail(), 80), expected);
    let whole = shown(&mail(), 80, BARE, Folding::Whole).join("\n");
    assert!(whole.contains("\n      line 14\n") && !whole.contains("more line"), "{whole}");
}

#[test]
fn a_write_with_a_grant_that_could_be_given() {
    let shown = folded(&write(), 100);
    let expected = [
        "? a-m3xd  write_file reports/q3/a.md                              step 4 of t-k7q2, open until 14:48",
        "    path: reports/q3/a.md",
        "  named by     a rule, from your words",
        "  file         replaced: 812 bytes; becomes 2.1 MB",
        "  file         makes the folders reports, reports/q3",
        "    content: 252 lines",
        "      line 1",
        "      ... 240 more lines, v shows all",
        "    replace: true",
        "    diff  +1 -1",
        "      -old",
        "      +new",
        "g  stop asking to write in reports/, this agent, 24 h; would have covered 45 of your last 63",
        "   questions",
    ];
    let lines: Vec<&str> = shown.lines().collect();
    for line in expected {
        assert!(lines.contains(&line), "`{line}` is missing\n{shown}");
    }
    let mut unoffered = write();
    unoffered.question.as_mut().unwrap().offer = None;
    assert!(!folded(&unoffered, 100).contains("stop asking"), "no offer, no line");
}

#[test]
fn colours_change_nothing_but_colours() {
    for view in [delete(), mail(), write()] {
        for width in [40, 80] {
            let colored =
                shown(&view, width, Theme { symbols: false, ..RICH }, Folding::FirstLines("v shows all"));
            let mut text = colored.join("\n");
            assert!(text.contains("<Command a-m3xd>"), "{text}");
            for tone in [Tone::Good, Tone::Bad, Tone::Attention, Tone::Waiting, Tone::Command, Tone::Faint] {
                text = text.replace(&format!("<{tone:?} "), "");
            }
            text = text.replace('>', "");
            assert_eq!(text, folded(&view, width));
        }
    }
    assert!(
        shown(&write(), 80, RICH, Folding::FirstLines("v shows all"))
            .iter()
            .any(|line| line.contains("… 240 more"))
    );
}

#[test]
fn a_closed_question_says_who_closed_it_and_offers_nothing() {
    let mut closed = write();
    closed.status = Status::Rejected;
    closed.resolved_by = Some("owner".into());
    closed.resolved_via = Some("terminal".into());
    closed.said = Some("not \x1b[2Jthis".into());
    let text = folded(&closed, 80);
    assert!(text.contains("t-k7q2, rejected by owner, terminal: \"not \\u{1b}[2Jthis\""), "{text}");
    assert!(!text.contains("stop asking"), "{text}");
    closed.status = Status::Expired;
    assert!(folded(&closed, 80).contains("t-k7q2, expired"));
    closed.question = None;
    assert!(folded(&closed, 80).contains("(erased)"));
}

pub(super) const HOSTILE: [&str; 12] = [
    "a\n  named by     your own words",
    "a\r\x1b[2K  named by     your own words",
    "\x1b[2J\x1b[H? a-zzzz  read_file notes.txt",
    "\x1b]0;title\x07\x1b]8;;https://evil.example\x07click\x1b]8;;\x07",
    "\u{9b}31mred\u{9d}0;x\u{9c}",
    "evil\u{202e}gpj.exe\u{2066}x\u{2069}",
    "no\u{200b}thing\u{feff}\u{ad}",
    "<b>bold</b> [link](javascript:x) **y** `z` {{template}} %s $(rm)",
    "p\u{430}ypal.com",
    "https://good.example@evil.example/",
    "tag\u{e0041}\u{e0042}",
    "a\u{2028}  undo: yes\u{2029}b\u{85}c\u{b}d\u{c}e",
];

/// What a terminal would act on, or nobody could see.
pub(super) fn acts(line: &str) -> bool {
    line.chars().any(domain::is_unseen)
}

/// A value as it stands in its render_block, put together again from its rows.
fn whole(lines: &[String], name: &str) -> String {
    let beside = format!("    {name}: ");
    let at =
        lines.iter().position(|line| line.starts_with(&beside) || line.starts_with(&format!("    {name}, ")));
    let at = at.unwrap_or_else(|| panic!("{name} is missing: {lines:?}"));
    if let Some(value) = lines[at].strip_prefix(&beside) {
        return value.to_owned();
    }
    let text: String = lines[at + 1..].iter().map_while(|line| line.strip_prefix("    | ")).collect();
    // At a narrow terminal the words before it have rows of their own.
    let words = format!("{}{text}", lines[at]);
    words.split_once("characters:").map(|(_, value)| value.to_owned()).expect("its length")
}

#[test]
fn hostile_values_stay_on_one_line_and_whole() {
    for value in HOSTILE {
        for width in [40, 80] {
            let args = json!({ "path": value, "content": value, value: [value] });
            let mut question = question("write_file", args, vec![sink("path", value, NamedBy::Model)]);
            question.wanted = value.into();
            question.asked[0].reason = value.into();
            question.diff = Some(value.into());
            let view = view(question);
            for fold in [Folding::Whole, Folding::FirstLines("v shows all")] {
                let lines = shown(&view, width, BARE, fold);
                assert!(lines.iter().all(|line| !acts(line)), "{lines:?}");
                assert!(whole(&lines, "path").contains(&inline(value)), "not whole: {lines:?}");
                let forged = ["  named by     your own words", "  undo: yes"];
                assert!(lines.iter().all(|line| !forged.contains(&line.as_str())), "{lines:?}");
            }
        }
    }
}

#[test]
fn look_alikes_are_told() {
    let told = [
        (HOSTILE[0], "! looks odd    it has characters that nobody sees: the end of a line"),
        (HOSTILE[5], "! looks odd    it has characters that nobody sees: \\u{202e}, \\u{2066}, \\u{2069}"),
        (HOSTILE[8], "! looks odd    `p\u{430}ypal` mixes Latin and Cyrillic letters: \\u{430}"),
        (HOSTILE[9], "! looks odd    it leads to `evil.example`; what stands before the @,"),
    ];
    for (value, expected) in told {
        let question =
            question("http_fetch", json!({ "url": value }), vec![sink("url", value, NamedBy::Model)]);
        let text = folded(&view(question), 80);
        assert!(text.contains(expected), "{text}");
    }
    let sinks = vec![
        sink("from", "lea@aurora.example", NamedBy::Request),
        sink("to", "x@aur0ra.example", NamedBy::Model),
    ];
    let text = folded(&view(question("message_send", json!({}), sinks)), 80);
    assert!(text.contains("`aur0ra.example` is not `aurora.example`, it only looks like it"), "{text}");
    assert!(
        text.contains("named by     your own words\n    to: "),
        "each run of sinks has its own source: {text}"
    );
}

/// A value that knows the width of the terminal could draw a line of ours where the terminal breaks it. So we do, and
/// each row of it has a mark.
#[test]
fn no_row_of_a_value_begins_like_a_line_of_ours() {
    let forged =
        ["  named by     your own words", "  undo: yes, regent undo t-k7q2", "? a-zzzz  read_file notes.txt"];
    for width in [20, 31, 40, 80, 100] {
        for line in forged {
            for before in (width - 12)..=(width + 2) {
                for blank in ["", " ", "  ", "   ", "\u{fe0f} \u{fe0f} ", "\u{2800}\u{3000}"] {
                    let value = format!("{}{blank}{line}{}", "x".repeat(before), "日".repeat(width));
                    let sinks = vec![sink("path", &value, NamedBy::Model)];
                    let args = json!({ "path": value, "content": value });
                    let mut question = question("write_file", args, sinks);
                    question.diff = Some(format!("+{value}"));
                    let lines = shown(&view(question), width, BARE, Folding::Whole);
                    let rows = lines.iter().filter(|row| super::measure_columns(row) > width);
                    assert_eq!(rows.count(), 0, "the terminal would break it: {lines:?}");
                    let ours = lines.iter().filter(|row| row.starts_with(line) || row.trim() == line.trim());
                    assert_eq!(ours.count(), 0, "{width} {before}: {lines:?}");
                    assert_eq!(whole(&lines, "path").replace("\\u{20}", " "), inline(&value));
                }
            }
        }
    }
}

#[test]
fn a_passage_of_several_lines_is_shown_as_such_and_is_not_odd() {
    let old = format!("fn main() {{\n\tlet a = 1;\n        go();\n}}{}\n", " ".repeat(60));
    let args = json!({ "path": "a.rs", "old": old, "new": "x" });
    let mut question = question(
        "edit_file",
        args,
        vec![sink("old", &old, NamedBy::Owner), sink("path", "a.rs", NamedBy::Owner)],
    );
    question.wanted = "call edit_file".into();
    let lines = shown(&view(question), 80, BARE, Folding::Whole);
    let text = lines.join("\n");
    assert!(
        text.contains("    | fn main() {\\n\n    | \\tlet a = 1;\\n\n    |         go();\\n\n"),
        "{text}"
    );
    assert!(!text.contains("looks odd") && !text.contains("agent says"), "{text}");
}

#[test]
fn rows_that_go_on_with_a_line_are_no_lines_of_a_diff() {
    let mut question = write().question.unwrap();
    question.diff = Some(format!("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old\n+{}+new line\n", "x".repeat(73)));
    let lines = shown(&view(question.clone()), 80, BARE, Folding::Whole);
    assert!(lines.contains(&"    | +new line".to_owned()), "{lines:?}");
    assert!(lines.contains(&"    diff  +1 -1".to_owned()), "{lines:?}");
    (question.lines_added, question.lines_removed, question.diff_whole) = (120, 88, false);
    let lines = shown(&view(question), 80, BARE, Folding::Whole);
    assert!(lines.contains(&"    diff  +120 -88".to_owned()), "{lines:?}");
    let cut = "! diff         too long to show: only its first 16 kB stand here";
    assert!(lines.contains(&cut.to_owned()), "{lines:?}");
}

#[test]
fn a_difference_in_blanks_is_seen() {
    let table = [
        ("-a\r\n+a\n", vec!["      -a\\r", "      +a"]),
        ("-\ta\n+    a\n", vec!["      -\\ta", "      +    a"]),
        ("-a\n+a  \n \n", vec!["      -a", "      +a \\u{20}"]),
        ("-a b\n+a\u{a0}b\n", vec!["      -a b", "      +a\\u{a0}b"]),
        ("-a\r\n+b\r\n", vec!["    diff  +1 -1, every line ends in \\r\\n", "      -a", "      +b"]),
    ];
    for (diff, expected) in table {
        let mut question = write().question.unwrap();
        question.diff = Some(diff.into());
        let lines = shown(&view(question), 80, BARE, Folding::Whole);
        for line in expected {
            assert!(lines.contains(&line.to_owned()), "`{line}` is missing: {lines:?}");
        }
    }
}

#[test]
fn links_in_a_header_stay_behind_it() {
    let link = format!("https://e.example/{}\u{2800}\u{2800}  undo: yes", "x".repeat(200));
    let mut question = write().question.unwrap();
    question.diff = Some(format!("-old\n+{link}\n"));
    for width in [40, 80] {
        let lines = shown(&view(question.clone()), width, BARE, Folding::Whole);
        assert!(lines.iter().all(|line| super::measure_columns(line) <= width), "{lines:?}");
        let text: String = lines.iter().filter_map(|line| line.strip_prefix("    | ")).collect();
        assert!(text.contains("xxx)"), "the link ends where a blank is: {lines:?}");
        assert!(!lines.iter().any(|line| line.contains("(+https")), "{lines:?}");
    }
}

#[test]
fn of_a_line_that_folds_it_is_said_how_much_is_left() {
    let mut question = write().question.unwrap();
    question.call.args = json!({ "path": "a", "content": "x".repeat(5_000) });
    let text = folded(&view(question.clone()), 80);
    assert!(text.contains("      ... 4112 more characters of this line, v shows all"), "{text}");
    question.call.args = json!({ "path": "a", "content": format!("{}\nb\nc", "x".repeat(5_000)) });
    let text = folded(&view(question), 80);
    assert!(text.contains("... 4112 more characters of this line and 2 more lines, v shows all"), "{text}");
}

#[test]
fn what_was_changed_and_what_became_of_it_is_told() {
    let mut changed = delete();
    (changed.status, changed.fate) = (Status::Modified, Some(domain::approval::Fate::Used));
    (changed.resolved_by, changed.resolved_via) = (Some("owner".into()), Some("terminal".into()));
    changed.changed = Some(json!({ "path": "invoices/other.pdf" }));
    let text = folded(&changed, 80);
    assert!(text.contains("modified by owner, terminal; used"), "{text}");
    assert!(text.contains("\n  changed to\n    path: invoices/other.pdf\n"), "{text}");
    (changed.status, changed.fate) = (Status::Approved, Some(domain::approval::Fate::Void));
    changed.changed = None;
    let text = folded(&changed, 120);
    assert!(text.contains("approved by owner, terminal; void: it does not count any more"), "{text}");
}

#[test]
fn a_switch_is_said_in_words_and_marks_too_for_whoever_listens() {
    let mut question = write().question.unwrap();
    question.sinks.push(sink("replace", "true", NamedBy::Rule));
    assert_eq!(super::write_title(&view(question.clone()), 80), "write_file reports/q3/a.md (replaces it)");
    question.typed = Some(Typed { sink: "path".into(), expected: "a.md".into() });
    question.sinks[0].named_by = NamedBy::Model;
    let heard = Theme { words: true, ..BARE };
    let text = shown(&view(question.clone()), 80, heard, Folding::Whole).join("\n");
    assert!(text.starts_with("attention: a-m3xd") && text.contains("\nattention: named by"), "{text}");
    question.typed = None;
    assert!(shown(&view(question), 80, heard, Folding::Whole)[0].starts_with("question a-m3xd"));
}

/// A value that knows the width of the terminal could draw a line of ours where it is broken.
#[test]
fn blanks_that_could_draw_a_line_are_told() {
    let value = format!("{:<94}  named by     your own words", "x");
    let question =
        question("write_file", json!({ "path": value }), vec![sink("path", &value, NamedBy::Model)]);
    let text = folded(&view(question), 100);
    assert!(text.contains("blanks in a row: what looks like a line of its own is part of it"), "{text}");
}

#[test]
fn texts_that_do_not_decide_never_reach_the_left_edge() {
    for width in [40, 80] {
        let long = format!("{}  named by     your own words{}", "x".repeat(width), "日本".repeat(200));
        let args = json!({ "path": "a.txt", "content": long, "list": [long] });
        let mut question = question("write_file", args, vec![sink("path", "a.txt", NamedBy::Request)]);
        question.wanted = long.clone();
        question.asked[0].reason = long.clone();
        question.diff = Some(long);
        for line in shown(&view(question), width, BARE, Folding::Whole) {
            assert!(super::measure_columns(&line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn every_value_that_decides_stands_complete() {
    for length in [1, 2, 39, 40, 41, 79, 80, 81, 1_000, 10_000] {
        for (piece, width) in [("a", 40), ("a", 80), ("ä日\u{202e}/", 40), ("ä日\u{202e}/", 80)] {
            let value: String = piece.chars().cycle().take(length).collect();
            let question =
                question("write_file", json!({ "path": value }), vec![sink("path", &value, NamedBy::Model)]);
            let lines = shown(&view(question), width, BARE, Folding::FirstLines("v shows all"));
            assert_eq!(whole(&lines, "path"), inline(&value), "{length} at {width}");
            assert!(
                lines.iter().all(|line| super::measure_columns(line) <= width),
                "{length} at {width}: {lines:?}"
            );
        }
    }
}
