//! `people set`.

use ledger::AuditEvent;
use ledger::audit_event;
use std::collections::BTreeSet;

use clap::Args;
use domain::Trust;
use kernel::people_revision::{PeopleRevision, REVISION_TRIES};
use kernel::{Problem, Services};
use ledger::Batch;
use ledger::records::{Entity, EntityTag};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::words::{self, TAGS, bad};
use super::{AssignableTrust, People, PersonView, Who, busy, checked_tags, put_tags, trusted_at_most, view};
use crate::operation::{
    HttpMethod, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// Change what is said of somebody
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct SetPerson {
    /// A name, `owner`, an address that is linked, or any unique beginning of an id
    pub who: String,
    /// What they are to you
    #[arg(long, value_name = "WORD", conflicts_with = "no_relationship")]
    pub relationship: Option<String>,
    /// They are nothing in particular
    #[arg(long)]
    #[serde(default)]
    pub no_relationship: bool,
    /// One more tag; may be given again
    #[arg(long = "tag", value_name = "TAG")]
    #[serde(rename = "tag", default)]
    pub tags: Vec<String>,
    /// One tag less; may be given again
    #[arg(long = "no-tag", value_name = "TAG")]
    #[serde(rename = "no_tag", default)]
    pub no_tags: Vec<String>,
    /// How far they are trusted, whatever they write from
    #[arg(long, value_name = "TRUST", conflicts_with = "no_trust")]
    pub trust: Option<AssignableTrust>,
    /// As far as everybody who is known
    #[arg(long)]
    #[serde(default)]
    pub no_trust: bool,
}

impl Operation for SetPerson {
    const SPEC: OperationSpec = OperationSpec::new(
        "people set",
        OperationAccess::ADMIN,
        &[
            "regent people set Lea --relationship friend --tag role:billing",
            "regent people set Lea --trust hostile",
            "regent people set Lea --no-trust --no-tag role:billing",
        ],
    )
    .route(HttpMethod::Put, "/people/{who}");
    type Output = PersonView;

    async fn run(self, context: &OperationContext<'_>) -> Result<PersonView, OperationError> {
        let Self { who, relationship, no_relationship, tags, no_tags, trust, no_trust } = self;
        // The command line refuses it with its own words.
        if (relationship.is_some() && no_relationship) || (trust.is_some() && no_trust) {
            return Err(bad("a value is to be there and not to be there").into());
        }
        let changes = Changes {
            relationship: relationship.map(Some).or(no_relationship.then_some(None)),
            trust: trust.map(|trust| Some(trust.into())).or(no_trust.then_some(None)),
            tags,
            no_tags,
        };
        Ok(context.app.people().set(&who, changes).await?)
    }
}

/// What is to be different about somebody; nothing stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub relationship: Option<Option<String>>,
    pub trust: Option<Option<Trust>>,
    pub tags: Vec<String>,
    pub no_tags: Vec<String>,
}

impl People<'_> {
    /// Changes what is said of somebody. Nothing is written where it is so already.
    ///
    /// # Errors
    /// If nobody is called like this, a word cannot be used, or the ledger fails.
    #[tracing::instrument(level = "info", name = "people.set", skip_all)]
    pub async fn set(self, who: &str, changes: Changes) -> Result<PersonView, Problem> {
        if changes == Changes::default() {
            return Err(bad("nothing is said that could be changed"));
        }
        if let Some(Some(relationship)) = &changes.relationship {
            words::relationship(relationship)?;
        }
        let (added, removed) = (checked_tags(&changes.tags)?, checked_tags(&changes.no_tags)?);
        if let Some(tag) = added.intersection(&removed).next() {
            return Err(bad(format!("`{tag}` is to be there and not to be there")));
        }
        trusted_at_most(changes.trust.flatten())?;
        let services = self.app.kernel.services().await?;
        for _ in 0..REVISION_TRIES {
            let (turn, mut batch) = (PeopleRevision::begin(&services).await?, services.batch());
            let Who { entity, new } = self.who(&services, who).await?;
            if entity.is_owner && changes.trust.is_some() {
                return Err(bad("the owner is trusted as the owner; that is not changed"));
            }
            if let Some(new) = new {
                new.enter(&mut batch);
            }
            let changed = self.changing(&services, &entity, &changes, (&added, &removed), &mut batch).await?;
            if self.is_written(&services, &turn, batch).await? {
                return view::person(&services.ledger, changed).await;
            }
        }
        Err(busy())
    }

    async fn changing(
        self,
        services: &Services,
        entity: &Entity,
        changes: &Changes,
        (added, removed): (&BTreeSet<String>, &BTreeSet<String>),
        batch: &mut Batch,
    ) -> Result<Entity, Problem> {
        let after = Entity {
            relationship: changes.relationship.clone().unwrap_or_else(|| entity.relationship.clone()),
            trust: changes.trust.unwrap_or(entity.trust),
            ..entity.clone()
        };
        let before: BTreeSet<String> = services.ledger.tags_of(entity.id).await?.into_iter().collect();
        let tags: BTreeSet<String> =
            before.union(added).filter(|tag| !removed.contains(*tag)).cloned().collect();
        if tags.len() > TAGS {
            return Err(bad(format!("nobody has more than {TAGS} tags")));
        }
        let mut said: Vec<(&str, Value)> = Vec::new();
        if after.trust != entity.trust {
            said.push(("trust", json!({ "from": entity.trust, "to": after.trust })));
        }
        if after.relationship != entity.relationship {
            let how = if after.relationship.is_some() { "set" } else { "taken away" };
            said.push(("relationship", how.into()));
        }
        if tags != before {
            let (added, removed) = (tags.difference(&before).count(), before.difference(&tags).count());
            said.push(("tags", json!({ "added": added, "removed": removed })));
            batch.erase::<EntityTag, _>("entity_id", &[entity.id]);
            put_tags(batch, entity.id, &tags);
        }
        if !said.is_empty() {
            let changed = AuditEvent::PersonChanged(&after).entry(audit_event::OWNER, services.now());
            let changed = said.into_iter().fold(changed, |entry, (field, value)| entry.with(field, value));
            batch.put(&after).audit(changed);
        }
        Ok(after)
    }
}
