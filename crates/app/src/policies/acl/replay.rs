//! What other policies would have said about what came in: the kept facts, decided about again.

use std::time::Duration;

use domain::Time;
use domain::event::Direction;
use domain::id::EventId;
use ledger::records::Event;
use ledger::{Op, Select};
use policy::acl::{Effect, PolicySet};
use policy::admit::{Admission, Admitted, admit};
use serde::Serialize;

use kernel::Problem;
use present::{Page, Style, inline, pluralize};
use serde_json::Value;

use super::apply::is_a_name;
use crate::operation::{Output, json_each};
use crate::policies::in_force::{self, PolicyFile, PolicyFiles, PolicyKind};
use crate::policies::{Policies, loaded, wrong};

/// One event, as it was decided about and as it would be.
#[derive(Clone, Debug, Serialize)]
pub struct Replayed {
    pub event: EventId,
    #[serde(skip)]
    pub short: String,
    pub at: Time,
    pub platform: String,
    pub principal: String,
    pub then: Effect,
    pub now: Effect,
    /// What is different: `effect`, `policies`, `tools`, `credentials`, `data`, `session`, `trust`. Nothing if nothing is.
    pub differs: Vec<&'static str>,
    /// Why it would be so, in words.
    pub why: Vec<String>,
}

/// What came of it, in the order in which they came.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Replay {
    pub events: Vec<Replayed>,
    /// Decided about before facts were kept, or erased since: nobody can say any more.
    pub unknown: u64,
    /// Not decided about yet.
    pub undecided: u64,
}

/// A replay as it is shown: what differs, or everything.
#[derive(Debug, Serialize)]
pub struct PolicyReplay {
    pub replay: Replay,
    pub all: bool,
}

impl PolicyReplay {
    fn shown(&self) -> impl Iterator<Item = &Replayed> {
        self.replay.events.iter().filter(|one| self.all || !one.differs.is_empty())
    }
}

impl Output for PolicyReplay {
    fn render(&self, style: &Style<'_>) -> Page {
        let Replay { events, unknown, undecided } = &self.replay;
        let mut page = Page::new();
        for one in self.shown() {
            page.add_all(one.lines(style));
        }
        let differing = events.iter().filter(|one| !one.differs.is_empty()).count();
        let looked_at = pluralize(events.len(), "event", "events");
        page.add_note(format!(
            "{differing} of {looked_at} would be decided differently; nothing was written"
        ));
        if *unknown > 0 {
            page.add_note(format!("{unknown} more: what they were decided from is not kept"));
        }
        if *undecided > 0 {
            let tick = style.note_theme.paint_command("regent tick");
            page.add_note(format!("{undecided} more are not decided about yet: {tick}"));
        }
        page
    }

    fn json_lines(&self) -> Vec<Value> {
        json_each(&self.shown().collect::<Vec<_>>())
    }
}

impl Replayed {
    fn lines(&self, style: &Style<'_>) -> Vec<String> {
        let at = self.at.date_time(style.zone);
        let (then, now) = (self.then.name(), self.now.name());
        let effect = if then == now { format!("{now:<13}") } else { format!("{then:<5} > {now:<5}") };
        let differs =
            if self.differs.is_empty() { "nothing differs".into() } else { self.differs.join(", ") };
        let short = style.theme.paint_command(&self.short);
        let mut lines = vec![format!("{short}  {at}  {:<10} {effect}  {differs}", inline(&self.platform))];
        if !self.differs.is_empty() {
            lines.extend(self.why.iter().map(|why| format!("    because {}", inline(why))));
        }
        lines
    }
}

impl Policies<'_> {
    /// The set that would be in force with these files applied, each a name and its text; that in force, if there are none.
    ///
    /// # Errors
    /// Everything that is wrong with them or with the files beside them, or if the ledger fails.
    async fn with_sources(self, given: &[(String, String)]) -> Result<PolicySet, Problem> {
        if given.is_empty() {
            return self.in_force().await;
        }
        let mut files = self.app.host.policies(PolicyKind::Acl);
        for (file, text) in given {
            is_a_name(file)?;
            files.retain(|known| known.name != *file);
            files.push(PolicyFile { name: file.clone(), text: Ok(text.clone()) });
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let loaded = loaded(&PolicyFiles::of::<PolicySet>(files)).map_err(|mistakes| wrong(&mistakes))?;
        let switches = self.app.kernel.services().await?.ledger.policy_switches().await?;
        Ok(in_force::PolicyRules::switched(loaded.set, &switches))
    }

    /// Decides again about everything that came in since then, as if these files had been applied: each a name and its text.
    /// Without any, by what is in force. Nothing is written.
    ///
    /// # Errors
    /// Everything that is wrong with the files, or if the ledger fails.
    #[tracing::instrument(level = "info", name = "policies.replay", skip_all)]
    pub async fn replay(self, files: &[(String, String)], back: Option<Duration>) -> Result<Replay, Problem> {
        let set = self.with_sources(files).await?;
        let vpols = self.vpols().await?;
        let services = self.app.kernel.services().await?;
        let since = back.map_or(Time::from_micros(i64::MIN), |back| services.now().minus(back));
        let select = Select::all().filter("received_at", Op::Ge, &since);
        let select = select.filter("direction", Op::Eq, &Direction::In).ascending("seq");
        let events: Vec<Event> = services.ledger.select(select).await?;
        let mut replay = Replay::default();
        for event in events {
            let Some(row) = services.ledger.admission_of(event.id).await? else {
                replay.undecided += 1;
                continue;
            };
            let body = services.ledger.body(&row.decision).await?;
            let admitted: Option<Admitted> = body.and_then(|body| serde_json::from_slice(&body).ok());
            let kept =
                admitted.map(|admitted| admitted.decision).filter(|then| then.facts.policies.is_some());
            let Some(then) = kept else {
                replay.unknown += 1;
                continue;
            };
            let now = admit(then.facts.clone(), &set, &vpols);
            replay.events.push(Replayed {
                event: event.id,
                short: self.app.kernel.short(event.id).await?,
                at: event.received_at,
                platform: event.platform,
                principal: row.principal,
                then: then.effect,
                now: now.effect,
                differs: differences(&then, &now),
                why: now.reasons.iter().map(ToString::to_string).collect(),
            });
        }
        Ok(replay)
    }
}

fn differences(then: &Admission, now: &Admission) -> Vec<&'static str> {
    let (had, has) = (&then.permissions, &now.permissions);
    let table = [
        ("effect", then.effect == now.effect),
        ("policies", then.matched == now.matched),
        ("tools", (&had.own, &had.within) == (&has.own, &has.within)),
        ("credentials", had.credentials == has.credentials),
        ("data", had.data == has.data),
        ("session", then.session == now.session),
        ("trust", then.trust == now.trust),
    ];
    table.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect()
}
