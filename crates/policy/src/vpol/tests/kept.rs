//! Policies and sets as the ledger keeps them, and as houses that are older kept them.

use domain::Tier;

use super::super::set::NotASet;
use super::super::{Listed, Mode, Vpol, VpolSet, Whose, shipped};
use super::set;

/// A house has these ids in every chain that ever ran in it.
#[test]
fn what_shipped_first_has_the_text_and_the_id_that_it_always_had() {
    let table = [
        (
            Vpol::DEFAULT_OWNER,
            r#"{"mode":"monitor","name":"default-owner","up_to":"admin"}"#,
            "v-cxm1mj3dbs0bmp65r31xk5bqyc",
        ),
        (
            Vpol::DEFAULT_OTHERS,
            r#"{"mode":"intercept","name":"default-others","up_to":"write_safe"}"#,
            "v-n45k7bjtd72d3v801mbjp6enww",
        ),
        (
            Vpol::UNATTENDED,
            r#"{"mode":"strict","name":"unattended","up_to":"write_safe"}"#,
            "v-zx9j473xacx79gdz4d0dckpb00",
        ),
    ];
    for (vpol, text, id) in table {
        assert_eq!(String::from_utf8(vpol.bytes()).unwrap(), text);
        assert_eq!(vpol.id().to_string(), id);
        assert_eq!(serde_json::from_str::<Vpol>(text).unwrap(), vpol);
    }
}

#[test]
fn what_ships_is_what_the_program_knows() {
    let loaded = shipped::defaults().unwrap();
    assert_eq!(loaded.notes, []);
    let mut known: Vec<Vpol> = Vpol::SHIPPED.to_vec();
    let mut found: Vec<Vpol> = loaded.set.iter().map(|listed| listed.vpol.clone()).collect();
    known.sort_by_key(Vpol::id);
    found.sort_by_key(Vpol::id);
    assert_eq!(found, known);
}

pub(super) const WHOLE: &str = r#"
- name: whole
  applies_to:
    principals: [{ relationship: partner }, { tags: [staff] }]
    agents: "re*"
    buckets: [billing]
    attended: true
    tools: ["invoice_*", shell]
    tiers: [write_safe, admin]
    data_classes: [finance, pii]
  mode: strict
  up_to: write_safe
  rules:
    rate: 20/h
    budget: { money: "2.50", calls: 40, time: 10m, bytes_out: 1MB, tokens: 1000 }
    hours: [weekdays 09:00-17:00, sat 10:00-12:00]
    requires: [approval, attended, reversible, role:bookkeeper]
  priority: 70
"#;

#[test]
fn every_field_comes_back_as_it_was_kept() {
    let set = set(WHOLE);
    let json = serde_json::to_string(&set).unwrap();
    let read: VpolSet = serde_json::from_str(&json).unwrap();
    assert_eq!(read, set);
    assert_eq!(read.digest().unwrap(), set.digest().unwrap());
    let vpol = &set.get("whole").unwrap().vpol;
    assert_eq!(
        String::from_utf8(vpol.bytes()).unwrap(),
        concat!(
            r#"{"governs":{"data_classes":["finance","pii"],"tiers":["write_safe","admin"],"tools":["invoice_*","shell"]},"#,
            r#""mode":"strict","name":"whole","rules":{"budget":{"bytes_out":1000000,"calls":40,"money":2500000,"#,
            r#""time":600000,"tokens":1000},"hours":["weekdays 09:00-17:00","sat 10:00-12:00"],"rate":"20/h","#,
            r#""requires":["approval","attended","reversible","role:bookkeeper"]},"up_to":"write_safe"}"#
        )
    );
    let again: Vpol = serde_json::from_slice(&vpol.bytes()).unwrap();
    assert_eq!((again.id(), &again), (vpol.id(), vpol));
}

