//! The calls: what authority said about each, from what, and what the journal and the audit say of it.

use broker::{Answer, Decided, Decision, DecisionInputs, Policies};
use domain::canonical;
use domain::id::CallId;
use engine::task::Ruling;
use ledger::records::{Blob, CallStatus};
use ledger::{AuditEvent, AuditEventKind};
use policy::vpol::Vpol;

use super::journal::{Replayed, json};
use super::look::{Look, Rules};
use super::{Called, Chain, Kept, Line};

/// The first rules that keep permissions.
const BY_POLICIES: u32 = 4;

pub(super) fn calls(chain: &Chain, replayed: Option<&Replayed>) -> Vec<Line> {
    let mut lines: Vec<Line> = chain.calls.iter().flat_map(|called| call(chain, called, replayed)).collect();
    let recorded = |id: &CallId| chain.calls.iter().any(|called| called.row.id == *id);
    // A call that nobody has ruled on yet has no row either.
    let ruled = replayed.into_iter().flat_map(|replayed| replayed.rulings.keys());
    for id in ruled.filter(|id| !recorded(id)) {
        let mut look = Look::at("call", id);
        look.missing("row");
        lines.extend(look.end());
    }
    lines
}

fn call(chain: &Chain, called: &Called, replayed: Option<&Replayed>) -> Vec<Line> {
    let mut look = Look::at("call", called.row.id).tool(&called.row.tool_id);
    audited(chain, called, &mut look);
    if let Some(decided) = look.personal("decision", &called.decided) {
        made_again(chain, called, decided, &mut look);
        if let Some(replayed) = replayed {
            from_journal(called, decided, replayed, chain, &mut look);
        }
    }
    // Asking a model is the driver's own call: the journal has what was asked and answered, not the call.
    if let Some(replayed) = replayed.filter(|_| called.row.tool_id.as_str() != kernel::ASK_MODEL) {
        journalled(chain, called, replayed, &mut look);
    }
    look.end()
}

/// The row says what the audit says.
fn audited(chain: &Chain, called: &Called, look: &mut Look) {
    const OPENED: [AuditEventKind; 3] =
        [AuditEventKind::CallStarted, AuditEventKind::CallWaiting, AuditEventKind::CallRefused];
    let (row, id) = (&called.row, called.row.id.to_string());
    let ruled = chain.entry(&id, &OPENED);
    look.audited_event(ruled, &AuditEvent::CallStarted(row));
    let newest = chain.audit.iter().rfind(|entry| entry.subject == id && entry.kind.starts_with("call."));
    let Some((ruled, newest)) = ruled.zip(newest) else { return };
    let kind = newest.kind.trim_start_matches("call.");
    look.compare("status, in the audit", kind, row.status.name());
    look.compare("time, in the audit", ruled.at, row.timestamp);
    let id = |id: Option<String>| id.unwrap_or_else(|| "none".into());
    look.compare("reason, in the audit", id(ruled.reason_id.map(|id| id.to_string())), row.r_tag);
    look.compare("origin, in the audit", id(ruled.origin_id.map(|id| id.to_string())), row.o_tag);
    look.compare("policy, in the audit", id(ruled.vpol_id.map(|id| id.to_string())), row.vpol_id);
    let over = OPENED.iter().all(|opened| opened.name() != newest.kind);
    match (over, row.output, row.duration_ms) {
        (false, None, None) => {}
        (true, Some(_), Some(_)) => look.audited_event(Some(newest), &AuditEvent::CallFinished(row)),
        (over, ..) => look.compare("output", if over { "one" } else { "none" }, "something else"),
    }
}

/// The decision follows from what it was made from.
fn made_again(chain: &Chain, called: &Called, decided: &Decided, look: &mut Look) {
    let (Some(inputs), Some(by)) = (&decided.inputs, &decided.by) else { return look.unkept() };
    let rules = Rules { then: Some(by.rules), now: broker::decide::RULES };
    look.rules(rules);
    look.digest("input", called.row.input, &inputs.call.args, chain.salt.as_ref());
    let tool = match inputs.tool {
        None => None,
        Some(_) => match look.public("tool", &called.tool) {
            Some(tool) => Some(tool),
            None => return,
        },
    };
    let Some(request) = look.personal("request", &called.request) else { return };
    let vpol = match policy_of(chain, inputs, look) {
        Ok(vpol) => vpol,
        Err(Missing) => return,
    };
    if let (Some(then), Some(salt)) = (inputs.fingerprint, chain.salt.as_ref())
        && let Ok(now) = inputs.fingerprint(salt)
    {
        look.compare("fingerprint", then, now);
    }
    let of_now = match &called.of_now {
        None => None,
        Some(kept) => match look.public("policy of that moment", kept) {
            Some(vpol) => Some(vpol),
            None => return,
        },
    };
    let now = inputs.decide(tool, Policies { frozen: vpol, of_now }, request);
    let then = &decided.decision;
    look.compare_by(rules, "decision", answer(then), answer(&now));
    look.compare_by(rules, "words", json(&then.words), json(&now.words));
    look.compare_by(rules, "rules violated", json(&then.violated), json(&now.violated));
}

/// The rules that a decision needs are not there; their own line says so.
struct Missing;

