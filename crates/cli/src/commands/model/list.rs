//! `model list`: the models that are asked, and every provider.

use std::io;

use host::model_selection::{ModelSelection, ProviderStatus};
use models::{Chosen, Endpoint, catalog};
use serde_json::{Value, json};

use super::{Done, faint, price};
use crate::show::{Screen, Tone, inline};

pub(super) async fn list(screen: &Screen, selection: &ModelSelection) -> Done {
    let chosen = selection.choose().await;
    let rows = selection.list_providers().await?;
    if screen.json {
        let rows: Vec<Value> = rows.iter().map(row_json).collect();
        let chosen_json = chosen.as_ref().ok().map(chosen_json);
        screen.json_line(
            &json!({ "chosen": chosen_json, "problem": chosen.as_ref().err(), "providers": rows }),
        )?;
        return Ok(chosen.err().map_or(0, |problem| problem.code.exit()));
    }
    if let Ok(chosen) = &chosen {
        show_chosen(screen, selection, chosen)?;
        screen.line("")?;
    }
    for ProviderStatus { provider, usable } in &rows {
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

/// The models that are asked, in their order, and why.
pub(super) fn show_chosen(screen: &Screen, selection: &ModelSelection, chosen: &Chosen) -> io::Result<()> {
    let judges = chosen.judges();
    for (tier, list) in [("brain", &chosen.brain), ("hands", &chosen.hands)] {
        let mut label = tier;
        for endpoint in list {
            let listed = selection.find_price_listing(endpoint);
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

fn row_json(ProviderStatus { provider, usable }: &ProviderStatus) -> Value {
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
