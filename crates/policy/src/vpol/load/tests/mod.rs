mod diagnostics;
mod hostile;

use super::{Loaded, load};
use crate::yaml::{Mistakes, Origin, Source};

/// The owner's one file.
fn own(text: &str) -> Result<Loaded, Mistakes> {
    load(&[Source { file: "v.yaml", text, origin: Origin::Own }])
}
