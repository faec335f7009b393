//! What the owner learns before anything is sent to a model on another machine, once for each host.

use std::io;

use app::instance::paths::InstancePaths;
use models::Chosen;

use crate::{files, trusted_files};

/// What is sent to a host from now on, in the words for the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelDisclosure {
    pub host: String,
    /// Several lines. The caller escapes them.
    pub text: String,
}

/// Shows the disclosure of every host that the owner has not seen one of yet, and writes down that it was shown. If that cannot
/// be written, it is shown again the next time.
pub(super) fn disclose(
    instance: &InstancePaths,
    chosen: &Chosen,
    budget: &str,
    mut show: impl FnMut(&ModelDisclosure),
) {
    for (host, text) in models::notice(chosen, &read_disclosed(instance), budget) {
        let disclosure = ModelDisclosure { host, text };
        show(&disclosure);
        drop(append_disclosed(instance, &disclosure.host)); // or else it is shown again
    }
}

/// The hosts that the owner has seen a disclosure of.
fn read_disclosed(instance: &InstancePaths) -> Vec<String> {
    let text = trusted_files::read_text(&instance.told()).ok().flatten().unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn append_disclosed(instance: &InstancePaths, host: &str) -> io::Result<()> {
    files::make_folder(&instance.data)?;
    files::append(&instance.told(), host)
}

#[cfg(test)]
mod tests {
    use super::{append_disclosed, read_disclosed};
    use app::instance::paths::InstancePaths;

    #[test]
    fn of_whom_the_owner_was_told_is_kept() {
        let folder = tempfile::tempdir().expect("folder");
        let instance = InstancePaths::under(folder.path());
        assert_eq!(read_disclosed(&instance), [""; 0]);
        append_disclosed(&instance, "api.anthropic.com").expect("kept");
        append_disclosed(&instance, "other.example").expect("kept");
        assert_eq!(read_disclosed(&instance), ["api.anthropic.com", "other.example"]);
    }
}
