//! `model test`.

use clap::Args;
use domain::ask::{Unanswered, Usage};
use kernel::{Code, Problem};
use present::{Page, Style, Tone, inline, shorten};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::choice::format_amount;
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    StreamEnd,
};

/// Ask models for a word: what they can do, how long it took, what it cost
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct TestModels {
    /// `brain`, `hands`, or a model as provider/model; without it: all of both
    #[arg(value_name = "WHO")]
    pub who: Option<String>,
}

impl Operation for TestModels {
    const SPEC: OperationSpec = OperationSpec::new(
        "model test",
        OperationAccess::ADMIN,
        &["regent model test", "regent model test ollama/qwen3:8b"],
    )
    .route(HttpMethod::Post, "/models/test")
    .notes("Only a prompt of ours is sent, nothing of yours. What is tried: a text, a reply in a given form, the call of a tool.");
    type Output = StreamEnd;

    async fn run(self, context: &OperationContext<'_>) -> Result<StreamEnd, OperationError> {
        let admin = &context.app.model_admin;
        let mut prepared = admin
            .prepare_tests(self.who.as_deref(), &|disclosure| context.io.note(&disclosure.page()))
            .await?;
        let mut tests = Vec::new();
        while let Some(test) = prepared.test_next().await? {
            context.emit(&test)?;
            tests.push(test);
        }
        check_tests(&tests)?;
        Ok(StreamEnd::default())
    }
}

/// What a model can do, and what it cost to find out.
#[derive(Clone, Debug, Default)]
pub struct ModelCapabilities {
    pub text: bool,
    pub json: bool,
    pub call: bool,
    pub usage: Usage,
    pub took_ms: u64,
    /// What it replied to the first prompt.
    pub reply: String,
}

/// The test of one model.
#[derive(Clone, Debug)]
pub struct ModelTest {
    pub model: String,
    pub host: String,
    pub outcome: Result<ModelCapabilities, Unanswered>,
}

impl Serialize for ModelTest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { model, host, outcome } = self;
        let data = match outcome {
            Ok(ModelCapabilities { text, json, call, usage, took_ms, .. }) => json!({
                "model": model, "host": host, "answers": true, "text": text, "json": json, "call": call,
                "took_ms": took_ms, "tokens_in": usage.tokens_in, "cached": usage.cached,
                "tokens_out": usage.tokens_out, "price": usage.price,
            }),
            Err(Unanswered { kind, why }) => {
                json!({ "model": model, "host": host, "answers": false, "why": why, "kind": kind })
            }
        };
        data.serialize(serializer)
    }
}

impl Output for ModelTest {
    fn render(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        let name = inline(&self.model);
        let found = match &self.outcome {
            Ok(found) => found,
            Err(unanswered) => {
                let word = style.theme.paint("no answer", Tone::Bad);
                page.add(format!("{name}   {word}: {}", inline(&unanswered.why)));
                return page;
            }
        };
        let able = |what: &str, can: bool| {
            let (word, tone) = if can { ("yes", Tone::Good) } else { ("NO", Tone::Bad) };
            format!("{what} {}", style.theme.paint(word, tone))
        };
        let (text, json, call) =
            (able("text", found.text), able("json", found.json), able("call", found.call));
        page.add(format!("{name}   {text}, {json}, {call}"));
        let Usage { tokens_in, cached, tokens_out, price, .. } = found.usage;
        page.add(format!(
            "  {} ms for two asks at {}; {tokens_in} tokens in ({cached} kept), {tokens_out} out; cost {}",
            found.took_ms,
            inline(&self.host),
            format_amount(price)
        ));
        if found.text && !found.json {
            page.add(format!("  it said: {}", shorten(&found.reply, 60)));
        }
        page
    }
}

/// # Errors
/// If a model did not answer, or cannot do everything.
fn check_tests(tests: &[ModelTest]) -> Result<(), Problem> {
    let silent = tests.iter().rev().find_map(|test| Some((&test.model, test.outcome.as_ref().err()?)));
    if let Some((model, why)) = silent {
        let why = why.why.strip_prefix("no model answered, ").unwrap_or(&why.why);
        let what = format!("no model answered: {model}: {why}");
        return Err(Problem::new(Code::NO_MODEL_ANSWERED, what)
            .remedy("regent model list")
            .remedy("regent explain R4012"));
    }
    let is_partial = |test: &&ModelTest| test.outcome.as_ref().is_ok_and(|can| !(can.json && can.call));
    match tests.iter().rev().find(is_partial) {
        Some(test) => {
            let what = format!("{} cannot do everything, see above", test.model);
            Err(Problem::new(Code::MODEL_PARTLY, what))
        }
        None => Ok(()),
    }
}
