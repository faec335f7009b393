#[path = "../../build/error_page.rs"]
mod error_page;

use error_page::{ErrorPage, generate};

use super::{CODES, Code, PAGES, page};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md");

#[test]
fn the_first_digit_is_the_exit_code() {
    assert_eq!((Code::NEEDS_MODEL.exit(), Code::NEEDS_MODEL.to_string().as_str()), (4, "R4010"));
    assert!(CODES.iter().all(|code| (1..=5).contains(&code.exit())));
}

#[test]
fn codes_are_in_the_order_of_their_numbers_and_each_has_its_page() {
    assert!(CODES.is_sorted() && CODES.len() == PAGES.len());
    for &code in CODES {
        let page = page(code).expect("every code has a page");
        assert!(page.starts_with(&format!("{code} · ")) && page.contains("\n\nWhat to do: "), "{page}");
        assert!(!page.contains("](R") && !page.contains("](../"), "links lead from docs/errors.md: {page}");
    }
}

/// `UPDATE=1 cargo test -p domain errors_md` writes the file.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test compares a document of the repository, or writes it")]
fn errors_md_is_made_of_the_pages() {
    let mut expected = "# Error codes\n\n\
        <!-- Generated from the files in docs/errors. Change those, then: UPDATE=1 cargo test -p domain errors_md -->\n\n\
        `R` and four digits; the first digit is the exit code. `regent explain <code>` prints the section below.\n"
        .to_owned();
    expected.extend(PAGES.iter().map(|page| format!("\n## {page}\n")));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(DOCUMENT, &expected).expect("write docs/errors.md");
    }
    let found = std::fs::read_to_string(DOCUMENT).expect("read docs/errors.md").replace("\r\n", "\n");
    let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    assert!(
        found == expected,
        "docs/errors.md is not what docs/errors says, first at {differs:?}: UPDATE=1 cargo test -p domain errors_md"
    );
}

const GOOD: &str = "---\nname: DISK_FULL\ntitle: the disk is full\ncause: >-\n  The database\n  could not grow.\n\
                    remedies:\n  - \"`regent paths`: \\\"free\\\" some space.\"\n  - >-\n    See [R1002](R1002.md), [limits](../limits.md).\n\
                    ---\n\nMore: about it.\n";

#[test]
fn files_become_constants_a_list_and_pages_with_links_from_errors_md() {
    let other = "---\nname: STOPPED\ntitle: the task was stopped\ncause: It failed.\nremedies:\n  - Ask again.\n---\n";
    let pages = [("R1002.md", other), ("R4002.md", GOOD)]
        .map(|(file, text)| ErrorPage::parse(file, text).expect("a good page"));
    let expected = r#"impl Code {
    #[doc = "the task was stopped"]
    pub const STOPPED: Self = Self(1002);
    #[doc = "the disk is full"]
    pub const DISK_FULL: Self = Self(4002);
}

/// Every code there is, by number.
pub const CODES: &[Code] = &[
    Code::STOPPED,
    Code::DISK_FULL,
];

/// What `regent explain` prints for each code, in the order of [`CODES`].
const PAGES: &[&str] = &[
    "R1002 · the task was stopped\n\nIt failed.\n\nWhat to do: Ask again.",
    "R4002 · the disk is full\n\nThe database could not grow.\n\nMore: about it.\n\nWhat to do: `regent paths`: \"free\" some space. See [R1002](#r1002--the-task-was-stopped), [limits](limits.md).",
];
"#;
    assert_eq!(generate(&pages).expect("pages"), expected);
}

#[test]
fn a_bad_file_is_named_with_what_to_do() {
    let without = |line: &str| GOOD.replace(line, "");
    let with = |from: &str, to: &str| GOOD.replace(from, to);
    let table = [
        ("R402.md", GOOD.to_owned(), "must be named after its code"),
        ("R9001.md", GOOD.to_owned(), "must be named after its code"),
        ("README.md", GOOD.to_owned(), "must be named after its code"),
        ("R4002.md", String::new(), "the first line must be `---`"),
        ("R4002.md", without("---\n\nMore: about it.\n"), "the front matter does not end"),
        ("R4002.md", without("name: DISK_FULL\n"), "`name` is missing: add `name: AUDIT_BROKEN`"),
        ("R4002.md", with("DISK_FULL", "DiskFull"), "the name `DiskFull` cannot be a constant"),
        ("R4002.md", without("title: the disk is full\n"), "`title` is missing"),
        ("R4002.md", with("the disk is full", ""), "`title` is empty"),
        ("R4002.md", with("the disk is full", "disk: full"), "put the text into double quotes"),
        ("R4002.md", with("the disk is full", "`disk` full"), "put the text into double quotes"),
        ("R4002.md", with("title:", "heading:"), "`heading` is not a key"),
        ("R4002.md", with("title:", "name: A\ntitle:"), "`name` is there twice"),
        ("R4002.md", with("  The database\n  could not grow.\n", ""), "`cause` is empty"),
        ("R4002.md", with("  could not grow", "    could not grow"), "`cause` is one paragraph"),
        ("R4002.md", with("  could not grow", "could not grow"), "is not of the form `key: text`"),
        ("R4002.md", with("remedies:", "remedies: many"), "write `remedies:` once"),
        ("R4002.md", with("\\\"free", "\"free"), "close the text with one `\"`"),
        (
            "R4002.md",
            "---\nname: A\ntitle: b\ncause: c\nremedies:\n---\n".to_owned(),
            "there is no remedy: add `remedies:`",
        ),
    ];
    for (file, text, what) in table {
        let error = ErrorPage::parse(file, &text).expect_err(what);
        assert!(error.starts_with(&format!("docs/errors/{file}: ")) && error.contains(what), "{error}");
    }
    let twice = ["R4002.md", "R4003.md"].map(|file| ErrorPage::parse(file, GOOD).expect("a good page"));
    let error = generate(&twice).expect_err("one name twice");
    assert_eq!(error, "docs/errors/R4003.md: R4002 has the name `DISK_FULL` already: choose another");
}
