//! Which policy counts, from the message to the record.

use std::time::Duration;

use app::Code;
use app::people::IdentityStatus;
use domain::principal::Principal;
use domain::{Clock as _, Trust};
use ledger::Batch;
use ledger::records::{Identity, Knock};
use policy::acl::Effect;
use policy::admit::Admission;
use serde_json::{Value, json};
use testkit::{Kept, World};

use crate::admission::{admit, code, decision, knows, ledger_of, rows, sends, sound, writes};

fn group() -> Value {
    json!({ "container_kind": "group", "container_id": "g-7" })
}

/// A message, and what was decided about it.
async fn judged(world: &World, sender: &str, source: &str, more: Value) -> Admission {
    let event = sends(&world.app, sender, source, more).await;
    admit(world).await;
    decision(world, event).await
}

/// A house whose owner has been there.
async fn owned(kept: Kept) -> World {
    let world = World::new(kept).await;
    world.file("a.rs", "");
    world.run("how many Rust files are here?").await.expect("a report");
    world
}

#[tokio::test]
async fn a_partner_in_a_group_gets_the_groups_ceiling_and_session() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        knows(&world, "Lea", "partner", "demo:lea").await;
        let alone = judged(&world, "lea", "1", json!({})).await;
        let lea = world.app.people().show("Lea").await.expect("somebody").id;
        assert_eq!(alone.session, Some(format!("agent:main:partner:{lea}")), "{kept:?}");
        assert!(alone.permissions.may("calendar_read").is_yes(), "{kept:?}");
        let among = judged(&world, "lea", "2", group()).await;
        assert_eq!(among.session.as_deref(), Some("agent:main:demo:group:g-7"), "{kept:?}");
        assert_eq!(among.matched, ["group-chat-restrictions", "partner-access"], "{kept:?}");
        assert!(!among.permissions.may("calendar_read").is_yes(), "{kept:?}");
        assert!(among.permissions.may("web_search").is_yes(), "{kept:?}");
        assert_eq!((among.principal, among.trust), (Principal::Known { entity: lea }, Trust::Standard));
        sound(&world).await;
    }
}

#[tokio::test]
async fn the_owner_in_a_group_never_lands_in_their_own_session() {
    for kept in Kept::each() {
        let world = owned(kept).await;
        world.app.people().link("owner", "demo:ada", IdentityStatus::Verified).await.expect("linked");
        let alone = judged(&world, "ada", "1", json!({})).await;
        assert!(alone.principal.is_owner(), "{kept:?}");
        assert_eq!((alone.trust, alone.session.as_deref()), (Trust::Operator, Some("agent:main:main")));
        let among = judged(&world, "ada", "2", group()).await;
        assert!(among.principal.is_owner(), "{kept:?}");
        assert_eq!(among.session.as_deref(), Some("agent:main:demo:group:g-7"), "{kept:?}");
        assert!(!among.permissions.may("read_file").is_yes(), "{kept:?}: not for everybody to read");
        let nameless = judged(&world, "ada", "3", json!({ "container_kind": "group" })).await;
        assert_eq!((nameless.effect, nameless.session), (Effect::Deny, None), "{kept:?}");
        sound(&world).await;
    }
}

#[tokio::test]
async fn an_address_that_nobody_made_sure_of_does_not_speak_for_the_owner() {
    for kept in Kept::each() {
        let world = owned(kept).await;
        writes(&world, "ada", 1).await;
        assert_eq!(
            code(world.app.people().link("owner", "demo:ada", IdentityStatus::Unverified).await),
            Code::UNVERIFIED
        );
        // Whoever owns the database can write it down; it is not believed.
        let ledger = ledger_of(&world).await;
        let owner = ledger.owner().await.expect("ledger").expect("the owner").id;
        let seen = ledger.identity_of("demo", "ada").await.expect("ledger").expect("somebody");
        let forced = Identity { entity_id: Some(owner), is_owned: true, is_verified: false, ..seen };
        let mut batch = Batch::new(domain::id::BatchId::from_bits(78), world.clock.now());
        batch.erase::<Identity, _>("id", &[forced.id]).put(&forced);
        ledger.commit(batch).await.expect("commit");
        let admission = judged(&world, "ada", "2", json!({})).await;
        assert_eq!(admission.principal, Principal::Known { entity: owner }, "{kept:?}");
        assert_eq!((admission.effect, admission.trust), (Effect::Deny, Trust::Standard), "{kept:?}");
        assert!(admission.tools.is_empty() && admission.session.is_none(), "{kept:?}");
    }
}

