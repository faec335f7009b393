//! The run itself: which process does what next, and how the store and the clock behave meanwhile.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use app::{Code, Problem};
use domain::limits::LEASE;
use ledger::Store;
use ledger::memory::MemoryStore;
use ledger::mutant::Mutant;

use super::check::Observer;
use super::dice::Dice;
use super::flaky::{Fact, Fate, Gate};
use super::process::{Answer, Errand, Ground, Process, onlooker};
use super::{Broken, Known, Run, Setup, Tally, requests};
use crate::ManualClock;

/// Processes that live at the same time.
const PROCESSES: usize = 3;
/// What one process does at the same time.
const ERRANDS: usize = 2;
const STEPS: usize = 80;
/// More than any run needs to come to rest.
const PATIENCE: usize = 20_000;

/// How unkind the world of a seed is, in a thousand.
#[derive(Clone, Copy, Debug)]
struct Weather {
    refused: u64,
    unheard: u64,
    unread: u64,
    crash: u64,
    clock: u64,
    nap: u64,
}

const FAIR: Weather = Weather { refused: 0, unheard: 0, unread: 0, crash: 0, clock: 0, nap: 0 };
const WEATHERS: [Weather; 5] = [
    FAIR,
    Weather { refused: 0, unheard: 0, unread: 0, crash: 10, clock: 100, nap: 60 },
    Weather { refused: 60, unheard: 60, unread: 5, crash: 0, clock: 10, nap: 10 },
    Weather { refused: 20, unheard: 20, unread: 2, crash: 60, clock: 30, nap: 20 },
    Weather { refused: 100, unheard: 100, unread: 10, crash: 100, clock: 60, nap: 20 },
];

struct Play<'a> {
    seed: u64,
    strict: bool,
    dice: Dice,
    weather: Weather,
    ground: Ground<'a>,
    processes: Vec<Process>,
    started: u64,
    observer: Observer,
    /// Lines that are under way; the same one may be so twice.
    deliveries: Vec<String>,
    sent: Vec<String>,
    trace: Vec<String>,
    tally: Tally,
}

pub(super) fn play(folder: &Path, seed: u64, setup: Setup) -> Run {
    let bare: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let store = setup.without.map_or_else(
        || Arc::clone(&bare),
        |guard| Arc::new(Mutant::new(Arc::clone(&bare), guard)) as Arc<dyn Store>,
    );
    let mut dice = Dice::seeded(seed);
    let weather = dice.one_of(&WEATHERS).copied().unwrap_or(FAIR);
    let ground = Ground {
        store,
        clock: Arc::new(ManualClock::at("2026-11-15T08:30:00Z")),
        alive: Arc::default(),
        shown: Arc::default(),
        folder,
        vault: Arc::new(ledger::chain::MemoryVault::new([7; 32])),
    };
    let observer = Observer::new(bare, Arc::clone(&ground.alive), Arc::clone(&ground.clock));
    let mut play = Play {
        seed,
        strict: setup.strict,
        dice,
        weather,
        ground,
        processes: Vec::new(),
        started: 0,
        observer,
        deliveries: Vec::new(),
        sent: Vec::new(),
        trace: Vec::new(),
        tally: Tally::default(),
    };
    let broken = play.all().err();
    let shape = play.observer.shape().unwrap_or_default();
    let Play { trace, mut tally, observer, .. } = play;
    (tally.taken_over, tally.from_the_living) = (observer.taken_over, observer.from_the_living);
    Run { seed, trace, shape, tally, broken }
}

