//! The conversation about open questions, at the terminal of whoever waits for them. It is a second terminal in the same
//! process: it sees and answers what anybody else could, and learns from the ledger what they did.
//!
//! INVARIANT (nobody-by-accident): only a line that was typed at this very question decides. An end of input, a signal,
//! an expiry or an answer from elsewhere closes the prompt and is neither yes nor no.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use app::Problem;
use app::approvals::{Act, ApprovalView};
use broker::question::Question;
use domain::Time;
use domain::approval::{Lasting, Status};
use domain::id::ApprovalId;
use jiff::tz::TimeZone;
use present::approval::{
    AnswerRules, TypedAnswer, describe_outcome, describe_typed_value, group_alike, is_yes, read_answer,
    render_block, render_changed_call, render_offer_key,
};
use present::{Folding, Style, Theme, Tone, inline, measure_columns};
use serde_json::Value;

use crate::terminal::TerminalSession;
use crate::terminal::tty::Heard;

/// Where questions lie, and where answers go.
pub(super) trait Desk {
    /// The open ones of the task that is worked at.
    async fn open(&self) -> Result<Vec<ApprovalView>, Problem>;
    /// One of them as it stands now.
    async fn look(&self, id: &str) -> Result<ApprovalView, Problem>;
    async fn resolve(&self, id: &str, act: Act) -> Result<ApprovalView, Problem>;
    /// The arguments as asked, with one of them changed: `name=value`.
    async fn changed(&self, view: &ApprovalView, pair: &str) -> Result<Value, Problem>;
    fn now(&self) -> Time;
    fn zone(&self) -> &TimeZone;
}

/// Where they are asked.
pub(super) trait Terminal {
    /// A question is put: nothing else is written there until it is over.
    fn take(&self);
    fn release(&self);
    fn say(&self, line: &str);
    fn ring(&self);
    fn width(&self) -> usize;
    /// Until whoever is asked would see it.
    async fn until_ours(&self);
    /// Whether what is pasted is sure to be told apart from what is typed.
    fn tells_pasted(&self) -> bool;
    /// One line, typed from now on.
    async fn ask(&self, prompt: &str) -> Heard;
}

pub(super) struct Conversation<'a, D, T> {
    pub(super) desk: &'a D,
    pub(super) terminal: &'a T,
    pub(super) seat: &'a TerminalSession,
    pub(super) theme: Theme,
    /// What they want to answer later.
    put_off: BTreeSet<ApprovalId>,
}

/// Why nobody waits for the answer any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disturbed {
    /// Answered elsewhere, or expired.
    Gone,
    /// Whoever was asked has left, or the work is over.
    Left,
}

/// What becomes of the prompt after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Again,
    Closed,
}

impl<'a, D: Desk, T: Terminal> Conversation<'a, D, T> {
    pub(super) fn new(desk: &'a D, terminal: &'a T, seat: &'a TerminalSession, theme: Theme) -> Self {
        Self { desk, terminal, seat, theme, put_off: BTreeSet::new() }
    }

    /// Until there is nobody to ask any more. That the ledger fails is told by the work, which needs it too.
    pub(super) async fn hold(&mut self) {
        while !self.seat.has_left() && !self.seat.is_closed() {
            let open = self.desk.open().await.unwrap_or_default();
            self.seat.set_asked(!open.is_empty());
            let fresh: Vec<&ApprovalView> =
                open.iter().filter(|view| !self.put_off.contains(&view.id)).collect();
            match alike(&fresh) {
                Some(group) => self.put(group).await,
                None if open.is_empty() => self.seat.pause().await,
                None => self.seat.leave(), // everything is put off
            }
        }
        self.seat.set_asked(false);
    }

