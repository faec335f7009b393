use domain::id::{Prefix, shortest};

use crate::committer::Ledger;
use crate::query::{Op, Select};
use crate::records::{AgentTask, Event, Reason, ToolCall};
use crate::store::StoreError;
use crate::table::Record;
use crate::value::Cell;

/// What a prefix stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Task(Box<AgentTask>),
    Call(Box<ToolCall>),
    Event(Box<Event>),
    Reason(Box<Reason>),
    Nothing,
    /// Several ids begin like this; the first few of them.
    Several(Vec<String>),
}

/// How many candidates are named when a prefix is not unique.
const CANDIDATES: u32 = 5;

impl Ledger {
    /// # Errors
    /// If the database cannot be read.
    pub async fn find(&self, prefix: &Prefix) -> Result<Found, StoreError> {
        match prefix.letter {
            't' => {
                self.one(
                    prefix,
                    "task_id",
                    |task| Found::Task(Box::new(task)),
                    |task| task.task_id.to_string(),
                )
                .await
            }
            'c' => {
                self.one(
                    prefix,
                    "id",
                    |call| Found::Call(Box::new(call)),
                    |call: &ToolCall| call.id.to_string(),
                )
                .await
            }
            'e' => {
                self.one(
                    prefix,
                    "id",
                    |event| Found::Event(Box::new(event)),
                    |event: &Event| event.id.to_string(),
                )
                .await
            }
            'r' => {
                self.one(
                    prefix,
                    "id",
                    |reason| Found::Reason(Box::new(reason)),
                    |reason: &Reason| reason.id.to_string(),
                )
                .await
            }
            _ => Ok(Found::Nothing),
        }
    }

    async fn one<T: Record>(
        &self,
        prefix: &Prefix,
        column: &'static str,
        found: impl Fn(T) -> Found,
        name: impl Fn(&T) -> String,
    ) -> Result<Found, StoreError> {
        let select =
            Select::<T>::all().starting_with(column, &prefix.text).ascending(column).limit(CANDIDATES);
        let mut rows = self.select(select).await?;
        Ok(match (rows.len(), rows.pop()) {
            (1, Some(row)) => found(row),
            (0, _) | (_, None) => Found::Nothing,
            (_, Some(last)) => Found::Several(rows.iter().chain([&last]).map(name).collect()),
        })
    }

    /// The shortest form of an id that a person can type back.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn short(&self, id: &str) -> Result<String, StoreError> {
        let neighbours = match id.chars().next() {
            Some('t') => self.neighbours::<AgentTask>("task_id", id).await?,
            Some('c') => self.neighbours::<ToolCall>("id", id).await?,
            Some('e') => self.neighbours::<Event>("id", id).await?,
            Some('r') => self.neighbours::<Reason>("id", id).await?,
            _ => return Ok(id.into()),
        };
        let neighbours: Vec<&str> = neighbours.iter().map(String::as_str).collect();
        Ok(shortest(id, &neighbours).into())
    }

    async fn neighbours<T: Record>(&self, column: &'static str, id: &str) -> Result<Vec<String>, StoreError> {
        let id = id.to_owned();
        let before = Select::<T>::all().filter(column, Op::Lt, &id).descending(column);
        let after = Select::<T>::all().filter(column, Op::Gt, &id).ascending(column);
        let at = T::TABLE.position(column).unwrap_or(0);
        let mut neighbours = Vec::with_capacity(2);
        for select in [before, after] {
            let row = self.first(select).await?.map(|record| record.row());
            let cell = row.and_then(|row| row.into_iter().nth(at));
            neighbours.extend(cell.and_then(|cell| String::from_value(cell).ok()));
        }
        Ok(neighbours)
    }
}
