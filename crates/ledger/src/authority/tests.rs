//! The frozen form of the MACs. What they are for is tested on every store, in `conformance/authority.rs`.

use std::collections::BTreeSet;

use domain::call::ToolId;
use domain::id::{EntityId, GrantId};
use domain::{Digest, Time, Trust};

use super::form::AuthorityMac;
use super::table::{AUTHORITY_TABLES, AuthorityTable};
use crate::chain::Secret;
use crate::records::{Entity, EntityKind, Grant, Halt};
use crate::store::key_of;
use crate::table::Record;
use crate::value::Value;

fn mac() -> AuthorityMac {
    AuthorityMac::new(Secret::new([7; 32]))
}

fn of<T: Record>(record: &T) -> (String, String) {
    let table = AuthorityTable::of(T::TABLE).expect("a table with authority");
    let row = record.row();
    let short = |digest: Digest| digest.to_string().chars().take(16).collect();
    (short(mac().of_key(table, &key_of(T::TABLE, &row))), short(mac().of_row(table, &row)))
}

/// If this fails, rows that were sealed by an earlier version would not verify any more.
#[test]
fn the_form_is_frozen() {
    let halt = Halt { name: "all".into(), at: Time::from_micros(1), by: "owner".into() };
    let person = Entity {
        id: EntityId::from_bits(1),
        kind: EntityKind::Person,
        name: None,
        is_owner: true,
        relationship: Some("partner".into()),
        trust: Some(Trust::Verified),
        created_at: Time::from_micros(-5),
    };
    let grant = Grant {
        id: GrantId::from_bits(2),
        live: Some("g".into()),
        tool_id: "write_file".parse::<ToolId>().expect("id"),
        terms: Digest::ZERO,
        created_at: Time::from_micros(1),
        expires_at: None,
        revoked_at: None,
        granted_by: "owner".into(),
        request_id: None,
    };
    let pair = |key: &str, row: &str| (key.to_owned(), row.to_owned());
    assert_eq!(of(&halt), pair("d462baf66731901e", "f42a579a8445f1a7"));
    assert_eq!(of(&person), pair("30f633061b881ed1", "4215e123402e673c"));
    assert_eq!(of(&grant), pair("4255d3165f7b5301", "bafcb66955c7f7cb"));
}

/// A column outside the MAC could be changed by anybody. A column that is new is added to the list, at its end.
#[test]
fn every_column_is_under_the_mac_and_the_key_is() {
    for AuthorityTable { kind, table, cells, filled, empty } in &AUTHORITY_TABLES {
        let listed: BTreeSet<&str> = cells.iter().copied().collect();
        let columns: BTreeSet<&str> = table.columns.iter().map(|column| column.name).collect();
        assert_eq!(listed, columns, "{kind}");
        assert_eq!(cells.len(), columns.len(), "{kind}: none twice");
        assert!(filled.iter().chain(*empty).all(|column| columns.contains(column)), "{kind}");
    }
}

#[test]
fn the_first_columns_never_move() {
    let table = [
        (
            "approval",
            "id stamp tool_id agent_id task_id call_id r_tag o_tag vpol_id arguments reason summary question risk_level confidence tags status authority fingerprint leave shape created_at timeout_at resolved_at resolved_by resolved_via answer grant_id fate token_until live",
        ),
        ("approval code", "number approval digest until tries stamp"),
        ("grant", "id live tool_id terms created_at expires_at revoked_at granted_by request_id"),
        ("person", "id kind name is_owner relationship trust created_at"),
        ("address", "id platform identifier entity_id account first_seen is_owned is_verified"),
        ("tag", "entity_id tag"),
        ("policy switch", "name enabled at"),
        ("policy set", "kind policies sources at"),
        ("halt", "name at by"),
        (
            "task",
            "task_id agent_id status priority payload o_tag vpol_id task_class directive steps created_at started_at completed_at journal",
        ),
        (
            "tool",
            "tool_id agent_access risk_level execution_mode monitoring_level alignment_score_90d spec changed_at",
        ),
    ];
    for (kind, cells) in table {
        let known =
            AUTHORITY_TABLES.iter().find(|known| known.kind == kind).expect("a kind is never dropped");
        assert!(known.cells.join(" ").starts_with(cells), "{kind}");
    }
}

/// No two rows have the same bytes, whatever is in their cells.
#[test]
fn cells_do_not_run_into_each_other() {
    let table = AuthorityTable::of(Halt::TABLE).expect("halts");
    let text = |text: &str| Value::Text(text.into());
    let rows = [
        vec![text("ab"), text("c")],
        vec![text("a"), text("bc")],
        vec![text("abc"), Value::Null],
        vec![Value::Null, text("abc")],
        vec![text("ab"), Value::Bytes(b"c".to_vec())],
        vec![Value::Int(1), Value::Null],
        vec![Value::Time(Time::from_micros(1)), Value::Null],
        vec![text("ab"), text("c"), Value::Null],
    ];
    let macs: BTreeSet<Digest> = rows.iter().map(|key| mac().of_key(table, key)).collect();
    assert_eq!(macs.len(), rows.len());
    let person = AuthorityTable::of(Entity::TABLE).expect("people");
    assert_ne!(mac().of_key(table, &rows[0]), mac().of_key(person, &rows[0]), "nor two tables");
    let other = AuthorityMac::new(Secret::new([8; 32]));
    assert_ne!(mac().of_key(table, &rows[0]), other.of_key(table, &rows[0]), "nor two keys");
}
