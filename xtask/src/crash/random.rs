//! Everything that a run leaves to chance comes from its seed, through this.

use std::time::Duration;

/// `SplitMix64`: small, even, and the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The chance of one round: what an earlier round drew does not change it, so that a round can be looked at alone.
    pub(crate) fn of_round(seed: u64, round: u64) -> Self {
        Self::new(Self::new(seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15)).next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to one below `bound`; 0 for a bound of 0. The bias of the remainder is far below what a run can see.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least) + 1)
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn moment(&mut self, least: Duration, most: Duration) -> Duration {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(self.between(micros(least), micros(most)))
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = self.below(u64::try_from(from.len()).unwrap_or(u64::MAX));
        from.get(usize::try_from(at).unwrap_or(usize::MAX))
    }

    /// One of them, the heavier the likelier.
    pub(crate) fn weighted<'a, T>(&mut self, from: &'a [(T, u64)]) -> Option<&'a T> {
        let mut at = self.below(from.iter().map(|(_, weight)| weight).sum());
        from.iter().find_map(|(one, weight)| {
            let here = at < *weight;
            at = at.saturating_sub(*weight);
            here.then_some(one)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the reference implementation for the seed 1234567.
    #[test]
    fn it_is_splitmix64() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn what_is_drawn_stays_in_its_bounds() {
        let mut random = Random::new(7);
        assert!((0..1000).map(|_| random.between(3, 5)).all(|n| (3..=5).contains(&n)));
        assert_eq!((random.below(0), random.pick::<u8>(&[]), random.weighted::<u8>(&[])), (0, None, None));
        assert!((0..1000).all(|_| random.weighted(&[("never", 0), ("always", 9)]) == Some(&"always")));
        assert!((0..100).all(|_| random.chance(100) && !random.chance(0)));
    }

    #[test]
    fn a_round_has_its_own_chance() {
        let draw = |round| Random::of_round(42, round).next();
        assert_eq!(draw(3), draw(3));
        assert_ne!(draw(3), draw(4));
    }
}
