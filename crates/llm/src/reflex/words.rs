//! The words of the grammar, as tables. A phrase is written with single spaces and matches whole words
//! in any case; a word that stands in no table is unknown, and an unknown word is never skipped.

/// The most files one question may ask for by name: what one call returns.
pub(super) const MOST: u32 = 1_000;

pub(super) use super::kinds::{kind, noun};

pub(super) type Phrases = &'static [&'static str];

/// Means nothing, wherever it stands.
pub(super) const COURTESY: Phrases = &[
    "can you", "can i", "could you", "could i", "would you", "will you", "tell me", "tell us", "let me know",
    "let me see", "do you know", "i want to know", "i need to know", "i want to see", "i need to see",
    "i would like to know", "i'd like to know", "i would like to see", "i'd like to see",
    "i would like to have", "i'd like to have", "i'd like to", "i would like to", "i want you to",
    "i would like you to", "i'd like you to", "i'd like", "i would like", "i want", "i want to", "i need",
    "i need you to", "i need to", "i am looking for", "i'm looking for", "i wonder", "i was wondering",
    "go ahead and", "would you mind telling me", "would you be so kind as to", "help me", "we need to know",
    "we need", "we would like to know", "kindly tell me", "i would be grateful if you could",
    "i'd be grateful if you could", "i would appreciate it if you could", "i'd appreciate it if you could",
    "would it be possible to", "is it possible to", "may i ask", "may i know", "may i have", "may i see",
    "i would appreciate", "be so kind as to", "be so kind and", "i was hoping you could",
    "i would love to know", "i would like you to tell me", "i should like to know", "i should like to see",
    "would you mind", "i'd love to know", "just tell me", "just", "quickly", "simply", "quick question",
    "quick one",
];
/// Of these, what goes before an order to change something; the others may ask whether it could be done.
pub(super) const ORDER: Phrases = &[
    "can you", "could you", "would you", "will you", "i want you to", "i would like you to", "i'd like you to",
    "i need you to", "go ahead and", "would you be so kind as to", "i would be grateful if you could",
    "i'd be grateful if you could", "i would appreciate it if you could", "i'd appreciate it if you could",
    "i'd like to", "i would like to", "i want to", "i need to", "help me", "just", "simply", "quickly",
    "be so kind as to", "be so kind and", "i was hoping you could",
];
/// The same at the end, or in between.
pub(super) const THANKS: Phrases = &[
    "please", "kindly", "for me", "for us", "thank you", "thank you very much", "many thanks", "thanks",
    "thanks a lot", "thanks in advance", "in bytes", "pls", "plz", "if possible", "if you can", "if you could",
    "when you have a moment",
];
/// Only before anything is asked.
pub(super) const GREETING: Phrases = &[
    "hello", "hi", "hey", "good morning", "good afternoon", "good evening", "so", "ok", "okay", "well", "now",
    "yo", "hiya", "hello there", "hi there", "hey there",
];
pub(super) const AND: Phrases = &["and", "and also", "also", "as well as", "plus"];
pub(super) const THEN: Phrases = &[
    "then", "and then", "after that", "and after that", "afterwards", "finally", "and finally",
    "and afterwards", "and next", "next",
];
pub(super) const OR: Phrases = &["or"];

/// Grammar without a meaning of its own.
pub(super) const FILLER: Phrases = &[
    "the", "a", "an", "of", "all of", "of all", "out of", "is", "are", "was", "were", "be", "been", "being",
    "do", "does", "did", "has", "have", "had", "we", "i", "you", "there", "that", "which", "me", "us", "my",
    "our", "your", "these", "those", "lying around", "live", "lives", "sit", "located", "stored", "found",
    "held", "hold", "holds", "present", "available", "in total", "in all", "altogether", "together", "overall",
    "all together", "all in all", "at all", "currently", "right now", "at the moment", "to see", "existing",
    "combined", "taken together", "put together", "for", "it comes to", "out", "single", "also", "anywhere",
    "everywhere", "own", "you have", "got", "i got", "down", "up", "value", "values", "situated", "placed",
    "kept", "possess", "possesses", "consist", "consist of", "consists of", "in sum", "contained", "has got",
    "have got", "belonging to", "in question", "in the whole", "as a whole", "come to", "comes to", "amount to",
    "stand at", "spread over", "sitting", "lying", "left", "remain", "still", "too", "as well", "written down",
];

