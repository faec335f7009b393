//! Questions about days, arithmetic and small talk: answered or expressed, and never half understood.

use domain::ask::Perception;

use super::{Asked, taken};

/// Asked on Tuesday, 17 November 2026.
const DAYS: &[(&str, &str)] = &[
    ("what day is it", "Today is Tuesday, 2026-11-17."),
    ("what date is it", "Today is 2026-11-17, a Tuesday."),
    ("what time is it", "It is 12:00."),
    ("what weekday is tomorrow", "2026-11-18 is a Wednesday."),
    ("which day was yesterday", "2026-11-16 was a Monday."),
    ("what day was the day before yesterday", "2026-11-15 was a Sunday."),
    ("what day is the day after tomorrow", "2026-11-19 is a Thursday."),
    ("what weekday is 2026-12-24", "2026-12-24 is a Thursday."),
    ("what day of the week is 24 December 2026", "2026-12-24 is a Thursday."),
    ("what day was 1 January 2000", "2000-01-01 was a Saturday."),
    ("which day of the week was July 4, 1976", "1976-07-04 was a Sunday."),
    ("what day is the 1st of May 2027", "2027-05-01 is a Saturday."),
    ("what weekday is Christmas", "2026-12-25 is a Friday."),
    ("what day is New Year's Eve", "2026-12-31 is a Thursday."),
    ("what weekday was 29 February 2024", "2024-02-29 was a Thursday."),
    ("what weekday is 29 February 2000", "2000-02-29 was a Tuesday."),
    ("what weekday is 29 February", "2028-02-29 is a Tuesday."),
    ("how many days until Christmas", "38 days until 2026-12-25."),
    ("how many days until tomorrow", "1 day until 2026-11-18."),
    ("how many days until today", "0 days until 2026-11-17."),
    ("how many days until 17 November", "0 days until 2026-11-17."),
    ("how many days until 29 February", "469 days until 2028-02-29."),
    ("how many days until Friday", "3 days until 2026-11-20."),
    ("how many days until Tuesday", "7 days until 2026-11-24."),
    ("how many days until 2020-01-01", "2020-01-01 was 2512 days ago."),
    ("days until halloween", "348 days until 2027-10-31."),
    ("how many days since 1 January 2026", "320 days since 2026-01-01."),
    ("how many days since yesterday", "1 day since 2026-11-16."),
    ("how many days since Christmas", "327 days since 2025-12-25."),
    ("how many days since last Monday", "1 day since 2026-11-16."),
    ("how many days ago was 1 May 2026", "200 days since 2026-05-01."),
    ("how many weeks until 31 December 2026", "6 weeks and 2 days until 2026-12-31."),
    ("how many weeks since 2026-11-10", "1 week since 2026-11-10."),
    ("how many weeks between 2026-11-01 and 2026-11-15", "2 weeks between 2026-11-01 and 2026-11-15."),
    ("how many days between 1 March 2024 and 1 March 2025", "365 days between 2024-03-01 and 2025-03-01."),
    ("how many days between 2026-01-01 and 2026-01-01", "0 days between 2026-01-01 and 2026-01-01."),
    ("how many days from 2024-02-28 to 2024-03-01", "2 days between 2024-02-28 and 2024-03-01."),
    ("how many days from 2023-02-28 to 2023-03-01", "1 day between 2023-02-28 and 2023-03-01."),
    ("how many days between Christmas and New Year", "7 days between 2026-12-25 and 2027-01-01."),
    ("what date is 30 days from now", "2026-12-17, a Thursday."),
    ("what date is 100 days from today", "2027-02-25, a Thursday."),
    ("what is the date in 45 days", "2027-01-01, a Friday."),
    ("what date was 10 days ago", "2026-11-07, a Saturday."),
    ("what date was 1 year ago", "2025-11-17, a Monday."),
    ("what date is 3 weeks after 1 November 2026", "2026-11-22, a Sunday."),
    ("what is the date 2 months before 2026-12-31", "2026-10-31, a Saturday."),
    ("what day is 30 days before Christmas", "2026-11-25, a Wednesday."),
    ("what date is 1 day after 28 February 2027", "2027-03-01, a Monday."),
    ("what date is 1 day before 1 March 2028", "2028-02-29, a Tuesday."),
    ("what date is 1 month after 31 January 2027", "2027-02-28, a Sunday."),
    ("what date is 1 month after 31 January 2028", "2028-02-29, a Tuesday."),
    ("what date is 1 year after 29 February 2024", "2025-02-28, a Friday."),
    ("what date is 4 years after 29 February 2024", "2028-02-29, a Tuesday."),
    ("hello", "Hello! What shall I do?"),
    ("Thank you very much!", "You are welcome."),
    ("goodbye", "Goodbye."),
    ("how are you?", "Ready to work, thank you. What shall I do?"),
];

#[test]
fn questions_about_days_are_answered_directly() {
    for &(request, expected) in DAYS {
        let answer = Perception::Direct { answer: expected.to_owned() };
        assert_eq!(Asked::UTC.perceived(request), answer, "{request}");
    }
}

