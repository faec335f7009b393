use domain::id::{CallId, OriginId, ReasonId, TaskId, VpolId};
use domain::task::Status;

use crate::authority::Unverified;
use crate::chain::Trail;
use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::records::{AgentTask, Commit, Duty, Event, Lease, Origin, Reason, TaskStep, ToolCall, Vpol};
use crate::store::StoreError;
use crate::value::Cell as _;

impl Ledger {
    /// A task as this instance left it, before it is gone on with: with its event, and with the steps that it has. One that is over
    /// is not gone on with, and not compared.
    ///
    /// # Errors
    /// If another program has changed it, its event or its journal; or if the database cannot be read.
    pub async fn verify_work(&self, event: &Event, task: TaskId) -> Result<Option<AgentTask>, StoreError> {
        // Of one moment: another process may be going on with it.
        let steps = Select::<TaskStep>::by("task", &task).ascending("n");
        let found = self.sealed_by_key_with(Select::by("task_id", &task), &[task.to_value()], steps).await?;
        let (found, steps): (Option<AgentTask>, Vec<TaskStep>) = found;
        let Some(row) = found else { return Ok(None) };
        let trail = Trail::of(steps.iter().map(|step| step.body));
        match row.journal {
            Some(journal) if !row.status.is_over() && journal != AgentTask::journal_of(event, trail) => {
                Err(Unverified::Forged { kind: "journal of a task" }.into())
            }
            _ => Ok(Some(row)),
        }
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn task(&self, id: TaskId) -> Result<Option<AgentTask>, StoreError> {
        self.first(Select::by("task_id", &id)).await
    }

    /// Newest first.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn tasks(&self, limit: u32) -> Result<Vec<AgentTask>, StoreError> {
        self.select(Select::all().descending("created_at").limit(limit)).await
    }

    /// What is not over, newest first: begun and left, or written down and never begun.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn unfinished(&self, limit: u32) -> Result<Vec<AgentTask>, StoreError> {
        let mut found = Vec::new();
        for status in [Status::Queued, Status::Running, Status::Waiting] {
            let some = Select::by("status", &status).descending("created_at").limit(limit);
            found.extend(self.select::<AgentTask>(some).await?);
        }
        found.sort_by_key(|task| std::cmp::Reverse(task.created_at));
        found.truncate(limit as usize);
        Ok(found)
    }

    /// The journal, in order.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn steps(&self, task: TaskId) -> Result<Vec<TaskStep>, StoreError> {
        self.select(Select::by("task", &task).ascending("n")).await
    }

    /// The steps of all tasks after this sequence number, in the order they were committed.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn steps_after(&self, seq: i64, limit: u32) -> Result<Vec<TaskStep>, StoreError> {
        self.select(Select::all().filter("seq", Op::Gt, &seq).ascending("seq").limit(limit)).await
    }

    /// The sequence number of the newest step; 0 if there is none.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn newest_step(&self) -> Result<i64, StoreError> {
        let newest: Option<TaskStep> = self.first(Select::all().descending("seq")).await?;
        Ok(newest.and_then(|step| step.seq.0).unwrap_or(0))
    }

    /// The sequence number of the newest commit; 0 if there is none.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn newest_commit(&self) -> Result<i64, StoreError> {
        Ok(self.last_commit().await?.and_then(|commit| commit.seq.0).unwrap_or(0))
    }

    /// The batch that was committed last, whatever the clocks said.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn last_commit(&self) -> Result<Option<Commit>, StoreError> {
        self.first(Select::all().descending("seq")).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn duty(&self, name: &str) -> Result<Option<Duty>, StoreError> {
        self.first(Select::by("name", &name.to_owned())).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn calls_of(&self, task: TaskId) -> Result<Vec<ToolCall>, StoreError> {
        self.select(Select::by("task_id", &task).ascending("timestamp")).await
    }

    /// Calls of all chains under a validation policy of this name, whatever it said, since a moment.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn calls_under(&self, policy: &str, since: domain::Time) -> Result<Vec<ToolCall>, StoreError> {
        let policies: Vec<Vpol> = self.select(Select::by("name", &policy.to_owned())).await?;
        if policies.is_empty() {
            return Ok(Vec::new());
        }
        let under = Select::any_of("vpol_id", policies.iter().map(|policy| &policy.vpol_id));
        self.select(under.filter("timestamp", Op::Ge, &since).ascending("timestamp")).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn call(&self, id: CallId) -> Result<Option<ToolCall>, StoreError> {
        self.first(Select::by("id", &id)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn reason(&self, id: ReasonId) -> Result<Option<Reason>, StoreError> {
        self.first(Select::by("id", &id)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn lease(&self, subject: &str) -> Result<Option<Lease>, StoreError> {
        self.first(Select::by("subject", &subject.to_owned())).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn tasks_since(&self, time: domain::Time) -> Result<Vec<AgentTask>, StoreError> {
        self.select(Select::all().filter("created_at", Op::Ge, &time)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn origin(&self, id: OriginId) -> Result<Option<Origin>, StoreError> {
        self.first(Select::by("id", &id)).await
    }

    /// # Errors
    /// If the database cannot be read.
    pub async fn vpol(&self, id: VpolId) -> Result<Option<Vpol>, StoreError> {
        self.first(Select::by("vpol_id", &id)).await
    }
}
