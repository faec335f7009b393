//! The terminal as the caller of operations: standard output and input, and the person in front of it.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use app::operation::{AnyOutput, AttendedTask, BoxedFuture, FileLines, InputLine, OperationIo};
use app::tasks::Report;
use app::{App, Code, Problem, Surface, WaitMode};
use async_trait::async_trait;
use domain::event::TERMINAL;
use host::ProcessEnvironment;
use present::progress::TaskProgress;
use present::{Page, Style};
use serde_json::Value;

use crate::attend::{self, Attendance};
use crate::input::LineFeed;
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
    /// Whether a person was beside work: they hear its end.
    attended: AtomicBool,
    lines: LineFeed,
}

impl<'a> TerminalIo<'a> {
    pub(crate) fn new(
        app: &'a App,
        screen: &'a Screen,
        environment: &'a ProcessEnvironment,
        seat: &'a TerminalSession,
        live: &'a Live,
    ) -> Self {
        Self {
            app,
            screen,
            environment,
            seat,
            live,
            attended: AtomicBool::new(false),
            lines: LineFeed::default(),
        }
    }

    /// Rings for a person who was beside work, if their terminal is read aloud.
    pub(crate) fn ring(&self) {
        if self.attended.load(Ordering::Acquire) && self.screen.rings() {
            self.screen.beside("\x07");
        }
    }

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

    fn is_watched(&self) -> bool {
        self.screen.is_watched()
    }

    async fn read_line(&self) -> Result<Option<InputLine>, Problem> {
        let line = self.lines.next().await;
        line.map_err(|error| Problem::new(Code::INPUT, format!("standard input cannot be read: {error}")))
    }

    fn via(&self) -> &'static str {
        TERMINAL
    }

    async fn read_text(&self, most: usize) -> io::Result<String> {
        let text = host::run_blocking(move || {
            let mut text = String::new();
            io::stdin().lock().take(most as u64 + 1).read_to_string(&mut text).map(|_| text)
        });
        let text = text.await?;
        if text.len() > most {
            return Err(io::Error::other(format!("it has more than {most} bytes")));
        }
        Ok(text)
    }

    fn can_ask(&self) -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    fn style(&self) -> Style<'_> {
        self.screen.style(self.app)
    }

    async fn ask(&self, page: &Page, prompt: &str) -> Result<Option<String>, Problem> {
        if !self.can_ask() {
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

    fn read_file(&self, path: &Path) -> io::Result<Option<String>> {
        host::read_named_text(path)
    }

    fn read_file_lines(&self, path: &Path) -> io::Result<FileLines> {
        Ok(Box::new(host::read_lines(path)?))
    }

    fn delivery(&self) -> Arc<dyn Surface> {
        attend::delivery(self.screen, &self.attendance(false))
    }

    fn wait_mode(&self, wait: bool) -> WaitMode {
        self.attendance(wait).wait()
    }

    async fn attend(
        &self,
        task: AttendedTask,
        wait: bool,
        work: BoxedFuture<'_, Result<Report, Problem>>,
    ) -> Result<(Report, TaskProgress), Problem> {
        self.attended.store(true, Ordering::Release);
        if let AttendedTask::Begun(begun) | AttendedTask::PerhapsDriven(begun) = task {
            // What cannot be read any more is reported by the work.
            let steps = self.app.record().steps(&begun.to_string()).await;
            self.live.remember(begun, &steps.unwrap_or_default());
        }
        let report = attend::attended(self.app, self.screen, &self.attendance(wait), task, work).await?;
        Ok((report, self.live.progress()))
    }
}
