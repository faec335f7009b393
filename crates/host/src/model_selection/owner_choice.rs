//! What the owner decides about models: which ones are asked, and which host may get a provider's key.

use app::Problem;
use app::models::{ConfirmedHost, ModelTier};
use domain::IdSource as _;
use models::{Chosen, Mistake};

use super::{ModelSelection, keys, selection_problem};
use crate::{OsIds, ProcessEnvironment, setting_edit};

/// In the place of a list: the models are chosen by the program.
const AUTO: &str = "auto";

/// A setting about models as it was written.
#[derive(Debug)]
pub(super) struct WrittenSetting {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) file: String,
    /// The variable of the environment that counts before the file.
    pub(super) hidden_by: Option<String>,
    /// What is chosen from now on.
    pub(super) chosen: Result<Chosen, Problem>,
}

fn unchanged(mistake: &Mistake) -> Problem {
    Problem { safe: Some("nothing was changed".into()), ..selection_problem(mistake) }
}

impl ModelSelection {
    /// Writes which models a tier asks: a list, `auto` or `reflex`.
    ///
    /// # Errors
    /// If the list is wrong, or the settings cannot be written. Then nothing was changed.
    pub(super) async fn set_models(
        &mut self,
        tier: ModelTier,
        list: &str,
        process: &ProcessEnvironment,
    ) -> Result<WrittenSetting, Problem> {
        let value = self.normalize(list)?;
        let name = format!("model.{}", tier.name());
        setting_edit::write_setting(&self.instance, &name, &value, &OsIds.bits().to_string())?;
        let file = self.instance.settings_file().display().to_string();
        let variable = format!("REGENT_{}", name.replace('.', "_").to_uppercase());
        let hidden_by = process.variable(&variable).is_some().then_some(variable);
        if hidden_by.is_none() {
            let option = models::Wish { list: value.clone(), origin: file.clone() };
            match tier {
                ModelTier::Brain => self.options.brain = option,
                ModelTier::Hands => self.options.hands = option,
            }
        }
        let chosen = self.choose().await;
        Ok(WrittenSetting { name, value, file, hidden_by, chosen })
    }

    /// The value of the setting for what the owner wrote.
    fn normalize(&self, list: &str) -> Result<String, Problem> {
        let list = match list.trim() {
            AUTO => return Ok(String::new()),
            models::REFLEX => return Ok(models::REFLEX.to_owned()),
            list => list,
        };
        models::endpoints(&self.options, &self.environment, list).map_err(|mistake| unchanged(&mistake))?;
        let pairs = models::parse(list).map_err(|mistake| unchanged(&mistake))?;
        let names: Vec<String> =
            pairs.iter().map(|(provider, model)| format!("{provider}/{model}")).collect();
        Ok(names.join(", "))
    }

    /// Writes down that a provider's key may go to a host.
    ///
    /// # Errors
    /// If there is no such provider or host, or it cannot be written.
    pub fn confirm_host(&self, provider: &str, host: &str) -> Result<ConfirmedHost, Problem> {
        let (provider, host) = models::confirmable(provider, host).map_err(|mistake| unchanged(&mistake))?;
        if !self.environment.confirmed.contains(&(provider.clone(), host.clone())) {
            keys::append_confirmed(&self.instance, &provider, &host)?;
        }
        let file = self.instance.confirmed().display().to_string();
        Ok(ConfirmedHost { provider, host, file })
    }
}
