//! Who listens at an address of this machine: read from the kernel's tables of sockets (`/proc/net/tcp`, `tcp6`), given as
//! text.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::authority;

/// Users under whose name distributions and installers run model servers. They count if they are system accounts.
pub const SERVICES: [&str; 9] =
    ["ollama", "llama", "llamacpp", "llama-cpp", "llama-server", "llama-swap", "localai", "lmstudio", "vllm"];

/// What is known of the listeners at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listener {
    /// No socket listens there.
    Absent,
    /// All of them are the caller's, root's or a service's.
    Trusted,
    /// At least one is not, or it is not known: why, in words.
    Refused(String),
}

/// The tables as the kernel shows them.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    pub tcp: &'a str,
    /// Empty where the machine has no IPv6.
    pub tcp6: &'a str,
}

/// The users whose sockets may take a connection to this address: those bound to it, and those bound to every address.
/// Nothing if a line cannot be read: then the owners are unknown.
#[must_use]
pub fn owners(tables: Tables<'_>, address: IpAddr, port: u16) -> Option<BTreeSet<u32>> {
    let mut owners = BTreeSet::new();
    for (table, read) in [(tables.tcp, four as fn(&str) -> Option<IpAddr>), (tables.tcp6, six)] {
        for line in table.lines().skip(1).filter(|line| !line.trim().is_empty()) {
            let Socket { at, port: its, is_listening, uid } = Socket::read(line, read)?;
            if is_listening && its == port && takes(at, address) {
                owners.insert(uid);
            }
        }
    }
    Some(owners)
}

/// Whether a socket bound to `at` may be given a connection to `address`. A listener on all of IPv6 may take IPv4 too.
fn takes(at: IpAddr, address: IpAddr) -> bool {
    at == address || at.is_unspecified() && (at.is_ipv6() || address.is_ipv4())
}

struct Socket {
    at: IpAddr,
    port: u16,
    is_listening: bool,
    uid: u32,
}

impl Socket {
    /// `0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001 …`
    fn read(line: &str, address: fn(&str) -> Option<IpAddr>) -> Option<Self> {
        const LISTENS: &str = "0A";
        let mut fields = line.split_whitespace();
        let (local, state) = (fields.nth(1)?, fields.nth(1)?);
        let uid = fields.nth(3)?.parse().ok()?;
        let (at, port) = local.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        Some(Self { at: address(at)?, port, is_listening: state == LISTENS, uid })
    }
}

/// Four bytes in the order of the network, shown as one number of this machine.
fn bytes(word: &str) -> Option<[u8; 4]> {
    (word.len() == 8).then(|| u32::from_str_radix(word, 16).ok())?.map(u32::to_ne_bytes)
}

fn four(text: &str) -> Option<IpAddr> {
    Some(Ipv4Addr::from(bytes(text)?).into())
}

/// An IPv4 address that is mapped into IPv6 is the IPv4 address.
fn six(text: &str) -> Option<IpAddr> {
    if text.len() != 32 || !text.is_ascii() {
        return None;
    }
    let mut all = [0; 16];
    for (part, place) in all.chunks_mut(4).enumerate() {
        place.copy_from_slice(&bytes(text.get(part * 8..part * 8 + 8)?)?);
    }
    Some(Ipv6Addr::from(all).to_canonical())
}

/// Whether all owners are the caller, root, or a service user. Otherwise the first that is not.
///
/// # Errors
/// The user that is none of these.
pub fn judge(
    owners: &BTreeSet<u32>,
    caller: u32,
    name_of: impl Fn(u32) -> Option<String>,
) -> Result<(), u32> {
    let is_service = |uid: u32| {
        is_system_account(uid) && name_of(uid).is_some_and(|name| SERVICES.contains(&name.as_str()))
    };
    let is_trusted = |uid: u32| uid == caller || uid == 0 || is_service(uid);
    owners.iter().copied().find(|uid| !is_trusted(*uid)).map_or(Ok(()), Err)
}

