//! The controlling terminal: where a question is asked and answered. Standard input has no say in it.
//!
//! Canonical mode with signals on, always: Ctrl-C works even if we hang. What is changed for a question (echo, the
//! marks that terminals put around what is pasted) is changed back on every way out.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr,
};

/// Where nobody says how wide it is.
pub(crate) const WIDTH: usize = 80;
/// How often whoever reads looks whether they should still.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// How often it is looked whether the terminal is ours again.
const AWAY: std::time::Duration = std::time::Duration::from_millis(100);
/// What follows a line sooner than this was not typed behind it.
const HAND: Timespec = Timespec { tv_sec: 0, tv_nsec: 80_000_000 };
/// As much as a terminal hands over at once.
const CHUNK: usize = 4096;
/// As much as fits into a line, with its end; what is typed beyond it is lost.
const LINE: usize = 4095;
/// What terminals put around what is pasted, if they are asked to.
const PASTE: &[u8] = b"\x1b[200~";
const PASTED: &[u8] = b"\x1b[201~";

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Typed, to its Enter.
    Line(String),
    /// Not typed: it is no answer.
    Pasted,
    /// More than a terminal keeps of a line: whatever it was, its end is missing.
    TooLong,
    /// Ctrl-D, or the terminal is gone.
    End,
}

/// Whether a terminal puts marks around what is pasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    /// It does not even ignore what it does not know.
    Never,
    /// It is asked to, and nobody knows whether it does.
    Perhaps,
    Sure,
}

impl Marks {
    /// By what a terminal calls itself. `screen` is also the name that tmux goes by, which knows them.
    pub(crate) fn of(term: Option<&str>, in_tmux: bool) -> Self {
        const WITHOUT: [&str; 8] = ["linux", "screen", "vt", "ansi", "cons", "sun", "xterm-mono", "unknown"];
        match term.unwrap_or_default() {
            "" | "dumb" => Self::Never,
            term if term.starts_with("screen") && in_tmux => Self::Sure,
            // Not `vte`, which is a newer one.
            term if WITHOUT.iter().any(|name| term.starts_with(name)) && !term.starts_with("vte") => {
                Self::Perhaps
            }
            _ => Self::Sure,
        }
    }
}

#[derive(Clone)]
pub(crate) struct Tty(Arc<Inner>);

struct Inner {
    /// To write on, and to set.
    file: File,
    /// To read from. Reading never waits, polling does: what was there a moment ago may be gone.
    input: File,
    marks: Marks,
    asking: Mutex<Option<Asking>>,
    /// Whoever reads holds it: somebody who has just given up must not take a line from the next one.
    reading: Mutex<()>,
    /// Odd while somebody else has it; what was typed in another turn is not for us.
    turn: AtomicUsize,
    /// Whether this process is about to be stopped: until it goes on, nobody takes the terminal back.
    lent: AtomicBool,
    /// Whether what is read is still part of something that was pasted.
    pasting: AtomicBool,
    /// How it was set before its echo went off; nothing while that is on.
    hushed: Mutex<Option<Termios>>,
}

/// A question that is open on the terminal.
struct Asking {
    /// How it was set before; nothing while it is not set up.
    before: Option<Termios>,
    prompt: String,
    /// Whether the cursor stands behind the prompt.
    on_screen: bool,
}

/// As long as it lives, the terminal is set up for an answer.
#[derive(Debug)]
struct Set(Tty);

/// As long as it lives, somebody wants the answer.
struct Wanted(Arc<AtomicBool>);

impl std::fmt::Debug for Tty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tty").finish_non_exhaustive()
    }
}

impl Tty {
    /// Nothing if there is no controlling terminal, or another program has it.
    #[expect(clippy::disallowed_methods, reason = "the terminal is a file")]
    pub(crate) fn open(marks: Marks) -> Option<Self> {
        use std::os::unix::fs::OpenOptionsExt as _;
        const PATH: &str = "/dev/tty";
        let file = std::fs::OpenOptions::new().read(true).write(true).open(PATH).ok()?;
        let unwaiting = OFlags::NONBLOCK.bits().cast_signed();
        let input = std::fs::OpenOptions::new().read(true).custom_flags(unwaiting).open(PATH).ok()?;
        tcgetattr(&file).ok()?;
        let inner = Inner {
            file,
            input,
            marks,
            asking: Mutex::new(None),
            reading: Mutex::new(()),
            turn: AtomicUsize::new(0),
            lent: AtomicBool::new(false),
            pasting: AtomicBool::new(false),
            hushed: Mutex::new(None),
        };
        let tty = Self(Arc::new(inner));
        tty.is_ours().then_some(tty)
    }

