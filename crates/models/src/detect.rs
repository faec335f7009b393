//! Which model server runs on this machine, if one does. Only loopback is ever asked unasked.

use std::pin::Pin;

use serde_json::Value;

use crate::Key;
use crate::address::is_loopback;
use crate::catalog::{self, Known};
use crate::listener::Listener;

/// Asks servers on this machine, for pages and for whose they are.
pub trait Probe: Send + Sync {
    /// A page. Nothing if there is no answer, or not in JSON, or not in time.
    fn get<'a>(&'a self, url: &'a str) -> Probing<'a>;

    /// Who listens there. A server that is not trusted is sent no request.
    fn listener(&self, url: &str) -> Listener;
}

pub type Probing<'a> = Pin<Box<dyn Future<Output = Option<Value>> + Send + 'a>>;

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) provider: &'static str,
    pub(crate) url: String,
    /// As it says of itself: `Ollama 0.12.3`.
    pub(crate) called: String,
    /// What it has that can talk, the most able first.
    pub(crate) models: Vec<String>,
}

impl Server {
    /// The same without the key that it was once sent, should it call itself or a model by that.
    pub(crate) fn without(mut self, key: Option<&Key>) -> Self {
        if let Some(matcher) = key.and_then(Key::matcher) {
            self.called = matcher.hidden(self.called);
            self.models.retain(|model| matcher.find(model).is_empty());
        }
        self
    }
}

/// What came of looking for a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Detected {
    pub(crate) server: Option<Server>,
    /// Those that listen and are not asked, because of whose they are.
    pub(crate) refused: Vec<(&'static str, String)>,
}

/// Ollama, or else llama.cpp, at their addresses if they may be asked; the first that has a model.
pub(crate) async fn detect(ollama: Option<&str>, llamacpp: Option<&str>, probe: &dyn Probe) -> Detected {
    let mut detected = Detected::default();
    for (name, url) in [("ollama", ollama), ("llamacpp", llamacpp)] {
        let Some(url) = url else { continue };
        match probe.listener(url) {
            Listener::Absent => continue,
            Listener::Refused(why) => {
                detected.refused.push((name, why));
                continue;
            }
            Listener::Trusted => {}
        }
        let found =
            if name == "ollama" { find_ollama(url, probe).await } else { find_llamacpp(url, probe).await };
        detected.server = found.filter(|server| !server.models.is_empty());
        if detected.server.is_some() {
            break;
        }
    }
    detected
}

async fn find_ollama(url: &str, probe: &dyn Probe) -> Option<Server> {
    let Known { name: provider, .. } = catalog::known("ollama")?;
    let version = probe.get(&format!("{url}/api/version")).await?;
    let version = version.get("version")?.as_str()?.to_owned();
    let tags = probe.get(&format!("{url}/api/tags")).await?;
    let called = if tame(&version) { format!("Ollama {version}") } else { "Ollama".to_owned() };
    Some(Server { provider, url: url.to_owned(), called, models: talkers(&tags) })
}

async fn find_llamacpp(url: &str, probe: &dyn Probe) -> Option<Server> {
    let Known { name: provider, .. } = catalog::known("llamacpp")?;
    let root = url.strip_suffix("/v1").unwrap_or(url);
    let health = probe.get(&format!("{root}/health")).await?;
    if health.get("status")?.as_str()? != "ok" {
        return None;
    }
    let listed = probe.get(&format!("{url}/models")).await?;
    let ids = listed.get("data")?.as_array()?.iter().filter_map(|model| model.get("id")?.as_str());
    let models = ids.filter(|id| tame(id)).map(str::to_owned).collect();
    Some(Server { provider, url: url.to_owned(), called: "llama.cpp".to_owned(), models })
}

