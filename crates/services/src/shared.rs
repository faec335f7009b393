//! Servers that many tests share, each with databases of its own.

use std::sync::OnceLock;

use crate::address::Address;
use crate::flavour::Flavour;
use crate::postgres::{FAST, Postgres};

/// Ours for this process. Statics are not dropped: the watcher of the folder ends the server with the process.
static OURS: [OnceLock<Result<Postgres, String>>; 3] = [const { OnceLock::new() }; 3];

/// The server that `cargo xtask test` has started; without it, one that this process starts for itself and keeps to its end.
///
/// It is `FAST`, so it is not for what measures or crashes; and it is not yours alone, so do not stop it, and do not change
/// what all its databases share (roles, settings) without names of your own.
pub fn shared(flavour: Flavour) -> Result<Address, String> {
    if let Some(variable) = flavour.variable()
        && let Ok(url) = std::env::var(variable)
    {
        let psql = flavour.psql().ok_or("`psql` is missing: `cargo xtask test` installs it")?;
        return Address::parse(&url, &psql).map_err(|error| format!("{variable}: {error}"));
    }
    let [plain, vector, old] = &OURS;
    let ours = match flavour {
        Flavour::Plain => plain,
        Flavour::Vector => vector,
        Flavour::Old => old,
    };
    match ours.get_or_init(|| start_shared(flavour)) {
        Ok(server) => Ok(Address::clone(server)),
        Err(error) => Err(error.clone()),
    }
}

/// Starts a server to share: pass its `admin_url` in the flavour's `variable`, and keep it while the tests run.
pub fn start_shared(flavour: Flavour) -> Result<Postgres, String> {
    let mut settings = FAST.to_vec();
    settings.push(("max_connections", "400"));
    Postgres::start_with(flavour, &settings)
}
