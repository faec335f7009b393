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
    ($($letter:literal $record:ident by $id:ident as $found:ident),+ $(,)?) => {
        $(impl Named for $record {
            const ID: &'static str = stringify!($id);
            fn id(&self) -> String {
                self.$id.to_string()
            }
            fn found(self) -> Found {
                Found::$found(Box::new(self))
            }
        })+

        impl Ledger {
            /// What is called like this.
            ///
            /// # Errors
            /// If the database cannot be read.
            pub async fn find(&self, prefix: &Prefix) -> Result<Found, StoreError> {
                match prefix.letter {
                    $($letter => self.one::<$record>(prefix).await,)+
                    _ => Ok(Found::Nothing),
                }
            }

            /// The ids before and after this one; `None` for ids that people do not type.
            async fn neighbours(&self, id: &str) -> Result<Option<Vec<String>>, StoreError> {
                Ok(match id.chars().next() {
                    $(Some($letter) => Some(self.neighbours_in::<$record>(id).await?),)+
                    _ => None,
                })
            }
        }
    };
}
// The letter that ids of a kind begin with, the record, its column, and what it is found as.
named!(
    't' AgentTask by task_id as Task,
    'c' ToolCall by id as Call,
    'e' Event by id as Event,
    'r' Reason by id as Reason,
    'p' Entity by id as Entity,
    'i' Identity by id as Identity,
    'd' Access by id as Admission,
    'o' Origin by id as Origin,
    'v' Vpol by vpol_id as Policy,
    'a' Approval by id as Approval,
    'g' Grant by id as Grant,
    'k' Knock by id as Knock,
);

/// How many candidates are named when a prefix is not unique.
const CANDIDATES: u32 = 5;

impl Ledger {
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
        let Some(neighbours) = self.neighbours(id).await? else { return Ok(id.into()) };
        let neighbours: Vec<&str> = neighbours.iter().map(String::as_str).collect();
        Ok(shortest(id, &neighbours).into())
    }

    async fn neighbours_in<T: Named>(&self, id: &str) -> Result<Vec<String>, StoreError> {
        let id = id.to_owned();
        let before = self.first(Select::<T>::all().filter(T::ID, Op::Lt, &id).descending(T::ID)).await?;
        let after = self.first(Select::<T>::all().filter(T::ID, Op::Gt, &id).ascending(T::ID)).await?;
        Ok([before, after].iter().flatten().map(Named::id).collect())
    }
}
