use super::{Hits, Lines, Measures, Study, scan, scan_text};
use crate::found::Match;
use crate::needle::{Manner, Needle};
use crate::text;

const KEEP: usize = 3;
const ALL: Measures = Measures { lines: true, words: true, occurrences: true };

fn needle(text: &str, manner: Manner) -> Needle<'_> {
    Needle::new(text, "contains", manner).unwrap()
}

fn search(content: &[u8], study: &Study<'_>, chunk: usize) -> Hits {
    scan(content, study, &mut study.buffer(chunk)).unwrap()
}

/// The same, line by line and all at once.
fn plainly(content: &[u8], text: &str, manner: Manner, inverted: bool) -> Hits {
    let mut lines: Vec<&[u8]> = content.split(|&byte| byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let needle = needle(text, manner);
    let (mut hits, mut line_number) = (Hits { bytes: content.len() as u64, ..Hits::default() }, 0);
    for line in lines {
        line_number += 1;
        let (mut from, mut times) = (0, 0);
        while let Some(found) = needle.next(line, from) {
            (from, times) = (found.end, times + 1);
        }
        hits.occurrences += times;
        if (times > 0) != inverted {
            hits.matching += 1;
            if hits.first.len() < KEEP {
                let (text, valid) = text::shown(line);
                hits.replaced |= !valid;
                hits.first.push(Match { line: line_number, text });
            }
        }
    }
    hits.lines = line_number;
    let words = content.split(|byte| b" \t\n\x0b\x0c\r".contains(byte)).filter(|word| !word.is_empty());
    hits.words = words.count() as u64;
    hits
}

#[test]
fn the_size_of_the_buffer_changes_nothing() {
    let long = format!("{}needle{}\nneedle", "x".repeat(50), "y".repeat(50));
    let wide = format!("  {}needle", "ä".repeat(5_000));
    let often = format!("{} \n{}", "needle Needle_xneedle ".repeat(300), "ä needle".repeat(200));
    let contents: [&[u8]; 17] = [
        b"",
        b"\n",
        b"\n\n\n",
        b"needle",
        b"needle\n",
        b"a\nneedle\nb",
        b"one needle, two needle\r\nnone\r\nneedle\r\n",
        b"need\nle need",
        b"neeneedleedle",
        b"nnnnnnnnnnnneedle\nneedl",
        b"needleneedle\n\nneedle\nneedle\nneedle",
        b"\xff\xfe needle \xff\nneedle",
        b"nul \0 needle\0\nneedle",
        b"NEEDLE\nNeedle",
        long.as_bytes(),
        wide.as_bytes(),
        often.as_bytes(),
    ];
    let manners = [(false, false), (true, false), (false, true), (true, true)]
        .map(|(any_case, whole_word)| Manner { any_case, whole_word });
    for text in ["needle", "n", "ä", "nn"] {
        for manner in manners {
            for inverted in [false, true] {
                let lines = if inverted { Lines::Without } else { Lines::With };
                let lines = Some(lines(needle(text, manner)));
                let study = Study { lines, lacks: None, show: KEEP, measures: ALL };
                for content in contents {
                    let expected = plainly(content, text, manner, inverted);
                    for chunk in (1..40).chain([1_000, 4_096, 4_097, 100_000]) {
                        let shown = String::from_utf8_lossy(content);
                        let seen = search(content, &study, chunk);
                        assert_eq!(seen, expected, "{chunk} {text} {manner:?} {inverted} {shown}");
                    }
                }
            }
        }
    }
}

#[test]
fn lines_are_counted_from_one_and_shown_without_their_end() {
    let lines = Some(Lines::With(needle("todo", Manner::default())));
    let study = Study { lines, show: KEEP, ..Study::default() };
    let hits = search(b"fn a() {\r\n    todo!()\r\n}\r\n", &study, 1_000);
    let first = vec![Match { line: 2, text: "    todo!()".into() }];
    assert_eq!(hits, Hits { bytes: 26, lines: 3, matching: 1, first, ..Hits::default() });
}

#[test]
fn what_no_line_may_contain_is_noticed_wherever_it_stands() {
    let study = || Study { lacks: Some(needle("bad", Manner::default())), ..Study::default() };
    for length in 0..60 {
        let (blanks, lines) = (" ".repeat(length), "\n".repeat(length));
        for (content, spoiled) in [
            (format!("{blanks}bad"), true),
            (format!("{blanks}ba\nd"), false),
            (format!("{lines}bad\n{lines}"), true),
            (format!("{blanks}b{blanks}ad"), length == 0),
        ] {
            assert_eq!(search(content.as_bytes(), &study(), 1).spoiled, spoiled, "{content:?}");
        }
    }
}

#[test]
fn a_nul_byte_in_the_first_8_kb_makes_a_file_binary() {
    let study = Study::default();
    for (nul_at, skipped) in [(0, true), (8 * 1024 - 1, true), (8 * 1024, false)] {
        let content = [vec![b'x'; nul_at], vec![0]].concat();
        let hits = scan_text(&content[..], &study, &mut study.buffer(10_000)).unwrap();
        assert_eq!(hits.is_none(), skipped, "{nul_at}");
    }
}
