//! ari's example, "Send a meeting summary to the team", by its text: 5 needs 3 and 4, 4 needs 2, 2 needs 1, 3 is
//! independent. Here they are counted from 0.

use domain::ask::Want;
use domain::source::Text;
use domain::task::{Directive, Plan, Subtask};
use serde_json::json;

use super::world::{World, subtask};

const EVENTS: u32 = 0;
const SUMMARISE: u32 = 1;
const TEAM: u32 = 2;
const FORMAT: u32 = 3;
const SEND: u32 = 4;

fn meeting_summary() -> Plan {
    let table = [
        ("get the calendar's events", &[][..]),
        ("summarise each meeting", &[EVENTS][..]),
        ("get the list of the team", &[]),
        ("format the summary", &[SUMMARISE]),
        ("send the mail", &[TEAM, FORMAT]),
    ];
    let one = |(number, (intent, on)): (u32, &(&str, &[u32]))| Subtask {
        intent: Text::model(*intent),
        ..subtask(number, on)
    };
    Plan::of((0..).zip(&table).map(one).collect())
}

#[test]
fn what_needs_nothing_starts_together_and_the_rest_as_soon_as_it_can() {
    let mut world = World::with(meeting_summary());
    assert_eq!(world.acting(), [EVENTS, TEAM]);
    world.matches(EVENTS);
    assert_eq!(world.acting(), [SUMMARISE], "it does not wait for the team's list");
    world.matches(SUMMARISE);
    assert_eq!(world.acting(), [FORMAT]);
    world.matches(FORMAT);
    assert_eq!(world.acting(), Vec::<u32>::new(), "the mail needs both");
    world.matches(TEAM);
    assert_eq!(world.acting(), [SEND]);
    let Want::Act { subtask, .. } = &world.asked().want else { panic!("{:?}", world.asked()) };
    let handed: Vec<&str> = subtask.context.iter().map(|text| text.text.as_str()).collect();
    assert_eq!(handed, ["out 2", "out 3"]);
    world.matches(SEND);
    assert_eq!(world.ending(), (Directive::Accept, None, None));
}

#[test]
fn the_order_of_arrival_does_not_matter_to_the_result() {
    let orders = [
        [EVENTS, SUMMARISE, FORMAT, TEAM, SEND],
        [TEAM, EVENTS, SUMMARISE, FORMAT, SEND],
        [EVENTS, TEAM, SUMMARISE, FORMAT, SEND],
        [EVENTS, SUMMARISE, TEAM, FORMAT, SEND],
    ];
    let results: Vec<_> = orders
        .map(|order| {
            let mut world = World::with(meeting_summary());
            order.into_iter().for_each(|number| world.matches(number));
            world.result().clone()
        })
        .into();
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{results:?}");
    assert_eq!(results[0].text, "out 0\nout 1\nout 2\nout 3\nout 4");
}

#[test]
fn without_a_calendar_there_is_no_mail_and_the_team_is_listed_all_the_same() {
    let mut world = World::with(meeting_summary());
    world.fails_environmentally(EVENTS);
    assert_eq!(world.acting(), Vec::<u32>::new());
    world.matches(TEAM);
    let request =
        json!({ "failed_outcomes": [EVENTS, SUMMARISE, FORMAT, SEND], "gap_summary": "no such folder" });
    assert_eq!(world.bodies("ReplanRequest"), [&request]);
    assert_eq!(world.directed().loss.d, 0.8);
}
