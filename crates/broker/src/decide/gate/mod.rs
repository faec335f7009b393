//! The gate between the decision and the door: the constitution is asked about every call, whatever the layers said.
//!
//! INVARIANT (governed): the door takes a [`Governed`] decision, and only [`govern`] makes one. It only ever makes a
//! decision stricter, and takes no layer's word for anything: neither an execute, nor a person's yes, nor a grant gets
//! past it where a rule is violated.

mod named;

use std::ops::Deref;

use domain::call::Chooser;
use domain::source::Source;
use policy::constitution::{
    Action, Answered, Answering, Behind, Hand, Privilege, Scope, Violation, check, is_violated_by_trying,
};
use serde_json::Value;

use super::{Answer, Decision, DecisionView, Layer, Word};
use crate::access::Switch;
use crate::alias;
use crate::grant::Enough;
use crate::tool::{ExecutionMode, Reach};

/// A decision that the constitution has been asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Governed(Decision);

impl Governed {
    pub(crate) fn into_inner(self) -> Decision {
        self.0
    }

    /// For builds that lack a guard: the decision as such a build counts it.
    #[cfg(feature = "mutants")]
    pub(crate) fn counted(self, count: impl FnOnce(Decision) -> Decision) -> Self {
        Self(count(self.0))
    }
}

impl Deref for Governed {
    type Target = Decision;

    fn deref(&self) -> &Decision {
        &self.0
    }
}

/// Asks the constitution about a call that was decided. Where a person is to be asked, it is asked as if they had said
/// yes: nobody is asked about what their yes could not allow. Where the answer is no already, only what is violated by
/// trying is one more reason.
pub(super) fn govern(facts: &DecisionView<'_>, decision: Decision) -> Governed {
    let function = facts.tool.and_then(|tool| tool.handler_config.get("function")).and_then(Value::as_str);
    let function = function.and_then(alias::resolve);
    let mut action = action(facts);
    action.names.extend(function.as_ref().map(|id| id.as_str()));
    if decision.answer == Answer::Review {
        action.answered = Answered::Person;
    }
    judged(&action, decision)
}

/// What becomes of a decision about this action.
pub(super) fn judged(action: &Action<'_>, decision: Decision) -> Governed {
    let mut violations = check(action);
    if decision.answer == Answer::Deny {
        violations.retain(|violation| is_violated_by_trying(violation.rule));
    }
    if violations.is_empty() {
        return Governed(decision);
    }
    let words = violations.iter().map(word).chain(decision.words).collect();
    let violated = violations.iter().map(|violation| violation.rule).collect();
    Governed(Decision { answer: Answer::Deny, words, grant: None, violated, ..decision })
}

fn word(violation: &Violation) -> Word {
    Word {
        layer: Layer::Constitution,
        answer: Answer::Deny,
        reason: violation.to_string(),
        instead: Some(violation.instead().to_owned()),
    }
}

/// The facts of a call as the constitution looks at them: none of them is what a layer made of it.
pub(super) fn action<'a>(facts: &DecisionView<'a>) -> Action<'a> {
    let hand = hand(facts);
    let registered = facts.tool.map(|tool| tool.id.as_str());
    Action {
        names: [Some(facts.inputs.call.tool.as_str()), registered].into_iter().flatten().collect(),
        // A tool may say that it is harmless, but not under a name that is not.
        tier: facts
            .tool
            .map_or(facts.inputs.tier, |tool| facts.inputs.tier.max(tool.tier))
            .max(alias::floor(&facts.inputs.call.tool)),
        scope: facts.tool.map_or(Scope::Leaves, |tool| scope(tool.reach)),
        hand,
        answered: answered(facts, hand),
        behind: Behind {
            principal: Some(&facts.inputs.principal),
            trust: Some(facts.inputs.trust),
            source: &facts.request.source,
        },
        privilege: privilege(facts),
        unexplained: unexplained(facts),
        // No tool listens. Whoever does asks `policy::constitution::is_loopback` before it binds and before it accepts.
        listens: &[],
    }
}

const fn scope(reach: Reach) -> Scope {
    match reach {
        Reach::Nothing | Reach::Workspace => Scope::Contained,
        Reach::House => Scope::House,
        Reach::Origin | Reach::Model | Reach::Outside => Scope::Leaves,
    }
}

fn hand(facts: &DecisionView<'_>) -> Hand {
    let chose = matches!(facts.inputs.call.chosen_by, Chooser::Owner { .. });
    let theirs = facts.inputs.principal.is_owner() && facts.request.source == Source::Owner;
    if chose && theirs { Hand::Owner } else { Hand::Other }
}

fn answered(facts: &DecisionView<'_>, hand: Hand) -> Answered {
    let by_hand = hand == Hand::Owner && facts.inputs.call.chosen_by == Chooser::Owner { confirmed: true };
    let to_this = facts.inputs.leave.is_some_and(|leave| Some(leave.to) == facts.inputs.fingerprint);
    if by_hand || to_this {
        return Answered::Person;
    }
    match worth(facts) {
        Some(Enough::Pinned) => Answered::PinnedGrant,
        Some(Enough::Covered) => Answered::Grant,
        Some(Enough::Never) | None => Answered::Nobody,
    }
}

/// What the best grant for this call is worth.
fn worth(facts: &DecisionView<'_>) -> Option<Enough> {
    facts.tool.and_then(|tool| facts.grant(tool)).map(|(_, worth)| worth)
}

fn granted(facts: &DecisionView<'_>) -> bool {
    let harms = facts.tool.map_or(facts.inputs.tier, |tool| facts.inputs.tier.max(tool.tier))
        > domain::Tier::WriteSafe;
    worth(facts).is_some_and(|worth| worth >= Enough::Pinned || !harms)
}

fn privilege<'a>(facts: &DecisionView<'a>) -> Privilege<'a> {
    let tool = facts.tool;
    let enabled = tool.is_some_and(|tool| tool.execution_mode != ExecutionMode::Disabled);
    let concludes = facts.inputs.call.subtask.is_none() && facts.inputs.call.chosen_by == Chooser::Rule;
    Privilege {
        registered: tool.map(|tool| tool.id.as_str()),
        on: enabled && facts.inputs.switch == Switch::On,
        fits: facts.inputs.form.is_ok(),
        agent: &facts.inputs.agent,
        agents: tool.map_or(&[], |tool| &tool.agent_access),
        roles: &facts.inputs.roles,
        needs_roles: tool.map_or(&[], |tool| &tool.role_requirements),
        needs_credentials: &facts.inputs.needs,
        permissions: &facts.inputs.permissions,
        granted: granted(facts),
        answer: match tool.is_some_and(|tool| matches!(tool.reach, Reach::Origin | Reach::Model)) {
            false => Answering::No,
            true if concludes => Answering::InTurn,
            true => Answering::OutOfTurn,
        },
    }
}

/// The first sink that only content can have meant. Until provenance knows more, that is one that a rule of the program
/// did not choose, and that the owner's request does not name.
fn unexplained<'a>(facts: &DecisionView<'a>) -> Option<&'a str> {
    let tool = facts.tool.filter(|_| facts.inputs.call.chosen_by != Chooser::Rule)?;
    let request = if facts.request.source == Source::Owner { &facts.request.text } else { "" };
    named::unnamed_sink(tool, &facts.inputs.call.args, request)
}
