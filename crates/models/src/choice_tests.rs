use super::{Chosen, Environment, Mistake, Wishes, choose, parse};
use crate::detect::tests::{Pages, now};
use crate::{Key, Listed, Price, Prices, Provider};
use serde_json::json;

type Pairs = &'static [(&'static str, &'static str)];

const FILE: &str = "regent.toml";

fn wishes(settings: &[(&str, &str)]) -> Wishes {
    Wishes::read(settings.iter().map(|(name, value)| (*name, *value, FILE)))
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Environment { variables, ..Environment::default() }
}

fn chosen(settings: &[(&str, &str)], variables: &[(&str, &str)]) -> Result<Chosen, Mistake> {
    now(choose(&wishes(settings), &environment(variables), &Pages::default()))
}

/// `brain | hands | why`.
fn told(chosen: &Chosen) -> String {
    let names =
        |list: &[crate::Endpoint]| list.iter().map(crate::Endpoint::name).collect::<Vec<_>>().join(", ");
    format!("{} | {} | {}", names(&chosen.brain), names(&chosen.hands), chosen.why)
}

#[test]
fn who_is_asked_and_why() {
    let table: &[(Pairs, Pairs, &str)] = &[
        (
            &[],
            &[],
            " |  | no model is set, there is no key, and neither Ollama (127.0.0.1:11434) nor llama.cpp (127.0.0.1:8080) answers with one",
        ),
        (
            &[("model.brain", "reflex")],
            &[("OPENAI_API_KEY", "k")],
            " |  | model.brain is `reflex` (regent.toml)",
        ),
        (
            &[("model.hands", "reflex")],
            &[("OPENAI_API_KEY", "k")],
            " |  | model.hands is `reflex` (regent.toml)",
        ),
        (
            &[("model.brain", "reflex"), ("model.hands", "openai/x")],
            &[("OPENAI_API_KEY", "k")],
            " |  | model.brain is `reflex` (regent.toml)",
        ),
        (
            &[],
            &[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")],
            "anthropic/claude-sonnet-5-5 | anthropic/claude-haiku-5-5 | no model is set, and there is a key (environment ANTHROPIC_API_KEY)",
        ),
        (
            &[],
            &[("ANTHROPIC_API_KEY", " "), ("GOOGLE_API_KEY", "k")],
            "gemini/gemini-3.6-flash | gemini/gemini-3.5-flash-lite | no model is set, and there is a key (environment GOOGLE_API_KEY)",
        ),
        (
            &[("model.brain", "ollama/qwen3:8b")],
            &[("ANTHROPIC_API_KEY", "k")],
            "ollama/qwen3:8b | ollama/qwen3:8b | model.brain is set (regent.toml), and stands for both",
        ),
        (
            &[
                ("model.brain", "anthropic/claude-opus-5-5, ollama/a/b:c"),
                ("model.hands", "openai/gpt-5.4-mini"),
            ],
            &[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")],
            "anthropic/claude-opus-5-5, ollama/a/b:c | openai/gpt-5.4-mini | model.brain and model.hands are set (regent.toml)",
        ),
        (
            &[("model.brain", "mine/m"), ("provider.mine.url", "http://localhost:9/v1/")],
            &[],
            "mine/m | mine/m | model.brain is set (regent.toml), and stands for both",
        ),
        (
            &[],
            &[("OLLAMA_HOST", "box:11434")],
            " |  | no model is set, there is no key, and llama.cpp (127.0.0.1:8080) does not answer with one",
        ),
    ];
    for (settings, variables, expected) in table {
        let chosen = chosen(settings, variables).unwrap_or_else(|mistake| panic!("{settings:?}: {mistake}"));
        assert_eq!(told(&chosen), *expected, "{settings:?} {variables:?}");
    }
}

#[test]
fn a_server_on_this_machine_is_the_last_to_be_asked_and_only_where_nothing_else_decides() {
    let pages = || {
        Pages::of(&[
            ("http://127.0.0.1:11434/api/version", json!({ "version": "0.12.3" })),
            ("http://127.0.0.1:11434/api/tags", json!({ "models": [{ "name": "qwen3:8b", "size": 5 }] })),
        ])
    };
    let probe = pages();
    let chosen = now(choose(&wishes(&[]), &environment(&[]), &probe)).unwrap();
    assert_eq!(
        told(&chosen),
        "ollama/qwen3:8b | ollama/qwen3:8b | no model is set, there is no key, and Ollama 0.12.3 answers at 127.0.0.1:11434; qwen3:8b is the largest of its 1"
    );
    assert_eq!(probe.asked.into_inner().unwrap().len(), 2);
    for (settings, variables) in [
        (vec![("model.brain", "reflex")], vec![]),
        (vec![("model.brain", "ollama/qwen3:8b")], vec![]),
        (vec![], vec![("ANTHROPIC_API_KEY", "k")]),
    ] {
        let probe = pages();
        now(choose(&wishes(&settings), &environment(&variables), &probe)).unwrap();
        assert_eq!(probe.asked.into_inner().unwrap(), [""; 0], "{settings:?} {variables:?}");
    }
}

#[test]
fn what_cannot_be_asked_is_passed_over_with_its_reason() {
    let settings = [
        ("model.brain", "anthropic/claude-opus-5-5, far/m, ollama/qwen3:8b"),
        ("provider.far.url", "http://far/v1"),
    ];
    let chosen = chosen(&settings, &[]).unwrap();
    assert_eq!(chosen.brain.len(), 1);
    let reasons = [
        (
            "anthropic/claude-opus-5-5",
            "there is no key; set ANTHROPIC_API_KEY, or put it into the file `keys/anthropic`",
        ),
        (
            "far/m",
            "far is another machine and `http` is not private; use `https`, or set provider.far.plain to `yes`",
        ),
    ];
    assert_eq!(chosen.passed_over, reasons.map(|(name, why)| (name.to_owned(), why.to_owned())));
}

#[test]
fn mistakes_say_what_to_do() {
    let table: &[(&[(&str, &str)], &str)] = &[
        (
            &[("model.brain", "claude")],
            "`claude` is no model; write `provider/model`, like `anthropic/claude-sonnet-5-5`",
        ),
        (
            &[("model.brain", "sk-ant-canary-000")],
            "a key is no model; write `provider/model`, like `anthropic/claude-sonnet-5-5`",
        ),
        (&[("model.brain", "antropic/x")], "there is no provider `antropic`; did you mean `anthropic`?"),
        (
            &[("model.brain", "zzz/x")],
            "there is no provider `zzz`; a server of your own needs `provider.zzz.url`",
        ),
        (
            &[("model.brain", "mine/x"), ("provider.mine.dialect", "chat")],
            "provider.mine: nobody says where it is: set `provider.mine.url`",
        ),
        (
            &[("model.brain", "openai/x")],
            "none of model.brain can be asked: openai/x: there is no key; set OPENAI_API_KEY, or put it into the file `keys/openai`",
        ),
        (
            &[("model.brain", "openai/x"), ("provider.openai.key", "env:NOWHERE")],
            "none of model.brain can be asked: openai/x: the variable NOWHERE is not set",
        ),
        (
            &[("model.brain", "openai/x"), ("provider.openai.key", "file:work")],
            "none of model.brain can be asked: openai/x: there is no file `work` in the folder `keys`",
        ),
        (
            &[("model.brain", "ollama/x"), ("model.hands", "reflex")],
            "model.hands is `reflex` and model.brain is not: who plans needs somebody who acts; leave model.hands empty, or set model.brain to `reflex`",
        ),
    ];
    for (settings, expected) in table {
        assert_eq!(chosen(settings, &[]).unwrap_err().to_string(), *expected);
    }
}

#[test]
fn a_key_in_the_house_counts_before_the_environment_and_a_bad_one_is_not_passed_by_in_silence() {
    let mut machine = environment(&[("ANTHROPIC_API_KEY", "from-outside"), ("OPENAI_API_KEY", "k")]);
    machine.files.insert("anthropic".into(), Ok(Key::new("from-the-house".into())));
    let provider = Provider::of(&wishes(&[]), &machine, "anthropic").unwrap();
    let (key, origin) = provider.key.unwrap().unwrap();
    assert_eq!((key.expose(), origin.as_str()), ("from-the-house", "file keys/anthropic"));
    machine.files.insert("anthropic".into(), Err("others can read it".into()));
    let chosen = now(choose(&wishes(&[]), &machine, &Pages::default())).unwrap();
    assert_eq!(chosen.brain[0].provider, "openai");
    assert_eq!(chosen.passed_over, [("anthropic".to_owned(), "others can read it".to_owned())]);
}

#[test]
fn a_weaker_fallback_plans_and_does_not_judge() {
    let list = [("model.brain", "ollama/qwen3:8b, anthropic/claude-opus-5-5, openai/gpt-5.4")];
    let variables = [("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")];
    let judges = |settings: &[(&str, &str)]| {
        let judges = chosen(settings, &variables).unwrap().judges();
        judges.iter().map(crate::Endpoint::name).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(judges(&list), "anthropic/claude-opus-5-5");
    let ranked = [list[0], ("model.ranks", "openai/*=90, openai/gpt-5.4=95, anthropic/claude-opus-5-5 = 95")];
    assert_eq!(judges(&ranked), "anthropic/claude-opus-5-5, openai/gpt-5.4");
    let every = [list[0], ("model.ranks", "ollama/*=50,openai/*=50,anthropic/*=50")];
    assert_eq!(judges(&every), "ollama/qwen3:8b, anthropic/claude-opus-5-5, openai/gpt-5.4");
}

#[test]
fn what_is_said_of_a_provider_counts_and_prices_follow_the_machine() {
    let settings = [
        ("model.brain", "openai/gpt-5.4"),
        ("provider.openai.url", "http://127.0.0.1:7/v1"),
        ("provider.openai.dialect", "chat"),
        ("provider.openai.key", "env:WORK_KEY"),
        ("provider.openai.data", "logistics,finance"),
    ];
    let machine = [("WORK_KEY", "k"), ("OPENAI_API_KEY", "other")];
    let endpoint = chosen(&settings, &machine).unwrap().brain.remove(0);
    assert_eq!((endpoint.dialect.name(), endpoint.url.as_str()), ("chat", "http://127.0.0.1:7/v1"));
    assert_eq!((endpoint.key, endpoint.key_from.as_str()), (Some(Key::new("k".into())), "WORK_KEY"));
    assert_eq!(endpoint.data.unwrap().len(), 2);
    assert_eq!(endpoint.price, Price::default(), "it runs on this machine");
    let provider = Provider::of(&wishes(&[]), &environment(&[]), "openai").unwrap();
    let prices = Prices::default();
    assert_eq!(provider.price(&environment(&[]), "gpt-9"), (prices.dearest(), Listed::Unlisted));
    let all = wishes(&[("provider.openai.data", "all")]);
    assert_eq!(Provider::of(&all, &environment(&[]), "openai").unwrap().data, None);
}

#[test]
fn no_key_is_shown_by_anything_here() {
    let machine = environment(&[("ANTHROPIC_API_KEY", "canary-key"), ("OPENAI_API_KEY", "canary key")]);
    let mut texts = vec![format!("{machine:?}")];
    for name in ["anthropic", "openai"] {
        texts.push(format!("{:?}", Provider::of(&wishes(&[]), &machine, name)));
    }
    texts.push(format!("{:?}", now(choose(&wishes(&[]), &machine, &Pages::default()))));
    let wanted = wishes(&[("model.brain", "openai/x")]);
    texts.push(format!("{:?}", now(choose(&wanted, &machine, &Pages::default()))));
    assert!(texts.iter().all(|text| !text.contains("canary")), "{texts:?}");
}

#[test]
fn lists_of_models() {
    let pairs = |list: &str| parse(list).map(|list| list.len());
    assert_eq!(pairs(" a/b ,c/d/e"), Ok(2));
    for wrong in ["", "a", "a/", "/b", "A/b", "a/b,", "a b/c", "a/b c", "a/\u{1b}"] {
        assert!(pairs(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_key_that_is_none_is_passed_over_with_a_word() {
    let table: &[(Pairs, Pairs, &str, &str)] = &[
        (&[], &[("ANTHROPIC_API_KEY", "two words")], "anthropic", "ANTHROPIC_API_KEY: it holds a blank"),
        (
            &[("provider.openai.key", "env:MINE")],
            &[("MINE", "two words"), ("OPENAI_API_KEY", "k")],
            "openai",
            "MINE: it holds a blank",
        ),
    ];
    for (settings, variables, name, why) in table {
        let passed_over = chosen(settings, variables).unwrap().passed_over;
        let [(who, said)] = passed_over.as_slice() else { panic!("{passed_over:?}") };
        assert!(who == name && said.starts_with(why) && !said.contains("two words"), "{who}: {said}");
    }
    let unset = chosen(&[("provider.openai.key", "env:MINE")], &[("OPENAI_API_KEY", "k")]).unwrap();
    assert_eq!(unset.passed_over, []);
}

#[test]
fn a_folder_of_keys_that_cannot_be_read_is_said_wherever_a_key_is_missed() {
    let why = "the folder of keys cannot be read: it is a file";
    let unread = |variables| Environment { unread: Some(why.into()), ..environment(variables) };
    let choose = |settings, variables| now(choose(&wishes(settings), &unread(variables), &Pages::default()));
    let keys = ("keys".to_owned(), why.to_owned());
    assert_eq!(choose(&[], &[]).unwrap().passed_over, std::slice::from_ref(&keys));
    let by_variable = choose(&[], &[("OPENAI_API_KEY", "k")]).unwrap();
    assert_eq!((by_variable.brain.len(), by_variable.passed_over), (1, vec![keys]));
    for (settings, expected) in [
        (&[("model.brain", "openai/x")][..], "; or set OPENAI_API_KEY"),
        (&[("model.brain", "openai/x"), ("provider.openai.key", "file:mine")][..], ""),
    ] {
        let mistake = choose(settings, &[]).unwrap_err().to_string();
        assert_eq!(mistake, format!("none of model.brain can be asked: openai/x: {why}{expected}"));
    }
}

const HELD_BACK: &str = "the key of anthropic would go to proxy.example instead of api.anthropic.com; if you want that: regent model confirm anthropic proxy.example";

#[test]
fn a_key_of_the_list_goes_to_another_host_only_once_that_is_confirmed() {
    let keys = [("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k"), ("MINE", "k")];
    let ours = ("model.brain", "anthropic/x");
    let mine = ("model.brain", "mine/x");
    let proxy = "https://proxy.example/v1";
    // Settings, and whether the key is held back.
    let table: &[(&[(&str, &str)], bool)] = &[
        (&[ours], false),
        (&[ours, ("provider.anthropic.url", "https://API.anthropic.com:443/v1")], false),
        (&[ours, ("provider.anthropic.url", proxy)], true),
        (&[ours, ("provider.anthropic.url", proxy), ("provider.anthropic.key", "env:MINE")], false),
        (&[mine, ("provider.mine.url", proxy), ("provider.mine.key", "env:MINE")], false),
        (&[mine, ("provider.mine.url", proxy), ("provider.mine.key", "env:ANTHROPIC_API_KEY")], true),
        (&[mine, ("provider.mine.url", proxy), ("provider.mine.key", "file:anthropic")], true),
        (&[("provider.anthropic.url", proxy)], true),
    ];
    for (settings, held_back) in table {
        let mut machine = environment(&keys);
        if settings.iter().any(|(_, value)| *value == "file:anthropic") {
            machine.files.insert("anthropic".into(), Ok(Key::new("k".into())));
        }
        let choose = |machine: &Environment| now(choose(&wishes(settings), machine, &Pages::default()));
        match choose(&machine) {
            Ok(chosen) => assert!(!held_back && chosen.brain[0].key.is_some(), "{settings:?}"),
            Err(mistake) => assert!(*held_back && mistake.to_string().ends_with(HELD_BACK), "{mistake}"),
        }
        machine.confirmed =
            vec![("openai".into(), "proxy.example".into()), ("anthropic".into(), "other".into())];
        assert_eq!(choose(&machine).is_err(), *held_back, "confirmed for others: {settings:?}");
        machine.confirmed.push(("anthropic".into(), "proxy.example".into()));
        assert_eq!(choose(&machine).unwrap().brain.len(), 1, "{settings:?}");
    }
}

#[test]
fn what_can_be_confirmed() {
    let confirm = |provider, host| crate::confirmable(provider, host).map(|(_, host)| host);
    assert_eq!(confirm("anthropic", "Proxy.example"), Ok("proxy.example".into()));
    assert_eq!(confirm("anthropic", "http://127.0.0.1:4000/v1"), Ok("127.0.0.1:4000".into()));
    assert_eq!(confirm("anthropic", "[::1]:4000"), Ok("[::1]:4000".into()));
    for (provider, host) in
        [("ollama", "box"), ("mine", "box"), ("anthropic", ""), ("anthropic", "a b"), ("anthropic", "a\nb")]
    {
        assert!(confirm(provider, host).is_err(), "{provider} {host:?}");
    }
}

#[test]
fn a_server_of_another_user_is_passed_over_and_the_way_to_choose_it_is_said() {
    let pages = || {
        Pages::of(&[
            ("http://127.0.0.1:8080/health", json!({ "status": "ok" })),
            ("http://127.0.0.1:8080/v1/models", json!({ "data": [{ "id": "m" }] })),
        ])
    };
    let ours = now(choose(&wishes(&[]), &environment(&[]), &pages())).unwrap();
    assert!(ours.brain[0].detected && ours.passed_over.is_empty());
    let of_others = Pages { of_others: vec!["http://127.0.0.1:8080"], ..pages() };
    let chosen = now(choose(&wishes(&[]), &environment(&[]), &of_others)).unwrap();
    assert!(chosen.is_reflex());
    let why = "it belongs to user 1001, not to you; if you trust it: regent model set brain llamacpp/<model>";
    assert_eq!(chosen.passed_over, [("llamacpp".to_owned(), why.to_owned())]);
    let set = wishes(&[("model.brain", "llamacpp/m")]);
    assert!(!now(choose(&set, &environment(&[]), &of_others)).unwrap().brain[0].detected);
}