fn policy_of<'a>(
    chain: &'a Chain,
    inputs: &DecisionInputs,
    look: &mut Look,
) -> Result<Option<&'a Vpol>, Missing> {
    let Some(id) = inputs.vpol else { return Ok(None) };
    let known = chain.policies.iter().find(|policy| policy.id == id);
    match known.map(|policy| &policy.rules) {
        Some(Kept::There(rules)) => {
            look.compare("rules of the policy", id, rules.id());
            Ok(Some(rules))
        }
        _ => {
            look.missing("policy");
            Err(Missing)
        }
    }
}

/// What was asked about is what the journal asked for, and nothing was added to what the admission gave.
fn from_journal(called: &Called, decided: &Decided, replayed: &Replayed, chain: &Chain, look: &mut Look) {
    let (opening, salt) = (replayed.opening(), chain.salt.as_ref());
    let admitted = chain.admissions.last().and_then(|judged| match &judged.body {
        Kept::There(admitted) => Some(&admitted.decision.permissions),
        Kept::Gone | Kept::Changed | Kept::Unreadable(_) => None,
    });
    if let (None, Some(call), Some(salt)) = (&decided.inputs, replayed.calls.get(&called.row.id), salt) {
        let now = canonical::bytes(&call.args).map(|bytes| Blob::personal(bytes, salt).hash.to_string());
        look.compare_by(replayed.rules, "input", called.row.input, now.unwrap_or_default());
    }
    if let Some(inputs) = &decided.inputs {
        look.compare("principal", json(&inputs.principal), json(&opening.principal));
        look.compare("source", json(&inputs.source), json(&opening.request.source));
        if inputs.trust > opening.trust {
            look.compare("trust", inputs.trust, opening.trust);
        }
        // Whatever the policies of that moment gave: a chain goes no further than it was let in.
        if let Some(then) = admitted.filter(|_| decided.by.as_ref().is_some_and(|by| by.rules >= BY_POLICIES))
            && inputs.permissions != inputs.permissions.no_further_than(then)
        {
            look.compare("permissions", json(&inputs.permissions), "beyond the admission");
        }
        if let Kept::There(request) = &called.request {
            look.compare("request", request, &opening.request.text);
        }
        if let Some(call) = replayed.calls.get(&called.row.id) {
            look.compare_by(replayed.rules, "call, in the journal", json(&inputs.call), json(call));
        }
    }
    if let Some(ruling) = replayed.rulings.get(&called.row.id) {
        let exhausted = decided.inputs.as_ref().is_some_and(|inputs| inputs.exhausted.is_some());
        let now = match ruling {
            // As the first rules wrote it.
            Ruling::Refused { .. } if decided.decision.answer != Answer::Execute => {
                Ruling::Refused { why: decided.decision.to_string() }
            }
            // The question's id is not in the decision; the journal and the queue have it.
            Ruling::Review { .. } if decided.decision.answer == Answer::Review => ruling.clone(),
            _ => kernel::ruling(&decided.decision, exhausted),
        };
        look.compare("ruling, in the journal", json(ruling), json(&now));
    }
}

/// The row says what the journal says.
fn journalled(chain: &Chain, called: &Called, replayed: &Replayed, look: &mut Look) {
    let (row, salt) = (&called.row, chain.salt.as_ref());
    look.rules(replayed.rules);
    match replayed.calls.get(&row.id) {
        None => look.compare_by(replayed.rules, "call", "asked for", "not in the journal"),
        Some(call) => {
            let tags = [row.o_tag.to_string(), row.r_tag.to_string(), row.vpol_id.to_string()].join(" ");
            let now =
                [call.tags.origin.to_string(), call.tags.reason.to_string(), call.tags.vpol.to_string()];
            look.compare_by(replayed.rules, "tags", tags, now.join(" "));
            look.compare_by(replayed.rules, "tool", &row.tool_id, &call.tool);
        }
    }
    look.compare("task", row.task_id, replayed.task.id());
    look.compare("agent", &row.agent_id, &replayed.opening().agent);
    let now = match (replayed.rulings.get(&row.id), replayed.outcomes.get(&row.id)) {
        (_, Some(outcome)) => {
            if let Some(output) = row.output {
                look.digest("output", output, outcome, salt);
            }
            if outcome.is_ok() {
                vec![CallStatus::Finished]
            } else {
                vec![CallStatus::Failed, CallStatus::Unknown]
            }
        }
        (Some(Ruling::Refused { .. } | Ruling::Denied { .. } | Ruling::Exhausted { .. }), None) => {
            vec![CallStatus::Refused]
        }
        (Some(Ruling::Review { .. }), None) => vec![CallStatus::Waiting, CallStatus::Refused],
        (Some(Ruling::Execute), None) => vec![CallStatus::Started],
        (None, None) => Vec::new(),
    };
    if !now.contains(&row.status) {
        let now: Vec<&str> = now.into_iter().map(CallStatus::name).collect();
        look.compare("status", row.status.name(), now.join(" or "));
    }
}

fn answer(decision: &Decision) -> String {
    let word = match decision.answer {
        Answer::Execute => "execute",
        Answer::Review => "review",
        Answer::Deny => "deny",
    };
    format!("{word}: {decision}")
}
