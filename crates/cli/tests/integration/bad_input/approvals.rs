//! Answers and grants that are none: refused before anything is looked at.

use crate::bad_input::usage::refused;

#[test]
fn an_answer_to_nothing_is_refused() {
    for command in ["show", "approve", "reject", "modify", "escalate", "code"] {
        refused(&["approvals", command], 2, "R2001").says(&["<ID>", "--help"]);
    }
    refused(&["approvals", "reply"], 2, "R2001").says(&["<REPLY>", "--help"]);
}

#[test]
fn a_yes_lasts_as_long_as_there_are_words_for() {
    for time in ["12h", "forever", ""] {
        let said = refused(&["approvals", "approve", "a-m3xd", "--for", time], 2, "R2001");
        said.says(&["once, 24h, always", "--help"]);
    }
}

#[test]
fn one_value_is_not_typed_for_several() {
    let args = ["approvals", "approve", "a-m3xd", "a-p2ne", "--value", "x"];
    refused(&args, 2, "R2001").says(&["nothing was decided", "approve ID --value TEXT"]);
}

#[test]
fn a_change_of_nothing_is_refused() {
    refused(&["approvals", "modify", "a-m3xd"], 2, "R2001").says(&["nothing was decided", "NAME=VALUE"]);
    refused(&["approvals", "modify", "a-m3xd", "path=x", "--args", "{}"], 2, "R2001").says(&["--args"]);
}

#[test]
fn a_grant_without_an_end_that_can_be_read_is_refused() {
    for time in ["7w", "0m", "-1h", "1.5h", "24", "", "9999d", "always!"] {
        let args = ["grants", "add", "write_file", "path=a", &format!("--for={time}")];
        refused(&args, 2, "R2001").says(&["--for"]);
    }
}

#[test]
fn a_pattern_has_a_name_and_each_name_one() {
    let said = refused(&["grants", "add", "write_file", "reports/*"], 2, "R2019");
    said.says(&[
        "`reports/*` is not of the form name=pattern",
        "nothing was granted",
        "regent tools show write_file",
    ]);
    refused(&["grants", "add", "write_file", "path=a", "path=b"], 2, "R2019")
        .says(&["`path` is given twice"]);
    refused(&["grants", "revoke"], 2, "R2001").says(&["<ID>"]);
}
