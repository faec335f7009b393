//! The folder that is asked about, as data.

use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::time::{Duration, SystemTime};

use domain::Time;
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Folder {
    now: Time,
    folders: Vec<String>,
    files: Vec<Described>,
}

#[derive(Deserialize)]
struct Described {
    path: String,
    modified: Time,
    text: Option<String>,
    /// A line, and how often.
    lines: Option<Vec<(String, usize)>>,
}

impl Described {
    fn content(&self) -> String {
        let lines = self.lines.iter().flatten().flat_map(|(line, times)| vec![format!("{line}\n"); *times]);
        self.text.iter().cloned().chain(lines).collect()
    }
}

impl Folder {
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap()
    }

    pub(crate) fn lay(&self, root: &Path) {
        for folder in &self.folders {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in &self.files {
            let path = root.join(&file.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, file.content()).unwrap();
            let micros = u64::try_from(file.modified.micros()).unwrap();
            let modified = SystemTime::UNIX_EPOCH + Duration::from_micros(micros);
            File::options()
                .write(true)
                .open(&path)
                .unwrap()
                .set_times(FileTimes::new().set_modified(modified))
                .unwrap();
        }
    }

    /// How far its present is behind this moment.
    pub(crate) fn since(&self, moment: &str) -> Duration {
        self.now.since(moment.parse().unwrap())
    }

    pub(crate) fn is_as_it_was(&self, root: &Path) -> bool {
        self.files
            .iter()
            .all(|file| fs::read_to_string(root.join(&file.path)).is_ok_and(|text| text == file.content()))
    }

    /// Every file and folder that an answer could name.
    pub(crate) fn names(&self) -> Vec<&str> {
        let files = self.files.iter().map(|file| file.path.as_str());
        let above = self
            .files
            .iter()
            .flat_map(|file| Path::new(&file.path).ancestors().skip(1))
            .filter_map(Path::to_str);
        let mut names: Vec<&str> =
            files.chain(above).chain(self.folders.iter().map(String::as_str)).collect();
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        names
    }

    pub(crate) fn is_file(&self, name: &str) -> bool {
        self.files.iter().any(|file| file.path == name)
    }
}
