//! Budgets: what may be used up, by whom, until when. Reserved before a call, settled after it.
//!
//! Pure: what is used so far is given, and the ledger counts (`Batch::spend`), inside the transaction that makes the
//! call's `started` durable. So two calls cannot both get the last of a budget, whichever process they come from.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

pub use domain::budget::Unit;
use domain::canonical;
use ledger::records::Budget;
use ledger::{Batch, Spend};
use serde::{Deserialize, Serialize};

use crate::returned::Used;
use crate::tool::{Cost, Reach, ToolSpec};

/// Whose use is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Task,
    Session,
    Agent,
    Principal,
    Day,
}

impl Scope {
    pub const ALL: [Self; 5] = [Self::Task, Self::Session, Self::Agent, Self::Principal, Self::Day];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Session => "session",
            Self::Agent => "agent",
            Self::Principal => "principal",
            Self::Day => "day",
        }
    }
}

/// The limits that the owner set; what is not named is not limited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    set: BTreeMap<(Scope, Unit), u64>,
    /// The validation policy that leaves a chain less than the settings do.
    by_policy: BTreeMap<Unit, String>,
}

impl Limits {
    pub fn set(&mut self, scope: Scope, unit: Unit, limit: Option<u64>) {
        match limit {
            Some(limit) => drop(self.set.insert((scope, unit), limit)),
            None => drop(self.set.remove(&(scope, unit))),
        }
    }

    /// The same, but a chain may use no more than this policy leaves it.
    #[must_use]
    pub fn within(mut self, budget: &BTreeMap<Unit, u64>, policy: &str) -> Self {
        for (&unit, &limit) in budget {
            if self.get(Scope::Task, unit).is_none_or(|set| limit < set) {
                self.set.insert((Scope::Task, unit), limit);
                self.by_policy.insert(unit, policy.to_owned());
            }
        }
        self
    }

    #[must_use]
    pub fn get(&self, scope: Scope, unit: Unit) -> Option<u64> {
        self.set.get(&(scope, unit)).copied()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}

/// The names under which the use of one chain is counted. Never a person's name: they stand in rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accounts {
    pub task: String,
    pub session: String,
    pub agent: String,
    pub principal: String,
    /// The day it is where the owner lives, as `2026-11-16`.
    pub day: String,
}

impl Accounts {
    #[must_use]
    pub fn name(&self, scope: Scope) -> String {
        let of = match scope {
            Scope::Task => &self.task,
            Scope::Session => &self.session,
            Scope::Agent => &self.agent,
            Scope::Principal => &self.principal,
            Scope::Day => &self.day,
        };
        format!("{}:{of}", scope.name())
    }
}

/// How much of which budget one call holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reservation(Vec<Hold>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Hold {
    account: String,
    unit: Unit,
    amount: u64,
    /// What it was measured against.
    limit: u64,
}

/// A budget of which not enough is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exhausted {
    pub scope: Scope,
    pub unit: Unit,
    pub limit: u64,
    pub used: u64,
    /// The validation policy that sets it; nothing where the settings do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

impl Exhausted {
    /// The setting that says how much it is.
    #[must_use]
    pub fn setting(&self) -> String {
        format!("budget.{}.{}", self.scope.name(), self.unit.name())
    }

    /// Where the owner can allow more.
    #[must_use]
    pub fn remedy(&self) -> String {
        match &self.policy {
            None => format!("the owner can raise it: `{}` in the settings", self.setting()),
            Some(policy) => {
                let unit = self.unit.name();
                format!("the owner can raise it: `budget.{unit}` of the validation policy `{policy}`")
            }
        }
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scope, unit, limit, used, .. } = self;
        write!(
            f,
            "the budget of this {} is used up: {} of {}",
            scope.name(),
            unit.shown(*used),
            unit.shown(*limit)
        )
    }
}

/// What is used of each budget, as far as one driver knows: as the ledger had it, and what its own batch adds.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    used: BTreeMap<(String, Unit), u64>,
}

impl Standing {
    #[must_use]
    pub fn of(rows: &[Budget]) -> Self {
        let unit = |name: &str| Unit::ALL.into_iter().find(|unit| unit.name() == name);
        let used = rows.iter().filter_map(|row| Some(((row.account.clone(), unit(&row.unit)?), row.used)));
        Self { used: used.collect() }
    }

    /// The same, once this batch is written: what it gives back is there to be held.
    #[must_use]
    pub fn after(mut self, batch: &Batch) -> Self {
        for spend in batch.spends() {
            let Some(unit) = Unit::ALL.into_iter().find(|unit| unit.name() == spend.unit) else { continue };
            let used = self.used.entry((spend.account.clone(), unit)).or_default();
            *used = used.saturating_add_signed(spend.amount);
        }
        self
    }

