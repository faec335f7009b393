//! Language models: `model list`, `model test`, `model set`, and what the doctor says of them.

mod list;
mod test;

use domain::IdSource as _;
use models::{Chosen, Environment, Mistake, Wishes};
use runtime::settings::Settings;
use runtime::{App, Code, Finding, House, Problem, State};

use super::Done;
use crate::args::{Model, Tier};
use crate::edge::{self, Loopback, OsIds, Surroundings};
use crate::show::{Screen, Tone, inline};

/// What a command about models works with.
struct Shop {
    house: House,
    wishes: Wishes,
    environment: Environment,
}

impl Shop {
    fn open(settings: &Settings, surroundings: &Surroundings) -> Result<Self, Problem> {
        let house = surroundings.house()?;
        let wishes = Wishes::read(settings.about_models());
        let environment = edge::shop_environment(&house, surroundings, &wishes)?;
        Ok(Self { house, wishes, environment })
    }

    async fn choose(&self) -> Result<Chosen, Problem> {
        models::choose(&self.wishes, &self.environment, &Loopback).await.map_err(|mistake| problem(&mistake))
    }
}

/// A mistake in what the owner said, as an error.
pub(crate) fn problem(mistake: &Mistake) -> Problem {
    let code = match mistake {
        Mistake::NoneUsable { .. } => Code::MODEL_UNUSABLE,
        Mistake::Unconfirmed { .. } => Code::KEY_HELD_BACK,
        _ => Code::BAD_MODEL,
    };
    Problem::new(code, mistake.to_string()).safe("nothing left this machine").remedy("regent model list")
}

pub(crate) async fn model(app: &App, screen: &Screen, surroundings: &Surroundings, command: Model) -> Done {
    let shop = Shop::open(app.settings(), surroundings)?;
    match command {
        Model::List => list::list(screen, &shop).await,
        Model::Test { who } => test::test(app, screen, &shop, who.as_deref(), edge::line).await,
        Model::Set { tier, models } => {
            let each: Vec<&str> = models.iter().map(|one| one.trim_matches([',', ' '])).collect();
            set(app, screen, surroundings, shop, (tier, &each.join(","))).await
        }
        Model::Confirm { provider, host } => confirm(screen, &shop, &provider, &host),
    }
}

async fn set(
    app: &App,
    screen: &Screen,
    surroundings: &Surroundings,
    shop: Shop,
    (tier, wanted): (Tier, &str),
) -> Done {
    const AUTO: &str = "auto";
    let list = match wanted.trim() {
        AUTO => String::new(),
        models::REFLEX => models::REFLEX.to_owned(),
        list => {
            let unchanged =
                |mistake: Mistake| Problem { safe: Some("nothing was changed".into()), ..problem(&mistake) };
            models::endpoints(&shop.wishes, &shop.environment, list).map_err(unchanged)?;
            let pairs = models::parse(list).map_err(unchanged)?;
            let names: Vec<String> =
                pairs.iter().map(|(provider, model)| format!("{provider}/{model}")).collect();
            names.join(", ")
        }
    };
    let name = format!("model.{}", tier.name());
    edge::set_setting(&shop.house, &name, &list, &OsIds.bits().to_string())?;
    let file = shop.house.settings_file().display().to_string();
    let variable = format!("REGENT_{}", name.replace('.', "_").to_uppercase());
    let hidden = surroundings.variable(&variable).is_some();
    let mut shop = shop;
    if !hidden {
        let wish = models::Wish { list: list.clone(), origin: file.clone() };
        match tier {
            Tier::Brain => shop.wishes.brain = wish,
            Tier::Hands => shop.wishes.hands = wish,
        }
    }
    let chosen = shop.choose().await;
    if screen.json {
        let what = chosen.as_ref().ok().map(list::chosen_json);
        let problem = chosen.as_ref().err();
        screen.json_line(&serde_json::json!({ "setting": name, "value": list, "file": file, "chosen": what, "problem": problem }))?;
        return Ok(0);
    }
    screen.line(&format!("{name} is {:?} in {}", list, inline(&file)))?;
    if hidden {
        screen.note(&format!("the environment's {variable} counts before it"));
    }
    match chosen {
        Ok(chosen) => {
            list::show_chosen(screen, &shop, &chosen)?;
            tell(screen, &shop.house, &chosen, app.settings().get("budget.day.money"));
        }
        Err(problem) => screen.note(&format!("note {}: {}", problem.code, inline(&problem.what))),
    }
    Ok(0)
}