// What to do.
pub(super) const COUNT: Phrases = &[
    "how many", "count", "count up", "number of", "the number of", "total number of", "overall number of",
    "exact number of", "total count of", "count of", "amount of", "quantity of", "number", "tally",
    "total number", "total count", "wc", "count only", "only the count", "just count", "only count",
    "just the number", "only the number", "just the count", "how large a number of", "frequency", "frequencies",
    "frequency of", "the frequency of",
];
pub(super) const LIST: Phrases = &[
    "list", "show", "display", "find", "give", "name", "enumerate", "list out", "find out", "print", "get",
    "see", "take", "fetch", "identify", "locate", "output", "print out", "look up", "return", "retrieve",
    "view", "provide", "pick out", "determine", "present", "a list of", "list of", "names of", "file names of",
    "filenames of", "paths of", "the names of", "cat", "read", "ls", "dump", "say", "calculate",
    "compute", "work out", "figure out", "establish", "indicate", "state", "specify", "bring up", "let me have",
    "a breakdown of", "breakdown of", "a breakdown", "an overview of", "contents of", "the contents of",
    "content of", "the content of", "the text of",
];
/// Of one file, these mean what is in it.
pub(super) const READ: Phrases = &[
    "show", "display", "print", "print out", "output", "cat", "read", "view", "dump", "see",
    "show me the contents of", "contents of", "the contents of", "the content of",
];
pub(super) const WHAT: Phrases = &["what"];
/// They are here, somewhere: a question about files and not about what files are.
pub(super) const HAVE: Phrases = &[
    "do we have", "do i have", "are there", "is there", "there are", "there is", "we have", "i have",
    "have we got", "we got", "exist", "exists",
];
pub(super) const WHICH: Phrases = &["which", "where"];
pub(super) const EXISTS: Phrases = &[
    "is there", "are there", "do we have", "do i have", "have we", "have we got", "have i got", "do you see",
    "does", "do", "did i", "did we", "is", "are", "check whether", "check if", "check that", "verify that",
    "see if", "see whether", "find out if", "find out whether", "can you see",
];
pub(super) const SIZE: Phrases = &[
    "how big", "how large", "size of", "size", "total size", "combined size", "overall size", "file size",
    "the size", "total file size", "sizes", "disk use", "disk usage", "disk space", "how much space",
    "how much disk space", "how much disk", "how much storage", "how much room", "space usage", "space used",
    "how many bytes", "number of bytes", "total bytes", "total disk usage", "total disk use", "how heavy",
    "storage used", "size in total", "space", "storage space", "how much storage space", "du", "du of",
];
/// Behind or before a size, nothing more than that.
pub(super) const TAKES: Phrases = &[
    "take", "takes", "take up", "takes up", "taking up", "taken up by", "taken by", "use", "uses", "used",
    "used by", "using", "use up", "uses up", "occupy", "occupies", "occupied by", "need", "needs", "consume",
    "consumes", "consumed by", "in bytes", "bytes", "on disk", "on the disk", "add up to", "taken up",
    "occupied",
];
pub(super) const SEARCH: Phrases = &[
    "search", "search for", "look for", "look", "grep", "grep for", "search through", "look through", "scan",
    "hunt for", "look in",
];
pub(super) const DELETE: Phrases = &[
    "delete", "remove", "erase", "get rid of", "throw away", "rm", "trash", "wipe", "discard",
];
pub(super) const COPY: Phrases = &[
    "copy", "duplicate", "make a copy of", "create a copy of", "make copies of", "cp", "make a duplicate of",
    "back up", "backup", "copy over", "put a copy of", "place a copy of", "store a copy of", "save a copy of",
    "create a duplicate of", "make me a copy of",
];
pub(super) const MOVE: Phrases = &["move", "mv", "relocate"];
pub(super) const RENAME: Phrases = &["rename", "change the name of", "give a new name to", "change name of"];
pub(super) const SAVE: Phrases = &["write", "save", "store", "put", "write down", "write out", "export"];
pub(super) const HASH: Phrases = &[
    "hash", "checksum", "sha256", "sha-256", "sha 256", "sha256 hash", "sha-256 hash", "sha256 checksum",
    "sha-256 checksum", "sha256sum", "sha256 sum", "hash value", "digest", "sha256 digest", "sha-256 digest",
    "sha-256 sum", "sha 256 hash", "sha256 value", "sha256 fingerprint", "with sha256", "using sha256",
    "by sha256", "in sha256", "with sha-256", "using sha-256", "sha256 hash sum",
];
pub(super) const SHA512: Phrases = &[
    "sha512", "sha-512", "sha512 hash", "sha-512 hash", "sha512 checksum", "sha512sum", "sha-512 checksum",
];

