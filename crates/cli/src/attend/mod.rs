//! Work that may need a person: with somebody at the terminal to ask, with somebody elsewhere to wait for, or with nobody.

mod delivery;
mod prompt;
mod signals;

use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use app::WaitMode;
use app::approvals::{Act, ApprovalView};
use app::operation::AttendedTask;
use app::tasks::{Report, describe_waiting};
use app::{App, DisplayEvent, Problem};
use domain::Time;
use domain::event::TERMINAL;
use domain::id::TaskId;
use host::ProcessEnvironment;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::live::Live;
use crate::show::{Screen, Tone};
use crate::terminal::TerminalSession;
use crate::terminal::tty::{Heard, Marks, Tty};
pub(crate) use delivery::delivery;
use prompt::{Conversation, Desk, Terminal};
use signals::{Resizes, Suspended};

/// What stays with the person while work goes on.
#[derive(Clone, Debug)]
pub(crate) struct Attendance {
    pub(super) seat: TerminalSession,
    /// Where they can be asked; nothing if they cannot.
    pub(super) tty: Option<Tty>,
    pub(super) live: Live,
    /// Whether to stay until somebody, somewhere, has answered.
    wait: bool,
}

impl Attendance {
    /// Somebody is asked only where they see the question and can answer it, and never in the middle of JSON.
    pub(crate) fn of(
        screen: &Screen,
        surroundings: &ProcessEnvironment,
        seat: &TerminalSession,
        live: &Live,
        wait: bool,
    ) -> Self {
        let marks = Marks::of(surroundings.variable("TERM"), surroundings.variable("TMUX").is_some());
        let tty = if screen.is_watched() && !screen.json { Tty::open(marks) } else { None };
        Self { seat: seat.clone(), tty, live: live.clone(), wait }
    }

    pub(crate) fn wait(&self) -> WaitMode {
        if self.wait || self.tty.is_some() { WaitMode::Stay(self.seat.left()) } else { WaitMode::Leave }
    }
}

/// After this, work that somebody else does would have been refused.
const DOUBT: Duration = Duration::from_secs(1);

/// Does the work, and lets the person answer what it asks meanwhile.
pub(crate) async fn attended(
    app: &App,
    screen: &Screen,
    attendance: &Attendance,
    task: AttendedTask,
    work: impl Future<Output = Result<Report, Problem>>,
) -> Result<Report, Problem> {
    let Attendance { seat, tty, live, wait } = attendance;
    live.begin(tty.as_ref(), app.tasks().feed(), app.now());
    let (known, perhaps) = match task {
        AttendedTask::New => (None, None),
        AttendedTask::Begun(task) => (Some(task), None),
        AttendedTask::PerhapsDriven(task) => (None, Some(task)),
    };
    let desk = AtWork { app, task: Mutex::new(known) };
    let talk = async {
        match tty {
            Some(tty) => {
                let spot = Spot { tty, live, app };
                Conversation::new(&desk, &spot, seat, screen.note_theme()).hold().await;
            }
            None if *wait => tell(&desk, screen, seat).await,
            None => {}
        }
    };
    let (mut work, mut talk) = (std::pin::pin!(work), std::pin::pin!(talk));
    let mut wakes = app.tasks().feed();
    let mut suspended = Suspended::over(tty.as_ref(), live);
    let mut resizes = Resizes::default();
    let (mut talking, mut posting, mut doubt) = (true, true, perhaps.is_some());
    let mut cleared = std::pin::pin!(tokio::time::sleep(DOUBT));
    loop {
        tokio::select! {
            report = &mut work => {
                seat.close();
                // Whoever sees a prompt learns how it ended before the result is summed up.
                const AT_MOST: Duration = Duration::from_secs(1);
                if talking {
                    drop(tokio::time::timeout(AT_MOST, talk).await);
                }
                follow(app, live).await;
                live.close(app.now());
                return report;
            }
            () = &mut talk, if talking => talking = false,
            event = wakes.next(), if posting => {
                match event {
                    Some(DisplayEvent::Step(published)) => desk.set_task(Some(published.task)),
                    Some(DisplayEvent::Delta(..) | DisplayEvent::Missed(_)) => {}
                    None => posting = false,
                }
                follow(app, live).await;
                seat.stir();
                name(app, live, desk.task()).await;
                live.draw(app.now());
            }
            () = rest(live.until(app.now())) => {
                name(app, live, desk.task()).await;
                live.draw(app.now());
            }
            () = resizes.next(live.is_drawn()) => live.resized(app.now()),
            () = &mut cleared, if doubt => {
                doubt = false;
                desk.set_task(desk.task().or(perhaps));
                seat.stir();
            }
            job = suspended.asked() => suspended.obey(job),
        }
    }
}

