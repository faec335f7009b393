//! The bytes of a new file: given, or those of another file, which are never in memory all at once.

use std::fs::File;
use std::io::{self, Write};

use domain::call::Failure;
use domain::change::Content;
use domain::digest::Digesting;
use domain::{Digest, Stop};

use crate::search::{self, CHUNK};
use crate::staged::changed_meanwhile;
use crate::stopping;
use crate::workspace;

/// The bytes of a file that is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bytes<'a> {
    Given(&'a [u8]),
    /// Those of a file that is open at its beginning, and that was looked at before.
    Of {
        file: &'a File,
        path: &'a str,
        looked: &'a Content,
    },
}

impl Bytes<'_> {
    pub(crate) fn digest(self) -> Digest {
        match self {
            Self::Given(bytes) => Digest::of(bytes),
            Self::Of { looked, .. } => looked.digest,
        }
    }

    pub(crate) const fn len(self) -> u64 {
        match self {
            Self::Given(bytes) => bytes.len() as u64,
            Self::Of { looked, .. } => looked.bytes,
        }
    }

    /// # Errors
    /// If the disk refuses, it was stopped, or the other file is not what was looked at.
    pub(crate) fn write(
        self,
        mut to: &File,
        unwritten: impl Fn(&io::Error) -> Failure,
        stop: &Stop,
    ) -> Result<(), Failure> {
        let (file, path, looked) = match self {
            Self::Given(bytes) => return to.write_all(bytes).map_err(|error| unwritten(&error)),
            Self::Of { file, path, looked } => (file, path, looked),
        };
        let (mut digesting, mut buffer, mut bytes) = (Digesting::default(), vec![0; CHUNK], 0);
        loop {
            stopping::check(stop)?;
            let read = search::fill(&mut &*file, &mut buffer);
            let read = read.map_err(|error| workspace::unreadable(path, &error))?;
            let part = buffer.get(..read).unwrap_or_default();
            digesting.update(part);
            bytes += read as u64;
            // It may grow as fast as it is read.
            if bytes > looked.bytes {
                return Err(changed_meanwhile(path));
            }
            to.write_all(part).map_err(|error| unwritten(&error))?;
            if read < CHUNK {
                break;
            }
        }
        let same = (bytes, digesting.finish()) == (looked.bytes, looked.digest);
        if same { Ok(()) } else { Err(changed_meanwhile(path)) }
    }
}