// Order.
pub(super) const LARGEST: Phrases = &[
    "largest", "biggest", "heaviest", "greatest", "the most space", "most space", "most disk space",
    "largest in size", "biggest in size", "with the biggest size", "with the largest size",
    "of the largest size", "the largest size", "the biggest size", "largest by size", "biggest by size",
];
pub(super) const SMALLEST: Phrases = &[
    "smallest", "tiniest", "lightest", "littlest", "the least space", "least space", "smallest in size",
    "with the smallest size", "of the smallest size", "the smallest size", "smallest by size",
];
pub(super) const NEWEST: Phrases = &[
    "newest", "latest", "most recent", "most recently modified", "most recently changed",
    "most recently edited", "most recently updated", "most recently touched", "last modified", "last changed",
    "last edited", "last updated", "last touched", "modified last", "changed last", "edited last",
    "updated last", "modified most recently", "changed most recently", "edited most recently",
    "updated most recently", "touched last", "youngest", "freshest", "modified the most recently",
    "changed the most recently", "touched most recently", "most recently", "modified the latest",
    "changed the latest", "edited the latest",
];
pub(super) const OLDEST: Phrases = &[
    "oldest", "earliest", "least recently modified", "least recently changed", "least recently edited",
    "least recently updated", "least recently touched", "modified least recently", "changed least recently",
    "modified longest ago", "changed longest ago",
];
pub(super) const TOP: Phrases = &["top"];
pub(super) const FIRST_IN_ORDER: Phrases = &["first"];
pub(super) const BY_SIZE: Phrases = &[
    "by size", "by file size", "in size", "by their size", "ordered by size", "sorted by size",
    "in terms of size", "in order of size",
];
pub(super) const BY_AGE: Phrases = &[
    "by date", "by modification date", "by modification time", "by last modification", "by time", "by age",
    "by mtime",
];
pub(super) const MOST_LINES: Phrases = &[
    "the most lines", "most lines", "the largest number of lines", "the greatest number of lines",
    "the highest number of lines", "with the most lines", "that has the most lines", "that have the most lines",
    "has the most lines", "having the most lines", "have the most lines", "contains the most lines",
];
pub(super) const FEWEST_LINES: Phrases = &[
    "the fewest lines", "fewest lines", "the least lines", "least lines", "the smallest number of lines",
    "the lowest number of lines", "with the fewest lines", "that has the fewest lines",
    "that have the fewest lines", "has the fewest lines", "having the fewest lines", "have the fewest lines",
    "contains the fewest lines",
];
pub(super) const MOST_WORDS: Phrases = &[
    "the most words", "most words", "the largest number of words", "the highest number of words",
    "with the most words", "that has the most words", "that have the most words", "has the most words",
    "having the most words", "have the most words", "contains the most words",
];
pub(super) const MOST_MATCHES: Phrases = &[
    "the most matches", "most matches", "the most of them", "the most occurrences", "most occurrences",
    "the highest count", "the highest counts", "with the most matches", "that has the most matches",
    "that have the most matches", "has the most matches", "having the most matches", "have the most matches",
    "contains the most matches",
];

// What.
pub(super) const ALL: Phrases = &[
    "all", "all the", "all of the", "every", "every single", "all my", "all our", "all of our", "all of my",
    "the complete", "all existing",
];
pub(super) const EACH: Phrases = &["each", "each of the"];
pub(super) const ANY: Phrases = &["any"];
pub(super) const FILES: Phrases = &["files", "documents"];
pub(super) const FILE: Phrases = &["file", "document", "table"];
pub(super) const EVERYTHING: Phrases = &["everything", "anything"];
pub(super) const FOLDERS: Phrases = &[
    "folders", "directories", "subfolders", "subdirectories", "dirs", "sub-folders", "sub-directories",
];
pub(super) const FOLDER: Phrases = &["folder", "directory", "subfolder", "dir", "subdirectory", "sub-folder"];
pub(super) const SOURCE: Phrases = &["source", "source code", "code", "script"];
/// Behind a kind they are files: `Python scripts`, `Markdown pages`.
pub(super) const KIND_FILES: Phrases = &["scripts", "pages", "sources", "modules", "programs"];
pub(super) const KIND_FILE: Phrases = &["page", "module", "program"];
pub(super) const NAMES: Phrases = &[
    "names", "name", "file names", "filenames", "file name", "paths", "path", "names and paths", "list",
    "filename", "full list", "complete list",
];
pub(super) const LINES: Phrases = &[
    "lines", "line", "lines of text", "text lines", "line count", "line counts", "number of lines",
    "count of lines", "total lines", "total number of lines", "total line count",
];
pub(super) const LONG: Phrases = &["long"];
pub(super) const WORDS: Phrases = &[
    "words", "word count", "word counts", "number of words", "count of words", "total words",
    "total number of words", "words of text", "total word count",
];
pub(super) const TIMES: Phrases = &[
    "times", "how often", "occurrences", "occurrences of", "number of times", "number of occurrences of",
    "instances of", "matches for", "matches of", "hits for", "matches", "hits", "mentions of",
    "occurrences for", "count of occurrences of",
];
pub(super) const ROWS: Phrases = &[
    "rows", "row", "records", "entries", "data rows", "record", "entry", "rows of data", "data records",
    "row count", "number of rows", "objects", "items", "lines of data", "elements", "observations",
];
pub(super) const COLUMNS: Phrases = &[
    "columns", "column names", "names of the columns", "headers", "column headers", "header names", "fields",
    "field names", "names of columns", "keys",
];
pub(super) const NO_HEADER: Phrases = &[
    "without the header", "without header", "not counting the header", "excluding the header",
    "without the header line", "without the header row", "not counting the header row",
    "not counting the header line", "excluding the header row", "excluding the header line",
    "ignoring the header", "apart from the header", "except the header", "not including the header",
    "minus the header", "header excluded", "excluding header",
];
pub(super) const COLUMN: Phrases = &["column", "field"];
pub(super) const TYPES: Phrases = &[
    "file types", "types of files", "types of file", "kinds of files", "kinds of file", "file extensions",
    "different file types", "extensions",
];
pub(super) const OF_EACH: Phrases = &[
    "how many of each", "how many of each type", "how many of each kind", "how many there are of each",
    "how many files of each", "how many are there of each", "count of each", "number of each", "how many each",
];

