//! Which tables carry authority, which of their rows do, and the frozen order of the cells that are authenticated.

use crate::query::{Filter, Op, Query, Test};
use crate::records::{
    ActivePolicies, AgentNote, AgentTask, Approval, ApprovalCode, Entity, EntityTag, Grant, Halt, Identity,
    PolicySwitch, Tool,
};
use crate::table::{Record as _, Table};
use crate::value::{Row, Value};

/// A table whose rows carry authority.
#[derive(Debug)]
pub struct AuthorityTable {
    /// Part of every MAC: never changed, whatever becomes of the table's name.
    pub kind: &'static str,
    pub table: &'static Table,
    /// The cells under the MAC. INVARIANT (frozen-form): their order never changes, and none is taken out; a column that is
    /// renamed is renamed here, one that is new goes to the end, with a migration that seals the rows anew.
    pub cells: &'static [&'static str],
    /// A row carries authority while these columns are filled …
    pub filled: &'static [&'static str],
    /// … and these are empty.
    pub empty: &'static [&'static str],
}

/// Unfinished work: what a task goes on with is its own event and journal. It changes with every step, which has no entry of its
/// own in the audit.
pub(super) const TASK: &str = "task";

pub const AUTHORITY_TABLES: [AuthorityTable; 12] = [
    AuthorityTable {
        kind: "approval",
        table: Approval::TABLE,
        cells: &[
            "id",
            "stamp",
            "tool_id",
            "agent_id",
            "task_id",
            "call_id",
            "r_tag",
            "o_tag",
            "vpol_id",
            "arguments",
            "reason",
            "summary",
            "question",
            "risk_level",
            "confidence",
            "tags",
            "status",
            "authority",
            "fingerprint",
            "leave",
            "shape",
            "created_at",
            "timeout_at",
            "resolved_at",
            "resolved_by",
            "resolved_via",
            "answer",
            "grant_id",
            "fate",
            "token_until",
            "live",
        ],
        filled: &["live"],
        empty: &[],
    },
    AuthorityTable {
        kind: "approval code",
        table: ApprovalCode::TABLE,
        cells: &["number", "approval", "digest", "until", "tries", "stamp"],
        filled: &[],
        empty: &[],
    },
    AuthorityTable {
        kind: "grant",
        table: Grant::TABLE,
        cells: &[
            "id",
            "live",
            "tool_id",
            "terms",
            "created_at",
            "expires_at",
            "revoked_at",
            "granted_by",
            "request_id",
        ],
        filled: &["live"],
        empty: &[],
    },
    AuthorityTable {
        kind: "person",
        table: Entity::TABLE,
        cells: &["id", "kind", "name", "is_owner", "relationship", "trust", "created_at"],
        filled: &[],
        empty: &[],
    },
    AuthorityTable {
        kind: "address",
        table: Identity::TABLE,
        cells: &[
            "id",
            "platform",
            "identifier",
            "entity_id",
            "account",
            "first_seen",
            "is_owned",
            "is_verified",
        ],
        filled: &["entity_id"],
        empty: &[],
    },
    AuthorityTable {
        kind: "tag",
        table: EntityTag::TABLE,
        cells: &["entity_id", "tag"],
        filled: &[],
        empty: &[],
    },
    AuthorityTable {
        kind: "policy switch",
        table: PolicySwitch::TABLE,
        cells: &["name", "enabled", "at"],
        filled: &[],
        empty: &[],
    },
    AuthorityTable {
        kind: "policy set",
        table: ActivePolicies::TABLE,
        cells: &["kind", "policies", "sources", "at"],
        filled: &[],
        empty: &[],
    },
    AuthorityTable {
        kind: "halt",
        table: Halt::TABLE,
        cells: &["name", "at", "by"],
        filled: &[],
        empty: &[],
    },
    AuthorityTable {
        kind: "tool",
        table: Tool::TABLE,
        cells: &[
            "tool_id",
            "agent_access",
            "risk_level",
            "execution_mode",
            "monitoring_level",
            "alignment_score_90d",
            "spec",
            "changed_at",
        ],
        filled: &[],
        empty: &[],
    },
    AuthorityTable {
        kind: TASK,
        table: AgentTask::TABLE,
        cells: &[
            "task_id",
            "agent_id",
            "status",
            "priority",
            "payload",
            "o_tag",
            "vpol_id",
            "task_class",
            "directive",
            "steps",
            "created_at",
            "started_at",
            "completed_at",
            "journal",
        ],
        filled: &[],
        empty: &["completed_at"],
    },
    AuthorityTable {
        kind: "instruction",
        table: AgentNote::TABLE,
        cells: &["id", "agent_id", "note_type", "content", "priority", "created_at"],
        filled: &[],
        empty: &[],
    },
];

impl AuthorityTable {
    #[must_use]
    pub fn of(table: &Table) -> Option<&'static Self> {
        AUTHORITY_TABLES.iter().find(|known| known.table.name == table.name)
    }

    /// Every row that carries authority.
    #[must_use]
    pub fn effective(&self) -> Query {
        let filter = |op| move |column: &&'static str| Filter { column, test: Test::Is(op, Value::Null) };
        let filters = self.filled.iter().map(filter(Op::Ne)).chain(self.empty.iter().map(filter(Op::Eq)));
        Query { table: self.table, filters: filters.collect(), order: None, limit: None }
    }

    /// Whether a row carries authority as it is.
    #[must_use]
    pub fn is_effective(&self, row: &Row) -> bool {
        self.effective().matches(row)
    }

    pub(super) fn frozen_cells(&self, row: &Row) -> Vec<Value> {
        let cell = |column: &&str| self.table.position(column).and_then(|at| row.get(at)).cloned();
        self.cells.iter().map(|column| cell(column).unwrap_or(Value::Null)).collect()
    }
}
