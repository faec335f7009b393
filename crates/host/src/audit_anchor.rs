//! Copies of the checkpoints where whoever takes this machine does not reach: a file, a folder, a git repository.

#![expect(
    clippy::disallowed_methods,
    reason = "a file that the owner named, and git if it lies in a repository"
)]

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use app::{Code, Problem};
use domain::id::NodeId;

use crate::{files, trusted_files};

/// Writes the lines to a file, or into a folder under the stream's name; in a git repository the file is committed.
pub(crate) fn write_anchor(
    to: &str,
    stream: NodeId,
    lines: &[String],
    unique: &str,
    environment: &[(String, String)],
) -> Result<String, Problem> {
    if to.contains("://") {
        let what =
            format!("`{to}` is an address; an anchor is kept in a file, a folder or a git repository so far");
        return Err(Problem::new(Code::PIN, what).remedy("regent audit anchor --to <folder>"));
    }
    let given = PathBuf::from(to);
    let file = if given.is_dir() { given.join(format!("regent-{stream}.jsonl")) } else { given };
    let failed = |error: io::Error| {
        Problem::new(Code::PIN, format!("cannot keep an anchor in {}: {error}", file.display()))
            .safe("what lies there was not changed")
    };
    let mut there = String::new();
    if let Some(mut file) = trusted_files::open_named(&file).map_err(failed)? {
        file.read_to_string(&mut there).map_err(failed)?;
    }
    let known: Vec<&str> = there.lines().filter(|line| !line.is_empty()).collect();
    if known.len() > lines.len() || known.iter().zip(lines).any(|(known, line)| *known != line.as_str()) {
        let what = format!("{} holds checkpoints that are not the beginning of ours", file.display());
        return Err(Problem::new(Code::AUDIT_BROKEN, what)
            .safe("what lies there was not changed")
            .remedy(format!("regent audit verify --root {}", trusted_files::quote(&file))));
    }
    write(&file, lines, unique).map_err(failed)?;
    match find_repository(&file) {
        Some(folder) => commit((&folder, &file), lines.len(), unique, environment),
        None => Ok(file.display().to_string()),
    }
}

/// Under another name first, so that a reader never finds half of it.
fn write(file: &Path, lines: &[String], unique: &str) -> io::Result<()> {
    let mut text = lines.join("\n");
    text.push('\n');
    let name = |n| file.with_file_name(format!(".regent-{unique}-{n}.tmp"));
    let (draft, mut open) = make_new(name, |path| File::create_new(path))?;
    let written = open.write_all(text.as_bytes()).and_then(|()| open.sync_all());
    let written = written.and_then(|()| std::fs::rename(&draft, file));
    if written.is_err() {
        drop(std::fs::remove_file(&draft));
    }
    written
}

