//! The gate, with layers that are broken: it refuses what they should never have let pass.

use std::net::IpAddr;

use domain::call::Chooser;
use domain::constitution::Rule;
use domain::id::ApprovalId;
use domain::principal::Principal;
use domain::source::Source;
use domain::{Digest, Tier, Trust};
use policy::acl::Credentials;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};
use serde_json::json;

use super::properties::worlds;
use super::{KNOWN, OWNER, World, said};
use crate::access::Switch;
use crate::decide::gate::{action, govern, judged};
use crate::decide::{Answer, Decision, DecisionView, Governed, Layer, Leave, decide, decide_by, layers};
use crate::decision_inputs::DecisionInputs;
use crate::tool::{ExecutionMode, Reach};

/// What the layers say when these are left out, as if they let everything pass.
fn without(broken: &[Layer], world: &World) -> Decision {
    let left: Vec<_> = layers::ALL.into_iter().filter(|(layer, _)| !broken.contains(layer)).collect();
    decide_by(&left, &world.view(&world.completed()))
}

fn governed(world: &World) -> Governed {
    govern(&world.view(&world.completed()), world.decide())
}

/// An execute that no layer gave.
fn execute() -> Decision {
    Decision {
        answer: Answer::Execute,
        words: Vec::new(),
        confirmed: false,
        grant: None,
        violated: Vec::new(),
    }
}

/// A broken layer lets it pass, and the gate does not; nor does it if everything is broken.
fn refused(rules: &[Rule], broken: &[Layer], bend: impl Fn(&mut World)) {
    let world = World::bend(bend);
    let decision = without(broken, &world);
    assert_eq!(decision.answer, Answer::Execute, "{broken:?} let it pass: {decision}");
    for decision in [decision, execute()] {
        let governed = govern(&world.view(&world.completed()), decision);
        assert_eq!((governed.answer, governed.violated.as_slice()), (Answer::Deny, rules), "{broken:?}");
        let word = governed.deciding().unwrap();
        assert_eq!(word.layer, Layer::Constitution);
        assert!(word.reason.contains(&rules[0].to_string()) && word.instead.is_some(), "{}", word.reason);
    }
}

#[test]
fn an_ordinary_call_passes_as_it_was_decided() {
    let world = World::new();
    assert_eq!(*governed(&world), world.decide());
}

#[test]
fn rule_0_holds_without_the_layers_that_keep_the_house() {
    let all = [Layer::Trust, Layer::Tier, Layer::PrimeDirectives, Layer::Provenance, Layer::Level];
    let rules = [Rule::CreatorPrimacy, Rule::LeastPrivilege];
    refused(&rules, &all, |w| (w.tool.tier, w.tool.reach) = (Tier::Admin, Reach::House));
    refused(&rules, &all, |w| (w.tool.tier, w.inputs.call.chosen_by) = (Tier::Admin, Chooser::Model));
    refused(&[Rule::CreatorPrimacy], &all, |w| (w.tool.tier, w.tool.reach) = (Tier::WriteSafe, Reach::House));
    // Somebody else's hand is not the owner's, and neither is one that is moved by what a model wrote.
    let by_hand = |w: &mut World| {
        (w.tool.tier, w.inputs.call.chosen_by) = (Tier::Admin, Chooser::Owner { confirmed: true })
    };
    let rules = [Rule::CreatorPrimacy, Rule::LeastPrivilege, Rule::TrustRequired];
    refused(&rules, &all, |w| {
        by_hand(w);
        w.inputs.principal = KNOWN;
    });
    let rules = [Rule::CreatorPrimacy, Rule::ContentIsNotCommand, Rule::LeastPrivilege, Rule::TrustRequired];
    refused(&rules, &all, |w| {
        by_hand(w);
        w.request.source = Source::Model;
    });
}

/// The owner's yes to an agent's call is not their own hand.
#[test]
fn no_yes_gets_an_agents_change_of_the_house_past_rule_0() {
    let fingerprint = Digest::of(b"this call");
    let world = World::bend(|w| {
        (w.tool.tier, w.tool.reach) = (Tier::WriteSafe, Reach::House);
        w.inputs.fingerprint = Some(fingerprint);
        w.inputs.leave = Some(Leave { approval: ApprovalId::from_bits(1), to: fingerprint });
    });
    assert_eq!(world.decide().answer, Answer::Execute, "the layers take the yes");
    assert_eq!(governed(&world).violated, [Rule::CreatorPrimacy]);
    let unasked = World { inputs: DecisionInputs { leave: None, ..world.inputs }, ..world };
    assert_eq!(unasked.decide().answer, Answer::Review);
    assert_eq!(governed(&unasked).answer, Answer::Deny, "so nobody is asked for one");
}

