use domain::event::ContainerKind;
use domain::id::EntityId;
use domain::principal::Principal;
use domain::{Trust, canonical};

use super::{Admission, Admitted, Asked, EntityFacts, Facts, Kind, Why};
use crate::acl::{Effect, Moment, PolicySet, Scene, shipped};
use crate::vpol;

fn shipped() -> PolicySet {
    shipped::defaults().expect("what ships is good").set
}

fn admit(facts: Facts, policies: &PolicySet) -> Admission {
    super::admit(facts, policies, &vpol::shipped::defaults().expect("what ships is good").set)
}

fn somebody(relationship: Option<&str>) -> EntityFacts {
    EntityFacts {
        id: EntityId::from_bits(2),
        is_owner: false,
        trust: None,
        kind: Kind::Person,
        name: Some("Lea".into()),
        relationship: relationship.map(Into::into),
        tags: Vec::new(),
    }
}

fn owner() -> EntityFacts {
    EntityFacts { id: EntityId::from_bits(1), is_owner: true, ..somebody(None) }
}

fn dm(platform: &str, entity: Option<EntityFacts>, verified: bool) -> Facts {
    let scene = Scene {
        platform: Some(platform.into()),
        container_kind: Some(ContainerKind::Dm),
        ..Scene::default()
    };
    Facts { adapter: platform.into(), entity, verified, scene, ..Facts::default() }
}

fn group(platform: &str, entity: Option<EntityFacts>, verified: bool) -> Facts {
    let mut facts = dm(platform, entity, verified);
    facts.scene.container_kind = Some(ContainerKind::Group);
    facts.scene.container_id = Some("g-7".into());
    facts
}

fn session(admission: &Admission) -> Option<&str> {
    admission.session.as_deref()
}

/// 03 §1 of the specification.
#[test]
fn how_far_each_kind_of_sender_is_trusted() {
    let with = |trust| EntityFacts { trust: Some(trust), ..somebody(None) };
    let hook = Facts { adapter: "webhook".into(), ..dm("webhook", None, false) };
    let agent = EntityFacts { kind: Kind::Agent, ..somebody(None) };
    let inherits = Facts { inherited: Some(Trust::Standard), ..dm("system", Some(agent.clone()), true) };
    let table = [
        ("the house itself", dm("system", None, true), Some(Trust::System)),
        ("the owner", dm("terminal", Some(owner()), true), Some(Trust::Operator)),
        (
            "the owner, set lower",
            dm("mail", Some(EntityFacts { trust: Some(Trust::Standard), ..owner() }), true),
            Some(Trust::Standard),
        ),
        (
            "nobody raises the owner to the house",
            dm("mail", Some(EntityFacts { trust: Some(Trust::System), ..owner() }), true),
            Some(Trust::Operator),
        ),
        (
            "the owner's address that anybody could use",
            dm("mail", Some(owner()), false),
            Some(Trust::Standard),
        ),
        (
            "known, by an address that was made sure of",
            dm("mail", Some(somebody(None)), true),
            Some(Trust::Verified),
        ),
        ("known", dm("mail", Some(somebody(None)), false), Some(Trust::Standard)),
        ("known, raised by the owner", dm("mail", Some(with(Trust::Verified)), false), Some(Trust::Verified)),
        (
            "known, and no further than verified",
            dm("mail", Some(with(Trust::Operator)), true),
            Some(Trust::Verified),
        ),
        ("marked hostile", dm("mail", Some(with(Trust::Hostile)), true), Some(Trust::Hostile)),
        ("nobody knows them", dm("mail", None, false), Some(Trust::Untrusted)),
        ("a webhook", hook, Some(Trust::Untrusted)),
        ("an agent, by itself", dm("system", Some(agent), true), None),
        ("an agent, for somebody", inherits, Some(Trust::Standard)),
        ("erased", Facts { lost: true, ..dm("mail", Some(owner()), true) }, None),
    ];
    for (name, facts, trust) in table {
        assert_eq!(facts.trust(), trust, "{name}");
    }
}

