//! `people list`.

use clap::Args;
use domain::limits::LIST_ENTRIES;
use kernel::Problem;
use present::{Page, Style, inline, pluralize};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AddressView, People, PersonView, view};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec, Output,
    json_each,
};

/// Everybody who is known, and how many senders are not
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct ListPeople {
    /// Instead: the addresses that nobody knows the owner of, newest first
    #[arg(long)]
    #[serde(default)]
    pub unknown: bool,
    /// How many of these at the most
    #[arg(long, requires = "unknown", default_value_t = LIST_ENTRIES)]
    #[serde(default = "default_limit")]
    pub limit: u32,
}

const fn default_limit() -> u32 {
    LIST_ENTRIES
}

impl Operation for ListPeople {
    const SPEC: OperationSpec = OperationSpec::new(
        "people list",
        OperationAccess::READ,
        &["regent people list", "regent people list --unknown --json"],
    )
    .route(HttpMethod::Get, "/people");
    type Output = PeopleList;

    async fn run(self, context: &OperationContext<'_>) -> Result<PeopleList, OperationError> {
        let people = context.app.people();
        if self.unknown {
            let (addresses, all) = people.unknown_senders(self.limit as usize).await?;
            return Ok(PeopleList::Unknown { addresses, all });
        }
        let known = people.list().await?;
        // Only the page counts the others.
        let unknown = if context.io.reads_data() { 0 } else { people.unknown_senders(0).await?.1 };
        Ok(PeopleList::Known { people: known, unknown })
    }
}

/// The people, or the addresses that belong to no known person.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum PeopleList {
    Known {
        people: Vec<PersonView>,
        /// Addresses that belong to no known person.
        #[serde(skip)]
        unknown: usize,
    },
    Unknown {
        addresses: Vec<AddressView>,
        /// How many there are, listed or not.
        #[serde(skip)]
        all: usize,
    },
}

impl Output for PeopleList {
    fn render(&self, style: &Style<'_>) -> Page {
        match self {
            Self::Known { people, unknown } => render_known(people, *unknown, style),
            Self::Unknown { addresses, all } => render_unknown(addresses, *all, style),
        }
    }

    fn json_lines(&self) -> Vec<Value> {
        match self {
            Self::Known { people, .. } => json_each(people),
            Self::Unknown { addresses, .. } => json_each(addresses),
        }
    }
}

fn render_known(people: &[PersonView], unknown: usize, style: &Style<'_>) -> Page {
    let mut page = Page::new();
    page.add_all(people.iter().map(|person| person.row(style)));
    if people.is_empty() {
        page.add_note("nobody is known here yet");
    }
    if unknown > 0 {
        let command = style.note_theme.paint_command("regent people list --unknown");
        let senders = pluralize(unknown as u64, "sender is nobody's", "senders are nobody's");
        page.add_note(format!("{senders}: {command}"));
    }
    page
}

fn render_unknown(addresses: &[AddressView], all: usize, style: &Style<'_>) -> Page {
    let mut page = Page::new();
    page.add_all(addresses.iter().map(|address| {
        let id = style.theme.paint_command(&format!("{:<8}", address.short));
        let seen = address.first_seen.date_time(style.zone);
        format!("{id} {:<40} first seen {seen}", inline(&address.address))
    }));
    if addresses.len() < all {
        page.add_note(format!("{} more", all - addresses.len()));
    }
    page
}

impl People<'_> {
    /// Everybody who is known, in the order in which they were met.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "people.list", skip_all)]
    pub async fn list(self) -> Result<Vec<PersonView>, Problem> {
        view::everybody(self.app.kernel.ledger().await?).await
    }

    /// The addresses that nobody knows the owner of, newest first: as many as asked for, and how many there are.
    ///
    /// # Errors
    /// If the ledger cannot be read.
    #[tracing::instrument(level = "info", name = "people.unknown_senders", skip_all)]
    pub async fn unknown_senders(self, limit: usize) -> Result<(Vec<AddressView>, usize), Problem> {
        let ledger = self.app.kernel.ledger().await?;
        let unknown = view::unknown(ledger).await?;
        let mut views = Vec::new();
        for identity in unknown.iter().take(limit) {
            views.push(view::address(ledger, identity).await?);
        }
        Ok((views, unknown.len()))
    }
}
