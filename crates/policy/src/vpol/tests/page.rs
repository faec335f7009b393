//! What is shown of a policy is a file that says the same.

use proptest::prelude::{prop_assert_eq, proptest};
use proptest::test_runner::Config;

use super::super::shipped;
use super::world::set as sets;
use super::{WHOLE, set};

#[test]
fn a_policy_is_shown_as_a_file_would_say_it() {
    let shipped = shipped::defaults().unwrap().set;
    let shown = shipped.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let expected = "\
- name: unattended
  applies_to:
    attended: false
  mode: strict
  up_to: write_safe
  priority: 30
- name: default-owner
  applies_to:
    principals: [{\"is_owner\":true}]
  mode: monitor
  priority: 20
- name: default-others
  applies_to:
    principals: [{\"is_owner\":false}]
  mode: intercept
  up_to: write_safe
  priority: 10";
    assert_eq!(shown, expected);
    let whole = set(WHOLE);
    assert_eq!(set(&whole.get("whole").unwrap().to_string()), whole);
}

proptest! {
    #![proptest_config(Config { cases: 300, failure_persistence: None, ..Config::default() })]

    #[test]
    fn what_is_shown_loads_and_says_the_same(drawn in sets()) {
        // Monitor leaves every tier alone, and a file has one way to say that.
        let mut policies: Vec<_> = drawn.iter().cloned().collect();
        for listed in policies.iter_mut().filter(|listed| listed.vpol.mode == super::super::Mode::Monitor) {
            listed.vpol.up_to = domain::Tier::Admin;
        }
        let drawn = super::super::VpolSet::new(policies).unwrap();
        let text: Vec<String> = drawn.iter().map(ToString::to_string).collect();
        let loaded = set(&text.join("\n"));
        prop_assert_eq!(loaded.iter().collect::<Vec<_>>(), drawn.iter().collect::<Vec<_>>());
    }
}
