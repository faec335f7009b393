//! Named moments at which a fault can be injected or an effect counted. In the product nobody listens.

/// Where the program is. A kill test stops it exactly here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point<'a> {
    /// A group of batches is about to be written.
    Committing,
    /// Rows of this table are about to be written inside the open transaction.
    Writing { table: &'a str },
    /// It is durable; nobody has been told yet.
    Committed,
    /// A handler is about to run: from here on the effect may have happened.
    Running { tool: &'a str, call: &'a str },
    /// It has run; nothing of it is durable yet.
    Ran { tool: &'a str, call: &'a str },
    /// This step of an upgrade, a backup or a restore is about to be taken.
    Stage { name: &'static str },
}

pub trait Probe: Send + Sync {
    fn reached(&self, point: Point<'_>);
}

/// The product's probe.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Probe for Silent {
    fn reached(&self, _point: Point<'_>) {}
}