fn confirm(screen: &Screen, shop: &Shop, provider: &str, host: &str) -> Done {
    let unchanged =
        |mistake: Mistake| Problem { safe: Some("nothing was changed".into()), ..problem(&mistake) };
    let (provider, host) = models::confirmable(provider, host).map_err(unchanged)?;
    if !shop.environment.confirmed.contains(&(provider.clone(), host.clone())) {
        edge::keep_confirmed(&shop.house, &provider, &host)?;
    }
    let file = shop.house.confirmed().display().to_string();
    if screen.json {
        screen.json_line(&serde_json::json!({ "provider": provider, "host": host, "file": file }))?;
        return Ok(0);
    }
    screen.line(&format!("the key of {provider} may go to {host} from now on; kept in {}", inline(&file)))?;
    Ok(0)
}

/// Tells the owner, once for each machine, what goes there from now on. Whoever asks a model outside calls it before.
pub(crate) fn tell(screen: &Screen, house: &House, chosen: &Chosen, budget: &str) {
    for (host, words) in models::notice(chosen, &edge::told(house), budget) {
        for line in words.lines() {
            screen.note(&inline(line));
        }
        drop(edge::keep_told(house, &host)); // or else they are told again
    }
}

/// Who is asked about what is beyond the reflexes, once the owner was told of it.
pub(crate) fn choice(settings: &Settings, surroundings: &Surroundings, screen: &Screen) -> edge::Choice {
    let (settings, surroundings, screen) = (settings.clone(), surroundings.clone(), screen.clone());
    Box::new(move || {
        let (settings, surroundings, screen) = (settings.clone(), surroundings.clone(), screen.clone());
        Box::pin(async move {
            let shop = Shop::open(&settings, &surroundings)?;
            let chosen = shop.choose().await?;
            tell(&screen, &shop.house, &chosen, settings.get("budget.day.money"));
            for (name, why) in chosen.passed_over.iter().filter(|_| chosen.is_reflex()) {
                screen.note(&format!("{} is passed over: {}", inline(name), inline(why)));
            }
            Ok(chosen)
        })
    })
}

/// Which model is asked and why, for the doctor.
pub(crate) async fn finding(app: &App, surroundings: &Surroundings) -> Vec<Finding> {
    const NAME: &str = "model";
    let found = match Shop::open(app.settings(), surroundings) {
        Ok(shop) => shop.choose().await,
        Err(problem) => Err(problem),
    };
    let chosen = match found {
        Ok(chosen) => chosen,
        Err(problem) => {
            let remedy = Some(format!("regent explain {}", problem.code));
            return vec![Finding { name: NAME, state: State::Bad, what: problem.what, remedy }];
        }
    };
    let names = |list: &[models::Endpoint]| {
        list.iter().map(models::Endpoint::name).collect::<Vec<_>>().join(", then ")
    };
    let said = app.settings().get("model.brain") == models::REFLEX
        || app.settings().get("model.hands") == models::REFLEX;
    let first = if chosen.is_reflex() {
        let remedy = (!said).then(|| "regent model set brain <provider>/<model>".to_owned());
        let state = if said { State::Ok } else { State::Warn };
        Finding {
            name: NAME,
            state,
            what: format!("none, the reflexes answer alone: {}", chosen.why),
            remedy,
        }
    } else {
        let who = match (names(&chosen.brain), names(&chosen.hands)) {
            (brain, hands) if brain == hands => format!("{brain} for everything"),
            (brain, hands) => format!("{brain} plans and judges, {hands} acts"),
        };
        Finding { name: NAME, state: State::Ok, what: format!("{who}: {}", chosen.why), remedy: None }
    };
    let passed = chosen.passed_over.into_iter().map(|(who, why)| Finding {
        name: NAME,
        state: State::Warn,
        what: format!("{who} is passed over: {why}"),
        remedy: Some("regent model list".into()),
    });
    std::iter::once(first).chain(passed).collect()
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
