//! `why` as a tree: from the effect down to its origin.

use present::{Style, Theme, Tone, inline};

use super::{Branch, Why};

/// Column in which texts begin, for labels up to eleven letters.
const LABEL: usize = 12;

#[must_use]
pub fn render_why(why: &Why, short: &str, style: &Style<'_>) -> String {
    let theme = style.theme;
    let mut lines = vec![format!("{}   {}", inline(&why.headline), theme.paint_command(short))];
    render_branches(&why.because, "", theme, &mut lines);
    let tone = if why.proof.consistent { Tone::Good } else { Tone::Bad };
    lines.push(format!("proof: {}", theme.paint(&inline(&why.proof.text), tone)));
    lines.join("\n")
}

fn render_branches(branches: &[Branch], indent: &str, theme: Theme, lines: &mut Vec<String>) {
    let (fork, last, down) = if theme.symbols { ("├ ", "└ ", "│ ") } else { ("|- ", "`- ", "|  ") };
    for (i, branch) in branches.iter().enumerate() {
        let is_last = i + 1 == branches.len();
        let joint = if is_last { last } else { fork };
        let label = theme.paint(&format!("{:<LABEL$}", branch.label), Tone::Faint);
        let id = if branch.short.is_empty() {
            String::new()
        } else {
            format!("   {}", theme.paint_command(&branch.short))
        };
        lines.push(format!("{indent}{joint}{label} {}{id}", inline(&branch.text)).trim_end().to_owned());
        let blank = " ".repeat(joint.chars().count());
        let deeper = format!("{indent}{}", if is_last { &blank } else { down });
        render_branches(&branch.because, &deeper, theme, lines);
    }
}
