//! Chance, from one number. The same seed throws the same dice on every machine.

/// SplitMix64.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.throw() % (end as u64).max(1)).unwrap_or(0)
    }

    /// True so many times in a thousand.
    pub(super) const fn per_mille(&mut self, times: u64) -> bool {
        self.throw() % 1000 < times
    }

    pub(super) fn one_of<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::Dice;

    /// The first numbers of the published generator for the seed 1234567.
    #[test]
    fn it_is_splitmix64() {
        let mut dice = Dice::seeded(1_234_567);
        let thrown: Vec<u64> = (0..3).map(|_| dice.throw()).collect();
        assert_eq!(thrown, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