/// Accounts that no person logs in with: those below 1000, and those that systemd makes for a service while it runs.
const fn is_system_account(uid: u32) -> bool {
    matches!(uid, 1..=999 | 61_184..=65_519)
}

/// The addresses that a URL on this machine may lead to, and the port. `localhost` is one or the other.
#[must_use]
pub fn addresses(url: &str) -> Option<(Vec<IpAddr>, u16)> {
    let usual = if url.starts_with("https://") { 443 } else { 80 };
    let host = authority(url);
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (name, after) = rest.split_once(']')?;
            (name, after.strip_prefix(':'))
        }
        None => host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port))),
    };
    let port = port.map_or(Some(usual), |port| port.parse().ok())?;
    if name.eq_ignore_ascii_case("localhost") {
        return Some((vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()], port));
    }
    name.parse().ok().filter(IpAddr::is_loopback).map(|address| (vec![address], port))
}

#[cfg(test)]
mod tests {
    use super::{Tables, addresses, judge, owners};
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    const HEAD: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    /// A line as the kernel writes it.
    fn line(at: IpAddr, port: u16, state: &str, uid: u32) -> String {
        let words = |bytes: &[u8]| -> String {
            bytes
                .chunks(4)
                .map(|word| format!("{:08X}", u32::from_ne_bytes(word.try_into().unwrap())))
                .collect()
        };
        let (at, other) = match at {
            IpAddr::V4(at) => (words(&at.octets()), "00000000"),
            IpAddr::V6(at) => (words(&at.octets()), "00000000000000000000000000000000"),
        };
        format!(
            "   0: {at}:{port:04X} {other}:0000 {state} 00000000:00000000 00:00000000 00000000 {uid:5}        0 39 1 0000000000000000 100 0 0 10 0\n"
        )
    }

    fn found(tcp: &[String], tcp6: &[String], address: &str) -> Option<BTreeSet<u32>> {
        let (tcp, tcp6) = (format!("{HEAD}{}", tcp.concat()), format!("{HEAD}{}", tcp6.concat()));
        owners(Tables { tcp: &tcp, tcp6: &tcp6 }, address.parse().unwrap(), 8080)
    }

    #[test]
    fn every_socket_that_may_take_the_connection_is_found() {
        let at = |address: &str, port, state, uid| line(address.parse().unwrap(), port, state, uid);
        type Row<'a> = (&'a [String], &'a [String], &'a str, &'a [u32]);
        let table: &[Row<'_>] = &[
            (&[], &[], "127.0.0.1", &[]),
            (&[at("127.0.0.1", 8080, "0A", 1001)], &[], "127.0.0.1", &[1001]),
            (&[at("0.0.0.0", 8080, "0A", 1001)], &[], "127.0.0.1", &[1001]),
            (&[], &[at("::", 8080, "0A", 1001)], "127.0.0.1", &[1001]),
            (&[], &[at("::ffff:127.0.0.1", 8080, "0A", 1001)], "127.0.0.1", &[1001]),
            (&[], &[at("::ffff:0.0.0.0", 8080, "0A", 1001)], "127.0.0.1", &[1001]),
            (&[], &[at("::1", 8080, "0A", 1001)], "127.0.0.1", &[]),
            (&[], &[at("::1", 8080, "0A", 1001)], "::1", &[1001]),
            (&[], &[at("::", 8080, "0A", 1001)], "::1", &[1001]),
            (&[at("0.0.0.0", 8080, "0A", 1001)], &[], "::1", &[]),
            // One of several that share the port is enough.
            (
                &[at("127.0.0.1", 8080, "0A", 1000), at("127.0.0.1", 8080, "0A", 1001)],
                &[at("::", 8080, "0A", 1002)],
                "127.0.0.1",
                &[1000, 1001, 1002],
            ),
            // Another address, another port, another state.
            (
                &[
                    at("127.0.0.2", 8080, "0A", 1),
                    at("127.0.0.1", 8081, "0A", 2),
                    at("127.0.0.1", 8080, "01", 3),
                    at("192.0.2.1", 8080, "0A", 4),
                ],
                &[],
                "127.0.0.1",
                &[],
            ),
        ];
        for (tcp, tcp6, address, expected) in table {
            let expected = expected.iter().copied().collect();
            assert_eq!(found(tcp, tcp6, address), Some(expected), "{tcp:?} {tcp6:?} {address}");
        }
    }

