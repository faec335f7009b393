//! What a model costs.

use std::collections::BTreeMap;

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

/// Where a price comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Listed {
    /// It runs on this machine.
    Local,
    /// In the list that ships.
    Shipped,
    /// In the owner's list.
    Own,
    /// In none: it is charged like the dearest that is known.
    Unlisted,
}

/// What models cost, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices {
    entries: BTreeMap<String, (Price, Listed)>,
}

impl Default for Prices {
    /// The list that ships. That it can be read is shown by a test.
    fn default() -> Self {
        let mut prices = Self { entries: BTreeMap::new() };
        for (name, entry) in SHIPPED.parse::<toml::Table>().unwrap_or_default() {
            if let Ok(price) = read(&entry) {
                prices.entries.insert(name, (price, Listed::Shipped));
            }
        }
        prices
    }
}

const SHIPPED: &str = include_str!("prices.toml");

impl Prices {
    /// The same, with what the owner's list says in place of what ships under the same name.
    ///
    /// # Errors
    /// Every mistake in it.
    pub fn with(mut self, text: &str) -> Result<Self, Vec<String>> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| vec![place(text, &error)])?;
        let mut mistakes = Vec::new();
        for (name, entry) in table {
            let named = name.split_once('/').is_some_and(|(provider, model)| {
                let stars = model.matches('*').count();
                !provider.is_empty() && !model.is_empty() && !provider.contains('*') && {
                    stars == 0 || (stars == 1 && model.ends_with('*'))
                }
            });
            match read(&entry) {
                _ if !named => mistakes.push(format!(
                    "`{name}` names no model; write `\"provider/model\"`, with `*` at the end for all that begin so"
                )),
                Ok(price) => drop(self.entries.insert(name, (price, Listed::Own))),
                Err(why) => mistakes.push(format!("`{name}`: {why}")),
            }
        }
        if mistakes.is_empty() { Ok(self) } else { Err(mistakes) }
    }

    /// What a model on another machine costs: by the longest name that fits.
    #[must_use]
    pub fn of(&self, name: &str) -> (Price, Listed) {
        let fits = |pattern: &str| match pattern.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == pattern,
        };
        let exact = |pattern: &str| (!pattern.ends_with('*'), pattern.len());
        let found = self.entries.iter().filter(|(pattern, _)| fits(pattern));
        let longest = found.max_by_key(|(pattern, _)| exact(pattern));
        longest.map_or_else(|| (self.dearest(), Listed::Unlisted), |(_, entry)| *entry)
    }

    /// The most that any of them takes, each way for itself.
    #[must_use]
    pub fn dearest(&self) -> Price {
        let most = |part: fn(&Price) -> u64| self.entries.values().map(|(price, _)| part(price)).max();
        let [input, cached, output] =
            [most(|price| price.input), most(|price| price.cached), most(|price| price.output)];
        Price {
            input: input.unwrap_or_default(),
            cached: cached.unwrap_or_default(),
            output: output.unwrap_or_default(),
        }
    }
}