// Which.
pub(super) const CONTAINING: Phrases = &[
    "containing", "contain", "contains", "that contain", "that contains", "which contain", "which contains",
    "mentioning", "mention", "mentions", "that mention", "that mentions", "which mention", "which mentions",
    "that do contain", "including the word", "that include the word", "that include the text", "which include",
    "include the word", "includes the word", "that say", "saying",
];
/// Behind one of these only what is plainly a text counts as one.
pub(super) const WITH: Phrases = &[
    "with", "that have", "which have", "have", "has", "having", "that has", "which has", "where there is",
    "featuring", "including", "include", "that include",
];
pub(super) const LACKING: Phrases = &[
    "not containing", "do not contain", "does not contain", "not contain", "not mention", "do not mention",
    "does not mention", "that do not contain", "that does not contain", "that do not mention",
    "which do not contain", "which does not contain", "which do not mention", "not mentioning",
    "that does not mention", "which does not mention", "never mention", "that never mention", "lacking",
    "that lack", "lack", "that do not include", "do not include", "not include", "not including",
    "without the word", "without the text",
];
pub(super) const LACKING_WITH: Phrases = &[
    "without", "with no", "that do not have", "do not have", "does not have", "not have", "having no",
    "have no", "that have no", "has no", "that has no",
];
pub(super) const TEXT: Phrases = &[
    "the text", "text", "the string", "string", "the phrase", "phrase", "the word", "word", "the term", "term",
    "the words", "a line with", "occurrences of", "all occurrences of", "mentions of", "all mentions of",
    "the pattern", "the literal text", "any occurrence of", "any mention of", "every occurrence of",
    "the exact text", "the exact phrase", "the exact word", "the keyword", "keyword", "the literal string",
    "the expression",
];
pub(super) const WHOLE_WORD: Phrases = &["the word", "word", "the exact word"];
pub(super) const OCCURS: Phrases = &[
    "appear", "appears", "occur", "occurs", "show up", "shows up", "turn up", "come up", "used", "mentioned",
    "found", "be found", "contained", "is used", "is mentioned", "is found", "appearing", "occurring",
    "occurring anywhere", "get mentioned", "present", "comes up", "is contained", "gets mentioned", "written",
    "printed",
];
pub(super) const INSIDE: Phrases = &[
    "in them", "in it", "inside", "inside them", "inside it", "in its text", "in their text", "within them",
    "in their content", "in their contents", "anywhere in them", "somewhere in them", "somewhere inside",
    "anywhere inside",
];
pub(super) const HAVE_IT: Phrases = &[
    "have it", "has it", "contain it", "contains it", "mention it", "mentions it", "contain that", "have that",
    "contain this", "include it",
];
pub(super) const ANY_CASE: Phrases = &[
    "ignoring case", "case-insensitive", "case-insensitively", "case insensitive", "case insensitively",
    "in any case", "regardless of case", "upper or lower case", "ignoring upper and lower case", "ignore case",
    "no matter the case", "in upper or lower case", "whatever the case", "upper or lower case does not matter",
    "case does not matter", "regardless of upper or lower case", "whether upper or lower case",
    "capitalised or not", "in either case", "without regard to case",
];
pub(super) const NAMED: Phrases = &[
    "named", "called", "that are named", "that are called", "are named", "are called", "by the name of",
    "with the name", "having the name", "with name", "is named", "is called", "that is named", "that is called",
    "by the name", "of the name", "under the name", "with the file name", "with the filename",
];
pub(super) const NAME_HAS: Phrases = &[
    "whose name contains", "whose names contain", "with a name containing", "with names containing",
    "whose filename contains", "whose file name contains", "whose name includes", "whose names include",
    "whose name has", "with a name that contains", "with names that contain", "whose filenames contain",
    "where the name contains", "whose file names contain", "having a name with",
];
pub(super) const IN_NAME: Phrases = &[
    "in the name", "in their name", "in their names", "in its name", "in the file name", "in the filename",
    "in the names", "in their filename", "in their file name", "in their filenames", "in name", "in the title",
    "in filename", "as part of their name", "as part of the name",
];
pub(super) const NAME_STARTS: Phrases = &[
    "whose name starts with", "whose names start with", "whose name begins with", "whose names begin with",
    "starting with", "beginning with", "that start with", "that begin with", "with a name starting with",
    "with names starting with", "with a name beginning with", "whose filename starts with",
    "whose file name starts with", "starts with", "start with", "begin with", "with names that start with",
    "that starts with", "whose filenames start with", "with a name that starts with", "prefixed with",
];
pub(super) const NAME_ENDS: Phrases = &[
    "whose name ends with", "whose name ends in", "whose names end in", "whose names end with", "ending in",
    "ending with", "that end in", "that end with", "with a name ending in", "with names ending in",
    "with names ending with", "with a name ending with", "whose filename ends with",
    "whose file name ends with", "ends in", "ends with", "end in", "end with", "that ends in", "that ends with",
    "whose filename ends in", "whose file name ends in", "with the ending", "with a name that ends in",
    "with a name that ends with", "with suffix", "with the suffix",
];
pub(super) const HAS_EXTENSION: Phrases = &[
    "with the extension", "with extension", "whose extension is", "of extension", "having the extension",
    "that have the extension", "which have the extension", "with the file extension", "with file extension",
    "that has the extension", "have the extension", "with an extension of", "having extension", "of the type",
    "of type", "with the file ending", "whose extensions are", "with the extension of",
];
/// Before a size is compared.
pub(super) const SIZED: Phrases = &[
    "with a size of", "a size of", "whose size is", "with size", "having a size of", "of a size of",
    "with a file size of", "that have a size of", "which have a size of", "whose file size is", "having a size",
    "with a size", "a size", "whose sizes are", "with a file size",
];
pub(super) const MATCHING: Phrases = &[
    "matching", "match", "matches", "that match", "which match", "matching the pattern",
    "that match the pattern",
];
pub(super) const EMPTY: Phrases = &[
    "empty", "that are empty", "zero-byte", "zero-length", "is empty", "are empty", "with no content",
    "with nothing in them", "zero byte", "0-byte", "of zero size", "of size zero", "with zero bytes",
];
pub(super) const NOT_EMPTY: Phrases = &[
    "not empty", "non-empty", "nonempty", "that are not empty", "but not empty",
];
pub(super) const NOT: Phrases = &[
    "not", "that are not", "which are not", "are not", "is not", "that is not", "which is not", "were not",
    "was not", "that were not", "do not", "does not", "that do not", "which do not", "are no", "that are no",
    "which are no", "is no", "neither", "are neither", "that are neither", "which are neither",
];
pub(super) const EXCEPT: Phrases = &[
    "except", "except for", "excluding", "other than", "apart from", "but not", "aside from", "besides",
    "leaving out", "skipping", "with the exception of", "not counting", "but not counting", "ignoring",
    "not including", "without counting", "minus", "save for", "exclude", "but for", "without including",
    "leaving aside", "but without",
];
pub(super) const OUTSIDE: Phrases = &[
    "outside", "outside of", "not in", "not under", "not inside", "not within", "not from", "but not in",
    "but not under", "except in", "except under", "excluding those in", "anywhere but in", "other than in",
    "except those in", "except the ones in", "except for those in", "apart from those in", "that are not in",
    "which are not in", "which are not under", "that are not under", "are not in", "are not under", "is not in",
    "excluding those under", "except those under", "not below", "not located in", "not stored in",
    "not placed in", "that are outside", "which are outside", "that lie outside", "lying outside",
    "except the one in", "except the ones under", "except the files in", "excluding the ones in",
    "other than the ones in", "not located under", "not situated in", "not placed under", "not situated under",
    "except the files under", "excluding the files in", "excluding files in", "except files in",
    "apart from the ones in", "other than those in", "excluding anything in", "excluding everything in",
    "except everything in", "ignoring those in", "ignoring the ones in", "skipping those in",
    "that do not lie in", "not lying in", "leaving out those in",
];

