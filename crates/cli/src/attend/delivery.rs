//! The delivery of an answer to the terminal.

use std::sync::Arc;

use app::Surface;
use app::tasks::{TaskStreamEvent, result_text};
use domain::id::TaskId;
use domain::task::FinalResult;
use host::SystemClock;

use super::Attendance;
use crate::live::Live;
use crate::show::Screen;
use crate::terminal::tty::Tty;

/// Shows the answer on standard output: the handler behind the tool `deliver`.
struct Terminal {
    screen: Screen,
    /// Where a question may be open.
    tty: Option<Tty>,
    live: Live,
    clock: Arc<dyn domain::Clock>,
}

pub(crate) fn delivery(screen: &Screen, attendance: &Attendance) -> Arc<dyn Surface> {
    let Attendance { tty, live, .. } = attendance;
    Arc::new(Terminal {
        screen: screen.clone(),
        tty: tty.clone(),
        live: live.clone(),
        clock: Arc::new(SystemClock),
    })
}

impl Surface for Terminal {
    fn show(&self, task: TaskId, result: &FinalResult) -> Result<(), String> {
        // Answered elsewhere a moment ago: the result does not begin behind a prompt.
        self.tty.iter().for_each(Tty::step_aside);
        self.live.follow(); // what led to the result comes before it
        self.live.close(self.clock.now());
        let screen = &self.screen;
        match print(screen, task, result) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()), // whoever closed it had enough
            shown => shown.map_err(|error| format!("standard output: {error}")),
        }
    }
}

/// The answer: the last line of the JSON stream, or the text and nothing else.
fn print(screen: &Screen, task: TaskId, result: &FinalResult) -> std::io::Result<()> {
    if screen.json {
        screen.json_line(&TaskStreamEvent::Response { task, result })?;
        return screen.flush();
    }
    match result_text(result) {
        text if text.is_empty() => {}
        text => screen.result(&text)?,
    }
    screen.flush()
}
