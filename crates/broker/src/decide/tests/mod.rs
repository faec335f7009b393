mod gate;
mod properties;
mod table;

use std::sync::LazyLock;

use domain::call::{Call, Chooser};
use domain::change::{Change, Standing};
use domain::id::{CallId, EntityId, GrantId, OriginId, ReasonId, TaskId, VpolId};
use domain::principal::Principal;
use domain::source::{Source, Text};
use domain::task::MustNot;
use domain::{Digest, Tags, Tier, Trust};
use policy::acl::permissions::Said;
use policy::acl::{Credentials, Permissions};
use policy::vpol::{Circumstances, Vpol};
use serde_json::json;

use super::{Answer, DataLevel, Decision, DecisionView, Layer, decide, matches};
use crate::access::Switch;
use crate::decision_inputs::DecisionInputs;
use crate::grant::{Granted, Terms};
use crate::tool::{Level, Reach, ToolSpec};
use crate::validation::{OfNow, Policies};

const OWNER: Principal = Principal::Owner { entity: EntityId::from_bits(1) };
const KNOWN: Principal = Principal::Known { entity: EntityId::from_bits(2) };

/// DecisionView that can be bent one at a time; as they are, the call runs.
#[derive(Clone, Debug)]
struct World {
    inputs: DecisionInputs,
    tool: ToolSpec,
    vpol: Option<Vpol>,
    of_now: Option<(Vpol, u32)>,
    request: Text,
}

/// All that anybody can be allowed.
fn everything() -> Permissions {
    Permissions::allowing("all", vec!["*".into()], Credentials::All, DataLevel::Full)
}

/// These globs, by a policy of this name.
fn said(globs: &[&str]) -> Vec<Said> {
    vec![Said::new("some", globs.iter().map(|glob| (*glob).to_owned()).collect())]
}

fn labels(principal: &Principal) -> &'static [String] {
    static LABELS: LazyLock<Vec<(Principal, Vec<String>)>> = LazyLock::new(|| {
        let all = [OWNER, KNOWN, Principal::Unknown, Principal::System];
        all.map(|principal| (principal.clone(), vec![principal.to_string()])).into()
    });
    LABELS.iter().find(|(known, _)| known == principal).map_or(&[], |(_, labels)| labels)
}

impl World {
    fn new() -> Self {
        let tags = Tags {
            origin: OriginId::from_bits(1),
            reason: ReasonId::from_bits(2),
            vpol: VpolId::from_bits(3),
        };
        let id = || "find_files".parse().unwrap();
        let call = Call {
            id: CallId::from_bits(1),
            tool: id(),
            args: json!({ "under": "docs" }),
            task: TaskId::from_bits(1),
            subtask: Some(0),
            chosen_by: Chooser::Rule,
            tags,
        };
        let request = Text::new("how many files are in docs", Source::Owner);
        Self {
            inputs: DecisionInputs {
                call,
                tool: None,
                switch: Switch::On,
                form: Ok(()),
                tier: Tier::ReadOnly,
                agent: "main".into(),
                principal: OWNER,
                trust: Trust::Operator,
                roles: Vec::new(),
                labels: Vec::new(),
                permissions: everything(),
                needs: Vec::new(),
                vpol: None,
                of_now: None,
                circumstances: Circumstances::default(),
                exhausted: None,
                leaks: None,
                request: Digest::of(request.text.as_bytes()),
                source: request.source.clone(),
                session: "s".into(),
                grants: Vec::new(),
                changes: None,
                place: None,
                fingerprint: None,
                leave: None,
                must_not: MustNot::default(),
            },
            tool: ToolSpec {
                sinks: vec!["under".into()],
                input_schema: json!({ "properties": { "under": {}, "limit": {} }, "required": ["under"] }),
                ..ToolSpec::shipped(id(), "finds files", Tier::ReadOnly)
            },
            vpol: Some(Vpol::DEFAULT_OWNER),
            of_now: None,
            request,
        }
    }

    fn bend(bend: impl FnOnce(&mut Self)) -> Self {
        let mut world = Self::new();
        bend(&mut world);
        world
    }