/// No layer looks at addresses, so every execute is one that a broken layer gave.
#[test]
fn rule_1_holds_whatever_was_decided() {
    let world = World::new();
    let inputs = world.completed();
    let facts = world.view(&inputs);
    let listening = |address: &str| {
        let listens = [address.parse::<IpAddr>().unwrap()];
        let action = policy::constitution::Action { listens: &listens, ..action(&facts) };
        let governed = judged(&action, world.decide());
        (governed.answer, governed.violated.clone())
    };
    assert_eq!(listening("127.0.0.1"), (Answer::Execute, Vec::new()));
    assert_eq!(listening("::1"), (Answer::Execute, Vec::new()));
    for address in ["0.0.0.0", "::", "192.168.0.7", "::ffff:10.0.0.1"] {
        assert_eq!(listening(address), (Answer::Deny, vec![Rule::LoopbackOnly]), "{address}");
    }
}

#[test]
fn rule_2_holds_without_provenance() {
    let broken = [Layer::Provenance, Layer::PrimeDirectives];
    let rules = [Rule::ContentIsNotCommand];
    let elsewhere = |tier, reach| {
        move |w: &mut World| {
            (w.tool.tier, w.tool.reach, w.inputs.call.chosen_by) = (tier, reach, Chooser::Model);
            w.inputs.call.args = json!({ "under": "elsewhere" });
        }
    };
    refused(&rules, &broken, elsewhere(Tier::WriteSafe, Reach::Workspace));
    refused(&rules, &broken, elsewhere(Tier::WriteSafe, Reach::Outside));
    refused(&rules, &broken, elsewhere(Tier::ReadOnly, Reach::Outside));
}

#[test]
fn rule_3_holds_for_everybody_and_with_every_yes() {
    let choosers = [Chooser::Rule, Chooser::Model, Chooser::Owner { confirmed: true }];
    let behind = json!({ "function": "audit:clear" });
    for chosen_by in choosers {
        for bend in [
            (|w| w.inputs.call.tool = "audit_clear".parse().unwrap()) as fn(&mut World),
            |w| w.tool.id = "audit_clear".parse().unwrap(),
            |w| w.tool.handler_config = json!({ "function": "audit_clear" }),
        ] {
            let world = World::bend(|w| {
                bend(w);
                w.inputs.call.chosen_by = chosen_by;
            });
            for decision in [world.decide(), execute()] {
                let governed = govern(&world.view(&world.completed()), decision);
                assert_eq!(
                    (governed.answer, governed.violated.first()),
                    (Answer::Deny, Some(&Rule::AuditImmutable))
                );
                assert!(governed.to_string().contains("rule 3, audit immutable"), "{}", *governed);
            }
        }
    }
    let world = World::bend(|w| w.tool.handler_config = behind);
    assert_eq!(governed(&world).violated, [Rule::AuditImmutable], "by another name");
    let world = World::bend(|w| w.inputs.call.tool = "audit_clear".parse().unwrap());
    let inputs = world.completed();
    let nobodys = DecisionView { tool: None, ..world.view(&inputs) };
    assert_eq!(
        govern(&nobodys, decide(&nobodys)).violated,
        [Rule::AuditImmutable],
        "even where there is none"
    );
}

#[test]
fn rule_4_holds_without_each_of_the_first_layers() {
    type Row = (Layer, fn(&mut World));
    let table: [Row; 11] = [
        (Layer::Registered, |w| w.inputs.switch = Switch::Off),
        (Layer::Registered, |w| w.inputs.switch = Switch::Unreadable),
        (Layer::Registered, |w| w.tool.execution_mode = ExecutionMode::Disabled),
        (Layer::Schema, |w| w.inputs.form = Err("no".into())),
        (Layer::Access, |w| w.inputs.permissions.own.allow.clear()),
        (Layer::Access, |w| w.inputs.permissions.own.allow = said(&["read_*"])),
        (Layer::Access, |w| w.tool.agent_access = vec!["night*".into()]),
        (Layer::Access, |w| {
            (w.inputs.needs, w.inputs.permissions.credentials) = (vec!["bank".into()], Credentials::NONE)
        }),
        (Layer::Access, |w| (w.tool.reach, w.inputs.call.subtask) = (Reach::Origin, Some(0))),
        (Layer::Trust, |w| (w.tool.tier, w.inputs.trust) = (Tier::WriteSafe, Trust::Hostile)),
        (Layer::Tier, |w| w.tool.tier = Tier::WriteDestructive),
    ];
    for (layer, bend) in table {
        refused(&[Rule::LeastPrivilege], &[layer], bend);
    }
    let world = World::new();
    let unknown = govern(&DecisionView { tool: None, ..world.view(&world.completed()) }, execute());
    assert_eq!(unknown.violated, [Rule::LeastPrivilege], "what nobody registered");
}

