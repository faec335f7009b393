//! `cargo xtask crash approvals`: calls that a person is asked about. Whoever asks, answers or goes on is killed; the world
//! changes between the answer and the call. No effect without a yes for exactly this call, none twice for one yes; of several
//! answers one counts; a yes is never lost, and where it counts no more that is said.
//!
//! Start reading at `campaign.rs`; a round is in `round.rs`, with `people.rs` and `going_on.rs`, what must hold in `verdict.rs` and `answers.rs`.

mod answers;
mod case;
mod cut;
mod going_on;
mod office;
mod people;
mod report;
mod round;
mod verdict;
mod world;

use self::cut::Cut;
use self::office::Office;
pub(super) use self::report::Approvals;
use super::calls::site::Site;
use super::campaign::{Field, PLENTY, Play};
use super::options::{APPROVALS, Load};
use super::random::Random;
use super::seen::{End, Seen};
use super::store::Store;
use super::verdict::{Invariant, Violation};

/// So long a house is used before its audit is checked and it is thrown away. Who connects to a server takes longer.
const ROUNDS_IN_A_FILE: u64 = 6;
const ROUNDS_ON_A_SERVER: u64 = 3;

impl<'a> From<Office<'a>> for Site<'a> {
    fn from(office: Office<'a>) -> Self {
        office.site
    }
}

impl Play for Approvals {
    const OF: &'static str = "approvals";
    const LOAD: &'static Load = &APPROVALS;
    const HOUSES_PER_LINE: u64 = 4;
    type House<'a> = Office<'a>;

    fn house<'a>(&self, field: &Field<'a>, number: u64) -> anyhow::Result<Office<'a>> {
        let rounds = match field.store(number) {
            Store::Sqlite => ROUNDS_IN_A_FILE,
            Store::Postgres => ROUNDS_ON_A_SERVER,
        };
        Ok(Office::new(field.site(number, PLENTY)?, rounds))
    }

    fn rounds(&self, office: &Office<'_>) -> u64 {
        office.rounds
    }

    fn round(&mut self, office: &mut Office<'_>, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        match office.round(random) {
            Ok(()) => Ok(Vec::new()),
            Err(Cut::Found(violations)) => Ok(violations),
            Err(Cut::Failed(error)) => Err(error),
        }
    }

    fn close(&mut self, office: &Office<'_>, found: &mut Vec<Violation>) -> anyhow::Result<()> {
        self.add_house(&office.tally);
        if found.is_empty() {
            found.extend(complete(&office.site)?);
        }
        Ok(())
    }

    fn trace<'h>(office: &'h Office<'_>) -> &'h [Seen] {
        &office.site.trace
    }

    fn line(&self) -> String {
        Self::line(self)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        Self::counts(self).to_vec()
    }

    fn effects(&self) -> u64 {
        self.effects
    }
}

/// The audit of a house that nobody is at any more, with every effect that stands in it.
fn complete(site: &Site<'_>) -> anyhow::Result<Option<Violation>> {
    let (end, stdout, stderr) = site.ask(&["audit", "verify", "--complete"])?;
    let right = end == End::Exit(0) && stdout.starts_with("consistent");
    let what = || format!("{end:?}: {}{}", stdout.trim_end(), stderr.trim_end());
    Ok((!right).then(|| Invariant::Chain.violated(what())))
}
