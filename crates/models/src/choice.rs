//! Which models are asked, and why: what the owner says, a key that lies in the house or the environment, a server on this
//! machine, or none.

use std::collections::BTreeMap;
use std::fmt;

use thiserror::Error;

use crate::catalog::{KNOWN, Known};
use crate::detect::{Detected, Probe, detect, may_be_probed, ollama_url};
use crate::provider::Provider;
use crate::{Dialect, Endpoint, Key, Prices};

/// The word for: no model.
pub const REFLEX: &str = "reflex";

/// What the settings say about models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    pub brain: Wish,
    pub hands: Wish,
    /// How able the owner holds models to be, by name; `*` at the end fits all that begin so.
    pub ranks: Vec<(String, u32)>,
    /// What is said of each provider, field by field.
    pub providers: BTreeMap<String, BTreeMap<String, String>>,
}

/// A list of models, and where it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    pub list: String,
    pub origin: String,
}

impl Wishes {
    /// From settings: name, value, where it came from. What is none of ours is passed over; the values were checked.
    pub fn read<'a>(settings: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) -> Self {
        let mut wishes = Self::default();
        for (name, value, origin) in settings {
            let wish = || Wish { list: value.trim().to_owned(), origin: origin.to_owned() };
            match name {
                "model.brain" => wishes.brain = wish(),
                "model.hands" => wishes.hands = wish(),
                "model.ranks" => wishes.ranks = ranks(value),
                _ => {
                    let said = name.strip_prefix("provider.").and_then(|rest| rest.rsplit_once('.'));
                    if let Some((provider, field)) = said {
                        let fields = wishes.providers.entry(provider.to_owned()).or_default();
                        fields.insert(field.to_owned(), value.trim().to_owned());
                    }
                }
            }
        }
        wishes
    }

    /// Every provider that can be named: those that are known, and the owner's own.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let own = self.providers.keys().map(String::as_str);
        let known = KNOWN.iter().map(|known| known.name);
        known.chain(own.filter(|name| crate::catalog::known(name).is_none()))
    }
}

/// `ollama/qwen3:8b=25, anthropic/*=90`.
fn ranks(value: &str) -> Vec<(String, u32)> {
    let pair = |text: &str| {
        let (name, rank) = text.rsplit_once('=')?;
        Some((name.trim().to_owned(), rank.trim().parse().ok()?))
    };
    value.split(',').filter_map(pair).collect()
}

/// What the choice needs to know of the machine. Reading it is the edge's business.
#[derive(Clone, Default)]
pub struct Environment {
    pub variables: Vec<(String, String)>,
    /// The files in the house's folder of keys: what is in them, or why that cannot be used.
    pub files: BTreeMap<String, Result<Key, String>>,
    /// Why that folder, which is there, cannot be read.
    pub unread: Option<String>,
    pub prices: Prices,
    /// Which provider's key may go to which other host.
    pub confirmed: Vec<(String, String)>,
}

/// Variables can hold keys.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (variables, files) = (self.variables.len(), self.files.keys());
        f.debug_struct("Environment")
            .field("variables", &variables)
            .field("files", &files)
            .finish_non_exhaustive()
    }
}

impl Environment {
    /// A variable that is set and not empty.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }
}

/// Who is asked, in this order, one after the other until one answers. Nobody: the reflexes are all there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Perceives, plans and judges the whole.
    pub brain: Vec<Endpoint>,
    /// Acts, and checks what was done.
    pub hands: Vec<Endpoint>,
    /// One sentence.
    pub why: String,
    /// Those that were meant and cannot be asked: who, and why.
    pub passed_over: Vec<(String, String)>,
}

impl Chosen {
    #[must_use]
    pub fn is_reflex(&self) -> bool {
        self.brain.is_empty()
    }

    /// Those of `brain` that may judge a plan, whoever of them made it.
    ///
    /// INVARIANT (no-weaker-judge): whoever judges is ranked no lower than whoever may have planned. A weaker fallback
    /// plans where the others are away, and judges nothing.
    #[must_use]
    pub fn judges(&self) -> Vec<Endpoint> {
        let best = self.brain.iter().map(|endpoint| endpoint.rank).max().unwrap_or_default();
        self.brain.iter().filter(|endpoint| endpoint.rank >= best).cloned().collect()
    }

    fn reflex(why: String) -> Self {
        Self { brain: Vec::new(), hands: Vec::new(), why, passed_over: Vec::new() }
    }

    fn besides(self, passed_over: Vec<(String, String)>) -> Self {
        Self { passed_over, ..self }
    }
}

