//! Ages and sizes as they are said, and the bounds that are searched for.

use serde_json::{Value, json};

use super::Asked;

/// The bounds in the search that a request begins with.
fn bounds(asked: &Asked, request: &str) -> Value {
    let (calls, _) = asked.worked(request, 0, &[]);
    let [(tool, args)] = calls.as_slice() else { panic!("{request}: {calls:?}") };
    assert_eq!(tool, "find_files");
    let names = ["modified_from", "modified_before", "larger_than", "smaller_than"];
    let known = names.iter().filter_map(|name| Some(((*name).to_owned(), args.get(name)?.clone())));
    Value::Object(known.collect())
}

fn ages(asked: &Asked, table: &[(&str, Option<&str>, Option<&str>)]) {
    for (said, from, before) in table {
        let mut expected = serde_json::Map::new();
        expected.extend(from.map(|from| ("modified_from".to_owned(), json!(from))));
        expected.extend(before.map(|before| ("modified_before".to_owned(), json!(before))));
        assert_eq!(bounds(asked, &format!("list files {said}")), Value::Object(expected), "{said}");
    }
}

#[test]
fn days_and_spans_are_bounds_in_time() {
    ages(
        &Asked::UTC,
        &[
            ("modified today", Some("2026-11-17T00:00:00.000000Z"), Some("2026-11-18T00:00:00.000000Z")),
            ("changed yesterday", Some("2026-11-16T00:00:00.000000Z"), Some("2026-11-17T00:00:00.000000Z")),
            ("modified this week", Some("2026-11-16T00:00:00.000000Z"), Some("2026-11-23T00:00:00.000000Z")),
            ("modified last week", Some("2026-11-09T00:00:00.000000Z"), Some("2026-11-16T00:00:00.000000Z")),
            ("modified this month", Some("2026-11-01T00:00:00.000000Z"), Some("2026-12-01T00:00:00.000000Z")),
            ("modified last month", Some("2026-10-01T00:00:00.000000Z"), Some("2026-11-01T00:00:00.000000Z")),
            ("modified this year", Some("2026-01-01T00:00:00.000000Z"), Some("2027-01-01T00:00:00.000000Z")),
            ("modified last year", Some("2025-01-01T00:00:00.000000Z"), Some("2026-01-01T00:00:00.000000Z")),
            ("from today", Some("2026-11-17T00:00:00.000000Z"), Some("2026-11-18T00:00:00.000000Z")),
            (
                "modified in October 2026",
                Some("2026-10-01T00:00:00.000000Z"),
                Some("2026-11-01T00:00:00.000000Z"),
            ),
            (
                "modified in December 2025",
                Some("2025-12-01T00:00:00.000000Z"),
                Some("2026-01-01T00:00:00.000000Z"),
            ),
            ("modified in 2025", Some("2025-01-01T00:00:00.000000Z"), Some("2026-01-01T00:00:00.000000Z")),
            (
                "modified in November",
                Some("2026-11-01T00:00:00.000000Z"),
                Some("2026-12-01T00:00:00.000000Z"),
            ),
            (
                "modified in December",
                Some("2025-12-01T00:00:00.000000Z"),
                Some("2026-01-01T00:00:00.000000Z"),
            ),
            ("modified on Monday", Some("2026-11-16T00:00:00.000000Z"), Some("2026-11-17T00:00:00.000000Z")),
            ("modified on Tuesday", Some("2026-11-17T00:00:00.000000Z"), Some("2026-11-18T00:00:00.000000Z")),
            (
                "modified on Wednesday",
                Some("2026-11-11T00:00:00.000000Z"),
                Some("2026-11-12T00:00:00.000000Z"),
            ),
            (
                "modified on 2026-11-01",
                Some("2026-11-01T00:00:00.000000Z"),
                Some("2026-11-02T00:00:00.000000Z"),
            ),
            (
                "modified on 24 December",
                Some("2025-12-24T00:00:00.000000Z"),
                Some("2025-12-25T00:00:00.000000Z"),
            ),
            ("modified before 2026", None, Some("2026-01-01T00:00:00.000000Z")),
            ("modified before today", None, Some("2026-11-17T00:00:00.000000Z")),
            ("modified after yesterday", Some("2026-11-17T00:00:00.000000Z"), None),
            ("modified after 2026-11-01", Some("2026-11-02T00:00:00.000000Z"), None),
            ("modified since 1 November 2026", Some("2026-11-01T00:00:00.000000Z"), None),
            ("not modified since 2026-01-01", None, Some("2026-01-01T00:00:00.000000Z")),
            (
                "modified between 1 October 2026 and 5 October 2026",
                Some("2026-10-01T00:00:00.000000Z"),
                Some("2026-10-06T00:00:00.000000Z"),
            ),
            ("changed in the last 7 days", Some("2026-11-10T12:00:00.000000Z"), None),
            ("not modified in the last 7 days", None, Some("2026-11-10T12:00:00.000000Z")),
            ("modified in the last hour", Some("2026-11-17T11:00:00.000000Z"), None),
            ("modified in the last 90 minutes", Some("2026-11-17T10:30:00.000000Z"), None),
            ("older than 30 days", None, Some("2026-10-18T12:00:00.000000Z")),
            ("older than a year", None, Some("2025-11-17T12:00:00.000000Z")),
            ("newer than 2 weeks", Some("2026-11-03T12:00:00.000000Z"), None),
        ],
    );
}

