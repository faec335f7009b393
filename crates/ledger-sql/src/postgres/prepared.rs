//! The statements that a connection has prepared: those that come again, and no more than a bounded number of them.

use std::collections::HashMap;

use tokio_postgres::Statement;

/// Statements that stay prepared, per connection.
const PREPARED: usize = 512;

/// How a statement is best sent.
pub(super) enum Sending {
    /// With its text, for this once.
    Text,
    /// With its text, while the server prepares it for the next time.
    TextAndPrepare,
    Prepared(Statement),
}

struct KnownStatement {
    last_used: u64,
    prepared: Option<Statement>,
}

#[derive(Default)]
pub(super) struct PreparedStatements {
    known: HashMap<String, KnownStatement>,
    uses: u64,
}

impl PreparedStatements {
    pub(super) fn choose(&mut self, sql: &str) -> Sending {
        self.uses += 1;
        if let Some(known) = self.known.get_mut(sql) {
            known.last_used = self.uses;
            return known.prepared.clone().map_or(Sending::TextAndPrepare, Sending::Prepared);
        }
        if self.known.len() >= PREPARED {
            self.forget_oldest();
        }
        self.known.insert(sql.to_owned(), KnownStatement { last_used: self.uses, prepared: None });
        Sending::Text
    }

    pub(super) fn keep(&mut self, sql: &str, statement: Statement) {
        if let Some(known) = self.known.get_mut(sql) {
            known.prepared = Some(statement);
        }
    }

    /// A statement that is dropped is closed on the server.
    fn forget_oldest(&mut self) {
        let oldest = self.known.iter().min_by_key(|(_, known)| known.last_used);
        if let Some(oldest) = oldest.map(|(sql, _)| sql.clone()) {
            self.known.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PREPARED, PreparedStatements, Sending};

    #[test]
    fn only_what_comes_again_is_prepared_and_the_oldest_goes() {
        let mut statements = PreparedStatements::default();
        assert!(matches!(statements.choose("first"), Sending::Text));
        assert!(matches!(statements.choose("first"), Sending::TextAndPrepare));
        for n in 1..PREPARED {
            assert!(matches!(statements.choose(&n.to_string()), Sending::Text));
        }
        assert!(matches!(statements.choose("first"), Sending::TextAndPrepare), "there was room for all");
        assert!(matches!(statements.choose("one more"), Sending::Text));
        assert!(matches!(statements.choose("first"), Sending::TextAndPrepare), "it was just used");
        assert!(matches!(statements.choose("1"), Sending::Text), "it was the oldest");
        assert_eq!(statements.known.len(), PREPARED);
    }
}
