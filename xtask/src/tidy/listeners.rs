//! Rule 1 of the constitution: whoever listens is on this very machine. One crate may listen, so one place has to ask which
//! address; clippy's list stops the calls one by one, and this stops the types in a crate that has no business with them.

use super::files::Texts;

/// What somebody needs to listen or to accept.
const LISTENS: &[&str] = &[
    "TcpListener",
    "TcpSocket",
    "UdpSocket",
    "UnixListener",
    "UnixDatagram",
    "UnixSeqpacket",
    "socket2",
    "sys::socket",
];

/// `server` is for that, and asks the constitution about every address; `services` and `double` start servers for tests and
/// are never shipped.
const MAY: &[&str] = &["server", "services", "double"];

/// What asks the constitution, which a crate that listens and ships has to name.
const ASKS: &str = "is_loopback";
const SHIPPED: &str = "server";

/// Whoever listens without leave. Only what is shipped counts, and no tests.
pub(crate) fn found(texts: &Texts) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut listens, mut asks) = (false, false);
    for (path, text) in texts {
        let Some(name) = shipped(path) else { continue };
        if name == SHIPPED {
            asks |= text.contains(ASKS);
        }
        // Clippy lets nothing follow a module of tests.
        let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (number, line) in (1..).zip(code.lines()) {
            let code = line.split("//").next().unwrap_or_default();
            let Some(word) = LISTENS.iter().find(|word| code.contains(**word)) else { continue };
            if MAY.contains(&name) {
                listens |= name == SHIPPED;
            } else {
                problems.push(format!(
                    "{path}:{number} names `{word}`, and only `{SHIPPED}` may listen (rule 1): take what it hands on"
                ));
            }
        }
    }
    if listens && !asks {
        problems.push(format!("`{SHIPPED}` listens and never asks `{ASKS}`: rule 1 is about its addresses"));
    }
    problems
}

/// The crate whose program a file is part of.
fn shipped(path: &str) -> Option<&str> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    let tests = rest.ends_with("/tests.rs") || rest.contains("/tests/");
    (rest.starts_with("src/") && rest.ends_with(".rs") && !tests).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{Texts, found};

    fn problems(files: &[(&str, &str)]) -> usize {
        found(&files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect::<Texts>())
            .len()
    }

    #[test]
    fn only_the_server_listens_and_it_asks_where() {
        let bind = "let listener = TcpListener::bind(address)?;";
        let table: [(&[(&str, &str)], usize); 12] = [
            (&[("crates/kernel/src/bus.rs", bind)], 1),
            (&[("crates/host/src/x.rs", "use tokio::net::{UdpSocket};")], 1),
            (&[("crates/tools/src/x.rs", "nix::sys::socket::listen(fd)")], 1),
            (&[("crates/kernel/src/bus.rs", "// a TcpListener would be wrong here")], 0),
            (&[("crates/kernel/tests/integration/bus.rs", bind), ("xtask/src/crash/watch.rs", bind)], 0),
            (&[("crates/tools/src/write/tests.rs", bind), ("crates/tools/src/tests/x.rs", bind)], 0),
            (&[("crates/tools/src/x.rs", "\n#[cfg(test)]\nmod tests {\n    TcpListener")], 0),
            (&[("crates/tools/src/x.rs", "\n#[cfg(test)]\nmod tests;\nuse std::net::TcpListener;")], 1),
            (&[("crates/services/src/postgres.rs", bind), ("crates/double/src/server.rs", bind)], 0),
            (&[("crates/server/src/listen.rs", bind)], 1),
            (
                &[
                    ("crates/server/src/listen.rs", bind),
                    ("crates/server/src/lib.rs", "if !is_loopback(ip) {"),
                ],
                0,
            ),
            (&[("crates/serverless/src/lib.rs", bind)], 1),
        ];
        for (files, expected) in table {
            assert_eq!(problems(files), expected, "{files:?}");
        }
    }
}
