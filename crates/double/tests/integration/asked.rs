//! What is asked is understood alike in every dialect, and what is wrong with it is told as the vendor would.

use crate::common::{headers, post, request};
use double::{Denied, Dialect, Double, Model, Reaction, Said, Script};
use serde_json::{Value, json};

/// The same request in every dialect: a system prompt, two texts of the user, a tool, a schema.
fn full(dialect: Dialect) -> (String, Value) {
    let (path, mut body) = request(dialect, false, "");
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false});
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let messages = [said("user", "first"), said("assistant", "mine"), said("user", "second")];
    let function = json!({"name": "look", "description": "looks", "parameters": schema});
    match dialect {
        Dialect::Anthropic => {
            body["system"] = json!([{"type": "text", "text": "be brief"}]);
            body["messages"] = json!(messages);
            body["tools"] = json!([{"name": "look", "description": "looks", "input_schema": schema}]);
            body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
        }
        Dialect::Chat => {
            body["messages"] = json!([said("system", "be brief"), messages[0], messages[1], messages[2]]);
            body["tools"] = json!([{"type": "function", "function": function}]);
            body["response_format"] = json!({"type": "json_schema", "json_schema": {"name": "city", "schema": schema, "strict": true}});
        }
        Dialect::Responses => {
            body["instructions"] = json!("be brief");
            body["input"] = json!(messages);
            body["tools"] =
                json!([{"type": "function", "name": "look", "description": "looks", "parameters": schema}]);
            body["text"] =
                json!({"format": {"type": "json_schema", "name": "city", "schema": schema, "strict": true}});
        }
        Dialect::Gemini => {
            let parts = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
            body["systemInstruction"] = json!({"parts": [{"text": "be brief"}]});
            body["contents"] =
                json!([parts("user", "first"), parts("model", "mine"), parts("user", "second")]);
            let function = json!({"name": "look", "description": "looks", "parametersJsonSchema": schema});
            body["tools"] = json!([{"functionDeclarations": [function]}]);
            body["generationConfig"] =
                json!({"responseMimeType": "application/json", "responseJsonSchema": schema});
        }
        Dialect::Ollama => {
            body["messages"] = json!([said("system", "be brief"), messages[0], messages[1], messages[2]]);
            body["tools"] = json!([{"type": "function", "function": function}]);
            body["format"] = schema;
        }
    }
    (path, body)
}

#[test]
fn the_same_request_is_understood_alike_in_every_dialect() {
    let double = Double::start(Script::new());
    for (at, dialect) in Dialect::ALL.into_iter().enumerate() {
        let (path, body) = full(dialect);
        let seen = post(&double.url, &path, &headers(dialect), &body);
        assert_eq!(seen.status, 200, "{dialect:?}: {}", seen.text());
        let asked = double.asked().remove(at);
        assert_eq!((asked.dialect, asked.model.as_str(), asked.stream), (dialect, "double-large", false));
        assert_eq!(
            (asked.system.as_str(), asked.user.as_str()),
            ("be brief", "first\nsecond"),
            "{dialect:?}"
        );
        let [tool] = asked.tools.as_slice() else { panic!("{dialect:?}: {:?}", asked.tools) };
        assert_eq!((tool.name.as_str(), tool.description.as_str()), ("look", "looks"));
        assert_eq!(tool.schema["required"], json!(["city"]), "{dialect:?}");
        assert_eq!(asked.schema.expect("a schema")["required"], json!(["city"]), "{dialect:?}");
        assert_eq!((asked.body, asked.denied, asked.path), (body, None, path));
        assert!(asked.headers.contains_key("content-length"));
    }
}

