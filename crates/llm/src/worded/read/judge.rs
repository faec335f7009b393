//! R4a and R4b: a verdict on each criterion. Whether there is one for each is the engine's to say.

use domain::ask::{Judgement, Opinion};
use domain::call::FailureClass;
use serde_json::Value;

use super::{Fields, Misfit, top};

pub(super) fn read(value: &Value) -> Result<Vec<Judgement>, Misfit> {
    let verdicts = match value {
        Value::Array(verdicts) => {
            if verdicts.is_empty() || !verdicts.iter().all(|one| one.get("verdict").is_some()) {
                return Err(Misfit::Foreign);
            }
            verdicts.as_slice()
        }
        value => {
            let fields = top(value)?;
            match fields.any(&["verdicts"]) {
                Some(_) => fields.list(&["verdicts"]),
                None if fields.any(&["verdict"]).is_some() => std::slice::from_ref(value),
                None => return Err(Misfit::Foreign),
            }
        }
    };
    Ok((1..).zip(verdicts).map(|(at, value)| judgement(at, value)).collect::<Result<_, _>>()?)
}

/// A pass without evidence is no verdict: anybody can say yes.
fn judgement(at: u32, value: &Value) -> Result<Judgement, String> {
    let at = format!("verdict {at}");
    let fields = Fields::of(&at, value)?;
    let verdict = match fields.needed_text(&["verdict"])?.to_ascii_lowercase().as_str() {
        "pass" | "passed" | "met" => Opinion::Pass,
        "fail" | "failed" | "unmet" => Opinion::Fail,
        "unclear" => Opinion::Unclear,
        other => return Err(format!("`verdict` of {at} is `{other}`, not pass, fail or unclear")),
    };
    let evidence = fields.text(&["evidence"])?;
    if verdict == Opinion::Pass {
        let evidence = evidence.ok_or_else(|| format!("{at} is a pass without `evidence`"))?;
        return Ok(Judgement { verdict, failure_class: None, evidence });
    }
    let failure_class =
        match fields.text(&["failure_class"])?.map(|class| class.to_ascii_lowercase()).as_deref() {
            None => None,
            Some("logical") => Some(FailureClass::Logical),
            Some("environmental") => Some(FailureClass::Environmental),
            Some(other) => {
                return Err(format!("`failure_class` of {at} is `{other}`, not logical or environmental"));
            }
        };
    Ok(Judgement { verdict, failure_class, evidence: evidence.unwrap_or_default() })
}
