//! SQL text made from a table's description; the same for every database that takes `$1` and `ON CONFLICT`.

use std::fmt::Write as _;

use ledger::query::{Op, Order, Query};
use ledger::table::{Table, Write};
use ledger::value::Value;

fn quoted(names: impl Iterator<Item = &'static str>) -> String {
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// The question as SQL. Its parameters are the filters' values in order, without the nulls.
pub(crate) fn select(query: &Query) -> String {
    let columns = quoted(query.table.columns.iter().map(|column| column.name));
    let mut sql = format!("SELECT {columns} FROM \"{}\"", query.table.name);
    let mut parameter = 0;
    for (i, filter) in query.filters.iter().enumerate() {
        let (column, joint) = (filter.column, if i == 0 { "WHERE" } else { "AND" });
        let operator = match filter.op {
            Op::Eq if filter.value == Value::Null => {
                append(&mut sql, format_args!(" {joint} \"{column}\" IS NULL"));
                continue;
            }
            Op::Eq => "=",
            Op::Ne => "<>",
            Op::Ge => ">=",
            Op::Gt => ">",
            Op::Lt => "<",
        };
        parameter += 1;
        append(&mut sql, format_args!(" {joint} \"{column}\" {operator} ${parameter}"));
    }
    if let Some((column, order)) = query.order {
        let direction = if order == Order::Ascending { "ASC" } else { "DESC" };
        append(&mut sql, format_args!(" ORDER BY \"{column}\" {direction}"));
    }
    if let Some(limit) = query.limit {
        append(&mut sql, format_args!(" LIMIT {limit}"));
    }
    sql
}

/// One statement that writes `rows` rows of this table.
pub(crate) fn insert(table: &Table, rows: usize) -> String {
    let columns: Vec<&'static str> = table.given().map(|(_, column)| column.name).collect();
    let mut sql = format!("INSERT INTO \"{}\" ({}) VALUES ", table.name, quoted(columns.iter().copied()));
    let mut parameter = 0;
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ", (" });
        for i in 0..columns.len() {
            parameter += 1;
            append(&mut sql, format_args!("{}${parameter}", if i == 0 { "" } else { ", " }));
        }
        sql.push(')');
    }
    match table.write {
        Write::Append => {}
        Write::Keep => sql.push_str(" ON CONFLICT DO NOTHING"),
        Write::Replace => {
            let moved = columns.iter().filter(|column| !table.key.contains(*column));
            let moved: Vec<String> =
                moved.map(|column| format!("\"{column}\" = excluded.\"{column}\"")).collect();
            let key = quoted(table.key.iter().copied());
            append(&mut sql, format_args!(" ON CONFLICT ({key}) DO UPDATE SET {}", moved.join(", ")));
        }
    }
    sql
}

fn append(sql: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let written = sql.write_fmt(text);
    debug_assert!(written.is_ok());
}

#[cfg(test)]
mod tests {
    use super::{insert, select};
    use ledger::records::{AuditHead, Blob, Event};
    use ledger::table::Record;
    use ledger::{Op, Select};

    #[test]
    fn a_question_becomes_one_statement() {
        let question =
            Select::<Blob>::by("hash", &domain::Digest::ZERO).filter("content", Op::Gt, &vec![1_u8]);
        let sql = select(&question.descending("hash").limit(3).query);
        assert_eq!(
            sql,
            "SELECT \"hash\", \"person\", \"content\" FROM \"blobs\" WHERE \"hash\" = $1 AND \"content\" > $2 \
             ORDER BY \"hash\" DESC LIMIT 3"
        );
        let null =
            Select::<Event>::by("metadata", &None::<domain::Digest>).filter("key", Op::Eq, &"k".to_owned());
        assert!(select(&null.query).ends_with("WHERE \"metadata\" IS NULL AND \"key\" = $1"));
    }

    #[test]
    fn writing_follows_the_table() {
        assert_eq!(
            insert(Blob::TABLE, 2),
            "INSERT INTO \"blobs\" (\"hash\", \"person\", \"content\") \
             VALUES ($1, $2, $3), ($4, $5, $6) ON CONFLICT DO NOTHING"
        );
        assert!(
            insert(AuditHead::TABLE, 1)
                .contains("ON CONFLICT (\"stream\") DO UPDATE SET \"seq\" = excluded.\"seq\"")
        );
        assert!(!insert(Event::TABLE, 1).contains("\"seq\""), "the store gives the sequence");
    }
}
