//! Packages of other languages that hold plain programs, and the one of the system that would start a server by itself.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::Value;
use services::Package;

use crate::job::Job;

/// Debian's package of the newest PostgreSQL.
pub(crate) const POSTGRESQL: &str = "postgresql";

/// Which Python the wheel is made for. We only want the programs in it, and the Python here may be one that it does not know.
const WHEEL_FOR: &str = "3.11";

pub(crate) fn pip(job: &Job, package: &Package) -> anyhow::Result<()> {
    install(job, package, |folder| {
        let wanted = format!("{}=={}", package.name, package.version);
        let mut args = vec!["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:"];
        args.extend(["--python-version", WHEEL_FOR, "--implementation", "cp", "--target", folder, &wanted]);
        job.run(job.command("python3", &args))?;
        Ok(())
    })
}

/// Its install script is not run: what it does, `link` does.
pub(crate) fn npm(job: &Job, package: &Package) -> anyhow::Result<()> {
    install(job, package, |folder| {
        let wanted = format!("{}@{}", package.name, package.version);
        let mut args = vec!["install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund"];
        args.extend(["--prefix", folder, &wanted]);
        job.run(job.command("npm", &args))?;
        link(&Path::new(folder).join("node_modules").join(package.name))
    })
}

/// Fills a new folder and puts it in its place when it is complete. Everybody may read it: a server runs as another user.
fn install(job: &Job, package: &Package, fill: impl Fn(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let place = package.folder();
    let home = services::home();
    std::fs::create_dir_all(&home).with_context(|| format!("create `{}`", home.display()))?;
    std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o755))?;
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(&home)?;
    let path = new.path().to_str().context("its folder has a name that is no text")?;
    fill(path)?;
    job.read(job.command("chmod", &["-R", "go+rX", path]))?;
    if place.exists() {
        // It was probed and is not usable.
        std::fs::remove_dir_all(&place).with_context(|| format!("remove `{}`", place.display()))?;
    }
    std::fs::rename(new.path(), &place).with_context(|| format!("create `{}`", place.display()))
}

/// npm packages hold no symbolic links: this one lists them in a file.
fn link(package: &Path) -> anyhow::Result<()> {
    let list = package.join("native/pg-symlinks.json");
    let text = std::fs::read_to_string(&list).with_context(|| format!("read `{}`", list.display()))?;
    for (from, to) in links(&text)? {
        let link = package.join(from);
        symlink(to, &link).with_context(|| format!("link `{}`", link.display()))?;
    }
    Ok(())
}

/// Each link with the name of the file beside it to which it leads.
fn links(list: &str) -> anyhow::Result<Vec<(PathBuf, PathBuf)>> {
    let list: Vec<Value> = serde_json::from_str(list).context("the list of links")?;
    list.iter()
        .map(|entry| {
            let path = |name| Some(Path::new(entry.get(name)?.as_str()?));
            match (path("source"), path("target")) {
                (Some(file), Some(link)) if is_inside(link) && file.parent() == link.parent() => {
                    let name = file.file_name().context("a link to no file")?;
                    Ok((link.to_owned(), PathBuf::from(name)))
                }
                _ => bail!("a link that does not stay in its folder: {entry}"),
            }
        })
        .collect()
}

fn is_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

/// While it lives, installing PostgreSQL creates no cluster, and so starts no server: a setting of `postgresql-common`, which is
/// read when the package is configured.
#[derive(Debug)]
pub(crate) struct NoCluster {
    file: PathBuf,
}

impl NoCluster {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let folder = Path::new("/etc/postgresql-common/createcluster.d");
        let file = folder.join("regent-tests.conf");
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&file, "create_main_cluster = false\n"))
            .with_context(|| format!("write `{}`", file.display()))?;
        Ok(Self { file })
    }
}

impl Drop for NoCluster {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.file) {
            eprintln!("warning: `{}` could not be removed: {error}", self.file.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_made_beside_the_files_they_lead_to() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("native/lib")).unwrap();
        std::fs::write(dir.path().join("native/lib/libpq.so.5.14"), "a library").unwrap();
        let list = r#"[{"source": "native/lib/libpq.so.5.14", "target": "native/lib/libpq.so.5"}]"#;
        std::fs::write(dir.path().join("native/pg-symlinks.json"), list).unwrap();
        link(dir.path()).unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("native/lib/libpq.so.5")).unwrap(), "a library");
    }

    #[test]
    fn links_that_lead_out_are_refused() {
        for list in [
            r#"[{"source": "../a", "target": "../b"}]"#,
            r#"[{"source": "/etc/a", "target": "/etc/b"}]"#,
            r#"[{"source": "lib/a", "target": "bin/b"}]"#,
            r#"[{"source": "lib/a"}]"#,
            "{}",
        ] {
            assert!(links(list).is_err(), "{list}");
        }
    }
}
