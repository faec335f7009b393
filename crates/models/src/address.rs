//! The address of a server, by its form alone: nothing is looked up.

/// The part that names a machine and a port: `api.anthropic.com`, `127.0.0.1:11434`.
pub(crate) fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.rsplit_once('@').map_or(host, |(_, host)| host)
}

/// The same, as it is compared: in small letters, without the port that the scheme implies.
pub(crate) fn destination(url: &str) -> String {
    let host = authority(url).to_ascii_lowercase();
    let usual = if url.starts_with("https://") { ":443" } else { ":80" };
    host.strip_suffix(usual).unwrap_or(&host).to_owned()
}

/// Whether it is this very machine. No name but `localhost` is.
pub(crate) fn is_loopback(url: &str) -> bool {
    let host = authority(url);
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let loopback = host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    loopback || host.eq_ignore_ascii_case("localhost")
}
