use super::{Asked, Finding, HELD_LINES, Tally};
use crate::found::{Counts, Found, Group, GroupBy, Match, Order};
use crate::search::Measures;
use domain::{Time, limits};
use std::path::Path;

/// Path, size, time, matching lines, lines and words.
type Seen = (&'static str, u64, i64, u64, Option<u64>);

const FILES: [Seen; 5] = [
    ("b", 2, 9, 4, Some(1)),
    ("a/x", 1, 8, 4, None),
    ("a", 2, 8, 1, Some(3)),
    ("c", 3, 7, 9, Some(0)),
    ("a-b", 1, 9, 2, Some(3)),
];

fn finding((path, bytes, micros, matching, lines): Seen) -> Finding<'static> {
    let counts =
        Counts { matching_lines: Some(matching), lines, words: lines.map(|n| n * 2), occurrences: None };
    let modified = Time::from_micros(micros);
    Finding { path: Path::new(path), bytes, modified, counts, matches: Vec::new() }
}

/// What comes out if so many threads share the work.
fn tallied(asked: Asked, threads: usize, findings: impl IntoIterator<Item = Finding<'static>>) -> Found {
    let mut tallies: Vec<_> = (0..threads).map(|_| Tally::new(asked)).collect();
    for (at, finding) in findings.into_iter().enumerate() {
        tallies[at % threads].add(finding);
    }
    let mut total = Tally::new(asked);
    tallies.into_iter().for_each(|tally| total.merge(tally));
    total.into_found()
}

#[test]
fn the_first_in_order_are_kept_whoever_saw_them() {
    let table = [
        (Order::Name, ["a", "a-b", "a/x", "b", "c"]),
        (Order::Largest, ["c", "a", "b", "a-b", "a/x"]),
        (Order::Smallest, ["a-b", "a/x", "a", "b", "c"]),
        (Order::Newest, ["a-b", "b", "a", "a/x", "c"]),
        (Order::Oldest, ["c", "a", "a/x", "a-b", "b"]),
        (Order::MostMatches, ["c", "a/x", "b", "a-b", "a"]),
        (Order::FewestMatches, ["a", "a-b", "a/x", "b", "c"]),
        (Order::MostLines, ["a", "a-b", "b", "c", "a/x"]),
        (Order::FewestLines, ["c", "b", "a", "a-b", "a/x"]),
        (Order::MostWords, ["a", "a-b", "b", "c", "a/x"]),
    ];
    let measures = Measures { lines: true, words: true, occurrences: false };
    for (order, expected) in table {
        for limit in 0..=6 {
            for threads in 1..=3 {
                let asked = Asked { order, limit, sizes: true, group_by: None, matching: true, measures };
                let found = tallied(asked, threads, FILES.map(finding));
                let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
                assert_eq!(paths, expected[..limit.min(5)], "{order:?} {limit} {threads}");
                assert_eq!((found.count, found.bytes), (5, Some(9)));
                let totals = (found.matching_lines, found.lines, found.words, found.occurrences);
                assert_eq!(totals, (Some(20), Some(7), Some(14), None));
            }
        }
    }
}

#[test]
fn what_was_not_asked_for_has_no_total() {
    let found = tallied(Asked { limit: 1, ..Asked::default() }, 1, FILES.map(finding));
    assert_eq!((found.matching_lines, found.lines, found.words, found.occurrences), (None, None, None, None));
    assert_eq!((found.count, found.bytes), (5, None));
    assert_eq!((found.groups, found.more_groups), (None, 0));
}

#[test]
fn groups_are_of_all_files() {
    let group = |value: &str, count, bytes| Group { value: value.into(), count, bytes };
    let files: [Seen; 6] = [
        ("a.rs", 1, 0, 0, None),
        ("x/b.RS", 2, 0, 0, None),
        ("x/Makefile", 4, 0, 0, None),
        ("x/y.d/e.tar.gz", 8, 0, 0, None),
        ("x/.gitignore", 16, 0, 0, None),
        ("x.d/f", 32, 0, 0, None),
    ];
    let table = [
        (GroupBy::Extension, vec![group("", 3, 52), group("rs", 2, 3), group("gz", 1, 8)]),
        (
            GroupBy::Folder,
            vec![group("x", 3, 22), group(".", 1, 1), group("x.d", 1, 32), group("x/y.d", 1, 8)],
        ),
    ];
    for (by, expected) in table {
        let asked = Asked { group_by: Some(by), ..Asked::default() };
        for threads in 1..=3 {
            assert_eq!(tallied(asked, threads, files.map(finding)).groups, Some(expected.clone()));
        }
    }
}

#[test]
fn more_groups_than_are_listed_are_counted_and_more_than_are_kept_are_noticed() {
    let asked = Asked { group_by: Some(GroupBy::Folder), ..Asked::default() };
    let mut tally = Tally::new(asked);
    let modified = Time::from_micros(0);
    let add = |tally: &mut Tally, folder: usize| {
        let path = format!("{folder}/a");
        let (path, counts, matches) = (Path::new(&path), Counts::default(), Vec::new());
        tally.add(Finding { path, bytes: 1, modified, counts, matches });
    };
    (0..limits::FOUND_GROUPS).for_each(|folder| add(&mut tally, folder));
    add(&mut tally, 0);
    assert!(!tally.crowded);
    add(&mut tally, limits::FOUND_GROUPS);
    assert!(tally.crowded);
    let found = tally.into_found();
    let listed = found.groups.unwrap();
    assert_eq!((listed.len(), found.more_groups), (1_000, 99_000));
    assert_eq!(listed.first(), Some(&Group { value: "0".into(), count: 2, bytes: 2 }));
}

/// Whatever is let go of meanwhile, the lines that are shown are those of the first files.
#[test]
fn lines_are_shown_of_the_first_files_and_not_held_for_the_others() {
    let names: Vec<String> = (0..200).rev().map(|n| format!("{n:03}")).collect();
    let lines = |n: usize| (1..=n as u64).map(|line| Match { line, text: "x".into() }).collect();
    for (each, shown, truncated) in [(4, 4, false), (100, 100, true), (300, 300, true)] {
        let mut tally = Tally::new(Asked { limit: 150, ..Asked::default() });
        for name in &names {
            let (path, counts) = (Path::new(name), Counts::default());
            let modified = Time::from_micros(0);
            tally.add(Finding { path, bytes: 0, modified, counts, matches: lines(each) });
            assert!(tally.held_lines <= HELD_LINES + each);
        }
        let found = tally.into_found();
        assert_eq!((found.files[0].matches.len(), found.truncated_matches), (shown, truncated));
        let total: usize = found.files.iter().map(|file| file.matches.len()).sum();
        assert_eq!(total, (150 * each).min(limits::MATCHING_LINES));
        assert_eq!((found.files.len(), found.files[0].path.as_str()), (150, "000"));
    }
}
