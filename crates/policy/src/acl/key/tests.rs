use domain::event::ContainerKind;

use super::{Key, NoKey, NotAKey, Variable, without_a_policy};
use crate::acl::case::{Case, Scene, Who};
use crate::acl::limits::KEY_BYTES;

fn lea() -> Case {
    Case {
        principal: Who {
            name: Some("Lea".into()),
            relationship: Some("partner".into()),
            ..Who::known("p-1")
        },
        event: Scene {
            platform: Some("discord".into()),
            container_kind: Some(ContainerKind::Dm),
            container_id: Some("c-1".into()),
            account: Some("home".into()),
            guild: Some("g-1".into()),
            ..Scene::default()
        },
        now: None,
    }
}

fn render(template: &str, case: &Case) -> Result<String, NoKey> {
    Key::new(template).unwrap().render(case)
}

#[test]
fn variables_are_filled_in() {
    let table = [
        ("main", "main"),
        ("partner:{principal.name}", "partner:Lea"),
        ("{principal.id}{principal.relationship}", "p-1partner"),
        ("{platform}:{account}:{guild}:{container_id}!", "discord:home:g-1:c-1!"),
    ];
    for (template, expected) in table {
        assert_eq!(render(template, &lea()).as_deref(), Ok(expected), "{template}");
    }
}

/// Nobody gets into another session by what they, or their group, are called.
#[test]
fn what_separates_the_parts_of_a_key_is_written_out() {
    let called = |container: &str| {
        let mut case = lea();
        case.event.container_id = Some(container.into());
        case
    };
    let table = [
        ("partner:p-2", "partner%3Ap-2"),
        ("!room:home.example", "!room%3Ahome.example"),
        ("100%", "100%25"),
        (" main", "%20main"),
        ("a\u{202e}b", "a%E2%80%AEb"),
        ("läa", "läa"),
    ];
    for (container, expected) in table {
        assert_eq!(render("{container_id}", &called(container)).as_deref(), Ok(expected), "{container}");
    }
    let mut group = called("x:group:y");
    group.event.container_kind = Some(ContainerKind::Group);
    assert_eq!(without_a_policy(&group).as_deref(), Ok("discord:group:x%3Agroup%3Ay"));
}

#[test]
fn a_template_says_what_is_wrong_with_it() {
    let table = [
        ("", NotAKey::Empty),
        ("{name}", NotAKey::NoVariable("name".into())),
        ("{}", NotAKey::NoVariable(String::new())),
        ("{ platform }", NotAKey::NoVariable(" platform ".into())),
        ("a{platform", NotAKey::Unbalanced),
        ("a}b", NotAKey::Unbalanced),
        ("{{platform}}", NotAKey::NoVariable("{platform".into())),
        ("{platform}}", NotAKey::Unbalanced),
    ];
    for (template, expected) in table {
        assert_eq!(Key::new(template), Err(expected), "{template}");
    }
}

#[test]
fn what_is_missing_or_empty_is_never_an_empty_key() {
    let mut case = lea();
    case.event.guild = None;
    assert_eq!(render("{guild}", &case), Err(NoKey::Without(Variable::Guild)));
    case.event.guild = Some(String::new());
    assert_eq!(render("x:{guild}", &case), Err(NoKey::Without(Variable::Guild)));
}

#[test]
fn nobody_gets_into_the_owners_session_by_their_name() {
    let mut case = lea();
    case.principal.name = Some("main".into());
    assert_eq!(render("{principal.name}", &case), Err(NoKey::Main));
    case.principal.name = Some("in".into());
    assert_eq!(render("ma{principal.name}", &case), Err(NoKey::Main));
    assert_eq!(render("main", &case).as_deref(), Ok("main"));
    case.event.container_kind = Some(ContainerKind::Group);
    assert_eq!(render("main", &case), Err(NoKey::MainInAGroup));
}

#[test]
fn an_endless_name_makes_no_key() {
    let mut case = lea();
    case.principal.name = Some("x".repeat(KEY_BYTES));
    assert_eq!(render("{principal.name}", &case).map(|key| key.len()), Ok(KEY_BYTES));
    assert_eq!(render("a{principal.name}", &case), Err(NoKey::TooLong));
}

#[test]
fn without_a_policy_only_the_owners_direct_messages_are_main() {
    let case = |who: Who, kind| Case {
        principal: who,
        event: Scene { container_kind: kind, ..lea().event },
        now: None,
    };
    let (dm, group) = (Some(ContainerKind::Dm), Some(ContainerKind::Group));
    let table = [
        (case(Who::owner("o-1"), dm), Ok("main")),
        (case(Who::owner("o-1"), group), Ok("discord:group:c-1")),
        (case(Who::owner("o-1"), None), Ok("discord:dm:o-1")),
        (case(Who::known("p-1"), dm), Ok("discord:dm:p-1")),
        (case(Who::known("p-1"), group), Ok("discord:group:c-1")),
        (case(Who::unknown(), dm), Err(NoKey::Without(Variable::PrincipalId))),
    ];
    for (case, expected) in table {
        assert_eq!(without_a_policy(&case).as_deref().map_err(|why| *why), expected, "{case:?}");
    }
}