    fn used(&self, account: &str, unit: Unit) -> u64 {
        self.used.get(&(account.to_owned(), unit)).copied().unwrap_or(0)
    }

    fn add(&mut self, hold: &Hold) {
        let used = self.used.entry((hold.account.clone(), hold.unit)).or_default();
        *used = used.saturating_add(hold.amount);
    }

    /// Takes [`Self::lift`] back.
    pub fn hold(&mut self, before: &Reservation) {
        before.0.iter().for_each(|hold| self.add(hold));
    }

    /// Leaves out what a call holds that is asked for again: the last of a budget is not used up by its own holder.
    pub fn lift(&mut self, before: &Reservation) {
        for hold in &before.0 {
            if let Some(used) = self.used.get_mut(&(hold.account.clone(), hold.unit)) {
                *used = used.saturating_sub(hold.amount);
            }
        }
    }

    /// What this call has to hold before it may start, and the time it may take, if that is limited.
    ///
    /// # Errors
    /// If one of the budgets has not that much left.
    pub fn reserve(
        &self,
        limits: &Limits,
        accounts: &Accounts,
        spec: &ToolSpec,
        (cost, args_bytes): (Cost, u64),
    ) -> Result<(Reservation, Option<Duration>), Exhausted> {
        // Whatever came of the work, and be it that a budget is used up, may be told.
        if spec.reach == Reach::Origin {
            return Ok((Reservation::default(), None));
        }
        let mut holds = Vec::new();
        let mut time = None;
        for (&(scope, unit), &limit) in &limits.set {
            let account = accounts.name(scope);
            let used = self.used(&account, unit);
            let left = limit.saturating_sub(used);
            let amount = match unit {
                Unit::Money => cost.money,
                Unit::Tokens => cost.tokens,
                // Thinking about what to do is none.
                Unit::Calls => u64::from(spec.reach != Reach::Model),
                Unit::BytesOut if spec.reach == Reach::Outside => args_bytes.saturating_add(cost.bytes),
                Unit::BytesOut => cost.bytes,
                // It may take what is left, and is stopped then.
                Unit::Time => millis(spec.timeout).min(left).max(1),
            };
            if amount == 0 {
                continue;
            }
            if amount > left {
                let policy = limits.by_policy.get(&unit).filter(|_| scope == Scope::Task).cloned();
                return Err(Exhausted { scope, unit, limit, used, policy });
            }
            if unit == Unit::Time {
                let most = Duration::from_millis(amount);
                time = Some(time.map_or(most, |time: Duration| time.min(most)));
            }
            holds.push(Hold { account, unit, amount, limit });
        }
        Ok((Reservation(holds), time))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Reservation {
    /// Puts it into the batch that starts the call; what the call held before (it is asked for again, and the standing
    /// was told: [`Standing::lift`]) goes back.
    pub fn enter(&self, before: Option<&Self>, standing: &mut Standing, batch: &mut Batch) {
        if let Some(before) = before {
            before.release(batch);
        }
        for hold in &self.0 {
            standing.add(hold);
            batch.spend(hold.spend(signed(hold.amount), Some(hold.limit)));
        }
    }

    /// Puts the difference to what was really used into the batch that ends the call.
    pub fn settle(&self, took: Duration, used: Option<Used>, batch: &mut Batch) {
        for hold in &self.0 {
            let really = match (hold.unit, used) {
                (Unit::Time, _) => millis(took),
                (Unit::Money, Some(used)) => used.money,
                (Unit::Tokens, Some(used)) => used.tokens,
                _ => hold.amount,
            };
            if really != hold.amount {
                batch.spend(hold.spend(signed(really).saturating_sub(signed(hold.amount)), None));
            }
        }
    }

    /// Gives everything back: the call did not start.
    pub fn release(&self, batch: &mut Batch) {
        for hold in &self.0 {
            batch.spend(hold.spend(signed(hold.amount).saturating_neg(), None));
        }
    }

    /// As it stands in the call's row.
    #[must_use]
    pub fn kept(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        canonical::bytes(self).ok().and_then(|bytes| String::from_utf8(bytes).ok())
    }

    #[must_use]
    pub fn read(kept: Option<&str>) -> Self {
        kept.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

impl Hold {
    fn spend(&self, amount: i64, limit: Option<u64>) -> Spend {
        Spend { account: self.account.clone(), unit: self.unit.name().into(), amount, limit }
    }
}

fn signed(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}
