//! Budgets: reserved before a call, settled after it, given back if it did not start.

use std::time::Duration;

use broker::budget::{Exhausted, Limits, Reservation, Scope, Standing, Unit};
use broker::{Answer, Context, Cost, Layer, Prepared, Reach, ToolSpec, Used};
use domain::{Tier, Trust};
use ledger::records::Budget;
use serde_json::json;

use crate::door::world::{World, accounts, batch, call, salt, spec};

const COST: Cost = Cost { money: 100, tokens: 10, bytes: 0 };

/// A tool that costs.
fn costly(reach: Reach) -> ToolSpec {
    ToolSpec { reach, cost: COST, ..spec("pays", Tier::WriteSafe) }
}

fn limits(of: &[(Scope, Unit, u64)]) -> Limits {
    let mut limits = Limits::default();
    for (scope, unit, limit) in of {
        limits.set(*scope, *unit, Some(*limit));
    }
    limits
}

/// So much of the task's budget is used.
fn standing(unit: Unit, used: u64) -> Standing {
    let (account, unit) = (accounts().name(Scope::Task), unit.name().into());
    Standing::of(&[Budget { account, unit, used, changed_at: domain::Time::from_micros(0) }])
}

#[test]
fn what_a_call_has_to_hold() {
    use Unit::{BytesOut, Calls, Money, Time, Tokens};
    let held = |unit: Unit, amount: u64, limit: u64| {
        format!(r#"[{{"account":"task:t","amount":{amount},"limit":{limit},"unit":"{}"}}]"#, unit.name())
    };
    let exhausted =
        |unit, limit, used| Err(Exhausted { scope: Scope::Task, unit, limit, used, policy: None });
    let nothing = || Ok((None, None));
    let at_most = |millis| Some(Duration::from_millis(millis));
    let table = [
        // What it costs at the most, and not more than is left.
        (Money, 500, 0, Reach::Workspace, Ok((Some(held(Money, 100, 500)), None))),
        (Money, 500, 400, Reach::Workspace, Ok((Some(held(Money, 100, 500)), None))),
        (Money, 500, 401, Reach::Workspace, exhausted(Money, 500, 401)),
        (Money, 500, 900, Reach::Workspace, exhausted(Money, 500, 900)),
        (Tokens, 9, 0, Reach::Workspace, exhausted(Tokens, 9, 0)),
        (Calls, 3, 2, Reach::Workspace, Ok((Some(held(Calls, 1, 3)), None))),
        (Calls, 3, 3, Reach::Workspace, exhausted(Calls, 3, 3)),
        (Calls, 0, 0, Reach::Workspace, exhausted(Calls, 0, 0)),
        // Bytes count where they leave.
        (BytesOut, 50, 0, Reach::Workspace, nothing()),
        (BytesOut, 50, 0, Reach::Outside, Ok((Some(held(BytesOut, 40, 50)), None))),
        (BytesOut, 50, 11, Reach::Outside, exhausted(BytesOut, 50, 11)),
        // Of time it gets what is left.
        (Time, 5_000, 0, Reach::Workspace, Ok((Some(held(Time, 200, 5_000)), at_most(200)))),
        (Time, 5_000, 4_970, Reach::Workspace, Ok((Some(held(Time, 30, 5_000)), at_most(30)))),
        (Time, 5_000, 5_000, Reach::Workspace, exhausted(Time, 5_000, 5_000)),
        // Whatever came of the work may be told.
        (Money, 0, 0, Reach::Origin, nothing()),
        (Calls, 0, 9, Reach::Origin, nothing()),
    ];
    for (unit, limit, used, reach, expected) in table {
        let limits = limits(&[(Scope::Task, unit, limit)]);
        let found = standing(unit, used).reserve(&limits, &accounts(), &costly(reach), (COST, 40));
        let found = found.map(|(held, time)| (held.kept(), time));
        assert_eq!(found, expected, "{used} of {limit} {}", unit.name());
    }
}

#[test]
fn the_shortest_of_several_times_counts_and_every_budget_has_to_have_enough() {
    let all = [(Scope::Task, Unit::Time, 50), (Scope::Day, Unit::Time, 20), (Scope::Agent, Unit::Calls, 1)];
    let tool = costly(Reach::Workspace);
    let (held, time) =
        Standing::default().reserve(&limits(&all), &accounts(), &tool, (tool.cost, 0)).unwrap();
    assert_eq!(time, Some(Duration::from_millis(20)));
    assert_eq!(Reservation::read(held.kept().as_deref()), held, "it is read as it was kept");
    let all = [(Scope::Task, Unit::Calls, 5), (Scope::Principal, Unit::Money, 99)];
    let none = Standing::default().reserve(&limits(&all), &accounts(), &tool, (tool.cost, 0)).unwrap_err();
    assert_eq!(
        none,
        Exhausted { scope: Scope::Principal, unit: Unit::Money, limit: 99, used: 0, policy: None }
    );
    assert_eq!(none.setting(), "budget.principal.money");
}

/// What the ledger has in the end, of 1,000 money, tokens and milliseconds.
#[tokio::test]
async fn what_is_held_is_settled_or_given_back() {
    type Then = fn(&Reservation, &mut ledger::Batch);
    let table: [(&str, Then, [u64; 4]); 6] = [
        ("as reserved", |_, _| {}, [1, 100, 200, 10]),
        (
            "nobody knows what it used",
            |held, batch| held.settle(Duration::from_millis(200), None, batch),
            [1, 100, 200, 10],
        ),
        (
            "less",
            |held, batch| held.settle(Duration::from_millis(7), Some(Used { money: 30, tokens: 0 }), batch),
            [1, 30, 7, 0],
        ),
        (
            "more than was reserved, and more than there is",
            |held, batch| held.settle(Duration::from_secs(9), Some(Used { money: 2_000, tokens: 11 }), batch),
            [1, 2_000, 9_000, 11],
        ),
        ("it did not start", |held, batch| held.release(batch), [0, 0, 0, 0]),
        (
            "it was asked for again",
            |held, batch| held.enter(Some(held), &mut Standing::default(), batch),
            [1, 100, 200, 10],
        ),
    ];
    let units = [Unit::Calls, Unit::Money, Unit::Time, Unit::Tokens];
    let limits = limits(&units.map(|unit| (Scope::Task, unit, 1_000)));
    for (name, then, expected) in table {
        let world = World::new();
        let (held, _) =
            Standing::default().reserve(&limits, &accounts(), &costly(Reach::Workspace), (COST, 0)).unwrap();
        let mut started = batch(1);
        held.enter(None, &mut Standing::default(), &mut started);
        world.ledger.commit(started).await.unwrap();
        let mut ended = batch(2);
        then(&held, &mut ended);
        world.ledger.commit(ended).await.unwrap();
        let used: Vec<u64> = world.used().await.into_iter().map(|(_, _, used)| used).collect();
        assert_eq!(used, expected, "{name}");
    }
}

/// A call that could not start, or was cut off by a crash, is asked for again.
#[tokio::test]
async fn the_last_of_a_budget_is_there_for_the_call_that_holds_it() {
    let mut world = World::new();
    world.limits = limits(&[(Scope::Day, Unit::Calls, 1), (Scope::Task, Unit::Time, 200)]);
    drop(world.authorized(call(1, "pays", json!({}))).await);
    let row = world.ledger.call(domain::id::CallId::from_bits(1)).await.unwrap().unwrap();
    let before = Reservation::read(row.reserved.as_deref());
    let rows =
        world.ledger.budgets(&[accounts().name(Scope::Day), accounts().name(Scope::Task)]).await.unwrap();

    world.standing = Standing::of(&rows);
    assert!(world.rule(call(2, "pays", json!({}))).exhausted(), "another call has to do without");
    world.standing.lift(&before);
    let ruled = world.rule(call(1, "pays", json!({})));
    assert_eq!(ruled.decision().answer, Answer::Execute);
    let salt = salt();
    let context = Context { agent: "main", trust: Trust::Operator, salt: &salt };
    let mut again = batch(2);
    let prepared = Prepared::new(ruled, context, domain::Time::from_micros(0)).unwrap();
    drop(prepared.enter(Some(&before), &mut world.standing, &mut again));
    world.ledger.commit(again).await.unwrap();
    let used = |account: &str, unit: &str, used| (account.to_owned(), unit.to_owned(), used);
    assert_eq!(world.used().await, [used("day:d", "calls", 1), used("task:t", "time", 200)], "held once");
}

/// The second of one round knows of the first before anything is durable.
#[tokio::test]
async fn two_calls_cannot_both_get_the_last_of_a_budget() {
    let mut world = World::new();
    world.limits = limits(&[(Scope::Day, Unit::Money, 150)]);
    let mut round = batch(1);
    let first = world.enter(call(1, "pays", json!({})), &mut round);
    let second = world.rule(call(2, "pays", json!({})));
    let word = second.decision().deciding().unwrap();
    assert_eq!((second.decision().answer, word.layer, second.exhausted()), (Answer::Deny, Layer::Vpol, true));
    assert_eq!(word.reason, "the budget of this day is used up: $0.00 of $0.00");

    // Somebody else, who does not know of the first, is refused by the ledger.
    world.standing = Standing::default();
    let mut elsewhere = batch(2);
    drop(world.enter(call(3, "pays", json!({})), &mut elsewhere));
    let receipt = world.ledger.commit(round).await.unwrap();
    world.ledger.commit(elsewhere).await.unwrap_err();

    // What the first did not use is there again.
    let authorized = first.authorize(&receipt, crate::door::world::FAR).unwrap();
    let finished =
        world.broker.execute(authorized, &domain::Stop::default(), &domain::Stop::default()).await.unwrap();
    world.record(&finished).await;
    assert_eq!(world.used().await, [("day:d".to_owned(), "money".to_owned(), 30)]);
}
