//! What counts as the owner's word in the database: shown, and decided anew after another program has changed it.

use domain::Time;
use domain::event::RESERVED_PLATFORMS;
use domain::task::Status;
use ledger::audit_event::OWNER;
use ledger::records::{
    ActivePolicies, AgentTask, Approval, ApprovalCode, Entity, EntityTag, Grant, GrantEvent, Halt, Identity,
    PolicySwitch, Tool,
};
use ledger::table::Record;
use ledger::{AuditEvent, Batch, CommitError, Entry, Ledger, Op, Refusal, Select, StoreError, Unverified};
use serde::Serialize;

use kernel::approvals::{self as approve, ApprovalAnswer};

use super::Instance;
use super::backup::How;
use kernel::{Code, Problem};

/// How often it is looked again because another process has written meanwhile.
const TRIES: u32 = 5;

/// What is wrong with the rows that carry authority; nothing if they all count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuthorityReport {
    pub verified: bool,
    pub faults: Vec<String>,
}

impl AuthorityReport {
    fn new(faults: &[Unverified]) -> Self {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        Self { verified: faults.is_empty(), faults }
    }

    /// What is wrong, if anything is.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        let what = format!("rows that carry authority do not count: {}", self.faults.first()?);
        Some(
            Problem::new(Code::AUTHORITY_CHANGED, what)
                .remedy("regent authority reset --dry-run")
                .remedy("regent explain R1016"),
        )
    }
}

/// What a reset withdraws, or would. Nothing of it comes back by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuthorityReset {
    /// Open approval requests and unused yeses.
    pub approvals: usize,
    pub grants: usize,
    /// Addresses that were linked to a person.
    pub addresses: usize,
    /// People with a relationship, a trust or tags.
    pub people: usize,
    /// Policies that were switched, with what they were switched to.
    pub switches: Vec<String>,
    /// Tools that were registered, and levels that were set.
    pub tools: Vec<String>,
    /// Unfinished tasks: they are ended, because another program may have written what they would go on with.
    pub tasks: usize,
    pub done: bool,
}

