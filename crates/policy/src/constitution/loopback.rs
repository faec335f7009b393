//! Rule 1: which addresses are this very machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether a listener may be bound to this address, and a peer with it be spoken to: 127.0.0.1 and `::1`, and nothing
/// else. An IPv4 address that is written as IPv6 is the one it stands for; the rest of 127/8 is somebody's special case,
/// not ours.
#[must_use]
pub fn is_loopback(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address == Ipv4Addr::LOCALHOST,
        IpAddr::V6(address) => address == Ipv6Addr::LOCALHOST,
    }
}

#[cfg(test)]
mod tests {
    use super::is_loopback;
    use std::net::{IpAddr, SocketAddr};

    #[test]
    fn only_this_very_machine_is_loopback() {
        let table = [
            ("127.0.0.1", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("::ffff:7f00:1", true),
            ("0.0.0.0", false),
            ("::", false),
            ("::ffff:0.0.0.0", false),
            ("::ffff:192.168.0.7", false),
            // Looks like it, and is an address of its own that anybody may route.
            ("::127.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("2002:7f00:1::", false),
            ("127.0.0.2", false),
            ("127.1.2.3", false),
            ("::2", false),
            ("fe80::1", false),
            ("10.0.0.1", false),
            ("192.168.0.7", false),
            ("169.254.169.254", false),
            ("255.255.255.255", false),
            ("203.0.113.7", false),
        ];
        for (address, expected) in table {
            assert_eq!(is_loopback(address.parse::<IpAddr>().unwrap()), expected, "{address}");
        }
        let socket: SocketAddr = "[::ffff:127.0.0.1]:8420".parse().unwrap();
        assert!(is_loopback(socket.ip()), "the port does not matter");
    }
}
