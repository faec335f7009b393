//! What an operation can do with its caller besides returning a result. Each surface implements it once.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use domain::id::TaskId;
use kernel::{Problem, Surface, WaitMode};
use present::progress::TaskProgress;
use present::{Page, Style};
use serde_json::Value;

use super::AnyOutput;
use crate::tasks::Report;

pub type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The lines of a file.
pub type FileLines = Box<dyn Iterator<Item = io::Result<String>> + Send>;

/// One line of input: its text, or why it cannot be used.
pub type InputLine = Result<String, String>;

/// Whether the task of a running operation is known before the work says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttendedTask {
    New,
    /// It was begun before, and no process drives it.
    Begun(TaskId),
    /// It was begun before, and another process seemed to drive it. Unless the work ends at once, that process is gone.
    PerhapsDriven(TaskId),
}

#[async_trait]
pub trait OperationIo: Send + Sync {
    /// Shows a part of the result before the operation is over.
    ///
    /// # Errors
    /// If the caller is gone.
    fn emit(&self, part: &dyn AnyOutput) -> io::Result<()>;

    /// Writes one line of JSON, also if the caller reads text: the answer of a filter.
    ///
    /// # Errors
    /// If the caller is gone.
    fn emit_json(&self, line: &Value) -> io::Result<()>;

    /// Writes a text as it is, whether the caller reads text or data: lines of an export or of a recording.
    ///
    /// # Errors
    /// If the caller is gone.
    fn emit_verbatim(&self, text: &str) -> io::Result<()>;

    /// Shows a page beside the result before the operation is over.
    fn note(&self, page: &Page);

    /// Shows a problem that does not end the operation.
    fn note_problem(&self, problem: &Problem);

    /// Whether a person sees the notes as they are written.
    fn is_watched(&self) -> bool;

    /// Whether the caller reads data; then it gets everything, where a person gets the first few.
    fn reads_data(&self) -> bool;

    /// The next line of input; `None` at its end.
    ///
    /// # Errors
    /// If the input cannot be read.
    async fn read_line(&self) -> Result<Option<InputLine>, Problem>;

    /// The name under which answers of this caller are recorded: `terminal`.
    fn via(&self) -> &'static str;
    /// The whole input as text.
    ///
    /// # Errors
    /// If it cannot be read, is not UTF-8, or has more than `most` bytes.
    async fn read_text(&self, most: usize) -> io::Result<String>;

    /// Whether there is a person to ask.
    fn can_ask(&self) -> bool;

    /// How a page for this caller is written.
    fn style(&self) -> Style<'_>;

    /// Asks the person who calls to type something; `None` if there is no person to ask.
    ///
    /// # Errors
    /// If the answer cannot be read.
    async fn ask(&self, page: &Page, prompt: &str) -> Result<Option<String>, Problem>;

    /// The folder that the caller works in, and that relative paths begin at.
    ///
    /// # Errors
    /// If there is none.
    fn folder(&self) -> Result<PathBuf, Problem>;

    /// A text file that the caller named; `None` if there is none. A surface whose caller is elsewhere refuses: its callers
    /// must not read files of this machine.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read_file(&self, path: &Path) -> io::Result<Option<String>>;

    /// The lines of a file that the caller named, one by one.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn read_file_lines(&self, path: &Path) -> io::Result<FileLines>;

    /// Where the answer of a task is delivered.
    fn delivery(&self) -> Arc<dyn Surface>;

    /// What the process does while a task waits for an approval. `wait`: the caller asked to stay.
    fn wait_mode(&self, wait: bool) -> WaitMode;

    /// Does the work, shows its progress, and lets the caller answer what it asks meanwhile. Returns what was
    /// displayed of it, too. `wait`: the caller asked to stay.
    ///
    /// # Errors
    /// What the work fails with.
    async fn attend(
        &self,
        task: AttendedTask,
        wait: bool,
        work: BoxedFuture<'_, Result<Report, Problem>>,
    ) -> Result<(Report, TaskProgress), Problem>;
}
