//! What the owner has to know while models are chosen, on standard error.

use app::models::ModelDisclosure;
use host::model_selection::ModelReporter;

use crate::show::{Screen, inline};

pub(crate) struct ScreenReporter(pub(crate) Screen);

impl ModelReporter for ScreenReporter {
    fn show_disclosure(&self, disclosure: &ModelDisclosure) {
        self.0.note_page(&disclosure.page());
    }

    fn show_unavailable(&self, model: &str, why: &str) {
        self.0.note(&format!("{} is passed over: {}", inline(model), inline(why)));
    }
}
