//! The journal, folded again: the steps it gives, the checks, the answer, and where the task stands.

use std::collections::BTreeMap;

use domain::call::{Call, Outcome};
use domain::canonical;
use domain::criterion::Verdict;
use domain::id::CallId;
use domain::task::FinalResult;
use engine::task::{DELIVER, Effect, Input, Opening, Ruling, Step, Task};
use ledger::records::{AgentTask, Blob, Event, Reason};
use ledger::{AuditEvent, AuditEventKind};
use serde::Serialize;

use super::look::{Look, Rules};
use super::{Chain, Judged, Kept, Line};
use kernel::journal;
use ledger::chain::Trail;

/// What the recorded inputs come to today.
pub(super) struct Replayed {
    pub(super) task: Task,
    /// Every call that was asked for.
    pub(super) calls: BTreeMap<CallId, Call>,
    /// The newest word of authority on each, and what came of it.
    pub(super) rulings: BTreeMap<CallId, Ruling>,
    pub(super) outcomes: BTreeMap<CallId, Outcome>,
    /// Of the machine.
    pub(super) rules: Rules,
}

impl Replayed {
    pub(super) fn opening(&self) -> &Opening {
        self.task.opening()
    }

    fn deliver(&self) -> Option<&Call> {
        self.calls.values().find(|call| call.tool.as_str() == DELIVER)
    }
}

pub(super) fn journal(chain: &Chain) -> (Option<Replayed>, Vec<Line>) {
    if chain.steps.is_empty() {
        return (None, Vec::new());
    }
    let task = kernel::task_of(&chain.event);
    let mut look = Look::at("journal", task);
    let trail = Trail::of(chain.steps.iter().map(|(row, _)| row.body)).digest();
    if let Some(ended) = chain.entry(&task.to_string(), &[AuditEventKind::TaskEnded]) {
        look.audited("steps", Some(ended), &chain.steps.len());
        if ended.detail.get("journal").is_some() {
            look.audited("journal", Some(ended), &trail);
        }
    }
    let mut steps = Vec::new();
    for (place, (row, body)) in (0_u64..).zip(&chain.steps) {
        look.compare("place of a step", row.n, place);
        let Some(step) = look.personal(&format!("step {}", row.n), body) else { continue };
        look.compare(format!("number of step {}", row.n), row.n, step.n);
        look.compare(format!("time of step {}", row.n), row.at, step.at);
        steps.push(step);
    }
    let whole = steps.len() == chain.steps.len();
    let replayed = whole.then(|| replay(chain, &steps, &mut look)).flatten();
    (replayed, look.end())
}

fn replay(chain: &Chain, steps: &[&Step], look: &mut Look) -> Option<Replayed> {
    let now = engine::RULES;
    let then = steps.iter().map(|step| step.rules).find(|rules| *rules != now).unwrap_or(now);
    let rules = Rules { then: Some(then).filter(|then| *then > 0), now };
    look.rules(rules);
    let (first, rest) = steps.split_first()?;
    let Input::Opened(opening) = &first.input else {
        look.compare("step 0", "the opening of a task", first.input.name());
        return None;
    };
    opened(chain, opening, look);
    let (mut task, now) = Task::open(opening.clone(), first.at);
    let mut calls = BTreeMap::new();
    compare(rules, first, &now, look, &mut calls);
    reasons(chain, opening, first, look);
    for step in rest {
        match task.handle(step.input.clone(), step.at) {
            Ok(now) => {
                compare(rules, step, &now, look, &mut calls);
                reasons(chain, opening, step, look);
            }
            Err(error) => {
                look.compare_by(rules, format!("step {}", step.n), step.input.name(), error);
                return None;
            }
        }
    }
    let (mut rulings, mut outcomes) = (BTreeMap::new(), BTreeMap::new());
    for step in steps {
        match &step.input {
            Input::Ruled { call, ruling } => drop(rulings.insert(*call, ruling.clone())),
            Input::Returned { call, outcome } => drop(outcomes.insert(*call, outcome.clone())),
            _ => {}
        }
    }
    Some(Replayed { task, calls, rulings, outcomes, rules })
}

/// What a task was opened with follows from the event and from the admission.
fn opened(chain: &Chain, opening: &Opening, look: &mut Look) {
    look.compare("task", opening.task, kernel::task_of(&chain.event));
    look.compare("origin", opening.tags.origin, chain.event.origin_id);
    if let Kept::There(request) = &chain.request {
        look.compare("request", &opening.request.text, request);
    }
    let Some(Judged { row, body, .. }) = chain.admissions.last() else { return look.missing("admission") };
    look.compare("reason", opening.tags.reason, row.reason_id);
    look.compare("policy", opening.tags.vpol, row.vpol_id);
    if let Kept::There(admitted) = body {
        let then = &admitted.decision;
        look.compare("principal", json(&opening.principal), json(&then.principal));
        look.compare("trust", opening.trust, then.trust);
        look.compare("tools", opening.tools.join(" "), then.tools.join(" "));
        look.compare("agent", &opening.agent, &then.persona);
    }
}

/// One step as it was kept, and as it comes out today.
fn compare(rules: Rules, then: &Step, now: &Step, look: &mut Look, calls: &mut BTreeMap<CallId, Call>) {
    let n = then.n;
    look.compare_by(rules, format!("messages of step {n}"), json(&then.messages), json(&now.messages));
    look.compare_by(rules, format!("reasons of step {n}"), json(&then.reasons), json(&now.reasons));
    for effect in &now.effects {
        if let Effect::Call(call) = effect {
            calls.insert(call.id, call.clone());
        }
    }
}