    /// Whether what is typed comes to us: whoever reads in the background is stopped.
    pub(crate) fn is_ours(&self) -> bool {
        tcgetpgrp(&self.0.file).is_ok_and(|group| group == rustix::process::getpgrp())
    }

    /// Until what is written here is seen by whoever is meant, and stops nobody.
    pub(crate) async fn until_ours(&self) {
        while !self.is_ours() {
            tokio::time::sleep(AWAY).await;
        }
    }

    /// What is typed stays where it is, for whoever reads next, and is not seen in the middle of what is drawn.
    pub(crate) fn hush(&self) {
        let mut hushed = self.0.hushed.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(mut modes) = tcgetattr(&self.0.file) else { return }; // gone: nothing is drawn there either
        if hushed.is_some() && !modes.local_modes.contains(LocalModes::ECHO) {
            return;
        }
        hushed.get_or_insert_with(|| modes.clone());
        modes.local_modes.remove(LocalModes::ECHO);
        // Or Ctrl-C and Ctrl-Z throw away what of a frame is still on its way, and the rest is erased at the wrong place.
        modes.local_modes.insert(LocalModes::NOFLSH);
        tcsetattr(&self.0.file, OptionalActions::Now, &modes).unwrap_or_default();
    }

    /// As it was. Whoever has it meanwhile has set it for themselves.
    pub(crate) fn unhush(&self) {
        let before = self.0.hushed.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(before) = before.filter(|_| self.is_ours()) {
            tcsetattr(&self.0.file, OptionalActions::Now, &before).unwrap_or_default();
        }
    }

    pub(crate) fn width(&self) -> usize {
        columns(&self.0.file).unwrap_or(WIDTH)
    }

    /// Whether what is pasted is sure to be told apart from what is typed.
    pub(crate) fn tells_pasted(&self) -> bool {
        self.0.marks == Marks::Sure
    }

    /// As [`Self::write`], but never from the background: there it could stop this process.
    pub(crate) fn write_if_ours(&self, text: &str) {
        if self.is_ours() {
            self.write(text);
        }
    }

    pub(crate) fn write(&self, text: &str) {
        // Whoever has closed the terminal reads nothing any more; that they are gone is heard where it is read.
        drop((&self.0.file).write_all(text.as_bytes()));
    }

    /// One line, typed from now on: whatever was typed before is thrown away. Whoever does not wait for it to the end
    /// has not heard it, and the terminal is as it was.
    pub(crate) async fn ask(&self, prompt: &str) -> Heard {
        let Ok(_set) = self.set_up(prompt) else { return Heard::End };
        let wanted = Wanted(Arc::new(AtomicBool::new(true)));
        let (tty, still) = (self.clone(), Arc::clone(&wanted.0));
        let heard = host::run_blocking(move || Ok(tty.listen(&still))).await.unwrap_or(Heard::End);
        if let (Heard::Line(_) | Heard::Pasted | Heard::TooLong, Some(asking)) =
            (&heard, self.asking().as_mut())
        {
            asking.on_screen = false; // Enter has ended the line
        }
        heard
    }

    /// The cursor leaves the prompt, so that what comes next has a line of its own.
    pub(crate) fn step_aside(&self) {
        let on_screen = self.asking().as_mut().is_some_and(|asking| std::mem::take(&mut asking.on_screen));
        if on_screen && self.is_ours() {
            self.write("\n");
        }
    }

    /// Before this process is stopped: the terminal goes to somebody else meanwhile.
    pub(crate) fn lend(&self) {
        self.0.lent.store(true, Ordering::Release);
        self.0.turn.fetch_or(1, Ordering::AcqRel);
        self.step_aside();
        self.restore();
    }

