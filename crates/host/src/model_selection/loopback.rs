//! Model servers on this machine: whose socket listens at an address, and what it answers.

#![expect(clippy::disallowed_methods, reason = "the kernel's tables, and connections on loopback")]

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use models::listener::{self, Listener, Tables};
use models::{Probe, Probing};
use nix::unistd::{Uid, User};

use crate::{run_blocking, trusted_files};

/// Who listens at an address of this machine, as the kernel's tables say. Where they cannot be read, no server is trusted.
pub(super) fn find_listener(url: &str) -> Listener {
    let unknown = |why: &str| Listener::Refused(format!("whose server that is cannot be determined ({why})"));
    let Some((addresses, port)) = listener::addresses(url) else { return unknown("it is no address here") };
    let Ok(tcp) = std::fs::read_to_string("/proc/net/tcp") else { return unknown("no /proc/net/tcp") };
    let tcp6 = match std::fs::read_to_string("/proc/net/tcp6") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(), // a machine without IPv6
        Err(_) => return unknown("no /proc/net/tcp6"),
        Ok(tcp6) => tcp6,
    };
    let mut owners = BTreeSet::new();
    for address in &addresses {
        match listener::owners(Tables { tcp: &tcp, tcp6: &tcp6 }, *address, port) {
            Some(found) => owners.extend(found),
            None => return unknown("/proc/net/tcp cannot be understood"),
        }
    }
    if owners.is_empty() {
        let answers =
            |address: &IpAddr| TcpStream::connect_timeout(&(*address, port).into(), TIMEOUT).is_ok();
        return match addresses.iter().any(answers) {
            true => unknown("no socket of this machine listens there"),
            false => Listener::Absent,
        };
    }
    let name_of = |uid| User::from_uid(Uid::from_raw(uid)).ok().flatten().map(|user| user.name);
    match listener::judge(&owners, Uid::effective().as_raw(), name_of) {
        Ok(()) => Listener::Trusted,
        Err(uid) => Listener::Refused(format!(
            "port {port} belongs to user {}, not to you",
            trusted_files::describe_user(uid)
        )),
    }
}

/// Asks model servers on this machine, and no others.
#[derive(Debug)]
pub(super) struct LoopbackProbe;

/// Long enough for a server on this machine, and short enough for the person who waits.
const TIMEOUT: Duration = Duration::from_millis(250);

impl Probe for LoopbackProbe {
    fn get<'a>(&'a self, url: &'a str) -> Probing<'a> {
        let url = url.to_owned();
        Box::pin(async move {
            let page = run_blocking(move || fetch_page(&url)).await.ok()?;
            serde_json::from_slice(&page).ok()
        })
    }

    fn listener(&self, url: &str) -> Listener {
        find_listener(url)
    }
}

/// The body of a page that says 200. As plain as HTTP can be, so that no answer comes in pieces.
fn fetch_page(url: &str) -> io::Result<Vec<u8>> {
    const LARGEST: u64 = 4 * 1024 * 1024;
    let wrong = || io::Error::other("it is no page");
    let (host, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).ok_or_else(wrong)?;
    let with_port = if host.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok()) {
        host.to_owned()
    } else {
        format!("{host}:80")
    };
    let address =
        with_port.to_socket_addrs()?.find(|address| address.ip().is_loopback()).ok_or_else(wrong)?;
    let stream = &TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let request = format!(
        "GET /{path} HTTP/1.0\r\nHost: {host}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
    );
    (&mut &*stream).write_all(request.as_bytes())?;
    let answer = read_in_time(stream.take(LARGEST), |left| stream.set_read_timeout(Some(left)))?;
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n").ok_or_else(wrong)?;
    let (head, body) = answer.split_at(end + 4);
    let mut words = head.split(|&byte| byte == b' ');
    match (words.next(), words.next()) {
        (Some(version), Some(b"200")) if version.starts_with(b"HTTP/1.") => Ok(body.to_vec()),
        _ => Err(wrong()),
    }
}

/// All of it, if it is there in time: the limit is for the whole page, not for each part of it.
fn read_in_time(
    mut page: impl io::Read,
    set_timeout: impl Fn(Duration) -> io::Result<()>,
) -> io::Result<Vec<u8>> {
    let (begun, mut answer, mut part) = (Instant::now(), Vec::new(), vec![0; 64 * 1024]);
    loop {
        let left = TIMEOUT.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        set_timeout(left)?;
        match page.read(&mut part)? {
            0 => return Ok(answer),
            length => answer.extend_from_slice(part.get(..length).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fetch_page;
    use std::io::{Read as _, Write as _};

    #[test]
    fn a_page_is_read_and_whoever_is_not_there_costs_no_time() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("address").port();
        let served = std::thread::spawn(move || {
            for answer in ["HTTP/1.1 200 OK\r\nX: y\r\n\r\n{\"a\":1}", "HTTP/1.1 404 No\r\n\r\n{}", "milk"] {
                let (mut stream, _) = listener.accept().expect("somebody");
                let mut request = [0; 1024];
                let length = stream.read(&mut request).expect("a request");
                assert!(request[..length].starts_with(b"GET /api/version HTTP/1.0\r\n"));
                stream.write_all(answer.as_bytes()).expect("answer");
            }
        });
        let url = format!("http://127.0.0.1:{port}/api/version");
        assert_eq!(fetch_page(&url).expect("a page"), b"{\"a\":1}");
        assert!(fetch_page(&url).is_err());
        assert!(fetch_page(&url).is_err());
        served.join().expect("served");
        let begun = std::time::Instant::now();
        assert!(fetch_page(&url).is_err());
        assert!(begun.elapsed() < std::time::Duration::from_millis(100), "{:?}", begun.elapsed());
        for elsewhere in ["https://127.0.0.1/", "http://192.0.2.1/", "nonsense", "http://"] {
            assert!(fetch_page(elsewhere).is_err(), "{elsewhere}");
        }
    }

    #[test]
    fn a_page_that_drips_is_not_waited_for_long() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/health", listener.local_addr().expect("address"));
        let served = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            // Until the reader is gone.
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        let begun = std::time::Instant::now();
        assert!(fetch_page(&url).is_err());
        assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
        served.join().expect("served");
    }

    #[test]
    fn whoever_accepts_and_says_nothing_is_not_waited_for_long() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/health", listener.local_addr().expect("address"));
        let begun = std::time::Instant::now();
        assert!(fetch_page(&url).is_err());
        assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
    }
}
