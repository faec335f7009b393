//! Who is asked, and who could be.

use std::io;

use models::catalog;
use models::listener::Listener;
use models::{Chosen, Endpoint, Listed, Probe as _, Provider};
use serde_json::{Value, json};

use super::{Done, Shop, faint, price, problem};
use crate::edge::Loopback;
use crate::show::{Screen, Tone, inline};

/// A provider, and whether it can be used.
struct Row {
    provider: Provider,
    usable: Result<String, String>,
}

pub(super) async fn list(screen: &Screen, shop: &Shop) -> Done {
    let chosen = shop.choose().await;
    let mut rows = Vec::new();
    for name in shop.wishes.names() {
        let provider =
            Provider::of(&shop.wishes, &shop.environment, name).map_err(|mistake| problem(&mistake))?;
        let usable = usable(&provider).await;
        rows.push(Row { provider, usable });
    }
    if screen.json {
        let rows: Vec<Value> = rows.iter().map(row_json).collect();
        let chosen_json = chosen.as_ref().ok().map(chosen_json);
        screen.json_line(
            &json!({ "chosen": chosen_json, "problem": chosen.as_ref().err(), "providers": rows }),
        )?;
        return Ok(chosen.err().map_or(0, |problem| problem.code.exit()));
    }
    if let Ok(chosen) = &chosen {
        show_chosen(screen, shop, chosen)?;
        screen.line("")?;
    }
    for Row { provider, usable } in &rows {
        let (word, tone, what) = match usable {
            Ok(what) => ("yes", Tone::Good, what),
            Err(why) => ("no", Tone::Faint, why),
        };
        let word = screen.tinted(&format!("{word:<3}"), tone);
        screen.line(&format!(
            "{:<11} {word}  {:<33}  {}",
            provider.name,
            inline(provider.host()),
            inline(what)
        ))?;
    }
    chosen.map(|_| 0).map_err(Into::into)
}

/// What lets it be used, or what is missing. Whoever is on this machine is asked whether they are there.
async fn usable(provider: &Provider) -> Result<String, String> {
    let key = provider.key.clone()?.map(|(_, origin)| origin);
    provider.may_be_reached()?;
    if provider.is_outside() {
        return Ok(key.map_or_else(|| "no key".to_owned(), |origin| format!("key: {origin}")));
    }
    match Loopback.listener(&provider.url) {
        Listener::Trusted => {}
        Listener::Absent => return Err("does not answer".to_owned()),
        Listener::Refused(why) => {
            return Err(format!("{why}; if you trust it: regent model set brain {}/<model>", provider.name));
        }
    }
    let page = match provider.dialect {
        models::Dialect::Ollama => format!("{}/api/version", provider.url),
        _ => format!("{}/models", provider.url),
    };
    match Loopback.get(&page).await {
        Some(_) => Ok("answers".to_owned()),
        None => Err("does not answer".to_owned()),
    }
}

/// The models that are asked, in their order, and why.
pub(super) fn show_chosen(screen: &Screen, shop: &Shop, chosen: &Chosen) -> io::Result<()> {
    let judges = chosen.judges();
    for (tier, list) in [("brain", &chosen.brain), ("hands", &chosen.hands)] {
        let mut label = tier;
        for endpoint in list {
            let listed = listed(shop, endpoint);
            let judges_not = tier == "brain" && !judges.contains(endpoint);
            let note = if judges_not { "; plans if it must, and does not judge" } else { "" };
            screen.line(&format!(
                "{label:<11} {}   {}",
                inline(&endpoint.name()),
                faint(
                    screen,
                    &format!(
                        "rank {}{note}; a million tokens: {}",
                        endpoint.rank,
                        price(endpoint.price, listed)
                    )
                )
            ))?;
            label = "";
        }
        if list.is_empty() {
            screen.line(&format!("{tier:<11} reflex"))?;
        }
    }
    screen.line(&format!("{:<11} {}", "why", inline(&chosen.why)))?;
    for (name, why) in &chosen.passed_over {
        screen.line(&format!("{:<11} {}: {}", "passed over", inline(name), inline(why)))?;
    }
    Ok(())
}

fn listed(shop: &Shop, endpoint: &Endpoint) -> Listed {
    match endpoint.is_outside() {
        true => shop.environment.prices.of(&endpoint.name()).1,
        false => Listed::Local,
    }
}

pub(super) fn chosen_json(chosen: &Chosen) -> Value {
    let judges = chosen.judges();
    let one = |endpoint: &Endpoint| {
        json!({
            "model": endpoint.name(),
            "host": endpoint.host(),
            "outside": endpoint.is_outside(),
            "rank": endpoint.rank,
            "price": endpoint.price,
        })
    };
    let brain = chosen.brain.iter().map(|endpoint| {
        let mut shown = one(endpoint);
        if let Some(fields) = shown.as_object_mut() {
            fields.insert("judges".into(), judges.contains(endpoint).into());
        }
        shown
    });
    let brain: Vec<Value> = brain.collect();
    let hands: Vec<Value> = chosen.hands.iter().map(one).collect();
    let passed: Vec<Value> =
        chosen.passed_over.iter().map(|(name, why)| json!({ "model": name, "why": why })).collect();
    json!({ "brain": brain, "hands": hands, "why": chosen.why, "passed_over": passed })
}

fn row_json(Row { provider, usable }: &Row) -> Value {
    let key = provider.key.as_ref().ok().and_then(Option::as_ref).map(|(_, origin)| origin);
    let variables = catalog::known(&provider.name).map(|known| known.variables).unwrap_or_default();
    json!({
        "provider": provider.name,
        "dialect": provider.dialect,
        "url": provider.url,
        "outside": provider.is_outside(),
        "usable": usable.is_ok(),
        "why": usable.as_ref().err(),
        "key": key,
        "variables": variables,
    })
}