// Age.
pub(super) const CHANGED: Phrases = &[
    "modified", "changed", "edited", "updated", "touched", "last modified", "last changed", "last edited",
    "last updated", "last touched", "been modified", "been changed", "been edited", "been updated",
    "been touched", "change", "modify", "edit", "touch", "update", "written to", "with a modification date",
    "whose last modification was", "with a modification date of", "that got modified", "that got changed",
    "got modified", "got changed", "have changed", "has changed", "last written", "altered", "been altered",
    "last altered", "revised", "saved", "whose modification took place", "whose last change was",
    "that changed", "which changed",
];
pub(super) const FROM_DAY: Phrases = &["from", "dated", "dating from", "of"];
pub(super) const OLDER: Phrases = &[
    "older than", "more than", "over", "not modified for", "not changed for", "untouched for", "unmodified for",
    "not touched for", "not been modified for", "not been changed for", "an age of more than",
    "with an age of more than", "having an age of more than", "of an age of more than",
];
pub(super) const NEWER: Phrases = &["newer than", "younger than", "less than", "more recent than"];
pub(super) const OLD: Phrases = &["old", "ago", "of age"];
pub(super) const LAST: Phrases = &[
    "in the last", "in the past", "within the last", "within the past", "during the last", "during the past",
    "over the last", "over the past", "the last", "the past", "from the last", "from the past", "last", "past",
    "for the last", "for the past", "in last", "in past",
];
pub(super) const BEFORE: Phrases = &["before", "earlier than", "prior to", "older than", "until before"];
pub(super) const AFTER: Phrases = &["after", "later than", "newer than"];
pub(super) const SINCE: Phrases = &["since", "from", "on or after", "starting from", "as of"];
pub(super) const ON: Phrases = &["on", "in", "during", "from", "of"];
pub(super) const BETWEEN: Phrases = &["between"];

