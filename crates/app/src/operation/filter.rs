//! Filters: operations that answer each line of their input with one JSON line, in order.

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

/// Answers every line. A line that cannot be used is answered with `{"error", "line"}`, and the next one is read; `safe` says
/// what became of the others.
///
/// # Errors
/// If the input cannot be read, the caller is gone, or the filter fails.
pub async fn answer_lines(
    context: &OperationContext<'_>,
    safe: &str,
    mut filter: impl LineFilter,
) -> Result<StreamEnd, OperationError> {
    let (mut bad, mut number) = (0_u64, 0_u64);
    while let Some(line) = context.io.read_line().await? {
        number += 1;
        let answer = match line {
            Err(why) => Err(why),
            Ok(line) if line.trim().is_empty() => continue,
            Ok(line) => filter.answer(line).await?,
        };
        let answer = match answer {
            Ok(answer) => serde_json::to_value(answer).map_err(Problem::internal)?,
            Err(error) => {
                bad += 1;
                json!({ "error": error, "line": number })
            }
        };
        context.io.emit_json(&answer)?;
    }
    if bad == 0 {
        return Ok(StreamEnd { exit: 0 });
    }
    let what = format!("{bad} of {number} lines could not be used");
    let problem = Problem::new(Code::BAD_LINES, what).safe(safe);
    // Beside the answers, never among them: there is one line out for each line in.
    context.io.note_problem(&problem);
    Ok(StreamEnd { exit: problem.code.exit() })
}
