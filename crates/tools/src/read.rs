//! `read_file`: the text of one file, or some of its lines.

use std::fs::File;
use std::io::{self, Read};

use domain::call::Failure;
use domain::{Stop, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::found::Match;
use crate::lines::{Shown, Which};
use crate::needle::{Manner, Needle};
use crate::search::{self, CHUNK, Lines, Study};
use crate::stopping::Heeding;
use crate::text;
use crate::workspace::{self, Workspace};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Relative to the workspace.
    pub(crate) path: String,
    /// Only the lines that contain this, exactly as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) containing: Option<String>,
    /// Only so many lines from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first: Option<u32>,
    /// Only so many lines from the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last: Option<u32>,
    /// Only the lines from this one on; the first is 1. Together with `to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<u64>,
    /// The last of these lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<u64>,
}

impl Args {
    fn which(&self) -> Result<Option<Which>, Failure> {
        let ways = [
            self.containing.is_some(),
            self.first.is_some(),
            self.last.is_some(),
            self.from.or(self.to).is_some(),
        ];
        if ways.into_iter().filter(|way| *way).count() > 1 {
            let problem = "`containing`, `first`, `last` and `from` with `to` are different ways; choose one";
            return Err(Failure::logical(problem));
        }
        let which = match (self.first, self.last, self.from, self.to) {
            (Some(many), ..) => Which::First(many.into()),
            (_, Some(many), ..) => Which::Last(many.into()),
            (_, _, Some(from), Some(to)) => Which::Between(from, to),
            (_, _, None, None) => return Ok(None),
            _ => return Err(Failure::logical("`from` and `to` go together")),
        };
        which.check().map(|()| Some(which))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Content {
    /// Of the file that was read, links followed; relative to the workspace.
    pub(crate) path: String,
    /// Of the whole file, as the lines are.
    pub(crate) bytes: u64,
    /// A last line without a line end counts too. Null if the file was not read to its end.
    pub(crate) lines: Option<u64>,
    /// The beginning of the file, at most [`limits::READ_BYTES`]; empty if lines were asked for.
    pub(crate) text: String,
    /// Whether there is more in the file than `text` shows, or in a line than `shown` does.
    pub(crate) truncated: bool,
    /// Whether what is shown is what is there. If not, the bytes that are no UTF-8 were replaced.
    pub(crate) valid_utf8: bool,
    /// Only if lines that contain something were asked for.
    pub(crate) matching_lines: Option<u64>,
    /// At most [`limits::MATCHING_LINES`].
    pub(crate) matches: Vec<Match>,
    /// The lines that were asked for by their place.
    pub(crate) shown: Vec<Shown>,
}

/// # Errors
/// If an argument makes no sense, or the file does not exist or cannot be read.
pub(crate) fn run(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Content, Failure> {
    let which = args.which()?;
    let containing = args.containing.as_deref();
    let containing = containing.map(|text| Needle::new(text, "containing", Manner::default())).transpose()?;
    let opened = workspace.file(&args.path)?;
    let bytes = opened.seen.bytes;
    let content = match (which, containing) {
        (Some(which), _) => places(opened.file, bytes, which, stop),
        (None, Some(needle)) => matching_lines(Heeding { reader: opened.file, stop }, needle),
        (None, None) => beginning(Heeding { reader: opened.file, stop }, limits::READ_BYTES),
    };
    let content = content.map_err(|error| workspace::unreadable(&args.path, &error))?;
    Ok(Content { path: opened.path.to_string_lossy().into_owned(), ..content })
}

/// The path is filled in by the caller.
fn places(file: File, bytes: u64, which: Which, stop: &Stop) -> io::Result<Content> {
    let taken = which.of(file, stop)?;
    Ok(Content {
        path: String::new(),
        bytes,
        lines: taken.lines,
        text: String::new(),
        truncated: taken.cut,
        valid_utf8: taken.valid_utf8,
        matching_lines: None,
        matches: Vec::new(),
        shown: taken.shown,
    })
}

/// The path is filled in by the caller.
fn matching_lines(file: impl Read, needle: Needle<'_>) -> io::Result<Content> {
    let study = Study { lines: Some(Lines::With(needle)), show: limits::MATCHING_LINES, ..Study::default() };
    let hits = search::scan(file, &study, &mut study.buffer(CHUNK))?;
    Ok(Content {
        path: String::new(),
        bytes: hits.bytes,
        lines: Some(hits.lines),
        text: String::new(),
        // It was read to its end; that not every match is listed shows in the numbers.
        truncated: false,
        valid_utf8: !hits.replaced,
        matching_lines: Some(hits.matching),
        matches: hits.first,
        shown: Vec::new(),
    })
}

/// The path is filled in by the caller. The file is read to its end, because its lines are counted.
fn beginning(mut file: impl Read, limit: usize) -> io::Result<Content> {
    let mut head = Vec::new();
    file.by_ref().take(limit as u64).read_to_end(&mut head)?;
    let mut size = Size::default();
    size.add(&head);
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = search::fill(&mut file, &mut buffer)?;
        size.add(buffer.get(..read).unwrap_or_default());
        if read < CHUNK {
            break;
        }
    }
    let cut = size.bytes > head.len() as u64;
    let shown = if cut { text::whole_chars(&head) } else { &head };
    let valid_utf8 = std::str::from_utf8(shown).is_ok();
    let mut text = String::from_utf8_lossy(shown).into_owned();
    // What replaces a byte is longer than the byte.
    let grown = text.len() > limit;
    text.truncate(text.floor_char_boundary(limit));
    Ok(Content {
        path: String::new(),
        bytes: size.bytes,
        lines: Some(size.lines()),
        text,
        truncated: cut || grown,
        valid_utf8,
        matching_lines: None,
        matches: Vec::new(),
        shown: Vec::new(),
    })
}

#[derive(Debug, Default)]
struct Size {
    bytes: u64,
    line_ends: u64,
    last: Option<u8>,
}

impl Size {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.line_ends += search::line_ends(bytes);
        self.last = bytes.last().copied().or(self.last);
    }

    /// A last line without a line end is a line too.
    fn lines(&self) -> u64 {
        self.line_ends + u64::from(self.last.is_some_and(|byte| byte != b'\n'))
    }
}

#[cfg(test)]
mod tests {
    use super::{Args, Content, beginning, run};
    use crate::found::Match;
    use crate::testing::Tree;
    use domain::Stop;
    use domain::call::Failure;
    use serde_json::{Value, from_value, json, to_value};
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    fn read(tree: &Tree, args: Value) -> Result<Content, Failure> {
        run(tree.workspace(), &from_value(args).unwrap(), &Stop::default())
    }