// Size.
pub(super) const LARGER: Phrases = &[
    "larger than", "bigger than", "greater than", "more than", "over", "above", "exceeding", "that exceed",
    "heavier than", "in excess of", "upwards of", "of more than", "with more than", "of over", "size over",
    "size above", "with a size over", "with a size above", "exceed", "whose size exceeds",
    "with a size of more than", "larger in size than", ">",
];
pub(super) const AT_LEAST: Phrases = &[
    "at least", "no smaller than", "not smaller than", "of at least", "with at least", "or more", ">=",
];
pub(super) const SMALLER: Phrases = &[
    "smaller than", "less than", "under", "below", "lighter than", "fewer than", "of less than",
    "with less than", "of under", "size under", "size below", "with a size under", "with a size below",
    "whose size is below", "whose size is under", "with a size of less than", "with fewer than", "<",
];
pub(super) const AT_MOST: Phrases = &[
    "at most", "no larger than", "no bigger than", "not larger than", "not bigger than", "of at most",
    "no more than", "not more than", "up to", "<=",
];

// Where.
pub(super) const HERE: Phrases = &["here", "in here", "right here", "over here"];
pub(super) const IN: Phrases = &[
    "in", "under", "inside", "within", "below", "beneath", "underneath", "inside of", "from", "into", "across",
    "throughout", "located in", "stored in", "anywhere in", "anywhere under", "anywhere inside", "placed in",
    "found in", "found under", "somewhere in", "somewhere under", "everywhere in", "everywhere under",
    "that are in", "over", "through", "that live in", "kept in", "residing in", "that lie in", "lying in",
    "sitting in", "among",
];
pub(super) const DIRECTLY: Phrases = &[
    "directly in", "directly under", "directly inside", "immediately in", "immediately under", "right in",
    "directly within", "only directly in", "at the top level of", "on the top level of", "in the top level of",
    "directly inside of",
];
pub(super) const TOP_LEVEL: Phrases = &[
    "not in subfolders", "not in any subfolder", "without subfolders", "excluding subfolders",
    "not counting subfolders", "but not in subfolders", "without its subfolders",
    "without looking into subfolders", "but not its subfolders", "not including subfolders",
    "ignoring subfolders", "no subfolders", "no sub-folders", "not recursively", "non-recursively",
    "not recursive",
];
pub(super) const TOP_LEVEL_HERE: Phrases = &[
    "at the top level", "in the root folder", "in the root directory", "in the top folder",
    "in the top-level folder", "in the root", "at the root", "on the top level", "top-level", "directly here",
    "directly in here", "directly in this folder", "directly in the current folder",
];
pub(super) const DEEP: Phrases = &[
    "recursively", "including subfolders", "including all subfolders", "with subfolders",
    "including its subfolders", "including subdirectories", "and its subfolders", "and all its subfolders",
    "and below", "with all subfolders", "and everything below", "and subfolders", "and its subdirectories",
    "in all subfolders", "including everything below it", "counting subfolders", "in any subfolder",
    "recursive", "subfolders included", "subdirs included", "including the subfolders", "with the subfolders",
    "including subdirs", "subdirectories included", "including all the subfolders", "all subfolders included",
    "including nested folders", "with all its subfolders", "including sub-folders", "and their subfolders",
];
/// All of the workspace, behind one of [`IN`] or where a size is asked for.
pub(super) const WORKSPACE: Phrases = &[
    "this folder", "this directory", "the current folder", "the current directory", "current folder",
    "current directory", "the workspace", "this workspace", "the project", "this project", "the repository",
    "this repository", "the repo", "this repo", "the whole project", "the whole folder", "the entire project",
    "the entire folder", "the whole repository", "the whole workspace", "the entire repository",
    "the whole repo", "my project", "my workspace", "our project", "this place", "the working directory",
    "the working folder", "the whole directory", "the entire directory", "all folders", "all the folders",
    "every folder", "all directories", "any folder", "the whole tree", "the tree", "this tree",
    "the project folder", "the entire workspace", "the codebase", "this codebase", "this project folder",
    "workspace", "project", "cwd", "pwd", "the project directory", "this whole folder", "this entire folder",
    "this whole project", "this whole directory", "this entire project", "my folder", "our folder",
    "our repository", "this whole repo",
];