#[test]
fn answers_are_chosen_by_function_then_by_text_then_in_order() {
    let prompt = |double: &Double, text: &str| {
        let (path, body) = request(Dialect::Ollama, false, text);
        post(&double.url, &path, &[], &body).json()["message"]["content"].as_str().expect("a text").to_owned()
    };
    let script = Script::new()
        .then(Said::text("one"))
        .then(Said::text("two"))
        .when("weather", Said::text("rain"))
        .otherwise(Said::text("else"));
    let double = Double::start(script);
    let said = ["a", "the weather", "b", "c", "weather again"].map(|text| prompt(&double, text));
    assert_eq!(said, ["one", "rain", "two", "else", "rain"]);
    assert_eq!(double.asked().len(), 5);

    let echo =
        Script::answering(|asked| Reaction::from(Said::text(format!("{:?}: {}", asked.dialect, asked.user))));
    assert_eq!(prompt(&Double::start(echo), "hi"), "Ollama: hi");
}

#[test]
fn whoever_has_no_key_or_a_wrong_one_is_told_as_the_vendor_tells_it() {
    let double = Double::start(Script::new());
    for (dialect, none, wrong) in [
        (Dialect::Anthropic, 401, 401),
        (Dialect::Chat, 401, 401),
        (Dialect::Responses, 401, 401),
        (Dialect::Gemini, 403, 400),
        (Dialect::Ollama, 200, 200),
    ] {
        let (path, body) = request(dialect, false, "hello");
        let mut given = headers(dialect);
        for (name, value) in &mut given {
            if *name != "anthropic-version" {
                *value = "Bearer wrong".into();
            }
        }
        assert_eq!(post(&double.url, &path, &given, &body).status, wrong, "{dialect:?}");
        given.retain(|(name, _)| *name == "anthropic-version");
        assert_eq!(post(&double.url, &path, &given, &body).status, none, "{dialect:?}");
    }
    let open = Double::start(Script::new().with_key(None));
    let (path, body) = request(Dialect::Chat, false, "hello");
    assert_eq!(post(&open.url, &path, &[], &body).status, 200, "a server of one's own may ask for no key");
}

