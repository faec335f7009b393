//! Why a request is beyond the reflex: one sentence a person can act on.

use std::fmt;

use super::request::Rank;
use super::words::MOST;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    NothingAsked,
    EndsTooEarly,
    UnknownWord(String),
    /// A word of the grammar where the grammar has no use for it.
    NotHere(String),
    /// A quoted text that fills no place.
    Unplaced(String),
    OpenQuote(char),
    NoText,
    TextOfManyLines,
    QuoteText(String),
    /// A `?` at the end of a pattern may end the sentence or stand for a letter.
    QuotePattern(String),
    PatternAlone(String),
    NotAFolder(String),
    NotAName(String),
    TwoPlaces,
    Twice(&'static str),
    HowManyOf(Rank),
    OutOfRange(Rank),
    /// `which is the largest` with nothing said before or after.
    WhichFiles,
    /// The files of two questions may or may not be the same.
    SameFiles,
    WhereForEach,
    OneFile(String),
    TooMany,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingAsked => f.write_str("nothing is asked"),
            Self::EndsTooEarly => f.write_str("the request ends too early"),
            Self::UnknownWord(word) => write!(f, "the word `{word}` is not one I know"),
            Self::NotHere(word) => write!(f, "I do not understand `{word}` at this place"),
            Self::Unplaced(text) => write!(f, "it does not say what the text `{text}` is for"),
            Self::OpenQuote(mark) => write!(f, "the quotation mark `{mark}` is never closed"),
            Self::NoText => f.write_str("it does not say which text to search for"),
            Self::TextOfManyLines => f.write_str("I search line by line, and the text has several"),
            Self::QuoteText(word) => {
                write!(
                    f,
                    "I am not sure that `{word}` is the whole text to search for; put the text in quotes"
                )
            }
            Self::QuotePattern(pattern) => {
                write!(
                    f,
                    "I am not sure whether the pattern is `{pattern}` or `{pattern}?`; put it in quotes"
                )
            }
            Self::PatternAlone(pattern) => {
                write!(f, "a pattern with folders like `{pattern}` says it all: I cannot narrow it further")
            }
            Self::NotAFolder(word) => {
                write!(f, "I am not sure that `{word}` is a folder; if it is, write `{word}/`")
            }
            Self::NotAName(name) => write!(f, "`{name}` is not the name of a file"),
            Self::TwoPlaces => f.write_str("one question names two places"),
            Self::Twice(what) => write!(f, "one question gives {what} twice"),
            Self::HowManyOf(rank) => write!(f, "it does not say how many of the {rank}"),
            Self::OutOfRange(rank) => write!(f, "I can name 1 to {MOST} of the {rank}, no other number"),
            Self::WhichFiles => f.write_str("it does not say which files"),
            Self::SameFiles => f.write_str("I am not sure that all questions are about the same files"),
            Self::WhereForEach => f.write_str("only one of the questions says where; say it for each"),
            Self::OneFile(path) => write!(f, "`{path}` is one file, the other question is about several"),
            Self::TooMany => f.write_str("these are more questions than one plan holds"),
        }
    }
}
