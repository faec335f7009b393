//! Budgets as people write them: `budget.day.money = "5"`, `budget.task.time = "10m"`.

use std::time::Duration;

use broker::budget::{Limits, Scope, Unit};
use domain::limits::TASK_CALLS;

/// What counts unless the owner says otherwise.
pub(super) fn defaults() -> [(&'static str, String); 2] {
    [("budget.day.money", "5".into()), ("budget.task.calls", TASK_CALLS.to_string())]
}

/// `day.money`: whose, and of what.
pub(super) fn account(member: &str) -> Option<(Scope, Unit)> {
    let (scope, unit) = member.split_once('.')?;
    let scope = Scope::ALL.into_iter().find(|known| known.name() == scope)?;
    Some((scope, Unit::ALL.into_iter().find(|known| known.name() == unit)?))
}

/// How much; nothing for `unlimited`.
pub(super) fn amount(name: &str, value: &str) -> Result<Option<u64>, String> {
    if value == super::UNLIMITED {
        return Ok(None);
    }
    let unit = Unit::ALL.into_iter().find(|unit| name.ends_with(&format!(".{}", unit.name())));
    let unit = unit.unwrap_or(Unit::Calls);
    let none = || format!("`{value}` is none; write {}, or `unlimited`", unit.like());
    unit.amount(value).map(Some).ok_or_else(none)
}

/// A time as people write it, up to 30 days, and more than nothing.
#[must_use]
pub fn time(value: &str) -> Option<Duration> {
    const LONGEST: u64 = 30 * 24 * 3_600_000;
    let millis = Unit::Time.amount(value)?;
    (1..=LONGEST).contains(&millis).then(|| Duration::from_millis(millis))
}

pub(super) fn limits(set: impl Iterator<Item = ((Scope, Unit), Option<u64>)>) -> Limits {
    let mut limits = Limits::default();
    for ((scope, unit), limit) in set {
        limits.set(scope, unit, limit);
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::{account, amount};
    use crate::instance::settings::{Layers, Settings};
    use broker::budget::{Scope, Unit};

    #[test]
    fn amounts_as_people_write_them() {
        let table = [
            ("budget.day.money", "5", Some(5_000_000)),
            ("budget.day.money", "$5.00", Some(5_000_000)),
            ("budget.day.money", "0.5", Some(500_000)),
            ("budget.day.money", "0.000001", Some(1)),
            ("budget.task.time", "250ms", Some(250)),
            ("budget.task.time", "30s", Some(30_000)),
            ("budget.task.time", "10m", Some(600_000)),
            ("budget.task.time", "2h", Some(7_200_000)),
            ("budget.agent.bytes_out", "10MB", Some(10_000_000)),
            ("budget.agent.bytes_out", "1500", Some(1_500)),
            ("budget.task.calls", "0", Some(0)),
            ("budget.task.tokens", "200000", Some(200_000)),
        ];
        for (name, value, expected) in table {
            assert_eq!(amount(name, value), Ok(expected), "{name} {value}");
        }
        assert_eq!(amount("budget.day.money", "unlimited"), Ok(None));
        let wrong = ["", "-1", "1e3", "five", "1.2345678", "10x", ".", "+5", "99999999999999999999"];
        for value in wrong {
            for unit in ["money", "time", "bytes_out", "calls"] {
                assert!(amount(&format!("budget.day.{unit}"), value).is_err(), "{unit} {value}");
            }
        }
    }

    #[test]
    fn what_nobody_sets_has_a_default_and_what_is_no_budget_is_a_mistake() {
        let limits = Settings::default().budgets();
        assert_eq!(limits.get(Scope::Task, Unit::Calls), Some(1_000));
        assert_eq!(limits.get(Scope::Day, Unit::Money), Some(5_000_000));
        assert_eq!(limits.get(Scope::Day, Unit::Calls), None);
        assert_eq!(account("principal.bytes_out"), Some((Scope::Principal, Unit::BytesOut)));
        assert_eq!(account("week.money"), None);
        let file =
            |text: &str| Layers { file: Some(("regent.toml".into(), text.into())), ..Layers::default() };
        let mut layers = file("[budget.task]\ncalls = \"unlimited\"\ntime = \"1h\"\n[budget.day]\nmoney = 2");
        layers.environment = vec![("REGENT_BUDGET_AGENT_BYTES_OUT".into(), "1MB".into())];
        let limits = Settings::layer(&layers).unwrap().budgets();
        assert_eq!(limits.get(Scope::Task, Unit::Calls), None);
        assert_eq!(limits.get(Scope::Task, Unit::Time), Some(3_600_000));
        assert_eq!(limits.get(Scope::Day, Unit::Money), Some(2_000_000));
        assert_eq!(limits.get(Scope::Agent, Unit::BytesOut), Some(1_000_000));
        for wrong in
            ["[budget.week]\nmoney = 1", "[budget.day]\ncoffee = 1", "[budget.day]\nmoney = \"lots\""]
        {
            assert_eq!(Settings::layer(&file(wrong)).unwrap_err().len(), 1, "{wrong}");
        }
    }
}
