use domain::Time;
use domain::approval::Status;
use domain::call::ToolId;
use domain::id::{ApprovalId, GrantId, TaskId};

use crate::committer::Ledger;
use crate::query::Select;
use crate::records::{Approval, ApprovalCode, Grant, GrantLog};
use crate::store::StoreError;
use crate::value::Cell as _;

fn unanswered() -> Select<Approval> {
    Select::any_of("status", &[Status::Pending, Status::Escalated])
}

impl Ledger {
    /// # Errors
    /// If the database cannot be read.
    pub async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        self.first(Select::by("id", &id)).await
    }

    /// The approval as this instance wrote it: before anybody answers it, and before a call relies on it.
    ///
    /// # Errors
    /// If another program changed it, or the database cannot be read.
    pub async fn verified_approval(&self, id: ApprovalId) -> Result<Option<Approval>, StoreError> {
        self.sealed_by_key(Select::by("id", &id), &[id.to_value()]).await
    }

    /// What waits for a person, next to expire first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn open_approvals(&self, now: Time, limit: u32) -> Result<Vec<Approval>, StoreError> {
        self.open(unanswered(), now, limit, |asked| asked.is_open(now)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn count_open_approvals(&self, now: Time) -> Result<u64, StoreError> {
        self.count_open(unanswered(), now, |asked| asked.is_open(now)).await
    }

    /// What was not answered in time, and is not known to have expired yet.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn overdue_approvals(&self, now: Time, limit: u32) -> Result<Vec<Approval>, StoreError> {
        self.overdue(unanswered(), now, limit, |asked| asked.is_open(now)).await
    }

    /// Every yes that no call has used yet.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn unspent_approvals(&self) -> Result<Vec<Approval>, StoreError> {
        let mut approvals: Vec<Approval> = self.sealed().await?;
        approvals.retain(|approval| approval.unspent().is_some());
        approvals.sort_by_key(|approval| approval.created_at);
        Ok(approvals)
    }

    /// Every question that one task has asked, oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn approvals_of(&self, task: TaskId) -> Result<Vec<Approval>, StoreError> {
        self.select(Select::by("task_id", &task).ascending("created_at")).await
    }

    /// The newest questions, newest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn last_approvals(&self, limit: u32) -> Result<Vec<Approval>, StoreError> {
        self.select(Select::all().descending("created_at").limit(limit)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn approval_codes(&self) -> Result<Vec<ApprovalCode>, StoreError> {
        let mut codes: Vec<ApprovalCode> = self.sealed().await?;
        codes.sort_by_key(|code| code.number);
        Ok(codes)
    }

    /// Every grant there ever was, oldest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn grants(&self) -> Result<Vec<Grant>, StoreError> {
        self.select(Select::all().ascending("created_at")).await
    }

    /// Those that nobody has revoked and nobody has seen expire.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn live_grants(&self) -> Result<Vec<Grant>, StoreError> {
        let mut grants: Vec<Grant> = self.sealed().await?;
        grants.sort_by_key(|grant| grant.created_at);
        Ok(grants)
    }

    /// The live ones for one tool.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn grants_for(&self, tool: &ToolId) -> Result<Vec<Grant>, StoreError> {
        let mut grants = self.live_grants().await?;
        grants.retain(|grant| grant.tool_id == *tool);
        Ok(grants)
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn grant(&self, id: GrantId) -> Result<Option<Grant>, StoreError> {
        self.first(Select::by("id", &id)).await
    }

    /// What became of grants, in order; of one, or of all.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn grant_log(&self, of: Option<GrantId>) -> Result<Vec<GrantLog>, StoreError> {
        let select = of.map_or_else(Select::all, |id| Select::by("grant_id", &id));
        self.select(select.ascending("seq")).await
    }
}
