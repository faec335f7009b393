use jiff::civil::Weekday::{self, Friday, Monday, Saturday, Sunday, Thursday, Wednesday};

use super::{NotATime, When};
use crate::acl::case::Moment;

fn holds(entries: &[&str], day: Weekday, hour: u16, minute: u16) -> bool {
    let when = When::new(entries.iter().map(|&entry| entry.to_owned()).collect()).unwrap();
    when.holds(Moment::new(day, hour, minute).unwrap().minute_of_week())
}

#[test]
fn a_window_begins_with_its_first_minute_and_ends_before_its_last() {
    let table = [
        ("23:00-08:00", Monday, 22, 59, false),
        ("23:00-08:00", Monday, 23, 0, true),
        ("23:00-08:00", Monday, 23, 59, true),
        ("23:00-08:00", Wednesday, 0, 0, true),
        ("23:00-08:00", Wednesday, 7, 59, true),
        ("23:00-08:00", Wednesday, 8, 0, false),
        ("23:00-08:00", Wednesday, 12, 0, false),
        // The week begins in Sunday's night.
        ("23:00-08:00", Sunday, 23, 30, true),
        ("23:00-08:00", Monday, 0, 0, true),
        ("23:00-08:00", Monday, 7, 59, true),
        ("09:00-17:00", Monday, 8, 59, false),
        ("09:00-17:00", Monday, 9, 0, true),
        ("9:00-17:00", Monday, 16, 59, true),
        ("09:00-17:00", Monday, 17, 0, false),
        ("22:00-24:00", Friday, 23, 59, true),
        ("22:00-24:00", Saturday, 0, 0, false),
        ("22:00-00:00", Friday, 23, 59, true),
        ("22:00-00:00", Saturday, 0, 0, false),
        ("00:00-24:00", Sunday, 23, 59, true),
    ];
    for (entry, day, hour, minute, expected) in table {
        assert_eq!(holds(&[entry], day, hour, minute), expected, "{entry} {day:?} {hour}:{minute}");
    }
}

#[test]
fn days_are_whole_days() {
    let table = [
        ("weekends", Friday, 23, 59, false),
        ("weekends", Saturday, 0, 0, true),
        ("weekends", Sunday, 23, 59, true),
        ("weekends", Monday, 0, 0, false),
        ("weekdays", Monday, 0, 0, true),
        ("weekdays", Friday, 23, 59, true),
        ("weekdays", Saturday, 0, 0, false),
        ("mon", Monday, 12, 0, true),
        ("Monday", Monday, 12, 0, true),
        ("mon,wed,fri", Wednesday, 12, 0, true),
        ("mon, wed, fri", Friday, 12, 0, true),
        ("mon,wed,fri", Thursday, 12, 0, false),
        ("mon-thu", Thursday, 12, 0, true),
        ("mon-thu", Friday, 12, 0, false),
        ("fri-mon", Sunday, 12, 0, true),
        ("fri-mon", Thursday, 12, 0, false),
    ];
    for (entry, day, hour, minute, expected) in table {
        assert_eq!(holds(&[entry], day, hour, minute), expected, "{entry} {day:?} {hour}:{minute}");
    }
}

/// A night belongs to the day on which it began.
#[test]
fn days_and_a_window_hold_together() {
    let table = [
        ("fri 23:00-08:00", Friday, 23, 0, true),
        ("fri 23:00-08:00", Saturday, 7, 59, true),
        ("fri 23:00-08:00", Saturday, 8, 0, false),
        ("fri 23:00-08:00", Friday, 7, 59, false),
        ("sun 23:00-08:00", Monday, 7, 59, true),
        ("sun 23:00-08:00", Sunday, 7, 59, false),
        ("weekends 22:00-06:00", Monday, 5, 59, true),
        ("weekends 22:00-06:00", Saturday, 5, 59, false),
        ("weekdays 09:00-17:00", Saturday, 12, 0, false),
        ("weekdays 09:00-17:00", Friday, 12, 0, true),
    ];
    for (entry, day, hour, minute, expected) in table {
        assert_eq!(holds(&[entry], day, hour, minute), expected, "{entry} {day:?} {hour}:{minute}");
    }
}

#[test]
fn of_a_list_any_entry_may_hold() {
    let quiet = ["weekends", "23:00-08:00"];
    assert!(holds(&quiet, Saturday, 12, 0));
    assert!(holds(&quiet, Monday, 3, 0));
    assert!(!holds(&quiet, Monday, 12, 0));
}

#[test]
fn what_is_no_time_is_refused() {
    let table = [
        ("", NotATime::Empty),
        (" , ", NotATime::Empty),
        ("funday", NotATime::NotADay("funday".into())),
        ("mo", NotATime::NotADay("mo".into())),
        ("mon-", NotATime::NotADay("mon-".into())),
        ("weekend", NotATime::NotADay("weekend".into())),
        ("23:00", NotATime::NotAWindow("23:00".into())),
        ("24:01-08:00", NotATime::NotAClock("24:01".into())),
        ("24:00-08:00", NotATime::NotAClock("24:00".into())),
        ("23:60-08:00", NotATime::NotAClock("23:60".into())),
        ("23:0-08:00", NotATime::NotAClock("23:0".into())),
        ("+3:00-08:00", NotATime::NotAClock("+3:00".into())),
        ("-1:00-08:00", NotATime::NotAClock("".into())),
        ("08:00-08:00", NotATime::NoLength("08:00-08:00".into())),
        ("00:00-00:00", NotATime::NoLength("00:00-00:00".into())),
        ("08:00-09:00 10:00-11:00", NotATime::Two("08:00-09:00 10:00-11:00".into())),
    ];
    for (entry, expected) in table {
        assert_eq!(When::new(vec![entry.into()]), Err(expected), "{entry}");
    }
    assert_eq!(When::new(vec![]), Err(NotATime::Empty));
}

#[test]
fn it_is_kept_as_it_was_written() {
    let when = When::new(vec!["Weekends".into(), "23:00-08:00".into()]).unwrap();
    let json = serde_json::to_value(&when).unwrap();
    assert_eq!(json, serde_json::json!(["Weekends", "23:00-08:00"]));
    assert_eq!(serde_json::from_value::<When>(json).unwrap(), when);
    assert!(serde_json::from_str::<When>(r#"["never"]"#).is_err());
}
