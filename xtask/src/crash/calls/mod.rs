//! `cargo xtask crash calls`: calls that really change something, killed while they run. No effect twice; each call ends, or
//! nobody knows and that is said; no budget is overdrawn; nothing starts in a house that is halted.
//!
//! Start reading at `campaign.rs`; the rounds are in `killed.rs`, `last.rs` and `halted.rs`, who counts in `effects.rs`, what
//! must hold in `verdict.rs` and `check.rs`.

mod check;
mod deed;
pub(super) mod effects;
mod halted;
mod killed;
pub(super) mod last;
mod report;
pub(super) mod site;
pub(super) mod verdict;

use self::check::Findings;
use self::last::LAST;
pub(super) use self::report::Calls;
use self::site::Site;
use self::verdict::Standing;
use super::campaign::{Field, PLENTY, Play, is_due};
use super::options::{CALLS, Load};
use super::random::Random;
use super::seen::Seen;
use super::store::Store;
use super::verdict::Violation;

/// So long a house is used before all of it is checked and it is thrown away. Who connects to a server takes longer.
const ROUNDS_IN_A_FILE: u64 = 12;
const ROUNDS_ON_A_SERVER: u64 = 4;
/// So many of a hundred houses run out of calls on the way.
const SCARCE_PERCENT: u64 = 20;
const SCARCE: u64 = 6;

/// What a house is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Kills,
    Last,
    Halting,
}

impl Part {
    /// Houses take turns, in pairs: one on each store.
    fn of_house(number: u64, without: Option<&str>) -> Self {
        match (without, number / 2 % 6) {
            (Some("reservation"), _) => Self::Last,
            (Some("halt"), _) => Self::Halting,
            (Some(_), _) => Self::Kills,
            (None, 1 | 5) => Self::Last,
            (None, 2) => Self::Halting,
            (None, _) => Self::Kills,
        }
    }

    const fn rounds(self, store: Store) -> u64 {
        match (self, store) {
            (Self::Kills, Store::Sqlite) => ROUNDS_IN_A_FILE,
            (Self::Kills, Store::Postgres) => ROUNDS_ON_A_SERVER,
            (Self::Last | Self::Halting, _) => 1,
        }
    }
}

/// A house, what it is for, and how many rounds that takes.
pub(super) struct House<'a> {
    site: Site<'a>,
    part: Part,
    rounds: u64,
}

impl<'a> From<House<'a>> for Site<'a> {
    fn from(house: House<'a>) -> Self {
        house.site
    }
}

impl Play for Calls {
    const OF: &'static str = "calls";
    const LOAD: &'static Load = &CALLS;
    const HOUSES_PER_LINE: u64 = 10;
    type House<'a> = House<'a>;

    fn house<'a>(&self, field: &Field<'a>, number: u64) -> anyhow::Result<House<'a>> {
        let part = Part::of_house(number, field.options.without.as_deref());
        let scarce = Random::of_round(!field.seed(), number).chance(SCARCE_PERCENT);
        let limit = match part {
            Part::Last => LAST,
            Part::Kills if scarce => SCARCE,
            Part::Kills | Part::Halting => PLENTY,
        };
        let mut site = field.site(number, limit)?;
        if limit < PLENTY {
            site.standing = Standing::Limited;
        }
        Ok(House { site, part, rounds: part.rounds(field.store(number)) })
    }

    fn rounds(&self, house: &House<'_>) -> u64 {
        house.rounds
    }

    fn round(&mut self, house: &mut House<'_>, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        let House { site, part, .. } = house;
        match part {
            Part::Kills => site.round_of_kills(random),
            Part::Last => {
                self.last += 1;
                site.round_of_the_last(random)
            }
            Part::Halting => {
                self.halts += 1;
                site.round_of_halting(random)
            }
        }
    }

    fn close(&mut self, house: &House<'_>, found: &mut Vec<Violation>) -> anyhow::Result<()> {
        if found.is_empty() {
            let Findings { outcomes, effects, violations } = house.site.check()?;
            self.add(&outcomes, effects);
            *found = violations;
        }
        Ok(())
    }

    fn trace<'h>(house: &'h House<'_>) -> &'h [Seen] {
        &house.site.trace
    }

    fn line(&self) -> String {
        format!("{} calls, {} effects", self.calls, self.effects)
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        Self::counts(self)
    }

    fn effects(&self) -> u64 {
        self.effects
    }

    /// A house on each store for the last of a budget, and one for a halt.
    fn is_whole(&self) -> bool {
        self.last >= 2 && self.halts >= 2
    }

    /// The call that is halted is never killed. A halt that was cut off is entered by whichever process comes next, so nobody can
    /// be made to die there; who halts is killed at random moments.
    fn is_spared(kind: &str) -> bool {
        kind.ends_with(" hash") || kind == "writing halts" || is_due(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_turn_on_every_store() {
        let parts: Vec<Part> = (0..12).map(|house| Part::of_house(house, None)).collect();
        for part in [Part::Kills, Part::Last, Part::Halting] {
            let houses = || parts.iter().enumerate().filter(|(_, of)| **of == part);
            assert!(houses().any(|(house, _)| house % 2 == 0) && houses().any(|(house, _)| house % 2 == 1));
        }
        assert_eq!(Part::of_house(0, Some("halt")), Part::Halting);
        assert_eq!(Part::of_house(6, Some("fence")), Part::Kills);
    }
}
