use std::time::Duration;

use domain::call::{Call, Chooser};
use domain::id::{CallId, EntityId, OriginId, ReasonId, TaskId, VpolId};
use domain::principal::Principal;
use domain::source::{Source, Text};
use domain::{Tags, Tier, Trust};
use policy::vpol::Vpol;
use serde_json::json;

use super::{Answer, Facts, Layer, decide, matches};
use crate::tool::{Level, ToolSpec};

/// Facts that can be bent one at a time; as they are, the call runs.
struct World {
    call: Call,
    tool: ToolSpec,
    form: Result<(), &'static str>,
    principal: Principal,
    trust: Trust,
    allowed: Vec<String>,
    vpol: Option<Vpol>,
    request: Text,
}

impl World {
    fn new() -> Self {
        let tags = Tags {
            origin: OriginId::from_bits(1),
            reason: ReasonId::from_bits(2),
            vpol: VpolId::from_bits(3),
        };
        Self {
            call: Call {
                id: CallId::from_bits(1),
                tool: "find_files".parse().unwrap(),
                args: json!({ "under": "docs" }),
                task: TaskId::from_bits(1),
                subtask: Some(0),
                chosen_by: Chooser::Rule,
                tags,
            },
            tool: ToolSpec {
                id: "find_files".parse().unwrap(),
                description: "finds files".into(),
                tier: Tier::ReadOnly,
                level: Level::Autonomous,
                sinks: vec!["under".into()],
                idempotent: true,
                to_origin: false,
                timeout: Duration::from_secs(1),
            },
            form: Ok(()),
            principal: Principal::Owner { entity: EntityId::from_bits(1) },
            trust: Trust::Operator,
            allowed: vec!["*".into()],
            vpol: Some(Vpol::DEFAULT_OWNER),
            request: Text::new("how many files are in docs", Source::Owner),
        }
    }

    fn bend(bend: impl FnOnce(&mut Self)) -> Self {
        let mut world = Self::new();
        bend(&mut world);
        world
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            call: &self.call,
            tool: Some(&self.tool),
            form: self.form,
            principal: &self.principal,
            trust: self.trust,
            allowed: &self.allowed,
            vpol: self.vpol.as_ref(),
            request: &self.request,
        }
    }

    /// The answer and the layer that decided it.
    fn decided(&self) -> (Answer, Layer) {
        let decision = decide(&self.facts());
        (decision.answer, decision.deciding().unwrap().layer)
    }
}

#[test]
fn a_tool_that_is_not_there_is_denied() {
    let world = World::new();
    let decision = decide(&Facts { tool: None, ..world.facts() });
    assert_eq!(
        (decision.answer, decision.to_string().as_str()),
        (Answer::Deny, "there is no tool `find_files`")
    );
}

#[test]
fn each_layer_can_stop_a_call_and_says_so() {
    use Answer::{Deny, Review};
    let table = [
        (World::bend(|w| w.form = Err("`under` is missing")), (Deny, Layer::Schema)),
        (World::bend(|w| w.allowed = vec!["read_*".into()]), (Deny, Layer::Access)),
        (World::bend(|w| w.allowed.clear()), (Deny, Layer::Access)),
        (World::bend(|w| (w.tool.tier, w.trust) = (Tier::WriteSafe, Trust::Hostile)), (Deny, Layer::Trust)),
        (World::bend(|w| w.tool.tier = Tier::WriteDestructive), (Review, Layer::Tier)),
        (World::bend(|w| (w.tool.tier, w.trust) = (Tier::Admin, Trust::System)), (Deny, Layer::Tier)),
        (World::bend(|w| w.vpol = None), (Deny, Layer::Vpol)),
        (World::bend(|w| w.tool.tier = Tier::WriteSafe), (Review, Layer::PrimeDirectives)),
        (World::bend(|w| w.tool.level = Level::ReviewAll), (Review, Layer::Level)),
        (World::bend(|w| w.tool.level = Level::Sampled), (Review, Layer::Level)),
    ];
    for (world, expected) in table {
        assert_eq!(world.decided(), expected);
    }
}

#[test]
fn an_ordinary_reading_call_runs_and_every_layer_is_on_record() {
    let world = World::new();
    let decision = decide(&world.facts());
    assert_eq!((decision.answer, decision.words.len()), (Answer::Execute, 10));
    assert!(decision.words.iter().all(|word| !word.reason.is_empty()));
}

#[test]
fn what_a_model_chose_must_stand_in_the_owners_own_words() {
    let by_model = |under: &str, source: Source| {
        World::bend(|w| {
            w.call.chosen_by = Chooser::Model;
            w.call.args = json!({ "under": under });
            w.request.source = source;
        })
        .decided()
    };
    assert_eq!(by_model("docs", Source::Owner).0, Answer::Execute);
    assert_eq!(by_model("secrets", Source::Owner), (Answer::Review, Layer::Provenance));
    assert_eq!(
        by_model("docs", Source::Model),
        (Answer::Review, Layer::Provenance),
        "restating does not launder"
    );
}

/// What is kept of 2.0 is 2: the decision must not depend on which of them it looks at.
#[test]
fn a_number_counts_as_it_is_kept() {
    let by_model = |args| {
        World::bend(|w| {
            w.call.chosen_by = Chooser::Model;
            w.call.args = args;
            w.request.text = "no more than 2 of docs".into();
        })
        .decided()
    };
    assert_eq!(by_model(json!({ "under": 2 })).0, Answer::Execute);
    assert_eq!(by_model(json!({ "under": 2.0 })).0, Answer::Execute);
    assert_eq!(by_model(json!({ "under": 2.5 })), (Answer::Review, Layer::Provenance));
}

#[test]
fn the_owners_own_answer_passes_and_anybody_elses_is_looked_at() {
    let deliver = |principal: Principal| {
        World::bend(|w| {
            (w.tool.tier, w.tool.level, w.tool.to_origin) = (Tier::WriteSafe, Level::ReviewedAfter, true);
            w.principal = principal;
        })
        .decided()
    };
    assert_eq!(deliver(Principal::Owner { entity: EntityId::from_bits(1) }).0, Answer::Execute);
    assert_eq!(deliver(Principal::Unknown), (Answer::Review, Layer::PrimeDirectives));
}

/// Nobody is asked about a call that would be denied anyway.
#[test]
fn deny_beats_review() {
    let world = World::bend(|w| (w.tool.level, w.allowed) = (Level::ReviewAll, Vec::new()));
    assert_eq!(world.decided(), (Answer::Deny, Layer::Access));
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
    ];
    for (glob, id, expected) in table {
        assert_eq!(matches(glob, id), expected, "{glob}");
    }
}
