//! What other policies would have said about what came in: the kept facts, decided about again.

use std::time::Duration;

use domain::Time;
use domain::event::Direction;
use domain::id::EventId;
use ledger::records::Event;
use ledger::{Op, Select};
use policy::acl::Effect;
use policy::admit::{Admission, Admitted, admit};
use serde::Serialize;

use kernel::Problem;

use super::Policies;

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

impl Policies<'_> {
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
