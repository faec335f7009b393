//! Tools with wrong arguments, wrong switches, wrong secrets; and a halt, seen by the real program.

use std::os::unix::fs::PermissionsExt;

use crate::world::World;

fn write(world: &World, path: &str) -> crate::process::Outcome {
    world.regent(&["tools", "call", "write_file", &format!("path={path}"), "content=x"]).run()
}

/// As long as nobody knows which tools are off, none runs; what helps to put it right works.
#[test]
fn a_list_of_switches_that_cannot_be_read_switches_everything_off() {
    let world = World::lived_in();
    let file = world.home.join("tool-access.json");
    let broken =
        ["", "{", "[]", "{\"write_file\": false}", "{\"write_file\": {\"enabled\": false}} x", "\u{0}"];
    for text in broken {
        std::fs::write(&file, text).expect("file");
        write(&world, "a.txt").fails(3, "R3002").says(&["tool-access.json cannot be read"]);
        world.regent(&["tools", "list"]).run().succeeds();
        world.regent(&["tools", "disable", "calc"]).run().fails(4, "R4029").says(&["as they were"]);
        assert_eq!(std::fs::read_to_string(&file).expect("file"), text, "it was written over");
        let doctor = world.regent(&["doctor"]).run();
        assert!(doctor.stdout.contains("tool-access.json"), "{doctor}");
    }
    assert!(!world.workspace().join("a.txt").exists());
    std::fs::remove_file(&file).expect("file");
    write(&world, "a.txt").succeeds();
}

/// A link to a disk that is not mounted is no leave to do everything, and neither is a file that anybody may write.
#[test]
fn switches_that_are_elsewhere_or_others_can_write_switch_everything_off() {
    let world = World::lived_in();
    let file = world.home.join("tool-access.json");
    std::os::unix::fs::symlink("elsewhere.json", &file).expect("link");
    write(&world, "a.txt").fails(3, "R3002").says(&["tool-access.json cannot be read"]);
    let listed = world.regent(&["tools", "list"]).run().succeeds();
    assert!(listed.stderr.contains("a link that leads nowhere"), "{listed}");
    world.regent(&["tools", "enable", "calc"]).run().fails(4, "R4029").says(&["as they were"]);
    assert!(file.is_symlink(), "it was written over");
    std::fs::write(world.home.join("elsewhere.json"), "{}").expect("file");
    write(&world, "a.txt").succeeds();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o602)).expect("mode");
    write(&world, "b.txt").fails(3, "R3002");
    world.regent(&["tools", "disable", "calc"]).run().fails(4, "R4029").says(&["chmod go-w"]);
    assert!(world.regent(&["doctor"]).run().stdout.contains("chmod go-w"));
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).expect("mode");
    write(&world, "b.txt").succeeds();
}

#[test]
fn a_switch_of_no_tool_is_told() {
    let world = World::lived_in();
    let text = r#"{"wirte_file": {"enabled": false}, "file:delete": {"enabled": false}}"#;
    std::fs::write(world.home.join("tool-access.json"), text).expect("file");
    let listed = world.regent(&["tools", "list"]).run().succeeds();
    assert!(listed.stderr.contains("no tool `wirte_file`; did you mean `write_file`?"), "{listed}");
    assert!(!listed.stderr.contains("delete"), "{listed}");
}

/// What the help shows works, word for word.
#[test]
fn the_examples_of_a_call_work() {
    let world = World::lived_in();
    let help = world.regent(&["tools", "call", "--help"]).run().succeeds().stdout;
    let examples = help.lines().skip_while(|line| !line.starts_with("Example:")).skip(1);
    let examples: Vec<&str> = examples.map(str::trim).filter(|line| line.starts_with("regent ")).collect();
    assert_eq!(examples.len(), 4, "{help}");
    for example in examples {
        let program = format!("regent() {{ {:?} \"$@\"; }}\n{example}", env!("CARGO_BIN_EXE_regent"));
        let done = std::process::Command::new("sh")
            .args(["-c", &program])
            .current_dir(world.workspace())
            .env("REGENT_HOME", &world.home)
            .output()
            .expect("a shell");
        assert!(done.status.success(), "{example}: {done:?}");
    }
    assert!(!world.workspace().join("hello.txt").exists(), "written, and deleted again");
}