/// `{ input = 3, cached = "0.30", output = 15 }`; what is not said of kept input costs as much as any.
fn read(entry: &toml::Value) -> Result<Price, String> {
    const FORM: &str = "write `{ input = 3, cached = 0.30, output = 15 }`";
    let table = entry.as_table().ok_or(FORM)?;
    if let Some(stranger) = table.keys().find(|key| !["input", "cached", "output"].contains(&key.as_str())) {
        return Err(format!("there is no `{stranger}`; {FORM}"));
    }
    let part = |name: &str| {
        let Some(value) = table.get(name) else { return Ok(None) };
        let text = match value {
            toml::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let none = || format!("`{text}` is no amount for {name}; at most six digits after the point");
        millionths(&text).map(Some).ok_or_else(none)
    };
    let input = part("input")?.ok_or(FORM)?;
    let output = part("output")?.ok_or(FORM)?;
    Ok(Price { input, cached: part("cached")?.unwrap_or(input), output })
}

/// `0.075` is 75,000.
fn millionths(text: &str) -> Option<u64> {
    const DIGITS: usize = 6;
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > DIGITS {
        return None;
    }
    let part: u64 = format!("{part:0<DIGITS$}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(part)
}

/// Where a text stops being TOML, and why; nothing of the text itself.
fn place(text: &str, error: &toml::de::Error) -> String {
    let at = error.span().map_or(0, |span| span.start);
    let line = text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1;
    format!("line {line}: {}", error.message())
}

#[cfg(test)]
mod tests {
    use super::{Listed, Price, Prices, SHIPPED, millionths, read};

    fn price(input: u64, cached: u64, output: u64) -> Price {
        Price { input, cached, output }
    }

    #[test]
    fn every_entry_that_ships_can_be_read() {
        let table: toml::Table = SHIPPED.parse().unwrap();
        assert!(table.len() > 50);
        for (name, entry) in &table {
            let price = read(entry).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert!(price.input > 0 && price.output > 0 && price.cached <= price.input, "{name}: {price:?}");
            assert!(
                crate::catalog::known(name.split_once('/').unwrap().0).is_some_and(|known| !known.is_local())
            );
        }
        assert_eq!(Prices::default().entries.len(), table.len());
    }

    #[test]
    fn amounts_to_the_digit() {
        let table = [
            ("3", Some(3_000_000)),
            ("0.075", Some(75_000)),
            ("0.000001", Some(1)),
            ("15.00", Some(15_000_000)),
            ("0.0000001", None),
            ("", None),
            (".5", None),
            ("1.", None),
            ("-1", None),
            ("1e3", None),
            ("nan", None),
            ("99999999999999999999", None),
            ("18446744073710", None),
        ];
        for (text, expected) in table {
            assert_eq!(millionths(text), expected, "{text}");
        }
    }

    #[test]
    fn what_tokens_cost_to_the_digit() {
        let sonnet = price(2_000_000, 200_000, 10_000_000);
        let table = [
            ((0, 0, 0), 0),
            ((1, 0, 0), 2),
            ((0, 0, 1), 10),
            ((1_000_000, 0, 1_000_000), 12_000_000),
            ((1_234, 1_000, 56), 468 + 200 + 560),
            ((3, 3, 0), 1),   // 0.6 of a millionth is one
            ((10, 99, 0), 2), // no more is kept than went in
            ((u64::MAX, 0, u64::MAX), u64::MAX),
        ];
        for ((tokens_in, cached, tokens_out), expected) in table {
            assert_eq!(
                sonnet.of(tokens_in, cached, tokens_out),
                expected,
                "{tokens_in} {cached} {tokens_out}"
            );
        }
    }

    #[test]
    fn the_longest_name_that_fits_counts() {
        let prices = Prices::default();
        let table = [
            ("anthropic/claude-opus-5-5", price(4_000_000, 400_000, 20_000_000)),
            ("anthropic/claude-opus-5", price(5_000_000, 500_000, 25_000_000)),
            ("anthropic/claude-opus-4-1-20250805", price(15_000_000, 1_500_000, 75_000_000)),
            ("anthropic/claude-opus-4-8", price(5_000_000, 500_000, 25_000_000)),
            ("anthropic/claude-sonnet-4-5-20250929", price(3_000_000, 300_000, 15_000_000)),
            ("openai/gpt-5", price(1_250_000, 125_000, 10_000_000)),
            ("openai/gpt-5-mini-2025-08-07", price(250_000, 25_000, 2_000_000)),
            ("gemini/gemini-3.5-flash-lite", price(300_000, 30_000, 2_500_000)),
            ("groq/openai/gpt-oss-20b", price(75_000, 75_000, 300_000)),
        ];
        for (name, expected) in table {
            assert_eq!(prices.of(name), (expected, Listed::Shipped), "{name}");
        }
    }

    #[test]
    fn what_nobody_knows_is_charged_like_the_dearest() {
        let dearest = price(30_000_000, 21_000_000, 180_000_000);
        assert_eq!(Prices::default().dearest(), dearest);
        for name in ["openai/gpt-9", "openai/gpt-5.2-chat-latest", "mine/anything", "anthropic/"] {
            assert_eq!(Prices::default().of(name), (dearest, Listed::Unlisted), "{name}");
        }
    }

    #[test]
    fn the_owners_list_counts_before_ours_entry_by_entry() {
        let own = "\"openai/gpt-5\" = { input = \"1.50\", output = 11 }\n\"mine/*\" = { input = 0.1, output = 0.2, cached = 0 }";
        let prices = Prices::default().with(own).unwrap();
        assert_eq!(prices.of("openai/gpt-5"), (price(1_500_000, 1_500_000, 11_000_000), Listed::Own));
        assert_eq!(prices.of("mine/model"), (price(100_000, 0, 200_000), Listed::Own));
        assert_eq!(prices.of("openai/gpt-5-mini").1, Listed::Shipped);
    }

    #[test]
    fn every_mistake_in_the_owners_list_is_said() {
        let own = "\"gpt\" = { input = 1, output = 1 }\n\"a/*b\" = { input = 1, output = 1 }\n\"a/b\" = { input = 1 }\n\
                   \"a/c\" = { input = 1, output = -1 }\n\"a/d\" = { input = 1, output = 1, tax = 1 }\n\"a/e\" = 3";
        let mistakes = Prices::default().with(own).unwrap_err();
        let form = "write `{ input = 3, cached = 0.30, output = 15 }`";
        assert_eq!(
            mistakes,
            [
                "`a/*b` names no model; write `\"provider/model\"`, with `*` at the end for all that begin so".to_owned(),
                format!("`a/b`: {form}"),
                "`a/c`: `-1` is no amount for output; at most six digits after the point".to_owned(),
                format!("`a/d`: there is no `tax`; {form}"),
                format!("`a/e`: {form}"),
                "`gpt` names no model; write `\"provider/model\"`, with `*` at the end for all that begin so".to_owned(),
            ]
        );
        let broken = Prices::default().with("\n\"a/b\" = { input = sk-ant-secret").unwrap_err();
        assert!(broken[0].starts_with("line 2: ") && !broken[0].contains("secret"), "{broken:?}");
    }
}
