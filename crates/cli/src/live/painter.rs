//! Frames as bytes. A frame is one write: what stays, then the block below it, then the cursor back on the block's first
//! line. There it rests, so a terminal that reflows its text carries it along, and nobody counts rows.
//!
//! INVARIANT (scrollback): a line that stays is written once and never touched again. No alternate screen, no scroll region,
//! no mouse, nothing above the block.

/// The terminal shows what comes between these two at once, if it knows them.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
const WRAP: &str = "\x1b[?7h";
const NO_WRAP: &str = "\x1b[?7l";
/// Everything from the cursor on. Never at the top left: tmux would push the screen into its history then.
const ERASE: &str = "\x1b[J";
const NEXT: &str = "\r\n";

/// What is on the screen of ours, below the lines that stay.
#[derive(Debug, Default)]
pub(crate) struct Painter {
    block: Vec<String>,
}

impl Painter {
    pub(crate) fn has_block(&self) -> bool {
        !self.block.is_empty()
    }

    /// Whether there is more of it than a short line.
    pub(crate) const fn is_whole(&self) -> bool {
        self.block.len() > 1
    }

    /// Nothing if the screen shows that already.
    pub(crate) fn frame(&mut self, lines: &[String], block: Vec<String>) -> Option<String> {
        if lines.is_empty() && block == self.block {
            return None;
        }
        let had_block = self.has_block();
        let mut out = String::from(BEGIN);
        let mut fresh = had_block; // whether something old is to be erased
        for line in lines {
            write(&mut out, line, &mut fresh);
            out.push_str(NEXT);
        }
        if block.is_empty() {
            if fresh {
                write(&mut out, "", &mut fresh);
                out.push('\r');
            }
        } else {
            out.push_str(NO_WRAP);
            for (at, line) in block.iter().enumerate() {
                if at > 0 {
                    out.push_str(NEXT);
                }
                write(&mut out, line, &mut fresh);
            }
            out.push_str(WRAP);
            out.push('\r');
            if block.len() > 1 {
                out.push_str(&format!("\x1b[{}A", block.len() - 1));
            }
        }
        out.push_str(END);
        self.block = block;
        Some(out)
    }

    /// The block is gone: whatever is written next begins at its place.
    pub(crate) fn erase(&mut self) -> Option<String> {
        self.frame(&[], Vec::new())
    }

    /// Somebody else has written meanwhile, and what was ours is theirs.
    pub(crate) fn forget(&mut self) {
        self.block.clear();
    }
}

/// Writes a line; behind the first character of the first one, what was there before is erased.
fn write(out: &mut String, line: &str, fresh: &mut bool) {
    if !std::mem::take(fresh) {
        out.push_str(line);
        return;
    }
    let end = first_text(line);
    let (head, rest) = line.split_at(end);
    out.push_str(if head.is_empty() { " " } else { head });
    out.push_str(ERASE);
    if head.is_empty() {
        out.push('\r');
    }
    out.push_str(rest);
}

/// Where the first character ends, behind the colour that may stand before it.
fn first_text(line: &str) -> usize {
    let mut escape = false;
    for (at, c) in line.char_indices() {
        match c {
            '\x1b' => escape = true,
            'm' if escape => escape = false,
            _ if escape => {}
            c => return at + c.len_utf8(),
        }
    }
    0
}