// To where.
pub(super) const TO: Phrases = &[
    "to", "into", "as", "onto", "under the name", "called", "named", "with the name", "with the new name",
    "so that it is called", "so it is called",
];
/// Where an answer is written, too.
pub(super) const SAVE_TO: Phrases = &["in", "inside"];
pub(super) const A_FOLDER: Phrases = &[
    "a folder called", "a folder named", "the folder called", "the folder named", "a new folder called",
    "a new folder named", "the folder", "a directory called", "a directory named", "the directory", "folder",
    "directory", "a new directory called", "a new directory named", "a folder", "a directory",
    "a subfolder called", "a subfolder named", "new folder", "the directory called", "the directory named",
    "a new folder", "a new directory", "folders", "the folders", "directories", "the directories",
];
pub(super) const A_FILE: Phrases = &[
    "a file called", "a file named", "the file called", "the file named", "the file", "a new file called",
    "a new file named", "file", "a text file called", "a text file named", "new file", "a new file", "a file",
];

// Steps.
pub(super) const THEM: Phrases = &[
    "them", "it", "they", "these", "those", "of them", "of these", "of those", "all of them", "these files",
    "those files", "the results", "the result", "the answer", "the output", "this list", "that list",
    "this number", "that number", "all of these", "all of those", "each of them", "those lines", "these lines",
    "the matching files", "the outcome", "the findings", "that file", "this file", "those names", "these names",
    "that result", "this result", "them all", "what you find", "what you found", "the matching lines",
    "matching lines", "the matching file names", "result", "results", "answer", "output", "the ones", "the one",
];
pub(super) const THEIR: Phrases = &["its", "their"];
pub(super) const ONES: Phrases = &[
    "of them", "of these", "of those", "one is it", "ones are they", "ones are those", "is it", "are they",
    "one of them", "which one", "which ones", "what ones",
];

// Columns.
pub(super) const SUM: Phrases = &[
    "sum", "sum of", "sum up", "total", "total of", "add up", "add together", "add", "sum total",
    "sum total of", "the sum of all", "the total of all", "overall total", "grand total", "add all",
];
pub(super) const MEAN: Phrases = &[
    "average", "mean", "average of", "mean of", "average value", "mean value", "arithmetic mean", "on average",
    "avg", "averaged", "avg of",
];
pub(super) const MIN: Phrases = &[
    "minimum", "min", "lowest", "smallest", "least", "minimal", "minimum value", "lowest value",
    "smallest value", "min value", "cheapest",
];
pub(super) const MAX: Phrases = &[
    "maximum", "max", "highest", "largest", "biggest", "greatest", "maximal", "maximum value", "highest value",
    "largest value", "biggest value", "max value", "greatest value",
];
pub(super) const WHERE: Phrases = &[
    "where", "for which", "whose", "with", "that have", "in which", "for", "having",
];
pub(super) const EQUALS: Phrases = &[
    "is", "equals", "=", "==", "is equal to", "are", "equal to", "being", "has the value", "of",
];
pub(super) const PER: Phrases = &[
    "per", "by", "for each", "of each", "in each", "for every", "in every", "grouped by", "broken down by",
    "group by", "split by", "each", "with each", "for each value of", "according to", "per value of", "by the",
    "for each different", "for each distinct", "by each", "of every", "within each", "counted by",
    "counted per", "for all values of", "depending on", "by value of", "by column",
];
pub(super) const GROUP: Phrases = &["group", "break down", "bucket"];
pub(super) const EXTENSION: Phrases = &[
    "type", "file type", "extension", "file extension", "kind", "kind of file", "type of file", "file kind",
    "types", "extensions", "filetype", "suffix", "format", "file format",
];

// Parts of a file.
pub(super) const FIRST: Phrases = &["first", "top", "the first", "the top", "initial", "opening"];
pub(super) const FINAL: Phrases = &[
    "last", "final", "the last", "bottom", "closing", "the final", "the bottom",
];
pub(super) const HEAD: Phrases = &["head", "beginning", "start"];
pub(super) const TAIL: Phrases = &["tail", "end"];