/// Makes the first of these names that is free. What has one of them already belongs to the owner of the folder, and stays.
fn make_new<T>(
    name: impl Fn(u32) -> PathBuf,
    make: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(PathBuf, T)> {
    const TRIES: u32 = 100;
    for path in (0..TRIES).map(name) {
        match make(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|made| (path, made)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The folder of the file, if a git repository is around it.
fn find_repository(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().any(|above| above.join(".git").exists()).then_some(folder)
}

/// Options of every git command: nothing that a repository names is started, and nothing is fetched.
const GUARDS: [&str; 14] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.attributesFile=/dev/null",
    "credential.helper=",
    "diff.external=",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
];

/// What git gets to know of our environment: where programs are, and where the owner's name is written.
const VARIABLES: [&str; 3] = ["PATH", "HOME", "XDG_CONFIG_HOME"];

/// Starts git. What it is asked for reads no file of the work tree, so no filter of the repository is ever run.
struct Git<'a> {
    folder: &'a Path,
    /// Part of the name of a folder that this process makes in the repository.
    unique: &'a str,
    environment: &'a [(String, String)],
    /// The repository, and an empty folder in the place of its work tree: even writing an index looks at files there.
    places: Option<(&'a Path, &'a Path)>,
}

impl Git<'_> {
    /// What git says to this, or why it failed.
    fn run(&self, args: &[&str], index: Option<&Path>, input: Option<File>) -> Result<String, String> {
        let mut git = Command::new("git");
        let own = self.environment.iter().filter(|(name, _)| VARIABLES.contains(&name.as_str()));
        git.env_clear().envs(own.map(|(name, value)| (name, value)));
        git.env("GIT_ALLOW_PROTOCOL", "").env("GIT_NO_LAZY_FETCH", "1").env("GIT_TERMINAL_PROMPT", "0");
        git.env("GIT_NO_REPLACE_OBJECTS", "1").env("LC_ALL", "C");
        if let Some((repository, empty)) = self.places {
            git.env("GIT_DIR", repository).env("GIT_WORK_TREE", empty);
        }
        if let Some(index) = index {
            git.env("GIT_INDEX_FILE", index);
        }
        git.stdin(input.map_or_else(Stdio::null, Stdio::from));
        let folder = self.places.map_or(self.folder, |(_, empty)| empty);
        git.args(GUARDS.iter().flat_map(|guard| ["-c", guard])).arg("-C").arg(folder).args(args);
        let ran = git.output().map_err(|error| error.to_string())?;
        if ran.status.success() {
            return Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned());
        }
        Err(String::from_utf8_lossy(&ran.stderr).trim().to_owned())
    }

    /// Commits one file and nothing else, as it lies there; says whether it was new.
    fn commit(&self, file: &Path, message: &str) -> Result<bool, String> {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let path = format!("{}{name}", self.run(&["rev-parse", "--show-prefix"], None, None)?);
        let repository = PathBuf::from(self.run(&["rev-parse", "--absolute-git-dir"], None, None)?);
        let text = |error: io::Error| error.to_string();
        let name = |n| repository.join(format!("regent-anchor-{}-{n}", self.unique));
        let (own, ()) = make_new(name, files::make_new_folder).map_err(text)?;
        let (empty, index) = (own.join("empty"), own.join("index"));
        let git = Git { places: Some((&repository, &empty)), ..*self };
        let committed = files::make_new_folder(&empty).and_then(|()| File::open(file)).map_err(text);
        let committed = committed.and_then(|bytes| git.commit_as(&path, bytes, message, &index));
        files::remove(&own).map_err(text)?;
        committed
    }

    fn commit_as(&self, path: &str, bytes: File, message: &str, index: &Path) -> Result<bool, String> {
        let blob = self.run(&["hash-object", "-w", "--stdin"], None, Some(bytes))?;
        let entry = format!("100644,{blob},{path}");
        let add = ["update-index", "--add", "--cacheinfo", &entry];
        let head = self.run(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], None, None).ok();
        // An index of its own: what the owner has staged is not for this commit.
        if let Some(head) = &head {
            self.run(&["read-tree", head], Some(index), None)?;
        }
        self.run(&add, Some(index), None)?;
        let tree = self.run(&["write-tree", "--missing-ok"], Some(index), None)?;
        self.run(&add, None, None)?;
        if let Some(head) = &head
            && self.run(&["rev-parse", &format!("{head}^{{tree}}")], None, None)? == tree
        {
            return Ok(false);
        }
        let mut commit = vec!["commit-tree", "--no-gpg-sign", "-m", message];
        commit.extend(head.iter().flat_map(|head| ["-p", head]));
        commit.push(&tree);
        let commit = self.run(&commit, None, None)?;
        let before = head.as_deref().unwrap_or_default();
        self.run(&["update-ref", "-m", message, "HEAD", &commit, before], None, None)?;
        Ok(true)
    }
}

fn commit(
    (folder, file): (&Path, &Path),
    checkpoints: usize,
    unique: &str,
    environment: &[(String, String)],
) -> Result<String, Problem> {
    let message = format!("checkpoints of the audit, {checkpoints} so far");
    match (Git { folder, unique, environment, places: None }).commit(file, &message) {
        Ok(true) => {
            Ok(format!("{} (committed; push it to where this machine cannot rewrite it)", file.display()))
        }
        Ok(false) => Ok(format!("{} (nothing new since the last commit)", file.display())),
        Err(why) => {
            let what = format!("the anchor is written to {}, and git did not take it: {why}", file.display());
            Err(Problem::new(Code::PIN, what))
        }
    }
}
