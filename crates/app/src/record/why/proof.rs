//! What shows that the record of a chain is as it was written.

use ledger::records::AuditEntry;
use serde::Serialize;

use crate::record::Record;
use crate::record::audit::{AuditLine, line};
use kernel::Problem;

/// The audit entries of this chain, and whether they lead to the sealed tip; if so, which checkpoint has signed them.
#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    pub consistent: bool,
    pub text: String,
    pub entries: Vec<AuditLine>,
}

impl Record<'_> {
    /// What shows that these entries are as they were written.
    pub(in crate::record) async fn proof(self, entries: Vec<AuditEntry>) -> Result<Proof, Problem> {
        let Some(first) = entries.first() else {
            let text = "no audit entry names this".into();
            return Ok(Proof { consistent: false, text, entries: Vec::new() });
        };
        let verdict = self.app.kernel.ledger().await?.verify_from(first).await?;
        let named = ranges(entries.iter().map(|entry| entry.seq));
        let ledger = self.app.kernel.ledger().await?;
        let last = entries.last().unwrap_or(first);
        let text = match (verdict.faults.first(), ledger.signed_by(last.stream, last.seq).await?) {
            (Some(fault), _) => format!("audit {named} BROKEN: {fault}"),
            (None, Some(epoch)) => format!("audit {named} consistent, checkpoint {epoch} signed"),
            (None, None) => format!("audit {named} consistent, sealed; no checkpoint has signed it yet"),
        };
        Ok(Proof {
            consistent: verdict.faults.is_empty(),
            text,
            entries: entries.into_iter().map(line).collect(),
        })
    }
}

/// `1 to 5, 9`.
fn ranges(numbers: impl IntoIterator<Item = u64>) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let shown = ranges
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first} to {last}") });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn numbers_that_follow_each_other_are_a_range() {
        assert_eq!(ranges([1, 2, 3, 5, 8, 9]), "1 to 3, 5, 8 to 9");
        assert_eq!(ranges([7]), "7");
    }
}
