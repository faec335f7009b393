//! The validation policies that count.

use std::sync::{Arc, LazyLock};

use policy::vpol::{VpolSet, shipped};

use super::App;
use crate::problem::{Code, Problem};

static SHIPPED: LazyLock<Result<Arc<VpolSet>, String>> = LazyLock::new(|| {
    shipped::defaults().map(|loaded| Arc::new(loaded.set)).map_err(|mistakes| mistakes.to_string())
});

impl App {
    /// The set that counts at this moment: chains that start are given one of it, and calls are held to it besides what was
    /// frozen for their chain. It is the set that ships, unless another was given; files of the house will be read here.
    ///
    /// # Errors
    /// If there is none.
    pub fn vpols(&self) -> Result<Arc<VpolSet>, Problem> {
        if let Some(given) = &self.vpols {
            return Ok(Arc::clone(given));
        }
        let broken = |mistakes: &String| Problem::new(Code::INTERNAL, mistakes.clone());
        SHIPPED.as_ref().map(Arc::clone).map_err(broken)
    }

    /// From now on this set counts.
    pub fn set_vpols(&mut self, set: VpolSet) {
        self.vpols = Some(Arc::new(set));
    }
}
