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
    /// frozen for their chain. So far it is the set that ships; files of the house take its place here.
    ///
    /// # Errors
    /// If there is none.
    #[expect(clippy::unused_self, reason = "the files of the house will be read here")]
    pub fn vpols(&self) -> Result<Arc<VpolSet>, Problem> {
        let broken = |mistakes: &String| Problem::new(Code::INTERNAL, mistakes.clone());
        SHIPPED.as_ref().map(Arc::clone).map_err(broken)
    }
}
