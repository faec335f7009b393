//! Who may call an operation: a pure decision over the operation's declaration and the caller.

use super::OperationSpec;

/// What a token is allowed to do. Tokens belong to a person; the scopes say how much of that person's authority they carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenScope {
    /// Look at tasks, approvals, the record and settings.
    Read,
    /// Give work to agents: events in, tasks run, resumed and cancelled.
    Run,
    /// Answer approval requests.
    Approve,
    /// Change what agents and people may do, and the instance itself.
    Admin,
}

impl TokenScope {
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
pub enum OperationEffect {
    Read,
    Write,
}

/// Who may call an operation besides the owner, and whether it changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationAccess {
    pub effect: OperationEffect,
    /// The scope that a token needs; `None`: no token is enough.
    pub scope: Option<TokenScope>,
}

impl OperationAccess {
    /// It changes nothing.
    pub const READ: Self = Self { effect: OperationEffect::Read, scope: Some(TokenScope::Read) };
    /// It gives work to agents.
    pub const RUN: Self = Self { effect: OperationEffect::Write, scope: Some(TokenScope::Run) };
    /// It answers approval requests.
    pub const APPROVE: Self = Self { effect: OperationEffect::Write, scope: Some(TokenScope::Approve) };
    /// It changes what agents and people may do, or the instance.
    pub const ADMIN: Self = Self { effect: OperationEffect::Write, scope: Some(TokenScope::Admin) };
    /// It changes what no token may change: keys, backups, the record of authority.
    pub const OWNER: Self = Self { effect: OperationEffect::Write, scope: None };
    /// It reads what no token may read.
    pub const OWNER_READ: Self = Self { effect: OperationEffect::Read, scope: None };
}

/// Who calls an operation (spec 03 §1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationCaller {
    /// The operating system's user that owns the instance, at a terminal, or a dashboard session from the one-time link.
    Owner,
    /// An API token.
    Token { scopes: Vec<TokenScope>, owner: bool },
    /// A client of `/mcp` or `/v1`. A model may be behind it.
    Client,
    /// A webhook: it only brings events.
    Webhook,
}

impl OperationCaller {
    /// Whether this caller may use an operation.
    #[must_use]
    pub fn may_call(&self, spec: &OperationSpec) -> bool {
        match self {
            Self::Owner => true,
            Self::Token { scopes, owner } => {
                spec.access.scope.is_some_and(|scope| scopes.contains(&scope) && scope.suits(*owner))
            }
            // A model may be behind it: it never answers approval requests and never changes authority.
            Self::Client => spec.mcp && matches!(spec.access.scope, Some(TokenScope::Read | TokenScope::Run)),
            Self::Webhook => false,
        }
    }
}

impl TokenScope {
    /// Approvals and changes of the instance are the owner's. A person whom the owner named as an approver answers in their own
    /// name, which is not an operation of the owner.
    const fn suits(self, owner: bool) -> bool {
        match self {
            Self::Read | Self::Run => true,
            Self::Approve | Self::Admin => owner,
        }
    }
}
