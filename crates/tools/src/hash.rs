//! `hash`: the digest of a file or of a text.

use std::io::{self, Read};

use domain::Stop;
use domain::call::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256, Sha512};

use crate::search::{self, CHUNK};
use crate::stopping::Heeding;
use crate::workspace::{self, Workspace};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// A file, relative to the workspace. Either this or `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// A text, hashed as UTF-8. Either this or `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// Which digest.
    #[serde(default)]
    pub(crate) algorithm: Algorithm,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Algorithm {
    #[default]
    Sha256,
    Sha512,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Hashed {
    /// The one that was asked for.
    pub(crate) algorithm: Algorithm,
    /// In lower case.
    pub(crate) hex: String,
    /// How many were hashed.
    pub(crate) bytes: u64,
}

/// # Errors
/// If not exactly one of file and text is given, or the file cannot be read.
pub(crate) fn run(workspace: &Workspace, args: &Args, stop: &Stop) -> Result<Hashed, Failure> {
    let hashed = match (&args.path, &args.text) {
        (Some(path), None) => {
            let reader = Heeding { reader: workspace.file(path)?.file, stop };
            hash(reader, args.algorithm).map_err(|error| workspace::unreadable(path, &error))?
        }
        (None, Some(text)) => hash(text.as_bytes(), args.algorithm)
            .map_err(|error| Failure::environmental(error.to_string()))?,
        (Some(_), Some(_)) => {
            return Err(Failure::logical("`path` and `text` are both given; give one of them"));
        }
        (None, None) => return Err(Failure::logical("neither `path` nor `text` is given; give one of them")),
    };
    Ok(Hashed { algorithm: args.algorithm, ..hashed })
}

fn hash(reader: impl Read, algorithm: Algorithm) -> io::Result<Hashed> {
    match algorithm {
        Algorithm::Sha256 => hash_with(Sha256::new(), reader),
        Algorithm::Sha512 => hash_with(Sha512::new(), reader),
    }
}

/// The algorithm is filled in by the caller.
fn hash_with(mut hasher: impl Digest, mut reader: impl Read) -> io::Result<Hashed> {
    let mut buffer = vec![0; CHUNK];
    let mut bytes = 0;
    loop {
        let read = search::fill(&mut reader, &mut buffer)?;
        hasher.update(buffer.get(..read).unwrap_or_default());
        bytes += read as u64;
        if read < CHUNK {
            break;
        }
    }
    let hex = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Hashed { algorithm: Algorithm::default(), hex, bytes })
}

#[cfg(test)]
mod tests {
    use super::{Args, Hashed, run};
    use crate::search::CHUNK;
    use crate::testing::Tree;
    use domain::call::Failure;
    use domain::{Digest, Stop};
    use serde_json::{Value, from_value, json, to_value};

    fn hash(tree: &Tree, args: Value) -> Result<Hashed, Failure> {
        run(tree.workspace(), &from_value(args).unwrap(), &Stop::default())
    }

    #[test]
    fn known_answers() {
        let long = "x".repeat(CHUNK * 2);
        let tree = Tree::new(&[("abc", "abc"), ("empty", ""), ("long", &long)]);
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let abc512 = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                      2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";
        let table = [
            (json!({ "text": "abc" }), "sha256", abc, 3),
            (json!({ "path": "abc" }), "sha256", abc, 3),
            (json!({ "path": "abc", "algorithm": "sha512" }), "sha512", abc512, 3),
            (json!({ "path": "empty" }), "sha256", empty, 0),
            (json!({ "path": "long" }), "sha256", &Digest::of(long.as_bytes()).to_string(), long.len()),
        ];
        for (args, algorithm, hex, bytes) in table {
            let expected = json!({ "algorithm": algorithm, "hex": hex, "bytes": bytes });
            assert_eq!(to_value(hash(&tree, args).unwrap()).unwrap(), expected);
        }
    }

    #[test]
    fn one_of_file_and_text() {
        let tree = Tree::new(&[("a", "")]);
        let table = [
            (json!({}), "neither `path` nor `text` is given; give one of them"),
            (json!({ "path": "a", "text": "" }), "`path` and `text` are both given; give one of them"),
            (json!({ "path": "../a" }), "`../a` leads out of the workspace"),
        ];
        for (args, message) in table {
            assert_eq!(hash(&tree, args), Err(Failure::logical(message)));
        }
        assert!(from_value::<Args>(json!({ "text": "a", "algorithm": "md5" })).is_err());
    }
}
