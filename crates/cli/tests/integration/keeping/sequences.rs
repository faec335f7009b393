//! Random sequences of what an owner does with several databases, restores that are killed, and a process that goes on writing. A
//! model knows what must be halted and switched off; at the end every database verifies.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ChildStdin;

use crate::keeping::databases::{has_key, secrets_of};
use crate::keeping::watched::{Instance, Place};
use crate::process::Running;
use crate::world::{ANSWER, REQUEST, event};

const PLACES: [Place; 3] = [Place::File, Place::Server(0), Place::Server(1)];
const POLICY: &str = "quiet-hours";
/// More stages than a restore has.
const STAGES: u64 = 30;

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// Splitmix64: the same numbers for the same seed, everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)) % limit
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        let at = self.below(all.len() as u64);
        all[usize::try_from(at).expect("small")].clone()
    }
}

/// What must be so in one database.
#[derive(Clone, Copy, Debug, Default)]
struct Expected {
    halted: bool,
    /// Whether a killed restore may have brought a halt back from a backup.
    perhaps: bool,
    policy: Option<bool>,
}

struct Copied {
    folder: PathBuf,
    halted: bool,
}

struct Writer {
    place: Place,
    process: Running,
    stdin: ChildStdin,
    /// Whether a restore of its database was begun since.
    disturbed: bool,
    acknowledged: Vec<String>,
}

struct Sequence {
    instance: Instance,
    random: Random,
    place: Place,
    expected: BTreeMap<Place, Expected>,
    copies: Vec<Copied>,
    writer: Option<Writer>,
    keys: Vec<Vec<u8>>,
    lines: u32,
    log: Vec<String>,
}

impl Sequence {
    fn new(seed: u64) -> Self {
        let instance = Instance::with_servers(2);
        let mut keys = Vec::new();
        for place in PLACES {
            instance.ingest(place, 1..=1);
            keys.push(secrets_of(&instance, place)[1].clone());
        }
        Self {
            instance,
            random: Random(seed),
            place: Place::File,
            expected: PLACES.into_iter().map(|place| (place, Expected::default())).collect(),
            copies: Vec::new(),
            writer: None,
            keys,
            lines: 0,
            log: vec![format!("seed {seed}")],
        }
    }

    fn expected(&mut self) -> &mut Expected {
        self.expected.get_mut(&self.place).expect("every place is there")
    }

    fn is_marked(&self) -> bool {
        self.instance.world.data().join("restoring").exists()
    }

    fn step(&mut self) {
        let kinds = ["run", "backup", "restore", "kill", "halt", "resume", "switch", "move", "move", "write"];
        let kind = self.random.one_of(&kinds);
        self.log.push(format!("{kind} at {:?}", self.place));
        match kind {
            "run" => self.run(),
            "backup" => self.back_up(),
            "restore" => self.restore(),
            "kill" => self.kill_a_restore(),
            "halt" => {
                self.instance.succeeds(self.place, &["halt"]);
                *self.expected() = Expected { halted: true, perhaps: false, ..*self.expected() };
            }
            "resume" => {
                self.instance.succeeds(self.place, &["resume-all"]);
                *self.expected() = Expected { halted: false, perhaps: false, ..*self.expected() };
            }
            "switch" => {
                let on = self.random.below(2) == 0;
                self.instance.succeeds(self.place, &["acl", if on { "enable" } else { "disable" }, POLICY]);
                self.expected().policy = Some(on);
            }
            "move" => self.place = self.random.one_of(&PLACES),
            _ => {}
        }
        self.write();
    }

    fn run(&mut self) {
        let run = self.instance.regent(self.place, &["run", REQUEST]).run();
        let Expected { halted, perhaps, .. } = *self.expected();
        if halted || (perhaps && run.exit == Some(3)) {
            run.fails(3, "R3003");
            *self.expected() = Expected { halted: true, perhaps: false, ..*self.expected() };
        } else {
            assert!(run.exit == Some(0) && run.stdout.starts_with(ANSWER), "{:#?}\n{run}", self.log);
            self.expected().perhaps = false;
        }
    }

    fn back_up(&mut self) {
        self.run(); // then it is known whether it is halted
        let folder = self.instance.back_up(self.place);
        let halted = self.expected().halted;
        self.copies.push(Copied { folder, halted });
    }

