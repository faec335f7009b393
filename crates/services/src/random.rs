//! Randomness for names, passwords and ports, from the system.

use std::fs::File;
use std::io::Read as _;

/// Sixteen bytes.
pub(crate) fn number() -> Result<u128, String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(|error| format!("could not read random bytes: {error}"))?;
    Ok(u128::from_ne_bytes(bytes))
}

/// Thirty-two hexadecimal digits.
pub(crate) fn word() -> Result<String, String> {
    number().map(|number| format!("{number:032x}"))
}
