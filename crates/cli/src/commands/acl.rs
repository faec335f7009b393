//! `acl`: access policies, checked and asked. Neither needs a house, and nothing is written.

use policy::acl::{Loaded, filter, load, shipped};

use super::policies::{read, sound, wrong};
use super::{Done, lines};
use crate::args::Acl;
use crate::show::Screen;

pub(crate) async fn acl(screen: &Screen, command: Acl) -> Done {
    match command {
        Acl::Validate { files } => {
            let Loaded { set, notes } = read(&files, load)?;
            sound(screen, set.iter().count(), &notes, &files)
        }
        Acl::Test { policies } => {
            let Loaded { set, .. } = if policies.is_empty() {
                shipped::defaults().map_err(|mistakes| wrong(&mistakes))?
            } else {
                read(&policies, load)?
            };
            let answer = async |line: String| {
                let case = serde_json::from_str(&line).map_err(|error| error.to_string());
                Ok(case.and_then(|case| filter::answer(&set, &case).map_err(|bad| bad.to_string())))
            };
            lines::answer_each(screen, "all other lines were answered, and nothing was written", answer).await
        }
    }
}