    #[test]
    fn a_table_that_cannot_be_read_says_nothing() {
        let good = line(Ipv4Addr::LOCALHOST.into(), 8080, "0A", 0);
        for bad in [
            "x\n",
            "0: 0100007F:1F90\n",
            &good.replace("0100007F", "0100007"),
            &good.replace("1F90", "1F9001"),
        ] {
            assert_eq!(found(&[good.clone(), bad.to_owned()], &[], "127.0.0.1"), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(tcp in ".*", tcp6 in "( *[0-9A-Fa-f:é]+ ){0,14}\n?") {
            let _read = owners(Tables { tcp: &format!("\n{tcp6}"), tcp6: &tcp }, Ipv6Addr::LOCALHOST.into(), 1);
        }

        #[test]
        fn one_untrusted_listener_among_any_others_is_enough(mut uids in proptest::collection::vec(0_u32..2000, 0..9), at in 0_usize..9, v6: bool) {
            uids.insert(at.min(uids.len()), 1001);
            let lines: Vec<String> = uids.iter().map(|uid| match v6 {
                true => line(Ipv6Addr::UNSPECIFIED.into(), 8080, "0A", *uid),
                false => line(Ipv4Addr::LOCALHOST.into(), 8080, "0A", *uid),
            }).collect();
            let owners = if v6 { found(&[], &lines, "127.0.0.1") } else { found(&lines, &[], "127.0.0.1") }.unwrap();
            prop_assert!(judge(&owners, 1000, |_| Some("ollama".into())).is_err());
        }
    }

    #[test]
    fn who_is_trusted() {
        let name = |uid| match uid {
            998 | 1002 | 61_200 => Some("ollama".to_owned()),
            997 => Some("www-data".to_owned()),
            _ => None,
        };
        let table: &[(&[u32], u32, Result<(), u32>)] = &[
            (&[], 1000, Ok(())),
            (&[1000], 1000, Ok(())),
            (&[0], 1000, Ok(())),
            (&[998], 1000, Ok(())),
            (&[61_200], 1000, Ok(())),
            (&[0, 998, 1000], 1000, Ok(())),
            (&[1001], 1000, Err(1001)),
            (&[1000, 1001], 1000, Err(1001)),
            (&[997], 1000, Err(997)),
            // A person may be called like a service.
            (&[1002], 1000, Err(1002)),
            (&[1001], 0, Err(1001)),
        ];
        for (owners, caller, expected) in table {
            assert_eq!(judge(&owners.iter().copied().collect(), *caller, name), *expected, "{owners:?}");
        }
    }

    #[test]
    fn where_a_url_leads() {
        let (four, six): (IpAddr, IpAddr) = (Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into());
        assert_eq!(addresses("http://127.0.0.1:8080/v1"), Some((vec![four], 8080)));
        assert_eq!(addresses("http://[::1]:9"), Some((vec![six], 9)));
        assert_eq!(addresses("http://localhost/v1"), Some((vec![four, six], 80)));
        assert_eq!(addresses("https://LOCALHOST"), Some((vec![four, six], 443)));
        for elsewhere in ["http://192.0.2.1:1", "http://box:1", "http://127.0.0.1:x", "", "http://[::1"] {
            assert_eq!(addresses(elsewhere), None, "{elsewhere}");
        }
    }
}
