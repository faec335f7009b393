//! The words of the grammar, as tables. A phrase is written with single spaces and matches whole words
//! in any case; a word that stands in no table is unknown, and an unknown word is never skipped.

/// The most files one question may ask for by name: what one call returns.
pub(super) const MOST: u32 = 1_000;

type Phrases = &'static [&'static str];

/// Means nothing, at the edge of a question.
pub(super) const COURTESY: Phrases = &[
    "please",
    "kindly",
    "can you",
    "could you",
    "would you",
    "will you",
    "tell me",
    "let me know",
    "do you know",
    "i want to know",
    "i need to know",
    "i would like to know",
    "i'd like to know",
    "i want you to",
    "i would like you to",
    "i'd like you to",
    "thank you",
];
pub(super) const GREETING: Phrases = &["hello", "hi", "hey", "thanks"];
pub(super) const AND: Phrases = &["and", "and also", "also", "then", "and then"];

// What to do.
pub(super) const COUNT: Phrases = &[
    "how many",
    "count",
    "number of",
    "the number of",
    "the total number of",
    "total number of",
    "the count of",
    "count of",
];
pub(super) const LIST: Phrases =
    &["list", "show", "display", "find", "give", "name", "enumerate", "list out", "find out"];
pub(super) const TO_WHOM: Phrases = &["me", "us", "a list of", "me a list of", "us a list of"];
pub(super) const WHICH: Phrases = &["which", "what"];
pub(super) const SEARCH: Phrases = &["search", "look"];
pub(super) const GREP: Phrases = &["grep", "grep for"];
pub(super) const LARGEST: Phrases = &["largest", "biggest"];
pub(super) const NEWEST: Phrases = &[
    "newest",
    "latest",
    "most recent",
    "most recently modified",
    "most recently changed",
    "most recently edited",
    "most recently updated",
    "last modified",
    "last changed",
    "last edited",
    "last updated",
];
pub(super) const TOP: Phrases = &["top"];

// What.
pub(super) const ALL: Phrases = &["the", "all", "all the", "all of the", "every", "each", "any", "my", "our"];
pub(super) const THEM: Phrases =
    &["them", "these", "those", "of them", "of these", "of those", "all of them"];
pub(super) const ONE: Phrases = &["one", "ones", "of them", "of these", "of those"];
pub(super) const SOURCE: Phrases = &["source", "source code"];
pub(super) const FILE: &str = "file";
pub(super) const FILES: &str = "files";

// Which.
pub(super) const CONTAINING: Phrases = &[
    "containing",
    "contain",
    "contains",
    "that contain",
    "that contains",
    "which contain",
    "which contains",
    "mentioning",
    "mention",
    "mentions",
    "that mention",
    "that mentions",
    "which mention",
    "which mentions",
];
pub(super) const TEXT: Phrases = &[
    "the text",
    "text",
    "the string",
    "string",
    "the phrase",
    "phrase",
    "occurrences of",
    "all occurrences of",
    "mentions of",
    "all mentions of",
];
pub(super) const NAMED: Phrases =
    &["named", "called", "that are named", "that are called", "are named", "are called"];
pub(super) const MATCHING: Phrases = &["matching", "match", "matches", "that match", "which match"];

// Where.
pub(super) const HERE: Phrases = &["here", "in here"];
pub(super) const IN: Phrases = &["in", "under", "inside", "within", "below", "beneath", "underneath"];
pub(super) const THE: Phrases = &["the"];
/// Behind one of [`IN`], all of the workspace.
pub(super) const WORKSPACE: Phrases = &[
    "this folder",
    "this directory",
    "the current folder",
    "the current directory",
    "the workspace",
    "this workspace",
    "the project",
    "this project",
    "the repository",
    "this repository",
    "the repo",
    "this repo",
];
pub(super) const FOLDER: Phrases = &["folder", "directory"];
pub(super) const THE_FILE: Phrases = &["file", "the file"];

// Grammar without a meaning of its own.
pub(super) const FOR: Phrases = &["for"];
pub(super) const OF: Phrases = &["of"];
pub(super) const IS: Phrases = &["is"];
pub(super) const ARE: Phrases = &["are"];
pub(super) const THAT_ARE: Phrases = &["are", "is", "that are", "that is", "which are", "which is"];
pub(super) const THERE: Phrases = &[
    "are there",
    "is there",
    "there are",
    "there is",
    "that there are",
    "exist",
    "exists",
    "do we have",
    "do i have",
    "we have",
    "i have",
    "in total",
    "altogether",
];

const PHRASES: [Phrases; 29] = [
    COURTESY, AND, COUNT, LIST, TO_WHOM, WHICH, SEARCH, GREP, LARGEST, NEWEST, TOP, ALL, THEM, ONE, SOURCE,
    CONTAINING, TEXT, NAMED, MATCHING, HERE, IN, WORKSPACE, FOLDER, THE_FILE, FOR, OF, ARE, THAT_ARE, THERE,
];

const NUMBERS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// Stands for something else, so it is no text and no folder by itself: `files that contain nothing`.
const VAGUE: Phrases = &[
    "it",
    "this",
    "that",
    "there",
    "something",
    "anything",
    "everything",
    "nothing",
    "none",
    "no",
    "not",
    "only",
    "without",
    "except",
    "somewhere",
    "everywhere",
    "elsewhere",
];

