//! INVARIANT (layers-only-restrict), over random facts.

use domain::call::Chooser;
use domain::id::{ApprovalId, GrantId};
use domain::principal::Principal;
use domain::source::Source;
use domain::{Digest, Tier, Trust};
use policy::acl::permissions::Bounds;
use policy::acl::when::When;
use policy::acl::{Credentials, Moment, Permissions};
use policy::vpol::{Calls, Circumstances, Mode, Requirement, Rules, Vpol};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::{KNOWN, OWNER, World, said};
use crate::access::Switch;
use crate::budget::{Exhausted, Scope, Unit};
use crate::decide::gate::govern;
use crate::decide::{
    Answer, DataLevel, Decision, DecisionView, Layer, Leave, Word, decide, decide_by, layers,
};
use crate::grant::{Granted, Terms};
use crate::tool::{DataClass, ExecutionMode, Level, Reach, ToolSpec, ValidationMode};

/// Bytes that choose. Small ones choose what comes first, so a failure shrinks to the ordinary.
struct Dice<'a>(std::slice::Iter<'a, u8>);

impl Dice<'_> {
    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::from(*self.0.next().unwrap_or(&0)) % of.len()].clone()
    }

    /// Mostly the first: or everything would be denied for something.
    fn mostly<T: Clone>(&mut self, of: &[T]) -> T {
        if self.pick(&[0, 1, 2]) < 2 { of[0].clone() } else { self.pick(of) }
    }

    fn some(&mut self, of: &[&str]) -> Vec<String> {
        of.iter().filter(|_| self.pick(&[true, true, false])).map(|name| (*name).to_owned()).collect()
    }
}

const REACHES: [Reach; 4] = [Reach::Nothing, Reach::Workspace, Reach::House, Reach::Outside];
const CHOOSERS: [Chooser; 4] =
    [Chooser::Rule, Chooser::Model, Chooser::Owner { confirmed: false }, Chooser::Owner { confirmed: true }];
const MODES: [Mode; 3] = [Mode::Monitor, Mode::Intercept, Mode::Strict];
const SWITCHES: [Switch; 4] = [Switch::On, Switch::Off, Switch::OffByEnvironment, Switch::Unreadable];
const DATA: [DataLevel; 3] = [DataLevel::Full, DataLevel::Restricted, DataLevel::None];
const CLASSES: [Option<DataClass>; 3] = [None, Some(DataClass::Logistics), Some(DataClass::Pii)];

/// A grant that covers the call of this world, as far as one can.
fn granted(world: &World, by_hand: bool, exact: bool) -> Granted {
    let value = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let args = world.inputs.call.args.as_object();
    let pins = args
        .into_iter()
        .flatten()
        .map(|(name, arg)| (name.clone(), if exact { value(arg) } else { "*".to_owned() }));
    Granted {
        id: GrantId::from_bits(1),
        terms: Terms {
            tool: world.inputs.call.tool.clone(),
            nature: world.tool.nature(),
            principal: world.inputs.principal.to_string(),
            agent: world.inputs.agent.clone(),
            session: None,
            pins: pins.collect(),
            by_hand,
            reason: String::new(),
        },
    }
}

fn exhausted() -> Exhausted {
    Exhausted { scope: Scope::Task, unit: Unit::Calls, limit: 1, used: 1, policy: None }
}

fn args(dice: &mut Dice<'_>, text: &str) -> Value {
    dice.pick(&[
        json!({ "under": "docs" }),
        json!({}),
        json!({ "under": text }),
        json!({ "under": "docs", "limit": 2.0 }),
        json!({ "under": ["docs", text], "limit": { "under": true } }),
        json!({ "under": [true, null], text: null }),
        json!(text),
        json!([1, "docs"]),
        Value::Null,
    ])
}

