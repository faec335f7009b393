//! The solver's hyper-parameters as settings: `ggs.theta` is the field `theta` of [`Params`].

use domain::gradient::Params;
use serde_json::{Map, Number, Value};

fn fields(params: Params) -> Map<String, Value> {
    match serde_json::to_value(params) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => Map::new(),
    }
}

pub(super) fn is_known(member: &str) -> bool {
    fields(Params::default()).contains_key(member)
}

/// A weight or a threshold is a number from 0 to 1; the budgets are whole and at least 1.
fn read(member: &str, value: &str) -> Option<Number> {
    match fields(Params::default()).get(member)? {
        Value::Number(default) if default.is_u64() => value
            .parse::<u64>()
            .ok()
            .filter(|number| (1..=u64::from(u32::MAX)).contains(number))
            .map(Into::into),
        _ => {
            let number = value.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number))?;
            Number::from_f64(number)
        }
    }
}

pub(super) fn check(name: &str, value: &str) -> Result<(), String> {
    let member = name.rsplit('.').next().unwrap_or(name);
    let whole = fields(Params::default()).get(member).is_some_and(Value::is_u64);
    match read(member, value) {
        Some(_) => Ok(()),
        None if whole => Err(format!("`{value}` is no whole number of at least 1")),
        None => Err(format!("`{value}` is no number from 0 to 1")),
    }
}

/// What the settings file shows as an example.
pub(super) fn defaults() -> [(&'static str, String); 2] {
    let Params { theta, time_budget_ms, .. } = Params::default();
    [("ggs.theta", theta.to_string()), ("ggs.time_budget_ms", time_budget_ms.to_string())]
}

/// The defaults, with what is set.
pub(super) fn params(set: impl Iterator<Item = (String, String)>) -> Params {
    let mut all = fields(Params::default());
    for (member, value) in set {
        if let Some(number) = read(&member, &value) {
            all.insert(member, Value::Number(number));
        }
    }
    serde_json::from_value(Value::Object(all)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{check, params};
    use domain::gradient::Params;

    #[test]
    fn what_is_set_counts_and_the_rest_is_the_seeds() {
        let set = [("theta".to_owned(), "0.9".to_owned()), ("max_replans".to_owned(), "5".to_owned())];
        let expected = Params { theta: 0.9, max_replans: 5, ..Params::default() };
        assert_eq!(params(set.into_iter()), expected);
        assert_eq!(params(std::iter::empty()), Params::default());
    }

    #[test]
    fn a_number_that_makes_no_sense_is_refused() {
        for (name, value, fits) in [
            ("ggs.theta", "0.8", true),
            ("ggs.theta", "1.1", false),
            ("ggs.theta", "NaN", false),
            ("ggs.theta", "-0", true),
            ("ggs.time_budget_ms", "60000", true),
            ("ggs.time_budget_ms", "0", false),
            ("ggs.max_replans", "2.5", false),
        ] {
            assert_eq!(check(name, value).is_ok(), fits, "{name} = {value}");
        }
    }
}
