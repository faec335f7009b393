//! Turns `docs/errors/R1234.md`, one file per error code, into the constants, the list and the pages of `problem.rs`.

#![expect(clippy::disallowed_methods, reason = "a build script reads what the build is made of")]

#[path = "build/error_page.rs"]
mod error_page;

use std::path::Path;
use std::{env, fs};

use error_page::{ErrorPage, FOLDER};

fn main() {
    println!("cargo::rerun-if-changed=../../{FOLDER}");
    if let Err(error) = write_codes() {
        println!("cargo::error={error}");
    }
}

fn write_codes() -> Result<(), String> {
    let pages = read_pages(&Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../..").join(FOLDER))?;
    let target = Path::new(&variable("OUT_DIR")?).join("codes.rs");
    fs::write(&target, error_page::generate(&pages)?)
        .map_err(|error| format!("cannot write {}: {error}", target.display()))
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("cargo sets {name} for a build script: {error}"))
}

/// Every `.md` file of the folder, by number. What else an editor leaves there is ignored.
fn read_pages(folder: &Path) -> Result<Vec<ErrorPage>, String> {
    let unreadable = |path: &Path, error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if file.starts_with('.') || !file.ends_with(".md") {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, error))?;
        pages.push(ErrorPage::parse(file, &text)?);
    }
    pages.sort_by_key(|page| page.code);
    Ok(pages)
}