#[test]
fn what_is_wrong_with_a_request_is_found() {
    use Dialect::{Anthropic, Chat, Gemini, Ollama, Responses};
    let missing = |field: &str| Denied::Missing(field.into());
    let unknown = |field: &str| Denied::Unknown(field.into());
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let closed = json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}, "additionalProperties": false});
    let table: Vec<(Dialect, &str, Value, Option<Denied>)> = vec![
        (Anthropic, "max_tokens", Value::Null, Some(missing("max_tokens"))),
        (Anthropic, "messages", json!([]), None),
        (Anthropic, "messages", json!("hello"), None),
        (Anthropic, "messages", json!([{"role": "tool", "content": "x"}]), None),
        (Anthropic, "messages", json!([{"role": "user", "content": ""}]), None),
        (Anthropic, "max_tokens", json!("9"), None),
        (Anthropic, "max_tokens", json!(1_000_000), None),
        (Anthropic, "response_format", json!({}), Some(unknown("response_format"))),
        (Anthropic, "tools", json!([{"name": "a b", "input_schema": {"type": "object"}}]), None),
        (Anthropic, "tools", json!([{"name": "a"}]), Some(missing("tools.0.input_schema"))),
        (Anthropic, "tools", json!([{"name": "a", "input_schema": open, "strict": true}]), None),
        (Anthropic, "tool_choice", json!({"type": "any"}), None),
        (Anthropic, "thinking", json!({"type": "enabled", "budget_tokens": 5000}), None),
        (Anthropic, "output_config", json!({"format": {"type": "json_schema", "schema": open}}), None),
        (Anthropic, "output_config", json!({"format": {"type": "json_schema", "schema": closed}}), None),
        (
            Anthropic,
            "output_config",
            json!({"format": {"type": "json_schema", "schema": {"type": "array", "items": {"type": "string"}, "minItems": 2}}}),
            None,
        ),
        (Anthropic, "temperature", json!(1.5), None),
        (Chat, "messages", Value::Null, Some(missing("messages"))),
        (Chat, "messages", json!([{"role": "user"}]), Some(missing("messages.0.content"))),
        (Chat, "messages", json!([{"role": "robot", "content": "x"}]), None),
        (Chat, "system", json!("x"), Some(unknown("system"))),
        (Chat, "reasoning_effort", json!("low"), Some(unknown("reasoning_effort"))),
        (Chat, "stream_options", json!({"include_usage": true}), None),
        (Chat, "tools", json!([{"type": "function", "name": "a"}]), Some(missing("tools.0.function"))),
        (Chat, "tools", json!([]), None),
        (Chat, "tool_choice", json!("required"), None),
        (Chat, "response_format", json!({"type": "json_object"}), None),
        (
            Chat,
            "response_format",
            json!({"type": "json_schema", "json_schema": {"schema": {}}}),
            Some(missing("response_format.json_schema.name")),
        ),
        (
            Chat,
            "response_format",
            json!({"type": "json_schema", "json_schema": {"name": "a", "schema": closed, "strict": true}}),
            None,
        ),
        (Chat, "temperature", json!(3), None),
        (Responses, "input", Value::Null, Some(missing("input"))),
        (Responses, "messages", json!([]), Some(unknown("messages"))),
        (
            Responses,
            "tools",
            json!([{"type": "function", "function": {"name": "a"}}]),
            Some(missing("tools.0.name")),
        ),
        (Responses, "input", json!([{"role": "user", "content": [{"type": "text", "text": "x"}]}]), None),
        (Responses, "max_output_tokens", json!(5), None),
        (
            Responses,
            "text",
            json!({"format": {"type": "json_schema", "name": "a", "schema": open, "strict": true}}),
            None,
        ),
        (
            Responses,
            "reasoning",
            json!({"effort": "low"}),
            Some(Denied::Unsupported("reasoning.effort".into())),
        ),
        (Gemini, "contents", json!([]), Some(missing("contents"))),
        (Gemini, "contents", json!([{"role": "assistant", "parts": [{"text": "x"}]}]), None),
        (Gemini, "contents", json!([{"parts": []}]), Some(missing("contents.0.parts"))),
        (Gemini, "messages", json!([]), Some(unknown("messages"))),
        (Gemini, "generationConfig", json!({"responseSchema": open}), None),
        (
            Gemini,
            "generationConfig",
            json!({"responseMimeType": "application/json", "responseSchema": closed}),
            Some(unknown("generationConfig.responseSchema.additionalProperties")),
        ),
        (Gemini, "generation_config", json!({"max_tokens": 5}), Some(unknown("generationConfig.maxTokens"))),
        (
            Gemini,
            "tools",
            json!([{"functionDeclarations": [{"name": "a", "parameters": closed}]}]),
            Some(unknown("tools.0.functionDeclarations.0.parameters.additionalProperties")),
        ),
        (
            Gemini,
            "generationConfig",
            json!({"thinkingConfig": {"thinkingBudget": 100}}),
            Some(Denied::Unsupported("Thinking".into())),
        ),
        (Ollama, "model", Value::Null, Some(missing("model"))),
        (Ollama, "messages", json!("hello"), None),
        (Ollama, "messages", json!([{"role": "robot", "content": "x"}]), None),
        (Ollama, "messages", json!([{"role": "user", "content": [{"type": "text", "text": "x"}]}]), None),
        (Ollama, "format", json!("yaml"), None),
        (Ollama, "think", json!(true), None),
        (Ollama, "options", json!({"temperature": "hot"}), None),
    ];
    for (dialect, field, value, expected) in table {
        let double = Double::start(Script::new());
        let (path, mut body) = request(dialect, false, "hello");
        body[field] = value.clone();
        let seen = post(&double.url, &path, &headers(dialect), &body);
        let case = format!("{dialect:?} {field} {value}: {}", seen.text());
        assert_eq!(seen.status, 400, "{case}");
        let denied = double.asked().remove(0).denied;
        assert!(denied.is_some(), "{case}");
        if expected.is_some() {
            assert_eq!(denied, expected, "{case}");
        }
    }
}

