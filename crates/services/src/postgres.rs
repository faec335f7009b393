//! A PostgreSQL server of one's own: started in a temporary folder, stopped and removed when it is dropped.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::account::Account;
use crate::address::{Address, encode};
use crate::flavour::{Flavour, Programs};
use crate::folder::Folder;
use crate::random;

/// Settings for a server whose crash nobody looks at: nothing is forced to the disk, and it does nothing that nobody asked for.
/// Not for what measures or crashes.
pub const FAST: &[(&str, &str)] = &[
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("autovacuum", "off"),
    ("jit", "off"),
    ("checkpoint_timeout", "1h"),
    ("max_wal_size", "8GB"),
];

/// The owner of the server and of its databases, a superuser.
const OWNER: &str = "regent";
/// Below the ports that the system gives away by itself, so that ours is still free when a stopped server resumes.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// How many ports are tried.
const TRIES: usize = 20;
/// Until it accepts connections; after a crash it first repeats what its log says.
const START: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_millis(5);

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Clients are disconnected, transactions rolled back, everything is written.
    Fast,
    /// As if the power had failed: what was not on the disk is gone, and the next start recovers.
    Immediate,
}

impl Stop {
    /// What is sent, and how long each may take.
    fn steps(self) -> &'static [(Signal, Duration)] {
        const ALL: [(Signal, Duration); 3] = [
            (Signal::SIGINT, Duration::from_secs(20)),
            (Signal::SIGQUIT, Duration::from_secs(10)),
            (Signal::SIGKILL, Duration::from_secs(10)),
        ];
        const { &ALL }.get(usize::from(self == Self::Immediate)..).unwrap_or_default()
    }
}

/// A server that runs, or is stopped for now. It reads as its `Address`.
#[derive(Debug)]
pub struct Postgres {
    address: Address,
    socket: Address,
    port: u16,
    programs: Programs,
    account: Account,
    /// None while it is stopped.
    server: Option<Child>,
    folder: Folder,
}

/// The variable in which `cargo xtask test` says where the folder of its server is.
const PRISTINE: &str = "_FOLDER";

/// A data folder as `initdb` made it, to be copied: making one takes a second of processor time.
struct Pristine {
    data: PathBuf,
    password: String,
}

impl Pristine {
    fn found(flavour: Flavour) -> Result<Option<Self>, String> {
        let variable = flavour.variable().map(|variable| format!("{variable}{PRISTINE}"));
        let Some(folder) = variable.and_then(std::env::var_os).map(PathBuf::from) else { return Ok(None) };
        let password = std::fs::read_to_string(folder.join("password"))
            .map_err(|error| format!("could not read from `{}`: {error}", folder.display()))?;
        Ok(Some(Self { data: folder.join("pristine"), password }))
    }
}

/// Why a server did not start.
enum Failed {
    PortTaken,
    Otherwise(String),
}

impl Postgres {
    /// A server as it is installed: durable (`fsync` is on), on a free port of the loopback, open to its owner `regent` alone,
    /// who has a password.
    pub fn start(flavour: Flavour) -> Result<Self, String> {
        Self::start_with(flavour, &[])
    }

    /// With more settings, as they are named in `postgresql.conf`: `("max_connections", "5")`.
    pub fn start_with(flavour: Flavour, settings: &[(&str, &str)]) -> Result<Self, String> {
        let programs = flavour.programs()?;
        let account = Account::find()?;
        let folder = Folder::new(&account)?;
        let pristine = Pristine::found(flavour)?;
        let password =
            pristine.as_ref().map_or_else(random::word, |pristine| Ok(pristine.password.clone()))?;
        let psql = programs.psql.clone();
        let address = |place| Address::new(OWNER, &password, place, &psql);
        let socket_folder = encode(&folder.path().to_string_lossy());
        let mut server = Self {
            address: address(String::new()),
            socket: address(String::new()),
            port: 0,
            programs,
            account,
            server: None,
            folder,
        };
        match pristine {
            Some(pristine) => server.copy(&pristine.data, &server.folder.data())?,
            None => server.initialise(flavour, &password)?,
        }
        server.configure(settings).map_err(|error| format!("could not write its settings: {error}"))?;
        for _ in 0..TRIES {
            server.port = free_port()?;
            server.address = address(format!("{}:{}", Ipv4Addr::LOCALHOST, server.port));
            server.socket = address(format!("{socket_folder}:{}", server.port));
            match server.launch() {
                Ok(()) => return Ok(server),
                Err(Failed::PortTaken) => {}
                Err(Failed::Otherwise(why)) => return Err(why),
            }
        }
        Err(format!("PostgreSQL found no free port in {TRIES} tries"))
    }

