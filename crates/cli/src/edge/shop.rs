//! What the choice of a model needs of this machine: keys, the owner's prices, and who answers on loopback.

#![expect(clippy::disallowed_methods, reason = "the house's own files")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, TcpStream, ToSocketAddrs as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use models::listener::{self, Listener, Tables};
use models::{Environment, Key, Prices, Probe, Probing, Provider, Wishes};
use nix::unistd::{Uid, User};
use runtime::{Code, House, Problem};
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use zeroize::Zeroizing;

use super::host::unusable;
use super::trusted::{self, Links};
use super::{Surroundings, blocking, files};

/// Everything that there is to choose from. Where there is a key among it, this process leaves no core dump from now on.
///
/// # Errors
/// If the price list is there and cannot be used.
pub(crate) fn environment(
    house: &House,
    surroundings: &Surroundings,
    wishes: &Wishes,
) -> Result<Environment, Problem> {
    let (files, unread) = match keys(&house.model_keys()) {
        Ok(files) => (files, None),
        Err(why) => (BTreeMap::new(), Some(why)),
    };
    let (variables, prices) = (surroundings.environment.clone(), prices(house)?);
    let environment = Environment { variables, files, unread, prices, confirmed: confirmed(house) };
    let has_key = |name: &str| {
        Provider::of(wishes, &environment, name).is_ok_and(|provider| matches!(provider.key, Ok(Some(_))))
    };
    if environment.files.values().any(Result::is_ok) || wishes.names().any(has_key) {
        leave_no_dump();
    }
    Ok(environment)
}

/// Keys may lie in the environment from the start: whoever has one there leaves no core dump at all.
pub(crate) fn guard(surroundings: &Surroundings) {
    let mut variables = models::catalog::KNOWN.iter().flat_map(|known| known.variables);
    if variables.any(|name| surroundings.variable(name).is_some()) {
        leave_no_dump();
    }
}

/// No core dump, and nobody else of this user looks into the memory; says whether the system let us. If not, that is no
/// reason to stop: it is a second line of defence.
fn leave_no_dump() -> bool {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let limited = rustix::process::setrlimit(Resource::Core, none).is_ok();
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok() && limited
}

fn prices(house: &House) -> Result<Prices, Problem> {
    let path = house.prices();
    let wrong = |mistakes: Vec<String>| {
        let each: Vec<String> =
            mistakes.into_iter().map(|why| format!("{}: {why}", path.display())).collect();
        Problem::new(Code::BAD_PRICES, each.join("\n            "))
            .safe("nobody was asked")
            .remedy("regent explain R2036")
    };
    match trusted::text(&path) {
        Ok(None) => Ok(Prices::default()),
        Ok(Some(text)) => Prices::default().with(&text).map_err(wrong),
        Err(error) => Err(wrong(vec![trusted::explain(&error)])),
    }
}

/// What lies in the folder of keys, each under its name. What others could read or put there is no key any more. A folder
/// that is not there holds none; one that cannot be read may hold some.
fn keys(folder: &Path) -> Result<BTreeMap<String, Result<Key, String>>, String> {
    let unread =
        |error: io::Error| format!("the folder of keys, {}, cannot be read: {error}", folder.display());
    let names = files::names(folder).map_err(unread)?.into_iter();
    let names = names.filter(|name| !name.starts_with('.') && !folder.join(name).is_dir());
    let open_to_others = trusted::folder(folder).err().map(|error| trusted::explain(&error));
    let read = |name: String| {
        let path = folder.join(&name);
        let key = match &open_to_others {
            Some(why) => Err(why.clone()),
            None => key(&path).map_err(|error| trusted::explain(&error)).and_then(|text| Key::read(&text)),
        };
        (name, key.map_err(|why| format!("{}: {why}", path.display())))
    };
    Ok(names.map(read).collect())
}