fn world(dice: &[u8], text: &str) -> World {
    let dice = &mut Dice(dice.iter());
    World::bend(|w| {
        w.inputs.call.chosen_by = dice.pick(&CHOOSERS);
        w.inputs.call.args = args(dice, text);
        w.request.text = format!("the 2 newest of docs {}", dice.pick(&["", text]));
        w.request.source = dice.mostly(&[Source::Owner, Source::Model, Source::System]);
        w.inputs.switch = dice.mostly(&SWITCHES);
        w.inputs.form = dice.mostly(&[Ok(()), Err("no".to_owned())]);
        w.inputs.tier = dice.mostly(&Tier::ALL);
        w.inputs.principal = dice.mostly(&[OWNER, KNOWN, Principal::Unknown, Principal::System]);
        w.inputs.trust = dice.mostly(&[
            Trust::Operator,
            Trust::System,
            Trust::Verified,
            Trust::Standard,
            Trust::Untrusted,
            Trust::Hostile,
        ]);
        w.inputs.roles = dice.some(&["nurse", "clerk"]);
        w.inputs.permissions.own.allow = dice.mostly(&[said(&["*"]), said(&["find_*", "x"]), Vec::new()]);
        w.inputs.permissions.own.deny = dice.mostly(&[Vec::new(), said(&["x"]), said(&["find_*"])]);
        w.inputs.permissions.own.ceilings = dice.mostly(&[Vec::new(), said(&["*"]), said(&["x"])]);
        w.inputs.permissions.credentials =
            dice.mostly(&[Credentials::All, Credentials::from_iter(["mail".into()]), Credentials::NONE]);
        w.inputs.needs = dice.mostly(&[Vec::new(), vec!["mail".into()], vec!["bank".into(), "mail".into()]]);
        w.inputs.permissions.data = dice.mostly(&DATA);
        let (mode, up_to) = (dice.mostly(&MODES), dice.pick(&Tier::ALL));
        let vpol = Vpol { mode, up_to, rules: rules(dice), governs: governed(dice), ..Vpol::DEFAULT_OWNER };
        w.vpol = dice.mostly(&[Some(vpol), None]);
        let (mode, now) = (dice.pick(&MODES), rules(dice));
        let now = Vpol { mode, up_to, rules: now, governs: governed(dice), ..Vpol::DEFAULT_OTHERS };
        let started = u32::from(dice.pick(&[0_u8, 2]));
        w.of_now = dice.mostly(&[None, Some((now, started))]);
        w.inputs.circumstances = Circumstances {
            local: Moment::try_from(dice.mostly(&[600, 9_000])).ok(),
            started: u32::from(dice.mostly(&[0_u8, 1, 3])),
            attended: dice.mostly(&[true, false]),
            reversible: dice.mostly(&[true, false]),
        };
        w.inputs.exhausted = dice.mostly(&[None, Some(exhausted())]);
        w.inputs.leaks = dice.mostly(&[None, Some("mail".into())]);
        w.tool = ToolSpec {
            tier: dice.pick(&Tier::ALL),
            // The way back to the origin is no place on the scale from here to outside: it is the task's own.
            reach: dice.pick(&REACHES),
            level: dice.mostly(&[
                Level::Autonomous,
                Level::SpotChecked,
                Level::ReviewedAfter,
                Level::Sampled,
                Level::ReviewAll,
            ]),
            execution_mode: dice.mostly(ExecutionMode::ALL),
            validation_mode: dice.mostly(ValidationMode::ALL),
            agent_access: dice.mostly(&[vec!["*".into()], vec!["m*".into()], Vec::new()]),
            role_requirements: dice.mostly(&[Vec::new(), vec!["nurse".into()], vec!["clerk".into()]]),
            data_class: dice.pick(&CLASSES),
            sinks: dice.some(&["under", "limit"]),
            ..w.tool.clone()
        };
    })
}

/// Random facts, and bytes that choose how they are tightened.
pub(super) fn worlds() -> impl Strategy<Value = World> {
    (vec(any::<u8>(), 96), "[a-z@. ]{0,12}").prop_map(|(dice, text)| world(&dice, &text))
}

