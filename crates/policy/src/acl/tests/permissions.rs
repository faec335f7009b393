//! Permissions by themselves: asked about a tool, shrunk, added to.

use super::super::permissions::{Bounds, Permissions, Said, Verdict, WhyNot};
use crate::acl::{Credentials, DataLevel};

fn said(policy: &str, tools: &[&str]) -> Said {
    Said::new(policy, tools.iter().map(|&tool| tool.to_owned()).collect())
}

fn manager() -> Permissions {
    Permissions {
        own: Bounds {
            before: Vec::new(),
            allow: vec![said("friends", &["calc", "weather_*"]), said("vip", &["shell", "calendar_*"])],
            deny: vec![said("no-shell", &["shell"])],
            ceilings: vec![said("group", &["*_read", "calc", "shell"])],
        },
        within: Vec::new(),
        credentials: Credentials::from_iter(["google".to_owned(), "github".to_owned()]),
        data: DataLevel::Restricted,
    }
}

#[test]
fn a_verdict_says_who_and_why() {
    let table = [
        ("calc", "`friends` allows it"),
        ("calendar_read", "`vip` allows it"),
        ("shell", "`no-shell` denies it"),
        ("weather_now", "it is beyond what `group` lets through, whoever allows it"),
        ("mail_read", "no policy allows it"),
    ];
    for (tool, expected) in table {
        assert_eq!(manager().may(tool).to_string(), expected, "{tool}");
    }
    assert_eq!(Permissions::none().may("calc"), Verdict::MayNot(WhyNot::NobodyAllows));
}

#[test]
fn a_worker_never_exceeds_its_manager() {
    let everything = Permissions {
        own: Bounds { allow: vec![said("worker", &["*"])], ..Bounds::default() },
        within: Vec::new(),
        credentials: Credentials::All,
        data: DataLevel::Full,
    };
    let worker = everything.within(&manager());
    for tool in ["calc", "calendar_read", "shell", "weather_now", "mail_read"] {
        assert_eq!(worker.may(tool).is_yes(), manager().may(tool).is_yes(), "{tool}");
    }
    assert_eq!((&worker.credentials, worker.data), (&manager().credentials, DataLevel::Restricted));
    assert_eq!(worker.may("shell").to_string(), "`no-shell` denies it");
    // Nor does what it spawns, whatever that asks for.
    let spawned = everything.within(&worker);
    assert!(!spawned.may("shell").is_yes());
    assert_eq!(everything.within(&Permissions::none()).may("calc"), Verdict::MayNot(WhyNot::NobodyAllows));
}

#[test]
fn a_grant_passes_no_deny_and_no_ceiling() {
    let granted = manager().and_granted("grant-7", vec!["*".into()]);
    let table = [("mail_read", true), ("shell", false), ("weather_now", false)];
    for (tool, expected) in table {
        assert_eq!(granted.may(tool).is_yes(), expected, "{tool}");
    }
    assert_eq!(granted.may("mail_read").to_string(), "`grant-7` allows it");
    let worker = granted.within(&manager());
    assert!(!worker.may("mail_read").is_yes());
}

#[test]
fn they_come_back_as_they_were_kept() {
    let kept = manager().within(&Permissions::none());
    let json = serde_json::to_string(&kept).unwrap();
    assert_eq!(serde_json::from_str::<Permissions>(&json).unwrap(), kept);
    // Nothing is not everything.
    let empty = r#"{"own":{},"credentials":[],"data":"none"}"#;
    assert_eq!(serde_json::from_str::<Permissions>(empty).unwrap(), Permissions::none());
}
