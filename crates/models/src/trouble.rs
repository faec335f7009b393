//! Everything that can go wrong between a prompt and its reply: what it means for the next try, and what the owner can do.
//!
//! INVARIANT: no key stands in any of these. What a server says is cleaned before it gets here (`said`), what we say
//! ourselves names the place where a key comes from and never the key.

use std::fmt;
use std::time::Duration;

use domain::ask::{Silence, Unanswered};

use crate::address::authority;
use crate::{Dialect, Endpoint};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It does not know the key, or the key may not do this.
    Key { said: String },
    /// It knows no such model.
    Model { said: String },
    /// There is nothing at this path.
    Address { status: u16 },
    /// More goes in than the model can hold.
    Full { said: String },
    /// The account is empty.
    Credit { said: String },
    /// Too much was asked in too short a time.
    Limited { after: Option<Duration>, said: String },
    /// It has too much to do.
    Busy { after: Option<Duration>, said: String },
    /// It failed.
    Server { status: u16, after: Option<Duration>, said: String },
    /// It does not take what was sent.
    Rejected { status: u16, said: String },
    /// It sends us somewhere else. A key does not follow.
    Moved { to: String },
    /// Nobody listens there.
    Refused,
    /// Its name is not known.
    Unresolved,
    /// Its certificate is not trusted, or it does not speak TLS.
    Untrusted { why: String },
    /// It could not be reached for another reason.
    Unconnected { why: String },
    /// The address is not encrypted, and leads off this machine.
    Open,
    /// The address cannot be read.
    NoAddress,
    /// It took too long.
    Slow { at: Stage, after: Duration },
    /// The connection ended before the reply did; `begun` if a part of it was there.
    Cut { begun: bool },
    /// What it sent is not the dialect that it should speak.
    Garbled { what: String },
    /// The model's reply is none: asking it again, told what was wrong, may help.
    Malformed { what: String },
    /// It sent more than anybody reads.
    TooLong { bytes: usize },
    /// The reply ended where the model may not write more.
    Truncated { tokens: u32 },
    /// It will not answer this.
    Declined { said: String },
    /// It failed too often; it is left alone for a while.
    Resting,
    /// It was detected, not chosen, and its listening socket is not (any more) that of a trusted user.
    Stranger { why: String },
}

/// What it took too long for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Connect,
    FirstByte,
    BetweenBytes,
    Whole,
}

/// Whether the same endpoint is worth another try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    Never,
    Once,
    /// As often as tries are left, after a wait.
    Often,
}

impl Trouble {
    #[must_use]
    pub fn garbled(what: impl Into<String>) -> Self {
        Self::Garbled { what: what.into() }
    }

    #[must_use]
    pub fn malformed(what: impl Into<String>) -> Self {
        Self::Malformed { what: what.into() }
    }

    #[must_use]
    pub const fn again(&self) -> Again {
        match self {
            Self::Limited { .. } | Self::Busy { .. } | Self::Server { .. } => Again::Often,
            Self::Refused | Self::Unresolved | Self::Unconnected { .. } | Self::Cut { .. } => Again::Once,
            Self::Slow { at: Stage::BetweenBytes, .. } | Self::Garbled { .. } => Again::Once,
            Self::Key { .. }
            | Self::Model { .. }
            | Self::Address { .. }
            | Self::Full { .. }
            | Self::Credit { .. }
            | Self::Rejected { .. }
            | Self::Moved { .. }
            | Self::Untrusted { .. }
            | Self::Open
            | Self::NoAddress
            | Self::Slow { .. }
            | Self::Malformed { .. }
            | Self::TooLong { .. }
            | Self::Truncated { .. }
            | Self::Declined { .. }
            | Self::Resting
            | Self::Stranger { .. } => Again::Never,
        }
    }

    /// A refusal stands: nobody is asked until somebody says yes. A reply that is none is for who asked to put right, and
    /// he asks the same model. Everything else may be different elsewhere.
    #[must_use]
    pub const fn try_next(&self) -> bool {
        !matches!(self, Self::Declined { .. } | Self::Malformed { .. })
    }