fn stricter<T: PartialEq + Copy>(order: &[T], now: T, drawn: T) -> T {
    let at = |wanted| order.iter().position(|one| *one == wanted).unwrap_or(0);
    if at(drawn) > at(now) { drawn } else { now }
}

type Tighten = fn(&mut World, &mut Dice<'_>);

/// The frozen policy and that of now, if they are there.
fn policies(w: &mut World) -> impl Iterator<Item = &mut Vpol> {
    w.vpol.as_mut().into_iter().chain(w.of_now.as_mut().map(|(vpol, _)| vpol))
}

fn rules(dice: &mut Dice<'_>) -> Rules {
    let hours = dice.mostly(&[None, When::new(vec!["mon-wed".into()]).ok()]);
    let requires = [
        Vec::new(),
        vec![Requirement::Attended],
        vec![Requirement::Reversible, Requirement::Role("nurse".into())],
        vec![Requirement::Approval],
    ];
    Rules {
        rate: dice.mostly(&[None, "1/h".parse().ok(), "3/h".parse().ok()]),
        hours,
        requires: dice.mostly(&requires),
        ..Rules::NONE
    }
}

fn governed(dice: &mut Dice<'_>) -> Calls {
    dice.mostly(&[
        Calls::ALL,
        Calls { tools: vec!["find_*".into()], ..Calls::ALL },
        Calls { tools: vec!["write_*".into()], ..Calls::ALL },
    ])
}

const TIGHTENINGS: [(&str, Tighten); 44] = [
    ("the plan forbids a tool", |w, dice| {
        w.inputs.must_not.tools.insert(dice.pick(&["find_files".to_owned(), "x".to_owned()]));
    }),
    ("the plan forbids a target", |w, dice| {
        w.inputs.must_not.targets.insert(dice.pick(&["docs".to_owned(), "x".to_owned()]));
    }),
    ("the switch is turned off", |w, dice| {
        w.inputs.switch = if w.inputs.switch == Switch::On { dice.pick(&SWITCHES) } else { w.inputs.switch }
    }),
    ("the form is wrong", |w, _| w.inputs.form = Err("no".into())),
    ("the call can do more", |w, dice| w.inputs.tier = w.inputs.tier.max(dice.pick(&Tier::ALL))),
    ("the tool can do more", |w, dice| w.tool.tier = w.tool.tier.max(dice.pick(&Tier::ALL))),
    ("less trust", |w, dice| w.inputs.trust = w.inputs.trust.min(dice.pick(&Trust::ALL))),
    ("a policy less allows", |w, _| drop(w.inputs.permissions.own.allow.pop())),
    ("a policy more denies", |w, dice| {
        w.inputs.permissions.own.deny.extend(dice.pick(&[said(&["x"]), said(&["find_files"])]));
    }),
    ("a ceiling more", |w, dice| {
        w.inputs.permissions.own.ceilings.extend(dice.pick(&[said(&["find_*"]), said(&["x"])]));
    }),
    ("it works for somebody who may less", |w, _| {
        w.inputs.permissions = w.inputs.permissions.within(&Permissions::none())
    }),
    ("a credential less", |w, _| w.inputs.permissions.credentials = Credentials::NONE),
    ("a role less", |w, _| drop(w.inputs.roles.pop())),
    ("an agent less", |w, _| drop(w.tool.agent_access.pop())),
    ("a role more is needed", |w, dice| {
        w.tool.role_requirements.push(dice.pick(&["clerk".into(), "nurse".into()]))
    }),
    ("a secret more is needed", |w, dice| w.inputs.needs.push(dice.pick(&["mail".into(), "bank".into()]))),
    ("less data", |w, dice| w.inputs.permissions.data = w.inputs.permissions.data.min(dice.pick(&DATA))),
    ("more delicate data", |w, dice| {
        w.tool.data_class = stricter(&CLASSES, w.tool.data_class, dice.pick(&CLASSES))
    }),
    ("no policy", |w, _| w.vpol = None),
    ("a stricter policy", |w, dice| {
        if let Some(vpol) = &mut w.vpol {
            vpol.mode = stricter(&MODES, vpol.mode, dice.pick(&MODES));
        }
    }),
    ("a policy that leaves less alone", |w, dice| {
        if let Some(vpol) = &mut w.vpol {
            vpol.up_to = vpol.up_to.min(dice.pick(&Tier::ALL));
        }
    }),
    ("a policy of now beside it", |w, dice| {
        let (mode, up_to) = (dice.pick(&MODES), dice.pick(&Tier::ALL));
        let now = Vpol { mode, up_to, rules: rules(dice), ..Vpol::DEFAULT_OTHERS };
        w.of_now = w.of_now.take().or(Some((now, u32::from(dice.pick(&[0_u8, 2])))));
    }),
    ("a policy of now that is stricter", |w, dice| {
        if let Some((vpol, _)) = &mut w.of_now {
            vpol.mode = stricter(&MODES, vpol.mode, dice.pick(&MODES));
        }
    }),
    ("policies that govern all", |w, _| policies(w).for_each(|vpol| vpol.governs = Calls::ALL)),
    ("policies that require more", |w, dice| {
        let more = rules(dice).requires;
        policies(w).for_each(|vpol| vpol.rules.requires.extend(more.clone()));
    }),
    ("policies with a lower rate", |w, _| {
        policies(w).for_each(|vpol| vpol.rules.rate = "1/h".parse().ok());
    }),
    ("nobody knows what time it is", |w, _| w.inputs.circumstances.local = None),
    ("nobody sits at it any more", |w, _| w.inputs.circumstances.attended = false),
    ("it cannot be taken back", |w, _| w.inputs.circumstances.reversible = false),
    ("more was started", |w, _| {
        w.inputs.circumstances.started += 2;
        if let Some((_, started)) = &mut w.of_now {
            *started += 2;
        }
    }),
    ("a stricter mode of the tool", |w, dice| {
        w.tool.validation_mode = w.tool.validation_mode.max(dice.pick(ValidationMode::ALL));
    }),
    ("a stricter mode of its calls", |w, dice| {
        w.tool.execution_mode = w.tool.execution_mode.max(dice.pick(ExecutionMode::ALL));
    }),
    ("it is watched more", |w, dice| w.tool.level = w.tool.level.min(dice.pick(&Level::ALL))),
    ("a budget is used up", |w, _| w.inputs.exhausted = Some(exhausted())),
    ("a secret leaks", |w, _| w.inputs.leaks = Some("bank".into())),
    ("the yes is taken back", |w, _| {
        if w.inputs.call.chosen_by == (Chooser::Owner { confirmed: true }) {
            w.inputs.call.chosen_by = Chooser::Owner { confirmed: false };
        }
    }),
    ("a model chose it", |w, _| w.inputs.call.chosen_by = Chooser::Model),
    ("a model said it", |w, _| w.request.source = Source::Model),
    ("another sink", |w, dice| {
        // Where nothing is declared of what leaves, everything is a sink already.
        if !w.tool.sinks.is_empty() || w.tool.reach != Reach::Outside {
            w.tool.sinks.push(dice.pick(&["under".into(), "limit".into()]));
        }
    }),
    ("nobody declared its sinks, and it leaves", |w, _| {
        (w.tool.reach, w.tool.sinks) = (Reach::Outside, Vec::new());
    }),
    ("it reaches further", |w, dice| w.tool.reach = w.tool.reach.max(dice.pick(&REACHES))),
    ("not the owner but somebody", |w, _| {
        if w.inputs.principal.is_owner() {
            w.inputs.principal = KNOWN;
        }
    }),
    ("nobody knows who", |w, _| w.inputs.principal = Principal::Unknown),
    ("an argument that nobody wrote", |w, _| {
        if let Value::Object(args) = &mut w.inputs.call.args {
            args.insert("under".into(), json!("zzz"));
        }
    }),
];

/// What a sentence puts around a name.
const MARKS: [(&str, &str); 8] = [
    ("", ""),
    ("\"", "\""),
    ("(", ")."),
    ("", ","),
    ("`", "`?"),
    ("\u{201e}", "\u{201c}"),
    ("<", ">"),
    ("", "..."),
];

/// A model that writes to this place, for an owner who said this.
fn named(place: Value, request: &str) -> World {
    World::bend(|world| {
        (world.inputs.call.chosen_by, world.tool.tier) = (Chooser::Model, Tier::WriteSafe);
        world.inputs.call.args = json!({ "under": place });
        world.request.text = request.into();
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_layer_more_never_allows_more(world in worlds(), some in 1_u16..1024, more in 0_u16..1024) {
        let asked = |mask: u16| -> Vec<_> {
            (0..).zip(layers::ALL).filter(|(bit, _)| mask & (1 << bit) != 0).map(|(_, layer)| layer).collect()
        };
        let few = decide_by(&asked(some), &world.view(&world.completed())).answer;
        let many = decide_by(&asked(some | more), &world.view(&world.completed())).answer;
        prop_assert!(few <= many && many <= world.decide().answer, "{few:?} {many:?}");
    }

    #[test]
    fn a_stricter_fact_never_allows_more(world in worlds(), dice in vec(any::<u8>(), 40)) {
        let before = world.decide().answer;
        let dice = &mut Dice(dice.iter());
        let mut all = world.clone();
        for (name, tighten) in TIGHTENINGS {
            let mut tightened = world.clone();
            tighten(&mut tightened, dice);
            let after = tightened.decide();
            prop_assert!(before <= after.answer, "{name}: {before:?} became {:?}: {tightened:#?}", after.answer);
            let one_less = all.decide().answer;
            tighten(&mut all, dice);
            prop_assert!(one_less <= all.decide().answer, "{name}, after others: {all:#?}");
        }
    }

    #[test]
    fn a_yes_turns_review_into_execute_and_nothing_else(world in worlds()) {
        let chosen = |chosen_by| {
            let mut world = world.clone();
            world.inputs.call.chosen_by = chosen_by;
            world.decide()
        };
        let [asked, confirmed] = [false, true].map(|confirmed| chosen(Chooser::Owner { confirmed }));
        prop_assert_eq!(&asked.words, &confirmed.words);
        let expected = match asked.answer {
            Answer::Review if world.inputs.principal.is_owner() => Answer::Execute,
            other => other,
        };
        prop_assert_eq!(confirmed.answer, expected);
        if !world.inputs.principal.is_owner() {
            prop_assert_eq!(confirmed, chosen(Chooser::Model), "only the owner's hand is one");
        }
    }

    /// A piece of a path, an address or a number is not the owner's, and a whole one is: for the layer, and for the gate
    /// where the layer is broken.
    #[test]
    fn only_a_whole_token_of_the_request_is_the_owners(
        names in vec("[a-z0-9._~@é-][a-z0-9._/@+-]{0,8}[a-z0-9]", 1..5),
        marks in vec(proptest::sample::select(&MARKS[..]), 5),
        which in any::<proptest::sample::Index>(),
        (start, end) in (0_usize..10, 0_usize..10),
    ) {
        let tokens = names.iter().zip(&marks).map(|(name, (before, after))| format!("{before}{name}{after}"));
        let text = tokens.collect::<Vec<_>>().join(" ");
        let name = which.get(&names);
        let passes = |value: &str| {
            let world = named(json!(value), &text);
            let broken = Decision { answer: Answer::Execute, ..decide_by(&[], &world.view(&world.completed())) };
            let gate = govern(&world.view(&world.completed()), broken);
            (world.decide().answer == Answer::Execute, gate.answer == Answer::Execute)
        };
        prop_assert_eq!(passes(name), (true, true), "{} in {}", name, text);
        let piece: String = name.chars().take(end).skip(start).collect();
        if !piece.is_empty() && !names.contains(&piece) {
            prop_assert_eq!(passes(&piece), (false, false), "{} in {}", piece, text);
        }
    }

    /// The gate never denies what the layer lets pass.
    #[test]
    fn the_gate_finds_what_the_layer_finds(
        words in r#"[ab1é.,:'"()\[\]<>$€/ -]{0,24}"#,
        (start, end) in (0_usize..24, 0_usize..24),
    ) {
        let piece: String = words.chars().take(end).skip(start).collect();
        for value in [json!(piece), serde_json::from_str(&piece).unwrap_or(Value::Null)] {
            let world = named(value, &words);
            let decision = world.decide();
            prop_assert_eq!(&*govern(&world.view(&world.completed()), decision.clone()), &decision, "{} in {}", piece, words);
        }
    }

    /// A yes to another call, or to this one with a byte of difference, is none.
    #[test]
    fn a_leave_is_for_one_fingerprint(world in worlds(), byte in 0_usize..32, bit in 0_u32..8) {
        let mut bytes = *Digest::of(b"this call").as_bytes();
        let mut world = world;
        world.inputs.fingerprint = Some(Digest::of(b"this call"));
        let without = world.decide();
        let mut with = |to| {
            world.inputs.leave = Some(Leave { approval: ApprovalId::from_bits(1), to });
            world.decide()
        };
        let yes = with(Digest::of(b"this call"));
        prop_assert_eq!(&yes.words, &without.words);
        let expected = if without.answer == Answer::Review { Answer::Execute } else { without.answer };
        prop_assert_eq!(yes.answer, expected);
        bytes[byte] ^= 1 << bit;
        prop_assert_eq!(&with(Digest::from_bytes(bytes)), &without);
        world.inputs.fingerprint = None;
        prop_assert_eq!(world.decide().answer, without.answer, "whose fingerprint nobody took has no leave");
    }

    /// A grant answers in a person's place: it turns reviews into yes, allows what no policy allows, and lifts no other no;
    /// for what can destroy something only one does that the owner wrote with the very values.
    #[test]
    fn a_grant_answers_reviews_allows_what_nobody_allows_and_nothing_else(
        world in worlds(), by_hand in any::<bool>(), exact in any::<bool>(), dice in vec(any::<u8>(), 40),
    ) {
        let without = world.decide();
        let mut with = world.clone();
        with.inputs.grants = vec![granted(&world, by_hand, exact)];
        let decision = with.decide();
        prop_assert!(decision.answer <= without.answer);
        // The one no that a grant lifts: that no policy allows the tool. Past a denial or a ceiling it never leads.
        let Bounds { deny, ceilings, .. } = &world.inputs.permissions.own;
        let shut = deny.contains(&said(&["find_*"])[0]) || ceilings.contains(&said(&["x"])[0]);
        let lifts = |word: &Word| {
            word.layer == Layer::Access && word.reason.ends_with("no policy allows it") && !shut
        };
        let denied = |word: &&Word| word.answer == Answer::Deny && !lifts(word);
        if without.words.iter().any(|word| denied(&word)) {
            prop_assert_eq!(decision.answer, Answer::Deny);
        }
        for (before, after) in without.words.iter().zip(&decision.words) {
            let review = before.answer == Answer::Review || lifts(before);
            let waived = review && after.answer == Answer::Execute;
            prop_assert!(waived || before == after);
            prop_assert!(!waived || decision.grant.is_some());
        }
        let destroys = world.inputs.tier.max(world.tool.tier) > Tier::WriteSafe;
        if destroys && !(by_hand && exact) {
            prop_assert_eq!(&decision.words, &without.words, "it names no values");
        }
        if world.tool.validation_mode == ValidationMode::Strict && without.answer == Answer::Review {
            prop_assert!(decision.answer == Answer::Review || decision.confirmed, "strict asks each time");
        }
        // For somebody else, with other values, or for another tool it is no grant at all.
        let mut other = with.clone();
        other.inputs.grants[0].terms.principal = "somebody".into();
        prop_assert_eq!(other.decide(), without.clone());
        let mut other = with.clone();
        other.inputs.grants[0].terms.agent = "another".into();
        prop_assert_eq!(other.decide(), without.clone());
        let mut other = with.clone();
        other.inputs.grants[0].terms.pins.insert("zzz".into(), "*".into());
        prop_assert_eq!(other.decide(), without);
        // With grants, too, a stricter fact never allows more. Other arguments are another call, which may be granted.
        let (before, dice) = (decision.answer, &mut Dice(dice.iter()));
        for (name, tighten) in TIGHTENINGS {
            let mut tightened = with.clone();
            tighten(&mut tightened, dice);
            let same = tightened.inputs.call.args == with.inputs.call.args;
            prop_assert!(!same || before <= tightened.decide().answer, "{}: {:#?}", name, tightened);
        }
    }

    #[test]
    fn there_is_always_a_decision_and_every_layer_speaks(world in worlds()) {
        let decision = world.decide();
        let order: Vec<_> = decision.words.iter().map(|word| word.layer).collect();
        prop_assert_eq!(order, layers::ALL.map(|(layer, _)| layer));
        for word in &decision.words {
            prop_assert!(!word.reason.is_empty());
            let helps = word.instead.as_ref().is_some_and(|instead| !instead.is_empty());
            // A no teaches. Where a person is asked, the answer is theirs.
            prop_assert!(helps || word.answer != Answer::Deny, "{}", word.reason);
            prop_assert!(!helps || word.answer != Answer::Execute, "{}", word.reason);
        }
        let strictest = decision.words.iter().map(|word| word.answer).max().unwrap();
        prop_assert!(decision.answer == strictest || (decision.confirmed && strictest == Answer::Review));
        let none = decide(&DecisionView { tool: None, ..world.view(&world.completed()) });
        prop_assert_eq!((none.answer, none.words.len()), (Answer::Deny, 1));
    }
}

/// A policy that takes a grant does not soften a tool that wants the owner each time.
#[test]
fn of_the_chains_policy_and_the_tools_own_mode_the_stricter_counts() {
    use policy::vpol::Vpol;
    let intercepts = Vpol { mode: Mode::Intercept, up_to: Tier::ReadOnly, ..Vpol::DEFAULT_OTHERS };
    let table = [
        (ValidationMode::Monitor, Answer::Execute),
        (ValidationMode::Intercept, Answer::Execute),
        (ValidationMode::Strict, Answer::Review),
    ];
    for (mode, expected) in table {
        let mut world = World::bend(|w| {
            (w.inputs.tier, w.vpol, w.tool.validation_mode) =
                (Tier::WriteSafe, Some(intercepts.clone()), mode);
        });
        assert_eq!(world.decide().answer, Answer::Review, "{mode:?}");
        world.inputs.grants = vec![granted(&world, true, true)];
        assert_eq!(world.decide().answer, expected, "{mode:?}");
    }
}

/// Random facts are of no use if everything is denied.
#[test]
fn the_random_facts_reach_every_answer() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let answers: Vec<Answer> =
        (0..2_000).map(|_| worlds().new_tree(&mut runner).unwrap().current().decide().answer).collect();
    for answer in [Answer::Execute, Answer::Review, Answer::Deny] {
        let share = answers.iter().filter(|one| **one == answer).count();
        assert!(share > 20, "{answer:?}: {share} of 2000");
    }
}