/// Early on Tuesday in UTC it is still Monday there, five hours behind.
#[test]
fn days_begin_at_midnight_where_the_owner_is() {
    ages(
        &Asked::at("America/New_York", "2026-11-17T03:00:00Z"),
        &[
            ("modified today", Some("2026-11-16T05:00:00.000000Z"), Some("2026-11-17T05:00:00.000000Z")),
            ("modified yesterday", Some("2026-11-15T05:00:00.000000Z"), Some("2026-11-16T05:00:00.000000Z")),
            ("modified this week", Some("2026-11-16T05:00:00.000000Z"), Some("2026-11-23T05:00:00.000000Z")),
            (
                "modified in October 2026",
                Some("2026-10-01T04:00:00.000000Z"),
                Some("2026-11-01T04:00:00.000000Z"),
            ),
            ("modified before 2026", None, Some("2026-01-01T05:00:00.000000Z")),
            ("modified in the last hour", Some("2026-11-17T02:00:00.000000Z"), None),
        ],
    );
    ages(
        &Asked::at("Asia/Kolkata", "2026-11-17T20:00:00Z"),
        &[("modified today", Some("2026-11-17T18:30:00.000000Z"), Some("2026-11-18T18:30:00.000000Z"))],
    );
}

/// The clocks went back there at two in the morning of 1 November 2026, and forth on 8 March.
#[test]
fn the_day_on_which_the_clocks_change_is_as_long_as_it_is() {
    ages(
        &Asked::at("America/New_York", "2026-11-02T12:00:00Z"),
        &[
            ("modified yesterday", Some("2026-11-01T04:00:00.000000Z"), Some("2026-11-02T05:00:00.000000Z")),
            (
                "modified on 8 March 2026",
                Some("2026-03-08T05:00:00.000000Z"),
                Some("2026-03-09T04:00:00.000000Z"),
            ),
            // Seven in the morning, as it is now; and 48 hours are 48 hours.
            ("changed in the last 2 days", Some("2026-10-31T11:00:00.000000Z"), None),
            ("changed in the last 48 hours", Some("2026-10-31T12:00:00.000000Z"), None),
        ],
    );
}

#[test]
fn sizes_are_bounds_in_bytes() {
    let table = [
        ("larger than 10 kB", json!({ "larger_than": 10_000 })),
        ("larger than 10kB", json!({ "larger_than": 10_000 })),
        ("over 1.5 MB", json!({ "larger_than": 1_500_000 })),
        ("bigger than 1 GB", json!({ "larger_than": 1_000_000_000 })),
        ("larger than 1,000 bytes", json!({ "larger_than": 1_000 })),
        ("larger than zero bytes", json!({ "larger_than": 0 })),
        ("smaller than 2 KiB", json!({ "smaller_than": 2_048 })),
        ("smaller than 1.5 MiB", json!({ "smaller_than": 1_572_864 })),
        ("under 3 gib", json!({ "smaller_than": 3_221_225_472_u64 })),
        ("of at least 5 MB", json!({ "larger_than": 4_999_999 })),
        ("of at most 5 MB", json!({ "smaller_than": 5_000_001 })),
        ("between 1 kB and 2 kB", json!({ "larger_than": 999, "smaller_than": 2_001 })),
        (
            "larger than 1 kB and smaller than 1 MB",
            json!({ "larger_than": 1_000, "smaller_than": 1_000_000 }),
        ),
    ];
    for (said, expected) in table {
        assert_eq!(bounds(&Asked::UTC, &format!("list files {said}")), expected, "{said}");
    }
}

#[test]
fn what_is_no_whole_number_of_bytes_is_refused() {
    for said in [
        "larger than 0.0001 kB",
        "larger than 99999999999999999999 GB",
        "larger than 1.2.3 MB",
        "larger than -1 kB",
    ] {
        let request = format!("list files {said}");
        assert!(super::taken(&request).is_err(), "{request}: {:?}", super::taken(&request));
    }
}