    /// Whether the server may have counted tokens before this: a reply had begun, or it was thinking.
    #[must_use]
    pub const fn may_be_billed(&self) -> bool {
        matches!(
            self,
            Self::Cut { .. }
                | Self::Garbled { .. }
                | Self::Malformed { .. }
                | Self::TooLong { .. }
                | Self::Truncated { .. }
                | Self::Declined { .. }
                | Self::Slow { at: Stage::FirstByte | Stage::BetweenBytes | Stage::Whole, .. }
        )
    }

    /// Whether it says something about the state of the server, and not about what it was asked.
    #[must_use]
    pub const fn blames_server(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. }
                | Self::Server { .. }
                | Self::Refused
                | Self::Unresolved
                | Self::Untrusted { .. }
                | Self::Unconnected { .. }
                | Self::Slow { .. }
                | Self::Cut { .. }
                | Self::Garbled { .. }
        )
    }

    /// Whether the owner can do more about it than wait.
    #[must_use]
    pub const fn is_for_the_owner(&self) -> bool {
        matches!(
            self,
            Self::Key { .. }
                | Self::Model { .. }
                | Self::Address { .. }
                | Self::Full { .. }
                | Self::Credit { .. }
                | Self::Rejected { .. }
                | Self::Moved { .. }
                | Self::Refused
                | Self::Unresolved
                | Self::Untrusted { .. }
                | Self::Open
                | Self::NoAddress
                | Self::Truncated { .. }
                | Self::Declined { .. }
                | Self::Stranger { .. }
        )
    }

    /// How long the server wants to be left alone.
    #[must_use]
    pub const fn after(&self) -> Option<Duration> {
        match self {
            Self::Limited { after, .. } | Self::Busy { after, .. } | Self::Server { after, .. } => *after,
            _ => None,
        }
    }

    #[must_use]
    pub const fn silence(&self) -> Silence {
        match self {
            Self::Malformed { .. } | Self::TooLong { .. } | Self::Truncated { .. } => Silence::Unusable,
            Self::Declined { .. } | Self::Full { .. } => Silence::Declined,
            _ => Silence::Unreachable,
        }
    }

    /// For whoever asked: what happened at this endpoint, and what to do.
    #[must_use]
    pub fn unanswered(&self, endpoint: &Endpoint) -> Unanswered {
        Unanswered::new(self.silence(), self.sentence(endpoint))
    }

    /// One sentence for the owner.
    #[must_use]
    pub fn sentence(&self, endpoint: &Endpoint) -> String {
        let Endpoint { provider, model, url, .. } = endpoint;
        let name = endpoint.name();
        let host = endpoint.host();
        match self {
            Self::Key { said } => refused_key(endpoint, said),
            Self::Model { .. } if endpoint.dialect == Dialect::Ollama => format!(
                "`{provider}` knows no model `{model}`: fetch it with `ollama pull {model}`, or choose one that `ollama list` shows with `regent model set <tier> {provider}/<model>`"
            ),
            Self::Model { .. } => {
                format!(
                    "`{provider}` knows no model `{model}`: look up its name in the documentation of `{provider}`, and choose it with `regent model set <tier> {provider}/<model>`"
                )
            }
            Self::Address { status } => format!(
                "`{provider}` has nothing at `{url}` (status {status}): correct its `url` in the settings"
            ),
            Self::Full { said } if endpoint.dialect == Dialect::Ollama => format!(
                "this is more than `{name}` can hold{}: start Ollama with a larger OLLAMA_CONTEXT_LENGTH, choose a model with a larger context, or ask about less at once",
                quoted(said)
            ),
            Self::Full { said } => format!(
                "this is more than `{name}` can hold{}: choose a model with a larger context with `regent model set`, or ask about less at once",
                quoted(said)
            ),
            Self::Credit { said } => format!(
                "the account at `{provider}` has no credit left{}: top it up there, or choose another provider with `regent model set`",
                quoted(said)
            ),
            Self::Limited { said, .. } => format!(
                "`{provider}` takes no more requests for now{}: wait a little, or choose another provider with `regent model set`",
                quoted(said)
            ),
            Self::Busy { said, .. } => format!("`{provider}` is overloaded{}: try again later", quoted(said)),
            Self::Server { status, said, .. } => {
                format!("`{provider}` failed with status {status}{}: try again later", quoted(said))
            }
            Self::Rejected { status, said } => format!(
                "`{name}` does not take the request (status {status}){}: choose another model with `regent model set`, or check its settings",
                quoted(said)
            ),
            Self::Moved { to } => format!(
                "`{provider}` redirects from `{url}` to `{to}`, and no key follows a redirect: put the right `url` into the settings"
            ),
            Self::Refused if endpoint.dialect == Dialect::Ollama => format!(
                "no model answered, {host} refused the connection: start it with `ollama serve`, or choose another with `regent model set hands <provider>/<model>`"
            ),
            Self::Refused => format!(
                "no model answered, {host} refused the connection: start the server of `{provider}`, or choose another with `regent model set hands <provider>/<model>`"
            ),
            Self::Unresolved => format!(
                "the name of {host} cannot be resolved: check the network, and the `url` of `{provider}` in the settings"
            ),
            Self::Untrusted { why } => format!(
                "no safe connection to {host}{}: check the `url` of `{provider}`, the clock and the system's certificates",
                quoted(why)
            ),
            Self::Unconnected { why } => {
                format!("{host} cannot be reached{}: check the network", quoted(why))
            }
            Self::Open => format!(
                "`{url}` is not encrypted and leads off this machine: use https, or set provider.{provider}.plain to `yes`"
            ),
            Self::NoAddress => no_address(endpoint),
            Self::Slow { at, after } => slow(*at, *after, &name, host),
            Self::Cut { begun: false } => format!("`{name}` hung up before it answered: try again"),
            Self::Cut { begun: true } => {
                format!("the reply of `{name}` was cut off before its end: try again")
            }
            Self::Garbled { what } => format!(
                "what `{name}` sends cannot be read, {what}: check the dialect and the `url` of `{provider}` in the settings"
            ),
            Self::Malformed { what } => format!("the reply of `{name}` makes no sense: {what}"),
            Self::TooLong { bytes } => format!("`{name}` sends more than {bytes} bytes without an end"),
            Self::Truncated { tokens } => format!(
                "the reply of `{name}` was cut at its limit of {tokens} tokens: ask for less at once, or choose a model that says it in fewer words with `regent model set`"
            ),
            Self::Declined { said } => format!("`{name}` declines to answer this{}", quoted(said)),
            Self::Resting => format!("`{name}` failed several times in a row and is left alone for a moment"),
            Self::Stranger { why } => format!(
                "nothing was sent to {host}, {why}: if you trust it, choose it with `regent model set brain {name}`"
            ),
        }
    }
}