    /// The process goes on. The size and the owner of the terminal may be others now: if it goes on in the background,
    /// whoever waits for an answer takes the terminal back once it is ours.
    pub(crate) fn take_back(&self) {
        self.0.lent.store(false, Ordering::Release);
        self.come_back();
    }

    /// If it is ours, and was not: it is set up anew, and asked again.
    fn come_back(&self) {
        let mut asking = self.asking();
        if self.turn().is_some() || self.0.lent.load(Ordering::Acquire) || !self.is_ours() {
            return;
        }
        self.0.pasting.store(false, Ordering::Release); // whatever it was, it went elsewhere
        if let Some(asking) = asking.as_mut() {
            // If it is gone, whoever reads hears it.
            self.set_modes().map(|before| asking.before = Some(before)).unwrap_or_default();
            self.begin(asking).unwrap_or_default();
        }
        // Only now: what was typed meanwhile is thrown away.
        self.0.turn.fetch_add(1, Ordering::AcqRel);
    }

    /// Somebody else has it, and nobody said so before: what is typed now is not for us.
    fn go_away(&self) {
        let mut asking = self.asking();
        self.0.turn.fetch_or(1, Ordering::AcqRel);
        if let Some(asking) = asking.as_mut() {
            (asking.before, asking.on_screen) = (None, false);
        }
    }

    /// It was stopped and goes on, and nobody has given the terminal back before.
    pub(crate) fn start_over(&self) {
        self.go_away();
        self.come_back();
    }

    /// Nothing while somebody else has it.
    fn turn(&self) -> Option<usize> {
        Some(self.0.turn.load(Ordering::Acquire)).filter(|turn| turn % 2 == 0)
    }

    fn asking(&self) -> std::sync::MutexGuard<'_, Option<Asking>> {
        self.0.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In the background nothing is set or written, which would stop this process: it is asked once the terminal is ours.
    fn set_up(&self, prompt: &str) -> io::Result<Set> {
        *self.asking() = Some(Asking { before: None, prompt: prompt.into(), on_screen: false });
        let set = Set(self.clone()); // from here on it is put back, whatever happens
        if !self.is_ours() {
            self.go_away();
        }
        if self.turn().is_none() {
            return Ok(set);
        }
        let mut asking = self.asking();
        let Some(asking) = asking.as_mut() else { return Err(ErrorKind::NotFound.into()) };
        asking.before = Some(self.set_modes()?);
        self.begin(asking)?;
        Ok(set)
    }

    fn set_modes(&self) -> io::Result<Termios> {
        let before = tcgetattr(&self.0.file)?;
        let mut modes = before.clone();
        modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        modes.input_modes |= InputModes::ICRNL;
        tcsetattr(&self.0.file, OptionalActions::Now, &modes)?;
        Ok(before)
    }

    fn begin(&self, asking: &mut Asking) -> io::Result<()> {
        if self.0.marks != Marks::Never {
            self.write("\x1b[?2004h");
        }
        // The end of something that is being pasted must not be lost: whatever follows it would count as typed.
        if !self.0.pasting.load(Ordering::Acquire) {
            tcflush(&self.0.file, QueueSelector::IFlush)?;
        }
        self.write(&asking.prompt);
        asking.on_screen = true;
        Ok(())
    }

    fn restore(&self) {
        let before = self.asking().as_mut().and_then(|asking| asking.before.take());
        let Some(before) = before.filter(|_| self.is_ours()) else { return };
        if self.0.marks != Marks::Never {
            self.write("\x1b[?2004l");
        }
        // A terminal that is gone has no modes to put back.
        tcsetattr(&self.0.file, OptionalActions::Now, &before).unwrap_or_default();
    }

