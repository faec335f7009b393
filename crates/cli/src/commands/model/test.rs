//! One model at a time is asked for a word: does it answer, in a given form, and can it call?

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::ask::{Unanswered, Usage};
use llm::{Callable, Calling, Completion, FINISH, Place, Prompt, Role};
use models::{Chosen, Endpoint};
use runtime::{App, Code, Problem};
use serde_json::{Value, json};

use super::{Done, Shop, amount, problem};
use crate::args::Tier;
use crate::show::{Screen, Tone, brief, inline};

/// How a model is made out of who may be asked.
pub(crate) type Line = fn(Vec<Endpoint>) -> Result<Arc<dyn llm::Model>, Problem>;

/// What came of asking one.
#[derive(Debug, Default)]
struct Tried {
    text: bool,
    json: bool,
    call: bool,
    usage: Usage,
    took_ms: u64,
    said: String,
}

pub(crate) async fn test(app: &App, screen: &Screen, shop: &Shop, who: Option<&str>, line: Line) -> Done {
    let endpoints = wanted(shop, who).await?;
    if endpoints.is_empty() {
        let what = "there is no model to be tested: the reflexes answer alone";
        return Err(Problem::new(Code::NEEDS_MODEL, what).remedy("regent model list").into());
    }
    let all = asked(&endpoints, who);
    super::tell(screen, &shop.house, &all, app.settings().get("budget.day.money"));
    let (mut silent, mut partly) = (None, None);
    for endpoint in endpoints {
        let (name, host) = (endpoint.name(), endpoint.host().to_owned());
        let model = line(vec![endpoint])?;
        let begun = app.now();
        let tried = ask(model.as_ref()).await;
        let took = app.now().since(begun);
        let tried = tried
            .map(|tried| Tried { took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX), ..tried });
        show(screen, &name, &host, &tried)?;
        match tried {
            Err(why) => silent = Some((name, why)),
            Ok(tried) if !(tried.json && tried.call) => partly = Some(name),
            Ok(_) => {}
        }
    }
    if let Some((name, why)) = silent {
        let why = why.why.strip_prefix("no model answered, ").unwrap_or(&why.why);
        let what = format!("no model answered: {name}: {why}");
        return Err(Problem::new(Code::NO_MODEL_ANSWERED, what)
            .remedy("regent model list")
            .remedy("regent explain R4012")
            .into());
    }
    match partly {
        Some(name) => {
            Err(Problem::new(Code::MODEL_PARTLY, format!("{name} cannot do everything, see above")).into())
        }
        None => Ok(0),
    }
}

/// Those who are asked, for the owner to be told of before anything leaves: what is told once is not told again, so it
/// speaks of everything that may go there.
fn asked(endpoints: &[Endpoint], who: Option<&str>) -> Chosen {
    let why = match who {
        Some(who) => format!("`regent model test {who}` asks it"),
        None => "`regent model test` asks it".to_owned(),
    };
    Chosen { brain: endpoints.to_vec(), hands: Vec::new(), why, passed_over: Vec::new() }
}

/// Each model once, in the order in which it would be asked.
async fn wanted(shop: &Shop, who: Option<&str>) -> Result<Vec<Endpoint>, Problem> {
    let mut all = match who {
        Some(name) if name.contains('/') => {
            let (found, missing) = models::endpoints(&shop.wishes, &shop.environment, name)
                .map_err(|mistake| problem(&mistake))?;
            if let Some((name, why)) = missing.into_iter().next() {
                let what = format!("{name} cannot be asked: {why}");
                return Err(Problem::new(Code::MODEL_UNUSABLE, what).remedy("regent model list"));
            }
            found
        }
        Some(tier) if tier == Tier::Brain.name() => shop.choose().await?.brain,
        Some(tier) if tier == Tier::Hands.name() => shop.choose().await?.hands,
        Some(other) => {
            return Err(problem(&models::parse(other).err().unwrap_or(models::Mistake::HalfReflex)));
        }
        None => {
            let chosen = shop.choose().await?;
            chosen.brain.into_iter().chain(chosen.hands).collect()
        }
    };
    let mut seen = BTreeSet::new();
    all.retain(|endpoint| seen.insert(endpoint.name()));
    Ok(all)
}

