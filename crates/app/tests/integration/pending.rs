//! All that waits for the owner is one list, next to expire first, counted by the database. On every store.

use std::sync::Arc;
use std::time::Duration;

use app::approvals::ApprovalItem;
use domain::ask::Action;
use serde_json::json;
use testkit::scripted::call;
use testkit::{Kept, Scripted, World};

const SENDERS: u64 = 120;

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_senders_are_one_list_by_expiry_with_a_limit_and_counts() {
    for kept in Kept::ALL {
        let mut world = World::new(kept).await;
        world.file("old.txt", "keep me");
        for n in 0..SENDERS {
            let line = json!({ "adapter": "demo", "source_id": n.to_string(), "sender": format!("s{n}"), "content": "hello" });
            assert!(
                world.app.events().ingest(&line.to_string()).await.expect("ledger").expect("an event").new
            );
        }
        world.app.events().admit_waiting().await.expect("decided");
        world.think(Arc::new(Scripted::new(|seen| match seen.last() {
            None => call("delete_file", json!({ "path": "old.txt" })),
            Some(_) => Action::done("done"),
        })));
        for _ in 0..2 {
            world.clock.turn(Duration::from_secs(1));
            world.run("delete old.txt").await.expect("a report");
        }
        let list = world.app.approvals().pending(100, 3).await.expect("a list");
        let is_call = |item: &ApprovalItem| matches!(item, ApprovalItem::Call(_));
        assert_eq!((list.calls, list.senders, list.items.len()), (2, SENDERS, 5), "{kept:?}");
        assert!(list.items[..2].iter().all(is_call) && !list.items[2..].iter().any(is_call), "{kept:?}");
        assert!(list.items.is_sorted_by_key(ApprovalItem::timeout_at), "{kept:?}");
        assert_eq!(world.app.approvals().pending(1, 3).await.expect("a list").items.len(), 1, "{kept:?}");
        assert_eq!(
            world.app.approvals().pending(100, 100).await.expect("a list").items.len(),
            100,
            "{kept:?}"
        );

        // What is over is neither listed nor counted, also where one look cannot write all of it down.
        world.clock.turn(Duration::from_secs(7 * 24 * 60 * 60));
        let list = world.app.approvals().pending(100, 100).await.expect("a list");
        assert_eq!((list.calls, list.senders, list.items.len()), (0, 0, 0), "{kept:?}");
        world.app.events().admit_waiting().await.expect("decided");
        let status = world.app.instance().status().await.expect("status");
        assert_eq!((status.questions, status.wanting_in, status.first_expires), (0, 0, None), "{kept:?}");
    }
}