#[tokio::test]
async fn a_stranger_is_denied_wherever_they_write_and_the_owner_is_asked_once() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        for (n, more) in [json!({}), group(), json!({ "account": "work" })].into_iter().enumerate() {
            let admission = judged(&world, "eve", &n.to_string(), more).await;
            assert_eq!((admission.effect, admission.principal), (Effect::Deny, Principal::Unknown));
        }
        assert_eq!(rows::<Knock>(&world).await.len(), 1, "{kept:?}");
        // The same name on another platform is somebody else.
        let other = json!({ "platform": "mail" });
        assert_eq!(judged(&world, "eve", "9", other).await.principal, Principal::Unknown);
        assert_eq!(rows::<Knock>(&world).await.len(), 2, "{kept:?}");
    }
}

#[tokio::test]
async fn quiet_hours_hold_across_midnight_on_the_owners_wall() {
    // Minutes after 08:30 in Greenwich.
    let table: [(&str, u64, bool); 9] = [
        ("UTC", 0, false),
        ("America/New_York", 1, true),
        ("Australia/Sydney", 2, false),
        ("Asia/Kathmandu", 9 * 60, true),
        ("America/Los_Angeles", 9 * 60 + 1, false),
        ("UTC", 14 * 60 + 29, false),
        ("UTC", 14 * 60 + 30, true),
        ("UTC", 16 * 60, true),
        ("UTC", 23 * 60 + 30, false),
    ];
    for kept in Kept::each() {
        let mut world = World::new(kept).await;
        world.app.policies().switch("quiet-hours", true).await.expect("it ships");
        knows(&world, "Lea", "partner", "demo:lea").await;
        let start = world.clock.now();
        for (zone, minutes, quiet) in table {
            world.live_in(zone);
            let passed = world.clock.now().since(start);
            world.clock.turn(Duration::from_secs(minutes * 60).saturating_sub(passed));
            let at = format!("{kept:?} {zone} {minutes}");
            let admission = judged(&world, "lea", &format!("{minutes}"), json!({})).await;
            assert_eq!(admission.effect, Effect::Allow, "{at}");
            assert_eq!(admission.permissions.may("calendar_read").is_yes(), !quiet, "{at}");
            assert!(admission.permissions.may("calc").is_yes(), "{at}");
            assert_eq!(admission.modifiers.delay_response.unwrap_or_default(), quiet, "{at}");
        }
    }
}

/// Whom the owner trusts less is trusted less, however they write.
#[tokio::test]
async fn what_the_owner_set_for_somebody_counts_from_the_next_message_on() {
    for kept in Kept::each() {
        let world = World::new(kept).await;
        knows(&world, "Lea", "partner", "demo:lea").await;
        assert_eq!(judged(&world, "lea", "1", json!({})).await.trust, Trust::Standard, "{kept:?}");
        world.app.people().link("Lea", "demo:lea", IdentityStatus::Verified).await.expect("linked");
        assert_eq!(judged(&world, "lea", "2", json!({})).await.trust, Trust::Verified, "{kept:?}");
        let hostile =
            app::people::Changes { trust: Some(Some(Trust::Hostile)), ..app::people::Changes::default() };
        world.app.people().set("Lea", hostile).await.expect("set");
        assert_eq!(judged(&world, "lea", "3", json!({})).await.trust, Trust::Hostile, "{kept:?}");
        world.app.people().unlink("demo:lea").await.expect("unlinked");
        writes(&world, "lea", 4).await;
        assert_eq!(admit(&world).await, (0, 1, 0), "{kept:?}");
        sound(&world).await;
    }
}
