//! The calls of an attempt and what came of them.

use domain::call::{Evidence, Failure, FailureClass};

use super::clip::head_tail;
use super::page::{Page, one_line};

/// Calls whose results are shown at length, counted from the last; of those before there is a line each.
const AT_LENGTH: usize = 20;
/// What is shown of the arguments of a call, and of a result in a line.
const LINE_CHARS: usize = 1000;
const SHORT_CHARS: usize = 200;

pub(super) fn show(page: &mut Page, evidence: &[Evidence]) {
    page.heading("Evidence");
    if evidence.is_empty() {
        return page.line("No call was made.");
    }
    let (older, newer) = evidence.split_at(evidence.len().saturating_sub(AT_LENGTH));
    if !older.is_empty() {
        page.data("The calls before, a line each", &older.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    for (number, call) in (older.len() + 1..).zip(newer) {
        at_length(page, number, call);
    }
}

/// `name: input → the first 200 characters`.
fn line(call: &Evidence) -> String {
    let args = one_line(&head_tail(&call.args.to_string(), SHORT_CHARS));
    format!("{}: {args} → {}", call.tool, one_line(&head_tail(&call.shown(), SHORT_CHARS)))
}

fn at_length(page: &mut Page, number: usize, call: &Evidence) {
    let how = match &call.outcome {
        Ok(_) => "succeeded".to_owned(),
        Err(Failure { class, interrupted, .. }) => {
            format!("FAILED, {}{}", class_name(*class), if *interrupted { ", interrupted" } else { "" })
        }
    };
    let exit = call.exit_code().map(|code| format!(", exit code {code}")).unwrap_or_default();
    let took = call.took_ms.map(|ms| format!(", {ms} ms")).unwrap_or_default();
    page.line(&format!("\n{number}. `{}` {how}{exit}{took}", call.tool));
    page.line(&format!("Arguments: {}", one_line(&head_tail(&call.args.to_string(), LINE_CHARS))));
    page.data("Result", &call.shown());
    if let Err(Failure { instead, .. }) = &call.outcome {
        for instead in instead {
            page.item(&format!("allowed instead: {instead}"));
        }
    }
}

pub(super) const fn class_name(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Logical => "logical",
        FailureClass::Environmental => "environmental",
        FailureClass::Refused => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::{AT_LENGTH, Page, show};
    use domain::call::Evidence;
    use domain::id::CallId;
    use serde_json::json;

    #[test]
    fn of_many_calls_only_the_last_are_shown_at_length() {
        let call = |number: usize| Evidence {
            call: CallId::from_bits(1),
            tool: "glob".parse().unwrap(),
            args: json!({ "n": number }),
            outcome: Ok(json!("x".repeat(3000))),
            took_ms: None,
        };
        let calls: Vec<Evidence> = (1..=AT_LENGTH + 2).map(call).collect();
        let mut page = Page::default();
        show(&mut page, &calls);
        let text = page.into_text();
        assert!(text.contains("glob: {\"n\":2} → xxx") && !text.contains("glob: {\"n\":3}"), "{text}");
        assert!(text.contains("\n3. `glob` succeeded\n") && !text.contains("\n2. `glob`"), "{text}");
        let most = (AT_LENGTH + 1) * 3200;
        assert!(text.chars().count() < most);
    }
}
