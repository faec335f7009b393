//! What is asked for, about which files, and what the answer is.

use std::path::Path;

use domain::task::Status;

const FILES: [(&str, &str); 4] = [
    ("src/main.rs", "fn main() {}\n"),
    ("src/large.rs", "fn large() -> u64 {\n    1_000_000\n}\n"),
    ("docs/notes.md", "# Notes\n"),
    ("README.md", "# A workspace\n"),
];

/// Each with how it ends; nothing is handed back where a model would be needed.
const REQUESTS: [(&str, Status, &str); 3] = [
    (
        "how many Rust files are here, and which is the largest?",
        Status::Done,
        "2 Rust files; the largest is src/large.rs (36 bytes).\nSubfolders included; hidden files, ignored files and links left out.",
    ),
    (
        "how many Markdown files are here?",
        Status::Done,
        "2 Markdown files.\nSubfolders included; hidden files, ignored files and links left out.",
    ),
    ("write a poem about the rain", Status::Stopped, ""),
];

pub(super) fn put_files(folder: &Path) {
    for (path, content) in FILES {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }
}

pub(super) const fn texts() -> [&'static str; 3] {
    [REQUESTS[0].0, REQUESTS[1].0, REQUESTS[2].0]
}

pub(super) fn answer(asked: &str) -> Option<(Status, &'static str)> {
    REQUESTS.iter().find(|(text, ..)| *text == asked).map(|(_, status, answer)| (*status, *answer))
}
