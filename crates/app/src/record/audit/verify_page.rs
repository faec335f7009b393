//! The page of a verified audit: what is wrong with it, or how far it can be relied on.

use kernel::Problem;
use ledger::BodyReport;
use ledger::chain::Word;
use present::{Page, Style, Tone, inline, pluralize};

use super::{AuditReport, AuditVerification};
use crate::operation::Output;

impl Output for AuditVerification {
    fn render(&self, style: &Style<'_>) -> Page {
        let AuditReport { faults, gaps, bodies, .. } = &self.report;
        let mut page = Page::new();
        page.add_all(faults.iter().chain(gaps.iter().flatten()).map(|fault| inline(fault)));
        let changed = bodies.iter().flat_map(|bodies| &bodies.changed);
        page.add_all(changed.map(|body| format!("the body {} is not what its digest says", inline(body))));
        if self.problem().is_none() {
            page.add(self.describe_verdict(style));
        } else if let Some(bodies) = bodies {
            page.add(count_bodies(bodies));
        }
        page
    }

    fn problem(&self) -> Option<Problem> {
        self.report.problem()
    }
}

impl AuditVerification {
    /// The verdict, and how far it reaches.
    fn describe_verdict(&self, style: &Style<'_>) -> String {
        let report = &self.report;
        let word = style.theme.paint(&report.verdict.to_string(), Tone::Good);
        let entries = pluralize(report.entries, "entry", "entries");
        let checkpoints = pluralize(report.checkpoints, "checkpoint", "checkpoints");
        let signed = match report.signed {
            0 => "none of them signed yet".to_owned(),
            signed if signed == report.entries => format!("all signed by {checkpoints}"),
            signed => format!("{signed} of them signed by {checkpoints}"),
        };
        let head = if self.of_export { "" } else { ", the tip is sealed" };
        let is_pinned = report.verdict == Word::Intact;
        let pinned = if is_pinned { ", and it is the chain that you pinned" } else { "" };
        let complete = match report.gaps {
            Some(_) => "; every effect has its entry, and every entry its effect",
            None => "",
        };
        let bodies = report.bodies.as_ref().map(describe_bodies).unwrap_or_default();
        format!(
            "{word}: {entries}, each follows from the one before, {signed}{head}{pinned}{complete}{bodies}"
        )
    }
}

/// Beside a problem, whichever it is.
fn count_bodies(bodies: &BodyReport) -> String {
    let compared = pluralize(bodies.compared, "body", "bodies");
    let changed = bodies.changed.len() as u64 + bodies.more;
    format!("{compared} compared: {changed} changed; {} erased", bodies.erased)
}

fn describe_bodies(bodies: &BodyReport) -> String {
    let compared = match bodies.compared {
        1 => "1 body is what its digest says".to_owned(),
        compared => format!("{compared} bodies are what their digests say"),
    };
    match bodies.erased {
        0 => format!("; {compared}"),
        erased => format!("; {compared}, {erased} cannot be compared because their salt is erased"),
    }
}
