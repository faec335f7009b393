//! Each way in which a plan is changed, and what the next plan must not use.

use app::tasks::Report;
use domain::ask::Action;
use domain::call::FailureClass;
use domain::gradient::Macro;
use domain::task::{Directive, Plan, Status};
use testkit::{Kept, World};

use crate::the_loop::{Script, count_is, counted, find, journal, subtask, write};

async fn rounds(world: &World, report: &Report) -> Vec<Macro> {
    let view = world.app.tasks().show(&report.short).await.unwrap();
    view.rounds.iter().map(|round| round.directive).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_correction_closes_the_gap_without_another_plan() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("docs/a.md", "one").file("src/a.rs", "fn a() {}").file("src/b.rs", "fn b() {}");
        let script = Script {
            plan: |_| Ok(Plan::of(vec![subtask("count what is in docs", count_is(1))])),
            act: |at| match (at.attempt, at.last) {
                (_, Some(Ok(record))) => Action::done(record["count"].to_string()),
                (_, Some(Err(failure))) => Action::failed(failure.message.clone()),
                (0, None) => find("src"),
                (_, None) => find("docs"),
            },
        };
        let asked = script.play(&mut world);
        let report = world.run("how many files are in docs, not in src?").await.unwrap();
        assert_eq!((report.status, world.seen()), (Status::Done, vec!["1".to_owned()]), "{kept:?}");
        assert_eq!((counted(&asked, "planner"), counted(&asked, "executor")), (1, 4));
        let roles: Vec<(&str, u64)> = report.cost.iter().map(|cost| (cost.role, cost.asks)).collect();
        assert_eq!(roles, [("perceiver", 1), ("planner", 1), ("executor", 4)]);
    }
}

/// The folder is not there: another target. What failed is refused by the plan's layer, whoever asks for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_path_is_changed_and_the_blocked_target_is_denied() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("docs/a.md", "one");
        let script = Script {
            plan: |_| Ok(Plan::of(vec![subtask("count what is there", count_is(1))])),
            act: |at| match (at.round, at.moves, at.last) {
                (0, _, Some(Err(_))) => Action::failed("it is not there"),
                (0, ..) => find("gone"),
                // It tries what it must not, and is told so.
                (_, 0, _) => find("gone"),
                (_, 1, Some(Err(failure))) => {
                    assert_eq!(failure.class, FailureClass::Refused, "{failure:?}");
                    find("docs")
                }
                _ => Action::done("1"),
            },
        };
        script.play(&mut world);
        let report = world.run("count the files in gone, or in docs").await.unwrap();
        assert_eq!(report.result.as_ref().unwrap().directive, Directive::Accept, "{kept:?} {report:?}");
        assert_eq!(rounds(&world, &report).await, [Macro::ChangePath]);
        assert_eq!(report.result.unwrap().measured.unwrap().replans, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_approach_breaks_symmetry_and_the_tool_is_blocked() {
    let mut world = World::new(Kept::InMemory).await;
    world.file("docs/a.md", "one");
    let script = Script {
        plan: |_| Ok(Plan::of(vec![subtask("count what is there", count_is(1))])),
        act: |at| match (at.round, at.last) {
            (0, None) => write("a.txt", "rubbish"), // the wrong tool for a count: nothing of it will be met
            (1, None) => write("b.txt", "again"),
            (1, Some(Err(_))) => find("docs"),
            _ => Action::done("1"),
        },
    };
    script.play(&mut world);
    let report = world.run("write a.txt or b.txt, or count the files in docs").await.unwrap();
    assert_eq!(report.result.as_ref().unwrap().directive, Directive::Accept, "{report:?}");
    assert_eq!(rounds(&world, &report).await, [Macro::BreakSymmetry]);
    assert!(!world.path().join("b.txt").exists(), "the blocked tool did not run");
    // The second attempt at the first plan meets the same tool with the same file: it is there already.
    let view = world.app.tasks().show(&report.short).await.unwrap();
    assert_eq!(view.rounds[0].blocked_tools, ["write_file"]);
}

/// D falls from 1 to a half while the approach stays wrong: there is a signal, and it is not trusted.
#[tokio::test(flavor = "multi_thread")]
async fn progress_by_a_wrong_approach_changes_the_approach() {
    let mut world = World::new(Kept::InMemory).await;
    world.file("docs/a.md", "one");
    let script = Script {
        plan: |_| {
            let two = vec![subtask("count docs", count_is(1)), subtask("count more", count_is(7))];
            Ok(Plan::of(two))
        },
        act: |at| match (at.round, at.subtask, at.last) {
            (_, _, Some(_)) => Action::done("1"),
            (0, 0, None) => write("a.txt", "x"),
            (0, _, None) => write("b.txt", "x"),
            (_, _, None) => find("docs"),
        },
    };
    script.play(&mut world);
    let report = world.run("write a.txt, b.txt, count docs").await.unwrap();
    let found = rounds(&world, &report).await;
    assert_eq!(found[..2], [Macro::BreakSymmetry, Macro::ChangeApproach], "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_against_the_world_refines() {
    let mut world = World::new(Kept::InMemory).await;
    world.file("docs/a.md", "one");
    let script = Script {
        plan: |_| {
            let three = ["one", "two", "three"].map(|intent| subtask(intent, count_is(1)));
            Ok(Plan::of(three.to_vec()))
        },
        act: |at| match (at.round, at.subtask, at.last) {
            (_, _, Some(Err(_))) => Action::failed("it is not there"),
            (_, _, Some(Ok(_))) => Action::done("1"),
            (round, subtask, None) if subtask < round => find("docs"),
            (round, subtask, None) => find(&format!("gone{}", round * 3 + subtask)),
        },
    };
    script.play(&mut world);
    let gone: Vec<String> = (0..12).map(|n| format!("gone{n}")).collect();
    let report = world.run(&format!("count docs, {}", gone.join(", "))).await.unwrap();
    let found = rounds(&world, &report).await;
    assert_eq!(found[0], Macro::ChangePath);
    assert_eq!(found[1], Macro::Refine, "{found:?}");
}

/// The journal says it all, and folds to the same steps again.
#[tokio::test(flavor = "multi_thread")]
async fn the_journal_of_a_replanned_task_folds_to_identical_steps() {
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.file("docs/a.md", "one");
        let script = Script {
            plan: |_| Ok(Plan::of(vec![subtask("count what is there", count_is(1))])),
            act: |at| match (at.round, at.last) {
                (_, Some(Err(_))) => Action::failed("it is not there"),
                (_, Some(Ok(_))) => Action::done("1"),
                (0, None) => find("gone"),
                (_, None) => find("docs"),
            },
        };
        script.play(&mut world);
        let report = world.run("count the files in gone, or in docs").await.unwrap();
        let expected = [
            "opened",
            "perceived",
            "recalled",
            "planned",
            "acted",
            "ruled",
            "returned",
            "acted",
            "recalled",
            "planned",
            "acted",
            "ruled",
            "returned",
            "acted",
            "ruled",
            "returned",
        ];
        assert_eq!(journal(&world).await, expected, "{kept:?}");
        let played = world.app.record().replay(&report.short).await.unwrap();
        assert!(played.identical && played.other_rules.is_none(), "{kept:?}");
        assert_eq!(played.steps.len(), expected.len());
        let why = world.app.record().recheck(&report.short).await.unwrap();
        assert!(why.recheck.unwrap().holds, "{kept:?}");
    }
}