/// The rows of the reasons that a step brought forth.
fn reasons(chain: &Chain, opening: &Opening, then: &Step, look: &mut Look) {
    let Some(salt) = &chain.salt else { return };
    for new in &then.reasons {
        let Some(kept) = chain.reasons.iter().find(|reason| reason.id == new.id) else {
            look.missing(&format!("row of reason {}", new.id));
            continue;
        };
        let row = Reason {
            id: new.id,
            r_tag: new.r_tag.clone(),
            o_tag: opening.tags.origin,
            vpol_id: opening.tags.vpol,
            chain_id: opening.task.to_string(),
            parent_id: new.parent,
            agent_id: opening.agent.clone(),
            thought: Blob::personal(new.thought.text.clone().into_bytes(), salt).hash,
            at: then.at,
        };
        look.compare_rows(None, kept, &row);
    }
}

/// The verdicts, judged again from the recorded evidence, and the result that follows from them. What was recorded of
/// them is what was handed back.
pub(super) fn checks(chain: &Chain, replayed: Option<&Replayed>) -> Vec<Line> {
    let Some(replayed) = replayed else { return Vec::new() };
    let (Some(result), Some(deliver)) = (replayed.task.result(), replayed.deliver()) else {
        return Vec::new();
    };
    let called = chain.calls.iter().find(|called| called.row.id == deliver.id);
    let Some(inputs) = called.and_then(|called| match &called.decided {
        Kept::There(decided) => decided.inputs.as_ref(),
        Kept::Gone | Kept::Changed | Kept::Unreadable(_) => None,
    }) else {
        return Vec::new(); // the line of the call says why
    };
    let mut look = Look::at("checks", replayed.task.id());
    let rules = replayed.rules;
    look.rules(rules);
    let then = inputs.call.args.get("result").cloned().unwrap_or_default();
    match serde_json::from_value::<FinalResult>(then) {
        Err(error) => look.compare("result", "readable", error),
        Ok(then) => {
            look.compare_by(rules, "number of checks", then.verdicts.len(), result.verdicts.len());
            for (n, (then, now)) in (1..).zip(then.verdicts.iter().zip(&result.verdicts)) {
                look.compare_by(rules, format!("check {n}"), verdict(then), verdict(now));
            }
            look.compare_by(rules, "directive", then.directive, result.directive);
            look.compare_by(rules, "result", json(&then), json(result));
        }
    }
    look.end()
}

fn verdict(verdict: &Verdict) -> String {
    let Verdict { criterion, evidence, .. } = verdict;
    format!("{criterion}: {} ({evidence})", verdict.name())
}

/// The event that went out.
pub(super) fn answer(chain: &Chain, replayed: Option<&Replayed>) -> Vec<Line> {
    let mut lines = Vec::new();
    for sent in &chain.answers {
        let mut look = Look::at("answer", sent.id);
        let entry = chain.entry(&sent.id.to_string(), &[AuditEventKind::EventSent]);
        look.audited_event(entry, &AuditEvent::EventSent(sent));
        look.compare("origin", sent.origin_id, chain.event.origin_id);
        if let Some(replayed) = replayed {
            look.rules(replayed.rules);
            let text = replayed.task.result().map_or("", |result| result.text.as_str());
            if let Some(salt) = &chain.salt {
                let now = Blob::personal(text.as_bytes().to_vec(), salt).hash;
                look.compare_by(replayed.rules, "body", sent.body, now);
            }
        }
        if chain.salt.is_none() {
            look.erased();
        }
        lines.extend(look.end());
    }
    let handed = replayed.and_then(|replayed| {
        let deliver = replayed.deliver()?;
        replayed.outcomes.get(&deliver.id).filter(|outcome| outcome.is_ok()).map(|_| deliver)
    });
    if let Some(deliver) = handed {
        let id = Event::id_of(&format!("{}:{}", chain.event.adapter, deliver.id));
        if chain.answers.iter().all(|sent| sent.id != id) {
            let mut look = Look::at("answer", id);
            look.missing("row");
            lines.extend(look.end());
        }
    }
    lines
}

/// The board is a projection: it says what the journal comes to.
pub(super) fn task(chain: &Chain, replayed: Option<&Replayed>) -> Vec<Line> {
    let id = kernel::task_of(&chain.event);
    let mut look = Look::at("task", id);
    let Some(row) = &chain.task else {
        if chain.steps.is_empty() {
            return Vec::new();
        }
        look.missing("row");
        return look.end();
    };
    let now = match replayed {
        Some(replayed) => {
            look.rules(replayed.rules);
            let ended = chain.entry(&id.to_string(), &[AuditEventKind::TaskEnded]).map(|ended| ended.at);
            let ended = ended.or(row.completed_at).unwrap_or(row.created_at);
            let trail = Trail::of(chain.steps.iter().map(|(row, _)| row.body));
            journal::projection(&replayed.task, &chain.event, trail, replayed.task.opened_at(), ended)
        }
        None if chain.steps.is_empty() => journal::queued(id, &chain.event),
        None => {
            look.erased();
            return look.end();
        }
    };
    // A task from before has none.
    let now = AgentTask { journal: row.journal.and(now.journal), ..now };
    look.compare_rows(replayed.map(|replayed| replayed.rules), row, &now);
    look.end()
}

pub(super) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    canonical::bytes(value)
        .map_or_else(|error| error.to_string(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}