#[test]
fn without_trust_nobody_is_let_in_whatever_the_policies_say() {
    let everybody = "- { name: all, match: {}, effect: allow, permissions: { tools: '*' }, session: { key: all }, priority: 100 }";
    let source =
        crate::acl::load::Source { file: "all.yaml", text: everybody, origin: crate::acl::load::Origin::Own };
    let open = crate::acl::load(&[source]).expect("good").set;
    let agent = EntityFacts { kind: Kind::Agent, ..somebody(None) };
    for facts in [Facts { lost: true, ..dm("mail", Some(owner()), true) }, dm("system", Some(agent), true)] {
        let admission = admit(facts, &open);
        assert_eq!((admission.effect, admission.reasons), (Effect::Deny, vec![Why::NoTrust]));
        assert!(admission.tools.is_empty());
    }
    assert_eq!(
        admit(dm("mail", None, false), &open).effect,
        Effect::Allow,
        "trust is there, and so is the policy"
    );
}

#[test]
fn only_an_address_that_was_made_sure_of_speaks_for_the_owner() {
    let sure = admit(dm("telegram", Some(owner()), true), &shipped());
    assert_eq!(sure.principal, Principal::Owner { entity: EntityId::from_bits(1) });
    assert_eq!((sure.effect, session(&sure)), (Effect::Allow, Some("agent:main:main")));
    let forged = admit(dm("telegram", Some(owner()), false), &shipped());
    assert_eq!(forged.principal, Principal::Known { entity: EntityId::from_bits(1) });
    assert_eq!((forged.effect, session(&forged)), (Effect::Deny, None));
}

/// The precedence examples of the nexus design.
#[test]
fn a_partner_in_a_group_gets_the_groups_ceiling_and_session() {
    let partner = || Some(somebody(Some("partner")));
    let alone = admit(dm("telegram", partner(), true), &shipped());
    assert_eq!(session(&alone), Some("agent:main:partner:p-00000000000000000000000008"));
    assert!(alone.permissions.may("calendar_read").is_yes());
    let among = admit(group("telegram", partner(), true), &shipped());
    assert_eq!(session(&among), Some("agent:main:telegram:group:g-7"));
    assert!(!among.permissions.may("calendar_read").is_yes());
    assert!(among.permissions.may("web_search").is_yes());
}

#[test]
fn the_owner_in_a_group_never_lands_in_main() {
    let among = admit(group("telegram", Some(owner()), true), &shipped());
    assert_eq!((among.effect, session(&among)), (Effect::Allow, Some("agent:main:telegram:group:g-7")));
    let nameless = Facts {
        scene: Scene { container_id: None, ..group("telegram", None, true).scene },
        ..group("telegram", Some(owner()), true)
    };
    assert_eq!(admit(nameless, &shipped()).effect, Effect::Deny, "a group that nobody can name");
}

#[test]
fn an_unknown_sender_is_denied_and_the_owner_is_to_be_asked() {
    for facts in [dm("mail", None, false), group("mail", None, false)] {
        let admission = admit(facts, &shipped());
        assert_eq!(admission.effect, Effect::Deny);
        assert!(admission.pairing.is_some());
        assert_eq!(admission.reasons.first(), Some(&Why::UnknownSender));
        assert_eq!(admission.vpol, "unattended");
        assert!(admission.tools.is_empty());
    }
}

/// Whatever the policies of now allow: who was asked about it and has said no, or nothing, has not said yes.
#[test]
fn a_no_stays_a_no_and_silence_is_no_yes() {
    let partner = || dm("telegram", Some(somebody(Some("partner"))), true);
    for asked in [Asked::SaidNo, Asked::NoAnswer, Asked::TooManyWait, Asked::NotAgain] {
        let admission = admit(Facts { asked: Some(asked), ..partner() }, &shipped());
        assert_eq!((admission.effect, session(&admission)), (Effect::Deny, None), "{asked:?}");
        assert!(!admission.permissions.may("calc").is_yes(), "{asked:?}");
    }
    let yes = admit(Facts { asked: Some(Asked::SaidYes), ..partner() }, &shipped());
    assert_eq!(yes.effect, Effect::Allow);
    // And a yes is no more than one: what is denied stays so.
    let stranger = Facts { asked: Some(Asked::SaidYes), ..dm("telegram", None, false) };
    assert_eq!(admit(stranger, &shipped()).effect, Effect::Deny);
}

