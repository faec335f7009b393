//! What memory says, as the planner is told it: what was distilled first, then what happened most recently, and bare
//! numbers only where there are no words. The words are fenced: what a tool once said may have found its way into them.

use domain::recall::{Inclination, Potentials, Recalled, Remembered};

use super::page::{Page, one_line};

pub(super) fn show(page: &mut Page, recalled: &Recalled) {
    let shown: Vec<&Remembered> = recalled.about.iter().filter(|one| says_something(one)).collect();
    if shown.is_empty() {
        return;
    }
    page.heading("Memory");
    for one in shown {
        entry(page, one);
    }
}

/// What is to be ignored is left out, unless it was distilled: that does not fade.
fn says_something(one: &Remembered) -> bool {
    one.potentials.action != Inclination::Ignore || !one.sops.is_empty()
}

fn entry(page: &mut Page, Remembered { tag, sops, recent, potentials }: &Remembered) {
    let Potentials { attention, decision, action } = potentials;
    let advice = match action {
        Inclination::Exploit => ": SHOULD PREFER this approach",
        Inclination::Avoid => ": MUST NOT use this approach",
        Inclination::Caution => ": caution, it went both ways; whatever writes is confirmed first",
        Inclination::Ignore => "",
    };
    page.line(&format!("\n`{}` / `{}`{advice}", one_line(&tag.space), one_line(&tag.entity)));
    let recent = if *action == Inclination::Ignore { &[] } else { recent.as_slice() };
    let rules = sops.iter().map(|sop| format!("rule: {}", one_line(sop)));
    let words: Vec<String> =
        rules.chain(recent.iter().map(|what| format!("recently: {}", one_line(what)))).collect();
    if words.is_empty() {
        page.item(&format!("attention {attention:.2}, decision {decision:.2}"));
    } else {
        page.data("What is remembered", &words.join("\n"));
    }
}
