//! Statements on their way: each is sent at once, and the answers are waited for together. The server works on the first
//! while we still make the next, and a transaction costs few round trips.
//!
//! The server runs them one after the other. In a transaction that one of them has broken it refuses all that follow, so the
//! first error is the one that counts.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use ledger::store::StoreError;
use ledger::table::Table;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, Statement};

use super::cells::Parameter;
use super::connection::Wire;
use super::errors::{failure, is_duplicate};
use super::prepared::{PreparedStatements, Sending};

/// What a statement is answered with.
enum Answer {
    Done,
    Rows(Vec<Row>),
    Written(u64),
    Prepared(Statement),
}

type AnswerFuture<'c> = Pin<Box<dyn Future<Output = Result<Answer, Error>> + Send + 'c>>;
/// Compares how many rows were to be written with how many were.
pub(super) type CountCheck = fn(&'static Table, usize, u64) -> Result<(), StoreError>;

/// What is to be done with an answer.
enum Purpose {
    Run,
    Query,
    Prepare(String),
    Insert { table: &'static Table, rows: usize, check: CountCheck },
}

enum Progress<'c> {
    Waiting(AnswerFuture<'c>),
    Answered(Result<Answer, Error>),
}

struct SentStatement<'c> {
    purpose: Purpose,
    progress: Progress<'c>,
}

impl SentStatement<'_> {
    fn is_answered(&mut self, context: &mut Context<'_>) -> bool {
        if let Progress::Waiting(answer) = &mut self.progress
            && let Poll::Ready(answer) = answer.as_mut().poll(context)
        {
            self.progress = Progress::Answered(answer);
        }
        matches!(self.progress, Progress::Answered(_))
    }
}

pub(super) struct Pipeline<'c> {
    client: &'c Client,
    wire: &'c mut Wire,
    prepared: &'c mut PreparedStatements,
    sent: Vec<SentStatement<'c>>,
}

impl<'c> Pipeline<'c> {
    pub(super) fn new(client: &'c Client, wire: &'c mut Wire, prepared: &'c mut PreparedStatements) -> Self {
        Self { client, wire, prepared, sent: Vec::new() }
    }

    /// Runs statements that have no parameters. They go with the next that is sent.
    pub(super) async fn run(&mut self, sql: &'static str) {
        let client = self.client;
        let answer = async move { client.batch_execute(sql).await.map(|()| Answer::Done) };
        self.queue(Purpose::Run, Box::pin(answer)).await;
    }

    /// Asks for rows, which [`Self::settle`] brings.
    pub(super) async fn query(&mut self, sql: &str, parameters: Vec<Parameter>) {
        self.send(Purpose::Query, sql, parameters).await;
    }

    /// Runs a statement whose changed rows are not counted.
    pub(super) async fn execute(&mut self, sql: &str, parameters: Vec<Parameter>) {
        self.send(Purpose::Run, sql, parameters).await;
    }

    /// Writes rows of a table.
    pub(super) async fn insert(
        &mut self,
        (table, rows): (&'static Table, usize),
        check: CountCheck,
        sql: &str,
        parameters: Vec<Parameter>,
    ) {
        self.send(Purpose::Insert { table, rows, check }, sql, parameters).await;
        // With many rows the server begins, and we go on. A few wait for the next, and go in one packet.
        if rows > 1 {
            self.advance().await;
        }
    }

    /// Waits for all answers; brings the rows of each question. The first error counts, also one about how many rows were
    /// written.
    pub(super) async fn settle(&mut self) -> Result<Vec<Vec<Row>>, StoreError> {
        let Self { wire, sent, .. } = self;
        std::future::poll_fn(|context| {
            if are_answered(sent, context) {
                return Poll::Ready(());
            }
            wire.advance(context);
            if are_answered(sent, context) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        let (mut rows, mut result) = (Vec::new(), Ok(()));
        for SentStatement { purpose, progress } in std::mem::take(&mut self.sent) {
            let Progress::Answered(answer) = progress else { continue };
            match (answer.map_err(|error| self.wire.explain(error)), purpose) {
                (Ok(Answer::Prepared(statement)), Purpose::Prepare(sql)) => {
                    self.prepared.keep(&sql, statement);
                }
                (Ok(Answer::Rows(found)), _) => rows.push(found),
                (Ok(Answer::Written(written)), Purpose::Insert { table, rows, check }) => {
                    result = result.and_then(|()| check(table, rows, written));
                }
                (Ok(_), _) => {}
                (Err(error), Purpose::Insert { table, .. }) if is_duplicate(&error) => {
                    result = result.and(Err(StoreError::Duplicate(table.name)));
                }
                (Err(error), _) => result = result.and_then(|()| Err(failure(error))),
            }
        }
        result.map(|()| rows)
    }

    /// The transaction is about to go on from a mark: what came of what was sent since does not matter.
    pub(super) async fn settle_whatever_comes(&mut self) {
        drop(self.settle().await);
    }

    async fn send(&mut self, purpose: Purpose, sql: &str, parameters: Vec<Parameter>) {
        let client = self.client;
        let is_query = matches!(purpose, Purpose::Query);
        let sending = self.prepared.choose(sql);
        if matches!(sending, Sending::TextAndPrepare) {
            let (text, types) = (sql.to_owned(), parameters.iter().map(Parameter::sql_type));
            let types: Vec<Type> = types.collect();
            let answer = async move { client.prepare_typed(&text, &types).await.map(Answer::Prepared) };
            self.queue(Purpose::Prepare(sql.to_owned()), Box::pin(answer)).await;
        }
        let answer: AnswerFuture<'c> = match sending {
            Sending::Prepared(statement) => Box::pin(async move {
                let parameters = parameters.iter().map(|parameter| parameter as &(dyn ToSql + Sync));
                let parameters: Vec<_> = parameters.collect();
                match is_query {
                    true => client.query(&statement, &parameters).await.map(Answer::Rows),
                    false => client.execute(&statement, &parameters).await.map(Answer::Written),
                }
            }),
            Sending::Text | Sending::TextAndPrepare => {
                let text = sql.to_owned();
                Box::pin(async move {
                    let typed = |parameter| -> (&(dyn ToSql + Sync), Type) { typed(parameter) };
                    let parameters: Vec<_> = parameters.iter().map(typed).collect();
                    match is_query {
                        true => client.query_typed(&text, &parameters).await.map(Answer::Rows),
                        false => client.execute_typed(&text, &parameters).await.map(Answer::Written),
                    }
                })
            }
        };
        self.queue(purpose, answer).await;
    }

    /// Hands a statement over to the driver, which sends it when it is polled.
    async fn queue(&mut self, purpose: Purpose, answer: AnswerFuture<'c>) {
        let mut statement = SentStatement { purpose, progress: Progress::Waiting(answer) };
        std::future::poll_fn(|context| {
            statement.is_answered(context);
            Poll::Ready(())
        })
        .await;
        self.sent.push(statement);
    }

    async fn advance(&mut self) {
        std::future::poll_fn(|context| {
            self.wire.advance(context);
            Poll::Ready(())
        })
        .await;
    }
}

fn typed(parameter: &Parameter) -> (&(dyn ToSql + Sync), Type) {
    (parameter, parameter.sql_type())
}

/// Every one of them is asked, not only the first that waits.
fn are_answered(sent: &mut [SentStatement<'_>], context: &mut Context<'_>) -> bool {
    let mut waiting = 0;
    for statement in sent {
        waiting += usize::from(!statement.is_answered(context));
    }
    waiting == 0
}
