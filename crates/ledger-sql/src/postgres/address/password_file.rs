//! The file with passwords that libpq reads, `~/.pgpass`: `host:port:database:user:password` per line.

use super::{ServerAddress, ServerHost};

/// The password of the first line that is about this address.
pub(super) fn find_password(file: &str, address: &ServerAddress) -> Option<String> {
    let mut lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.find_map(|line| password_in(line, address))
}

fn password_in(line: &str, address: &ServerAddress) -> Option<String> {
    let mut rest = line;
    let mut next = || {
        let (field, after) = take_field(rest)?;
        rest = after;
        Some(field)
    };
    let is = |field: &str, value: &str| field == "*" || field == value;
    let (host, port, database, user) = (next()?, next()?, next()?, next()?);
    // A socket is a server on this machine, under either name.
    let is_local = matches!(address.host, ServerHost::Socket(_)) && host == "localhost";
    let is_about = (is(&host, address.host.as_str()) || is_local)
        && is(&port, &address.port.to_string())
        && is(&database, &address.database)
        && is(&user, &address.user);
    is_about.then(|| unescape(rest))
}

/// The text up to the next colon that is no part of it, and what comes after that.
fn take_field(line: &str) -> Option<(String, &str)> {
    let mut is_escaped = false;
    let ends = |letter: char| {
        let ends = letter == ':' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    };
    let end = line.find(ends)?;
    let (field, rest) = line.split_at_checked(end)?;
    Some((unescape(field), rest.strip_prefix(':')?))
}

fn unescape(text: &str) -> String {
    let mut letters = text.chars();
    std::iter::from_fn(|| match letters.next()? {
        // One at the end stands for nothing.
        '\\' => letters.next(),
        letter => Some(letter),
    })
    .collect()
}
