//! What the choice of a model needs of the instance's files: keys, the owner's prices, and the hosts that the owner confirmed.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use app::instance::paths::InstancePaths;
use app::{Code, Problem};
use models::{Environment, Key, Prices, Provider, Wishes};
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use zeroize::Zeroizing;

use crate::os_host::file_problem;
use crate::trusted_files::{self, LinkPolicy};
use crate::{ProcessEnvironment, files};

/// Reads everything that there is to choose from. If a key is among it, this process leaves no core dump from now on.
///
/// # Errors
/// If the price list is there and cannot be used.
pub(crate) fn read_environment(
    instance: &InstancePaths,
    process: &ProcessEnvironment,
    wishes: &Wishes,
) -> Result<Environment, Problem> {
    let (files, unread) = match read_keys(&instance.model_keys()) {
        Ok(files) => (files, None),
        Err(why) => (BTreeMap::new(), Some(why)),
    };
    let (variables, prices) = (process.variables.clone(), read_prices(instance)?);
    let environment = Environment { variables, files, unread, prices, confirmed: read_confirmed(instance) };
    let has_key = |name: &str| {
        Provider::of(wishes, &environment, name).is_ok_and(|provider| matches!(provider.key, Ok(Some(_))))
    };
    if environment.files.values().any(Result::is_ok) || wishes.names().any(has_key) {
        forbid_core_dumps();
    }
    Ok(environment)
}

/// Forbids core dumps if a variable of the environment holds a key. The program calls it first.
pub fn guard_keys(process: &ProcessEnvironment) {
    let mut variables = models::catalog::KNOWN.iter().flat_map(|known| known.variables);
    if variables.any(|name| process.variable(name).is_some()) {
        forbid_core_dumps();
    }
}

/// No core dump, and nobody else of this user looks into the memory; says whether the system let us. If not, that is no
/// reason to stop: it is a second line of defence.
fn forbid_core_dumps() -> bool {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let limited = rustix::process::setrlimit(Resource::Core, none).is_ok();
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).is_ok() && limited
}

fn read_prices(instance: &InstancePaths) -> Result<Prices, Problem> {
    let path = instance.prices();
    let wrong = |mistakes: Vec<String>| {
        let each: Vec<String> =
            mistakes.into_iter().map(|why| format!("{}: {why}", path.display())).collect();
        Problem::new(Code::BAD_PRICES, each.join("\n            "))
            .safe("nobody was asked")
            .remedy("regent explain R2036")
    };
    match trusted_files::read_text(&path) {
        Ok(None) => Ok(Prices::default()),
        Ok(Some(text)) => Prices::default().with(&text).map_err(wrong),
        Err(error) => Err(wrong(vec![trusted_files::explain(&error)])),
    }
}

/// What lies in the folder of keys, each under its name. What others could read or put there is no key any more. A folder
/// that is not there holds none; one that cannot be read may hold some.
fn read_keys(folder: &Path) -> Result<BTreeMap<String, Result<Key, String>>, String> {
    let unread =
        |error: io::Error| format!("the folder of keys, {}, cannot be read: {error}", folder.display());
    let names = files::list_names(folder).map_err(unread)?.into_iter();
    let names = names.filter(|name| !name.starts_with('.') && !folder.join(name).is_dir());
    let open_to_others =
        trusted_files::check_folder(folder).err().map(|error| trusted_files::explain(&error));
    let read = |name: String| {
        let path = folder.join(&name);
        let key = match &open_to_others {
            Some(why) => Err(why.clone()),
            None => read_key(&path)
                .map_err(|error| trusted_files::explain(&error))
                .and_then(|text| Key::read(&text)),
        };
        (name, key.map_err(|why| format!("{}: {why}", path.display())))
    };
    Ok(names.map(read).collect())
}

fn read_key(path: &Path) -> io::Result<Zeroizing<String>> {
    const LARGEST: u64 = 16 * 1024;
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let file = trusted_files::open(path, LinkPolicy::Refused)?.ok_or_else(missing)?;
    if file.metadata()?.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!(
            "others can read it; chmod 600 {}, and better have a new key made",
            trusted_files::quote(path)
        )));
    }
    let mut text = Zeroizing::new(String::new());
    file.take(LARGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// Which provider's key may go to which other host. What cannot be read confirms nothing.
fn read_confirmed(instance: &InstancePaths) -> Vec<(String, String)> {
    let text = trusted_files::read_text(&instance.confirmed()).ok().flatten().unwrap_or_default();
    let pair = |line: &str| line.split_once(' ').map(|(name, host)| (name.to_owned(), host.to_owned()));
    text.lines().filter_map(pair).collect()
}

/// Writes down that a provider's key may go to a host.
///
/// # Errors
/// If it cannot be written.
pub(super) fn append_confirmed(instance: &InstancePaths, provider: &str, host: &str) -> Result<(), Problem> {
    let path = instance.confirmed();
    let kept = trusted_files::check_folder(&instance.data)
        .and_then(|_| files::make_folder(&instance.data))
        .and_then(|()| files::append(&path, &format!("{provider} {host}")));
    kept.map_err(|error| file_problem("write", &path, &error))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "files of the tests")]
mod tests {
    use super::read_keys;
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
        let found = read_keys(path).expect("a folder");
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
        assert!(
            read_keys(path).expect("a folder").values().all(Result::is_err),
            "others could put one there"
        );
        assert!(read_keys(&path.join("nowhere")).expect("nothing").is_empty());
        let no_folder = read_keys(&path.join("good")).expect_err("it is a file");
        assert!(no_folder.contains("/good, cannot be read: "), "{no_folder}");
    }
}