#[test]
fn what_is_right_passes() {
    use Dialect::{Anthropic, Chat, Gemini, Ollama, Responses};
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    let upper = json!({"type": "OBJECT", "properties": {"additional": {"type": "STRING"}}, "required": ["additional"]});
    let table = [
        (Anthropic, "temperature", json!(0.5)),
        (Anthropic, "thinking", json!({"type": "adaptive"})),
        (
            Anthropic,
            "output_config",
            json!({"effort": "low", "format": {"type": "json_schema", "schema": closed}}),
        ),
        (
            Anthropic,
            "messages",
            json!([{"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}]),
        ),
        (Chat, "max_tokens", json!(5)),
        (Chat, "max_completion_tokens", json!(5)),
        (Chat, "tools", json!([{"type": "function", "function": {"name": "a"}}])),
        (Responses, "input", json!([{"type": "function_call_output", "call_id": "c", "output": "x"}])),
        (Responses, "store", json!(false)),
        (Gemini, "system_instruction", json!({"parts": [{"text": "x"}]})),
        (
            Gemini,
            "generationConfig",
            json!({"responseMimeType": "application/json", "responseSchema": upper, "maxOutputTokens": 5}),
        ),
        (
            Gemini,
            "toolConfig",
            json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["a"]}}),
        ),
        (Ollama, "options", json!({"num_ctx": 4096, "temperature": 0})),
        (Ollama, "whatever", json!(1)),
    ];
    for (dialect, field, value) in table {
        let double = Double::start(Script::new());
        let (path, mut body) = request(dialect, false, "hello");
        body[field] = value.clone();
        let seen = post(&double.url, &path, &headers(dialect), &body);
        assert_eq!(seen.status, 200, "{dialect:?} {field} {value}: {}", seen.text());
    }
}

#[test]
fn models_can_what_the_script_says() {
    let small = Model { context: 10, tools: false, schema: false, ..Model::named("tiny") };
    for dialect in Dialect::ALL {
        let double = Double::start(Script::new().with_model(small.clone()));
        let asked = |name: &str, full_request: bool| {
            let (path, mut body) =
                if full_request { full(dialect) } else { request(dialect, false, "x".repeat(100).as_str()) };
            if dialect != Dialect::Gemini {
                body["model"] = name.into();
            }
            post(&double.url, &path.replace("double-large", name), &headers(dialect), &body).status
        };
        let too_long = if dialect == Dialect::Ollama { 200 } else { 400 };
        assert_eq!(
            (asked("tiny", true), asked("tiny", false), asked("no-such", false)),
            (400, too_long, 404),
            "{dialect:?}"
        );
    }
}

#[test]
fn what_is_no_json_or_nowhere_is_told_so() {
    let double = Double::start(Script::new());
    for dialect in Dialect::ALL {
        let (path, _) = request(dialect, false, "");
        let seen = crate::common::send(
            &double.url,
            "POST",
            &path,
            &headers(dialect),
            "{no",
            crate::common::Waits::Long,
        )
        .expect("an answer");
        assert_eq!(seen.status, 400, "{dialect:?}");
        let nowhere = crate::common::get(&double.url, "/v2/nowhere", &headers(dialect));
        assert_eq!(nowhere.status, 404, "{dialect:?}");
    }
    // Anthropic's version is no formality.
    let (path, body) = request(Dialect::Anthropic, false, "hello");
    let mut given = headers(Dialect::Anthropic);
    given.retain(|(name, _)| *name != "anthropic-version");
    assert_eq!(post(&double.url, &path, &given, &body).status, 400);
    given.push(("anthropic-version", "2026-10-21".into()));
    assert_eq!(post(&double.url, &path, &given, &body).status, 200);
    let mut warm = body.clone();
    warm["temperature"] = json!(0.5);
    assert_eq!(post(&double.url, &path, &given, &warm).status, 400, "the new version takes no temperature");
    let quoted = json!({"type": "text", "text": "x", "citations": [{"type": "char_location"}]});
    let document =
        json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}});
    for content in [
        json!([{"role": "user", "content": [quoted]}]),
        json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": [document]}]),
    ] {
        let mut refused = body.clone();
        refused["messages"] = content;
        assert_eq!(post(&double.url, &path, &given, &refused).status, 400, "{refused}");
        assert_eq!(post(&double.url, &path, &headers(Dialect::Anthropic), &refused).status, 200, "{refused}");
    }
}