impl Instance<'_> {
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "instance.verify_authority", skip_all)]
    pub async fn verify_authority(self) -> Result<AuthorityReport, Problem> {
        Ok(AuthorityReport::new(&self.app.kernel.ledger().await?.verify_authority().await?))
    }

    /// Withdraws everything in the database that allows something, keeps what restricts, halts, and seals what is left. For the owner, after another program has written to the database: what it wrote cannot be told from the rest.
    ///
    /// # Errors
    /// If the ledger fails. Then everything is as it was.
    #[tracing::instrument(level = "info", name = "instance.reset_authority", skip_all)]
    pub async fn reset_authority(self, how: How) -> Result<AuthorityReset, Problem> {
        let mut tries = 1..TRIES;
        loop {
            let ledger = self.app.kernel.ledger().await?;
            let last = ledger.last_commit().await?.and_then(|commit| commit.seq.0).unwrap_or(0);
            let rows = Rows::read(ledger).await?;
            if how == How::Rehearse {
                return Ok(rows.report(false));
            }
            let now = self.app.kernel.now();
            let mut batch = self.app.kernel.batch_at(now);
            rows.withdraw(now, &mut batch);
            batch.expect_quiet(last).seal_existing();
            match ledger.commit(batch).await {
                Ok(_) => return Ok(rows.report(true)),
                Err(CommitError::Refused(Refusal::Disturbed)) if tries.next().is_some() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Every row that carries authority, without a check of its seal.
struct Rows {
    approvals: Vec<Approval>,
    codes: Vec<ApprovalCode>,
    grants: Vec<Grant>,
    people: Vec<Entity>,
    addresses: Vec<Identity>,
    tags: Vec<EntityTag>,
    switches: Vec<PolicySwitch>,
    policies: Vec<ActivePolicies>,
    tools: Vec<Tool>,
    halts: Vec<Halt>,
    /// Unfinished ones.
    tasks: Vec<AgentTask>,
}

async fn filled<T: Record>(ledger: &Ledger, column: &'static str) -> Result<Vec<T>, StoreError> {
    ledger.select(Select::all().filter(column, Op::Ne, &None::<String>)).await
}

impl Rows {
    async fn read(ledger: &Ledger) -> Result<Self, StoreError> {
        let mut addresses: Vec<Identity> = filled(ledger, "entity_id").await?;
        // Not those of the terminal and of the program itself: no message from outside can name them.
        addresses.retain(|address| !RESERVED_PLATFORMS.contains(&address.platform.as_str()));
        Ok(Self {
            approvals: filled(ledger, "live").await?,
            codes: ledger.select(Select::all()).await?,
            grants: filled(ledger, "live").await?,
            people: ledger.select(Select::all().ascending("created_at")).await?,
            addresses,
            tags: ledger.select(Select::all()).await?,
            switches: ledger.select(Select::all().ascending("name")).await?,
            policies: ledger.select(Select::all()).await?,
            tools: ledger.select(Select::all().ascending("tool_id")).await?,
            halts: ledger.select(Select::all()).await?,
            tasks: ledger.select(Select::by("completed_at", &None::<Time>)).await?,
        })
    }

    /// Somebody as they are without what the database says of them. The oldest owner is the owner.
    fn plain(&self, entity: &Entity) -> Entity {
        let owner = self.people.iter().find(|one| one.is_owner).map(|one| one.id);
        Entity {
            is_owner: Some(entity.id) == owner,
            relationship: None,
            trust: entity.trust.filter(|trust| *trust == domain::Trust::Hostile),
            ..entity.clone()
        }
    }

    fn changed_people(&self) -> impl Iterator<Item = &Entity> {
        self.people.iter().filter(|entity| self.plain(entity) != **entity)
    }

    fn report(&self, done: bool) -> AuthorityReset {
        let tagged = |entity: &Entity| self.tags.iter().any(|tag| tag.entity_id == entity.id);
        let switched =
            |one: &PolicySwitch| format!("{} {}", one.name, if one.enabled { "on" } else { "off" });
        AuthorityReset {
            approvals: self.approvals.len(),
            grants: self.grants.len(),
            addresses: self.addresses.len(),
            people: self.people.iter().filter(|one| self.plain(one) != **one || tagged(one)).count(),
            switches: self.switches.iter().map(switched).collect(),
            tools: self.tools.iter().map(|tool| tool.tool_id.to_string()).collect(),
            tasks: self.tasks.len(),
            done,
        }
    }

    fn withdraw(&self, now: Time, batch: &mut Batch) {
        for asked in &self.approvals {
            if asked.status.is_open() {
                approve::answer(asked, &ApprovalAnswer::withdrawn(), now, batch);
            } else {
                approve::void(asked, OWNER, "reset", now, batch);
            }
        }
        batch.erase::<ApprovalCode, _>("number", self.codes.iter().map(|code| &code.number));
        for grant in &self.grants {
            batch
                .put(&Grant { live: None, revoked_at: Some(now), ..grant.clone() })
                .put(&approve::log(grant.id, GrantEvent::Revoked, now))
                .audit(AuditEvent::GrantRevoked(grant).entry(OWNER, now).with("reset", true));
        }
        for entity in self.changed_people() {
            batch.put(&self.plain(entity));
        }
        batch.erase::<EntityTag, _>("entity_id", self.tags.iter().map(|tag| &tag.entity_id));
        batch.erase::<Identity, _>("id", self.addresses.iter().map(|address| &address.id));
        for address in &self.addresses {
            batch.put(&Identity { entity_id: None, is_verified: false, is_owned: false, ..address.clone() });
        }
        batch.erase::<PolicySwitch, _>("name", self.switches.iter().map(|switch| &switch.name));
        batch.erase::<ActivePolicies, _>("kind", self.policies.iter().map(|set| &set.kind));
        batch.erase::<Tool, _>("tool_id", self.tools.iter().map(|tool| &tool.tool_id));
        for task in &self.tasks {
            let ended = AgentTask { status: Status::Stopped, completed_at: Some(now), ..task.clone() };
            let entry = AuditEvent::TaskEnded(&ended).entry(OWNER, now).with("reset", true);
            let origin_id = Some(task.o_tag);
            batch.put(&ended).audit(Entry { origin_id, vpol_id: task.vpol_id, ..entry });
        }
        if !self.halts.iter().any(|halt| halt.name == Halt::ALL) {
            batch.put(&Halt { name: Halt::ALL.into(), at: now, by: Halt::OWNER.into() });
        }
        let reset = AuditEvent::AuthorityReset {
            approvals: self.approvals.len(),
            grants: self.grants.len(),
            addresses: self.addresses.len(),
            switches: self.switches.len(),
            tools: self.tools.len(),
        };
        batch.audit(reset.entry(OWNER, now));
    }
}
