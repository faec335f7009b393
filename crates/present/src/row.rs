//! Text by the columns it takes on a screen, with its tones beside it: cut first, painted last.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::{Theme, Tone};

/// A row of a screen, part by part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextRow(Vec<RowPart>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct RowPart {
    text: String,
    tone: Option<Tone>,
}

impl TextRow {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn plain(mut self, text: impl Into<String>) -> Self {
        self.0.push(RowPart { text: text.into(), tone: None });
        self
    }

    #[must_use]
    pub fn toned(mut self, text: impl Into<String>, tone: impl Into<Option<Tone>>) -> Self {
        self.0.push(RowPart { text: text.into(), tone: tone.into() });
        self
    }

    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    #[must_use]
    pub fn width(&self) -> usize {
        self.0.iter().map(|part| measure_width(&part.text)).sum()
    }

    /// Filled with blanks to this column.
    #[must_use]
    pub fn to(self, column: usize) -> Self {
        let missing = column.saturating_sub(self.width());
        self.plain(" ".repeat(missing))
    }

    /// This on the left, that on the right, in so many columns; the left one gives way.
    #[must_use]
    pub fn spread(self, right: Self, columns: usize) -> Self {
        if right.width() == 0 {
            return self.cut(columns);
        }
        let room = columns.saturating_sub(right.width() + 1);
        self.cut(room).to(room + 1).with(right).cut(columns)
    }

    /// At most so many columns; that something is missing is shown.
    #[must_use]
    pub fn cut(self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let (mut kept, mut left) = (Vec::new(), columns);
        for RowPart { text, tone } in self.0 {
            let whole = measure_width(&text);
            if whole < left {
                left -= whole;
                kept.push(RowPart { text, tone });
                continue;
            }
            kept.push(RowPart { text: cut(&text, left), tone });
            break;
        }
        Self(kept)
    }

    #[must_use]
    pub fn render(&self, theme: Theme) -> String {
        let paint = |part: &RowPart| match part.tone {
            Some(tone) if !part.text.is_empty() => theme.paint(&part.text, tone),
            _ => part.text.clone(),
        };
        let last = self.0.iter().rposition(|part| !part.text.trim_end().is_empty());
        let kept = self.0.iter().take(last.map_or(0, |last| last + 1));
        let text: String = kept.map(paint).collect();
        text.trim_end().to_owned()
    }
}

#[must_use]
pub fn measure_width(text: &str) -> usize {
    text.width()
}

/// The beginning of a text, in at most so many columns, with two dots where the rest was: they are narrow everywhere.
#[must_use]
pub fn cut(text: &str, columns: usize) -> String {
    const DOTS: &str = "..";
    let room = columns.saturating_sub(DOTS.len());
    let mut taken = 0;
    let mut kept: String = text
        .chars()
        .take_while(|c| {
            taken += c.width().unwrap_or(1);
            taken <= room
        })
        .collect();
    kept.extend(DOTS.chars().take(columns));
    kept
}

/// As [`cut`], where it is too long.
#[must_use]
pub fn fit(text: &str, columns: usize) -> String {
    if measure_width(text) <= columns { text.to_owned() } else { cut(text, columns) }
}

#[cfg(test)]
mod tests {
    use super::{TextRow, fit, measure_width};
    use crate::{Theme, Tone, leave_plain};

    const BARE: Theme = Theme { paint: leave_plain, symbols: true, words: false };

    #[test]
    fn what_is_cut_fits_whatever_it_is_made_of() {
        let texts = ["plain", "日本語のテキスト", "a\u{301}e\u{301}o\u{301}", "🦀🦀🦀🦀", "✓ ▸ ↻ ▪ ▫ ╌"];
        for text in texts {
            for columns in 0..12 {
                let cut = fit(text, columns);
                assert!(measure_width(&cut) <= columns, "{text} {columns} {cut}");
                assert!(measure_width(text) > columns || cut == text, "{text} {columns} {cut}");
            }
        }
        assert_eq!(fit("look up the address", 10), "look up ..");
    }

    #[test]
    fn left_gives_way_to_right_and_tones_do_not_count() {
        let row = || TextRow::new().toned("working", Tone::Good).plain(" at something long");
        let right = || TextRow::new().plain("3 s");
        assert_eq!(row().spread(right(), 20).render(BARE), "working at som.. 3 s");
        assert_eq!(TextRow::new().plain("a").spread(right(), 8).render(BARE), "a    3 s");
        let colored = Theme { paint: |text, tone| format!("<{tone:?} {text}>"), ..BARE };
        assert_eq!(row().cut(7).render(colored), "<Good worki..>");
        assert_eq!(TextRow::new().plain("a").to(9).render(BARE), "a", "no blanks at the end");
    }
}