    /// The same, with the labels of its principal and with what of the policy of now is counted.
    fn completed(&self) -> DecisionInputs {
        DecisionInputs {
            labels: labels(&self.inputs.principal).to_vec(),
            of_now: self
                .of_now
                .as_ref()
                .map(|(vpol, started)| OfNow { rules: Digest::of(&vpol.bytes()), started: *started }),
            ..self.inputs.clone()
        }
    }

    fn view<'a>(&'a self, inputs: &'a DecisionInputs) -> DecisionView<'a> {
        let of_now = self.of_now.as_ref().map(|(vpol, _)| vpol);
        let policies = Policies { frozen: self.vpol.as_ref(), of_now };
        DecisionView { inputs, tool: Some(&self.tool), policies, request: &self.request }
    }

    fn decide(&self) -> Decision {
        decide(&self.view(&self.completed()))
    }

    /// The answer and the layer that decided it.
    fn decided(&self) -> (Answer, Layer) {
        let decision = self.decide();
        (decision.answer, decision.deciding().unwrap().layer)
    }
}

#[test]
fn a_tool_that_is_not_there_is_denied() {
    let world = World::new();
    let decision = decide(&DecisionView { tool: None, ..world.view(&world.completed()) });
    assert_eq!(
        (decision.answer, decision.to_string().as_str(), decision.instead().len()),
        (Answer::Deny, "there is no tool `find_files`", 1)
    );
}

#[test]
fn an_ordinary_reading_call_runs_and_every_layer_is_on_record() {
    let decision = World::new().decide();
    assert_eq!((decision.answer, decision.words.len()), (Answer::Execute, 10));
    assert!(decision.words.iter().all(|word| !word.reason.is_empty()));
}

/// A call that a model chose, of a tool that may write in the workspace.
fn by_model(bend: impl FnOnce(&mut World)) -> (Answer, Layer) {
    World::bend(|w| {
        w.inputs.call.chosen_by = Chooser::Model;
        w.tool.tier = Tier::WriteSafe;
        bend(w);
    })
    .decided()
}

#[test]
fn what_a_model_chose_must_stand_in_the_owners_own_words() {
    let under = |under: &str, source: Source| {
        by_model(|w| {
            w.inputs.call.args = json!({ "under": under });
            w.request.source = source;
        })
    };
    assert_eq!(under("docs", Source::Owner).0, Answer::Execute);
    assert_eq!(under("secrets", Source::Owner), (Answer::Review, Layer::Provenance));
    assert_eq!(
        under("docs", Source::Model),
        (Answer::Review, Layer::Provenance),
        "restating does not launder"
    );
}

/// A model that writes under a name that other programs obey: even where the owner wrote that name.
#[test]
fn a_dot_name_is_always_asked_about() {
    let file = || Standing::Link { to: "x".into() };
    let table = [
        (".profile", Standing::Nothing, file(), Answer::Review),
        ("docs/.env", Standing::Nothing, file(), Answer::Review),
        (".git/hooks/pre-commit", file(), file(), Answer::Review),
        ("docs/a.b", Standing::Nothing, file(), Answer::Execute),
        // What is taken away obeys the other rules.
        (".profile", file(), Standing::Nothing, Answer::Execute),
    ];
    for (path, from, to, expected) in table {
        for (chooser, expected) in [
            (Chooser::Model, expected),
            (Chooser::Rule, expected),
            (Chooser::Owner { confirmed: false }, Answer::Execute),
        ] {
            let (answer, layer) = by_model(|w| {
                w.inputs.call.chosen_by = chooser;
                w.inputs.call.args = json!({ "under": path });
                w.request.text = format!("write {path}");
                w.inputs.changes = Some(Change::new(path.into(), from.clone(), to.clone()).into());
            });
            assert_eq!(answer, expected, "{path} by {chooser:?}: {layer:?}");
        }
    }
}

