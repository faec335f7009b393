//! A provider as it is spoken to: what is known of it, with what the owner says in its place.

use std::collections::{BTreeMap, BTreeSet};

use domain::DataClass;

use crate::address::{authority, destination, is_loopback};
use crate::catalog::{self, Known};
use crate::choice::{Environment, Mistake, Wishes, usual_url};
use crate::{Dialect, Endpoint, Key, Listed, Price};

/// The most that a model may write in one reply.
const TOKENS_OUT: u32 = 8_192;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    pub name: String,
    pub dialect: Dialect,
    pub url: String,
    /// A key and where it came from, nothing where none is needed, or why there is none.
    pub key: Result<Option<(Key, String)>, String>,
    /// Why the key does not go to this address.
    pub held_back: Option<String>,
    pub data: Option<BTreeSet<DataClass>>,
    /// Whether it may be spoken to in plain text on another machine.
    pub plain: bool,
}

impl Provider {
    /// # Errors
    /// If nobody is called like this, or nobody says where it is.
    pub fn of(wishes: &Wishes, environment: &Environment, name: &str) -> Result<Self, Mistake> {
        let nothing = BTreeMap::new();
        let said = wishes.providers.get(name);
        let known = catalog::known(name);
        if said.is_none() && known.is_none() {
            let hint = nearest(name, wishes.names());
            let hint = hint.map_or_else(
                || format!("a server of your own needs `provider.{name}.url`"),
                |hint| format!("did you mean `{hint}`?"),
            );
            return Err(Mistake::NoSuchProvider { name: name.to_owned(), hint });
        }
        let said = said.unwrap_or(&nothing);
        let field = |field: &str| said.get(field).map(String::as_str).filter(|value| !value.is_empty());
        let url = field("url").map(|url| url.trim_end_matches('/').to_owned());
        let url = url.or_else(|| known.map(|known| usual_url(known, environment)));
        let missing = || Mistake::Provider {
            name: name.to_owned(),
            why: format!("nobody says where it is: set `provider.{name}.url`"),
        };
        let url = url.ok_or_else(missing)?;
        let key = key(name, known, field("key"), environment);
        let origin = key.as_ref().ok().and_then(Option::as_ref).map(|(_, origin)| origin.as_str());
        let held_back = origin.and_then(|origin| held_back(origin, &url, environment));
        let dialect =
            field("dialect").and_then(|word| Dialect::ALL.into_iter().find(|one| one.name() == word));
        Ok(Self {
            name: name.to_owned(),
            dialect: dialect.or(known.map(|known| known.dialect)).unwrap_or(Dialect::Chat),
            url,
            key,
            held_back,
            data: field("data").and_then(classes),
            plain: matches!(field("plain"), Some("yes" | "true")),
        })
    }

    #[must_use]
    pub fn host(&self) -> &str {
        authority(&self.url)
    }

    #[must_use]
    pub fn is_outside(&self) -> bool {
        !is_loopback(&self.url)
    }

    /// One of its models, as it can be asked.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn endpoint(
        &self,
        wishes: &Wishes,
        environment: &Environment,
        model: &str,
    ) -> Result<Endpoint, String> {
        let (key, key_from) =
            self.key.clone()?.map_or_else(Default::default, |(key, origin)| (Some(key), place(&origin)));
        self.may_be_reached()?;
        let (price, _) = self.price(environment, model);
        Ok(Endpoint {
            provider: self.name.clone(),
            dialect: self.dialect,
            url: self.url.clone(),
            model: model.to_owned(),
            key,
            key_from,
            plain_http: self.plain,
            rank: rank(wishes, &self.name, model),
            price,
            tokens_out: TOKENS_OUT,
            data: self.data.clone(),
            detected: false,
        })
    }

    /// # Errors
    /// Why nobody is to speak to it.
    pub fn may_be_reached(&self) -> Result<(), String> {
        if let Some(why) = &self.held_back {
            return Err(why.clone());
        }
        if self.url.starts_with("https://") || !self.is_outside() || self.plain {
            return Ok(());
        }
        Err(format!(
            "{} is another machine and `http` is not private; use `https`, or set provider.{}.plain to `yes`",
            self.host(),
            self.name
        ))
    }

    /// What one of its models costs, and who says so.
    #[must_use]
    pub fn price(&self, environment: &Environment, model: &str) -> (Price, Listed) {
        match self.is_outside() {
            true => environment.prices.of(&format!("{}/{model}", self.name)),
            false => (Price::default(), Listed::Local),
        }
    }

    /// Where its key is, if there is one or is meant to be one.
    pub(crate) fn key_is_meant(&self, wishes: &Wishes, environment: &Environment) -> Option<String> {
        if let Ok(found) = &self.key {
            return found.as_ref().map(|(_, origin)| origin.clone());
        }
        // One is there and cannot be used: whoever put it there is to hear of it.
        let said = wishes.providers.get(&self.name).and_then(|said| said.get("key")?.split_once(':'));
        let known = catalog::known(&self.name).map(|known| known.variables).unwrap_or_default();
        let (file, variables) = match &said {
            Some(("env", from)) => (None, std::slice::from_ref(from)),
            Some((_, from)) => (Some(*from), [].as_slice()),
            None => (Some(self.name.as_str()), known),
        };
        let file = file.filter(|file| environment.files.contains_key(*file));
        let variable = || variables.iter().find(|variable| environment.variable(variable).is_some());
        file.map(|file| format!("keys/{file}"))
            .or_else(|| variable().map(|variable| format!("environment {variable}")))
    }
}