#[test]
fn a_policy_lowers_trust_and_never_raises_it() {
    let text = |trust| {
        format!(
            "- {{ name: all, match: {{}}, effect: allow, modifiers: {{ trust: {trust} }}, session: {{ key: all }}, priority: 1 }}"
        )
    };
    for (said, left) in [("untrusted", Trust::Untrusted), ("system", Trust::Standard)] {
        let text = text(said);
        let source =
            crate::acl::load::Source { file: "all.yaml", text: &text, origin: crate::acl::load::Origin::Own };
        let set = crate::acl::load(&[source]).expect("good").set;
        assert_eq!(admit(dm("mail", Some(somebody(None)), false), &set).trust, left, "{said}");
    }
}

/// The same moment is night in one zone and day in another; which one counts is for the caller, who knows the owner's.
#[test]
fn quiet_hours_hold_across_midnight_in_the_owners_zone() {
    let set = shipped().switched("quiet-hours", crate::acl::Switch::On).expect("it ships");
    let instant: jiff::Timestamp = "2026-01-30T00:30:00Z".parse().expect("a time");
    for (zone, quiet) in [
        ("UTC", true),
        ("Australia/Sydney", false),
        ("America/New_York", false),
        ("Asia/Kathmandu", true),
        ("America/Los_Angeles", false),
    ] {
        let zone_of = jiff::tz::TimeZone::get(zone).expect("a zone");
        let at = Some(Moment::of(instant.to_zoned(zone_of).datetime()));
        let facts = Facts { at, ..dm("telegram", Some(somebody(Some("partner"))), true) };
        let may = admit(facts, &set).permissions.may("calendar_read").is_yes();
        assert_eq!(may, !quiet, "{zone}");
    }
}

#[test]
fn roles_and_labels_are_what_the_owner_says_of_somebody() {
    let tags = vec!["role:billing".to_owned(), "vip".to_owned()];
    let facts = dm("mail", Some(EntityFacts { tags, ..somebody(Some("friend")) }), false);
    assert_eq!(facts.roles(), ["billing"]);
    let who = "known:p-00000000000000000000000008";
    assert_eq!(facts.labels(), [who, "relationship:friend", "tag:role:billing", "tag:vip"]);
    let lost = Facts { lost: true, ..facts };
    assert_eq!((lost.roles(), lost.labels()), (Vec::<String>::new(), vec!["unknown".to_owned()]));
}

/// Houses that are older than policies keep less, and houses that are older than `by` keep the bare admission.
#[test]
fn an_admission_is_read_as_it_was_kept_then_and_now() {
    let old = r#"{"effect":"allow","facts":{"adapter":"cli","entity":{"id":"p-00000000000000000000000004","is_owner":true,
        "trust":null}},"persona":"main","principal":{"entity":"p-00000000000000000000000004","kind":"owner"},
        "reasons":["owner_at_their_terminal"],"tools":["*"],"trust":"operator","vpol":"default-owner"}"#;
    let admitted: Admitted = serde_json::from_str(old).expect("an old one");
    assert_eq!(admitted.decision.reasons, [Why::OwnerAtTheirTerminal]);
    assert_eq!(admitted.by, None);
    let kept = Admitted::now(admit(dm("telegram", Some(owner()), true), &shipped()));
    let read: Admitted =
        serde_json::from_slice(&canonical::bytes(&kept).expect("canonical")).expect("a new one");
    assert_eq!(read, kept);
}