/// Two small prompts: one that wants a form, one that wants a call.
async fn ask(model: &dyn llm::Model) -> Result<Tried, Unanswered> {
    let quiet: llm::Listen = Arc::new(|_| ());
    let formed = model.complete(form(), Arc::clone(&quiet)).await.map_err(|unheard| unheard.why)?;
    let (text, json) = (!formed.text.trim().is_empty(), is_formed(&formed.text));
    let said = formed.text;
    // One that cannot call may be told so by its server; it can still talk.
    let (call, second) = match model.complete(calling(), quiet).await {
        Ok(Completion { calls, usage, .. }) => (calls.iter().any(|call| call.tool == "add"), usage),
        Err(unheard) => (false, unheard.usage),
    };
    let first = formed.usage;
    let usage = Usage {
        tokens_in: first.tokens_in + second.tokens_in,
        tokens_out: first.tokens_out + second.tokens_out,
        cached: first.cached + second.cached,
        latency_ms: first.latency_ms + second.latency_ms,
        price: first.price + second.price,
        ..first
    };
    Ok(Tried { text, json, call, usage, took_ms: 0, said })
}

fn is_formed(text: &str) -> bool {
    serde_json::from_str::<Value>(text.trim())
        .is_ok_and(|value| value.get("word").is_some_and(Value::is_string))
}

fn prompt(role: Role, system: &str, user: &str, schema: Value, calling: Option<Calling>) -> Prompt {
    let place = Place { role, round: 0, subtask: None, attempt: 0, moves: 0, repair: false };
    Prompt { place, system: system.into(), user: user.into(), schema, calling, classes: BTreeSet::new() }
}

fn form() -> Prompt {
    let schema = json!({
        "type": "object",
        "properties": { "word": { "type": "string" } },
        "required": ["word"],
        "additionalProperties": false,
    });
    let system = "You are asked whether you are there. Reply with one JSON object and nothing else: {\"word\": \"ready\"}";
    prompt(Role::Perceiver, system, "Are you there?", schema, None)
}

fn calling() -> Prompt {
    let number = json!({ "type": "integer" });
    let schema = json!({
        "type": "object",
        "properties": { "a": number, "b": number },
        "required": ["a", "b"],
        "additionalProperties": false,
    });
    let said = json!({ "type": "object", "properties": { "summary": { "type": "string" } }, "required": ["summary"], "additionalProperties": false });
    let add = Callable { name: "add".into(), description: "adds two whole numbers".into(), schema };
    let finish = Callable {
        name: FINISH.into(),
        description: "says that nothing is left to do".into(),
        schema: said.clone(),
    };
    let system = "Call exactly one tool. Do not calculate yourself.";
    let calling = Calling { system: system.into(), tools: vec![add, finish] };
    prompt(Role::Executor, system, "What is 17 and 25 together? Call the tool `add`.", said, Some(calling))
}

