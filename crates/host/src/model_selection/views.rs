//! What the owner sees of a selection, as data.

use app::Problem;
use app::models::{ModelChoice, ModelPrice, ModelView, PriceListing, ProviderView, UnavailableModel};
use models::{Chosen, Endpoint, Listed, catalog};

use super::ModelSelection;
use super::providers::ProviderStatus;

impl ModelSelection {
    pub(super) fn view_choice(&self, chosen: &Chosen) -> ModelChoice {
        let judges = chosen.judges();
        let brain = chosen.brain.iter().map(|one| self.view_model(one, Some(judges.contains(one))));
        let hands = chosen.hands.iter().map(|one| self.view_model(one, None));
        let passed_over = chosen.passed_over.iter().cloned();
        ModelChoice {
            brain: brain.collect(),
            hands: hands.collect(),
            why: chosen.why.clone(),
            passed_over: passed_over.map(|(model, why)| UnavailableModel { model, why }).collect(),
        }
    }

    fn view_model(&self, endpoint: &Endpoint, judges: Option<bool>) -> ModelView {
        let models::Price { input, cached, output } = endpoint.price;
        ModelView {
            model: endpoint.name(),
            host: endpoint.host().to_owned(),
            outside: endpoint.is_outside(),
            rank: endpoint.rank,
            price: ModelPrice { input, cached, output },
            judges,
            listing: match self.find_price_listing(endpoint) {
                Listed::Local => PriceListing::Local,
                Listed::Shipped => PriceListing::Shipped,
                Listed::Own => PriceListing::Own,
                Listed::Unlisted => PriceListing::Unlisted,
            },
        }
    }
}

/// The choice or why there is none, as two fields.
pub(super) fn split<T>(chosen: Result<T, Problem>) -> (Option<T>, Option<Problem>) {
    match chosen {
        Ok(chosen) => (Some(chosen), None),
        Err(problem) => (None, Some(problem)),
    }
}

pub(super) fn view_provider(ProviderStatus { provider, usable }: ProviderStatus) -> ProviderView {
    let variables = catalog::known(&provider.name).map(|known| known.variables).unwrap_or_default();
    ProviderView {
        outside: provider.is_outside(),
        host: provider.host().to_owned(),
        dialect: provider.dialect.name().to_owned(),
        usable: usable.is_ok(),
        why: usable.as_ref().err().cloned(),
        remark: usable.unwrap_or_else(|why| why),
        key: provider.key.ok().flatten().map(|(_, origin)| origin),
        variables: variables.iter().map(|name| (*name).to_owned()).collect(),
        provider: provider.name,
        url: provider.url,
    }
}
