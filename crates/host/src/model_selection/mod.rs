//! Which models are asked and why, the owner's choice, and what each model can do. The program and a server use it alike.
//!
//! INVARIANT (disclosed-first): nothing is sent to a model on another machine before the owner was shown the disclosure for its
//! host. [`ConfiguredModels`] shows it through the [`ModelReporter`] that it is given, [`ModelSelection::prepare_tests`] through
//! its caller.
//!
//! Start reading at [`ModelSelection`].

mod admin;
mod capability_test;
mod client;
mod configured_models;
mod diagnosis;
mod disclosure;
mod keys;
mod loopback;
mod owner_choice;
mod providers;
mod views;

use app::instance::paths::InstancePaths;
use app::instance::settings::Settings;
use app::models::{ModelDisclosure, ShowDisclosure};
use app::{Code, Problem};
use models::{Chosen, Endpoint, Environment, Listed, Mistake, Wishes};

pub use admin::ConfiguredModelAdmin;
pub use configured_models::ConfiguredModels;
pub use keys::guard_keys;

use crate::ProcessEnvironment;
use loopback::LoopbackProbe;

/// Shows the owner what they have to know while models are chosen. The program prints it, a server sends it.
pub trait ModelReporter: Send + Sync {
    fn show_disclosure(&self, disclosure: &ModelDisclosure);

    /// A model that the owner may expect to be asked, and why it is not.
    fn show_unavailable(&self, model: &str, why: &str);
}

/// What models are chosen from: the settings about models, and the keys, prices and confirmed hosts of the instance.
#[derive(Debug)]
pub struct ModelSelection {
    instance: InstancePaths,
    options: Wishes,
    environment: Environment,
}

impl ModelSelection {
    /// # Errors
    /// If the instance has no place, or its price list cannot be used.
    pub fn load(settings: &Settings, process: &ProcessEnvironment) -> Result<Self, Problem> {
        let instance = process.locate_instance()?;
        let options = Wishes::read(settings.about_models());
        let environment = keys::read_environment(&instance, process, &options)?;
        Ok(Self { instance, options, environment })
    }

    /// # Errors
    /// If the owner named models that cannot be used.
    pub async fn choose(&self) -> Result<Chosen, Problem> {
        let chosen = models::choose(&self.options, &self.environment, &LoopbackProbe).await;
        chosen.map_err(|mistake| selection_problem(&mistake))
    }

    /// Shows the owner, once for each host, what is sent there from now on. `budget` is the money for a day.
    pub fn disclose(&self, chosen: &Chosen, budget: &str, show: ShowDisclosure<'_>) {
        let disclosures = disclosure::find_undisclosed(&self.instance, chosen, budget);
        disclosure::disclose(&self.instance, &disclosures, show);
    }

    /// Where the price of a model comes from.
    fn find_price_listing(&self, endpoint: &Endpoint) -> Listed {
        match endpoint.is_outside() {
            true => self.environment.prices.of(&endpoint.name()).1,
            false => Listed::Local,
        }
    }
}

/// A mistake in what the owner chose, as a problem.
fn selection_problem(mistake: &Mistake) -> Problem {
    let code = match mistake {
        Mistake::NoneUsable { .. } => Code::MODEL_UNUSABLE,
        Mistake::Unconfirmed { .. } => Code::KEY_HELD_BACK,
        _ => Code::BAD_MODEL,
    };
    Problem::new(code, mistake.to_string()).safe("nothing left this machine").remedy("regent model list")
}
