//! What a model costs.

use serde::{Deserialize, Serialize};

/// Millionths of the house's currency for a million tokens: `3.00` is 3,000,000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    pub input: u64,
    /// Of input that the provider had kept.
    pub cached: u64,
    pub output: u64,
}

impl Price {
    /// What so many tokens cost, rounded up. `cached` are part of `tokens_in`.
    #[must_use]
    pub fn of(&self, tokens_in: u64, cached: u64, tokens_out: u64) -> u64 {
        let cost = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let fresh = tokens_in.saturating_sub(cached);
        let sum = cost(fresh, self.input)
            + cost(cached.min(tokens_in), self.cached)
            + cost(tokens_out, self.output);
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}