    /// The URL of a database, as the owner, by the server's socket.
    pub fn socket_url(&self, database: &str) -> String {
        self.socket.url(database)
    }

    /// What tests are told of a server that they share: its URL, and its folder with a copy of its data as it was at first.
    pub fn shared_environment(&self, flavour: Flavour) -> Vec<(String, String)> {
        let Some(variable) = flavour.variable() else { return Vec::new() };
        let folder = self.folder.path().display().to_string();
        vec![(variable.to_owned(), self.admin_url()), (format!("{variable}{PRISTINE}"), folder)]
    }

    /// The port on the loopback, the same over all stops.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process id of the server; none while it is stopped.
    pub fn pid(&self) -> Option<i32> {
        self.server.as_ref().and_then(|server| i32::try_from(server.id()).ok())
    }

    /// How often it had no connection left for somebody, since it was started.
    pub fn refusals(&self) -> usize {
        self.read_log().matches("too many clients").count()
    }

    /// Its folder: data, log and socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Stops it and waits for its end. What does not end is asked harder, then killed.
    pub fn stop(&mut self, how: Stop) {
        for (signal, patience) in how.steps() {
            self.signal(*signal);
            // One that is paused hears only this.
            self.signal(Signal::SIGCONT);
            if self.ends_within(*patience) {
                break;
            }
        }
        self.server = None;
        // One that was killed leaves it behind, and the watcher believes it.
        std::fs::remove_file(self.folder.pid_file()).unwrap_or_default();
    }

    /// Starts it again: the same port, the same data.
    pub fn resume(&mut self) -> Result<(), String> {
        if self.server.is_some() {
            return Ok(());
        }
        self.launch().map_err(|failed| match failed {
            Failed::PortTaken => format!("another process has taken the port {} meanwhile", self.port),
            Failed::Otherwise(why) => why,
        })
    }

    /// It accepts connections and says nothing. Connections that exist are served on: each has a process of its own.
    pub fn pause(&self) {
        self.signal(Signal::SIGSTOP);
    }

    /// Ends a pause.
    pub fn unpause(&self) {
        self.signal(Signal::SIGCONT);
    }

