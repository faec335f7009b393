//! What `regent doctor` says about models.

use app::instance::settings::Settings;
use app::{Finding, FindingState};

use super::ModelSelection;
use crate::ProcessEnvironment;

const NAME: &str = "model";

/// Says which models are asked and why, and which ones are not.
pub(super) async fn diagnose_models(settings: &Settings, process: &ProcessEnvironment) -> Vec<Finding> {
    let found = match ModelSelection::load(settings, process) {
        Ok(selection) => selection.choose().await,
        Err(problem) => Err(problem),
    };
    let chosen = match found {
        Ok(chosen) => chosen,
        Err(problem) => {
            let remedy = Some(format!("regent explain {}", problem.code));
            return vec![Finding { name: NAME, state: FindingState::Bad, what: problem.what, remedy }];
        }
    };
    let names = |list: &[models::Endpoint]| {
        list.iter().map(models::Endpoint::name).collect::<Vec<_>>().join(", then ")
    };
    let by_owner =
        settings.get("model.brain") == models::REFLEX || settings.get("model.hands") == models::REFLEX;
    let first = if chosen.is_reflex() {
        let remedy = (!by_owner).then(|| "regent model set brain <provider>/<model>".to_owned());
        let state = if by_owner { FindingState::Ok } else { FindingState::Warn };
        Finding {
            name: NAME,
            state,
            what: format!("none, the reflexes answer alone: {}", chosen.why),
            remedy,
        }
    } else {
        let models = match (names(&chosen.brain), names(&chosen.hands)) {
            (brain, hands) if brain == hands => format!("{brain} for everything"),
            (brain, hands) => format!("{brain} plans and judges, {hands} acts"),
        };
        Finding {
            name: NAME,
            state: FindingState::Ok,
            what: format!("{models}: {}", chosen.why),
            remedy: None,
        }
    };
    let unavailable = chosen.passed_over.into_iter().map(|(model, why)| Finding {
        name: NAME,
        state: FindingState::Warn,
        what: format!("{model} is passed over: {why}"),
        remedy: Some("regent model list".into()),
    });
    std::iter::once(first).chain(unavailable).collect()
}
