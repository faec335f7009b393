//! Text by the columns it takes on a screen, with its tones beside it: cut first, tinted last.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::show::{Theme, Tone};

/// A row of a screen, piece by piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Piece {
    text: String,
    tone: Option<Tone>,
}

impl Row {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn plain(mut self, text: impl Into<String>) -> Self {
        self.0.push(Piece { text: text.into(), tone: None });
        self
    }

    pub(crate) fn toned(mut self, text: impl Into<String>, tone: impl Into<Option<Tone>>) -> Self {
        self.0.push(Piece { text: text.into(), tone: tone.into() });
        self
    }

    pub(crate) fn with(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|piece| width(&piece.text)).sum()
    }

    /// Filled with blanks to this column.
    pub(crate) fn to(self, column: usize) -> Self {
        let missing = column.saturating_sub(self.width());
        self.plain(" ".repeat(missing))
    }

    /// This on the left, that on the right, in so many columns; the left one gives way.
    pub(crate) fn spread(self, right: Self, columns: usize) -> Self {
        if right.width() == 0 {
            return self.cut(columns);
        }
        let room = columns.saturating_sub(right.width() + 1);
        self.cut(room).to(room + 1).with(right).cut(columns)
    }

    /// At most so many columns; that something is missing is shown.
    pub(crate) fn cut(self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let (mut kept, mut left) = (Vec::new(), columns);
        for Piece { text, tone } in self.0 {
            let whole = width(&text);
            if whole < left {
                left -= whole;
                kept.push(Piece { text, tone });
                continue;
            }
            kept.push(Piece { text: cut(&text, left), tone });
            break;
        }
        Self(kept)
    }

    pub(crate) fn shown(&self, theme: Theme) -> String {
        let tinted = |piece: &Piece| match piece.tone {
            Some(tone) if !piece.text.is_empty() => theme.tinted(&piece.text, tone),
            _ => piece.text.clone(),
        };
        let last = self.0.iter().rposition(|piece| !piece.text.trim_end().is_empty());
        let kept = self.0.iter().take(last.map_or(0, |last| last + 1));
        let text: String = kept.map(tinted).collect();
        text.trim_end().to_owned()
    }
}

pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The beginning of a text, in at most so many columns, with two dots where the rest was: they are narrow everywhere.
pub(crate) fn cut(text: &str, columns: usize) -> String {
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
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    if width(text) <= columns { text.to_owned() } else { cut(text, columns) }
}

#[cfg(test)]
mod tests {
    use super::{Row, fitted, width};
    use crate::show::{Theme, Tone};

    const BARE: Theme = Theme { color: false, symbols: true, words: false };

    #[test]
    fn what_is_cut_fits_whatever_it_is_made_of() {
        let texts = ["plain", "日本語のテキスト", "a\u{301}e\u{301}o\u{301}", "🦀🦀🦀🦀", "✓ ▸ ↻ ▪ ▫ ╌"];
        for text in texts {
            for columns in 0..12 {
                let cut = fitted(text, columns);
                assert!(width(&cut) <= columns, "{text} {columns} {cut}");
                assert!(width(text) > columns || cut == text, "{text} {columns} {cut}");
            }
        }
        assert_eq!(fitted("look up the address", 10), "look up ..");
    }

    #[test]
    fn left_gives_way_to_right_and_tones_do_not_count() {
        let row = || Row::new().toned("working", Tone::Good).plain(" at something long");
        let right = || Row::new().plain("3 s");
        assert_eq!(row().spread(right(), 20).shown(BARE), "working at som.. 3 s");
        assert_eq!(Row::new().plain("a").spread(right(), 8).shown(BARE), "a    3 s");
        let colored = Theme { color: true, ..BARE };
        assert_eq!(row().cut(7).shown(colored), "\u{1b}[32mworki..\u{1b}[0m");
        assert_eq!(Row::new().plain("a").to(9).shown(BARE), "a", "no blanks at the end");
    }
}
