//! The controlling terminal: where a question is asked and answered. Standard input has no say in it.
//!
//! Canonical mode with signals on, always: Ctrl-C works even if we hang. What is changed for a question (echo, the
//! marks that terminals put around what is pasted) is changed back on every way out.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr,
};

/// Where nobody says how wide it is.
pub(crate) const WIDTH: usize = 80;
/// How often whoever reads looks whether they should still.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// As much as a terminal hands over at once.
const CHUNK: usize = 4096;
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
    /// Ctrl-D, or the terminal is gone.
    End,
}

#[derive(Clone)]
pub(crate) struct Tty(Arc<Inner>);

struct Inner {
    file: File,
    /// Whether it knows about marks around what is pasted.
    marks: bool,
    asking: Mutex<Option<Asking>>,
    /// Whoever reads holds it: somebody who has just given up must not take a line from the next one.
    reading: Mutex<()>,
    /// Whether what is read is still part of something that was pasted.
    pasting: AtomicBool,
}

/// A question that is open on the terminal.
struct Asking {
    before: Termios,
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
    pub(crate) fn open(marks: bool) -> Option<Self> {
        let file = std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty").ok()?;
        Self::over(file, marks)
    }

    fn over(file: File, marks: bool) -> Option<Self> {
        tcgetattr(&file).ok()?;
        let inner = Inner {
            file,
            marks,
            asking: Mutex::new(None),
            reading: Mutex::new(()),
            pasting: AtomicBool::new(false),
        };
        let tty = Self(Arc::new(inner));
        tty.is_ours().then_some(tty)
    }

    /// Whether what is typed comes to us: whoever reads in the background is stopped.
    fn is_ours(&self) -> bool {
        tcgetpgrp(&self.0.file).is_ok_and(|group| group == rustix::process::getpgrp())
    }

    pub(crate) fn width(&self) -> usize {
        columns(&self.0.file).unwrap_or(WIDTH)
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
        let heard = super::blocking(move || Ok(tty.listen(&still))).await.unwrap_or(Heard::End);
        if let (Heard::Line(_) | Heard::Pasted, Some(asking)) = (&heard, self.asking().as_mut()) {
            asking.on_screen = false; // Enter has ended the line
        }
        heard
    }

    /// The cursor leaves the prompt, so that what comes next has a line of its own.
    pub(crate) fn step_aside(&self) {
        if self.asking().as_mut().is_some_and(|asking| std::mem::take(&mut asking.on_screen)) {
            self.write("\n");
        }
    }

    /// Before this process is stopped: the terminal goes to somebody else meanwhile.
    pub(crate) fn lend(&self) {
        self.step_aside();
        self.restore();
    }

    /// The process goes on. The size and the owner of the terminal may be others now.
    pub(crate) fn take_back(&self) {
        let mut asking = self.asking();
        let Some(asking) = asking.as_mut().filter(|_| self.is_ours()) else { return };
        if let Ok(before) = self.set_modes() {
            asking.before = before;
        }
        self.begin(asking);
    }

    fn asking(&self) -> std::sync::MutexGuard<'_, Option<Asking>> {
        self.0.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_up(&self, prompt: &str) -> io::Result<Set> {
        let before = self.set_modes()?;
        let mut asking = Asking { before, prompt: prompt.into(), on_screen: false };
        self.begin(&mut asking);
        *self.asking() = Some(asking);
        Ok(Set(self.clone()))
    }

    fn set_modes(&self) -> io::Result<Termios> {
        let before = tcgetattr(&self.0.file)?;
        let mut modes = before.clone();
        modes.local_modes |= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        modes.input_modes |= InputModes::ICRNL;
        tcsetattr(&self.0.file, OptionalActions::Now, &modes)?;
        Ok(before)
    }

    fn begin(&self, asking: &mut Asking) {
        if self.0.marks {
            self.write("\x1b[?2004h");
        }
        // The end of something that is being pasted must not be lost: whatever follows it would count as typed.
        if !self.0.pasting.load(Ordering::Acquire) {
            drop(tcflush(&self.0.file, QueueSelector::IFlush));
        }
        self.write(&asking.prompt);
        asking.on_screen = true;
    }

    fn restore(&self) {
        let asking = self.asking();
        let Some(asking) = asking.as_ref() else { return };
        if self.0.marks {
            self.write("\x1b[?2004l");
        }
        if self.is_ours() {
            // A terminal that is gone has no modes to put back.
            drop(tcsetattr(&self.0.file, OptionalActions::Now, &asking.before));
        }
    }

    fn listen(&self, wanted: &AtomicBool) -> Heard {
        let _alone = self.0.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = Vec::new();
        while wanted.load(Ordering::Acquire) {
            match self.chunk(wanted) {
                Ok(None) => {}
                Ok(Some(chunk)) if chunk.is_empty() => return Heard::End,
                Ok(Some(chunk)) => line.extend_from_slice(&chunk),
                Err(_gone) => return Heard::End,
            }
            if line.last() == Some(&b'\n') {
                let heard = self.heard(&line);
                if heard == Heard::Pasted {
                    self.settle(wanted);
                }
                return heard;
            }
        }
        Heard::End
    }

    /// Whatever arrives right behind something pasted comes from the same hand.
    fn settle(&self, wanted: &AtomicBool) {
        while wanted.load(Ordering::Acquire) {
            match self.chunk(wanted) {
                Ok(Some(chunk)) if !chunk.is_empty() => drop(self.heard(&chunk)),
                _ => return,
            }
        }
    }

    /// What there is to read; nothing if there was none for a moment, or it is not for us.
    fn chunk(&self, wanted: &AtomicBool) -> io::Result<Option<Vec<u8>>> {
        let ours = self.is_ours();
        let events = if ours { PollFlags::IN } else { PollFlags::empty() };
        let mut polled = [PollFd::new(&self.0.file, events)];
        match poll(&mut polled, Some(&LOOK)) {
            Ok(0) => return Ok(None),
            Err(rustix::io::Errno::INTR) => return Ok(None),
            Err(error) => return Err(error.into()),
            Ok(_) if !ours => return Err(io::ErrorKind::BrokenPipe.into()), // nothing was waited for but its end
            Ok(_) if !wanted.load(Ordering::Acquire) => return Ok(None),    // it was typed for somebody else
            Ok(_) => {}
        }
        let mut chunk = vec![0; CHUNK];
        match (&self.0.file).read(&mut chunk) {
            Ok(read) => {
                chunk.truncate(read);
                Ok(Some(chunk))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
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