#[test]
fn today_is_the_owners_day() {
    let there = Asked::at("America/New_York", "2026-11-17T03:00:00Z");
    let direct = |answer: &str| Perception::Direct { answer: answer.to_owned() };
    assert_eq!(there.perceived("what day is it"), direct("Today is Monday, 2026-11-16."));
    assert_eq!(there.perceived("what time is it"), direct("It is 22:00."));
    assert_eq!(there.perceived("how many days until Christmas"), direct("39 days until 2026-12-25."));
}

#[test]
fn a_day_that_does_not_exist_is_refused() {
    for day in ["29 February 2026", "29 February 1900", "30 February 2024", "31 April", "31 June 2026"] {
        for question in ["what weekday is", "how many days until", "what date is 3 days after"] {
            let why = Err("there is no such day".to_owned());
            assert_eq!(taken(&format!("{question} {day}")), why, "{question} {day}");
        }
    }
    assert_eq!(taken("what date is 90000 years from now"), Err("there is no such day".into()));
}

#[test]
fn a_question_about_days_with_a_word_too_many_is_refused() {
    let requests = [
        "what day is it in Paris",
        "what time is it in Tokyo",
        "what time was it yesterday",
        "what day is it and list files",
        "what weekday is 0 May 2026",
        "what weekday is 32 May 2026",
        "what weekday is 2026-02-30",
        "what date is 30 days",
        "what date is 5 hours from now",
        "when is Christmas",
        "how many days between 1 May 2026 and",
        "how many days until Christmas and list files",
        "what is the day 3 days ago before Christmas",
    ];
    for request in requests {
        assert!(taken(request).is_err(), "{request}: {:?}", taken(request));
    }
}

const SUMS: &[(&str, &str)] = &[
    ("what is 2 + 2", "2 + 2"),
    ("2+2", "2 + 2"),
    ("what's 2+2?", "2 + 2"),
    ("please calculate 2 + 2 for me, thanks", "2 + 2"),
    ("how much is 3 times 4", "3 * 4"),
    ("calculate (1 + 2) * 3", "(1 + 2) * 3"),
    ("what is 10 divided by 4", "10 / 4"),
    ("what is 0/5", "0 / 5"),
    ("what is 7 minus 9", "7 - 9"),
    ("what is -3 + 5", "-3 + 5"),
    ("multiply 23 by 17", "23 * 17"),
    ("divide 10 by 4", "10 / 4"),
    ("subtract 3 from 10", "10 - 3"),
    ("add 3 to 10", "10 + 3"),
    ("take 3 away from 10", "10 - 3"),
    ("what is 15% of 80", "15% * 80"),
    ("what is 15 percent of 80", "15% * 80"),
    ("what is the square root of 144", "sqrt(144)"),
    ("square root of nine", "sqrt(9)"),
    ("what is 2 to the power of 10", "2^10"),
    ("2^10", "2^10"),
    ("what is 12 squared", "12^2"),
    ("what is 3 cubed", "3^3"),
    ("what is 17 modulo 5", "17 % 5"),
    ("what is half of 30", "0.5 * 30"),
    ("what is a third of 30", "1/3 * 30"),
    ("what is a quarter of 100", "0.25 * 100"),
    ("what is twice 21", "2 * 21"),
    ("sum of 1, 2 and 3", "sum(1, 2, 3)"),
    ("add 1, 2 and 3", "sum(1, 2, 3)"),
    ("what do 45, 67 and 88 add up to", "sum(45, 67, 88)"),
    ("average of 4, 5 and 9", "mean(4, 5, 9)"),
    ("the product of 6 and 7", "6 * 7"),
    ("difference between 10 and 3", "abs(10 - 3)"),
    ("1,200 * 3", "1200 * 3"),
    ("what is 1,200 + 1,300.50", "1200 + 1300.50"),
    ("3.5 x 2", "3.5 * 2"),
    ("3 × 4 ÷ 2", "3 * 4 / 2"),
    ("what is twelve times twelve", "12 * 12"),
];

#[test]
fn arithmetic_is_taken_as_an_expression() {
    for &(request, expression) in SUMS {
        assert_eq!(taken(request), Ok(format!("calculate {expression}")), "{request}");
    }
}

#[test]
fn a_division_by_zero_has_no_result() {
    for request in ["what is 1 / 0", "1/0.0", "1/(0)", "divide 5 by 0", "5 divided by zero", "2 + 3/0 + 1"] {
        assert_eq!(taken(request), Err("that has no result".into()), "{request}");
    }
}

#[test]
fn what_is_no_whole_expression_is_not_taken() {
    let requests = [
        "what is 2 +",
        "what is + 2",
        "2 2",
        "2 + 2)",
        "((2)",
        "what is 15%",
        "1,20 + 3",
        "1.2.3 + 4",
        "2 ++ 2",
        "2 + two hundred",
        "2 + x",
        "square root of -4",
        "what is 5",
        "42",
        "3 plus",
        "plus 3",
        "2 + 2 files",
        "how many files are 2 + 2",
        "what is 2 + 2 and list files",
        "5 km + 3 km",
        "1e3 + 1",
        "- - 3",
        "what is 2 + 2 = 4",
        "2 + 2 zzz",
        "zzz 2 + 2",
        "multiply 3 by",
        "subtract 3 from",
    ];
    for request in requests {
        assert!(taken(request).is_err(), "{request}: {:?}", taken(request));
    }
}