/// Which file a policy came from is kept with it; sets of older programs do not say, and are read.
#[test]
fn a_set_knows_the_files_of_its_policies_and_what_ships_has_none() {
    let one = set(
        "- { name: a, applies_to: {}, mode: strict, priority: 1 }\n- { name: b, applies_to: {}, mode: strict, priority: 2 }",
    );
    let names: Vec<_> = one.files().keys().map(String::as_str).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(shipped::defaults().unwrap().set.files().is_empty());
    let read: VpolSet = serde_json::from_str(&serde_json::to_string(&one).unwrap()).unwrap();
    assert_eq!(read, one);
    let older = one.clone().from_files(std::collections::BTreeMap::new());
    let json = serde_json::to_string(&older).unwrap();
    assert!(!json.contains("files"), "{json}");
    assert_eq!(serde_json::from_str::<VpolSet>(&json).unwrap(), older);
    let left = one.without(&["a".to_owned(), "c".to_owned()].into());
    assert_eq!(left.iter().map(|listed| listed.vpol.name.as_ref()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(left.files().len(), 1);
}

/// Whom a policy is for and how early it is heard is how a chain comes to it, not what it says.
#[test]
fn the_id_is_of_what_a_policy_says_about_calls() {
    let policy = |more: &str, tail: &str| {
        set(&format!("- {{ name: a, applies_to: {{ {more} }}, mode: strict, priority: 1{tail} }}"))
            .get("a")
            .unwrap()
            .vpol
            .id()
    };
    let plain = policy("", "");
    assert_eq!(policy("agents: main", ""), plain);
    assert_eq!(policy("attended: true", ""), plain);
    assert_ne!(policy("tools: shell", ""), plain);
    assert_ne!(policy("", ", rules: { rate: 1/h }"), plain);
    assert_ne!(policy("", ", up_to: admin"), plain);
}

#[test]
fn what_was_not_kept_by_us_is_not_read() {
    let kept = |vpol: &str, tail: &str| format!(r#"{{"policies":[{{"vpol":{{{vpol}}}{tail}}}]}}"#);
    let plain = r#""name":"a","mode":"strict","up_to":"admin""#;
    let table = [
        (kept(plain, r#","priority":1"#), true),
        (kept(plain, r#","priority":1,"applies_to":{"attended":false}"#), true),
        (kept(plain, ""), false),
        (kept(plain, r#","priority":101"#), false),
        (kept(plain, r#","priority":1,"aplies_to":{}"#), false),
        (kept(plain, r#","priority":1,"applies_to":{"tools":["shell"]}"#), false),
        (kept(&format!(r#"{plain},"rules":{{"rate":"0/h"}}"#), r#","priority":1"#), false),
        (kept(&format!(r#"{plain},"rules":{{"hours":["noon"]}}"#), r#","priority":1"#), false),
        (kept(&format!(r#"{plain},"rules":{{"requires":["luck"]}}"#), r#","priority":1"#), false),
        (kept(&format!(r#"{plain},"rules":{{"budget":{{"coffee":1}}}}"#), r#","priority":1"#), false),
        (kept(&plain.replace(r#""a""#, r#""strictest""#), r#","priority":1"#), false),
    ];
    for (json, fits) in table {
        assert_eq!(serde_json::from_str::<VpolSet>(&json).is_ok(), fits, "{json}");
    }
    let listed = |name: &'static str, priority| Listed {
        vpol: Vpol { name: name.into(), mode: Mode::Strict, up_to: Tier::Admin, ..Vpol::DEFAULT_OWNER },
        applies_to: Whose::default(),
        priority,
    };
    let table = [
        (vec![listed("a", 1), listed("a", 2)], NotASet::Twice("a".into())),
        (vec![listed("a", 101)], NotASet::Priority("a".into())),
        (vec![listed("strictest", 1)], NotASet::Reserved("strictest".into())),
        (vec![listed("a", 1); 1_001], NotASet::TooMany(1_001)),
    ];
    for (policies, expected) in table {
        assert_eq!(VpolSet::new(policies), Err(expected));
    }
}