fn key(path: &Path) -> io::Result<Zeroizing<String>> {
    const LARGEST: u64 = 16 * 1024;
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let file = trusted::open(path, Links::Refused)?.ok_or_else(missing)?;
    if file.metadata()?.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!(
            "others can read it; chmod 600 {}, and better have a new key made",
            trusted::quote(path)
        )));
    }
    let mut text = Zeroizing::new(String::new());
    file.take(LARGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// Of which machines the owner was told that they may be spoken to.
pub(crate) fn told(house: &House) -> Vec<String> {
    let text = trusted::text(&house.told()).ok().flatten().unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Keeps that the owner was told of a machine. If that cannot be kept, they are told again.
///
/// # Errors
/// If it cannot be kept.
pub(crate) fn keep_told(house: &House, host: &str) -> io::Result<()> {
    files::make_folder(&house.data)?;
    files::append(&house.told(), host)
}

/// Which provider's key may go to which other host. What cannot be read confirms nothing.
fn confirmed(house: &House) -> Vec<(String, String)> {
    let text = trusted::text(&house.confirmed()).ok().flatten().unwrap_or_default();
    let pair = |line: &str| line.split_once(' ').map(|(name, host)| (name.to_owned(), host.to_owned()));
    text.lines().filter_map(pair).collect()
}

/// Keeps that a provider's key may go to a host.
///
/// # Errors
/// If it cannot be kept.
pub(crate) fn keep_confirmed(house: &House, provider: &str, host: &str) -> Result<(), Problem> {
    let path = house.confirmed();
    let kept = trusted::folder(&house.data)
        .and_then(|_| files::make_folder(&house.data))
        .and_then(|()| files::append(&path, &format!("{provider} {host}")));
    kept.map_err(|error| unusable("write", &path, &error))
}

/// Who listens at an address of this machine, as the kernel's tables say. Where they cannot be read, no server is trusted.
pub(crate) fn listener(url: &str) -> Listener {
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
            |address: &IpAddr| TcpStream::connect_timeout(&(*address, port).into(), PATIENCE).is_ok();
        return match addresses.iter().any(answers) {
            true => unknown("no socket of this machine listens there"),
            false => Listener::Absent,
        };
    }
    let name_of = |uid| User::from_uid(Uid::from_raw(uid)).ok().flatten().map(|user| user.name);
    match listener::judge(&owners, Uid::effective().as_raw(), name_of) {
        Ok(()) => Listener::Trusted,
        Err(uid) => {
            Listener::Refused(format!("port {port} belongs to user {}, not to you", trusted::user(uid)))
        }
    }
}

/// Asks servers on this machine, and nobody else.
#[derive(Debug)]
pub(crate) struct Loopback;

/// Long enough for a server on this machine, and short enough for whoever waits.
const PATIENCE: Duration = Duration::from_millis(250);

impl Probe for Loopback {
    fn get<'a>(&'a self, url: &'a str) -> Probing<'a> {
        let url = url.to_owned();
        Box::pin(async move {
            let page = blocking(move || get(&url)).await.ok()?;
            serde_json::from_slice(&page).ok()
        })
    }

    fn listener(&self, url: &str) -> Listener {
        listener(url)
    }
}

/// The body of a page that says 200. As plain as HTTP can be, so that no answer comes in pieces.
fn get(url: &str) -> io::Result<Vec<u8>> {
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
    let stream = &TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = format!(
        "GET /{path} HTTP/1.0\r\nHost: {host}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
    );
    (&mut &*stream).write_all(request.as_bytes())?;
    let answer = read_soon(stream.take(LARGEST), |left| stream.set_read_timeout(Some(left)))?;
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n").ok_or_else(wrong)?;
    let (head, body) = answer.split_at(end + 4);
    let mut words = head.split(|&byte| byte == b' ');
    match (words.next(), words.next()) {
        (Some(version), Some(b"200")) if version.starts_with(b"HTTP/1.") => Ok(body.to_vec()),
        _ => Err(wrong()),
    }
}

/// All of it, if it is there in time: the limit is for the whole page, not for each part of it.
fn read_soon(mut page: impl io::Read, patience: impl Fn(Duration) -> io::Result<()>) -> io::Result<Vec<u8>> {
    let (begun, mut answer, mut part) = (Instant::now(), Vec::new(), vec![0; 64 * 1024]);
    loop {
        let left = PATIENCE.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        patience(left)?;
        match page.read(&mut part)? {
            0 => return Ok(answer),
            length => answer.extend_from_slice(part.get(..length).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{get, keep_told, keys, told};
    use runtime::House;
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    fn write(path: &Path, text: &str, mode: u32) {
        std::fs::write(path, text).expect("write");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("mode");
    }

    #[test]
    fn a_key_is_for_its_owner_alone_and_what_is_wrong_is_said_without_it() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path();
        write(&path.join("good"), "canary-good\n", 0o600);
        write(&path.join("read-only"), "canary-read", 0o400);
        write(&path.join("open"), "canary-open", 0o644);
        write(&path.join("empty"), "\n", 0o600);
        write(&path.join("two"), "canary one\ncanary two", 0o600);
        write(&path.join(".DS_Store"), "x", 0o644);
        std::os::unix::fs::symlink(path.join("good"), path.join("link")).expect("link");
        std::fs::create_dir(path.join("folder")).expect("folder");
        let found = keys(path).expect("a folder");
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["empty", "good", "link", "open", "read-only", "two"]);
        assert_eq!(found["good"].as_ref().expect("a key").expose(), "canary-good");
        assert!(found["read-only"].is_ok());
        let why =
            |name: &str| found[name].as_ref().expect_err("no key").replace(&path.display().to_string(), "…");
        assert_eq!(
            why("open"),
            "…/open: others can read it; chmod 600 …/open, and better have a new key made"
        );
        assert_eq!(why("link"), "…/link: it is a link; put the file itself there");
        assert_eq!(why("empty"), "…/empty: it is empty");
        assert!(!format!("{found:?}").contains("canary"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).expect("mode");
        assert!(keys(path).expect("a folder").values().all(Result::is_err), "others could put one there");
        assert!(keys(&path.join("nowhere")).expect("nothing").is_empty());
        let no_folder = keys(&path.join("good")).expect_err("it is a file");
        assert!(no_folder.contains("/good, cannot be read: "), "{no_folder}");
    }

    #[test]
    fn of_whom_the_owner_was_told_is_kept() {
        let folder = tempfile::tempdir().expect("folder");
        let house = House::under(folder.path());
        assert_eq!(told(&house), [""; 0]);
        keep_told(&house, "api.anthropic.com").expect("kept");
        keep_told(&house, "other.example").expect("kept");
        assert_eq!(told(&house), ["api.anthropic.com", "other.example"]);
    }

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
        assert_eq!(get(&url).expect("a page"), b"{\"a\":1}");
        assert!(get(&url).is_err());
        assert!(get(&url).is_err());
        served.join().expect("served");
        let begun = std::time::Instant::now();
        assert!(get(&url).is_err());
        assert!(begun.elapsed() < std::time::Duration::from_millis(100), "{:?}", begun.elapsed());
        for elsewhere in ["https://127.0.0.1/", "http://192.0.2.1/", "nonsense", "http://"] {
            assert!(get(elsewhere).is_err(), "{elsewhere}");
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
        assert!(get(&url).is_err());
        assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
        served.join().expect("served");
    }

    #[test]
    fn whoever_accepts_and_says_nothing_is_not_waited_for_long() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/health", listener.local_addr().expect("address"));
        let begun = std::time::Instant::now();
        assert!(get(&url).is_err());
        assert!(begun.elapsed() < std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
    }
}
