use crate::committer::Ledger;
use crate::query::Select;
use crate::records::{Budget, Halt, Tool};
use crate::store::StoreError;

impl Ledger {
    /// Every tool that is known, by name.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn tools(&self) -> Result<Vec<Tool>, StoreError> {
        let mut tools: Vec<Tool> = self.sealed().await?;
        tools.sort_by(|a, b| a.tool_id.cmp(&b.tool_id));
        Ok(tools)
    }

    /// What was spent by these accounts; one that never spent has no row.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn budgets(&self, accounts: &[String]) -> Result<Vec<Budget>, StoreError> {
        if accounts.is_empty() {
            return Ok(Vec::new());
        }
        self.select(Select::any_of("account", accounts).ascending("account")).await
    }

    /// Whether everything stands still, since when, and by whose word.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn halted(&self) -> Result<Option<Halt>, StoreError> {
        if let Some(at) = self.seal().vault().halt_request()? {
            return Ok(Some(Halt { name: Halt::ALL.into(), at, by: Halt::OWNER.into() }));
        }
        Ok(self.sealed().await?.into_iter().find(|halt: &Halt| halt.name == Halt::ALL))
    }
}
