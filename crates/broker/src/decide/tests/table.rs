//! Each layer says no in each way it can, and says what would be allowed instead; or it asks a person.

use domain::call::Chooser;
use domain::principal::Principal;
use domain::source::Source;
use domain::{Tier, Trust};
use policy::acl::when::When;
use policy::acl::{Credentials, Moment, Permissions};
use policy::vpol::{Requirement, Rules, Vpol};
use serde_json::json;

use super::{KNOWN, World, everything, said};
use crate::access::Switch;
use crate::budget::{Exhausted, Scope, Unit};
use crate::decide::Answer::{Deny, Execute, Review};
use crate::decide::{Answer, DataLevel, Layer};
use crate::tool::{DataClass, ExecutionMode, Level, Reach, ValidationMode};

type Row = (fn(&mut World), Answer, Layer, &'static str);

fn check(table: &[Row]) {
    for (bend, answer, layer, reason) in table {
        let decision = World::bend(bend).decide();
        let word = decision.deciding().unwrap();
        assert_eq!((decision.answer, word.layer, word.reason.as_str()), (*answer, *layer, *reason));
        // Where a person is asked, the answer is theirs.
        if *answer == Deny {
            assert!(word.instead.as_ref().is_some_and(|instead| !instead.is_empty()), "{reason}");
            assert!(decision.instead().contains(word.instead.as_ref().unwrap()), "{reason}");
        }
    }
}

#[test]
fn whether_it_is_there_and_may_be_used() {
    check(&[
        (
            |w| w.inputs.switch = Switch::Off,
            Deny,
            Layer::Registered,
            "find_files is switched off in tool-access.json",
        ),
        (
            |w| w.inputs.switch = Switch::OffByEnvironment,
            Deny,
            Layer::Registered,
            "find_files is switched off by REGENT_TOOLS_OFF",
        ),
        (
            |w| w.inputs.switch = Switch::Unreadable,
            Deny,
            Layer::Registered,
            "tool-access.json cannot be read, so nothing runs",
        ),
        (
            |w| w.tool.execution_mode = ExecutionMode::Disabled,
            Deny,
            Layer::Registered,
            "find_files is registered as disabled",
        ),
        (
            |w| w.inputs.must_not.tools = ["find_files".into()].into(),
            Deny,
            Layer::Plan,
            "find_files did not work here, and the plan is not to use it again",
        ),
        (
            |w| w.inputs.must_not.targets = ["docs".into()].into(),
            Deny,
            Layer::Plan,
            "`docs` did not work here, and the plan is not to use it again",
        ),
        (
            |w| w.inputs.must_not.avoided = [domain::recall::Tag::tool("find_files", "docs")].into(),
            Deny,
            Layer::Plan,
            "find_files on `docs` has gone wrong before",
        ),
        (
            |w| w.inputs.form = Err("`under` is missing".into()),
            Deny,
            Layer::Schema,
            "the arguments do not fit the tool: `under` is missing",
        ),
        (
            |w| w.tool.agent_access = vec!["night*".into()],
            Deny,
            Layer::Access,
            "the agent main may not use find_files",
        ),
        (|w| w.tool.agent_access.clear(), Deny, Layer::Access, "the agent main may not use find_files"),
        (
            |w| (w.inputs.principal, w.tool.role_requirements) = (KNOWN, vec!["nurse".into()]),
            Deny,
            Layer::Access,
            "find_files needs the role `nurse`",
        ),
        (
            |w| {
                (w.inputs.needs, w.inputs.permissions.credentials) =
                    (vec!["bank".into()], Credentials::from_iter(["mail".into()]))
            },
            Deny,
            Layer::Access,
            "find_files uses the secret `bank`, which is not for this principal",
        ),
        (
            |w| w.inputs.permissions.own.allow = said(&["read_*"]),
            Deny,
            Layer::Access,
            "the admission does not allow find_files: no policy allows it",
        ),
        (
            |w| w.inputs.permissions.own.allow.clear(),
            Deny,
            Layer::Access,
            "the admission does not allow find_files: no policy allows it",
        ),
        (
            |w| w.inputs.permissions.own.deny = said(&["find_*"]),
            Deny,
            Layer::Access,
            "the admission does not allow find_files: `some` denies it",
        ),
        (
            |w| w.inputs.permissions.own.ceilings = said(&["calc"]),
            Deny,
            Layer::Access,
            "the admission does not allow find_files: it is beyond what `some` lets through, whoever allows it",
        ),
        (
            |w| w.inputs.permissions = everything().within(&Permissions::none()),
            Deny,
            Layer::Access,
            "the admission does not allow find_files: no policy allows it",
        ),
    ]);
}

#[test]
fn trust_and_tier() {
    check(&[
        (
            |w| (w.tool.tier, w.inputs.trust) = (Tier::WriteSafe, Trust::Hostile),
            Deny,
            Layer::Trust,
            "the caller's trust is hostile, this tier needs standard",
        ),
        (
            |w| (w.inputs.tier, w.inputs.trust) = (Tier::WriteSafe, Trust::Hostile),
            Deny,
            Layer::Trust,
            "the caller's trust is hostile, this tier needs standard",
        ),
        (
            |w| {
                (w.inputs.principal, w.tool.tier, w.inputs.trust) = (KNOWN, Tier::WriteSafe, Trust::Untrusted)
            },
            Review,
            Layer::Trust,
            "the caller's trust is untrusted, one step short of standard: a person decides",
        ),
        (
            |w| {
                (w.inputs.principal, w.tool.tier, w.inputs.trust) =
                    (Principal::Unknown, Tier::WriteSafe, Trust::Untrusted)
            },
            Deny,
            Layer::Trust,
            "the caller's trust is untrusted, this tier needs standard",
        ),
        (
            |w| w.tool.tier = Tier::WriteDestructive,
            Review,
            Layer::Tier,
            "it can destroy something, so a person confirms it first",
        ),
        (
            |w| (w.tool.tier, w.inputs.trust) = (Tier::Admin, Trust::System),
            Deny,
            Layer::Tier,
            "only the owner, acting directly, may do this; an agent never",
        ),
        (
            |w| (w.tool.tier, w.inputs.call.chosen_by) = (Tier::Admin, Chooser::Owner { confirmed: false }),
            Review,
            Layer::Tier,
            "it changes the house itself, so the owner confirms it first",
        ),
    ]);
}

/// Trust for whatever tier, so that only the policy speaks.
fn writing_unattended(w: &mut World, vpol: Vpol) {
    (w.vpol, w.tool.tier, w.inputs.trust) =
        (Some(Vpol { up_to: Tier::ReadOnly, ..vpol }), Tier::WriteSafe, Trust::System);
}

#[test]
fn policies_and_budgets() {
    check(&[
        (|w| w.vpol = None, Deny, Layer::Vpol, "the chain names no validation policy that is known"),
        (
            |w| writing_unattended(w, Vpol::DEFAULT_OTHERS),
            Review,
            Layer::Vpol,
            "default-others intercepts above read_only",
        ),
        (
            |w| writing_unattended(w, Vpol::UNATTENDED),
            Review,
            Layer::Vpol,
            "unattended wants the owner asked above read_only",
        ),
        (
            |w| w.tool.validation_mode = ValidationMode::Intercept,
            Review,
            Layer::Vpol,
            "the tool's own mode is intercept: a person looks first",
        ),
        (
            |w| w.tool.validation_mode = ValidationMode::Strict,
            Review,
            Layer::Vpol,
            "the tool's own mode is strict: the owner is asked each time",
        ),
        (
            |w| {
                w.inputs.exhausted = Some(Exhausted {
                    scope: Scope::Day,
                    unit: Unit::Money,
                    limit: 2_500_000,
                    used: 2_400_000,
                    policy: None,
                })
            },
            Deny,
            Layer::Vpol,
            "the budget of this day is used up: $2.40 of $2.50",
        ),
        (
            |w| {
                let policy = Some("careful".into());
                w.inputs.exhausted =
                    Some(Exhausted { scope: Scope::Task, unit: Unit::Calls, limit: 2, used: 2, policy })
            },
            Deny,
            Layer::Vpol,
            "the budget of this task is used up: 2 calls of 2 calls",
        ),
    ]);
}

/// The rules of one policy, and nothing else that speaks.
fn ruled(w: &mut World, rules: Rules) {
    w.vpol = Some(Vpol { rules, ..Vpol::DEFAULT_OWNER });
}

fn requires(w: &mut World, what: Requirement) {
    ruled(w, Rules { requires: vec![what], ..Rules::NONE });
}

/// Before nine on a Monday, where only Mondays from nine on are allowed.
fn early(w: &mut World) {
    let hours = When::new(vec!["mon 09:00-17:00".into()]).ok();
    ruled(w, Rules { hours, ..Rules::NONE });
    w.inputs.circumstances.local = Moment::try_from(8 * 60).ok();
}

fn twice_an_hour(w: &mut World, started: u32) {
    ruled(w, Rules { rate: "2/h".parse().ok(), ..Rules::NONE });
    w.inputs.circumstances.started = started;
}

#[test]
fn rules_of_a_validation_policy() {
    check(&[
        (early, Deny, Layer::Vpol, "default-owner allows it only at these hours: mon 09:00-17:00"),
        (
            |w| {
                early(w);
                w.inputs.circumstances.local = None;
            },
            Deny,
            Layer::Vpol,
            "default-owner allows it only at these hours: mon 09:00-17:00",
        ),
        (
            |w| {
                early(w);
                w.inputs.circumstances.local = Moment::try_from(9 * 60).ok();
            },
            Execute,
            Layer::Registered,
            "find_files is registered and switched on",
        ),
        (|w| twice_an_hour(w, 1), Execute, Layer::Registered, "find_files is registered and switched on"),
        (|w| twice_an_hour(w, 2), Deny, Layer::Vpol, "default-owner allows 2/h, and that many were started"),
        (
            |w| requires(w, Requirement::Approval),
            Review,
            Layer::Vpol,
            "default-owner wants the owner asked about every such call",
        ),
        (
            |w| requires(w, Requirement::Attended),
            Deny,
            Layer::Vpol,
            "default-owner wants somebody to sit at it, and nobody does",
        ),
        (
            |w| {
                requires(w, Requirement::Reversible);
                w.inputs.tier = Tier::WriteSafe;
            },
            Deny,
            Layer::Vpol,
            "default-owner allows only what can be taken back",
        ),
        (
            |w| {
                requires(w, Requirement::Role("nurse".into()));
                (w.inputs.principal, w.inputs.trust) = (KNOWN, Trust::Verified);
            },
            Deny,
            Layer::Vpol,
            "default-owner needs the role `nurse`",
        ),
        // What it does not govern it does not judge.
        (
            |w| {
                requires(w, Requirement::Approval);
                if let Some(vpol) = &mut w.vpol {
                    vpol.governs.tools = vec!["write_*".into()];
                }
            },
            Execute,
            Layer::Registered,
            "find_files is registered and switched on",
        ),
    ]);
}

/// Frozen is what nobody loosens while the chain runs; what the owner has tightened meanwhile counts at once.
#[test]
fn of_the_policy_then_and_the_policy_now_the_stricter_counts() {
    let (loose, strict) = (|| Vpol::DEFAULT_OWNER, Vpol::strictest);
    let table: [(Vpol, Option<Vpol>, _, _); 5] = [
        (loose(), None, Execute, "default-owner (monitor) lets it pass"),
        (loose(), Some(loose()), Execute, "default-owner (monitor) lets it pass"),
        (strict(), Some(loose()), Review, "strictest wants the owner asked about every such call"),
        (
            loose(),
            Some(strict()),
            Review,
            "strictest wants the owner asked about every such call, as the policies are now",
        ),
        (strict(), Some(strict()), Review, "strictest wants the owner asked about every such call"),
    ];
    for (then, now, answer, reason) in table {
        let world = World::bend(|w| (w.vpol, w.of_now) = (Some(then), now.map(|now| (now, 0))));
        let decision = world.decide();
        let word = decision.words.iter().find(|word| word.layer == Layer::Vpol).unwrap();
        assert_eq!((word.answer, word.reason.as_str()), (answer, reason));
    }
}

#[test]
fn whoever_is_over_a_budget_of_a_policy_is_told_which() {
    let policy = Some("careful".to_owned());
    let exhausted = Exhausted { scope: Scope::Task, unit: Unit::BytesOut, limit: 1, used: 1, policy };
    let world = World::bend(|w| w.inputs.exhausted = Some(exhausted));
    assert_eq!(
        world.decide().instead(),
        ["the owner can raise it: `budget.bytes_out` of the validation policy `careful`"]
    );
}

#[test]
fn secrets_data_and_what_leaves() {
    check(&[
        (
            |w| w.inputs.leaks = Some("github".into()),
            Deny,
            Layer::PrimeDirectives,
            "the value of the secret `github` stands in the arguments",
        ),
        (
            |w| w.inputs.permissions.data = DataLevel::None,
            Deny,
            Layer::PrimeDirectives,
            "data of the class logistics is not for this principal",
        ),
        (
            |w| {
                (w.inputs.permissions.data, w.tool.data_class) =
                    (DataLevel::Restricted, Some(DataClass::Clinical))
            },
            Deny,
            Layer::PrimeDirectives,
            "data of the class clinical is not for this principal",
        ),
        (
            |w| (w.tool.reach, w.tool.tier) = (Reach::Outside, Tier::WriteSafe),
            Review,
            Layer::PrimeDirectives,
            "no directives are built yet, so a person looks at what leaves",
        ),
        (
            |w| (w.tool.reach, w.tool.tier) = (Reach::House, Tier::WriteSafe),
            Review,
            Layer::PrimeDirectives,
            "no directives are built yet, so a person looks at what changes the house",
        ),
        (
            |w| (w.inputs.principal, w.tool.reach, w.inputs.call.subtask) = (KNOWN, Reach::Origin, None),
            Review,
            Layer::PrimeDirectives,
            "no directives are built yet, so a person looks at what leaves",
        ),
    ]);
}

#[test]
fn what_a_model_chose_and_how_much_a_tool_is_watched() {
    check(&[
        (
            |w| {
                (w.inputs.call.chosen_by, w.tool.tier) = (Chooser::Model, Tier::WriteSafe);
                w.inputs.call.args = json!({ "under": "elsewhere" });
            },
            Review,
            Layer::Provenance,
            "a model chose `under`, and the owner's request does not name it",
        ),
        (
            |w| {
                (w.inputs.call.chosen_by, w.tool.tier) = (Chooser::Model, Tier::WriteSafe);
                w.request.source = Source::System;
            },
            Review,
            Layer::Provenance,
            "a model chose `under`, and the owner's request does not name it",
        ),
        (
            |w| w.tool.execution_mode = ExecutionMode::Review,
            Review,
            Layer::Level,
            "find_files is registered to be reviewed",
        ),
        (|w| w.tool.level = Level::ReviewAll, Review, Layer::Level, "level 0: a person looks before it runs"),
        (|w| w.tool.level = Level::Sampled, Review, Layer::Level, "level 1: a person looks before it runs"),
    ]);
}
