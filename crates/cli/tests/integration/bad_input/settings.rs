//! Wrong settings: in the file, in the environment, in flags. All mistakes are told at once.

use crate::world::World;

#[test]
fn every_mistake_in_the_file_and_the_environment_is_told_at_once() {
    let world = World::new();
    world.write_settings(
        "[ui]\ncolour = \"never\"\ncolor = \"purple\"\n[time]\nzone = \"Mars/Base\"\n[x]\ny = 1\n",
    );
    let status = world.regent(&["status"]).env("REGENT_UI_COLR", "never");
    world.refuses(status, 2, "R2006").says(&[
        "regent.toml",
        "`ui.colour` is not a setting; did you mean `ui.color`?",
        "`purple` is not one of auto, always, never",
        "`Mars/Base` is not a time zone",
        "`x.y` is not a setting",
        "`REGENT_UI_COLR` is not a setting; did you mean `REGENT_UI_COLOR`?",
        "nothing was done",
    ]);
    assert!(!world.data().exists(), "nothing was done, so nothing was made");
}

#[test]
fn a_file_that_is_no_toml_names_the_place() {
    let world = World::new();
    world.write_settings("[ui\ncolor = \"never\"\n");
    world.refuses(world.regent(&["status"]), 2, "R2006").says(&["regent.toml", "line 1", "nothing was done"]);
    assert!(!world.data().exists());
}

#[test]
fn a_file_that_is_no_text_is_said_so() {
    let world = World::new();
    world.write_settings(b"[ui]\ncolor = \"\xff\xfe\"\n");
    world.refuses(world.regent(&["status"]), 2, "R2006").says(&["regent.toml", "UTF-8"]);
    assert!(!world.data().exists());
}

#[test]
fn a_file_that_is_no_file_is_said_so_and_nobody_waits_for_it() {
    let world = World::new();
    let path = world.home.join("regent.toml");
    std::fs::create_dir_all(&path).expect("a folder in its place");
    world.refuses(world.regent(&["status"]), 2, "R2006").says(&["regent.toml"]);
    std::fs::remove_dir(&path).expect("away with it");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("a pipe in its place");
    world.refuses(world.regent(&["status"]), 2, "R2006").says(&["regent.toml"]);
}

#[test]
fn control_characters_in_the_file_do_not_reach_the_terminal() {
    let world = World::new();
    world.write_settings("[ui]\n\"\x1b[31m\u{202e}\" = \"x\"\n");
    world.refuses(world.regent(&["status"]), 2, "R2006").says(&["regent.toml"]);
    world.write_settings("[ui]\n\"\\u001b[31m\" = \"x\"\n");
    world.refuses(world.regent(&["status"]), 2, "R2006").says(&["\\u{1b}[31m"]);
}

#[test]
fn an_unknown_variable_of_ours_is_refused_and_others_are_none_of_our_business() {
    let world = World::new();
    world.regent(&["status"]).env("REGENTS_PARK", "x").env("OTHER", "x").run().succeeds();
    let status = world.regent(&["status"]).env("REGENT_UI_COLUR", "never");
    world.refuses(status, 2, "R2006").says(&["REGENT_UI_COLUR", "did you mean `REGENT_UI_COLOR`?"]);
}

#[test]
fn a_bad_value_in_the_environment_is_refused() {
    let world = World::lived_in();
    let list = world.regent(&["events", "list"]).env("REGENT_TIME_ZONE", "Mars/Base");
    world.refuses(list, 2, "R2006").says(&["environment REGENT_TIME_ZONE", "Mars/Base"]);
}

#[test]
fn a_setting_of_the_wrong_type_is_refused() {
    let world = World::lived_in();
    for text in ["ui = 1\n", "[ui]\ncolor = 1\n", "[ui]\ncolor = [\"never\"]\n", "[ui.color]\nx = 1\n"] {
        let settings = std::fs::read(world.home.join("regent.toml")).expect("settings");
        let before = world.record();
        world.write_settings(text);
        world.regent(&["run", "how many files are here?"]).run().fails(2, "R2006").says(&["ui"]);
        world.write_settings(settings);
        assert_eq!(world.record(), before);
    }
}

/// What an error suggests has to work in the state that it was suggested in.
#[test]
fn with_wrong_settings_the_suggested_commands_still_work() {
    let world = World::new();
    world.write_settings("[ui]\ncolour = \"never\"\n");
    let wrong = world.regent(&["status"]).run().fails(2, "R2006");
    for remedy in wrong.remedies() {
        let args: Vec<&str> = remedy.split(' ').skip(1).collect();
        let outcome = world.regent(&args).run();
        assert_eq!(outcome.exit, Some(0), "{outcome}");
    }
    for args in [&["paths"][..], &["explain", "R2006"], &["completions", "bash"]] {
        world.regent(args).run().succeeds();
    }
    let doctor = world.regent(&["doctor"]).run().fails(1, "R1004");
    assert!(doctor.stdout.contains("ui.colour"), "{doctor}");
}
