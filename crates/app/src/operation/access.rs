//! Who may call an operation: a pure decision over the operation's declaration and the caller.

use super::OperationSpec;

/// What a token is allowed to do. Tokens belong to a person; the scopes say how much of that person's authority they carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Look at tasks, approvals, the record and settings.
    Read,
    /// Give work to agents: events in, tasks run, resumed and cancelled.
    Run,
    /// Answer approval requests.
    Approve,
    /// Change what agents and people may do, and the instance itself.
    Admin,
}

impl Scope {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
            Self::Approve => "approve",
            Self::Admin => "admin",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Read,
    Write,
}

/// Who may call an operation besides the owner, and whether it changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub effect: Effect,
    /// The scope that a token needs; `None`: no token is enough.
    pub scope: Option<Scope>,
}

impl Access {
    /// It changes nothing.
    pub const READ: Self = Self { effect: Effect::Read, scope: Some(Scope::Read) };
    /// It gives work to agents.
    pub const RUN: Self = Self { effect: Effect::Write, scope: Some(Scope::Run) };
    /// It answers approval requests.
    pub const APPROVE: Self = Self { effect: Effect::Write, scope: Some(Scope::Approve) };
    /// It changes what agents and people may do, or the instance.
    pub const ADMIN: Self = Self { effect: Effect::Write, scope: Some(Scope::Admin) };
    /// It changes what no token may change: keys, backups, the record of authority.
    pub const OWNER: Self = Self { effect: Effect::Write, scope: None };
    /// It reads what no token may read.
    pub const OWNER_READ: Self = Self { effect: Effect::Read, scope: None };
}

/// Who calls an operation (spec 03 §1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The operating system's user that owns the instance, at a terminal, or a dashboard session from the one-time link.
    Owner,
    /// An API token.
    Token { scopes: Vec<Scope>, owner: bool },
    /// A client of `/mcp` or `/v1`. A model may be behind it.
    Client,
    /// A webhook: it only brings events.
    Webhook,
}

impl Caller {
    /// Whether this caller may use an operation.
    #[must_use]
    pub fn may_call(&self, spec: &OperationSpec) -> bool {
        match self {
            Self::Owner => true,
            Self::Token { scopes, owner } => {
                spec.access.scope.is_some_and(|scope| scopes.contains(&scope) && scope.suits(*owner))
            }
            // A model may be behind it: it never answers approval requests and never changes authority.
            Self::Client => spec.mcp && matches!(spec.access.scope, Some(Scope::Read | Scope::Run)),
            Self::Webhook => false,
        }
    }
}

impl Scope {
    /// Approvals and changes of the instance are the owner's. A person whom the owner named as an approver answers in their own
    /// name, which is not an operation of the owner.
    const fn suits(self, owner: bool) -> bool {
        match self {
            Self::Read | Self::Run => true,
            Self::Approve | Self::Admin => owner,
        }
    }
}
