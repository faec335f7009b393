//! The models that are asked, in their order, and why.

use present::{Page, Style, Tone, inline};
use serde::Serialize;

/// Which models are asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelChoice {
    /// Perceives, plans and judges the whole. Empty: the reflexes answer alone.
    pub brain: Vec<ModelView>,
    /// Acts, and checks what was done.
    pub hands: Vec<ModelView>,
    /// One sentence.
    pub why: String,
    /// The models that were meant and cannot be asked.
    pub passed_over: Vec<UnavailableModel>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelView {
    /// `anthropic/claude-sonnet-5-5`.
    pub model: String,
    pub host: String,
    /// Whether it is on another machine.
    pub outside: bool,
    /// How able it is, as the owner ranks it; more is better.
    pub rank: u32,
    pub price: ModelPrice,
    /// Whether it may judge a plan; `None` if it is not of the brain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judges: Option<bool>,
    #[serde(skip)]
    pub listing: PriceListing,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnavailableModel {
    pub model: String,
    pub why: String,
}

/// Millionths of the instance's currency for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ModelPrice {
    pub input: u64,
    /// Of input that the provider had kept.
    pub cached: u64,
    pub output: u64,
}

/// Where a price comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceListing {
    /// The model runs on this machine.
    Local,
    /// The list that ships.
    Shipped,
    /// The owner's list.
    Own,
    /// None: the model is charged like the dearest that is known.
    Unlisted,
}

impl ModelChoice {
    pub(super) fn page(&self, style: &Style<'_>) -> Page {
        let mut page = Page::new();
        for (tier, models) in [("brain", &self.brain), ("hands", &self.hands)] {
            let labels = std::iter::once(tier).chain(std::iter::repeat(""));
            page.add_all(labels.zip(models).map(|(label, model)| model.row(label, style)));
            if models.is_empty() {
                page.add(format!("{tier:<11} reflex"));
            }
        }
        page.add(format!("{:<11} {}", "why", inline(&self.why)));
        for UnavailableModel { model, why } in &self.passed_over {
            page.add(format!("{:<11} {}: {}", "passed over", inline(model), inline(why)));
        }
        page
    }
}

impl ModelView {
    fn row(&self, label: &str, style: &Style<'_>) -> String {
        let note = if self.judges == Some(false) { "; plans if it must, and does not judge" } else { "" };
        let facts = format!("rank {}{note}; a million tokens: {}", self.rank, self.describe_price());
        format!("{label:<11} {}   {}", inline(&self.model), style.theme.paint(&facts, Tone::Faint))
    }

    /// `2 in, 0.2 kept, 10 out`: what a million tokens cost.
    fn describe_price(&self) -> String {
        let ModelPrice { input, cached, output } = self.price;
        let amounts = || {
            format!(
                "{} in, {} kept, {} out",
                format_amount(input),
                format_amount(cached),
                format_amount(output)
            )
        };
        match self.listing {
            PriceListing::Local => "nothing".to_owned(),
            PriceListing::Shipped => amounts(),
            PriceListing::Own => format!("{} (prices.toml)", amounts()),
            PriceListing::Unlisted => format!("{} (not listed: charged like the dearest)", amounts()),
        }
    }
}

/// Millionths as a person writes them, to the last digit: `0.075`.
pub(super) fn format_amount(millionths: u64) -> String {
    let (whole, part) = (millionths / 1_000_000, millionths % 1_000_000);
    let text = format!("{whole}.{part:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::format_amount;

    #[test]
    fn amounts_to_the_last_digit() {
        let table = [(0, "0"), (3_000_000, "3"), (75_000, "0.075"), (1, "0.000001"), (12_500_000, "12.5")];
        for (millionths, expected) in table {
            assert_eq!(format_amount(millionths), expected);
        }
    }
}
