//! The rows that carry authority: what a reset withdraws.

use domain::Time;
use domain::event::RESERVED_PLATFORMS;
use domain::task::Status;
use kernel::approvals::{self as approve, ApprovalAnswer};
use ledger::AuditEvent;
use ledger::audit_event::OWNER;
use ledger::records::{
    ActivePolicies, AgentNote, AgentTask, Approval, ApprovalCode, Entity, EntityTag, Grant, GrantEvent, Halt,
    Identity, PolicySwitch, Tool,
};
use ledger::table::Record;
use ledger::{Batch, Entry, Ledger, Op, Select, StoreError};

use super::AuthorityReset;

/// Every row that carries authority, without a check of its seal.
pub(super) struct Rows {
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
    instructions: Vec<AgentNote>,
    /// Unfinished ones.
    tasks: Vec<AgentTask>,
}

async fn filled<T: Record>(ledger: &Ledger, column: &'static str) -> Result<Vec<T>, StoreError> {
    ledger.select(Select::all().filter(column, Op::Ne, &None::<String>)).await
}

impl Rows {
    pub(super) async fn read(ledger: &Ledger) -> Result<Self, StoreError> {
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
            instructions: ledger.select(Select::all()).await?,
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

    pub(super) fn report(&self, done: bool) -> AuthorityReset {
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
            instructions: self.instructions.len(),
            tasks: self.tasks.len(),
            done,
        }
    }

    pub(super) fn withdraw(&self, now: Time, batch: &mut Batch) {
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
        batch.erase::<AgentNote, _>("id", self.instructions.iter().map(|note| &note.id));
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
