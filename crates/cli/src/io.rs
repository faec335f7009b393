//! The terminal as the caller of operations: standard output and input, and the person in front of it.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use app::operation::{AnyOutput, AttendedTask, BoxedFuture, InputLine, OperationIo};
use app::tasks::Report;
use app::{App, Code, Problem, Surface, WaitMode};
use async_trait::async_trait;
use domain::limits::LINE_BYTES;
use host::ProcessEnvironment;
use present::Page;
use serde_json::Value;

use crate::commands::attend::{self, Attendance};
use crate::commands::lines::read_line;
use crate::live::Live;
use crate::show::Screen;
use crate::terminal::TerminalSession;

#[derive(Debug)]
pub(crate) struct TerminalIo<'a> {
    pub(crate) app: &'a App,
    pub(crate) screen: &'a Screen,
    pub(crate) environment: &'a ProcessEnvironment,
    pub(crate) seat: &'a TerminalSession,
    pub(crate) live: &'a Live,
}

impl TerminalIo<'_> {
    pub(crate) fn attendance(&self, wait: bool) -> Attendance {
        Attendance::of(self.screen, self.environment, self.seat, self.live, wait)
    }
}

#[async_trait]
impl OperationIo for TerminalIo<'_> {
    fn emit(&self, part: &dyn AnyOutput) -> io::Result<()> {
        self.screen.show_output(part, self.app)?;
        self.screen.flush()
    }

    fn emit_json(&self, line: &Value) -> io::Result<()> {
        self.screen.json_line(line)?;
        self.screen.flush()
    }

    fn emit_verbatim(&self, text: &str) -> io::Result<()> {
        self.screen.result(text)?;
        self.screen.flush()
    }

    fn note_problem(&self, problem: &Problem) {
        self.screen.note_problem(problem);
    }

    fn reads_data(&self) -> bool {
        self.screen.json
    }

    fn note(&self, page: &Page) {
        self.screen.note_page(page);
    }

    async fn read_line(&self) -> Result<Option<InputLine>, Problem> {
        // On a thread of its own: Ctrl-C must work while there is no input.
        let line = host::run_blocking(|| read_line(&mut io::stdin().lock(), LINE_BYTES)).await;
        line.map_err(|error| Problem::new(Code::INPUT, format!("standard input cannot be read: {error}")))
    }

    async fn ask(&self, page: &Page, prompt: &str) -> Result<Option<String>, Problem> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Ok(None);
        }
        self.screen.note_page(page);
        let unreadable =
            |error: io::Error| Problem::new(Code::INPUT, format!("the terminal cannot be read: {error}"));
        write!(io::stderr().lock(), "{prompt} ").map_err(unreadable)?;
        io::stderr().lock().flush().map_err(unreadable)?;
        let line = host::run_blocking(|| {
            let mut line = String::new();
            io::stdin().lock().read_line(&mut line).map(|_| line)
        });
        Ok(Some(line.await.map_err(unreadable)?.trim().to_owned()))
    }

    fn folder(&self) -> Result<PathBuf, Problem> {
        let gone = || Problem::new(Code::WORKSPACE, "the current folder is gone").safe("nothing was written");
        self.environment.folder.clone().ok_or_else(gone)
    }

    fn delivery(&self) -> Arc<dyn Surface> {
        crate::commands::run::surface(self.screen, &self.attendance(false))
    }

    fn wait_mode(&self, wait: bool) -> WaitMode {
        self.attendance(wait).wait()
    }

    async fn attend(
        &self,
        task: AttendedTask,
        wait: bool,
        work: BoxedFuture<'_, Result<Report, Problem>>,
    ) -> Result<Report, Problem> {
        attend::attended(self.app, self.screen, &self.attendance(wait), task, work).await
    }
}
