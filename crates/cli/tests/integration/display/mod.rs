//! What the real program shows on a real terminal while it works, and that it gives the terminal back on every way out.

mod modes;
mod script;
mod shown;
mod thinking;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::terminal::{Echo, Size, Terminal};
use script::Script;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_regent");
const REQUEST: [&str; 2] = ["run", "delete the note, count the docs, add it up"];
const USUAL: Size = (80, 24);
/// Where the block begins.
const RULE: &str = "╌╌╌╌";

/// A house, a folder to work in, and what the model says.
struct Scene {
    folder: TempDir,
    panics: &'static str,
}

impl Scene {
    fn new(script: &Script) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let scene = Self { folder, panics: "" };
        std::fs::create_dir_all(scene.workspace().join("docs")).expect("a workspace");
        for (name, content) in [("notes.md", "a note"), ("docs/a", "a"), ("docs/b", "b")] {
            std::fs::write(scene.workspace().join(name), content).expect("a file");
        }
        std::fs::write(scene.at("script"), script.text()).expect("a script");
        scene
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn workspace(&self) -> PathBuf {
        self.at("workspace")
    }

    fn prepare(&self, command: &mut Command) {
        let script = self.at("script").display().to_string();
        let panics = if self.panics.is_empty() { String::new() } else { format!(",panic={}", self.panics) };
        command.env("REGENT_HOME", self.at("house")).env("REGENT_FAULTS", format!("script={script}{panics}"));
        command.env("LC_ALL", "C.UTF-8").current_dir(self.workspace());
    }

    fn terminal(&self, size: Size, args: &[&str], environment: &[(&str, &str)]) -> Terminal {
        self.shell(size, args, environment, None)
    }

    /// On a terminal, below a shell that runs it in its own way.
    fn shell(
        &self,
        size: Size,
        args: &[&str],
        environment: &[(&str, &str)],
        script: Option<&str>,
    ) -> Terminal {
        Terminal::sized(size, Echo::On, |command| {
            match script {
                Some(script) => command.args(["bash", "-c", script, PROGRAM]).args(args),
                None => command.arg(PROGRAM).args(args),
            };
            self.prepare(command);
            command.env("TERM", "xterm-256color").envs(environment.iter().copied());
        })
    }

    fn run(&self) -> Terminal {
        self.terminal(USUAL, &REQUEST, &[])
    }

    /// Without a terminal.
    fn plain(&self, args: &[&str]) -> Output {
        let mut command = Command::new(PROGRAM);
        command.args(args).env_clear().stdin(Stdio::null());
        self.prepare(&mut command);
        command.output().expect("it runs")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What is left on the screen, scrolled away or not, as lines.
fn screen(shown: &str, (columns, rows): Size) -> Vec<String> {
    let mut terminal = avt::Terminal::with_scrollback(columns.into(), rows.into(), None).expect("a size");
    terminal.feed(shown);
    terminal.screen().text().into_iter().filter(|line| !line.is_empty()).collect()
}
