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
    /// Punctuation behind a text may or may not be part of it.
    QuoteText(String),
    TwoPlaces,
    /// A `?` at the end of a pattern may end the sentence or stand for a letter.
    QuotePattern(String),
    PatternAlone(String),
    NotAName(String),
    Outside(String),
    Twice(&'static str),
    TwoActs,
    /// What changes files is not at the beginning.
    NoOrder,
    /// Whether what narrows is about the files or about those that are left out.
    ExceptWhat,
    /// What is to be done with the second of them.
    SayForEach,
    /// Whether something is to be done only then.
    Condition,
    /// Nothing and everything at once.
    Contradiction,
    HowManyOf(Rank),
    OutOfRange,
    TopOfWhat,
    NoAge,
    NoColumn,
    NoTable,
    NoLines,
    NoTarget(&'static str),
    FolderNeeded(String),
    OneFileNeeded,
    FilesOnly,
    /// Two things that do not go together.
    NotTogether,
    /// Whether the lines contain it, or the files that they are in.
    LinesOrFiles(String),
    /// `which is the largest` with nothing said before.
    WhichFiles,
    WhichAnswer,
    /// The files of two questions may or may not be the same.
    SameFiles,
    WhereForEach,
    TooMany,
    NotText(String),
    NoSuchDay,
    NoResult,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingAsked => f.write_str("it does not say what to do"),
            Self::EndsTooEarly => f.write_str("the request ends too early"),
            Self::UnknownWord(word) => write!(f, "the word `{word}` is not one I know"),
            Self::NotHere(word) => write!(f, "I do not understand `{word}` at this place"),
            Self::Unplaced(text) => write!(f, "it does not say what the text `{text}` is for"),
            Self::OpenQuote(mark) => write!(f, "the quotation mark `{mark}` is never closed"),
            Self::NoText => f.write_str("it does not say which text to look for"),
            Self::TextOfManyLines => f.write_str("I search line by line, and the text has several"),
            Self::QuoteText(text) => {
                write!(
                    f,
                    "I am not sure that `{text}` is the whole text to search for; put the text in quotes"
                )
            }
            Self::TwoPlaces => f.write_str("one question names two places; say `and` between them"),
            Self::QuotePattern(pattern) => {
                write!(
                    f,
                    "I am not sure whether the pattern is `{pattern}` or `{pattern}?`; put it in quotes"
                )
            }
            Self::PatternAlone(pattern) => {
                write!(f, "a pattern with folders like `{pattern}` says it all: I cannot narrow it further")
            }
            Self::NotAName(name) => write!(f, "`{name}` is not the name of a file"),
            Self::Outside(path) => write!(f, "`{path}` leads out of this folder"),
            Self::Twice(what) => write!(f, "one question gives {what} twice"),
            Self::TwoActs => {
                f.write_str("one sentence asks for two things to be done; say `and` between them")
            }
            Self::NoOrder => f.write_str("I am not sure that it is an order; begin with what is to be done"),
            Self::ExceptWhat => {
                f.write_str("I am not sure what is left out; say where and which before `except`")
            }
            Self::SayForEach => {
                f.write_str("I am not sure what is to be done with the second of them; say it for each")
            }
            Self::Condition => f.write_str("I do not do one thing only if another is so"),
            Self::Contradiction => f.write_str("nothing can be both"),
            Self::HowManyOf(rank) => write!(f, "it does not say how many of the {}", rank.name()),
            Self::OutOfRange => write!(f, "I can name 1 to {MOST} of them, no other number"),
            Self::TopOfWhat => f.write_str("it does not say what they are ranked by"),
            Self::NoAge => f.write_str("it does not say when they were changed"),
            Self::NoColumn => f.write_str("it does not say which column"),
            Self::NoTable => f.write_str("it does not say which CSV or JSON file"),
            Self::NoLines => f.write_str("it does not say how many lines"),
            Self::NoTarget(act) => write!(f, "it does not say where to {act} it"),
            Self::FolderNeeded(path) => {
                write!(f, "several files do not fit into the one file `{path}`; name a folder")
            }
            Self::OneFileNeeded => {
                f.write_str("I can do that with one file at a time, and it does not name one")
            }
            Self::FilesOnly => f.write_str("I can do that with files only, not with folders"),
            Self::NotTogether => f.write_str("I cannot do these two together"),
            Self::LinesOrFiles(text) => {
                write!(f, "I am not sure whether the lines or the files are to contain `{text}`")
            }
            Self::WhichFiles => f.write_str("it does not say which files"),
            Self::WhichAnswer => f.write_str("I am not sure which of the answers is meant"),
            Self::SameFiles => f.write_str("I am not sure that all questions are about the same files"),
            Self::WhereForEach => f.write_str("only one of the questions says where; say it for each"),
            Self::TooMany => f.write_str("these are more questions than one plan holds"),
            Self::NotText(path) => write!(f, "I write text, and `{path}` is none"),
            Self::NoSuchDay => f.write_str("there is no such day"),
            Self::NoResult => f.write_str("that has no result"),
        }
    }
}