    #[test]
    fn the_record_as_the_planner_sees_it() {
        let tree = Tree::new(&[("src/a.txt", "one\r\n\ttwo\r\nthree")]);
        symlink("src", tree.path("link")).unwrap();
        let whole = json!({
            "path": "src/a.txt",
            "bytes": 16,
            "lines": 3,
            "text": "one\r\n\ttwo\r\nthree",
            "truncated": false,
            "valid_utf8": true,
            "matching_lines": null,
            "matches": [],
            "shown": [],
        });
        for path in ["src/a.txt", "./src/a.txt", "link/a.txt"] {
            assert_eq!(to_value(read(&tree, json!({ "path": path })).unwrap()).unwrap(), whole);
        }
        let matching = json!({
            "path": "src/a.txt",
            "bytes": 16,
            "lines": 3,
            "text": "",
            "truncated": false,
            "valid_utf8": true,
            "matching_lines": 2,
            "matches": [{ "line": 2, "text": "\ttwo" }, { "line": 3, "text": "three" }],
            "shown": [],
        });
        let content = read(&tree, json!({ "path": "src/a.txt", "containing": "t" })).unwrap();
        assert_eq!(to_value(&content).unwrap(), matching);
        assert_eq!(from_value::<Content>(matching).unwrap(), content);
    }