/// What is wrong with what the owner said.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mistake {
    #[error("{what} is no model; write `provider/model`, like `anthropic/claude-sonnet-5-5`")]
    NotAModel { what: String },
    #[error("there is no provider `{name}`; {hint}")]
    NoSuchProvider { name: String, hint: String },
    #[error("none of model.{tier} can be asked: {}", reasons(.passed_over))]
    NoneUsable { tier: &'static str, passed_over: Vec<(String, String)> },
    #[error(
        "model.hands is `reflex` and model.brain is not: who plans needs somebody who acts; leave model.hands empty, or set model.brain to `reflex`"
    )]
    HalfReflex,
    #[error("provider.{name}: {why}")]
    Provider { name: String, why: String },
    #[error("{why}")]
    Unconfirmed { why: String },
}

fn reasons(passed_over: &[(String, String)]) -> String {
    let each: Vec<String> = passed_over.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    each.join("; ")
}

/// Decides who is asked. Nothing is probed where the settings or a key decide.
///
/// # Errors
/// If the settings name what is not there, or nobody that can be asked.
pub async fn choose(
    wishes: &Wishes,
    environment: &Environment,
    probe: &dyn Probe,
) -> Result<Chosen, Mistake> {
    match (wishes.brain.list.as_str(), wishes.hands.list.as_str()) {
        ("", "") => Ok(match by_key(wishes, environment)? {
            Ok(chosen) => chosen,
            Err(passed_over) => by_server(wishes, environment, probe, passed_over).await?,
        }),
        // Whoever says so wants nothing to leave, whatever else is written.
        (REFLEX, _) => Ok(Chosen::reflex(format!("model.brain is `reflex` ({})", wishes.brain.origin))),
        ("", REFLEX) => Ok(Chosen::reflex(format!("model.hands is `reflex` ({})", wishes.hands.origin))),
        (_, REFLEX) => Err(Mistake::HalfReflex),
        (_, "") => by_settings(wishes, environment, [("brain", &wishes.brain), ("brain", &wishes.brain)]),
        ("", _) => by_settings(wishes, environment, [("hands", &wishes.hands), ("hands", &wishes.hands)]),
        _ => by_settings(wishes, environment, [("brain", &wishes.brain), ("hands", &wishes.hands)]),
    }
}

fn by_settings(
    wishes: &Wishes,
    environment: &Environment,
    [brain, hands]: [(&'static str, &Wish); 2],
) -> Result<Chosen, Mistake> {
    let mut passed_over = Vec::new();
    let mut list = |(tier, wish): (&'static str, &Wish)| {
        let (found, missing) = endpoints(wishes, environment, &wish.list)?;
        if found.is_empty() {
            return Err(Mistake::NoneUsable { tier, passed_over: missing });
        }
        passed_over.extend(missing);
        Ok(found)
    };
    let (of_brain, of_hands) = (list(brain)?, list(hands)?);
    passed_over.sort();
    passed_over.dedup();
    let why = match (brain.0, hands.0) {
        (tier, other) if tier == other => {
            format!("model.{tier} is set ({}), and stands for both", brain.1.origin)
        }
        _ if brain.1.origin == hands.1.origin => {
            format!("model.brain and model.hands are set ({})", brain.1.origin)
        }
        _ => format!("model.brain is set ({}), and model.hands ({})", brain.1.origin, hands.1.origin),
    };
    Ok(Chosen { brain: of_brain, hands: of_hands, why, passed_over })
}

/// The models of a list that can be asked, and the others with the reason.
///
/// # Errors
/// If one of them is no model, or of a provider that is not there.
#[expect(clippy::type_complexity, reason = "two lists that belong together")]
pub fn endpoints(
    wishes: &Wishes,
    environment: &Environment,
    list: &str,
) -> Result<(Vec<Endpoint>, Vec<(String, String)>), Mistake> {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for (provider, model) in parse(list)? {
        let provider = Provider::of(wishes, environment, &provider)?;
        match provider.endpoint(wishes, environment, &model) {
            Ok(endpoint) => found.push(endpoint),
            Err(why) => missing.push((format!("{}/{model}", provider.name), why)),
        }
    }
    Ok((found, missing))
}

/// `anthropic/claude-sonnet-5-5, ollama/qwen3:8b` as pairs; the model's own name may hold a slash.
///
/// # Errors
/// If one of them is no model.
pub fn parse(list: &str) -> Result<Vec<(String, String)>, Mistake> {
    let one = |text: &str| {
        let text = text.trim();
        let pair = text.split_once('/').filter(|(provider, model)| is_name(provider) && is_model(model));
        let shown =
            || if crate::key::looks_like_key(text) { "a key".to_owned() } else { format!("`{text}`") };
        match pair {
            Some((provider, model)) => Ok((provider.to_owned(), model.to_owned())),
            None => Err(Mistake::NotAModel { what: shown() }),
        }
    };
    list.split(',').map(one).collect()
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'_' | b'-'))
}

