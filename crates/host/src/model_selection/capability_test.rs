//! What one model can do, found out with two small prompts: does it answer, in a given form, and does it call a tool?

use std::collections::BTreeSet;
use std::sync::Arc;

use app::models::{ModelCapabilities, ModelTest, ModelTier, ShowDisclosure};
use app::{Code, Problem};
use domain::Time;
use domain::ask::{Unanswered, Usage};
use llm::{Callable, Calling, Completion, FINISH, Place, Prompt, Role};
use models::{Chosen, Endpoint};
use serde_json::{Value, json};

use super::client::connect;
use super::{ModelSelection, selection_problem};

impl ModelSelection {
    /// Finds the models to test, each once, in the order in which they are asked, and shows the disclosures for them. `which`
    /// is a model, a tier, or `None` for all that are chosen.
    ///
    /// # Errors
    /// If there are none, or one that was named cannot be asked.
    pub async fn prepare_tests(
        &self,
        which: Option<&str>,
        budget: &str,
        show: ShowDisclosure<'_>,
    ) -> Result<Vec<Endpoint>, Problem> {
        let endpoints = self.find_endpoints(which).await?;
        if endpoints.is_empty() {
            let what = "there is no model to be tested: the reflexes answer alone";
            return Err(Problem::new(Code::NEEDS_MODEL, what).remedy("regent model list"));
        }
        self.disclose(&choice_for_test(&endpoints, which), budget, show);
        Ok(endpoints)
    }

    async fn find_endpoints(&self, which: Option<&str>) -> Result<Vec<Endpoint>, Problem> {
        let mut all = match which {
            Some(name) if name.contains('/') => {
                let (found, missing) = models::endpoints(&self.options, &self.environment, name)
                    .map_err(|mistake| selection_problem(&mistake))?;
                if let Some((name, why)) = missing.into_iter().next() {
                    let what = format!("{name} cannot be asked: {why}");
                    return Err(Problem::new(Code::MODEL_UNUSABLE, what).remedy("regent model list"));
                }
                found
            }
            Some(tier) if tier == ModelTier::Brain.name() => self.choose().await?.brain,
            Some(tier) if tier == ModelTier::Hands.name() => self.choose().await?.hands,
            Some(other) => {
                let mistake = models::parse(other).err().unwrap_or(models::Mistake::HalfReflex);
                return Err(selection_problem(&mistake));
            }
            None => {
                let chosen = self.choose().await?;
                chosen.brain.into_iter().chain(chosen.hands).collect()
            }
        };
        let mut seen = BTreeSet::new();
        all.retain(|endpoint| seen.insert(endpoint.name()));
        Ok(all)
    }
}

/// Tests one of the models that [`ModelSelection::prepare_tests`] found.
///
/// # Errors
/// If there is no HTTP client. A model that does not answer is an outcome.
pub(super) async fn test_model(endpoint: Endpoint, now: impl Fn() -> Time) -> Result<ModelTest, Problem> {
    let (name, host) = (endpoint.name(), endpoint.host().to_owned());
    let model = connect(vec![endpoint])?;
    let begun = now();
    let found = find_capabilities(model.as_ref()).await;
    let took_ms = u64::try_from(now().since(begun).as_millis()).unwrap_or(u64::MAX);
    let outcome = found.map(|found| ModelCapabilities { took_ms, ..found });
    Ok(ModelTest { model: name, host, outcome })
}

/// The tested models as a choice, for the disclosure. What is disclosed once is not disclosed again, so the disclosure covers
/// everything that may be sent there.
fn choice_for_test(endpoints: &[Endpoint], which: Option<&str>) -> Chosen {
    let why = match which {
        Some(which) => format!("`regent model test {which}` asks it"),
        None => "`regent model test` asks it".to_owned(),
    };
    Chosen { brain: endpoints.to_vec(), hands: Vec::new(), why, passed_over: Vec::new() }
}

/// Two small prompts: one that wants a form, one that wants a call.
async fn find_capabilities(model: &dyn llm::Model) -> Result<ModelCapabilities, Unanswered> {
    let quiet: llm::Listen = Arc::new(|_| ());
    let formed = model.complete(form_prompt(), Arc::clone(&quiet)).await.map_err(|unheard| unheard.why)?;
    let (text, json) = (!formed.text.trim().is_empty(), is_formed(&formed.text));
    let reply = formed.text;
    // One that cannot call may be told so by its server; it can still talk.
    let (call, second) = match model.complete(call_prompt(), quiet).await {
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
    Ok(ModelCapabilities { text, json, call, usage, took_ms: 0, reply })
}

fn is_formed(text: &str) -> bool {
    serde_json::from_str::<Value>(text.trim())
        .is_ok_and(|value| value.get("word").is_some_and(Value::is_string))
}

fn make_prompt(role: Role, system: &str, user: &str, schema: Value, calling: Option<Calling>) -> Prompt {
    let place = Place { role, round: 0, subtask: None, attempt: 0, moves: 0, repair: false };
    Prompt { place, system: system.into(), user: user.into(), schema, calling, classes: BTreeSet::new() }
}

fn form_prompt() -> Prompt {
    let schema = json!({
        "type": "object",
        "properties": { "word": { "type": "string" } },
        "required": ["word"],
        "additionalProperties": false,
    });
    let system = "You are asked whether you are there. Reply with one JSON object and nothing else: {\"word\": \"ready\"}";
    make_prompt(Role::Perceiver, system, "Are you there?", schema, None)
}

fn call_prompt() -> Prompt {
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
    make_prompt(
        Role::Executor,
        system,
        "What is 17 and 25 together? Call the tool `add`.",
        said,
        Some(calling),
    )
}

#[cfg(test)]
mod tests {
    use super::{call_prompt, choice_for_test, find_capabilities, form_prompt};
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
            let tried = find_capabilities(&Plays(first, second)).await.expect("an answer");
            assert_eq!((tried.text, tried.json, tried.call), expected);
        }
        let tried = find_capabilities(&Plays(said(word), called("add"))).await.expect("an answer");
        let Usage { tokens_in, tokens_out, cached, price, .. } = tried.usage;
        assert_eq!((tokens_in, tokens_out, cached, price), (20, 10, 4, 14));
        let gone = find_capabilities(&Plays(Err(Unanswered::unreachable("refused")), said(""))).await;
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
        let said = models::notice(&choice_for_test(&endpoints, Some("hands")), &told, "5");
        let [(host, words)] = said.as_slice() else { panic!("{said:?}") };
        assert_eq!(host, "api.anthropic.com");
        assert!(words.contains("(anthropic/a); `regent model test hands` asks it\n"), "{words}");
    }

    #[test]
    fn the_prompts_are_ours_and_hold_nothing_of_the_owner() {
        for prompt in [form_prompt(), call_prompt()] {
            assert!(prompt.system.len() + prompt.user.len() < 300 && prompt.classes.is_empty());
        }
    }
}