/// No layer asks who says so; what was let in with the message's own word is stopped here alone.
#[test]
fn rule_5_holds_where_the_message_vouches_for_itself() {
    let rules = [Rule::TrustRequired];
    refused(&rules, &[], |w| w.request.source = Source::Model);
    refused(&rules, &[], |w| w.inputs.principal = Principal::System);
    refused(&rules, &[], |w| {
        (w.inputs.principal, w.request.source) = (Principal::Unknown, Source::System);
    });
    refused(&rules, &[], |w| {
        w.request.source = Source::Principal { entity: KNOWN.entity(), trust: Trust::Standard };
    });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    /// INVARIANT (governed): nothing becomes less strict, and what is let stand is let stand as it was.
    #[test]
    fn the_gate_only_ever_makes_a_decision_stricter(world in worlds(), some in 0_u16..1024) {
        let left = (0..).zip(layers::ALL).filter(|(bit, _)| some & (1 << bit) != 0).map(|(_, layer)| layer);
        let decisions = [world.decide(), decide_by(&left.collect::<Vec<_>>(), &world.view(&world.completed())), execute()];
        for decision in decisions {
            let governed = govern(&world.view(&world.completed()), decision.clone());
            prop_assert!(governed.answer >= decision.answer);
            if governed.violated.is_empty() {
                prop_assert_eq!(&*governed, &decision);
            } else {
                prop_assert_eq!(governed.answer, Answer::Deny);
                prop_assert!(governed.words.ends_with(&decision.words), "no layer's word is lost");
                prop_assert!(governed.grant.is_none() && governed.deciding().unwrap().layer == Layer::Constitution);
            }
        }
    }

    /// Whatever the facts, and whatever is broken: if the gate lets a call run, then all of this holds.
    #[test]
    fn what_passes_the_gate_keeps_every_rule(world in worlds()) {
        let governed = govern(&world.view(&world.completed()), execute());
        if governed.answer != Answer::Execute {
            return Ok(());
        }
        let tier = world.inputs.tier.max(world.tool.tier);
        let owner = world.inputs.principal.is_owner();
        let by_hand = owner && matches!(world.inputs.call.chosen_by, Chooser::Owner { .. });
        let confirmed = owner && world.inputs.call.chosen_by == Chooser::Owner { confirmed: true };
        prop_assert!(tier != Tier::Admin || confirmed, "rule 0");
        prop_assert!(world.tool.reach != Reach::House || tier == Tier::ReadOnly || by_hand, "rule 0");
        let harmless = tier == Tier::ReadOnly && world.tool.reach != Reach::Outside;
        let explained = by_hand || world.inputs.call.chosen_by == Chooser::Rule
            || super::super::own_words::unexplained_sink(
                &world.tool, &world.inputs.call.args, super::super::own_words::of(&world.request)).is_none();
        prop_assert!(harmless || explained, "rule 2");
        prop_assert!(world.tool.id.as_str() != "audit_clear", "rule 3");
        prop_assert!(world.inputs.switch == Switch::On && world.inputs.form.is_ok(), "rule 4");
        prop_assert!(!world.inputs.permissions.own.allow.is_empty() && !world.tool.agent_access.is_empty(), "rule 4");
        prop_assert!(tier != Tier::WriteDestructive || confirmed, "rule 4");
        prop_assert!(confirmed || world.inputs.trust >= tier.needs(), "rule 4");
        prop_assert!(world.request.source != Source::Model, "rule 5");
        prop_assert!(owner || world.request.source != Source::Owner, "rule 5");
    }

    /// Where the layers are whole and the owner asks, only the house itself is looked at more strictly than they do: the
    /// gate is a second look, not another policy.
    #[test]
    fn whole_layers_are_refused_nothing_but_the_house(world in worlds()) {
        let mut world = world;
        world.inputs.principal = OWNER;
        world.request.source = Source::Owner;
        let decision = world.decide();
        let governed = govern(&world.view(&world.completed()), decision.clone());
        let house = world.tool.reach == Reach::House;
        if decision.answer != Answer::Deny && !house {
            prop_assert_eq!(&*governed, &decision);
        }
        prop_assert!(governed.violated.iter().all(|rule| *rule == Rule::CreatorPrimacy));
    }
}