/// The provider of the list that a key is for, by the place where it lies.
fn issuer(origin: &str) -> Option<&'static Known> {
    catalog::KNOWN.iter().filter(|known| !known.is_local()).find(|known| {
        match origin.strip_prefix("environment ") {
            Some(variable) => known.variables.contains(&variable),
            None => origin.strip_prefix("file keys/") == Some(known.name),
        }
    })
}

/// INVARIANT (own-host): a key of a provider of the list goes to that provider's own host, or to one that the owner has
/// confirmed for it.
fn held_back(origin: &str, url: &str, environment: &Environment) -> Option<String> {
    let name = issuer(origin)?.name;
    let (host, own) = (destination(url), destination(issuer(origin)?.url));
    let is_confirmed = environment.confirmed.iter().any(|(of, to)| of == name && *to == host);
    let why = || {
        format!(
            "the key of {name} would go to {host} instead of {own}; if you want that: regent model confirm {name} {host}"
        )
    };
    (host != own && !is_confirmed).then(why)
}

/// The host that a key of a provider is confirmed for, as it is compared.
///
/// # Errors
/// If there is no key of such a provider, or this names no host.
pub fn confirmable(provider: &str, host: &str) -> Result<(String, String), Mistake> {
    let known = catalog::known(provider).filter(|known| !known.is_local());
    let hint = || {
        "only keys of the providers that `regent model list` shows with a variable are held back".to_owned()
    };
    let known = known.ok_or_else(|| Mistake::NoSuchProvider { name: provider.to_owned(), hint: hint() })?;
    let to = if host.contains("://") { destination(host) } else { destination(&format!("https://{host}")) };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    if to.is_empty() || !to.chars().all(fits) {
        let why = "this names no host; write it like `proxy.example.org` or `127.0.0.1:4000`".to_owned();
        return Err(Mistake::Provider { name: known.name.to_owned(), why });
    }
    Ok((known.name.to_owned(), to))
}

/// Where a new key would be put: `ANTHROPIC_API_KEY`, `the file keys/anthropic`.
fn place(origin: &str) -> String {
    match origin.strip_prefix("environment ") {
        Some(variable) => variable.to_owned(),
        None => format!("the {origin}"),
    }
}

fn key(
    name: &str,
    known: Option<&Known>,
    said: Option<&str>,
    environment: &Environment,
) -> Result<Option<(Key, String)>, String> {
    let variable = |variable: &str| {
        let value = environment.variable(variable)?;
        Some(Key::read(value).map(|key| (key, format!("environment {variable}"))))
    };
    let file = |file: &str| {
        let found = environment.files.get(file)?;
        Some(found.clone().map(|key| (key, format!("file keys/{file}"))))
    };
    match said.and_then(|said| said.split_once(':')) {
        Some(("env", from)) => {
            let found = variable(from).ok_or_else(|| format!("the variable {from} is not set"))?;
            return found.map(Some).map_err(|why| format!("{from}: {why}"));
        }
        Some((_, from)) => {
            let missing = || match &environment.unread {
                Some(why) => why.clone(),
                None => format!("there is no file `{from}` in the folder `keys`"),
            };
            let found = file(from).ok_or_else(missing)?;
            return found.map(Some);
        }
        None => {}
    }
    if let Some(found) = file(name) {
        return found.map(Some);
    }
    let variables = known.map(|known| known.variables).unwrap_or_default();
    for from in variables {
        if let Some(found) = variable(from) {
            return found.map(Some).map_err(|why| format!("{from}: {why}"));
        }
    }
    match (variables, &environment.unread) {
        ([], _) => Ok(None),
        ([first, ..], Some(why)) => Err(format!("{why}; or set {first}")),
        ([first, ..], None) => {
            Err(format!("there is no key; set {first}, or put it into the file `keys/{name}`"))
        }
    }
}

/// `logistics, finance`; `all` is no limit.
fn classes(value: &str) -> Option<BTreeSet<DataClass>> {
    if value == "all" {
        return None;
    }
    let class = |name: &str| DataClass::ALL.iter().copied().find(|class| class.name() == name.trim());
    Some(value.split(',').filter_map(class).collect())
}

/// As the owner ranks it, by the longest name that fits; or as it is held to be.
fn rank(wishes: &Wishes, provider: &str, model: &str) -> u32 {
    let name = format!("{provider}/{model}");
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    };
    let said = wishes.ranks.iter().filter(|(pattern, _)| fits(pattern));
    let longest = said.max_by_key(|(pattern, _)| (!pattern.ends_with('*'), pattern.len()));
    longest.map_or_else(|| catalog::rank(model), |(_, rank)| *rank)
}

/// What somebody who wrote this may have meant.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = |candidate: &str| {
        let shared = name.chars().zip(candidate.chars()).take_while(|(a, b)| a == b).count();
        let letters = name.chars().filter(|&c| candidate.contains(c)).count();
        let (most, least) = (name.len().max(candidate.len()), name.len().min(candidate.len()));
        (letters * 4 >= most * 3 && most - least <= 2 && shared > 0).then_some((letters, shared))
    };
    let found = known.filter_map(|candidate| Some((near(candidate)?, candidate)));
    found.max().map(|(_, candidate)| candidate)
}
