//! A provider that plays a script: for tests, for killing the real program in the middle of an ask, and for playing a
//! recording again.
//!
//! A script is JSON lines. Each says where in a task it answers, and what it does there; the first that matches answers.
//! It keeps no state, so the same ask gets the same answer in another process, after a kill.
//!
//! ```text
//! {"role":"perceiver","text":"{\"task\":{\"task_class\":\"count_files\",\"intent\":\"count the files\"}}"}
//! {"role":"executor","subtask":0,"moves":0,"reply":{"acted":{"call":{"tool":"glob","args":{},"chosen_by":"model"}}}}
//! {"role":"planner","round":1,"fail":"the server is gone"}
//! {"role":"validator","hang":true}
//! ```
//!
//! Start reading at [`Script::ask`], then `line`.

mod line;
#[cfg(test)]
mod tests;

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use domain::ask::{Ask, Reply, Silence, Unanswered, Usage, Want};

use crate::model::Place;
use crate::worded::Form;
use crate::{Answer, Heard, Provider};
use line::{Does, Line, Recorded};

/// What waits. It is given, because nothing here has a clock.
pub type Sleep = fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;

#[derive(Clone)]
pub struct Script {
    lines: Vec<Line>,
    sleep: Option<Sleep>,
}

impl Script {
    /// A script in which nothing waits.
    ///
    /// # Errors
    /// The first line that cannot be played, by its number, and why.
    pub fn read(text: &str) -> Result<Self, String> {
        Self::load(text, None)
    }

    /// A script in which a line may wait first (`after_ms`).
    ///
    /// # Errors
    /// The first line that cannot be played, by its number, and why.
    pub fn with_sleep(text: &str, sleep: Sleep) -> Result<Self, String> {
        Self::load(text, Some(sleep))
    }

    fn load(text: &str, sleep: Option<Sleep>) -> Result<Self, String> {
        let mut lines = Vec::new();
        for (number, written) in (1_usize..).zip(text.lines()) {
            if written.trim().is_empty() {
                continue;
            }
            let wrong = |why: String| format!("line {number}: {why}");
            let line = Line::read(written).map_err(wrong)?;
            if line.after_ms.is_some() && sleep.is_none() {
                return Err(wrong("`after_ms` needs a clock, and there is none here".into()));
            }
            lines.push(line);
        }
        Ok(Self { lines, sleep })
    }

    /// A script that gives these replies to these asks. Two asks in the same place, of judges with the same claim too, get the
    /// reply to the first of them.
    ///
    /// # Errors
    /// If a reply cannot be written as JSON.
    pub fn recording(heard: impl Iterator<Item = (Ask, Reply, Usage)>) -> Result<String, serde_json::Error> {
        let mut text = String::new();
        for (ask, reply, usage) in heard {
            text.push_str(&serde_json::to_string(&Recorded::of(&ask, &reply, &usage))?);
            text.push('\n');
        }
        Ok(text)
    }

    fn line(&self, ask: &Ask) -> Option<&Line> {
        let place = Place::of(ask);
        self.lines.iter().find(|line| line.matches(place, claim(ask)))
    }
}

impl Provider for Script {
    fn ask(&self, ask: &Ask) -> Answer {
        let Some(line) = self.line(ask) else {
            let why = format!("the script has no line for {}", Place::of(ask));
            let heard = Heard { reply: Err(Unanswered::unreachable(why)), usage: line::no_usage() };
            return Answer::Later(Box::pin(std::future::ready(heard)));
        };
        let usage = line.usage.clone();
        let reply = match &line.does {
            Does::Hang => None,
            Does::Text(text) => Some(Form::of(ask).read(text)),
            Does::Reply(reply) => Some(fitting(ask, reply)),
            Does::Fail(why) => Some(Err(Unanswered::unreachable(why))),
            Does::Decline(why) => Some(Err(Unanswered::new(Silence::Declined, why))),
        };
        let waits = line.after_ms.zip(self.sleep);
        Answer::Later(Box::pin(async move {
            if let Some((ms, sleep)) = waits {
                sleep(Duration::from_millis(ms)).await;
            }
            match reply {
                Some(reply) => Heard { reply, usage },
                None => std::future::pending().await,
            }
        }))
    }

    fn knows_another_way(&self) -> bool {
        true
    }
}

/// What a judge is asked to believe; of the others nothing is claimed.
fn claim(ask: &Ask) -> Option<&str> {
    match &ask.want {
        Want::Judge { claim, .. } => Some(claim),
        Want::Perceive { .. } | Want::Plan { .. } | Want::Act { .. } => None,
    }
}

/// The reply, if it is one to this ask.
fn fitting(ask: &Ask, reply: &Reply) -> Result<Reply, Unanswered> {
    let fits = matches!(
        (&ask.want, reply),
        (Want::Perceive { .. }, Reply::Perceived(_))
            | (Want::Plan { .. }, Reply::Planned(_) | Reply::NotPlanned(_))
            | (Want::Act { .. }, Reply::Acted(_))
            | (Want::Judge { .. }, Reply::Judged(_))
    );
    let why = || Unanswered::unusable(format!("the script's line is no reply to {}", Place::of(ask)));
    if fits { Ok(reply.clone()) } else { Err(why()) }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("lines", &self.lines).finish_non_exhaustive()
    }
}