/// Takes in what the work has published. What the feed has missed is read from the journal; what cannot be read there is
/// reported by the work.
async fn follow(app: &App, live: &Live) {
    if let Some(task) = live.follow()
        && let Ok(journal) = app.record().steps(&task.to_string()).await
    {
        live.catch_up(task, &journal);
    }
}

/// A question on the terminal: the live block gives way to it, and comes back after the answer.
struct Spot<'a> {
    tty: &'a Tty,
    live: &'a Live,
    app: &'a App,
}

impl Terminal for Spot<'_> {
    fn take(&self) {
        self.live.give_way(self.app.now());
    }

    fn release(&self) {
        self.live.come_back();
    }

    fn say(&self, line: &str) {
        self.tty.write_if_ours(&format!("{}\n", line.trim_end()));
    }

    fn ring(&self) {
        self.tty.write_if_ours("\x07");
    }

    async fn until_ours(&self) {
        self.tty.until_ours().await;
    }

    fn tells_pasted(&self) -> bool {
        self.tty.tells_pasted()
    }

    fn width(&self) -> usize {
        self.tty.width()
    }

    async fn ask(&self, prompt: &str) -> Heard {
        self.tty.ask(prompt).await
    }
}

/// Until then; for ever, if there is nothing to wait for.
async fn rest(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// What is shown needs a name to be asked about by.
async fn name(app: &App, live: &Live, task: Option<TaskId>) {
    if let Some(task) = task.filter(|_| live.wants_name(app.now()))
        && let Ok(short) = app.short(task).await
    {
        live.call_it(short);
    }
}

/// The questions of the one task that this process works at.
struct AtWork<'a> {
    app: &'a App,
    /// Nothing before its first step is durable.
    task: Mutex<Option<TaskId>>,
}

impl AtWork<'_> {
    fn task(&self) -> Option<TaskId> {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_task(&self, task: Option<TaskId>) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = task;
    }
}

impl Desk for AtWork<'_> {
    async fn open(&self) -> Result<Vec<ApprovalView>, Problem> {
        match self.task() {
            Some(task) => self.app.approvals().open_of_task(task).await,
            None => Ok(Vec::new()),
        }
    }

    async fn look(&self, id: &str) -> Result<ApprovalView, Problem> {
        self.app.approvals().show(id).await
    }

    async fn resolve(&self, id: &str, act: Act) -> Result<ApprovalView, Problem> {
        self.app.approvals().resolve(id, act, TERMINAL).await
    }

    async fn changed(&self, view: &ApprovalView, pair: &str) -> Result<Value, Problem> {
        self.app.approvals().change_arguments(view, &[pair.to_owned()]).await
    }

    fn now(&self) -> Time {
        self.app.now()
    }

    fn zone(&self) -> &TimeZone {
        self.app.zone()
    }
}

/// Says once of each question that it is there, for whoever can answer it elsewhere.
async fn tell(desk: &AtWork<'_>, screen: &Screen, seat: &TerminalSession) {
    let mut told = Vec::new();
    while !seat.has_left() && !seat.is_closed() {
        let open = desk.open().await.unwrap_or_default();
        seat.set_asked(!open.is_empty());
        for view in open.iter().filter(|_| !screen.json) {
            if !told.contains(&view.id) {
                told.push(view.id);
                screen.note(&describe_waiting(view, &screen.style(desk.app)));
                command(screen, &format!("regent approvals show {}", view.short));
            }
        }
        seat.pause().await;
    }
}

fn command(screen: &Screen, text: &str) {
    screen.note(&screen.note_tinted(text, Tone::Command));
}
