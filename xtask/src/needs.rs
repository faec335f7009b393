//! What a suite needs beside Rust: probed, installed where that is allowed, named when it is missing.

use crate::job::Job;

/// A program that a suite needs.
#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) what: &'static str,
    /// Exits 0 when it is there.
    pub(crate) probe: &'static [&'static str],
    pub(crate) from: From,
}

#[derive(Debug)]
pub(crate) enum From {
    /// Debian packages: installed, once per run, when we are root and there is `apt-get`.
    Apt(&'static [&'static str]),
    /// A person gets it, like this. Cargo tools are not built from source here: that costs more than the tests.
    Hand(&'static str),
}

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
        if is_there(job, need.probe) {
            return Ok(());
        }
        let packages = match need.from {
            From::Hand(how) => return Err(format!("{} is missing: {how}", need.what)),
            From::Apt(packages) => packages,
        };
        let by_hand = format!("apt-get install {}", packages.join(" "));
        if !nix::unistd::Uid::effective().is_root() || !is_there(job, &["apt-get", "--version"]) {
            return Err(format!("{} is missing, and only root installs it: {by_hand}", need.what));
        }
        self.install(job, packages)
            .map_err(|error| format!("{} could not be installed: {error:#}", need.what))?;
        if is_there(job, need.probe) {
            Ok(())
        } else {
            Err(format!("{} is missing even after {by_hand}", need.what))
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
        apt(&args)?;
        Ok(())
    }
}

/// The probe ran and ended well. A program that cannot be started is not there.
pub(crate) fn is_there(job: &Job, probe: &[&str]) -> bool {
    let Some((program, args)) = probe.split_first() else { return false };
    job.probe(job.command(program, args)).is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_the_way_to_get_it() {
        let job = Job::unlimited().unwrap();
        let need =
            Need { what: "a unicorn", probe: &["regent-no-such-program"], from: From::Hand("catch one") };
        let there = Need { what: "a shell", probe: &["true"], from: From::Hand("no need") };
        let mut installer = Installer::default();
        assert_eq!(installer.meet(&job, &[there, need]), Err("a unicorn is missing: catch one".to_owned()));
    }

    #[test]
    fn a_probe_that_fails_is_not_there() {
        let job = Job::unlimited().unwrap();
        assert!(is_there(&job, &["true"]));
        assert!(!is_there(&job, &["false"]));
        assert!(!is_there(&job, &[]));
    }
}
