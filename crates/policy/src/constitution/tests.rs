use std::net::IpAddr;

use domain::constitution::Rule;
use domain::id::{CallId, EntityId};
use domain::principal::Principal;
use domain::source::Source;
use domain::{Tier, Trust};

use crate::acl::permissions::Said;
use crate::acl::{Credentials, DataLevel, Permissions};

use super::{Action, Answered, Answering, Behind, Hand, Privilege, Scope, Why, check};

const OWNER: Principal = Principal::Owner { entity: EntityId::from_bits(1) };
const KNOWN: Principal = Principal::Known { entity: EntityId::from_bits(2) };
const STRANGER: Principal = Principal::Unknown;
const NOBODY: &[String] = &[];

fn everything() -> Permissions {
    Permissions::allowing("all", vec!["*".into()], Credentials::All, DataLevel::Full)
}

fn denying(glob: &str) -> Permissions {
    let mut permissions = everything();
    permissions.own.deny.push(Said::new("some", vec![glob.into()]));
    permissions
}

fn capped(glob: &str) -> Permissions {
    let mut permissions = everything();
    permissions.own.ceilings.push(Said::new("some", vec![glob.into()]));
    permissions
}

fn leaked(permissions: Permissions) -> &'static Permissions {
    Box::leak(Box::new(permissions))
}

/// Facts that violate nothing, to be bent one at a time: an agent reads a file for the owner.
fn ordinary() -> Action<'static> {
    Action {
        names: vec!["read_file"],
        tier: Tier::ReadOnly,
        scope: Scope::Contained,
        hand: Hand::Other,
        answered: Answered::Nobody,
        behind: Behind { principal: Some(&OWNER), trust: Some(Trust::Operator), source: &Source::Owner },
        privilege: Privilege {
            registered: Some("read_file"),
            on: true,
            fits: true,
            agent: "main",
            agents: one("*"),
            roles: &[],
            needs_roles: &[],
            needs_credentials: &[],
            permissions: leaked(everything()),
            granted: false,
            answer: Answering::No,
        },
        unexplained: None,
        listens: &[],
    }
}