impl Play<'_> {
    fn all(&mut self) -> Result<(), Broken> {
        self.note(format!("the weather: {:?}", self.weather));
        self.start_process();
        for _ in 0..STEPS {
            self.step()?;
        }
        self.settle()
    }

    fn note(&mut self, line: impl Into<String>) {
        self.trace.push(line.into());
    }

    fn step(&mut self) -> Result<(), Broken> {
        self.tally.steps += 1;
        if self.dice.per_mille(self.weather.clock) {
            self.turn_clock();
        }
        if self.dice.per_mille(self.weather.nap) {
            self.nap();
        }
        let mut at_gates = self.at_gates();
        at_gates.retain(|&at| self.processes.get_mut(at).is_some_and(Process::is_awake));
        match self.dice.below(100) {
            0..80 if !at_gates.is_empty() => self.open_one(&at_gates),
            80..84 if self.processes.len() < PROCESSES => {
                self.start_process();
                Ok(())
            }
            _ => self.begin_errand(),
        }
    }

    /// The processes that wait somewhere.
    fn at_gates(&self) -> Vec<usize> {
        let waits = |(_, process): &(usize, &Process)| !process.waiting().is_empty();
        self.processes.iter().enumerate().filter(waits).map(|(at, _)| at).collect()
    }

    fn start_process(&mut self) {
        self.started += 1;
        let sighted = self.dice.per_mille(500);
        let process = Process::start(&self.ground, self.started, self.seed, sighted);
        self.note(format!("{} starts, sighted: {sighted}", process.name));
        self.processes.push(process);
    }

    fn turn_clock(&mut self) {
        let spans = [1, 29, 30, 30, 31, 3600].map(Duration::from_secs);
        let span = self.dice.one_of(&spans).copied().unwrap_or(LEASE);
        if self.dice.per_mille(250) {
            self.ground.clock.turn_back(span);
            self.note(format!("the clock goes back by {span:?}"));
        } else {
            self.ground.clock.turn(span);
            self.note(format!("the clock goes on by {span:?}"));
        }
        self.observer.turned();
    }

    /// A process is stopped for a while, longer than its leases last, and knows nothing of it.
    fn nap(&mut self) {
        let at = self.dice.below(self.processes.len());
        let steps = 5 + self.dice.below(30);
        let Some(process) = self.processes.get_mut(at) else { return };
        process.asleep = steps;
        let line = format!("{} sleeps for {steps} steps, and the clock goes on by {LEASE:?}", process.name);
        self.note(line);
        self.ground.clock.turn(LEASE);
        self.observer.turned();
    }

    fn begin_errand(&mut self) -> Result<(), Broken> {
        let free = |(_, process): &(usize, &Process)| process.asleep == 0 && process.errands() < ERRANDS;
        let free: Vec<usize> = self.processes.iter().enumerate().filter(free).map(|(at, _)| at).collect();
        let Some(&at) = self.dice.one_of(&free) else { return Ok(()) };
        let errand = match self.dice.below(100) {
            0..40 => self.delivery(),
            40..70 => {
                let text = self.dice.one_of(&requests::texts()).copied().unwrap_or_default();
                Some(Errand::Run { text: text.into() })
            }
            70..95 => {
                let names = self.observer.names()?;
                let id = if self.dice.per_mille(300) { None } else { self.dice.one_of(&names).cloned() };
                Some(Errand::Resume { id })
            }
            _ => Some(Errand::Verify),
        };
        let Some(errand) = errand else { return Ok(()) };
        self.begin(at, errand)
    }

    fn begin(&mut self, at: usize, errand: Errand) -> Result<(), Broken> {
        let Some(process) = self.processes.get_mut(at) else { return Ok(()) };
        let line = format!("{} begins: {errand:?}", process.name);
        process.begin(errand, &self.ground);
        self.note(line);
        self.look(at)
    }

    /// What an adapter hands over next. A new event is on its way once, several times, or is dropped; whatever is under
    /// way arrives in any order.
    fn delivery(&mut self) -> Option<Errand> {
        if self.deliveries.is_empty() || self.dice.per_mille(400) {
            let (n, sender) = (self.sent.len(), self.dice.below(3));
            let line = format!(
                r#"{{"adapter":"chat","source_id":"{n}","sender":"guest-{sender}","content":"hello {n}"}}"#
            );
            let copies = self.dice.below(4);
            self.note(format!("{copies} × on the way: {line}"));
            self.deliveries.extend(vec![line.clone(); copies]);
            self.sent.push(line);
        }
        if self.deliveries.is_empty() {
            return None;
        }
        let at = self.dice.below(self.deliveries.len());
        Some(Errand::Ingest { line: self.deliveries.swap_remove(at) })
    }

    fn open_one(&mut self, at_gates: &[usize]) -> Result<(), Broken> {
        let at = self.dice.one_of(at_gates).copied().unwrap_or(0);
        let Some(process) = self.processes.get(at) else { return Ok(()) };
        let gates = process.waiting();
        let which = self.dice.below(gates.len());
        let Some(&gate) = gates.get(which) else { return Ok(()) };
        let Weather { refused, unheard, unread, crash, .. } = self.weather;
        if gate != Gate::Write && gate != Gate::Acknowledge {
            let fate = if self.dice.per_mille(unread) { Fate::Busy } else { Fate::Pass };
            return self.open(at, which, gate, fate);
        }
        if self.dice.per_mille(crash) {
            return self.crash(at, gate);
        }
        let fate = match gate {
            Gate::Write if self.dice.per_mille(refused) => {
                self.dice.one_of(&[Fate::Busy, Fate::Full, Fate::Unreachable]).copied()
            }
            Gate::Acknowledge if self.dice.per_mille(unheard) => Some(Fate::Unreachable),
            _ => None,
        };
        self.open(at, which, gate, fate.unwrap_or(Fate::Pass))
    }

    fn open(&mut self, at: usize, which: usize, gate: Gate, fate: Fate) -> Result<(), Broken> {
        let Some(process) = self.processes.get(at) else { return Ok(()) };
        let line = format!("{}: {gate:?}, {fate:?}", process.name);
        process.open(which, fate);
        self.tally.faults += u64::from(fate != Fate::Pass);
        self.note(line);
        self.look(at)
    }

    fn crash(&mut self, at: usize, gate: Gate) -> Result<(), Broken> {
        let process = self.processes.remove(at);
        self.tally.crashes += 1;
        self.note(format!("{} crashes at {gate:?}", process.name));
        process.crash(&self.ground);
        if self.processes.is_empty() {
            self.start_process();
        }
        Ok(())
    }

    /// Looks at what a step has brought about.
    fn look(&mut self, at: usize) -> Result<(), Broken> {
        let Some(process) = self.processes.get_mut(at) else { return Ok(()) };
        let name = process.name.clone();
        for fact in process.facts.take() {
            self.trace.push(format!("  {name} {fact:?}"));
            match fact {
                Fact::Running { tool, call } => self.observer.running(&name, &tool, &call)?,
                Fact::Wrote(writes) => {
                    writes.iter().try_for_each(Observer::wrote)?;
                    self.observer.kept()?;
                }
            }
        }
        let answers = process.answers();
        self.all_known()?;
        for (task, result) in self.ground.shown.take() {
            self.observer.shown(task, &result)?;
        }
        answers.into_iter().try_for_each(|(errand, answer)| self.answered(at, &errand, answer))
    }

    fn answered(&mut self, at: usize, errand: &Errand, answer: Answer) -> Result<(), Broken> {
        let name = self.processes.get(at).map_or_else(String::new, |process| process.name.clone());
        let problem = match answer {
            Answer::Taken(Ok(Ok(receipt))) => {
                self.note(format!("  {name} acknowledges {receipt:?}"));
                return self.observer.acknowledge(&receipt);
            }
            Answer::Taken(Ok(Err(bad))) => return Err(Broken::new("line", bad.to_string())),
            Answer::Ended(Ok(report)) => {
                self.note(format!("  {name} reports {} {:?}", report.task, report.status));
                return self.observer.reported(&report);
            }
            Answer::Verified(Ok(true)) => return Ok(()),
            Answer::Verified(Ok(false)) => return Err(Broken::new("audit", "verify says that it is broken")),
            Answer::Taken(Err(problem)) | Answer::Ended(Err(problem)) | Answer::Verified(Err(problem)) => {
                problem
            }
        };
        self.note(format!("  {name} says {problem}"));
        // An adapter that was not told hands it over again, sooner or later.
        if let Errand::Ingest { line } = errand {
            self.deliveries.push(line.clone());
        }
        Self::excused(problem)
    }

    /// Faults of the world, and work that another process is at, are no faults of ours.
    fn excused(problem: Problem) -> Result<(), Broken> {
        let Problem { code, what, .. } = problem;
        let broken = Broken::new("problem", format!("{code}: {what}"));
        if ![Code::INTERNAL, Code::DATABASE_DAMAGED, Code::ERASED, Code::TAIL_MOVED].contains(&code) {
            return Ok(());
        }
        Err(broken)
    }

    fn all_known(&mut self) -> Result<(), Broken> {
        let found = std::mem::take(&mut self.observer.found);
        found.into_iter().try_for_each(|(known, broken)| self.known(known, broken))
    }

    fn known(&mut self, known: Known, broken: Broken) -> Result<(), Broken> {
        if self.strict {
            return Err(broken);
        }
        self.note(format!("  known to be wrong: {broken:?}"));
        if let Some(count) = self.tally.known.get_mut(known as usize) {
            *count += 1;
        }
        Ok(())
    }

    /// The world is kind from here on: what is under way ends, or dies, and one more process finishes everything.
    fn settle(&mut self) -> Result<(), Broken> {
        self.note("the weather clears");
        self.weather = FAIR;
        if self.dice.per_mille(500) {
            self.drain()?;
        }
        for process in std::mem::take(&mut self.processes) {
            process.crash(&self.ground);
        }
        self.ground.clock.turn(Duration::from_secs(30 * 24 * 60 * 60));
        self.observer.turned();
        self.note("everybody is gone, a month later");
        self.start_process();
        for task in self.observer.unfinished()? {
            self.begin(0, Errand::Resume { id: Some(task.to_string()) })?;
            self.drain()?;
        }
        for line in std::mem::take(&mut self.sent) {
            self.begin(0, Errand::Ingest { line })?;
            self.drain()?;
        }
        self.begin(0, Errand::Verify)?;
        self.drain()?;
        self.observer.finished()?;
        self.observer.explicable(&onlooker(&self.ground))?;
        self.all_known()?;
        self.observer.for_ever()
    }

    fn drain(&mut self) -> Result<(), Broken> {
        for _ in 0..PATIENCE {
            let at_gates = self.at_gates();
            if at_gates.is_empty() {
                return match self.processes.iter().find(|process| !process.is_idle()) {
                    None => Ok(()),
                    Some(process) => {
                        Err(Broken::new("rest", format!("{} waits for nothing, for ever", process.name)))
                    }
                };
            }
            self.open_one(&at_gates)?;
        }
        Err(Broken::new("rest", "it does not come to an end"))
    }
}