    fn initialise(&self, flavour: Flavour, password: &str) -> Result<(), String> {
        let folder = self.folder.path();
        let password_file = folder.join("password");
        std::fs::write(&password_file, password)
            .map_err(|error| format!("could not write into `{}`: {error}", folder.display()))?;
        self.account.own(&password_file)?;
        let locale: &[&str] = match flavour {
            Flavour::Plain => &["--locale-provider=icu", "--icu-locale=en-US"],
            Flavour::Vector | Flavour::Old => &[],
        };
        let initdb = &self.programs.initdb;
        let output = self
            .account
            .command(initdb)
            // Nothing of it is worth keeping over a power failure while it is made; what the server writes later is.
            .args(["--no-sync", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"])
            .args(locale)
            .args(["--username", OWNER, "--pwfile"])
            .arg(&password_file)
            .arg("--pgdata")
            .arg(self.folder.data())
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("could not start `{}`: {error}", initdb.display()))?;
        if !output.status.success() {
            let says = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`initdb` failed in `{}`: {}", folder.display(), says.trim_end()));
        }
        self.copy(&self.folder.data(), &folder.join("pristine"))
    }

    /// Copies a data folder as the server's account, which owns it.
    fn copy(&self, from: &Path, to: &Path) -> Result<(), String> {
        let copied = self.account.command("cp").args(["-a", "--reflink=auto"]).args([from, to]).output();
        let copied = copied.map_err(|error| format!("could not start `cp`: {error}"))?;
        let says = || String::from_utf8_lossy(&copied.stderr).trim_end().to_owned();
        if copied.status.success() {
            Ok(())
        } else {
            Err(format!("could not copy a data folder: {}", says()))
        }
    }

    fn configure(&self, settings: &[(&str, &str)]) -> std::io::Result<()> {
        let socket_folder = self.folder.path().to_string_lossy();
        let ours = [
            ("listen_addresses", "127.0.0.1"),
            ("unix_socket_directories", socket_folder.as_ref()),
            ("timezone", "UTC"),
            ("log_timezone", "UTC"),
        ];
        let mut file = OpenOptions::new().append(true).open(self.folder.data().join("postgresql.conf"))?;
        // Of two lines for one setting the later counts.
        for (name, value) in ours.iter().chain(settings) {
            writeln!(file, "{name} = '{}'", value.replace('\'', "''"))?;
        }
        Ok(())
    }

    fn launch(&mut self) -> Result<(), Failed> {
        let otherwise =
            |error: std::io::Error| Failed::Otherwise(format!("could not start PostgreSQL: {error}"));
        let log = File::create(self.folder.log()).map_err(otherwise)?;
        let server = self
            .account
            .command(&self.programs.postgres)
            .arg("-D")
            .arg(self.folder.data())
            .args(["-p", &self.port.to_string()])
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(otherwise)?)
            .stderr(log)
            .spawn()
            .map_err(otherwise)?;
        self.server = Some(server);
        let started = Instant::now();
        while !self.is_ready() {
            if self.ends_within(TICK) {
                self.stop(Stop::Immediate);
                return Err(self.why_it_ended());
            }
            if started.elapsed() > START {
                self.stop(Stop::Immediate);
                let log = self.read_log();
                let seconds = START.as_secs();
                return Err(Failed::Otherwise(format!("PostgreSQL was not ready after {seconds} s:\n{log}")));
            }
        }
        Ok(())
    }

    /// The first line of this file is its process id, the eighth is what `pg_ctl` waits for.
    fn is_ready(&self) -> bool {
        let Ok(text) = std::fs::read_to_string(self.folder.pid_file()) else { return false };
        let mut lines = text.lines().map(str::trim);
        let ours = lines.next().and_then(|pid| pid.parse().ok()) == self.pid();
        ours && lines.nth(6) == Some("ready")
    }

    fn why_it_ended(&self) -> Failed {
        let log = self.read_log();
        if log.contains("Address already in use") {
            return Failed::PortTaken;
        }
        Failed::Otherwise(format!("PostgreSQL did not start:\n{log}"))
    }

    fn read_log(&self) -> String {
        std::fs::read_to_string(self.folder.log()).unwrap_or_else(|error| format!("(no log: {error})"))
    }

    /// We are its parent and have not waited for it, so the id is nobody else's.
    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            // It may have ended by itself. Then there is nothing to signal.
            kill(Pid::from_raw(pid), signal).unwrap_or_default();
        }
    }

    fn ends_within(&mut self, patience: Duration) -> bool {
        let Some(server) = &mut self.server else { return true };
        let asked = Instant::now();
        loop {
            match server.try_wait() {
                Ok(None) if asked.elapsed() < patience => std::thread::sleep(TICK.min(patience)),
                Ok(None) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }
}

impl Deref for Postgres {
    type Target = Address;

    fn deref(&self) -> &Address {
        &self.address
    }
}

impl Drop for Postgres {
    /// The folder goes after it, by its own drop.
    fn drop(&mut self) {
        self.stop(Stop::Immediate);
    }
}

/// A port that nobody listens at now. Somebody may when the server starts, and then another is tried.
fn free_port() -> Result<u16, String> {
    for _ in 0..TRIES {
        let random = random::number()? % u128::from(PORTS.end - PORTS.start);
        let port = u16::try_from(random).map_err(|error| error.to_string())? + PORTS.start;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(format!("no free port found in {TRIES} tries"))
}
