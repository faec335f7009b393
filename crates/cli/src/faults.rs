//! The kill test's hook, compiled only with the feature `faults`: at every named point the program tells a process
//! that survives it where it is, and waits to be told to go on, or to be killed. The same build can be made to go
//! faster, and to lack one guard, so that tests show that they notice.
//!
//! `REGENT_FAULTS` holds it all: `socket=<path>,lease=<ms>,duties=<ms>,model=<ms>,script=<path>,panic=<role>,without=<guard>`,
//! each of them optional. With a script a model is played in the place of the reflexes, and every ask of it is a point too;
//! one role of it can break down.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use app::Timing;
use domain::ask::{Ask, Usage};
use domain::probe::{Point, Probe, Silent};
use host::{ProcessEnvironment, StoreWrapper};
use ledger::mutant::{Guard, Mutant};
use llm::{Answer, Heard, Provider, Script};

use crate::Hooks;

/// What `REGENT_FAULTS` says.
struct FaultSettings<'a>(&'a str);

impl FaultSettings<'_> {
    fn get(&self, name: &str) -> Option<String> {
        let mut pairs = self.0.split(',').filter_map(|pair| pair.split_once('='));
        pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
    }

    /// The guard to do without, if it is one of these.
    fn without<G: std::str::FromStr>(&self) -> Option<G> {
        self.get("without")?.parse().ok()
    }
}

pub(crate) fn hooks(zone: &jiff::tz::TimeZone, surroundings: &ProcessEnvironment) -> Hooks {
    let settings = FaultSettings(surroundings.variable("REGENT_FAULTS").unwrap_or_default());
    if let Some(guard) = settings.without::<broker::mutant::Guard>() {
        guard.take_out();
    }
    let millis = |name: &str| settings.get(name)?.parse().ok().map(Duration::from_millis);
    let usual = Timing::default();
    let probe = probe(&settings);
    let timing = Timing {
        lease: millis("lease").unwrap_or(usual.lease),
        jobs: millis("duties"),
        model: millis("model").unwrap_or(usual.model),
        ..usual
    };
    Hooks { provider: provider(&settings, &probe, zone), probe, wrap_store: wrap_store(&settings), timing }
}

/// Whoever answers: a script, if one is named.
fn provider(
    settings: &FaultSettings<'_>,
    probe: &Arc<dyn Probe>,
    zone: &jiff::tz::TimeZone,
) -> Arc<dyn Provider> {
    let Some(path) = settings.get("script") else { return Arc::new(llm::Reflex::new(zone.clone())) };
    let text = host::read_named_text(Path::new(&path)).ok().flatten().unwrap_or_default();
    match Script::with_sleep(&text, |time| Box::pin(tokio::time::sleep(time))) {
        Ok(script) => Arc::new(Played { script, probe: Arc::clone(probe), panics: settings.get("panic") }),
        Err(_unreadable) => Arc::new(llm::Reflex::new(zone.clone())), // then the test does not see what it expects
    }
}

/// A script whose every ask is a point.
struct Played {
    script: Script,
    probe: Arc<dyn Probe>,
    /// The role that breaks down, after it was waited for.
    panics: Option<String>,
}

impl Provider for Played {
    fn ask(&self, ask: &Ask) -> Answer {
        let later = self.script.ask(ask);
        let (probe, role) = (Arc::clone(&self.probe), ask.subject().role());
        let panics = self.panics.as_deref() == Some(role);
        Answer::Later(Box::pin(async move {
            probe.reached(Point::Stage { name: role });
            let heard = match later {
                Answer::Later(later) | Answer::Quoted(_, later) => later.await,
                Answer::Now(reply) => Heard { reply: Ok(reply), usage: Usage::default() },
            };
            assert!(!panics, "{role} breaks down, as the test wants");
            heard
        }))
    }

    fn knows_another_way(&self) -> bool {
        true
    }
}

fn wrap_store(settings: &FaultSettings<'_>) -> StoreWrapper {
    match settings.without::<Guard>() {
        Some(guard) => Box::new(move |store| Arc::new(Mutant::new(store, guard))),
        None => Box::new(|store| store),
    }
}

#[expect(clippy::disallowed_methods, reason = "the socket of the kill test, only in its builds")]
fn probe(settings: &FaultSettings<'_>) -> Arc<dyn Probe> {
    match settings.get("socket").and_then(|path| UnixStream::connect(path).ok()) {
        Some(stream) => Arc::new(Asked { stream: Mutex::new(BufReader::new(stream)) }),
        None => Arc::new(Silent),
    }
}

struct Asked {
    stream: Mutex<BufReader<UnixStream>>,
}

impl Probe for Asked {
    fn reached(&self, point: Point<'_>) {
        let line = match point {
            Point::Committing => "committing".to_owned(),
            Point::Writing { table } => format!("writing {table}"),
            Point::Committed => "committed".to_owned(),
            Point::Running { tool, call } => format!("running {tool} {call}"),
            Point::Ran { tool, call } => format!("ran {tool} {call}"),
            Point::Stage { name } => format!("stage {name}"),
        };
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let told = writeln!(stream.get_mut(), "{line}");
        let mut answer = String::new();
        if told.is_ok() {
            // Whoever listens answers `go`, or kills this process while it waits here.
            drop(stream.read_line(&mut answer));
        }
    }
}