    fn listen(&self, wanted: &AtomicBool) -> Heard {
        let _alone = self.0.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut line, mut turn) = (Vec::new(), self.turn());
        while wanted.load(Ordering::Acquire) {
            if self.turn() != turn {
                turn = self.turn();
                line.clear();
            }
            let chunk = self.chunk(wanted, turn);
            if self.turn() != turn {
                continue; // it was typed for somebody else
            }
            match chunk {
                Ok(None) => {}
                Ok(Some(chunk)) if chunk.is_empty() => return Heard::End,
                Ok(Some(chunk)) => line.extend_from_slice(&chunk),
                Err(_gone) => return Heard::End,
            }
            if line.last() == Some(&b'\n') {
                let heard = self.heard(&line);
                let more = self.has_more();
                if self.turn() != turn {
                    continue;
                }
                if heard == Heard::Pasted || more {
                    // An empty line, and nothing behind it: the mark at the end of what was pasted is lost.
                    if line == b"\n" && !more {
                        self.0.pasting.store(false, Ordering::Release);
                    }
                    self.settle(wanted);
                    return Heard::Pasted;
                }
                return heard;
            }
        }
        Heard::End
    }

    /// Whether more follows at once: nobody types that fast.
    fn has_more(&self) -> bool {
        let mut polled = [PollFd::new(&self.0.input, PollFlags::IN)];
        poll(&mut polled, Some(&HAND)).is_ok_and(|ready| ready > 0)
            && polled.iter().all(|polled| !polled.revents().contains(PollFlags::HUP))
    }

    /// Whatever arrives right behind something pasted comes from the same hand.
    fn settle(&self, wanted: &AtomicBool) {
        while wanted.load(Ordering::Acquire) {
            match self.chunk(wanted, self.turn()) {
                Ok(Some(chunk)) if !chunk.is_empty() => drop(self.heard(&chunk)),
                _ => return,
            }
        }
    }

    /// What there is to read; nothing if there was none for a moment, or it is not for us.
    fn chunk(&self, wanted: &AtomicBool, turn: Option<usize>) -> io::Result<Option<Vec<u8>>> {
        let ours = self.is_ours();
        match (ours, turn) {
            (false, Some(_)) => self.go_away(),
            (true, None) => self.come_back(),
            _ => {}
        }
        let ours = ours && turn.is_some();
        let events = if ours { PollFlags::IN } else { PollFlags::empty() };
        let mut polled = [PollFd::new(&self.0.input, events)];
        match poll(&mut polled, Some(&LOOK)) {
            Ok(0) => return Ok(None),
            Err(rustix::io::Errno::INTR) => return Ok(None),
            Err(error) => return Err(error.into()),
            Ok(_) if !ours => return Err(ErrorKind::BrokenPipe.into()), // nothing was waited for but its end
            // Left where it is: it was typed for whoever asks next.
            Ok(_) if self.turn() != turn || !self.is_ours() || !wanted.load(Ordering::Acquire) => {
                return Ok(None);
            }
            Ok(_) => {}
        }
        let mut chunk = vec![0; CHUNK];
        match (&self.0.input).read(&mut chunk) {
            Ok(read) => {
                chunk.truncate(read);
                Ok(Some(chunk))
            }
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A line between the marks of a paste is none that was typed, and neither is one that has a mark in it.
    fn heard(&self, line: &[u8]) -> Heard {
        let was_pasting = self.0.pasting.load(Ordering::Acquire);
        let (begins, ends) = (last(line, PASTE), last(line, PASTED));
        let pasting = match (begins, ends) {
            (Some(begins), Some(ends)) => begins > ends,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => was_pasting,
        };
        self.0.pasting.store(pasting, Ordering::Release);
        if was_pasting || begins.is_some() || ends.is_some() {
            return Heard::Pasted;
        }
        if line.len() >= LINE {
            return Heard::TooLong;
        }
        let line = String::from_utf8_lossy(line);
        Heard::Line(line.trim_end_matches(['\n', '\r']).to_owned())
    }
}

fn last(line: &[u8], mark: &[u8]) -> Option<usize> {
    line.windows(mark.len()).rposition(|found| found == mark)
}

/// How wide a terminal is; nothing if it is none, or does not say.
pub(crate) fn columns(stream: impl std::os::fd::AsFd) -> Option<usize> {
    tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Columns and rows of a terminal; nothing if it is none, or does not say.
pub(crate) fn size(stream: impl std::os::fd::AsFd) -> Option<(usize, usize)> {
    let size = tcgetwinsize(stream).ok()?;
    let (columns, rows) = (usize::from(size.ws_col), usize::from(size.ws_row));
    (columns > 0 && rows > 0).then_some((columns, rows))
}

impl Drop for Set {
    fn drop(&mut self) {
        self.0.step_aside();
        self.0.restore();
        *self.0.asking() = None;
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
#[path = "tty_tests.rs"]
mod tests;
