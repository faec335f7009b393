//! Asking a model is a call like any other: it has a row, a decision with its reasons, a reservation of what it may cost, and
//! it starts only when all that is durable. What is asked and answered stands in the journal; here stands what it took.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use broker::{Authorized, Category, Cost, Handler, HandlerType, Reach, Returned, ToolSpec, Used};
use domain::ask::{Ask, Unanswered, Usage};
use domain::call::{Call, Failure, ToolId};
use domain::id::CallId;
use domain::{Tier, Trust};
use llm::{Heard, Later, Place, Quote};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The tool behind which the models are.
pub const ASK_MODEL: &str = "ask_model";

/// Whoever is asked is given up on before that; this is for what nobody has thought of.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Which ask it is, who may hear it, and what it may take.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Args {
    ask: Place,
    models: Vec<String>,
    /// Whether any of them is on another machine.
    outside: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passed_over: Vec<(String, String)>,
    bytes: u64,
    tokens: u64,
    money: u64,
}

/// The arguments of the call that puts this ask.
pub(crate) fn args(ask: &Ask, quote: Quote) -> Value {
    let Quote { models, outside, passed_over, bytes, tokens, money } = quote;
    json!(Args { ask: Place::of(ask), models, outside, passed_over, bytes, tokens, money })
}

/// What is heard of somebody who took too long.
pub(crate) fn give_up(most: Duration) -> Heard {
    let latency_ms = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
    let why = format!("nothing came within {} s", most.as_secs_f64());
    Heard { reply: Err(Unanswered::unreachable(why)), usage: Usage { latency_ms, ..Usage::default() } }
}

/// What of it counts against budgets.
pub(crate) fn used(usage: &Usage) -> Used {
    Used { money: usage.price, tokens: usage.tokens_in.saturating_add(usage.tokens_out) }
}

/// What is to be asked once that is allowed, and what came of it.
#[derive(Default)]
pub(crate) struct AskModel {
    allowed: Mutex<BTreeMap<CallId, (Duration, Later)>>,
    heard: Mutex<BTreeMap<CallId, Heard>>,
}

impl AskModel {
    pub(crate) fn spec(id: ToolId) -> ToolSpec {
        ToolSpec {
            category: Category::System,
            data_class: None,
            handler_type: HandlerType::Model,
            idempotent: true,
            reach: Reach::Model,
            timeout: LONGEST,
            output_trust: Trust::Untrusted,
            ..ToolSpec::shipped(id, "asks a language model, for the loop alone", Tier::ReadOnly)
        }
    }

    /// What this call will ask, and how long it may take.
    pub(crate) fn put(&self, call: CallId, most: Duration, later: Later) {
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner).insert(call, (most, later));
    }

    /// What came of it; nothing where it was broken off.
    pub(crate) fn take(&self, call: CallId) -> Option<Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).remove(&call)
    }
}

#[async_trait]
impl Handler for AskModel {
    fn accepts(&self, args: &Value) -> Result<(), String> {
        let Args { models, passed_over, .. } = Args::deserialize(args).map_err(|error| error.to_string())?;
        if models.is_empty() {
            let why: Vec<String> = passed_over.iter().map(|(who, why)| format!("{who}: {why}")).collect();
            return Err(format!("no model may be told this: {}", why.join("; ")));
        }
        Ok(())
    }

    fn is_typed(&self) -> bool {
        true
    }

    fn cost(&self, args: &Value) -> Option<Cost> {
        let Args { outside, bytes, tokens, money, .. } = Args::deserialize(args).ok()?;
        Some(Cost { money, tokens, bytes: if outside { bytes } else { 0 } })
    }

    async fn call(&self, call: Authorized<Call>) -> Returned {
        let id = call.call().id;
        let later = self.allowed.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        let Some((most, later)) = later else {
            return Failure::logical("only the loop asks a model").into();
        };
        // What an ask has cost that was given up is not known: all that it reserved counts.
        let (heard, used) = match tokio::time::timeout(most, later).await {
            Ok(heard) => {
                let heard = Heard { usage: heard.usage.clamped(), ..heard };
                let used = used(&heard.usage);
                (heard, Some(used))
            }
            Err(_elapsed) => (give_up(most), None),
        };
        let outcome = match &heard.reply {
            Ok(_) => Ok(json!(heard.usage)),
            Err(Unanswered { why, .. }) => Err(Failure::environmental(why.clone())),
        };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).insert(id, heard);
        Returned { outcome, artifacts: Vec::new(), used }
    }
}
