use domain::id::{Prefix, shortest};

use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::records::{
    Access, AgentTask, Approval, Entity, Event, Grant, Identity, Knock, Origin, Reason, ToolCall, Vpol,
};
use crate::store::StoreError;
use crate::table::Record;

/// What a prefix stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Task(Box<AgentTask>),
    Call(Box<ToolCall>),
    Event(Box<Event>),
    Reason(Box<Reason>),
    Entity(Box<Entity>),
    Identity(Box<Identity>),
    Admission(Box<Access>),
    Origin(Box<Origin>),
    Policy(Box<Vpol>),
    Approval(Box<Approval>),
    Grant(Box<Grant>),
    Knock(Box<Knock>),
    Nothing,
    /// Several ids begin like this; the first few of them.
    Several(Vec<String>),
}

/// A record that people name by its id.
trait Named: Record {
    const ID: &'static str;
    fn id(&self) -> String;
    fn found(self) -> Found;
}

macro_rules! named {
    ($($record:ident by $id:ident as $found:ident),+ $(,)?) => {$(
        impl Named for $record {
            const ID: &'static str = stringify!($id);
            fn id(&self) -> String {
                self.$id.to_string()
            }
            fn found(self) -> Found {
                Found::$found(Box::new(self))
            }
        }
    )+};
}
named!(
    AgentTask by task_id as Task,
    ToolCall by id as Call,
    Event by id as Event,
    Reason by id as Reason,
    Entity by id as Entity,
    Identity by id as Identity,
    Access by id as Admission,
    Origin by id as Origin,
    Vpol by vpol_id as Policy,
    Approval by id as Approval,
    Grant by id as Grant,
    Knock by id as Knock,
);

/// How many candidates are named when a prefix is not unique.
const CANDIDATES: u32 = 5;

impl Ledger {
    /// # Errors
    /// If the database cannot be read.
    pub async fn find(&self, prefix: &Prefix) -> Result<Found, StoreError> {
        match prefix.letter {
            't' => self.one::<AgentTask>(prefix).await,
            'c' => self.one::<ToolCall>(prefix).await,
            'e' => self.one::<Event>(prefix).await,
            'r' => self.one::<Reason>(prefix).await,
            'p' => self.one::<Entity>(prefix).await,
            'i' => self.one::<Identity>(prefix).await,
            'd' => self.one::<Access>(prefix).await,
            'o' => self.one::<Origin>(prefix).await,
            'v' => self.one::<Vpol>(prefix).await,
            'a' => self.one::<Approval>(prefix).await,
            'g' => self.one::<Grant>(prefix).await,
            'k' => self.one::<Knock>(prefix).await,
            _ => Ok(Found::Nothing),
        }
    }

    async fn one<T: Named>(&self, prefix: &Prefix) -> Result<Found, StoreError> {
        let select = Select::<T>::all().starting_with(T::ID, &prefix.text).ascending(T::ID).limit(CANDIDATES);
        let mut rows = self.select(select).await?;
        Ok(match (rows.len(), rows.pop()) {
            (1, Some(row)) => row.found(),
            (0, _) | (_, None) => Found::Nothing,
            (_, Some(last)) => Found::Several(rows.iter().chain([&last]).map(Named::id).collect()),
        })
    }

    /// The shortest form of an id that a person can type back.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn short(&self, id: &str) -> Result<String, StoreError> {
        let neighbours = match id.chars().next() {
            Some('t') => self.neighbours::<AgentTask>(id).await?,
            Some('c') => self.neighbours::<ToolCall>(id).await?,
            Some('e') => self.neighbours::<Event>(id).await?,
            Some('r') => self.neighbours::<Reason>(id).await?,
            Some('p') => self.neighbours::<Entity>(id).await?,
            Some('i') => self.neighbours::<Identity>(id).await?,
            Some('d') => self.neighbours::<Access>(id).await?,
            Some('o') => self.neighbours::<Origin>(id).await?,
            Some('v') => self.neighbours::<Vpol>(id).await?,
            Some('a') => self.neighbours::<Approval>(id).await?,
            Some('g') => self.neighbours::<Grant>(id).await?,
            Some('k') => self.neighbours::<Knock>(id).await?,
            _ => return Ok(id.into()),
        };
        let neighbours: Vec<&str> = neighbours.iter().map(String::as_str).collect();
        Ok(shortest(id, &neighbours).into())
    }

    /// The ids before and after this one.
    async fn neighbours<T: Named>(&self, id: &str) -> Result<Vec<String>, StoreError> {
        let id = id.to_owned();
        let before = self.first(Select::<T>::all().filter(T::ID, Op::Lt, &id).descending(T::ID)).await?;
        let after = self.first(Select::<T>::all().filter(T::ID, Op::Gt, &id).ascending(T::ID)).await?;
        Ok([before, after].iter().flatten().map(Named::id).collect())
    }
}
