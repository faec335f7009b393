//! Ids as people type them.

use domain::id::Prefix;
use ledger::Found;

use crate::kernel::Kernel;
use domain::problem::{Code, Problem};

impl Kernel {
    /// What a prefix of an id stands for; never [`Found::Nothing`].
    ///
    /// # Errors
    /// If the text is no prefix of exactly one id, or the ledger fails.
    pub async fn find(&self, text: &str) -> Result<Found, Problem> {
        let prefix: Prefix = text.parse().map_err(|error: domain::id::NotAnId| {
            Problem::new(Code::NO_SUCH_ID, error.to_string()).remedy("regent tasks list")
        })?;
        match self.ledger().await?.find(&prefix).await? {
            Found::Nothing => Err(Problem::new(Code::NO_SUCH_ID, format!("nothing here is called `{text}`"))
                .remedy("regent tasks list")
                .remedy("regent events list")),
            Found::Several(ids) => {
                Err(Problem::new(Code::AMBIGUOUS_ID, format!("`{text}` is not unique: {}", ids.join(", "))))
            }
            found => Ok(found),
        }
    }

    /// The shortest form of an id that a person can type back.
    ///
    /// # Errors
    /// If the ledger fails.
    pub async fn short(&self, id: impl ToString) -> Result<String, Problem> {
        Ok(self.ledger().await?.short(&id.to_string()).await?)
    }
}
