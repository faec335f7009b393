//! Models as people write them: `model.brain = "anthropic/claude-sonnet-5-5, ollama/qwen3:8b"`, `provider.anthropic.key`.
//!
//! What is said here is only looked at for its form; which model that is, and whether it can be asked, is decided where
//! models are chosen. No mistake repeats what was written: it may be a key.

/// How a server can be spoken to. The same words as the dialects of `models`, which a test compares.
pub(super) const DIALECTS: [&str; 5] = ["anthropic", "chat", "responses", "gemini", "ollama"];
const FIELDS: [&str; 5] = ["data", "dialect", "key", "plain", "url"];
const REFLEX: &str = "reflex";
const HIGHEST: u32 = 100;

/// `anthropic/claude-sonnet-5-5, ollama/qwen3:8b`, `reflex`, or nothing.
pub(super) fn check_list(value: &str) -> Result<(), String> {
    let value = value.trim();
    if value.is_empty() || value == REFLEX {
        return Ok(());
    }
    match value.split(',').position(|one| !is_model(one.trim())) {
        None => Ok(()),
        Some(at) => Err(format!(
            "{} is no model; write `provider/model`, like `anthropic/claude-sonnet-5-5`, with commas between several; or `reflex` for none",
            which(at, value)
        )),
    }
}

/// `ollama/qwen3:8b=25, anthropic/*=90`, or nothing.
pub(super) fn check_ranks(value: &str) -> Result<(), String> {
    let fits = |one: &str| {
        let Some((name, rank)) = one.rsplit_once('=') else { return false };
        let rank: Option<u32> = rank.trim().parse().ok();
        is_model(name.trim()) && rank.is_some_and(|rank| rank <= HIGHEST)
    };
    match value.split(',').position(|one| !fits(one)) {
        _ if value.trim().is_empty() => Ok(()),
        None => Ok(()),
        Some(at) => Err(format!(
            "{} is no rank; write `provider/model=60` (0 to {HIGHEST}, more is better), with commas between several",
            which(at, value)
        )),
    }
}

fn which(at: usize, value: &str) -> String {
    if value.contains(',') { format!("number {} of the list", at + 1) } else { "it".to_owned() }
}

fn is_model(text: &str) -> bool {
    let graphic = |model: &str| !model.is_empty() && model.bytes().all(|c| c.is_ascii_graphic());
    text.split_once('/').is_some_and(|(provider, model)| is_provider(provider) && graphic(model))
}

fn is_provider(name: &str) -> bool {
    let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'_' | b'-');
    !name.is_empty() && name != REFLEX && name.bytes().all(fits)
}

/// `anthropic.key`: whose, and what.
pub(super) fn is_known(member: &str) -> bool {
    member.split_once('.').is_some_and(|(provider, field)| is_provider(provider) && FIELDS.contains(&field))
}

/// `REGENT_PROVIDER_MY_BOX_URL` is `provider.my_box.url`.
pub(super) fn of_variable(member: &str) -> String {
    match member.rsplit_once('_') {
        Some((provider, field)) => format!("{provider}.{field}"),
        None => member.to_owned(),
    }
}

pub(super) fn check_field(name: &str, value: &str) -> Result<(), String> {
    let value = value.trim();
    match name.rsplit_once('.').map_or(name, |(_, field)| field) {
        _ if value.is_empty() => Ok(()),
        "dialect" if DIALECTS.contains(&value) => Ok(()),
        "dialect" => Err(format!("it is not one of {}", DIALECTS.join(", "))),
        "key" => check_key(value),
        "plain" if ["yes", "no", "true", "false"].contains(&value) => Ok(()),
        "plain" => Err("it is not one of no, yes".into()),
        "data" => check_data(value),
        _ => check_url(value),
    }
}

/// Where a key is, never the key.
fn check_key(value: &str) -> Result<(), String> {
    let variable = |name: &str| {
        name.bytes().next().is_some_and(|c| c.is_ascii_uppercase() || c == b'_')
            && name.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
    };
    let file = |name: &str| {
        let fits = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.');
        !name.starts_with('.') && name.len() <= 32 && !name.is_empty() && name.bytes().all(fits)
    };
    match value.split_once(':') {
        Some(("env", name)) if variable(name) => Ok(()),
        Some(("file", name)) if file(name) => Ok(()),
        _ => Err("it says where the key is, and is never the key: write `env:NAME` for a variable, or `file:name` for a \
                  file in the folder `keys` beside the settings that only you can read (chmod 600). If a key stands here, take it out"
            .into()),
    }
}

fn check_data(value: &str) -> Result<(), String> {
    let known = |name: &str| domain::DataClass::ALL.iter().any(|class| class.name() == name.trim());
    if value == "all" || value.split(',').all(known) {
        return Ok(());
    }
    let names: Vec<&str> = domain::DataClass::ALL.iter().map(|class| class.name()).collect();
    Err(format!("it is a list of {}, or `all`", names.join(", ")))
}

/// No login and no query: keys have no place there.
fn check_url(value: &str) -> Result<(), String> {
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    match rest {
        Some(rest) if rest.contains(['@', '?', '#']) => {
            Err("it holds `@`, `?` or `#`; it is only an address, and a key goes into `key`".into())
        }
        Some(rest)
            if !rest.starts_with(['/', ':'])
                && !rest.is_empty()
                && rest.bytes().all(|c| c.is_ascii_graphic()) =>
        {
            Ok(())
        }
        _ => {
            Err("it is no address; write one like `https://api.example.com/v1` or `http://127.0.0.1:8080/v1`"
                .into())
        }
    }
}

