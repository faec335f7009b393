//! What a policy says about a call, and what would be allowed instead.

use domain::{DataClass, Tier};
use jiff::civil::Weekday::{Friday, Monday, Saturday};

use super::super::{Answer, Asked, Circumstances, Vpol, Word};
use super::set;
use crate::acl::case::Moment;

const CALL: Asked<'static> = Asked {
    tool: "write_file",
    tier: Tier::WriteSafe,
    data_class: None,
    hands_back: false,
    is_owner: false,
    roles: &[],
    circumstances: Circumstances { local: None, started: 0, attended: false, reversible: false },
};

fn vpol(fields: &str) -> Vpol {
    let text = format!("- {{ name: p, priority: 1, {fields} }}");
    set(&text).get("p").unwrap().vpol.clone()
}

fn of_tier(tier: Tier) -> Asked<'static> {
    Asked { tier, ..CALL }
}

fn at(circumstances: Circumstances) -> Asked<'static> {
    Asked { circumstances, ..CALL }
}

#[test]
fn others_and_what_nobody_attends_are_looked_at_above_write_safe() {
    let answers = |vpol: Vpol| Tier::ALL.map(|tier| vpol.judge(&of_tier(tier)).answer());
    use Answer::{Ask, Execute, Intercept};
    assert_eq!(answers(Vpol::DEFAULT_OWNER), [Execute; 4]);
    assert_eq!(answers(Vpol::DEFAULT_OTHERS), [Execute, Execute, Intercept, Intercept]);
    assert_eq!(answers(Vpol::UNATTENDED), [Execute, Execute, Ask, Ask]);
    assert_eq!(answers(Vpol::strictest()), [Ask; 4]);
}

#[test]
fn every_rule_in_a_sentence() {
    let local = |weekday, hour| {
        let local = Moment::new(weekday, hour, 0);
        at(Circumstances { local, ..Circumstances::default() })
    };
    let started = |started| at(Circumstances { started, ..Circumstances::default() });
    let hours = "applies_to: {}, mode: monitor, rules: { hours: [weekdays 09:00-17:00, sat 10:00-12:00] }";
    let rate = "applies_to: {}, mode: monitor, rules: { rate: 2/h }";
    let requires = |what: &str| format!("applies_to: {{}}, mode: monitor, rules: {{ requires: {what} }}");
    let role: &[String] = &["nurse".to_owned()];
    let no = |said: &'static str, instead: &'static str| (Answer::Deny, said, Some(instead));
    let passes = (Answer::Execute, "p (monitor) lets it pass", None);
    let only = "p allows it only at these hours: weekdays 09:00-17:00 or sat 10:00-12:00";
    let table = [
        (hours.into(), local(Monday, 9), passes),
        (hours.into(), local(Monday, 17), no(only, "it is allowed from tuesday 09:00 on")),
        (hours.into(), local(Friday, 17), no(only, "it is allowed from saturday 10:00 on")),
        (hours.into(), local(Saturday, 12), no(only, "it is allowed from monday 09:00 on")),
        (hours.into(), CALL, no(only, "the same within those hours")),
        (rate.into(), started(1), passes),
        (
            rate.into(),
            started(2),
            no("p allows 2/h, and that many were started", "the same later, within the next h"),
        ),
        (requires("approval"), CALL, (Answer::Ask, "p wants the owner asked about every such call", None)),
        (
            requires("attended"),
            CALL,
            no("p wants somebody to sit at it, and nobody does", "the same, asked for at a terminal"),
        ),
        (requires("attended"), at(Circumstances { attended: true, ..Circumstances::default() }), passes),
        (
            requires("reversible"),
            CALL,
            no("p allows only what can be taken back", "a call whose change `regent undo` can take back"),
        ),
        (requires("reversible"), of_tier(Tier::ReadOnly), passes),
        (requires("reversible"), at(Circumstances { reversible: true, ..Circumstances::default() }), passes),
        (requires("role:nurse"), CALL, no("p needs the role `nurse`", "somebody who has that role can ask")),
        (requires("role:nurse"), Asked { roles: role, ..CALL }, passes),
        (requires("role:nurse"), Asked { is_owner: true, ..CALL }, passes),
        // A denial comes before a question.
        (
            requires("[approval, attended]"),
            CALL,
            no("p wants somebody to sit at it, and nobody does", "the same, asked for at a terminal"),
        ),
        // Whatever came of the work may be told, at any hour.
        (hours.into(), Asked { hands_back: true, ..CALL }, passes),
        (requires("approval"), Asked { hands_back: true, ..CALL }, passes),
    ];
    for (fields, call, expected) in table {
        let vpol = vpol(&fields);
        let word = vpol.judge(&call);
        let (said, instead) = (word.reason(&vpol), word.instead());
        assert_eq!((word.answer(), said.as_str(), instead.as_deref()), expected, "{fields} {call:?}");
    }
}

#[test]
fn what_is_not_governed_is_not_judged() {
    let table = [
        ("tools: [shell, \"write_*\"]", CALL, true),
        ("tools: shell", CALL, false),
        ("tiers: [write_safe, admin]", CALL, true),
        ("tiers: admin", CALL, false),
        ("data_classes: pii", Asked { data_class: Some(DataClass::Pii), ..CALL }, true),
        ("data_classes: pii", Asked { data_class: Some(DataClass::Finance), ..CALL }, false),
        ("data_classes: pii", CALL, false),
        ("tools: \"write_*\", tiers: admin", CALL, false),
    ];
    for (applies_to, call, governed) in table {
        let vpol =
            vpol(&format!("applies_to: {{ {applies_to} }}, mode: strict, rules: {{ requires: approval }}"));
        let expected = if governed { Word::AsksEachTime } else { Word::NotGoverned };
        assert_eq!(vpol.judge(&call), expected, "{applies_to}");
    }
}
