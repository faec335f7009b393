//! The house is halted under load: what runs is stopped, nothing starts, whatever is killed and started anew, until the
//! owner lifts it; then what waited is gone on with.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::bail;

use super::super::aim::Fate;
use super::super::random::Random;
use super::super::seen::{End, Seen, Sort};
use super::super::verdict::{Company, Invariant, Violation};
use super::check::{EVERYTHING, text};
use super::deed::{Deed, Kind};
use super::killed::Again;
use super::site::{Planned, Site};
use super::verdict::Standing;

/// From the moment the halt has returned, nothing is seen any more after so long.
const STILL: Duration = Duration::from_secs(1);
/// How long calls go on being tried after that, and how long all of them are killed as well.
const TRIED: Duration = Duration::from_millis(300);
const KILLED: Duration = Duration::from_millis(250);
const WORKERS: usize = 2;
/// A file without blocks, which takes far longer to read than a round lasts.
const LONG: &str = "long";
const LONG_BYTES: u64 = 64 << 30;
const READING: Fate = Fate::Held { kind: "running hash", nth: 1 };
const PATIENCE: Duration = Duration::from_secs(20);

/// What the others need to know.
#[derive(Debug, Default)]
struct Signs {
    reading: AtomicBool,
    killing: AtomicBool,
    over: AtomicBool,
}

/// What was seen of one halt.
struct Halting {
    /// When the command had returned.
    returned: Instant,
    /// How the long call ended, and when.
    long: (Seen, Instant),
    tried: Vec<(Deed, Seen)>,
    /// The one that was killed before.
    cut_off: Seen,
}