/// What is kept of 2.0 is 2: the decision must not depend on which of them it looks at.
#[test]
fn a_number_counts_as_it_is_kept() {
    let under = |args| {
        by_model(|w| {
            w.inputs.call.args = args;
            w.request.text = "no more than 2 of docs".into();
        })
    };
    assert_eq!(under(json!({ "under": 2 })).0, Answer::Execute);
    assert_eq!(under(json!({ "under": 2.0 })).0, Answer::Execute);
    assert_eq!(under(json!({ "under": 2.5 })), (Answer::Review, Layer::Provenance));
}

/// Containment explains: what only reads here, and what may be written in the workspace.
#[test]
fn what_stays_in_the_workspace_is_let_pass() {
    let elsewhere = |tier, reach| {
        by_model(|w| {
            (w.tool.tier, w.tool.reach) = (tier, reach);
            w.inputs.call.args = json!({ "under": "elsewhere" });
        })
    };
    assert_eq!(elsewhere(Tier::ReadOnly, Reach::Workspace).0, Answer::Execute);
    assert_eq!(elsewhere(Tier::ReadOnly, Reach::Nothing).0, Answer::Execute);
    assert_eq!(elsewhere(Tier::WriteSafe, Reach::Workspace), (Answer::Review, Layer::Provenance));
    let undeclared = by_model(|w| {
        w.tool.sinks.clear();
        w.inputs.call.args = json!({ "under": "elsewhere" });
    });
    assert_eq!(undeclared.0, Answer::Execute);
}

/// Nothing leaves that the owner did not write; whatever else is an argument leaves too.
#[test]
fn what_only_reads_outside_needs_every_argument_in_the_owners_words() {
    let read = |bend: fn(&mut World)| {
        by_model(|w| {
            (w.tool.tier, w.tool.reach) = (Tier::ReadOnly, Reach::Outside);
            bend(w);
        })
    };
    let reviewed = (Answer::Review, Layer::PrimeDirectives);
    assert_eq!(read(|_| {}).0, Answer::Execute);
    assert_eq!(read(|w| w.tool.sinks.clear()).0, Answer::Execute);
    assert_eq!(read(|w| w.inputs.call.args = json!({ "under": "elsewhere" })), reviewed);
    assert_eq!(read(|w| w.inputs.call.args = json!({ "under": "docs", "limit": "s3cret" })), reviewed);
    assert_eq!(read(|w| w.inputs.call.args = json!({ "under": "docs", "s3cret": null })), reviewed);
    assert_eq!(read(|w| w.tool.tier = Tier::WriteSafe), reviewed);
    assert_eq!(read(|w| w.inputs.tier = Tier::WriteSafe), reviewed, "this very call writes");
    assert_eq!(read(|w| w.request.source = Source::Model), reviewed);
    assert_eq!(read(|w| w.inputs.principal = KNOWN), reviewed);
}

#[test]
fn the_owners_own_answer_passes_and_anybody_elses_is_looked_at() {
    let deliver = |principal: Principal| {
        World::bend(|w| {
            (w.tool.tier, w.tool.level) = (Tier::WriteSafe, Level::ReviewedAfter);
            (w.tool.reach, w.inputs.trust) = (Reach::Origin, Trust::Standard);
            (w.inputs.principal, w.inputs.call.subtask) = (principal, None);
        })
        .decided()
    };
    assert_eq!(deliver(OWNER).0, Answer::Execute);
    assert_eq!(deliver(Principal::Unknown), (Answer::Review, Layer::PrimeDirectives));
}

/// Nobody but the task itself says what the owner is told: no model, no subtask, no hand.
#[test]
fn only_a_task_hands_its_result_back() {
    let deliver = |bend: fn(&mut World)| {
        let world = World::bend(|w| {
            (w.tool.reach, w.inputs.call.subtask) = (Reach::Origin, None);
            bend(w);
        });
        world.decided()
    };
    assert_eq!(deliver(|_| {}).0, Answer::Execute);
    let denied = (Answer::Deny, Layer::Access);
    assert_eq!(deliver(|w| w.inputs.call.subtask = Some(0)), denied);
    assert_eq!(deliver(|w| w.inputs.call.chosen_by = Chooser::Model), denied);
    assert_eq!(deliver(|w| w.inputs.call.chosen_by = Chooser::Owner { confirmed: true }), denied);
}