fn show(screen: &Screen, name: &str, host: &str, tried: &Result<Tried, Unanswered>) -> std::io::Result<()> {
    if screen.json {
        return screen.json_line(&match tried {
            Ok(tried) => json!({
                "model": name, "host": host, "answers": true, "text": tried.text, "json": tried.json, "call": tried.call,
                "took_ms": tried.took_ms, "tokens_in": tried.usage.tokens_in, "cached": tried.usage.cached,
                "tokens_out": tried.usage.tokens_out, "price": tried.usage.price,
            }),
            Err(why) => json!({ "model": name, "host": host, "answers": false, "why": why.why, "kind": why.kind }),
        });
    }
    let name = inline(name);
    let tried = match tried {
        Ok(tried) => tried,
        Err(why) => {
            let word = screen.tinted("no answer", Tone::Bad);
            return screen.line(&format!("{name}   {word}: {}", inline(&why.why)));
        }
    };
    let able = |what: &str, can: bool| {
        let (word, tone) = if can { ("yes", Tone::Good) } else { ("NO", Tone::Bad) };
        format!("{what} {}", screen.tinted(word, tone))
    };
    let Usage { tokens_in, cached, tokens_out, price, .. } = tried.usage;
    screen.line(&format!(
        "{name}   {}, {}, {}",
        able("text", tried.text),
        able("json", tried.json),
        able("call", tried.call)
    ))?;
    screen.line(&format!(
        "  {} ms for two asks at {}; {tokens_in} tokens in ({cached} kept), {tokens_out} out; cost {}",
        tried.took_ms,
        inline(host),
        amount(price)
    ))?;
    if tried.text && !tried.json {
        screen.line(&format!("  it said: {}", brief(&tried.said, 60)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{ask, asked, calling, form};
    use domain::ask::{Unanswered, Usage};
    use llm::{Called, Completing, Completion, Listen, Model, Prompt};
    use serde_json::json;

    /// Says the same to every prompt that wants a form, and to every one that wants a call.
    struct Plays(Result<Completion, Unanswered>, Result<Completion, Unanswered>);

    impl Model for Plays {
        fn name(&self) -> String {
            "plays".into()
        }

        fn complete(&self, prompt: Prompt, _listen: Listen) -> Completing {
            let answer = if prompt.calling.is_some() { self.1.clone() } else { self.0.clone() };
            Box::pin(async move { answer.map_err(Into::into) })
        }
    }

    fn said(text: &str) -> Result<Completion, Unanswered> {
        let usage = Usage { tokens_in: 10, tokens_out: 5, cached: 2, price: 7, ..Usage::default() };
        Ok(Completion { text: text.into(), usage, ..Completion::default() })
    }

    fn called(tool: &str) -> Result<Completion, Unanswered> {
        let call = Called { tool: tool.into(), args: json!({ "a": 17, "b": 25 }) };
        said("").map(|completion| Completion { calls: vec![call], ..completion })
    }

    #[tokio::test]
    async fn what_a_model_can_do_is_found_out_in_two_asks() {
        let word = "{\"word\": \"ready\"}";
        let table = [
            (said(word), called("add"), (true, true, true)),
            (said("ready"), called("add"), (true, false, true)),
            (said(word), called("finish"), (true, true, false)),
            (said(word), Err(Unanswered::unusable("this model has no tools")), (true, true, false)),
            (said(""), said("42"), (false, false, false)),
        ];
        for (first, second, expected) in table {
            let tried = ask(&Plays(first, second)).await.expect("an answer");
            assert_eq!((tried.text, tried.json, tried.call), expected);
        }
        let tried = ask(&Plays(said(word), called("add"))).await.expect("an answer");
        let Usage { tokens_in, tokens_out, cached, price, .. } = tried.usage;
        assert_eq!((tokens_in, tokens_out, cached, price), (20, 10, 4, 14));
        let gone = ask(&Plays(Err(Unanswered::unreachable("refused")), said(""))).await;
        assert_eq!(gone.map(drop), Err(Unanswered::unreachable("refused")));
    }

    #[test]
    fn the_owner_is_told_of_whoever_is_outside_and_was_not_told_of_yet() {
        let wishes = models::Wishes::default();
        let variables = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"].map(|name| (name.to_owned(), "k".to_owned()));
        let environment = models::Environment { variables: variables.into(), ..Default::default() };
        let list = "anthropic/a, openai/b, ollama/c";
        let (endpoints, _) = models::endpoints(&wishes, &environment, list).expect("models");
        let told = ["api.openai.com".to_owned(), "127.0.0.1:11434".to_owned()];
        let said = models::notice(&asked(&endpoints, Some("hands")), &told, "5");
        let [(host, words)] = said.as_slice() else { panic!("{said:?}") };
        assert_eq!(host, "api.anthropic.com");
        assert!(words.contains("(anthropic/a); `regent model test hands` asks it\n"), "{words}");
    }

    #[test]
    fn the_prompts_are_ours_and_hold_nothing_of_the_owner() {
        for prompt in [form(), calling()] {
            assert!(prompt.system.len() + prompt.user.len() < 300 && prompt.classes.is_empty());
        }
    }
}
