//! `grants add`.

use std::collections::BTreeMap;
use std::time::Duration;

use broker::grant::Terms;
use clap::Args;
use domain::principal::Principal;
use kernel::{Code, Problem, Services, approvals};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{GrantView, Grants};
use crate::operation::{
    HttpMethod, Lifetime, Operation, OperationAccess, OperationContext, OperationError, OperationSpec,
};

/// Let a tool be used without asking you; every argument that decides is pinned
#[derive(Debug, Args, Deserialize, JsonSchema)]
pub struct AddGrant {
    /// Its id, or another name it is known by
    pub tool: String,
    /// What an argument has to be
    #[arg(value_name = "NAME=PATTERN")]
    #[serde(default)]
    pub pins: Vec<String>,
    /// How long: 30m, 24h, 7d or always
    #[arg(long = "for", value_name = "TIME", default_value = "24h")]
    #[serde(rename = "for", default = "Lifetime::day")]
    pub lasting: Lifetime,
    /// Whose chains: `owner`, a person, `relationship:partner` or `tag:role:billing`
    #[arg(long, value_name = "WHO", default_value = "owner")]
    #[serde(default = "owner")]
    pub principal: String,
    /// Which agents; `*` stands for any run of characters
    #[arg(long, value_name = "GLOB", default_value = "main")]
    #[serde(default = "main_agent")]
    pub agent: String,
    /// Only in this session
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,
    /// For whoever reads the list
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

fn owner() -> String {
    "owner".into()
}

fn main_agent() -> String {
    "main".into()
}

impl Operation for AddGrant {
    const SPEC: OperationSpec = OperationSpec::new(
        "grants add",
        OperationAccess::ADMIN,
        &["regent grants add write_file 'path=reports/*' --for 7d --reason \"the weekly report\""],
    )
    .route(HttpMethod::Post, "/grants")
    .notes("In a pattern `*` stands for any run of characters. What deletes, or what a model names, needs each value in full.");
    type Output = GrantView;

    async fn run(self, context: &OperationContext<'_>) -> Result<GrantView, OperationError> {
        let Self { tool, pins, lasting, principal, agent, session, reason } = self;
        let pins = read_pins(&tool, &pins)?;
        let (lasting, reason) = (lasting.0, reason.unwrap_or_default());
        let new = NewGrant { tool, pins, principal, agent, session, lasting, reason };
        Ok(context.app.grants().add(new).await?)
    }
}

/// `path=reports/*`, each name once.
fn read_pins(tool: &str, given: &[String]) -> Result<BTreeMap<String, String>, Problem> {
    let bad = |what: String| {
        Problem::new(Code::BAD_ARGUMENTS, what)
            .safe("nothing was granted")
            .remedy(format!("regent tools show {tool}"))
    };
    let mut pins = BTreeMap::new();
    for pair in given {
        let (name, pattern) =
            pair.split_once('=').ok_or_else(|| bad(format!("`{pair}` is not of the form name=pattern")))?;
        if pins.insert(name.to_owned(), pattern.to_owned()).is_some() {
            return Err(bad(format!("`{name}` is given twice")));
        }
    }
    Ok(pins)
}

/// A grant as the owner writes it by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGrant {
    pub tool: String,
    pub pins: BTreeMap<String, String>,
    /// `owner`, somebody who is known, `relationship:…` or `tag:…`.
    pub principal: String,
    pub agent: String,
    pub session: Option<String>,
    /// Nothing: until it is revoked.
    pub lasting: Option<Duration>,
    pub reason: String,
}

impl Grants<'_> {
    /// # Errors
    /// If there is no such tool, a sink is not pinned, or the ledger fails.
    #[tracing::instrument(level = "info", name = "grants.add", skip_all)]
    pub async fn add(self, new: NewGrant) -> Result<GrantView, Problem> {
        let services = self.app.kernel.services().await?;
        let now = services.now();
        let spec = self.app.tools().show(&new.tool).await?.spec;
        let wrong = |what: String| {
            Problem::new(Code::BAD_GRANT, what)
                .safe("nothing was granted")
                .remedy(format!("regent tools show {}", spec.id))
        };
        let open: Vec<&str> =
            spec.sinks.iter().map(String::as_str).filter(|sink| !new.pins.contains_key(*sink)).collect();
        // A sink that a call may leave out needs no pin: a call that has it is not covered.
        let required = |sink: &&&str| {
            let required = spec.input_schema.get("required").and_then(serde_json::Value::as_array);
            required.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(**sink)))
        };
        if let Some(sink) = open.iter().find(required) {
            return Err(wrong(format!(
                "`{sink}` decides what {} touches, and is not pinned: {sink}=…",
                spec.id
            )));
        }
        let known = spec.input_schema.get("properties").and_then(serde_json::Value::as_object);
        let unknown = |name: &&String| known.is_some_and(|known| !known.contains_key(*name));
        if let Some(name) = new.pins.keys().find(unknown) {
            return Err(wrong(format!("{} takes no `{name}`, so the grant would never hold", spec.id)));
        }
        if new.pins.is_empty() {
            return Err(wrong(format!("a grant for {} has to say for which arguments", spec.id)));
        }
        let starred = new.pins.values().any(|pin| pin.contains('*'));
        if spec.tier > domain::Tier::WriteSafe && starred {
            let what = format!(
                "{} can destroy something: a grant for it names the very values, without `*`",
                spec.id
            );
            return Err(wrong(what));
        }
        let owner =
            kernel::parties::owner(&services, &self.app.host.user(), self.app.settings.get("owner.name"))
                .await?;
        let terms = Terms {
            tool: spec.id.clone(),
            nature: spec.nature(),
            principal: self.label(&services, &new.principal).await?,
            agent: new.agent,
            session: new.session,
            pins: new.pins,
            by_hand: true,
            reason: new.reason,
        };
        let mut batch = services.batch();
        owner.enter(&mut batch);
        let (id, until) = (services.id(), new.lasting.map(|lasting| now.plus(lasting)));
        let grant = approvals::grant(id, &terms, until, None, &owner.salt, now, &mut batch)?;
        services.ledger.commit(batch).await?;
        self.view(&services, grant).await
    }

    /// The name by which a grant means somebody, or everybody of a kind.
    async fn label(self, services: &Services, who: &str) -> Result<String, Problem> {
        if who == "owner" || who.starts_with("relationship:") || who.starts_with("tag:") {
            crate::people::check_label(who)?;
            return Ok(who.to_owned());
        }
        let entity = self.app.people().known_person(services, who).await?;
        let owner = entity.is_owner;
        Ok(if owner { "owner".to_owned() } else { Principal::Known { entity: entity.id }.to_string() })
    }
}