/// The owner's own hand: what it is asked about is only what it has to confirm.
#[test]
fn the_owners_own_hand() {
    use Answer::{Deny, Execute, Review};
    let by_hand = |tier, reach, confirmed| {
        World::bend(|w| {
            (w.tool.tier, w.tool.reach) = (tier, reach);
            w.tool.execution_mode = ToolSpec::usual_mode(tier);
            w.tool.level = Level::ReviewAll;
            w.inputs.call.args = json!({ "under": "not in the request" });
            w.inputs.call.chosen_by = Chooser::Owner { confirmed };
        })
    };
    let table = [
        (Tier::ReadOnly, Reach::Outside, Execute),
        (Tier::WriteSafe, Reach::Outside, Execute),
        (Tier::WriteDestructive, Reach::Workspace, Review),
        (Tier::Admin, Reach::House, Review),
    ];
    for (tier, reach, expected) in table {
        assert_eq!(by_hand(tier, reach, false).decide().answer, expected, "{tier}");
        assert_eq!(by_hand(tier, reach, true).decide().answer, Execute, "{tier}");
        let mut somebody = by_hand(tier, reach, true);
        somebody.inputs.principal = KNOWN;
        assert_eq!(somebody.decide().answer, if tier == Tier::Admin { Deny } else { Review }, "{tier}");
    }
}

/// Nobody is asked about a call that would be denied anyway.
#[test]
fn deny_beats_review() {
    let world =
        World::bend(|w| (w.tool.level, w.inputs.permissions) = (Level::ReviewAll, Permissions::none()));
    assert_eq!(world.decided(), (Answer::Deny, Layer::Access));
}

/// A grant adds to what policies allow, and passes no denial, no ceiling and nobody above.
#[test]
fn what_is_granted_is_allowed_and_never_past_a_denial_or_a_ceiling() {
    let granted = |bend: fn(&mut World)| {
        let mut world =
            World::bend(|w| (w.inputs.principal, w.inputs.permissions.own.allow) = (KNOWN, Vec::new()));
        world.inputs.grants.push(Granted {
            id: GrantId::from_bits(7),
            terms: Terms {
                tool: world.inputs.call.tool.clone(),
                nature: world.tool.nature(),
                principal: KNOWN.to_string(),
                agent: "main".into(),
                session: None,
                pins: [("under".to_owned(), "docs".to_owned())].into(),
                by_hand: true,
                reason: String::new(),
            },
        });
        bend(&mut world);
        world.decide()
    };
    let decision = granted(|_| ());
    assert_eq!((decision.answer, decision.grant), (Answer::Execute, Some(GrantId::from_bits(7))));
    type Bend = fn(&mut World);
    let table: [(&str, Bend); 6] = [
        ("for somebody else", |w| w.inputs.principal = Principal::Unknown),
        ("for another value", |w| w.inputs.call.args = json!({ "under": "secret" })),
        ("denied", |w| w.inputs.permissions.own.deny = said(&["find_*"])),
        ("beyond a ceiling", |w| w.inputs.permissions.own.ceilings = said(&["calc"])),
        ("beyond whoever it works for", |w| {
            w.inputs.permissions = w.inputs.permissions.within(&Permissions::none())
        }),
        ("not there", |w| w.inputs.grants.clear()),
    ];
    for (name, bend) in table {
        let decision = granted(bend);
        assert_eq!((decision.answer, decision.grant), (Answer::Deny, None), "{name}");
    }
}

#[test]
fn globs_over_tool_ids() {
    let table = [
        ("*", "find_files", true),
        ("find_files", "find_files", true),
        ("find_*", "find_files", true),
        ("*_files", "find_files", true),
        ("f*_f*s", "find_files", true),
        ("find", "find_files", false),
        ("read_*", "find_files", false),
        ("", "find_files", false),
        ("*ab", "a", false),
        ("a*a", "a", false),
        ("**", "", true),
    ];
    for (glob, id, expected) in table {
        assert_eq!(matches(glob, id), expected, "{glob}");
    }
}