/// Only the machine is named: somebody may have written a name and a password before it.
fn no_address(endpoint: &Endpoint) -> String {
    let Endpoint { provider, url, .. } = endpoint;
    let rest = url.rsplit_once('@').map_or(url.as_str(), |(_, rest)| rest);
    let named = match authority(rest) {
        "" => String::new(),
        host => format!(" (of {host})"),
    };
    format!(
        "the `url` of `{provider}`{named} is no address: correct it in the settings, like `https://host/path`, without a name, a password or a `?` in it"
    )
}

fn refused_key(endpoint: &Endpoint, said: &str) -> String {
    let Endpoint { provider, key_from, .. } = endpoint;
    // Its own words are shown where they say something else; of the key we speak ourselves.
    let said = if said.to_lowercase().contains("key") { String::new() } else { quoted(said) };
    match (&endpoint.key, key_from.is_empty()) {
        (None, true) => format!(
            "`{provider}` wants a key and there is none{said}: give it one, or choose another with `regent model set`"
        ),
        (None, false) => format!(
            "`{provider}` wants a key and there is none{said}: put one into {key_from}, or choose another with `regent model set`"
        ),
        (Some(_), true) => format!(
            "`{provider}` refuses the key{said}: give it a valid one, or choose another with `regent model set`"
        ),
        (Some(_), false) => format!(
            "`{provider}` refuses the key{said}: put a valid one into {key_from}, or choose another with `regent model set`"
        ),
    }
}