/// What people call a kind of file, what we call it, and what its names end in.
struct Named {
    words: Phrases,
    label: &'static str,
    extensions: Phrases,
}

const fn named(words: Phrases, label: &'static str, extensions: Phrases) -> Named {
    Named { words, label, extensions }
}

const KINDS: &[Named] = &[
    named(&["rust", "rs"], "Rust", &["rs"]),
    named(&["python", "py"], "Python", &["py"]),
    named(&["markdown", "md"], "Markdown", &["md", "markdown"]),
    named(&["javascript", "js"], "JavaScript", &["js", "jsx", "mjs", "cjs"]),
    named(&["typescript", "ts"], "TypeScript", &["ts", "tsx", "mts", "cts"]),
    named(&["toml"], "TOML", &["toml"]),
    named(&["yaml", "yml"], "YAML", &["yaml", "yml"]),
    named(&["json"], "JSON", &["json"]),
    named(&["html"], "HTML", &["html", "htm"]),
    named(&["css"], "CSS", &["css"]),
    named(&["xml"], "XML", &["xml"]),
    named(&["c"], "C", &["c", "h"]),
    named(&["c++", "cpp"], "C++", &["cpp", "cc", "cxx", "hpp", "hh", "hxx"]),
    named(&["c#"], "C#", &["cs"]),
    named(&["go", "golang"], "Go", &["go"]),
    named(&["java"], "Java", &["java"]),
    named(&["kotlin"], "Kotlin", &["kt", "kts"]),
    named(&["swift"], "Swift", &["swift"]),
    named(&["ruby"], "Ruby", &["rb"]),
    named(&["php"], "PHP", &["php"]),
    named(&["lua"], "Lua", &["lua"]),
    named(&["svelte"], "Svelte", &["svelte"]),
    named(&["vue"], "Vue", &["vue"]),
    named(&["shell", "bash"], "shell", &["sh", "bash"]),
    named(&["sql"], "SQL", &["sql"]),
    named(&["csv"], "CSV", &["csv"]),
    named(&["text", "txt"], "text", &["txt"]),
    named(&["log"], "log", &["log"]),
    named(&["pdf"], "PDF", &["pdf"]),
    named(
        &["image", "picture"],
        "image",
        &["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "avif", "heic", "heif", "tif", "tiff", "ico"],
    ),
];

/// Kinds whose name alone stands for the files: in the singular, in the plural.
const NOUNS: [(&str, &str); 3] = [("image", "images"), ("picture", "pictures"), ("pdf", "pdfs")];

/// Label and extensions of a kind.
pub(super) fn kind(word: &str) -> Option<(&'static str, &'static [&'static str])> {
    KINDS.iter().find(|kind| kind.words.contains(&word)).map(|kind| (kind.label, kind.extensions))
}

/// The kind behind a word that stands for the files themselves, and whether it is a plural.
pub(super) fn noun(word: &str) -> Option<(&'static str, bool)> {
    NOUNS.iter().find_map(|&(one, many)| {
        (word == one).then_some((one, false)).or_else(|| (word == many).then_some((one, true)))
    })
}

pub(super) fn number(word: &str) -> Option<u32> {
    if !word.is_empty() && word.bytes().all(|digit| digit.is_ascii_digit()) {
        return Some(word.parse().unwrap_or(u32::MAX)); // too long for the type is too large for us
    }
    (1..).zip(NUMBERS).find_map(|(number, name)| (name == word).then_some(number))
}

/// Whether the word names what the request is about: a text or a folder, without being quoted.
pub(super) fn names(word: &str) -> bool {
    !known(word) && !VAGUE.contains(&word)
}

/// Whether the grammar has a use for this word somewhere.
pub(super) fn known(word: &str) -> bool {
    let in_phrases =
        || PHRASES.iter().copied().flatten().flat_map(|p| p.split(' ')).any(|known| known == word);
    word == FILES || kind(word).is_some() || noun(word).is_some() || NUMBERS.contains(&word) || in_phrases()
}

#[cfg(test)]
mod tests {
    use super::{KINDS, MOST, known, noun, number};
    use std::collections::BTreeSet;

    #[test]
    fn a_word_names_one_kind_of_file() {
        let words: Vec<_> = KINDS.iter().flat_map(|kind| kind.words).collect();
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
    }

    #[test]
    fn numbers_are_digits_or_one_to_ten() {
        let table = [("0", Some(0)), ("12", Some(12)), ("ten", Some(10)), ("eleven", None), ("", None)];
        for (word, expected) in table {
            assert_eq!(number(word), expected, "{word}");
        }
        assert_eq!(number("99999999999"), Some(u32::MAX));
        assert_eq!(usize::try_from(MOST), Ok(domain::limits::FOUND_FILES));
    }

    #[test]
    fn words_of_any_table_are_known_and_others_are_not() {
        for word in ["many", "recently", "files", "rust", "pdfs", "seven", "workspace", "is", "the"] {
            assert!(known(word), "{word}");
        }
        for word in ["", "delete", "not", "older", "hello", "todo", "how many"] {
            assert!(!known(word), "{word}");
        }
        assert_eq!(noun("pictures"), Some(("picture", true)));
    }
}
