//! A registered tool can do no more than the function behind it.

use broker::{Answer, Layer, Level, NotRegistered, Reach, Registration, Registry, ToolSpec};
use domain::Tier;
use serde_json::{Value, json};

use crate::door::world::{World, call, registry};

/// A registration of `writes`, with these fields besides.
fn register(besides: Value) -> Result<Registry, NotRegistered> {
    let mut whole = json!({
        "tool_id": "mine", "description": "for a test",
        "handler_config": { "function": "writes", "fixed": { "path": "a.txt" } },
    });
    whole.as_object_mut().unwrap().extend(besides.as_object().unwrap().clone());
    let registration: Registration = serde_json::from_value(whole).unwrap();
    let all = registry();
    let spec = registration.spec(&all)?;
    all.register(spec)
}

#[test]
fn what_is_wrong_with_a_registration_is_said() {
    let table = [
        (
            json!({ "tool_id": "works" }),
            "`works` ships with the program; it can be switched off, and its level set, but not replaced",
        ),
        (
            json!({ "handler_type": "http" }),
            "handlers of the type http come with the sandbox; only `function` works yet",
        ),
        (
            json!({ "handler_config": { "function": "nothing" } }),
            "there is no function `nothing`; a function is the id of a tool that ships with the program",
        ),
        (
            json!({ "handler_config": {} }),
            "there is no function ``; a function is the id of a tool that ships with the program",
        ),
        (
            json!({ "handler_config": { "function": "writes", "fxed": {} } }),
            "`handler_config` takes `function` and `fixed`: unknown field `fxed`, expected `function` or `fixed`",
        ),
        (
            json!({ "tier": "read_only" }),
            "it does what writes does, so its tier cannot be lower than write_safe",
        ),
        (
            json!({ "tool_id": "delete_file" }),
            "it does what writes does, so its tier cannot be lower than write_destructive",
        ),
        (json!({ "idempotent": true }), "writes may not run twice, so neither may this"),
        (json!({ "reach": "nothing" }), "its effects reach as far as those of writes: workspace"),
        (json!({ "output_trust": "system" }), "it says less than writes does: `output_trust`"),
        (
            json!({ "authorship": { "text": "owner" } }),
            "it says less than writes does: `authorship` of `text`",
        ),
        (json!({ "timeout_seconds": u64::MAX }), "a call may take more than nothing, and at most a day"),
        (
            json!({ "input_schema": { "type": "objct" } }),
            "`input_schema`: it is no JSON Schema: \"objct\" is not valid under any of the schemas listed in the 'anyOf' keyword",
        ),
        (
            json!({ "output_schema": { "type": "objct" } }),
            "`output_schema`: it is no JSON Schema: \"objct\" is not valid under any of the schemas listed in the 'anyOf' keyword",
        ),
        (
            json!({ "input_schema": { "properties": { "path": {} } } }),
            "it takes `path`, which its registration fixes",
        ),
    ];
    for (besides, expected) in table {
        let said = register(besides.clone()).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(said, Err(expected.to_owned()), "{besides}");
    }
}

#[test]
fn what_it_leaves_out_is_as_the_function_has_it_and_a_person_looks_at_every_call() {
    let all = register(json!({})).unwrap();
    let (mine, writes) = (all.named("mine").unwrap(), all.named("writes").unwrap());
    let expected = ToolSpec {
        id: mine.id.clone(),
        level: Level::ReviewAll,
        handler_config: mine.handler_config.clone(),
        ..writes.clone()
    };
    assert_eq!(*mine, expected);
    let more = json!({ "tier": "write_destructive", "reach": "outside", "execution_mode": "disabled" });
    let more = register(more).unwrap();
    let mine = more.named("mine").unwrap();
    assert_eq!((mine.tier, mine.reach), (Tier::WriteDestructive, Reach::Outside));
}

/// The function is asked about the whole arguments: what is fixed counts for the tier and the form, too.
#[tokio::test]
async fn what_is_fixed_counts_as_if_the_caller_had_written_it() {
    let fixed = |name: &str| {
        let config = json!({ "handler_config": { "function": "writes", "fixed": { name: true } } });
        let world = World::with(register(config).unwrap(), 0);
        let mut asked = call(7, "mine", json!({}));
        asked.chosen_by = domain::call::Chooser::Rule;
        let ruled = world.rule(asked);
        (ruled.decision().answer, ruled.decision().deciding().unwrap().layer)
    };
    assert_eq!(fixed("path"), (Answer::Review, Layer::Level));
    assert_eq!(fixed("replace"), (Answer::Review, Layer::Tier));
    assert_eq!(fixed("odd"), (Answer::Deny, Layer::Schema));
}
