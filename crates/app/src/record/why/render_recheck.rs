//! What making the decisions of a chain again came to, a line for each.

use present::{Page, Style, Tone, inline, pluralize, shorten};

use crate::record::{Again, Difference, FOUND_WIDTH, Line, Rechecked};

/// Column in which findings begin.
const LEFT: usize = 28;

pub(super) fn render_recheck(recheck: &Rechecked, style: &Style<'_>) -> Page {
    let mut page = Page::new();
    page.add("recheck");
    page.add_all(recheck.lines.iter().map(|line| render_line(line, style)));
    page.add(render_summary(recheck, style));
    page
}

fn render_line(line: &Line, style: &Style<'_>) -> String {
    let tool = line.tool.as_deref().map_or_else(String::new, |tool| format!(" {tool}"));
    let thing = format!("{} {}{tool}", line.what, line.short);
    let (text, tone) = describe(&line.again);
    format!("  {thing:<LEFT$} {}", style.theme.paint(&text, tone))
}

fn describe(again: &Again) -> (String, Tone) {
    match again {
        Again::Same => ("same".into(), Tone::Good),
        Again::Differs(difference) => (format!("DIFFERS: {}", describe_difference(difference)), Tone::Bad),
        Again::Erased => ("erased: cannot be computed again".into(), Tone::Attention),
        Again::Unkept => {
            ("was recorded before inputs were kept; cannot be computed again".into(), Tone::Attention)
        }
        Again::OtherRules { rules_then, rules_now, differs } => {
            let then = rules_then.map_or_else(|| "not kept".into(), |rules| rules.to_string());
            let found = differs.as_ref().map_or_else(
                || "same".into(),
                |difference| format!("differs: {}", describe_difference(difference)),
            );
            (format!("other rules then ({then}), now ({rules_now}): {found}"), Tone::Attention)
        }
    }
}

fn describe_difference(Difference { field, then, now }: &Difference) -> String {
    format!("{}: then {}, now {}", inline(field), shorten(then, FOUND_WIDTH), shorten(now, FOUND_WIDTH))
}

fn render_summary(recheck: &Rechecked, style: &Style<'_>) -> String {
    let count = |which: fn(&Again) -> bool| recheck.count(which) as u64;
    let mut text = format!("recheck: {} the same", count(|again| *again == Again::Same));
    let others = [
        (count(Again::is_held_against), "DIFFERS", "DIFFER"),
        (count(|again| matches!(again, Again::OtherRules { .. })), "under other rules", "under other rules"),
        (count(|again| *again == Again::Erased), "erased", "erased"),
        (count(|again| *again == Again::Unkept), "without its inputs", "without their inputs"),
    ];
    for (count, one, many) in others.iter().filter(|(count, ..)| *count > 0) {
        text.push_str(&format!(", {}", pluralize(*count, one, many)));
    }
    style.theme.paint(&text, if recheck.holds { Tone::Good } else { Tone::Bad })
}
