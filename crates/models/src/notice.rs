//! The notice for the owner before anything is given to a server for the first time, on this machine or on another.

use std::collections::BTreeMap;

use crate::{Chosen, Endpoint};

/// One notice for each machine that may be spoken to and was not spoken of yet: its name, and what to say.
///
/// `told` are those that the owner was told of. `budget` is what may be spent in a day, as the settings say it.
#[must_use]
pub fn notice(chosen: &Chosen, told: &[String], budget: &str) -> Vec<(String, String)> {
    let mut hosts: BTreeMap<&str, Vec<&Endpoint>> = BTreeMap::new();
    for endpoint in chosen.brain.iter().chain(&chosen.hands) {
        let here = hosts.entry(endpoint.host()).or_default();
        if !here.iter().any(|known| known.name() == endpoint.name()) {
            here.push(endpoint);
        }
    }
    let new = hosts.into_iter().filter(|(host, _)| !told.iter().any(|known| known == host));
    new.map(|(host, here)| (host.to_owned(), words(host, &here, &chosen.why, budget))).collect()
}

/// What may be told to it, in words; nothing where it may be told everything.
fn limit(endpoint: &Endpoint) -> Option<String> {
    let classes = endpoint.data.as_ref()?;
    let names: Vec<&str> = classes.iter().map(|class| class.name()).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Some(format!("of the data classes {names} only"))
}

fn words(host: &str, of_host: &[&Endpoint], why: &str, budget: &str) -> String {
    let first = of_host.first().and_then(|endpoint| limit(endpoint));
    // Two providers on one machine may be told different things: then each name says its own.
    let alike = of_host.iter().all(|endpoint| limit(endpoint) == first);
    let kept = first.filter(|_| alike).map_or_else(String::new, |limit| format!(", {limit}"));
    let name = |endpoint: &&Endpoint| match limit(endpoint) {
        _ if alike => endpoint.name(),
        Some(limit) => format!("{}: {limit}", endpoint.name()),
        None => format!("{}: of all data classes", endpoint.name()),
    };
    let names: Vec<String> = of_host.iter().map(name).collect();
    let paid = of_host.iter().any(|endpoint| endpoint.price != crate::Price::default());
    let money = match budget {
        _ if !paid => String::new(),
        "unlimited" => "\nit costs money, and budget.day.money is unlimited".to_owned(),
        budget => format!("\nit costs money; budget.day.money stops it at {budget} a day"),
    };
    let without = match of_host.iter().any(|endpoint| endpoint.is_outside()) {
        true => "keeps everything on this machine",
        false => "keeps everything in this program",
    };
    format!(
        "your request, and names and contents of files that the task reads{kept}, go to {host} ({}); {}{money}\n\
         `regent model set brain reflex` {without}",
        names.join(if alike { ", " } else { "; " }),
        why
    )
}

#[cfg(test)]
mod tests {
    use super::notice;
    use crate::{Chosen, Dialect, Endpoint, Price};
    use std::collections::BTreeSet;

    fn endpoint(url: &str, model: &str) -> Endpoint {
        let price = Price { input: 1, cached: 1, output: 1 };
        Endpoint {
            provider: "anthropic".into(),
            dialect: Dialect::Anthropic,
            url: url.into(),
            model: model.into(),
            key: Some(crate::Key::new("sk-canary".into())),
            key_from: "ANTHROPIC_API_KEY".into(),
            plain_http: false,
            rank: 1,
            price,
            tokens_out: 1,
            data: None,
            detected: false,
        }
    }

    fn chosen(brain: Endpoint, hands: Endpoint) -> Chosen {
        let why = "no model is set, and there is a key (environment ANTHROPIC_API_KEY)".into();
        Chosen { brain: vec![brain], hands: vec![hands], why, passed_over: Vec::new() }
    }

    const ANTHROPIC: &str = "https://api.anthropic.com";

    #[test]
    fn what_goes_where_is_said_once_for_each_machine() {
        let both = chosen(endpoint(ANTHROPIC, "claude-a"), endpoint(ANTHROPIC, "claude-b"));
        let said = notice(&both, &[], "5");
        let text = "your request, and names and contents of files that the task reads, go to api.anthropic.com \
                    (anthropic/claude-a, anthropic/claude-b); no model is set, and there is a key (environment ANTHROPIC_API_KEY)\n\
                    it costs money; budget.day.money stops it at 5 a day\n\
                    `regent model set brain reflex` keeps everything on this machine";
        assert_eq!(said, [("api.anthropic.com".to_owned(), text.to_owned())]);
        assert_eq!(notice(&both, &["api.anthropic.com".into()], "5"), []);
        let elsewhere = chosen(endpoint(ANTHROPIC, "a"), endpoint("https://other.example:8443/v1", "b"));
        let hosts: Vec<String> = notice(&elsewhere, &["api.anthropic.com".into()], "unlimited")
            .into_iter()
            .map(|(host, _)| host)
            .collect();
        assert_eq!(hosts, ["other.example:8443"]);
    }

    #[test]
    fn a_server_on_this_machine_gets_one_notice_like_any_other() {
        let local = Endpoint { price: Price::default(), ..endpoint("http://127.0.0.1:11434", "qwen3:8b") };
        let both = chosen(local.clone(), local);
        let text = "your request, and names and contents of files that the task reads, go to 127.0.0.1:11434 \
                    (anthropic/qwen3:8b); no model is set, and there is a key (environment ANTHROPIC_API_KEY)\n\
                    `regent model set brain reflex` keeps everything in this program";
        assert_eq!(notice(&both, &[], "5"), [("127.0.0.1:11434".to_owned(), text.to_owned())]);
        assert_eq!(notice(&both, &["127.0.0.1:11434".into()], "5"), []);
    }

    #[test]
    fn two_providers_on_one_machine_are_each_told_of_with_their_own_limit() {
        let one = Endpoint {
            provider: "careful".into(),
            data: Some(BTreeSet::from([domain::DataClass::Logistics])),
            ..endpoint(ANTHROPIC, "a")
        };
        let none = Endpoint { provider: "mute".into(), data: Some(BTreeSet::new()), ..one.clone() };
        let all = endpoint(ANTHROPIC, "b");
        let said = |brain: &Endpoint, hands: &Endpoint| {
            notice(&chosen(brain.clone(), hands.clone()), &[], "5").remove(0).1
        };
        let careful = "careful/a: of the data classes logistics only";
        let open = "anthropic/b: of all data classes";
        assert!(
            said(&one, &all).contains(&format!("reads, go to api.anthropic.com ({careful}; {open}); no"))
        );
        assert!(
            said(&all, &one).contains(&format!("reads, go to api.anthropic.com ({open}; {careful}); no"))
        );
        let mute = "mute/a: of the data classes none only";
        assert!(said(&one, &none).contains(&format!("({careful}; {mute})")), "{}", said(&one, &none));
    }

    #[test]
    fn it_says_which_data_and_that_nothing_limits_the_money() {
        let mut one = endpoint(ANTHROPIC, "a");
        one.data = Some(BTreeSet::from([domain::DataClass::Logistics, domain::DataClass::Finance]));
        let said = notice(&chosen(one.clone(), one), &[], "unlimited");
        assert!(said[0].1.contains("reads, of the data classes logistics, finance only, go to"), "{said:?}");
        assert!(said[0].1.contains("budget.day.money is unlimited"), "{said:?}");
    }
}
