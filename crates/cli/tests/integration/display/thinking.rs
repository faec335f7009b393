//! A model on a server, and what it says on the screen.

use double::{Double, Fault, Reaction, Said, Script as Says};
use nix::sys::signal::Signal;

use super::script::slow;
use super::{Scene, USUAL};

#[test]
fn what_a_model_says_is_on_the_screen_before_the_rest_of_it_has_come() {
    let said = Said::text(format!("first words of it {}", "and more of them ".repeat(200)));
    let never_ends = Reaction { said, faults: vec![Fault::HangAt(2_000)] };
    let double = Double::start(Says::new().otherwise(never_ends));
    let scene = Scene::new(&slow(0));
    let environment = [
        ("REGENT_FAULTS", ""),
        ("REGENT_PROVIDER_DOUBLE_URL", double.url.as_str()),
        ("REGENT_PROVIDER_DOUBLE_DIALECT", "anthropic"),
        ("REGENT_PROVIDER_DOUBLE_KEY", "env:DOUBLE_API_KEY"),
        ("REGENT_MODEL_BRAIN", "double/double-large"),
        ("DOUBLE_API_KEY", double::KEY),
    ];
    let terminal =
        scene.terminal(USUAL, &["run", "tell me what I should think of these notes"], &environment);
    terminal.sees("more of them", 1);
    terminal.signal(Signal::SIGINT);
    let (exit, shown) = terminal.ends();
    assert_eq!(exit, Some(130), "{shown}");
    assert!(shown.contains("regent resume t-"), "what was being thought about can be gone on with: {shown}");
    assert!(!shown.contains(double::KEY), "{shown}");
}
