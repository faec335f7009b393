mod diagnostics;
mod files;
mod hostile;

use super::{Loaded, Mistakes, Origin, Source, load};

/// The owner's one file.
fn own(text: &str) -> Result<Loaded, Mistakes> {
    load(&[Source { file: "p.yaml", text, origin: Origin::Own }])
}