/// Stands for something else, so it is no text and no folder by itself: `files that contain nothing`.
const VAGUE: Phrases = &[
    "so", "parent", "root", "home", "current", "whole", "entire", "above", "former", "latter", "rest",
    "remaining", "following", "respective", "thing", "things", "stuff", "how", "much", "whose", "least",
    "recently", "case", "longest", "there's", "let", "us", "next", "previous", "it", "this", "that", "there",
    "something", "anything", "everything", "nothing", "none", "no", "not", "only", "without", "except",
    "somewhere", "everywhere", "elsewhere", "some", "many", "few", "several", "more", "most", "other",
    "another", "such", "same", "both", "either", "neither", "his", "her", "their", "its", "what", "whom",
    "someone", "somebody", "somehow", "when", "while", "unless", "until", "because", "about", "really", "maybe",
    "perhaps", "probably", "than", "too", "very", "actual", "actually", "once", "twice", "never", "always",
    "again", "still", "yet", "but", "nor", "spaces", "space", "digits", "digit", "whitespace", "letters",
    "letter", "numbers", "uppercase", "lowercase", "vowels", "capitals", "punctuation", "symbols", "characters",
    "blanks",
];

pub(super) const PHRASES: &[Phrases] = &[
    COURTESY, THANKS, GREETING, ANY, EACH, RENAME, TOP_LEVEL_HERE, HAS_EXTENSION, SIZED, AND, THEN, OR, FILLER,
    COUNT, LIST, WHICH, WHAT, HAVE, EXISTS, SIZE, TAKES, SEARCH, DELETE, COPY, MOVE, SAVE, HASH, SHA512,
    LARGEST, SMALLEST, NEWEST, OLDEST, TOP, BY_SIZE, BY_AGE, ALL, FILES, FILE, EVERYTHING, FOLDERS, FOLDER,
    NAMES, LINES, LONG, WORDS, TIMES, ROWS, COLUMNS, NO_HEADER, COLUMN, TYPES, OF_EACH, CONTAINING, WITH,
    LACKING, LACKING_WITH, TEXT, OCCURS, INSIDE, ANY_CASE, NAMED, NAME_HAS, IN_NAME, NAME_STARTS, NAME_ENDS,
    MATCHING, EMPTY, NOT_EMPTY, NOT, EXCEPT, OUTSIDE, CHANGED, OLDER, NEWER, OLD, LAST, BEFORE, AFTER, SINCE,
    ON, BETWEEN, LARGER, AT_LEAST, SMALLER, AT_MOST, HERE, IN, DIRECTLY, TOP_LEVEL, DEEP, WORKSPACE, TO, THEM,
    THEIR, ONES, SUM, MEAN, MIN, MAX, WHERE, EQUALS, PER, GROUP, EXTENSION, FIRST, FINAL, HEAD, TAIL,
    MOST_LINES, MOST_WORDS, MOST_MATCHES,
];

const NUMBERS: [&str; 21] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
];

pub(super) fn number(word: &str) -> Option<u32> {
    if !word.is_empty() && word.bytes().all(|digit| digit.is_ascii_digit()) {
        return Some(word.parse().unwrap_or(u32::MAX)); // too long for the type is too large for us
    }
    (0..).zip(NUMBERS).find_map(|(number, name)| (name == word).then_some(number))
}

/// Whether the word names what the request is about, a text or a column, without being quoted: it says nothing by
/// itself in this grammar.
pub(super) fn names(word: &str) -> bool {
    let alone = PHRASES.iter().any(|phrases| phrases.contains(&word));
    !alone && !VAGUE.contains(&word) && kind(word).is_none() && noun(word).is_none() && number(word).is_none()
}

/// Whether it only holds sentences together, so that it is no text even where one is announced.
pub(super) fn is_glue(word: &str) -> bool {
    [FILLER, IN, AND, THEN, OR, NOT].iter().any(|phrases| phrases.contains(&word))
}

/// Whether it speaks of files or their parts, so that `text files` are no text.
pub(super) fn is_of_files(word: &str) -> bool {
    [FILES, FILE, LINES, ROWS, FOLDERS, FOLDER, COLUMNS].iter().any(|phrases| phrases.contains(&word))
}

/// Whether the word can be a folder: kinds of files are often called like the folders they are in.
pub(super) fn places(word: &str) -> bool {
    let content = kind(word).is_some()
        || noun(word).is_some()
        || matches!(
            word,
            "source" | "code" | "documents" | "text" | "backup" | "log" | "files" | "records" | "notes"
        );
    (names(word) || content) && number(word).is_none()
}

/// Whether the grammar has a use for this word somewhere.
pub(super) fn known(word: &str) -> bool {
    let in_phrases =
        || PHRASES.iter().copied().flatten().flat_map(|p| p.split(' ')).any(|known| known == word);
    kind(word).is_some() || noun(word).is_some() || number(word).is_some() || in_phrases()
}