    /// Puts one question, or several that are alike, until they are answered, put off or not open any more.
    async fn put(&mut self, mut group: Vec<ApprovalView>) {
        for view in &mut group {
            // With what its offer would have covered.
            if let Ok(whole) = self.desk.look(&view.id.to_string()).await {
                *view = whole;
            }
        }
        tokio::select! {
            biased;
            () = self.terminal.until_ours() => {}
            _ = self.disturbed(&group) => return,
        }
        self.terminal.take();
        self.terminal.ring();
        self.show(&group, Folding::FirstLines("v shows all"));
        loop {
            self.choices(&group).iter().for_each(|row| self.terminal.say(row));
            let next = match self.line(&group, &self.prompt(&group)).await {
                Ok(line) => self.answered(&group, &line).await,
                Err(next) => next,
            };
            if next == Next::Closed {
                break;
            }
        }
        self.terminal.release();
    }

    /// One line about these questions; if there is none, that is said, and nothing was decided.
    async fn line(&self, group: &[ApprovalView], prompt: &str) -> Result<String, Next> {
        let heard = tokio::select! {
            biased; // an answer that came first counts first
            heard = self.terminal.ask(prompt) => Ok(heard),
            why = self.disturbed(group) => Err(why),
        };
        match heard {
            Ok(Heard::Line(line)) => Ok(line),
            Ok(Heard::Pasted) => {
                self.terminal.say("what is pasted is no answer; press Enter, then type it");
                Err(Next::Again)
            }
            Ok(Heard::TooLong) => {
                let id = group.first().map_or("", |view| view.short.as_str());
                let command = format!("regent approvals modify {id} --args JSON");
                let command = self.theme.paint(&command, Tone::Command);
                self.terminal.say(&format!("too long for a line on a terminal; to change it: {command}"));
                Err(Next::Again)
            }
            Ok(Heard::End) | Err(Disturbed::Left) => {
                self.terminal.say("no answer: it stays open, and the task waits");
                self.seat.leave();
                Err(Next::Closed)
            }
            Err(Disturbed::Gone) => {
                self.tell_how_they_ended(group).await;
                Err(Next::Closed)
            }
        }
    }

    async fn disturbed(&self, group: &[ApprovalView]) -> Disturbed {
        loop {
            self.seat.pause().await;
            if self.seat.has_left() {
                return Disturbed::Left;
            }
            if let Ok(open) = self.desk.open().await
                && group.iter().any(|asked| open.iter().all(|view| view.id != asked.id))
            {
                return Disturbed::Gone;
            }
            if self.seat.is_closed() {
                return Disturbed::Left;
            }
        }
    }

    async fn tell_how_they_ended(&self, group: &[ApprovalView]) {
        for asked in group {
            match self.desk.look(&asked.id.to_string()).await {
                Ok(view) if view.status == Status::Expired => {
                    self.terminal.say(&format!("{} expired: neither yes nor no", view.short));
                }
                Ok(view) if !view.status.is_open() => {
                    self.terminal.say(&format!(
                        "{} was {}",
                        view.short,
                        describe_outcome(&view, &self.style(Folding::Whole))
                    ));
                }
                Ok(_) => {}
                Err(problem) => self.terminal.say(&inline(&problem.what)),
            }
        }
    }

    async fn answered(&mut self, group: &[ApprovalView], line: &str) -> Next {
        let said = match read_answer(line, self.asked(group)) {
            Ok(said) => said,
            Err(hint) => {
                self.terminal.say(&hint);
                return Next::Again;
            }
        };
        match said {
            TypedAnswer::View => self.show(group, Folding::Whole),
            TypedAnswer::Why => self.why(group),
            TypedAnswer::Later => {
                self.put_off.extend(group.iter().map(|view| view.id));
                self.terminal.say("later: it stays open, and the task waits");
                return Next::Closed;
            }
            TypedAnswer::Edit(index) => {
                return match group.get(index) {
                    Some(view) => self.edit(view).await,
                    None => Next::Again,
                };
            }
            TypedAnswer::Yes { which, lasting, typed } => {
                let mut lasting = lasting;
                for view in which.iter().filter_map(|&index| group.get(index)) {
                    let act = Act::Approve { lasting, typed: typed.clone(), good_for: None };
                    if !self.resolve(view, act).await {
                        break;
                    }
                    lasting = Lasting::Once; // one grant is enough for all of them
                }
                return Next::Closed;
            }
            TypedAnswer::No { which, reason } => {
                for view in which.iter().filter_map(|&index| group.get(index)) {
                    self.resolve(view, Act::Reject { reason: reason.clone() }).await;
                }
                return Next::Closed;
            }
        }
        Next::Again
    }

