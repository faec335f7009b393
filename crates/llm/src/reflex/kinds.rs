//! Kinds of files: what people call them, and what their names end in.

use super::words::Phrases;

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
    named(&["text", "txt", "plain text"], "text", &["txt"]),
    named(&["log"], "log", &["log"]),
    named(&["pdf"], "PDF", &["pdf"]),
    named(&["png"], "PNG", &["png"]),
    named(&["jpg", "jpeg"], "JPEG", &["jpg", "jpeg"]),
    named(&["gif"], "GIF", &["gif"]),
    named(&["svg"], "SVG", &["svg"]),
    named(&["tmp", "temporary", "temp"], "temporary", &["tmp"]),
    named(&["bak", "backup"], "backup", &["bak"]),
    named(&["zip"], "ZIP", &["zip"]),
    named(
        &["image", "picture", "photo", "pic"],
        "image",
        &["png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "avif", "heic", "heif", "tif", "tiff", "ico"],
    ),
];

/// Kinds whose name alone stands for the files: in the singular, in the plural.
const NOUNS: [(&str, &str); 10] = [
    ("image", "images"),
    ("picture", "pictures"),
    ("photo", "photos"),
    ("pic", "pics"),
    ("pdf", "pdfs"),
    ("png", "pngs"),
    ("jpg", "jpgs"),
    ("jpeg", "jpegs"),
    ("gif", "gifs"),
    ("svg", "svgs"),
];

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