/// The models of an Ollama server that can talk, the largest first; those that only embed cannot.
fn talkers(tags: &Value) -> Vec<String> {
    const SILENT: [&str; 6] = ["embed", "bert", "bge-", "minilm", "e5-", "rerank"];
    let list = tags.get("models").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let talks = |model: &&Value| {
        let family = model.pointer("/details/family").and_then(Value::as_str).unwrap_or_default();
        let name = model.get("name").and_then(Value::as_str).unwrap_or_default();
        tame(name) && !SILENT.iter().any(|silent| name.contains(silent) || family.contains(silent))
    };
    let mut models: Vec<(u64, &str)> = list
        .iter()
        .filter(talks)
        .filter_map(|model| {
            let size = model.get("size").and_then(Value::as_u64).unwrap_or_default();
            Some((size, model.get("name")?.as_str()?))
        })
        .collect();
    models.sort_by(|(a, one), (b, other)| b.cmp(a).then(one.cmp(other)));
    models.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// Whether a server's word can stand in a sentence and a setting: short, and made of what names are made of.
fn tame(word: &str) -> bool {
    const LONGEST: usize = 200;
    let fits =
        |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-' | b':' | b'/' | b'@' | b'+');
    (1..=LONGEST).contains(&word.len()) && word.bytes().all(fits)
}

/// Where Ollama is, as `OLLAMA_HOST` says it: `0.0.0.0`, `:11434`, `box:8080`, `https://box`. What a server listens on
/// everywhere is asked here.
#[must_use]
pub(crate) fn ollama_url(host: Option<&str>) -> String {
    const PORT: &str = "11434";
    let usual = || format!("http://127.0.0.1:{PORT}");
    let Some(host) = host.map(str::trim).filter(|host| !host.is_empty()) else { return usual() };
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (name, port) = match rest.strip_prefix('[') {
        Some(six) => {
            let (name, after) = six.split_once(']').unwrap_or((six, ""));
            (format!("[{name}]"), after.strip_prefix(':'))
        }
        None => match rest.rsplit_once(':') {
            Some((name, port)) => (name.to_owned(), Some(port)),
            None => (rest.to_owned(), None),
        },
    };
    let name = match name.as_str() {
        "" | "0.0.0.0" | "[::]" => "127.0.0.1",
        name => name,
    };
    let with_scheme = if host.contains("://") { if scheme == "https" { "443" } else { "80" } } else { PORT };
    let port = port.filter(|port| port.parse::<u16>().is_ok()).unwrap_or(with_scheme);
    format!("{}://{name}:{port}", if scheme == "https" { "https" } else { "http" })
}

/// Whether an address may be asked without anybody having said so.
#[must_use]
pub(crate) fn may_be_probed(url: &str) -> bool {
    url.starts_with("http://") && is_loopback(url)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Detected, Probe, Probing, Server, detect, ollama_url};
    use crate::listener::Listener;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    /// Answers from a table, and remembers what it was asked.
    #[derive(Default)]
    pub(crate) struct Pages {
        pub(crate) pages: BTreeMap<String, Value>,
        /// Beginnings of addresses at which others listen.
        pub(crate) of_others: Vec<&'static str>,
        pub(crate) asked: Mutex<Vec<String>>,
    }

    impl Pages {
        pub(crate) fn of(pages: &[(&str, Value)]) -> Self {
            let pages = pages.iter().map(|(url, page)| ((*url).to_owned(), page.clone())).collect();
            Self { pages, ..Self::default() }
        }
    }

    impl Probe for Pages {
        fn get<'a>(&'a self, url: &'a str) -> Probing<'a> {
            self.asked.lock().unwrap().push(url.to_owned());
            let page = self.pages.get(url).cloned();
            Box::pin(async move { page })
        }

        fn listener(&self, url: &str) -> Listener {
            match self.of_others.iter().any(|other| url.starts_with(other)) {
                true => Listener::Refused("it belongs to user 1001, not to you".into()),
                false => Listener::Trusted,
            }
        }
    }

    /// None of these futures ever waits.
    pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!(future).poll(&mut context) {
            std::task::Poll::Ready(done) => done,
            std::task::Poll::Pending => panic!("it waits"),
        }
    }

    const OLLAMA: &str = "http://127.0.0.1:11434";
    const LLAMA: &str = "http://127.0.0.1:8080/v1";

    fn found(pages: &[(&str, Value)]) -> Option<Server> {
        now(detect(Some(OLLAMA), Some(LLAMA), &Pages::of(pages))).server
    }

    #[test]
    fn ollama_is_found_with_its_largest_model_first_and_without_those_that_only_embed() {
        let tags = json!({ "models": [
            { "name": "qwen3:0.6b", "size": 500 },
            { "name": "nomic-embed-text:latest", "size": 9000 },
            { "name": "quiet", "size": 9000, "details": { "family": "nomic-bert" } },
            { "name": "qwen3:8b", "size": 5000 },
            { "name": "a\u{1b}[2Jb", "size": 9000 },
            { "size": 9000 },
        ] });
        let pages = [
            ("http://127.0.0.1:11434/api/version", json!({ "version": "0.12.3" })),
            ("http://127.0.0.1:11434/api/tags", tags),
        ];
        let server = Server {
            provider: "ollama",
            url: OLLAMA.into(),
            called: "Ollama 0.12.3".into(),
            models: vec!["qwen3:8b".into(), "qwen3:0.6b".into()],
        };
        assert_eq!(found(&pages), Some(server));
    }

    #[test]
    fn a_server_that_calls_a_model_by_its_key_has_no_such_model() {
        let key = crate::Key::new("sk-canary-7f3e1b9c2d".into());
        let models =
            vec!["qwen3:8b".into(), "sk-canary-7f3e1b9c2d".into(), "c2stY2FuYXJ5LTdmM2UxYjljMmQ".into()];
        let server = Server {
            provider: "ollama",
            url: OLLAMA.into(),
            called: "Ollama sk-canary-7f3e1b9c2d".into(),
            models,
        };
        let clean = server.clone().without(Some(&key));
        assert_eq!((clean.called.as_str(), clean.models), ("Ollama (key)", vec!["qwen3:8b".to_owned()]));
        assert_eq!(server.clone().without(None), server);
    }

    #[test]
    fn llama_cpp_is_found_where_ollama_is_not() {
        let pages = [
            ("http://127.0.0.1:8080/health", json!({ "status": "ok" })),
            ("http://127.0.0.1:8080/v1/models", json!({ "data": [{ "id": "model.gguf" }] })),
        ];
        let server = Server {
            provider: "llamacpp",
            url: LLAMA.into(),
            called: "llama.cpp".into(),
            models: vec!["model.gguf".into()],
        };
        assert_eq!(found(&pages), Some(server));
    }

    #[test]
    fn a_server_that_is_none_or_has_no_model_is_not_found() {
        let version = ("http://127.0.0.1:11434/api/version", json!({ "version": "1" }));
        let health = ("http://127.0.0.1:8080/health", json!({ "status": "loading model" }));
        let tables: [&[(&str, Value)]; 5] = [
            &[],
            std::slice::from_ref(&version),
            &[version.clone(), ("http://127.0.0.1:11434/api/tags", json!({ "models": [] }))],
            &[("http://127.0.0.1:11434/api/version", json!("hello"))],
            &[health, ("http://127.0.0.1:8080/v1/models", json!({ "data": [{ "id": "m" }] }))],
        ];
        for pages in tables {
            assert_eq!(found(pages), None, "{pages:?}");
        }
    }

    #[test]
    fn a_server_of_another_user_is_not_asked_and_the_next_one_is() {
        let pages = Pages {
            of_others: vec![OLLAMA],
            ..Pages::of(&[
                ("http://127.0.0.1:11434/api/version", json!({ "version": "1" })),
                ("http://127.0.0.1:11434/api/tags", json!({ "models": [{ "name": "theirs", "size": 5 }] })),
                ("http://127.0.0.1:8080/health", json!({ "status": "ok" })),
                ("http://127.0.0.1:8080/v1/models", json!({ "data": [{ "id": "mine" }] })),
            ])
        };
        let detected = now(detect(Some(OLLAMA), Some(LLAMA), &pages));
        assert_eq!(detected.server.map(|server| server.models), Some(vec!["mine".to_owned()]));
        assert_eq!(detected.refused, [("ollama", "it belongs to user 1001, not to you".to_owned())]);
        let asked = pages.asked.into_inner().unwrap();
        assert!(asked.iter().all(|url| !url.starts_with(OLLAMA)), "{asked:?}");
    }

    #[test]
    fn whoever_may_not_be_asked_is_not() {
        let pages = Pages::default();
        assert_eq!(now(detect(None, None, &pages)), Detected::default());
        assert_eq!(pages.asked.into_inner().unwrap(), [""; 0]);
    }

    #[test]
    fn where_ollama_is() {
        let table = [
            (None, "http://127.0.0.1:11434"),
            (Some(""), "http://127.0.0.1:11434"),
            (Some("0.0.0.0"), "http://127.0.0.1:11434"),
            (Some("0.0.0.0:8000"), "http://127.0.0.1:8000"),
            (Some(":9000"), "http://127.0.0.1:9000"),
            (Some("[::]:9000"), "http://127.0.0.1:9000"),
            (Some("[::1]"), "http://[::1]:11434"),
            (Some("box"), "http://box:11434"),
            (Some("http://box"), "http://box:80"),
            (Some("https://box/"), "https://box:443"),
            (Some("https://box:1/x"), "https://box:1"),
            (Some("box:port"), "http://box:11434"),
        ];
        for (host, expected) in table {
            assert_eq!(ollama_url(host), expected, "{host:?}");
        }
    }
}