    /// Says what came of it, and whether it was taken.
    async fn resolve(&self, view: &ApprovalView, act: Act) -> bool {
        let what = match &act {
            Act::Approve { lasting: Lasting::Once, .. } => "approved, this once",
            Act::Approve { lasting: Lasting::Day, .. } => "approved, and not asked again for 24 h",
            Act::Approve { lasting: Lasting::Always, .. } => {
                "approved, and not asked again until you revoke it"
            }
            Act::Reject { .. } => "rejected",
            Act::Modify { .. } => "approved as changed, this once",
            Act::Escalate => "with the next authority",
        };
        match self.desk.resolve(&view.id.to_string(), act).await {
            Ok(view) => {
                let grant = if view.grant.is_some() { "   regent grants list" } else { "" };
                self.terminal.say(&format!("{}: {what}{grant}", view.short));
                true
            }
            Err(problem) => {
                self.terminal.say(&format!("{}: {}", view.short, inline(&problem.what)));
                false
            }
        }
    }

    /// One argument, typed anew. It is shown what the call would be then, and asked again; what else has to be typed to
    /// say yes still has to be.
    async fn edit(&self, view: &ApprovalView) -> Next {
        let Some(question) = &view.question else { return Next::Again };
        match self.edited(view, question).await {
            Ok(act) => {
                if self.resolve(view, act).await {
                    Next::Closed
                } else {
                    Next::Again
                }
            }
            Err(next) => next,
        }
    }

    async fn edited(&self, view: &ApprovalView, question: &Question) -> Result<Act, Next> {
        let group = std::slice::from_ref(view);
        let pair = self.line(group, &format!("{} name=value> ", view.short)).await?;
        if pair.trim().is_empty() {
            return Err(self.undecided("nothing was changed, and nothing was decided"));
        }
        let args =
            self.desk.changed(view, &pair).await.map_err(|problem| self.undecided(&inline(&problem.what)))?;
        self.terminal.say("this is what it would be:");
        render_changed_call(question, &args, &self.style(Folding::Whole))
            .iter()
            .for_each(|line| self.terminal.say(line));
        let (name, value) = pair.split_once('=').unwrap_or_default();
        let typed = match &question.typed {
            Some(typed) if typed.sink != name.trim() => {
                self.terminal.say(&format!("to say yes, {}", describe_typed_value(question, typed)));
                let line = self.line(group, &format!("{}> ", view.short)).await?;
                if line.trim() != typed.expected {
                    return Err(self.undecided("that is not it: nothing was decided"));
                }
                Some(typed.expected.clone())
            }
            typed => {
                let asked = AnswerRules { typed: None, ..self.asked(group) };
                let yes = self.theme.paint(if asked.whole { "yes" } else { "y" }, Tone::Command);
                self.terminal.say(&format!("{yes} this once, as changed   anything else decides nothing"));
                let line = self.line(group, &format!("{} as changed> ", view.short)).await?;
                if !is_yes(&line, asked) {
                    return Err(self.undecided("nothing was decided"));
                }
                // Whoever has typed the value itself has read it.
                typed.as_ref().map(|_| value.to_owned())
            }
        };
        Ok(Act::Modify { args, typed })
    }

    fn undecided(&self, why: &str) -> Next {
        self.terminal.say(why);
        Next::Again
    }

