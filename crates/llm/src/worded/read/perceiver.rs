//! R1: a task, an answer or a question.

use domain::Text;
use domain::ask::Perception;
use domain::task::{Constraints, TaskSpec};
use serde_json::Value;

use super::{Fields, Misfit, only_one, top};

/// The longest name of a kind of request.
const CLASS_CHARS: usize = 64;

pub(super) fn read(value: &Value, request: &Text) -> Result<Perception, Misfit> {
    let fields = top(value)?;
    match only_one(fields, &["task", "answer", "question"]) {
        Ok("answer") => Ok(Perception::Direct { answer: fields.needed_text(&["answer"])? }),
        Ok("question") => Ok(Perception::Clarify { question: fields.needed_text(&["question"])? }),
        Ok(_) => task(Fields::of("`task`", fields.any(&["task"]).unwrap_or(&Value::Null))?, request),
        // A task without the word for it is plain enough.
        Err(Misfit::Foreign) if fields.any(&["intent"]).is_some() => task(fields, request),
        Err(misfit) => Err(misfit),
    }
}

fn task(fields: Fields<'_>, request: &Text) -> Result<Perception, Misfit> {
    let constraints = match fields.any(&["constraints"]) {
        Some(value) => Fields::of("`constraints`", value)?,
        None => fields,
    };
    Ok(Perception::Task(Box::new(TaskSpec {
        task_class: class(&fields.text(&["task_class", "task_id"])?.unwrap_or_default()),
        intent: Text::model(fields.needed_text(&["intent"])?),
        constraints: Constraints {
            scope: constraints.text(&["scope"])?,
            deadline: constraints.text(&["deadline"])?,
        },
        raw_input: request.clone(),
    })))
}

/// `Largest-Video file` and `largestVideoFile` are `largest_video_file`. What has no Latin letter and no digit has no name,
/// and the engine makes one, so that two such requests do not share a memory.
fn class(text: &str) -> String {
    let mut class = String::new();
    let mut was_small = false;
    for c in text.chars() {
        let starts_word = c.is_ascii_uppercase() && was_small;
        if (starts_word || !c.is_ascii_alphanumeric()) && !class.is_empty() && !class.ends_with('_') {
            class.push('_');
        }
        if c.is_ascii_alphanumeric() {
            class.push(c.to_ascii_lowercase());
        }
        was_small = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    class.truncate(CLASS_CHARS); // ASCII only
    class.truncate(class.trim_end_matches('_').len());
    class
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn a_class_is_snake_case_whatever_was_written() {
        let long = "very_".repeat(20);
        let table = [
            ("largest_video_file", "largest_video_file"),
            ("Largest-Video  file!", "largest_video_file"),
            ("largestVideoFile", "largest_video_file"),
            ("CSV_report2Day", "csv_report2_day"),
            ("__a__", "a"),
            ("найти файл", ""),
            ("最大 file", "file"),
            ("größte", "gr_te"),
            ("", ""),
            (long.as_str(), long.get(..64).unwrap()),
        ];
        for (text, expected) in table {
            assert_eq!(class(text), expected, "{text}");
        }
    }
}