fn check_bent(bend: impl FnOnce(&mut Action<'static>)) -> Vec<(u8, Why)> {
    let mut action = ordinary();
    bend(&mut action);
    check(&action).into_iter().map(|violation| (violation.rule.number(), violation.why)).collect()
}

#[test]
fn an_ordinary_call_violates_nothing() {
    assert_eq!(check_bent(|_| {}), []);
}

#[test]
fn what_changes_the_house_is_the_owners_own() {
    use Tier::{Admin, ReadOnly, WriteSafe};
    let table = [
        ("a_tool", ReadOnly, Scope::Contained, true),
        ("a_tool", ReadOnly, Scope::House, true),
        ("a_tool", WriteSafe, Scope::Contained, true),
        ("a_tool", WriteSafe, Scope::House, false),
        ("a_tool", Admin, Scope::Contained, false),
        // Whatever their registration says.
        ("config_modify", ReadOnly, Scope::Contained, false),
        ("trust_escalate", ReadOnly, Scope::Contained, false),
    ];
    for (name, tier, scope, holds) in table {
        for hand in [Hand::Owner, Hand::Other] {
            let found = check_bent(|action| {
                (action.names, action.tier, action.scope) = (vec!["a_name", name], tier, scope);
                (action.hand, action.answered) = (hand, Answered::Person);
            });
            let violated = found.contains(&(0, Why::NotTheOwnersHand));
            assert_eq!(violated, !holds && hand == Hand::Other, "{name} {tier} {scope:?} {hand:?}");
        }
    }
}

#[test]
fn whoever_listens_does_so_on_this_machine() {
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    let here = [address("127.0.0.1"), address("::1")];
    let there = [address("127.0.0.1"), address("0.0.0.0")];
    let listening = |listens: &'static [IpAddr]| check_bent(|action| action.listens = listens);
    assert_eq!(listening(Box::leak(Box::new(here))), []);
    assert_eq!(listening(Box::leak(Box::new(there))), [(1, Why::NotLoopback(address("0.0.0.0")))]);
}

#[test]
fn what_only_content_meant_needs_an_answer() {
    use Answered::{Grant, Nobody, Person, PinnedGrant};
    // The least that answers; nothing where nobody needs to.
    let table = [
        (Tier::ReadOnly, Scope::Contained, None),
        (Tier::ReadOnly, Scope::House, None),
        (Tier::ReadOnly, Scope::Leaves, Some(PinnedGrant)),
        (Tier::WriteSafe, Scope::Contained, Some(Grant)),
        (Tier::WriteSafe, Scope::Leaves, Some(PinnedGrant)),
        (Tier::WriteDestructive, Scope::Contained, Some(PinnedGrant)),
    ];
    let why = || Why::OnlyContentMeantIt { sink: "to".into() };
    for (tier, scope, least) in table {
        for answered in [Nobody, Grant, PinnedGrant, Person] {
            let with = |hand, unexplained| {
                check_bent(|action| {
                    (action.tier, action.scope, action.answered) = (tier, scope, answered);
                    (action.hand, action.unexplained) = (hand, unexplained);
                })
            };
            let violated = with(Hand::Other, Some("to")).contains(&(2, why()));
            assert_eq!(
                violated,
                least.is_some_and(|least| answered < least),
                "{tier} {scope:?} {answered:?}"
            );
            assert!(!with(Hand::Owner, Some("to")).contains(&(2, why())), "the owner wrote it");
            assert!(!with(Hand::Other, None).contains(&(2, why())), "it is explained");
        }
    }
}

#[test]
fn nobody_clears_the_record_by_any_name() {
    for names in [vec!["audit_clear"], vec!["tidy_up", "tidy_up", "audit_clear"]] {
        for hand in [Hand::Owner, Hand::Other] {
            let found = check_bent(|action| {
                (action.names, action.hand, action.answered) = (names.clone(), hand, Answered::Person);
            });
            assert_eq!(found, [(3, Why::ClearsTheRecord)], "{names:?} {hand:?}");
        }
    }
}

#[test]
fn a_call_has_passed_what_it_has_to_pass() {
    type Bend = fn(&mut Action<'static>);
    let table: [(Bend, Option<Why>); 24] = [
        (|a| a.privilege.registered = None, Some(Why::NotRegistered)),
        (|a| a.privilege.on = false, Some(Why::SwitchedOff)),
        (|a| a.privilege.fits = false, Some(Why::WrongForm)),
        (|a| a.privilege.answer = Answering::OutOfTurn, Some(Why::OutOfTurn)),
        (|a| a.privilege.agents = NOBODY, Some(Why::NotForThisAgent)),
        (|a| a.privilege.permissions = leaked(Permissions::none()), Some(Why::BeyondTheChain)),
        (|a| (a.privilege.permissions, a.privilege.granted) = (leaked(Permissions::none()), true), None),
        (|a| a.privilege.permissions = leaked(denying("read_*")), Some(Why::BeyondTheChain)),
        (|a| a.privilege.permissions = leaked(capped("calc")), Some(Why::BeyondTheChain)),
        // Neither a denial nor a ceiling is passed by a grant, and one link that does not allow it is enough.
        (
            |a| (a.privilege.permissions, a.privilege.granted) = (leaked(denying("read_*")), true),
            Some(Why::BeyondTheChain),
        ),
        (
            |a| (a.privilege.permissions, a.privilege.granted) = (leaked(capped("calc")), true),
            Some(Why::BeyondTheChain),
        ),
        (
            |a| {
                let within = everything().within(&Permissions::none());
                (a.privilege.permissions, a.privilege.granted) = (leaked(within), true);
            },
            Some(Why::BeyondTheChain),
        ),
        (
            |a| {
                let knows = Permissions { credentials: Credentials::NONE, ..everything() };
                (a.privilege.needs_credentials, a.privilege.permissions) = (one("bank"), leaked(knows));
            },
            Some(Why::NotThisSecret),
        ),
        (|a| a.privilege.needs_credentials = one("bank"), None),
        (|a| a.privilege.needs_roles = one("nurse"), None),
        (
            |a| (a.privilege.needs_roles, a.behind) = (one("nurse"), known(Trust::Standard)),
            Some(Why::NotInThisRole),
        ),
        (|a| (a.tier, a.behind) = (Tier::WriteSafe, known(Trust::Standard)), None),
        (
            |a| (a.tier, a.behind) = (Tier::WriteSafe, known(Trust::Untrusted)),
            Some(Why::TrustTooLow { has: Trust::Untrusted, needs: Trust::Standard }),
        ),
        (
            |a| (a.tier, a.behind, a.answered) = (Tier::WriteSafe, known(Trust::Untrusted), Answered::Grant),
            None,
        ),
        (
            |a| (a.tier, a.behind, a.answered) = (Tier::WriteSafe, known(Trust::Hostile), Answered::Person),
            Some(Why::TrustTooLow { has: Trust::Hostile, needs: Trust::Standard }),
        ),
        (|a| a.tier = Tier::WriteDestructive, Some(Why::NobodyConfirmed)),
        (|a| (a.tier, a.answered) = (Tier::WriteDestructive, Answered::Grant), Some(Why::NobodyConfirmed)),
        (|a| (a.tier, a.answered) = (Tier::WriteDestructive, Answered::PinnedGrant), None),
        (
            |a| (a.tier, a.hand, a.answered) = (Tier::Admin, Hand::Owner, Answered::PinnedGrant),
            Some(Why::NobodyConfirmed),
        ),
    ];
    for (n, (bend, expected)) in table.into_iter().enumerate() {
        let found = check_bent(bend);
        assert_eq!(found, expected.map(|why| (4, why)).into_iter().collect::<Vec<_>>(), "row {n}");
    }
}

#[test]
fn somebody_stands_behind_it_and_the_message_is_not_who_says_so() {
    let source = |entity, trust| Source::Principal { entity, trust };
    let theirs = source(KNOWN.entity(), Trust::Standard);
    let nobodys = source(None, Trust::Untrusted);
    let tool = Source::Tool { call: CallId::from_bits(1), field: String::new() };
    let (yes, no) = (None, Some(Why::VouchedForByTheMessage));
    let table = [
        (Some(OWNER), Some(Trust::Operator), Source::Owner, yes.clone()),
        (Some(OWNER), Some(Trust::Operator), Source::System, yes.clone()),
        (Some(KNOWN), Some(Trust::Standard), theirs.clone(), yes.clone()),
        (Some(KNOWN), Some(Trust::Hostile), theirs.clone(), yes.clone()),
        (Some(STRANGER), Some(Trust::Untrusted), nobodys.clone(), yes),
        (None, Some(Trust::Operator), Source::Owner, Some(Why::NobodyBehindIt)),
        (Some(OWNER), None, Source::Owner, Some(Why::NobodyBehindIt)),
        (Some(OWNER), Some(Trust::Operator), Source::Model, no.clone()),
        (Some(OWNER), Some(Trust::Operator), tool, no.clone()),
        // Somebody else's words, as if they were the owner's, and the reverse.
        (Some(OWNER), Some(Trust::Operator), theirs.clone(), no.clone()),
        (Some(KNOWN), Some(Trust::Standard), Source::Owner, no.clone()),
        // More trust than they were let in with.
        (Some(KNOWN), Some(Trust::Verified), theirs, no.clone()),
        (Some(STRANGER), Some(Trust::Standard), source(None, Trust::Standard), no.clone()),
        (Some(STRANGER), Some(Trust::Standard), Source::System, no),
    ];
    for (principal, trust, source, expected) in table {
        let action = Behind { principal: principal.as_ref(), trust, source: &source };
        let found = five(action);
        assert_eq!(found, expected, "{principal:?} {trust:?} {source:?}");
    }
}

/// What rule 5 says of whoever stands behind an action.
fn five(behind: Behind<'_>) -> Option<Why> {
    let five = check(&Action { behind, ..ordinary() }).into_iter();
    five.filter(|violation| violation.rule == Rule::TrustRequired).map(|violation| violation.why).next()
}

fn known(trust: Trust) -> Behind<'static> {
    Behind { principal: Some(&KNOWN), trust: Some(trust), source: &Source::System }
}

fn one(name: &str) -> &'static [String] {
    Box::leak(Box::new([name.to_owned()]))
}

#[test]
fn a_violation_says_what_and_which_rule_and_what_would_be_allowed() {
    for rule in Rule::ALL {
        let violation = super::Violation { rule, why: Why::ClearsTheRecord };
        assert!(!violation.instead().is_empty());
        assert!(violation.to_string().ends_with(&format!("({rule})")), "{violation}");
    }
    let violation = super::Violation { rule: Rule::AuditImmutable, why: Why::ClearsTheRecord };
    assert_eq!(
        violation.to_string(),
        "the record cannot be cleared, by anybody, the owner included (rule 3, audit immutable)"
    );
}
