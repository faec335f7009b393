//! Filters: operations that answer each line of their input with one JSON line, in order.

use std::collections::VecDeque;
use std::future::Future;

use kernel::{Code, Problem};
use serde::Serialize;
use serde_json::json;

use super::{OperationContext, OperationError, StreamEnd};

/// Answers one line.
pub trait LineFilter: Send {
    type Answer: Serialize + Send;

    /// The answer to a line, or what is wrong with the line.
    ///
    /// # Errors
    /// If no line can be answered any more.
    fn answer(
        &mut self,
        line: String,
    ) -> impl Future<Output = Result<Result<Self::Answer, String>, OperationError>> + Send;
}

/// Answers lines in order, and takes the next ones while it works on the ones before.
pub trait LinePipeline: Send {
    type Answer: Serialize + Send;

    /// Whether another line may be taken before the oldest one is answered.
    fn has_room(&self) -> bool;

    /// Begins to work on a line; `Err` inside is what is wrong with it, and then it has no other answer.
    ///
    /// # Errors
    /// If no line can be answered any more.
    fn take(
        &mut self,
        line: String,
    ) -> impl Future<Output = Result<Result<(), String>, OperationError>> + Send;

    /// Waits until the oldest line can be answered. It may be dropped and called again.
    fn decided(&mut self) -> impl Future<Output = ()> + Send;

    /// The answer to the oldest line that was taken.
    ///
    /// # Errors
    /// If no line can be answered any more.
    fn answer(&mut self)
    -> impl Future<Output = Result<Result<Self::Answer, String>, OperationError>> + Send;
}

/// A filter that answers a line before it takes the next one.
struct OneByOne<F: LineFilter> {
    filter: F,
    answer: Option<Result<F::Answer, String>>,
}

impl<F: LineFilter> LinePipeline for OneByOne<F> {
    type Answer = F::Answer;

    fn has_room(&self) -> bool {
        self.answer.is_none()
    }

    async fn take(&mut self, line: String) -> Result<Result<(), String>, OperationError> {
        self.answer = Some(self.filter.answer(line).await?);
        Ok(Ok(()))
    }

    async fn decided(&mut self) {}

    async fn answer(&mut self) -> Result<Result<Self::Answer, String>, OperationError> {
        self.answer.take().ok_or_else(|| Problem::internal("no line was taken").into())
    }
}

/// Answers every line, one by one: see [`pipe_lines`].
///
/// # Errors
/// As [`pipe_lines`].
pub async fn answer_lines(
    context: &OperationContext<'_>,
    safe: &str,
    filter: impl LineFilter,
) -> Result<StreamEnd, OperationError> {
    pipe_lines(context, safe, OneByOne { filter, answer: None }).await
}

/// Answers every line. A line that cannot be used is answered with `{"error", "line"}`, and the next one is read; `safe` says
/// what became of the others.
///
/// # Errors
/// If the input cannot be read, the caller is gone, or the pipeline fails.
pub async fn pipe_lines(
    context: &OperationContext<'_>,
    safe: &str,
    mut pipeline: impl LinePipeline,
) -> Result<StreamEnd, OperationError> {
    let mut lines = Lines::default();
    let mut input = Some(Box::pin(context.io.read_line()));
    loop {
        while let Some(why) = lines.unusable() {
            lines.emit(context, Err::<(), _>(why))?;
        }
        let (reads, waits) = (input.is_some() && pipeline.has_room(), !lines.waiting.is_empty());
        let read = async {
            match &mut input {
                Some(read) => read.await,
                None => Ok(None),
            }
        };
        tokio::select! {
            biased; // what can be read is read, up to what the pipeline has room for
            line = read, if reads => {
                input = None;
                if let Some(line) = line? {
                    lines.number += 1;
                    match line {
                        Ok(line) if line.trim().is_empty() => {}
                        Ok(line) => lines.wait_for(pipeline.take(line).await?.err()),
                        Err(why) => lines.wait_for(Some(why)),
                    }
                    input = Some(Box::pin(context.io.read_line()));
                }
            }
            () = pipeline.decided(), if waits => lines.emit(context, pipeline.answer().await?)?,
            else => break,
        }
    }
    Ok(lines.end(context, safe))
}

/// The lines that were read.
#[derive(Default)]
struct Lines {
    number: u64,
    bad: u64,
    /// Those that are not answered yet: their numbers, and what is wrong with a line that was not taken.
    waiting: VecDeque<(u64, Option<String>)>,
}

impl Lines {
    fn wait_for(&mut self, unusable: Option<String>) {
        self.waiting.push_back((self.number, unusable));
    }

    /// What is wrong with the oldest line, if that is its answer.
    fn unusable(&mut self) -> Option<String> {
        self.waiting.front_mut().and_then(|(_, why)| why.take())
    }

    /// Answers the oldest line.
    fn emit(
        &mut self,
        context: &OperationContext<'_>,
        answer: Result<impl Serialize, String>,
    ) -> Result<(), OperationError> {
        let number = self.waiting.pop_front().map_or(0, |(number, _)| number);
        let answer = match answer {
            Ok(answer) => serde_json::to_value(answer).map_err(Problem::internal)?,
            Err(error) => {
                self.bad += 1;
                json!({ "error": error, "line": number })
            }
        };
        Ok(context.io.emit_json(&answer)?)
    }

    fn end(self, context: &OperationContext<'_>, safe: &str) -> StreamEnd {
        if self.bad == 0 {
            return StreamEnd { exit: 0 };
        }
        let what = format!("{} of {} lines could not be used", self.bad, self.number);
        let problem = Problem::new(Code::BAD_LINES, what).safe(safe);
        // Beside the answers, never among them: there is one line out for each line in.
        context.io.note_problem(&problem);
        StreamEnd { exit: problem.code.exit() }
    }
}