fn is_model(model: &str) -> bool {
    !model.is_empty() && model.chars().all(|c| c.is_ascii_graphic() && c != ',')
}

/// The first provider that there is a key for; or whose key cannot be used, which is said.
fn by_key(
    wishes: &Wishes,
    environment: &Environment,
) -> Result<Result<Chosen, Vec<(String, String)>>, Mistake> {
    let unread = environment.unread.iter().map(|why| ("keys".to_owned(), why.clone()));
    let mut passed_over: Vec<(String, String)> = unread.collect();
    for Known { name, brain, hands, .. } in KNOWN.iter().filter(|known| !known.is_local()) {
        let provider = Provider::of(wishes, environment, name)?;
        let Some(said) = provider.key_is_meant(wishes, environment) else { continue };
        let both = [brain, hands].map(|model| provider.endpoint(wishes, environment, model));
        match both {
            [Ok(brain), Ok(hands)] => {
                let why = format!("no model is set, and there is a key ({said})");
                return Ok(Ok(Chosen { brain: vec![brain], hands: vec![hands], why, passed_over }));
            }
            // Another provider is not what the owner meant here.
            [Err(why), _] if provider.held_back.is_some() => return Err(Mistake::Unconfirmed { why }),
            [Err(why), _] | [_, Err(why)] => passed_over.push(((*name).to_owned(), why)),
        }
    }
    Ok(Err(passed_over))
}

async fn by_server(
    wishes: &Wishes,
    environment: &Environment,
    probe: &dyn Probe,
    mut passed_over: Vec<(String, String)>,
) -> Result<Chosen, Mistake> {
    let ollama = Provider::of(wishes, environment, "ollama")?;
    let llamacpp = Provider::of(wishes, environment, "llamacpp")?;
    for provider in [&ollama, &llamacpp].into_iter().filter(|provider| !may_be_probed(&provider.url)) {
        let why = format!(
            "{} is not on this machine, and is not asked unless a model of it is set",
            provider.host()
        );
        passed_over.push((provider.name.clone(), why));
    }
    let [at, other] = [&ollama, &llamacpp].map(|one| Some(one.url.as_str()).filter(|url| may_be_probed(url)));
    let Detected { server, refused } = detect(at, other, probe).await;
    let is_refused = |provider: &Provider| refused.iter().any(|(name, _)| *name == provider.name);
    for (name, why) in &refused {
        let why = format!("{why}; if you trust it: regent model set brain {name}/<model>");
        passed_over.push(((*name).to_owned(), why));
    }
    let Some(server) = server else {
        let places: Vec<String> = [("Ollama", &ollama), ("llama.cpp", &llamacpp)]
            .iter()
            .filter(|(_, provider)| may_be_probed(&provider.url) && !is_refused(provider))
            .map(|(name, provider)| format!("{name} ({})", provider.host()))
            .collect();
        let nobody = match places.as_slice() {
            [] => "and no server on this machine was asked".to_owned(),
            [one] => format!("and {one} does not answer with one"),
            more => format!("and neither {} answers with one", more.join(" nor ")),
        };
        return Ok(Chosen::reflex(format!("no model is set, there is no key, {nobody}")).besides(passed_over));
    };
    let provider = if server.provider == "ollama" { &ollama } else { &llamacpp };
    let server = server.without(provider.key.as_ref().ok().and_then(|key| key.as_ref().map(|(key, _)| key)));
    let Some(model) = server.models.first() else {
        return Ok(Chosen::reflex(String::new()).besides(passed_over));
    };
    match provider.endpoint(wishes, environment, model) {
        Ok(endpoint) => {
            let endpoint = Endpoint { detected: true, ..endpoint };
            let why = format!(
                "no model is set, there is no key, and {} answers at {}; {model} is the largest of its {}",
                server.called,
                provider.host(),
                server.models.len()
            );
            Ok(Chosen { brain: vec![endpoint.clone()], hands: vec![endpoint], why, passed_over })
        }
        Err(why) => {
            passed_over.push((format!("{}/{model}", provider.name), why));
            Ok(Chosen::reflex("no model is set, there is no key, and none here can be asked".into())
                .besides(passed_over))
        }
    }
}

/// Where a provider is, unless the settings say otherwise.
pub(crate) fn usual_url(known: &Known, environment: &Environment) -> String {
    match known.dialect {
        Dialect::Ollama => ollama_url(environment.variable("OLLAMA_HOST")),
        _ => known.url.to_owned(),
    }
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
