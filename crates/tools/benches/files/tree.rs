//! A tree like those that people have: many small files, a few large ones, folders within folders.

use std::fs;
use std::path::{Path, PathBuf};

const FILES_PER_FOLDER: usize = 40;
const EXTENSIONS: [&str; 4] = ["rs", "txt", "md", "json"];

/// So many files, each fortieth in a folder of its own; half a percent have 64 kB or more; the needle is in every
/// fiftieth.
pub(crate) fn plant(root: &Path, files: usize) {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut folder = PathBuf::new();
    for number in 0..files {
        if number % FILES_PER_FOLDER == 0 {
            folder = folder_of(root, number / FILES_PER_FOLDER);
            fs::create_dir_all(&folder).expect("a folder");
        }
        let extension = EXTENSIONS.get(number % EXTENSIONS.len()).expect("one of them");
        let size = if number % 200 == 7 { (64 * 1024) << random.below(3) } else { random.below(4 * 1024) };
        let name = folder.join(format!("file_{number:06}.{extension}"));
        fs::write(name, text(&mut random, size, number % 50 == 3)).expect("a file");
    }
}

/// Four levels deep, with ten or so folders in each.
fn folder_of(root: &Path, number: usize) -> PathBuf {
    let mut path = root.join(format!("part_{}", number % 11));
    let mut rest = number / 11;
    while rest > 0 {
        path.push(format!("folder_{}", rest % 13));
        rest /= 13;
    }
    path
}

fn text(random: &mut Random, size: usize, with_needle: bool) -> Vec<u8> {
    const WORDS: [&str; 8] =
        ["let ", "value", " = ", "the needl of ", "function(", ");\n", "return ", "\n    "];
    let mut text = Vec::with_capacity(size + 16);
    while text.len() < size {
        text.extend_from_slice(WORDS.get(random.below(WORDS.len())).expect("one of them").as_bytes());
        if with_needle && random.below(40) == 0 {
            text.extend_from_slice(b"needle");
        }
    }
    text.truncate(size);
    text
}

/// The same tree every time.
pub(crate) struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }
}
