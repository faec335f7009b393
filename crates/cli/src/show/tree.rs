//! `why` as a tree: from the effect down to its origin.

use runtime::app::{Branch, Why};

use super::{Screen, Tone, inline};

/// Column in which texts begin, for labels up to eleven letters.
const LABEL: usize = 12;

pub(crate) fn tree(screen: &Screen, why: &Why, short: &str) -> String {
    let mut lines = vec![format!("{}   {}", inline(&why.headline), screen.tinted(short, Tone::Command))];
    grow(screen, &why.because, "", &mut lines);
    let tone = if why.proof.consistent { Tone::Good } else { Tone::Bad };
    lines.push(format!("proof: {}", screen.tinted(&inline(&why.proof.text), tone)));
    lines.join("\n")
}

fn grow(screen: &Screen, branches: &[Branch], indent: &str, lines: &mut Vec<String>) {
    let (fork, last, down) = if screen.draws() { ("├ ", "└ ", "│ ") } else { ("|- ", "`- ", "|  ") };
    for (i, branch) in branches.iter().enumerate() {
        let is_last = i + 1 == branches.len();
        let joint = if is_last { last } else { fork };
        let label = screen.tinted(&format!("{:<LABEL$}", branch.label), Tone::Faint);
        let id = if branch.short.is_empty() {
            String::new()
        } else {
            format!("   {}", screen.tinted(&branch.short, Tone::Command))
        };
        lines.push(format!("{indent}{joint}{label} {}{id}", inline(&branch.text)).trim_end().to_owned());
        let blank = " ".repeat(joint.chars().count());
        let deeper = format!("{indent}{}", if is_last { &blank } else { down });
        grow(screen, &branch.because, &deeper, lines);
    }
}
