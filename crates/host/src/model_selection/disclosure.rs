//! What the owner learns before anything is sent to a model on another machine, once for each host.

use std::io;

use app::instance::paths::InstancePaths;
use app::models::{ModelDisclosure, ShowDisclosure};
use models::Chosen;

use crate::{files, trusted_files};

/// The disclosures that the owner has not seen yet, one for each host.
pub(super) fn find_undisclosed(
    instance: &InstancePaths,
    chosen: &Chosen,
    budget: &str,
) -> Vec<ModelDisclosure> {
    let undisclosed = models::notice(chosen, &read_disclosed(instance), budget).into_iter();
    undisclosed.map(|(host, text)| ModelDisclosure { host, text }).collect()
}

/// Shows disclosures, and writes down after each that it was shown. If that cannot be written, it is shown again the next time.
pub(super) fn disclose(instance: &InstancePaths, disclosures: &[ModelDisclosure], show: ShowDisclosure<'_>) {
    for disclosure in disclosures {
        show(disclosure);
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