    #[test]
    fn a_file_is_cut_between_two_characters_and_counted_to_its_end() {
        /// Bytes, lines, text, truncated, valid.
        type Seen<'a> = (u64, u64, &'a str, bool, bool);
        let table: [(&[u8], usize, Seen<'_>); 11] = [
            (b"", 4, (0, 0, "", false, true)),
            (b"\n", 4, (1, 1, "\n", false, true)),
            (b"a\nb", 4, (3, 2, "a\nb", false, true)),
            (b"a\nb\n", 4, (4, 2, "a\nb\n", false, true)),
            (b"a\nb\nc", 4, (5, 3, "a\nb\n", true, true)),
            ("aää".as_bytes(), 4, (5, 1, "aä", true, true)),
            ("ää".as_bytes(), 4, (4, 1, "ää", false, true)),
            ("a😀\n".as_bytes(), 4, (6, 1, "a", true, true)),
            (b"a\xffbc", 8, (4, 1, "a\u{fffd}bc", false, false)),
            (b"a\xc3", 4, (2, 1, "a\u{fffd}", false, false)), // the file itself ends there
            (b"\xff\xff\xff\xff", 4, (4, 1, "\u{fffd}", true, false)),
        ];
        for (bytes, limit, expected) in table {
            let content = beginning(bytes, limit).unwrap();
            let seen = (
                content.bytes,
                content.lines.unwrap(),
                &*content.text,
                content.truncated,
                content.valid_utf8,
            );
            assert_eq!(seen, expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_large_file_is_read_in_part() {
        let tree = Tree::new(&[("log", "0123456789abcdef needle\n".repeat(100_000))]);
        let content = read(&tree, json!({ "path": "log" })).unwrap();
        let seen = (content.bytes, content.lines, content.text.len(), content.truncated);
        assert_eq!(seen, (2_400_000, Some(100_000), 1024 * 1024, true));

        let content = read(&tree, json!({ "path": "log", "containing": "needle" })).unwrap();
        let seen = (content.matching_lines, content.matches.len(), content.text.len(), content.truncated);
        assert_eq!(seen, (Some(100_000), 1_000, 0, false));
        let last = Match { line: 1_000, text: "0123456789abcdef needle".into() };
        assert_eq!(content.matches.last(), Some(&last));
    }

    #[test]
    fn a_binary_file_is_read_too_and_said_to_be_none_of_utf8() {
        let tree = Tree::new(&[("bin", b"\0needle \xff\n\0")]);
        let content = read(&tree, json!({ "path": "bin", "containing": "needle" })).unwrap();
        let seen = (content.lines, content.matching_lines, content.valid_utf8);
        assert_eq!(seen, (Some(2), Some(1), false));
        assert_eq!(content.matches, [Match { line: 1, text: "\0needle \u{fffd}".into() }]);
    }

    #[test]
    fn lines_by_their_place() {
        let tree = Tree::new(&[("a.txt", "one\r\n two \nthree\nfour")]);
        let line = |line: Option<u64>, text: &str| json!({ "line": line, "text": text });
        let table = [
            (json!({ "first": 2 }), json!([line(Some(1), "one"), line(Some(2), " two ")]), json!(null)),
            (json!({ "last": 2 }), json!([line(None, "three"), line(None, "four")]), json!(null)),
            (
                json!({ "from": 2, "to": 3 }),
                json!([line(Some(2), " two "), line(Some(3), "three")]),
                json!(null),
            ),
            (json!({ "from": 4, "to": 9 }), json!([line(Some(4), "four")]), json!(4)),
            (json!({ "from": 5, "to": 9 }), json!([]), json!(4)),
        ];
        for (mut args, shown, lines) in table {
            args["path"] = "a.txt".into();
            let expected = json!({
                "path": "a.txt",
                "bytes": 21,
                "lines": lines,
                "text": "",
                "truncated": false,
                "valid_utf8": true,
                "matching_lines": null,
                "matches": [],
                "shown": shown,
            });
            assert_eq!(to_value(read(&tree, args.clone()).unwrap()).unwrap(), expected, "{args}");
        }
        let long = Tree::new(&[("long", "x".repeat(2_000_000))]);
        let content = read(&long, json!({ "path": "long", "last": 2 })).unwrap();
        assert_eq!((content.shown[0].text.len(), content.truncated), (512 * 1024, true));
    }

    const ONE_WAY: &str = "`containing`, `first`, `last` and `from` with `to` are different ways; choose one";

    #[test]
    fn what_is_no_file_in_the_workspace_is_refused() {
        let tree = Tree::new(&[("src/a", "")]);
        symlink("/etc/passwd", tree.path("passwd")).unwrap();
        #[expect(clippy::disallowed_methods, reason = "something that is no file")]
        let _socket = UnixListener::bind(tree.path("socket")).unwrap();
        let table = [
            (json!({ "path": "src" }), "`src` is a folder, not a file"),
            (json!({ "path": "socket" }), "`socket` is not a regular file"),
            (json!({ "path": "passwd" }), "`passwd` leads out of the workspace"),
            (json!({ "path": "../a" }), "`../a` leads out of the workspace"),
            (
                json!({ "path": "/etc/passwd" }),
                "`/etc/passwd` is absolute; write it relative to the workspace",
            ),
            (
                json!({ "path": "src/a", "containing": "" }),
                "`containing` is empty; there is nothing to look for",
            ),
            (json!({ "path": "src/a", "first": 1, "containing": "a" }), ONE_WAY),
            (json!({ "path": "src/a", "first": 1, "last": 1 }), ONE_WAY),
            (json!({ "path": "src/a", "last": 1, "to": 1 }), ONE_WAY),
            (json!({ "path": "src/a", "from": 1 }), "`from` and `to` go together"),
            (json!({ "path": "src/a", "to": 1 }), "`from` and `to` go together"),
            (json!({ "path": "src/a", "first": 0 }), "`first` is 0; ask for at least one line"),
        ];
        for (args, message) in table {
            assert_eq!(read(&tree, args), Err(Failure::logical(message)));
        }
        let missing = read(&tree, json!({ "path": "b" }));
        assert_eq!(missing, Err(Failure::environmental("`b` does not exist in the workspace")));
        assert!(from_value::<Args>(json!({ "path": "a", "lines": 3 })).is_err());
    }

    #[test]
    fn a_stop_ends_the_reading() {
        let tree = Tree::new(&[("a", "x")]);
        let stop = Stop::default();
        stop.now();
        let ways = [
            json!({ "path": "a" }),
            json!({ "path": "a", "containing": "x" }),
            json!({ "path": "a", "first": 1 }),
            json!({ "path": "a", "last": 1 }),
        ];
        for args in ways {
            let stopped = run(tree.workspace(), &from_value(args).unwrap(), &stop);
            assert_eq!(stopped, Err(Failure::interrupted("stopped")));
        }
    }
}