#[test]
fn a_list_is_written_with_commas_too() {
    let world = World::lived_in();
    for (list, found) in [("rs,md", 3), ("rs", 2), (r#"["md"]"#, 1)] {
        let args = ["tools", "call", "find_files", &format!("extensions={list}"), "--json"];
        let said = world.regent(&args).run().succeeds();
        let names = ["main.rs", "lib.rs", "notes.md"];
        assert_eq!(names.iter().filter(|name| said.stdout.contains(**name)).count(), found, "{said}");
    }
    world.regent(&["tools", "call", "find_files", "extensions=[rs"]).run().fails(2, "R2019");
}

#[test]
fn the_environment_switches_off_and_never_on() {
    let world = World::lived_in();
    let call = ["tools", "call", "calc", "expression=1+1"];
    world
        .regent(&call)
        .env("REGENT_TOOLS_OFF", "shell, calc")
        .run()
        .fails(3, "R3002")
        .says(&["REGENT_TOOLS_OFF"]);
    world.regent(&["tools", "disable", "calc"]).run().succeeds();
    world.regent(&call).env("REGENT_TOOLS_OFF", "").run().fails(3, "R3002").says(&["tools enable calc"]);
}

#[test]
fn arguments_that_cannot_be_read_are_named_and_nothing_is_written_down() {
    let world = World::lived_in();
    let before = world.record();
    let table: [(&[&str], &str, &str); 6] = [
        (&["calc", "expression"], "R2019", "name=value"),
        (&["calc", "expression=1", "expression=2"], "R2019", "twice"),
        (&["calc", "--args", "{"], "R2019", "no JSON"),
        (&["calc", "--args", "[1]"], "R2019", "no JSON object"),
        (&["clac", "expression=1"], "R2017", "did you mean `calc`?"),
        (&["calc", "--args", "{}", "expression=1"], "R2001", "cannot be used with"),
    ];
    for (args, code, says) in table {
        let all: Vec<&str> = ["tools", "call"].iter().chain(args).copied().collect();
        world.regent(&all).run().fails(2, code).says(&[says]);
    }
    assert_eq!(world.record(), before);
}

/// What others can read is no secret, and what cannot be read cannot be looked for in results.
#[test]
fn a_secret_that_is_none_stops_everything_until_it_is_put_right() {
    let world = World::lived_in();
    let folder = world.home.join("secrets");
    std::fs::create_dir(&folder).expect("folder");
    // What is no secret is in nobody's way.
    std::fs::write(folder.join(".DS_Store"), "x").expect("file");
    std::fs::create_dir(folder.join("old")).expect("folder");
    write(&world, "first.txt").succeeds();
    let file = folder.join("github");
    std::fs::write(&file, "long enough").expect("file");
    for mode in [0o755, 0o710, 0o701] {
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode)).expect("mode");
        write(&world, "a.txt").fails(4, "R4030").says(&["chmod 700"]);
    }
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).expect("mode");
    for (value, mode) in [("long enough", 0o644), ("short", 0o600)] {
        std::fs::write(&file, value).expect("file");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).expect("mode");
        let refused = write(&world, "a.txt").fails(4, "R4030").says(&["github"]);
        assert!(!refused.stderr.contains(value), "{refused}");
    }
    std::fs::write(&file, "ghp_long_enough\n").expect("file");
    write(&world, "a.txt").succeeds();
    // What a tool finds is searched for it.
    std::fs::write(world.workspace().join("leak.txt"), "token: ghp_long_enough!").expect("file");
    let read = world.regent(&["tools", "call", "read_file", "path=leak.txt"]).run().succeeds();
    assert!(read.stdout.contains("[secret:github]") && !read.stdout.contains("ghp_long"), "{read}");
    // What is typed is kept, so a secret must not be typed; then nothing is.
    let before = world.record();
    for args in
        [&["tools", "call", "hash", "text=ghp_long_enough"][..], &["run", "search for ghp_long_enough"]]
    {
        world.regent(args).run().fails(4, "R4030").says(&["the secret `github` stands in what you wrote"]);
    }
    assert_eq!(world.record(), before);
}

/// The house's own files are not the workspace's, wherever that is.
#[test]
fn no_tool_reaches_what_decides_about_it() {
    let mut world = World::new();
    world.home = world.workspace().join("house");
    world.regent(&["init", "--yes"]).run().succeeds();
    std::fs::write(world.workspace().join("outside.txt"), "x").expect("file");
    std::fs::create_dir_all(world.home.join("secrets")).expect("folder");
    for path in ["house/tool-access.json", "house/secrets/mine", "house/data/x", "house/regent.toml"] {
        let call = |args: &[&str]| {
            let all: Vec<&str> = ["tools", "call"].iter().chain(args).copied().collect();
            world.regent(&all).run().fails(1, "R1002")
        };
        call(&["write_file", &format!("path={path}"), "content={}", "replace=true", "--yes"]);
        call(&["delete_file", &format!("path={path}"), "--yes"]);
        call(&["read_file", &format!("path={path}")]);
    }
    assert!(!world.home.join("tool-access.json").exists());
    let found = world.regent(&["tools", "call", "find_files"]).run().succeeds();
    assert!(found.stdout.contains("outside.txt") && !found.stdout.contains("regent.db"), "{found}");
}

#[test]
fn a_halt_is_seen_by_every_command_until_it_is_lifted() {
    let world = World::lived_in();
    world.regent(&["halt"]).run().succeeds();
    assert!(world.regent(&["halt"]).run().succeeds().stdout.contains("already halted"));
    write(&world, "a.txt").fails(3, "R3003").says(&["regent resume-all"]);
    world.regent(&["resume"]).run().fails(3, "R3003");
    assert!(world.regent(&["status"]).run().succeeds().stdout.contains("halted"));
    assert!(!world.workspace().join("a.txt").exists());
    let lifted = world.regent(&["resume-all"]).run().succeeds();
    assert!(lifted.stderr.contains("regent resume t-"), "{lifted}");
    world.regent(&["resume"]).run().succeeds();
    assert!(world.workspace().join("a.txt").exists());
    assert!(world.regent(&["resume-all"]).run().succeeds().stdout.contains("nothing was halted"));
}
