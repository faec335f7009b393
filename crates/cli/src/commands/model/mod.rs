//! Language models: `model list`, `model test`, `model set`, `model confirm`. The crate `host` selects, tests and writes; here the
//! arguments are mapped and the results printed.

mod list;
mod test;

use app::App;
use host::ProcessEnvironment;
use host::model_selection::{
    ConfirmedHost, ModelDisclosure, ModelReporter, ModelSelection, ModelSetting, ModelTier,
};

use super::Done;
use crate::args::{Model, Tier};
use crate::show::{Screen, Tone, inline};

/// Prints on standard error what the owner has to know while models are chosen.
pub(crate) struct ScreenReporter(pub(crate) Screen);

impl ModelReporter for ScreenReporter {
    fn show_disclosure(&self, disclosure: &ModelDisclosure) {
        for line in disclosure.text.lines() {
            self.0.note(&inline(line));
        }
    }

    fn show_unavailable(&self, model: &str, why: &str) {
        self.0.note(&format!("{} is passed over: {}", inline(model), inline(why)));
    }
}

pub(crate) async fn model(
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    command: Model,
) -> Done {
    let selection = ModelSelection::load(app.settings(), surroundings)?;
    match command {
        Model::List => list::list(screen, &selection).await,
        Model::Test { who } => test::test(app, screen, &selection, who.as_deref()).await,
        Model::Set { tier, models } => {
            let each: Vec<&str> = models.iter().map(|one| one.trim_matches([',', ' '])).collect();
            set(app, screen, surroundings, selection, (tier, &each.join(","))).await
        }
        Model::Confirm { provider, host } => confirm(screen, &selection, &provider, &host),
    }
}

async fn set(
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    mut selection: ModelSelection,
    (tier, list): (Tier, &str),
) -> Done {
    let tier = match tier {
        Tier::Brain => ModelTier::Brain,
        Tier::Hands => ModelTier::Hands,
    };
    let ModelSetting { name, value, file, hidden_by, chosen } =
        selection.set_models(tier, list, surroundings).await?;
    if screen.json {
        let what = chosen.as_ref().ok().map(list::chosen_json);
        let problem = chosen.as_ref().err();
        screen.json_line(&serde_json::json!({ "setting": name, "value": value, "file": file, "chosen": what, "problem": problem }))?;
        return Ok(0);
    }
    screen.line(&format!("{name} is {value:?} in {}", inline(&file)))?;
    if let Some(variable) = hidden_by {
        screen.note(&format!("the environment's {variable} counts before it"));
    }
    match chosen {
        Ok(chosen) => {
            list::show_chosen(screen, &selection, &chosen)?;
            let budget = app.settings().get("budget.day.money");
            selection.disclose(&chosen, budget, &ScreenReporter(screen.clone()));
        }
        Err(problem) => screen.note(&format!("note {}: {}", problem.code, inline(&problem.what))),
    }
    Ok(0)
}

fn confirm(screen: &Screen, selection: &ModelSelection, provider: &str, host: &str) -> Done {
    let ConfirmedHost { provider, host, file } = selection.confirm_host(provider, host)?;
    if screen.json {
        screen.json_line(&serde_json::json!({ "provider": provider, "host": host, "file": file }))?;
        return Ok(0);
    }
    screen.line(&format!("the key of {provider} may go to {host} from now on; kept in {}", inline(&file)))?;
    Ok(0)
}

/// `2, 0.2 kept, 10`: what a million tokens cost.
fn price(price: models::Price, listed: models::Listed) -> String {
    use models::Listed;
    let amounts =
        || format!("{} in, {} kept, {} out", amount(price.input), amount(price.cached), amount(price.output));
    match listed {
        Listed::Local => "nothing".to_owned(),
        Listed::Shipped => amounts(),
        Listed::Own => format!("{} (prices.toml)", amounts()),
        Listed::Unlisted => format!("{} (not listed: charged like the dearest)", amounts()),
    }
}

/// Millionths as a person writes them, to the last digit: `0.075`.
fn amount(millionths: u64) -> String {
    let (whole, part) = (millionths / 1_000_000, millionths % 1_000_000);
    let text = format!("{whole}.{part:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn faint(screen: &Screen, text: &str) -> String {
    screen.tinted(text, Tone::Faint)
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn amounts_to_the_last_digit() {
        let table = [(0, "0"), (3_000_000, "3"), (75_000, "0.075"), (1, "0.000001"), (12_500_000, "12.5")];
        for (millionths, expected) in table {
            assert_eq!(amount(millionths), expected);
        }
    }
}