/// What `init` writes as an example.
pub(super) fn defaults() -> [(&'static str, String); 3] {
    [
        ("provider.anthropic.key", "env:ANTHROPIC_API_KEY".into()),
        ("provider.mine.url", "http://127.0.0.1:8080/v1".into()),
        ("provider.mine.dialect", "chat".into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::DIALECTS;
    use crate::instance::settings::{Layers, Settings};

    fn layers(text: &str) -> Layers {
        Layers { file: Some(("regent.toml".into(), text.into())), ..Layers::default() }
    }

    #[test]
    fn dialects_are_called_what_models_calls_them() {
        assert_eq!(DIALECTS, models::Dialect::ALL.map(models::Dialect::name));
    }

    #[test]
    fn models_and_providers_as_people_write_them() {
        let text = "[model]\nbrain = \"anthropic/claude-sonnet-5-5, ollama/qwen3:8b\"\nhands = \"groq/openai/gpt-oss-20b\"\n\
                    ranks = \"ollama/*=20, groq/openai/gpt-oss-20b = 40\"\n\
                    [provider.anthropic]\nkey = \"file:work.key\"\ndata = \"logistics, finance\"\n\
                    [provider.my-box]\nurl = \"http://10.0.0.7:8000/v1\"\ndialect = \"chat\"\nplain = true";
        let mut layers = layers(text);
        layers.environment = vec![
            ("REGENT_MODEL_HANDS".into(), "reflex".into()),
            ("REGENT_PROVIDER_MY_BOX_URL".into(), "https://box/v1".into()),
        ];
        let settings = Settings::layer(&layers).unwrap();
        let said: Vec<(String, String)> = settings
            .about_models()
            .filter(|(name, ..)| name.starts_with("provider.") || *name == "model.hands")
            .map(|(name, value, origin)| (name.to_owned(), format!("{value} ({origin})")))
            .collect();
        let expected = [
            ("model.hands", "reflex (environment REGENT_MODEL_HANDS)"),
            ("provider.anthropic.data", "logistics, finance (regent.toml)"),
            ("provider.anthropic.key", "file:work.key (regent.toml)"),
            ("provider.my-box.dialect", "chat (regent.toml)"),
            ("provider.my-box.plain", "true (regent.toml)"),
            ("provider.my-box.url", "http://10.0.0.7:8000/v1 (regent.toml)"),
            ("provider.my_box.url", "https://box/v1 (environment REGENT_PROVIDER_MY_BOX_URL)"),
        ];
        assert_eq!(said, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn a_mistake_never_repeats_what_may_be_a_key() {
        let key = "sk-ant-canary-0123456789";
        let texts = [
            format!("[provider.anthropic]\nkey = \"{key}\""),
            format!("[provider.anthropic]\nkey = \"env:{key}\""),
            format!("[provider.anthropic]\nkey = \"file:../{key}\""),
            format!("[provider.anthropic]\nurl = \"https://{key}@api.anthropic.com\""),
            format!("[provider.anthropic]\nurl = \"https://api.anthropic.com?key={key}\""),
            format!("[provider.anthropic]\nurl = \"{key}\""),
            format!("[provider.anthropic]\ndialect = \"{key}\""),
            format!("[provider.anthropic]\ndata = \"{key}\""),
            format!("[provider.anthropic]\nplain = \"{key}\""),
            format!("[model]\nbrain = \"{key}\""),
            format!("[model]\nhands = \"ollama/x, {key}\""),
            format!("[model]\nranks = \"{key}\""),
            format!("[provider.anthropic]\nkey = {key}"),
            format!("[provider.anthropic]\nkey = \"{key}"),
        ];
        for text in texts {
            let mistakes = Settings::layer(&layers(&text)).unwrap_err();
            assert!(mistakes.len() == 1 && !mistakes[0].contains("canary"), "{text}: {mistakes:?}");
        }
        let variable = ("REGENT_PROVIDER_ANTHROPIC_KEY".to_owned(), key.to_owned());
        let environment = Layers { environment: vec![variable], ..Layers::default() };
        let mistakes = Settings::layer(&environment).unwrap_err();
        assert_eq!(
            mistakes,
            [
                "environment REGENT_PROVIDER_ANTHROPIC_KEY: provider.anthropic.key: it says where the key is, and is never the key: write `env:NAME` for a variable, or `file:name` for a file in the folder `keys` beside the settings that only you can read (chmod 600). If a key stands here, take it out"
            ]
        );
    }

    #[test]
    fn what_is_none_is_a_mistake() {
        for text in [
            "[model]\nbrian = \"reflex\"",
            "[model]\nbrain = \"claude\"",
            "[model]\nbrain = \"ollama/a,\"",
            "[model]\nbrain = \"reflex, ollama/a\"",
            "[model]\nranks = \"ollama/a\"",
            "[model]\nranks = \"ollama/a=101\"",
            "[provider.x]\ncolour = \"red\"",
            "[provider.reflex]\nurl = \"http://localhost\"",
            "[provider.X]\nurl = \"http://localhost\"",
            "[provider.x]\nurl = \"ftp://localhost\"",
            "[provider.x]\nurl = \"http://\"",
            "[provider.x]\nkey = \"env:lower\"",
            "[provider.x]\nkey = \"file:.hidden\"",
            "[provider.x]\ndata = \"secrets\"",
            "provider = \"x\"",
        ] {
            assert_eq!(Settings::layer(&layers(text)).unwrap_err().len(), 1, "{text}");
        }
    }
}
