//! The time zone of the machine, found without a list of all zones.

#![expect(clippy::disallowed_methods, reason = "the time zone files of the machine")]

use std::path::{Component, Path};

use jiff::tz::TimeZone;

const LOCAL_TIME: &str = "/etc/localtime";
const ZONES: &str = "/usr/share/zoneinfo";

/// Finds the zone as `jiff` does. `jiff` lists every file below [`ZONES`] before it reads one of them, which costs more than
/// many a command does; so the usual case is read directly: a link to a file there. Everything else is left to `jiff`.
pub(crate) fn find(variables: &[(String, String)]) -> TimeZone {
    let is_set = |name: &str| variables.iter().any(|(known, _)| known == name);
    // These say where else to look.
    if is_set("TZ") || is_set("TZDIR") {
        return TimeZone::system();
    }
    read_linked(Path::new(LOCAL_TIME), Path::new(ZONES)).unwrap_or_else(TimeZone::system)
}

/// The zone that a link names; `None` if it names no file below `zones` by its exact name.
fn read_linked(link: &Path, zones: &Path) -> Option<TimeZone> {
    let target = std::fs::read_link(link).ok()?;
    let (_, name) = target.to_str()?.rsplit_once("zoneinfo/")?;
    if name.eq_ignore_ascii_case("UTC") {
        return Some(TimeZone::UTC);
    }
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    // `jiff` does not know the zones of these two folders, which are other versions of the same.
    let is_variant = name.starts_with("posix/") || name.starts_with("right/");
    if name.eq_ignore_ascii_case("Etc/Unknown") || is_variant || !Path::new(name).components().all(is_plain) {
        return None;
    }
    TimeZone::tzif(name, &std::fs::read(zones.join(name)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::{find, read_linked};
    use jiff::Timestamp;
    use jiff::tz::TimeZone;
    use std::os::unix::fs::symlink;

    /// A zone file: one fixed type, then the rule of central Europe.
    fn zone_file() -> Vec<u8> {
        let header = |version: u8| {
            let counts = [0_u32, 0, 0, 0, 1, 4].into_iter().flat_map(u32::to_be_bytes);
            b"TZif".iter().copied().chain([version]).chain([0; 15]).chain(counts).collect::<Vec<u8>>()
        };
        let data = [&3600_i32.to_be_bytes()[..], &[0, 0], b"CET\0"].concat();
        let rule = b"\nCET-1CEST,M3.5.0,M10.5.0/3\n";
        [&header(b'2')[..], &data, &header(b'2'), &data, rule].concat()
    }

    #[test]
    fn a_link_to_a_zone_is_read_and_everything_else_is_left_to_jiff() {
        let place = tempfile::tempdir().expect("folder");
        let zones = place.path().join("zoneinfo");
        for name in ["Europe/Berlin", "right/Europe/Berlin", "Europe/Broken"] {
            std::fs::create_dir_all(zones.join(name).parent().expect("a folder")).expect("folders");
            let bytes = if name.ends_with("Broken") { b"TZif".to_vec() } else { zone_file() };
            std::fs::write(zones.join(name), bytes).expect("write");
        }
        std::fs::write(place.path().join("outside"), zone_file()).expect("write");
        let table = [
            ("/usr/share/zoneinfo/Europe/Berlin", Some("Europe/Berlin")),
            ("../usr/share/zoneinfo/Europe/Berlin", Some("Europe/Berlin")),
            ("/usr/share/zoneinfo/UTC", Some("UTC")),
            ("/usr/share/zoneinfo/europe/berlin", None),
            ("/usr/share/zoneinfo/right/Europe/Berlin", None),
            ("/usr/share/zoneinfo/Etc/Unknown", None),
            ("/usr/share/zoneinfo/../outside", None),
            ("/usr/share/zoneinfo//Europe/Berlin", None),
            ("/usr/share/zoneinfo/Europe/Broken", None),
            ("/usr/share/zoneinfo/Europe/Paris", None),
            ("/etc/zone", None),
        ];
        for (target, expected) in table {
            let link = place.path().join("localtime");
            drop(std::fs::remove_file(&link));
            symlink(target, &link).expect("link");
            let zone = read_linked(&link, &zones);
            assert_eq!(zone.as_ref().and_then(TimeZone::iana_name), expected, "{target}");
        }
        assert!(read_linked(&place.path().join("outside"), &zones).is_none(), "no link");
        assert!(read_linked(&place.path().join("missing"), &zones).is_none());
    }

    #[test]
    fn it_is_the_zone_that_jiff_finds() {
        let variables = crate::ProcessEnvironment::read().variables;
        let (found, jiffs) = (find(&variables), TimeZone::system());
        let (winter, summer) = (1_767_225_600, 1_782_864_000);
        for second in [winter, summer] {
            let at = Timestamp::from_second(second).expect("a time");
            assert_eq!(found.to_offset(at), jiffs.to_offset(at));
        }
        assert_eq!(found.iana_name(), jiffs.iana_name());
    }
}
