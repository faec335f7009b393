//! A plan of 500 subtasks is carried out, and twice the plan is twice the work: counted, not timed.

use domain::limits::PLAN_SUBTASKS;
use domain::task::{Directive, Plan};

use super::world::{World, subtask};
use crate::task::Effect;

/// Each needs the one before.
fn chain(n: u32) -> Plan {
    Plan::of(
        (0..n).map(|number| subtask(number, &number.checked_sub(1).map_or(vec![], |on| vec![on]))).collect(),
    )
}

/// All but the first need the first; all but the last are needed by the last.
fn fan(n: u32) -> Plan {
    let needs = |number: u32| match number {
        0 => Vec::new(),
        last if last == n - 1 => (1..last).collect(),
        _ => vec![0],
    };
    Plan::of((0..n).map(|number| subtask(number, &needs(number))).collect())
}

/// Ten a layer, each of which needs two of the layer before.
fn layered(n: u32) -> Plan {
    let needs = |number: u32| match number / 10 {
        0 => Vec::new(),
        layer => vec![(layer - 1) * 10 + number % 10, (layer - 1) * 10 + (number + 1) % 10],
    };
    Plan::of((0..n).map(|number| subtask(number, &needs(number))).collect())
}

/// What was done, counted.
#[derive(Debug, PartialEq, Eq)]
struct Work {
    steps: usize,
    asks: usize,
    calls: usize,
    messages: usize,
}

fn driven(plan: Plan) -> Work {
    let n = plan.subtasks.len();
    let mut world = World::with(plan);
    let mut ready = world.acting();
    while let Some(number) = ready.pop() {
        world.matches(number);
        ready.extend(world.acting());
    }
    assert_eq!(world.ending(), (Directive::Accept, None, None));
    assert_eq!(world.result().verdicts.len(), n);
    let effects = || world.journal.iter().flat_map(|step| &step.effects);
    Work {
        steps: world.journal.len(),
        asks: world.asks().count(),
        calls: effects().filter(|effect| matches!(effect, Effect::Call(_))).count(),
        messages: world.journal.iter().map(|step| step.messages.len()).sum(),
    }
}

/// Four inputs, two asks, one call and three messages for each subtask, whatever hangs on what; and what every task has.
fn expected(n: usize) -> Work {
    Work { steps: 4 + 4 * n, asks: 2 + 2 * n, calls: 1 + n, messages: 6 + 3 * n }
}

#[test]
fn the_work_of_a_plan_is_linear_in_its_subtasks() {
    for (name, shape) in [("chain", chain as fn(u32) -> Plan), ("fan", fan), ("layered", layered)] {
        for n in [250, 500] {
            assert_eq!(driven(shape(n)), expected(n as usize), "{name} of {n}");
        }
    }
}

#[test]
fn one_subtask_more_than_the_limit_is_refused() {
    let n = u32::try_from(PLAN_SUBTASKS).expect("a small number");
    let mut world = World::planning();
    world.plans(chain(n + 1));
    assert_eq!(world.asked().repair.as_deref(), Some("the plan has 501 subtasks, more than 500"));
}

/// One failure at the head skips all the others in one step.
#[test]
fn a_chain_that_breaks_at_its_head_is_over_in_one_step() {
    let mut world = World::with(chain(500));
    world.fails_environmentally(0);
    let [request] = world.bodies("ReplanRequest")[..] else { panic!("one request") };
    assert_eq!(request["failed_outcomes"].as_array().map(Vec::len), Some(500));
    assert_eq!(world.directed().loss.d, 1.0);
}