impl Site<'_> {
    pub(super) fn round_of_halting(&mut self, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        self.standing = Standing::Halted;
        let big = self.workspace().join(LONG);
        File::create(&big)?.set_len(LONG_BYTES)?;
        self.effects.forget(LONG)?;
        let Halting { returned, long: (long, ended), tried, cut_off } = self.halt_under_load(random)?;
        let mut found = self.judge(None, cut_off, Company::Alone);
        let took = ended.saturating_duration_since(returned);
        if took > STILL {
            found.push(
                Invariant::Halted.violated(format!("a call that ran was over only {took:?} after a halt")),
            );
        }
        if (&long.end, long.code()) != (&End::Exit(3), Some("R3003")) {
            found.push(Invariant::Halted.violated(format!("what was halted ended with {:?}", long.end)));
        }
        for (deed, seen) in tried {
            self.deeds.push(deed);
            let place = self.deeds.len() - 1;
            found.extend(self.judge(Some(place), seen, Company::InALoad));
        }
        found.extend(self.judge(None, long, Company::InALoad));
        found.extend(self.still_halted()?);
        found.extend(self.silent_since(returned)?);
        // Whoever reads it again need not read all of it.
        File::create(&big)?;
        self.effects.forget(LONG)?;
        found.extend(self.lift(random)?);
        found.extend(self.settle(random, Again::Spared)?);
        found.extend(self.recorded_meanwhile()?);
        Ok(found)
    }

    /// Calls go on being started before, during and after the halt; at the end all of them are killed.
    fn halt_under_load(&self, random: &mut Random) -> anyhow::Result<Halting> {
        let (signs, tried) = (Signs::default(), Mutex::new(Vec::new()));
        let mut chances: Vec<Random> = (0..WORKERS).map(|_| Random::new(random.next())).collect();
        let before = random.moment(Duration::from_millis(50), Duration::from_millis(400));
        std::thread::scope(|scope| {
            let (signs, tried) = (&signs, &tried);
            let long = scope.spawn(move || self.long(signs));
            let listener = scope.spawn(move || self.listen(signs));
            let workers: Vec<_> = (1_u64..)
                .zip(&mut chances)
                .map(|(number, chance)| scope.spawn(move || self.work(number, chance, signs, tried)))
                .collect();
            let halted = self.halt(before, random, signs);
            signs.over.store(true, Ordering::SeqCst);
            let broken = || anyhow::Error::msg("a thread panicked");
            for worker in workers {
                worker.join().map_err(|_panic| broken())??;
            }
            listener.join().map_err(|_panic| broken())??;
            let long = long.join().map_err(|_panic| broken())??;
            let (cut_off, returned) = halted?;
            let tried = std::mem::take(&mut *tried.lock().unwrap_or_else(PoisonError::into_inner));
            Ok(Halting { returned, long, tried, cut_off })
        })
    }

    /// Twice: who halts may be killed as well, and then tries again.
    fn halt(&self, before: Duration, random: &mut Random, signs: &Signs) -> anyhow::Result<(Seen, Instant)> {
        let begun = Instant::now();
        while !signs.reading.load(Ordering::SeqCst) {
            if begun.elapsed() > PATIENCE {
                bail!("the long call never began");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(before);
        let cut_off = self.cut_off("halt", random)?;
        let (end, _, stderr) = self.ask(&["halt"])?;
        let returned = Instant::now();
        if end != End::Exit(0) {
            bail!("`halt` ended with {end:?}: {stderr}");
        }
        std::thread::sleep(STILL + TRIED);
        signs.killing.store(true, Ordering::SeqCst);
        std::thread::sleep(KILLED);
        Ok((cut_off, returned))
    }

    /// The owner lifts it; the first time the command is killed.
    fn lift(&mut self, random: &mut Random) -> anyhow::Result<Vec<Violation>> {
        let cut_off = self.cut_off("resume-all", random)?;
        let mut found = self.judge(None, cut_off, Company::Alone);
        let (end, _, stderr) = self.ask(&["resume-all"])?;
        if end != End::Exit(0) {
            found.push(Invariant::NoInternalError.violated(format!("`resume-all`: {end:?}: {stderr}")));
        }
        Ok(found)
    }

    fn cut_off(&self, command: &str, random: &mut Random) -> anyhow::Result<Seen> {
        let moment = Fate::Moment(random.moment(Duration::from_millis(5), Duration::from_millis(60)));
        let fate = match self.draw(Sort::Halt, random) {
            aimed @ Fate::At { .. } => aimed,
            _ => moment,
        };
        let args = vec![command.to_owned()];
        let planned = Planned { sort: Sort::Halt, args, deed: None, lease: None, fate };
        Ok(self.watch(planned, &|| Ok(()))?.1)
    }

    /// One call that takes long.
    fn long(&self, signs: &Signs) -> anyhow::Result<(Seen, Instant)> {
        let args = ["tools", "call", "hash", &format!("path={LONG}")].map(str::to_owned).to_vec();
        let planned = Planned { sort: Sort::Call, args, deed: None, lease: None, fate: READING };
        let (_, seen) = self.watch(planned, &|| {
            signs.reading.store(true, Ordering::SeqCst);
            Ok(())
        })?;
        Ok((seen, Instant::now()))
    }

    /// What is heard late looks late.
    fn listen(&self, signs: &Signs) -> anyhow::Result<()> {
        while !signs.over.load(Ordering::SeqCst) {
            self.effects.read()?;
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// One call after the other.
    fn work(
        &self,
        worker: u64,
        chance: &mut Random,
        signs: &Signs,
        tried: &Mutex<Vec<(Deed, Seen)>>,
    ) -> anyhow::Result<()> {
        const CALLS: u64 = 1_000;
        for number in 0..CALLS {
            if signs.over.load(Ordering::SeqCst) {
                break;
            }
            let deed = Deed::new(worker * CALLS + number, Kind::Create);
            let killed = signs.killing.load(Ordering::SeqCst);
            let soon = || chance.moment(Duration::from_millis(1), Duration::from_millis(60));
            let fate = killed.then(soon).map_or(Fate::Spared, Fate::Moment);
            let planned = Planned { sort: Sort::Call, args: deed.args(), deed: None, lease: None, fate };
            let (_, seen) = self.watch(planned, &|| Ok(()))?;
            let refused = seen.code() == Some("R3003");
            tried.lock().unwrap_or_else(PoisonError::into_inner).push((deed, seen));
            if refused {
                // Each of these is gone on with later, one by one.
                std::thread::sleep(Duration::from_millis(150));
            }
        }
        Ok(())
    }

    /// Everything was killed; a new process finds the house as it was left.
    fn still_halted(&mut self) -> anyhow::Result<Vec<Violation>> {
        let deed = Deed::new(0, Kind::Create);
        let planned =
            Planned { sort: Sort::Call, args: deed.args(), deed: None, lease: None, fate: Fate::Spared };
        let (_, seen) = self.watch(planned, &|| Ok(()))?;
        let told = (&seen.end, seen.code()) == (&End::Exit(3), Some("R3003"));
        let what = format!("after a restart, a call ended with {:?} ({:?})", seen.end, seen.code());
        self.deeds.push(deed);
        let mut found = self.judge(Some(self.deeds.len() - 1), seen, Company::Alone);
        found.extend((!told).then(|| Invariant::Halted.violated(what)));
        Ok(found)
    }

    fn silent_since(&self, returned: Instant) -> anyhow::Result<Vec<Violation>> {
        let late = self.effects.all()?.into_iter().filter(|effect| effect.at > returned + STILL);
        let what = |effect: super::effects::Effect| {
            let after = effect.at.saturating_duration_since(returned);
            Invariant::Halted.violated(format!("`{}` was changed {after:?} after a halt", effect.name))
        };
        Ok(late.map(what).collect())
    }

    /// The order of the audit is the order of the commits: no call starts between the halt and its lifting, and what came of the
    /// call that ran is on record. A halt counts before it is in the ledger, so that is told by the time of its entry.
    fn recorded_meanwhile(&self) -> anyhow::Result<Vec<Violation>> {
        let mut lines = match self.lines(&["audit", "list", "--json", "--limit", EVERYTHING])? {
            Ok(lines) => lines,
            Err(violation) => return Ok(vec![violation]),
        };
        lines.sort_by_key(|line| line.get("seq").and_then(serde_json::Value::as_u64));
        let of = |kind: &str| lines.iter().position(|line| text(line, "kind") == Some(kind));
        let (Some(halted), Some(resumed)) = (of("house.halted"), of("house.resumed")) else {
            return Ok(vec![Invariant::Halted.violated("halt and resume-all are not both on record")]);
        };
        let between = || lines.iter().take(resumed).skip(halted);
        let mut found = Vec::new();
        let started = between().filter(|line| text(line, "kind") == Some("call.started")).count();
        if started > 0 {
            let what = format!("{started} calls were started while the house was halted");
            found.push(Invariant::Halted.violated(what));
        }
        let is_long = |line: &&serde_json::Value| {
            line.pointer("/detail/tool").and_then(serde_json::Value::as_str) == Some("hash")
        };
        let since = lines.get(halted).and_then(|line| text(line, "at"));
        let ended = lines.iter().take(resumed).filter(is_long).filter(|line| text(line, "at") >= since);
        if ended.count() != 1 {
            let entries = lines.iter().take(resumed).filter(is_long);
            let entries: Vec<_> = entries.map(|line| (text(line, "kind"), text(line, "at"))).collect();
            let what =
                format!("what came of the call that ran is not on record: halted at {since:?}, {entries:?}");
            found.push(Invariant::Halted.violated(what));
        }
        Ok(found)
    }
}