    fn style(&self, folding: Folding) -> Style<'_> {
        let (now, zone) = (self.desk.now(), self.desk.zone());
        Style { theme: self.theme, note_theme: self.theme, zone, now, width: self.terminal.width(), folding }
    }

    fn show(&self, group: &[ApprovalView], fold: Folding) {
        let style = self.style(fold);
        for (i, view) in group.iter().enumerate() {
            if group.len() > 1 {
                self.terminal.say(&format!("{} of {}", i + 1, group.len()));
            }
            render_block(view, &style).iter().for_each(|line| self.terminal.say(line));
        }
        if let Some(first) = group.first().filter(|_| shared_offer(group).is_some()) {
            render_offer_key(first, &style).iter().for_each(|line| self.terminal.say(line));
        }
    }

    fn why(&self, group: &[ApprovalView]) {
        for view in group {
            for word in view.question.iter().flat_map(|question| &question.asked) {
                self.terminal.say(&format!("  {}: {}", view.short, inline(&word.reason)));
            }
        }
        if let Some(view) = group.first() {
            let command = format!("regent why {}", view.task_short);
            self.terminal.say(&format!("  {}", self.theme.paint(&command, Tone::Command)));
        }
    }

    /// What can be typed.
    fn choices(&self, group: &[ApprovalView]) -> Vec<String> {
        let asked = self.asked(group);
        let typed = group.first().and_then(|view| view.question.as_ref()).and_then(|question| {
            question
                .typed
                .as_ref()
                .map(|typed| format!("to say yes, {}", describe_typed_value(question, typed)))
        });
        let key = |key: &str, what: &str| (key.to_owned(), what.to_owned());
        let yes = if asked.whole { "yes" } else { "y" };
        let mut choices = match (typed, asked.count) {
            (Some(typed), _) => vec![(String::new(), typed)],
            (None, 1) => vec![key(yes, "this once")],
            (None, _) => vec![key(yes, "all, this once"), key(&format!("{yes} 1 2"), "some")],
        };
        choices.push(if asked.count == 1 {
            key("n", "no (n because ... says why)")
        } else {
            key("n 2", "no, with a reason")
        });
        if asked.offered {
            let again = if asked.whole { ("g yes", "ga yes") } else { ("g", "ga") };
            choices.extend([key(again.0, "not again for 24 h"), key(again.1, "not until revoked")]);
        }
        choices.push(if asked.count == 1 { key("e", "change") } else { key("e 2", "change") });
        choices.extend([key("v", "view"), key("d", "why"), key("l", "later")]);
        self.beside(&choices)
    }

    /// As many in a row as fit: whatever the terminal breaks looks like something else.
    fn beside(&self, choices: &[(String, String)]) -> Vec<String> {
        const GAP: usize = 3;
        let (mut rows, mut taken): (Vec<String>, usize) = (Vec::new(), 0);
        for (key, what) in choices {
            let text = format!("{} {what}", self.theme.paint(key, Tone::Command));
            let text = if key.is_empty() { what.clone() } else { text };
            let wide = measure_columns(key) + 1 + measure_columns(what);
            match rows.last_mut().filter(|_| taken + GAP + wide <= self.terminal.width()) {
                Some(row) => {
                    row.push_str(&format!("{:GAP$}{text}", ""));
                    taken += GAP + wide;
                }
                None => {
                    rows.push(text);
                    taken = wide;
                }
            }
        }
        rows
    }

    fn asked<'g>(&self, group: &'g [ApprovalView]) -> AnswerRules<'g> {
        let question = group.first().and_then(|view| view.question.as_ref());
        let typed =
            question.and_then(|question| question.typed.as_ref()).map(|typed| typed.expected.as_str());
        let offered = shared_offer(group).is_some();
        AnswerRules { count: group.len(), typed, offered, whole: !self.terminal.tells_pasted() }
    }

    fn prompt(&self, group: &[ApprovalView]) -> String {
        match group {
            [only] => format!("{}> ", only.short),
            several => format!("{} questions> ", several.len()),
        }
    }
}

/// What could be granted, if it is the same for all of them.
fn shared_offer(group: &[ApprovalView]) -> Option<&broker::grant::Terms> {
    let offer = |view: &'_ ApprovalView| view.question.as_ref().and_then(|question| question.offer.clone());
    let first = group.first()?;
    let same = group.iter().all(|view| offer(view) == offer(first));
    first.question.as_ref().and_then(|question| question.offer.as_ref()).filter(|_| same)
}

/// The oldest question with those that are alike.
fn alike(fresh: &[&ApprovalView]) -> Option<Vec<ApprovalView>> {
    let first = group_alike(fresh).into_iter().next()?;
    Some(first.into_iter().cloned().collect())
}