fn slow(at: Stage, after: Duration, name: &str, host: &str) -> String {
    let seconds = after.as_secs_f64();
    match at {
        Stage::Connect => format!("{host} took no connection within {seconds} s: check the network"),
        Stage::FirstByte => {
            format!("`{name}` said nothing for {seconds} s: try again, or choose a faster model")
        }
        Stage::BetweenBytes => {
            format!("`{name}` fell silent for {seconds} s in the middle of its reply: try again")
        }
        Stage::Whole => {
            format!("`{name}` was not done after {seconds} s: ask for less at once, or choose a faster model")
        }
    }
}

/// What the server says goes behind what we say.
fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(" (\"{said}\")") }
}

/// Without an endpoint, for records and tests.
impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Trouble {}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::ask::Silence;

    use super::{Again, Stage, Trouble};
    use crate::dialect::samples;
    use crate::{Dialect, Endpoint};

    fn said() -> String {
        "words".into()
    }

    /// Each of them: again here, next endpoint, on the bill, the server's fault, for the owner; and what silence it is.
    #[test]
    fn what_each_trouble_leads_to() {
        use Again::{Never, Often, Once};
        use Silence::{Declined, Unreachable, Unusable};
        let slow = |at| Trouble::Slow { at, after: Duration::from_secs(5) };
        let (yes, no) = (true, false);
        let table = [
            (Trouble::Key { said: said() }, Never, [yes, no, no, yes], Unreachable),
            (Trouble::Model { said: said() }, Never, [yes, no, no, yes], Unreachable),
            (Trouble::Address { status: 404 }, Never, [yes, no, no, yes], Unreachable),
            (Trouble::Full { said: said() }, Never, [yes, no, no, yes], Declined),
            (Trouble::Credit { said: said() }, Never, [yes, no, no, yes], Unreachable),
            (Trouble::Limited { after: None, said: said() }, Often, [yes, no, no, no], Unreachable),
            (Trouble::Busy { after: None, said: said() }, Often, [yes, no, yes, no], Unreachable),
            (
                Trouble::Server { status: 500, after: None, said: said() },
                Often,
                [yes, no, yes, no],
                Unreachable,
            ),
            (Trouble::Rejected { status: 400, said: said() }, Never, [yes, no, no, yes], Unreachable),
            (Trouble::Moved { to: said() }, Never, [yes, no, no, yes], Unreachable),
            (Trouble::Refused, Once, [yes, no, yes, yes], Unreachable),
            (Trouble::Unresolved, Once, [yes, no, yes, yes], Unreachable),
            (Trouble::Untrusted { why: said() }, Never, [yes, no, yes, yes], Unreachable),
            (Trouble::Unconnected { why: said() }, Once, [yes, no, yes, no], Unreachable),
            (Trouble::Open, Never, [yes, no, no, yes], Unreachable),
            (Trouble::NoAddress, Never, [yes, no, no, yes], Unreachable),
            (slow(Stage::Connect), Never, [yes, no, yes, no], Unreachable),
            (slow(Stage::FirstByte), Never, [yes, yes, yes, no], Unreachable),
            (slow(Stage::BetweenBytes), Once, [yes, yes, yes, no], Unreachable),
            (slow(Stage::Whole), Never, [yes, yes, yes, no], Unreachable),
            (Trouble::Cut { begun: true }, Once, [yes, yes, yes, no], Unreachable),
            (Trouble::Garbled { what: said() }, Once, [yes, yes, yes, no], Unreachable),
            (Trouble::Malformed { what: said() }, Never, [no, yes, no, no], Unusable),
            (Trouble::TooLong { bytes: 1 }, Never, [yes, yes, no, no], Unusable),
            (Trouble::Truncated { tokens: 1 }, Never, [yes, yes, no, yes], Unusable),
            (Trouble::Declined { said: said() }, Never, [no, yes, no, yes], Declined),
            (Trouble::Resting, Never, [yes, no, no, no], Unreachable),
            (Trouble::Stranger { why: said() }, Never, [yes, no, no, yes], Unreachable),
        ];
        for (trouble, again, flags, silence) in table {
            let found = [
                trouble.try_next(),
                trouble.may_be_billed(),
                trouble.blames_server(),
                trouble.is_for_the_owner(),
            ];
            assert_eq!((trouble.again(), found, trouble.silence()), (again, flags, silence), "{trouble:?}");
            for dialect in Dialect::ALL {
                let sentence = trouble.sentence(&samples::endpoint(dialect));
                let one_sentence =
                    !sentence.ends_with('.') && !sentence.contains('\n') && !sentence.contains(". ");
                assert!(one_sentence, "{sentence}");
                assert!(!sentence.contains(samples::KEY), "{sentence}");
            }
        }
    }

    #[test]
    fn an_address_that_is_none_is_not_repeated_but_for_its_machine() {
        for (url, named) in [
            ("http://me:secret@models.example/v1", " (of models.example)"),
            ("http://me:sec/ret@models.example:8080/v1", " (of models.example:8080)"),
            ("ftp://models.example", " (of models.example)"),
            ("", ""),
        ] {
            let endpoint = Endpoint { url: url.into(), ..samples::endpoint(Dialect::Chat) };
            let expected = format!(
                "the `url` of `chat`{named} is no address: correct it in the settings, like `https://host/path`, without a name, a password or a `?` in it"
            );
            assert_eq!(Trouble::NoAddress.sentence(&endpoint), expected);
        }
    }

    #[test]
    fn no_sentence_names_a_setting_or_a_list_that_is_none() {
        let endpoint = samples::endpoint(Dialect::Chat);
        let limit = Trouble::Truncated { tokens: 9 }.sentence(&endpoint);
        let unknown = Trouble::Model { said: said() }.sentence(&endpoint);
        let full = Trouble::Full { said: said() }.sentence(&endpoint);
        assert!(!limit.contains("tokens_out"), "{limit}");
        assert!(unknown.contains("`regent model set <tier> chat/<model>`"), "{unknown}");
        assert!(
            !unknown.contains("regent model list") && !full.contains("regent model list"),
            "{unknown} {full}"
        );
    }

    #[test]
    fn a_refused_key_says_where_to_put_another() {
        let with = Endpoint {
            provider: "anthropic".into(),
            key_from: "ANTHROPIC_API_KEY".into(),
            ..samples::endpoint(Dialect::Anthropic)
        };
        let unsourced = Endpoint { key_from: String::new(), ..with.clone() };
        let none = Endpoint { key: None, ..with.clone() };
        let neither = Endpoint { key: None, ..unsourced.clone() };
        let region = "not in your country";
        let cases = [
            (
                &with,
                "invalid x-api-key",
                "`anthropic` refuses the key: put a valid one into ANTHROPIC_API_KEY, or choose another with `regent model set`",
            ),
            (
                &with,
                region,
                "`anthropic` refuses the key (\"not in your country\"): put a valid one into ANTHROPIC_API_KEY, or choose another with `regent model set`",
            ),
            (
                &unsourced,
                "",
                "`anthropic` refuses the key: give it a valid one, or choose another with `regent model set`",
            ),
            (
                &none,
                "",
                "`anthropic` wants a key and there is none: put one into ANTHROPIC_API_KEY, or choose another with `regent model set`",
            ),
            (
                &neither,
                "",
                "`anthropic` wants a key and there is none: give it one, or choose another with `regent model set`",
            ),
        ];
        for (endpoint, said, expected) in cases {
            assert_eq!(Trouble::Key { said: said.into() }.sentence(endpoint), expected);
        }
    }
}
