//! The number of a piece of deciding code belongs to what it says: whoever changes the code is asked about the number.

use domain::Digest;
use domain::limits::{ATTEMPT_RETRIES, ATTEMPT_STEPS, PLAN_SUBTASKS};

macro_rules! sources {
    ($($path:literal),+ $(,)?) => { &[$(include_str!(concat!("../../../", $path))),+] };
}

/// What a journal folds to.
const ENGINE: &[&str] = sources![
    "engine/src/check.rs",
    "engine/src/files.rs",
    "engine/src/plan.rs",
    "engine/src/ggs/mod.rs",
    "engine/src/ggs/block.rs",
    "engine/src/ggs/cascade.rs",
    "engine/src/ggs/loss.rs",
    "engine/src/ggs/outcome.rs",
    "engine/src/ggs/rationale.rs",
    "engine/src/ggs/unmet.rs",
    "engine/src/task/mod.rs",
    "engine/src/task/contract.rs",
    "engine/src/task/ending.rs",
    "engine/src/task/executor.rs",
    "engine/src/task/loops.rs",
    "engine/src/task/meta.rs",
    "engine/src/task/pace.rs",
    "engine/src/task/perceiver.rs",
    "engine/src/task/planner.rs",
    "engine/src/task/solver.rs",
    "engine/src/task/step.rs",
    "engine/src/task/validator.rs",
    "domain/src/approval.rs",
    "domain/src/ask.rs",
    "domain/src/call.rs",
    "domain/src/criterion.rs",
    "domain/src/gradient.rs",
    "domain/src/megram.rs",
    "domain/src/recall.rs",
    "domain/src/task.rs",
];

/// What is left of a file when comments, blanks, tests and the number itself are taken away.
fn code(source: &str) -> String {
    let untested = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = untested.lines().map(str::trim);
    let code = lines.filter(|line| !line.starts_with("//") && !line.starts_with("pub const RULES"));
    code.flat_map(|line| line.chars().filter(|c| !c.is_whitespace())).collect()
}

fn digest(sources: &[&str], limits: &str) -> String {
    let parts: Vec<String> = sources.iter().map(|source| code(source)).chain([limits.to_owned()]).collect();
    Digest::of(parts.join("\n").as_bytes()).to_string().chars().take(16).collect()
}

/// One piece of deciding code: its number and the digest of its source, as they are and as they were written down.
struct Piece {
    name: &'static str,
    found: (u32, String),
    recorded: (u32, &'static str),
}

/// `why --recheck` holds a difference against the record only where the same rules decided: a number that was not
/// raised makes an honest change look like tampering, one that was raised for nothing makes tampering look honest.
#[test]
fn the_deciding_code_is_what_its_number_says() {
    let limits = format!("{ATTEMPT_STEPS} {ATTEMPT_RETRIES} {PLAN_SUBTASKS}");
    let table = [
        Piece {
            name: "policy::RULES",
            found: (
                policy::RULES,
                digest(
                    sources![
                        "policy/src/admit.rs",
                        "policy/src/admit/who.rs",
                        "policy/src/knock.rs",
                        "policy/src/tier.rs",
                        "policy/src/vpol/judge.rs",
                        "policy/src/vpol/mod.rs",
                        "policy/src/vpol/pick.rs",
                        "policy/src/vpol/rules.rs",
                        "policy/src/vpol/scope.rs",
                        "policy/src/vpol/set.rs",
                        "policy/src/acl/access.rs",
                        "policy/src/acl/case.rs",
                        "policy/src/acl/credentials.rs",
                        "policy/src/acl/evaluate.rs",
                        "policy/src/acl/key.rs",
                        "policy/src/acl/permissions.rs",
                        "policy/src/acl/policy.rs",
                        "policy/src/acl/set.rs",
                        "policy/src/acl/when.rs",
                        "domain/src/glob.rs",
                        "domain/src/principal.rs",
                        "domain/src/tier.rs",
                        "domain/src/trust.rs",
                    ],
                    "",
                ),
            ),
            recorded: (4, "1f11898b3f7c54ff"),
        },
        Piece {
            name: "broker::decide::RULES",
            found: (
                broker::decide::RULES,
                digest(
                    sources![
                        "broker/src/decide/mod.rs",
                        "broker/src/decide/gate/mod.rs",
                        "broker/src/decide/gate/named.rs",
                        "broker/src/decide/layers.rs",
                        "broker/src/decide/own_words.rs",
                        "broker/src/grant.rs",
                        "broker/src/decision_inputs.rs",
                        "broker/src/tool.rs",
                        "broker/src/access.rs",
                        "broker/src/budget.rs",
                        "policy/src/acl/credentials.rs",
                        "policy/src/acl/permissions.rs",
                        "policy/src/constitution/loopback.rs",
                        "policy/src/constitution/mod.rs",
                        "policy/src/constitution/privilege.rs",
                        "policy/src/constitution/violation.rs",
                        "broker/src/validation.rs",
                        "policy/src/tier.rs",
                        "policy/src/vpol/judge.rs",
                        "policy/src/vpol/mod.rs",
                        "policy/src/vpol/pick.rs",
                        "policy/src/vpol/rules.rs",
                        "policy/src/vpol/scope.rs",
                        "policy/src/vpol/set.rs",
                        "policy/src/acl/when.rs",
                        "policy/src/acl/case.rs",
                        "domain/src/budget.rs",
                        "domain/src/call.rs",
                        "domain/src/change.rs",
                        "domain/src/constitution.rs",
                        "domain/src/glob.rs",
                        "domain/src/principal.rs",
                        "domain/src/source.rs",
                        "domain/src/tier.rs",
                        "domain/src/trust.rs",
                    ],
                    "",
                ),
            ),
            recorded: (7, "1dc01311ec302ca0"),
        },
        Piece {
            name: "engine::RULES",
            found: (engine::RULES, digest(ENGINE, &limits)),
            recorded: (6, "bcad87c65d74e4b7"),
        },
    ];
    for Piece { name, found: (number, digest), recorded } in &table {
        assert_eq!(
            (*number, digest.as_str()),
            *recorded,
            "the deciding code changed: raise {name} if it can decide anything differently, and write both down here"
        );
    }
}

#[test]
fn comments_blanks_and_tests_do_not_count_and_code_does() {
    let (a, b) =
        ("// one\nfn a() { b( 1 ) }\n#[cfg(test)]\nmod tests {}", "/// two\nfn a() {\n    b(1)\n}\n");
    assert_eq!(code(a), code(b));
    assert_ne!(code(a), code("fn a() { b(2) }"));
}
