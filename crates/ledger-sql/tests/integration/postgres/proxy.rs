//! A stretch of network between a ledger and its server, which breaks around commits.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// How many commits are met by something, before all of them pass.
const BROKEN: u32 = 90;

/// What happens to a commit on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// The server never hears of it.
    Unheard,
    /// The server does it, and its answer is lost.
    Unanswered,
    /// The line breaks while it is on its way: nobody knows.
    Unclear,
    Passes,
}

#[derive(Debug, Default)]
pub(crate) struct Count {
    commits: AtomicU32,
    pub(crate) unheard: AtomicU32,
    pub(crate) unanswered: AtomicU32,
}

impl Count {
    fn next(&self) -> Fate {
        let n = self.commits.fetch_add(1, Ordering::Relaxed);
        match n % 4 {
            _ if n >= BROKEN => Fate::Passes,
            0 => Fate::Unanswered,
            1 => Fate::Unheard,
            2 => Fate::Unclear,
            _ => Fate::Passes,
        }
    }
}

/// The same database by way of the proxy, and what it has done so far. It ends with the process.
pub(crate) fn through(url: &str) -> (String, Arc<Count>) {
    let (before, rest) = url.rsplit_once('@').expect("a login");
    let (place, name) = rest.split_once('/').expect("a database");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (count, server) = (Arc::new(Count::default()), place.to_owned());
    let counting = Arc::clone(&count);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) =
                (client.expect("a client"), TcpStream::connect(&server).expect("the server"));
            join(client, server, Arc::clone(&counting));
        }
    });
    (format!("{before}@127.0.0.1:{port}/{name}"), count)
}

fn join(client: TcpStream, server: TcpStream, count: Arc<Count>) {
    let both = |stream: &TcpStream| stream.try_clone().expect("a second handle");
    let (mut from_client, mut to_server) = (both(&client), both(&server));
    let (mut from_server, mut to_client) = (server, client);
    let swallows = Arc::new(AtomicBool::new(false));
    let (swallowing, counting) = (Arc::clone(&swallows), Arc::clone(&count));
    std::thread::spawn(move || {
        let mut bytes = [0; 64 * 1024];
        while let Ok(length @ 1..) = from_client.read(&mut bytes) {
            let sent = bytes.get(..length).unwrap_or_default();
            let fate = match sent.windows(7).any(|word| word == b"COMMIT\0") {
                true => counting.next(),
                false => Fate::Passes,
            };
            swallowing.store(fate == Fate::Unanswered, Ordering::SeqCst);
            if fate == Fate::Unheard {
                counting.unheard.fetch_add(1, Ordering::Relaxed);
                break;
            }
            if to_server.write_all(sent).is_err() || fate == Fate::Unclear {
                break;
            }
        }
        cut(&from_client, &to_server);
    });
    std::thread::spawn(move || {
        let mut bytes = [0; 64 * 1024];
        while let Ok(length @ 1..) = from_server.read(&mut bytes) {
            if swallows.load(Ordering::SeqCst) {
                count.unanswered.fetch_add(1, Ordering::Relaxed);
                break;
            }
            if to_client.write_all(bytes.get(..length).unwrap_or_default()).is_err() {
                break;
            }
        }
        cut(&from_server, &to_client);
    });
}

fn cut(one: &TcpStream, other: &TcpStream) {
    for stream in [one, other] {
        // The other direction may have cut it already.
        drop(stream.shutdown(Shutdown::Both));
    }
}
