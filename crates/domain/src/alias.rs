//! Other names of tools: those of the ari seed, and dotted ones.

use crate::call::ToolId;
use crate::glob;
use crate::tier::Tier;

/// The permission map of the ari seed: its names, ours, and the tier it gives them. A tool of this id is never of a
/// lower one, whoever registers it.
pub const ARI: [(&str, &str, Tier); 13] = [
    ("file:read", "read_file", Tier::ReadOnly),
    ("calendar:query", "calendar_query", Tier::ReadOnly),
    ("notion:read", "notes_read", Tier::ReadOnly),
    ("file:write", "write_file", Tier::WriteSafe),
    ("calendar:create", "calendar_create", Tier::WriteSafe),
    ("notion:create", "notes_create", Tier::WriteSafe),
    ("sms:send", "message_send", Tier::WriteSafe),
    ("file:delete", "delete_file", Tier::WriteDestructive),
    ("calendar:delete", "calendar_delete", Tier::WriteDestructive),
    ("shell:execute", "shell", Tier::WriteDestructive),
    ("config:modify", "config_modify", Tier::Admin),
    ("trust:escalate", "trust_escalate", Tier::Admin),
    ("audit:clear", "audit_clear", Tier::Admin),
];

/// The id that a name stands for: an id, a name of the ari seed, or a dotted one (`roster.shift.create`).
#[must_use]
pub fn resolve(name: &str) -> Option<ToolId> {
    let dotted = name.replace('.', ":");
    if let Some((_, id, _)) = ARI.iter().find(|(alias, ..)| *alias == dotted) {
        return id.parse().ok();
    }
    name.replace(['.', ':'], "_").parse().ok()
}

/// The globs over ids that a glob over names stands for: `file:*` is every tool that one of these names is for.
#[must_use]
pub fn globs(written: &str) -> Vec<String> {
    if !written.contains(['.', ':']) {
        return vec![written.to_owned()];
    }
    let named = written.replace('.', ":");
    let known = ARI.iter().filter(|(alias, ..)| glob::matches(&named, alias));
    let known = known.map(|(_, id, _)| (*id).to_owned());
    known.chain([named.replace(':', "_")]).collect()
}

/// The tier below which a tool of this id cannot be.
#[must_use]
pub fn floor(id: &ToolId) -> Tier {
    let known = ARI.iter().find(|(_, known, _)| *known == id.as_str());
    known.map_or(Tier::ReadOnly, |(.., tier)| *tier)
}

#[cfg(test)]
mod tests {
    use super::{ARI, floor, globs, resolve};
    use crate::tier::Tier;

    #[test]
    fn every_name_is_an_id_or_stands_for_one() {
        let table = [
            ("read_file", Some("read_file")),
            ("file:read", Some("read_file")),
            ("notion:create", Some("notes_create")),
            ("sms:send", Some("message_send")),
            ("file.read", Some("read_file")),
            ("shell:execute", Some("shell")),
            ("roster.shift.create", Some("roster_shift_create")),
            ("comms.email.send", Some("comms_email_send")),
            ("github__create-issue", Some("github__create-issue")),
            ("Read File", None),
            ("", None),
        ];
        for (name, id) in table {
            assert_eq!(resolve(name).as_ref().map(|id| id.as_str()), id, "{name}");
        }
    }

    #[test]
    fn a_glob_over_names_is_globs_over_ids() {
        let table: [(&str, &[&str]); 6] = [
            ("delete_*", &["delete_*"]),
            ("*", &["*"]),
            ("file:delete", &["delete_file", "file_delete"]),
            ("file.*", &["read_file", "write_file", "delete_file", "file_*"]),
            ("*:delete", &["delete_file", "calendar_delete", "*_delete"]),
            ("roster.shift.*", &["roster_shift_*"]),
        ];
        for (written, expected) in table {
            assert_eq!(globs(written), expected, "{written}");
        }
    }

    #[test]
    fn the_permission_map_of_the_ari_seed() {
        let tier = |name: &str| ARI.iter().find(|(alias, ..)| *alias == name).unwrap().2;
        let of = |wanted| ARI.iter().filter(|(.., tier)| *tier == wanted).count();
        assert_eq!(Tier::ALL.map(of), [3, 4, 3, 3]);
        for (alias, id, expected) in ARI {
            assert_eq!((tier(alias), floor(&id.parse().unwrap())), (expected, expected), "{alias}");
        }
        assert_eq!(floor(&"calc".parse().unwrap()), Tier::ReadOnly);
    }
}