    /// The backup that is restored next, if there is one.
    fn chosen(&mut self) -> Option<(PathBuf, bool)> {
        if self.copies.is_empty() {
            return None;
        }
        let at = usize::try_from(self.random.below(self.copies.len() as u64)).expect("small");
        let copy = &self.copies[at];
        Some((copy.folder.clone(), copy.halted))
    }

    fn disturb(&mut self) {
        if let Some(writer) = self.writer.as_mut().filter(|writer| writer.place == self.place) {
            writer.disturbed = true;
            writer.acknowledged.clear();
        }
    }

    fn restore(&mut self) {
        let Some((folder, halted)) = self.chosen() else { return };
        self.instance.succeeds(self.place, &["tasks", "list"]); // settles what is to be settled here
        self.keys.push(secrets_of(&self.instance, self.place)[1].clone());
        let restored = self.instance.regent(self.place, &["restore", "--yes", text(&folder)]).run();
        if self.is_marked() {
            restored.fails(4, "R4036"); // that of another database comes first
            return;
        }
        assert_eq!(restored.exit, Some(0), "{:#?}\n{restored}", self.log);
        self.disturb();
        self.expected().halted |= halted;
    }

    fn kill_a_restore(&mut self) {
        let Some((folder, halted)) = self.chosen() else { return };
        self.instance.succeeds(self.place, &["tasks", "list"]); // settles what is to be settled here
        if self.is_marked() {
            return;
        }
        self.disturb();
        let stage = self.random.below(STAGES);
        let mut restore = self.instance.watch(self.place, &["restore", "--yes", text(&folder)]);
        let mut stages = 0;
        while let Some(point) = restore.next() {
            stages += u64::from(point.starts_with("stage "));
            if stages > stage {
                self.log.push(format!("killed at `{point}`"));
                restore.kill();
                self.expected().perhaps |= halted && !self.expected().halted;
                return;
            }
        }
        let output = restore.finish();
        assert!(output.status.success(), "{:#?}\n{}", self.log, String::from_utf8_lossy(&output.stderr));
        self.expected().halted |= halted;
    }

    /// The process that has a database open goes on writing, or is told that a restore has replaced it.
    fn write(&mut self) {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => {
                let place = self.random.one_of(&PLACES);
                let mut process = self.instance.regent(place, &["events", "ingest"]).start();
                let stdin = process.take_stdin();
                Writer { place, process, stdin, disturbed: false, acknowledged: Vec::new() }
            }
        };
        self.lines += 1;
        let name = format!("line-{}", self.lines);
        let sent = writer.stdin.write_all(event(&name, "still here").as_bytes());
        let line = if sent.is_ok() { writer.process.line() } else { String::new() };
        if line.contains("\"new\":true") {
            writer.acknowledged.push(name);
            self.writer = Some(writer);
            return;
        }
        drop(writer.stdin);
        let ended = writer.process.finish();
        assert!(writer.disturbed, "{:#?}\n{:?}: {line}{ended}", self.log, writer.place);
        ended.fails(4, "R4028");
    }

    fn finish(mut self) {
        if let Some(Writer { place, process, stdin, acknowledged, .. }) = self.writer.take() {
            drop(stdin);
            process.finish().succeeds();
            let events = self.instance.events(place);
            for name in acknowledged {
                assert!(events.contains(&format!("demo:{name}\"")), "{:#?}\n{name} is lost", self.log);
            }
        }
        for place in PLACES {
            self.place = place;
            self.log.push(format!("at last {place:?}"));
            self.run();
            self.instance.verifies(place);
            if let Some(on) = self.expected().policy {
                let listed = self.instance.succeeds(place, &["acl", "list"]).stdout;
                let line = listed.lines().find(|line| line.contains(POLICY)).expect("it ships");
                assert_eq!(line.starts_with("on"), on, "{:#?}\n{place:?}: {line}", self.log);
            }
            self.instance.succeeds(place, &["resume-all"]);
            self.instance.answers(place);
            self.instance.verifies(place);
        }
        assert!(!self.is_marked(), "{:#?}", self.log);
        for key in &self.keys {
            assert!(has_key(&self.instance, key), "{:#?}\na key is gone", self.log);
        }
    }
}

#[test]
fn no_halt_and_no_key_is_lost_in_a_random_sequence() {
    let (seeds, steps) = if services::is_full() { (1..=12, 60) } else { (1..=1, 24) };
    for seed in seeds {
        let mut sequence = Sequence::new(seed);
        for _ in 0..steps {
            sequence.step();
        }
        sequence.finish();
    }
}
