//! Every provider that the program knows, and whether it can be used.

use app::Problem;
use models::listener::Listener;
use models::{Probe as _, Provider};

use super::loopback::LoopbackProbe;
use super::{ModelSelection, selection_problem};

/// A provider, with what lets it be used or what is missing.
#[derive(Debug)]
pub(super) struct ProviderStatus {
    pub(super) provider: Provider,
    pub(super) usable: Result<String, String>,
}

impl ModelSelection {
    /// Lists the providers. Those on this machine are asked whether they answer.
    ///
    /// # Errors
    /// If a setting about a provider is wrong.
    pub(super) async fn list_providers(&self) -> Result<Vec<ProviderStatus>, Problem> {
        let mut statuses = Vec::new();
        for name in self.options.names() {
            let provider = Provider::of(&self.options, &self.environment, name)
                .map_err(|mistake| selection_problem(&mistake))?;
            let usable = check_usable(&provider).await;
            statuses.push(ProviderStatus { provider, usable });
        }
        Ok(statuses)
    }
}

async fn check_usable(provider: &Provider) -> Result<String, String> {
    let key = provider.key.clone()?.map(|(_, origin)| origin);
    provider.may_be_reached()?;
    if provider.is_outside() {
        return Ok(key.map_or_else(|| "no key".to_owned(), |origin| format!("key: {origin}")));
    }
    match LoopbackProbe.listener(&provider.url) {
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
    match LoopbackProbe.get(&page).await {
        Some(_) => Ok("answers".to_owned()),
        None => Err("does not answer".to_owned()),
    }
}
