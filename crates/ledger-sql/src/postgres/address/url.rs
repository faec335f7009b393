//! `postgres://user:password@host:port/database?name=value`, each part of which may be left out.

use std::fmt::{self, Write as _};

use ledger::store::StoreError;

use super::{ServerAddress, ServerHost, TlsMode};

/// What is wrong with an address, in words that hold nothing of it: any part of it may be a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressError(pub(super) &'static str);

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl From<AddressError> for StoreError {
    fn from(error: AddressError) -> Self {
        Self::Unreachable(error.to_string())
    }
}

/// What a URL says.
#[derive(Default)]
pub(super) struct UrlParts {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) database: Option<String>,
    pub(super) tls_mode: Option<TlsMode>,
    pub(super) root: Option<String>,
    pub(super) certificate: Option<String>,
    pub(super) key: Option<String>,
    pub(super) options: String,
}

/// Parameters that libpq or another client knows and that say nothing to us.
const IGNORED: [&str; 27] = [
    "application_name",
    "channel_binding",
    "client_encoding",
    "connect_timeout",
    "fallback_application_name",
    "gssdelegation",
    "gssencmode",
    "gsslib",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "krbsrvname",
    "load_balance_hosts",
    "passfile",
    "require_auth",
    "requirepeer",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "sslcertmode",
    "sslcompression",
    "sslcrl",
    "sslcrldir",
    "sslsni",
    "statement-cache-capacity",
    "target_session_attrs",
    "tcp_user_timeout",
];

impl UrlParts {
    pub(super) fn parse(url: &str) -> Result<Self, AddressError> {
        let rest = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"));
        let rest = rest.ok_or(AddressError("the URL does not begin with `postgres://`"))?;
        let (before_query, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = before_query.split_once('/').unwrap_or((before_query, ""));
        let (login, place) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = match login.split_once(':') {
            Some((user, password)) => (user, Some(decode(password)?)),
            None => (login, None),
        };
        let (host, port) = split_place(place)?;
        let mut parts = Self {
            user: filled(decode(user)?),
            password,
            host: filled(decode(host)?),
            port: port.map(parse_port).transpose()?,
            database: filled(decode(database)?),
            ..Self::default()
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) =
                pair.split_once('=').ok_or(AddressError("a parameter of the URL has no value"))?;
            parts.set(&decode(name)?, decode(value)?)?;
        }
        Ok(parts)
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), AddressError> {
        match name {
            "user" => self.user = filled(value),
            "password" => self.password = Some(value),
            "host" => self.host = filled(value),
            "hostaddr" => {
                value.parse::<std::net::IpAddr>().map_err(|_no_address| {
                    AddressError("the parameter `hostaddr` of the URL is no IP address")
                })?;
                self.host = filled(value);
            }
            "port" => self.port = Some(parse_port(&value)?),
            "dbname" => self.database = filled(value),
            "sslmode" | "ssl-mode" => self.tls_mode = Some(parse_mode(&value)?),
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => self.root = filled(value),
            "sslcert" | "ssl-cert" => self.certificate = filled(value),
            "sslkey" | "ssl-key" => self.key = filled(value),
            "options" => self.add_options(&value),
            _ => match name.strip_prefix("options[").and_then(|name| name.strip_suffix(']')) {
                Some(name) => self.add_options(&format!("-c {}", escape_option(&format!("{name}={value}")))),
                None if IGNORED.contains(&name) => {}
                None => return Err(AddressError("the URL has a parameter that PostgreSQL does not know")),
            },
        }
        Ok(())
    }

    fn add_options(&mut self, more: &str) {
        if !self.options.is_empty() {
            self.options.push(' ');
        }
        self.options.push_str(more);
    }
}

/// `host:port`, with an IPv6 address in brackets.
fn split_place(place: &str) -> Result<(&str, Option<&str>), AddressError> {
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, after) =
                rest.split_once(']').ok_or(AddressError("the URL has a bracket that is not closed"))?;
            match after.strip_prefix(':') {
                Some(port) => (host, port),
                None if after.is_empty() => (host, ""),
                None => return Err(AddressError("the URL has something else than a port after the host")),
            }
        }
        None => place.rsplit_once(':').unwrap_or((place, "")),
    };
    Ok((host, Some(port).filter(|port| !port.is_empty())))
}

pub(super) fn parse_port(text: &str) -> Result<u16, AddressError> {
    text.parse().map_err(|_no_port| AddressError("the port of the database is not a number up to 65535"))
}

pub(super) fn parse_mode(word: &str) -> Result<TlsMode, AddressError> {
    TlsMode::parse(word)
        .ok_or(AddressError("sslmode is not one of disable, allow, prefer, require, verify-ca, verify-full"))
}

fn filled(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// A switch for the server in which spaces and backslashes are part of its value.
pub(in crate::postgres) fn escape_option(text: &str) -> String {
    text.replace('\\', "\\\\").replace(' ', "\\ ")
}

/// `%2F` is a slash.
fn decode(text: &str) -> Result<String, AddressError> {
    const BROKEN: AddressError = AddressError("the URL has a `%` that two hexadecimal digits do not follow");
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let mut digit = || bytes.next().and_then(|digit| char::from(digit).to_digit(16));
                let (high, low) = (digit().ok_or(BROKEN)?, digit().ok_or(BROKEN)?);
                u8::try_from(high * 16 + low).map_err(|_no_byte| BROKEN)?
            }
            byte => byte,
        });
    }
    String::from_utf8(decoded).map_err(|_no_text| AddressError("the URL is not UTF-8"))
}

fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte.into()),
            _ => append(&mut encoded, format_args!("%{byte:02X}")),
        }
    }
    encoded
}

/// The whole address as a URL.
pub(super) fn write(address: &ServerAddress) -> String {
    let ServerAddress { host, port, user, password, database, tls, options } = address;
    let password = password.as_ref().map_or_else(String::new, |password| format!(":{}", encode(password)));
    let host = match host {
        ServerHost::Name(name) if name.contains(':') => format!("[{name}]"),
        ServerHost::Name(text) | ServerHost::Socket(text) => encode(text),
    };
    let mut url = format!("postgres://{}{password}@{host}:{port}/{}", encode(user), encode(database));
    append(&mut url, format_args!("?sslmode={}", tls.mode.word()));
    let options = Some(options).filter(|options| !options.is_empty());
    let more = [
        ("sslrootcert", tls.root.as_ref()),
        ("sslcert", tls.certificate.as_ref()),
        ("sslkey", tls.key.as_ref()),
        ("options", options),
    ];
    for (name, value) in more {
        if let Some(value) = value {
            append(&mut url, format_args!("&{name}={}", encode(value)));
        }
    }
    url
}

fn append(text: &mut String, more: fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let written = text.write_fmt(more);
    debug_assert!(written.is_ok());
}
