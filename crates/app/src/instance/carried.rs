//! What a restore does not take back: a halt, and what the owner has said since the backup about people, policies and tools.
//!
//! A backup is an older state. Going back to it must not lift a halt, link an address that was unlinked, or switch a policy
//! back on. So the owner's last word about each of them is carried into the restored database, and listed.

use domain::event::RESERVED_PLATFORMS;
use domain::{Time, Trust};
use ledger::audit_event::SYSTEM;
use ledger::records::{ActivePolicies, Blob, Entity, EntityTag, Halt, Identity, PolicySwitch, Tool};
use ledger::{AuditEvent, Batch, Body, Ledger, Op, Select, StoreError};

/// What is in force in one database at one moment, but for approvals and grants: those do not outlive a restore.
#[derive(Debug, Default)]
pub struct AuthoritySnapshot {
    halt: Option<Halt>,
    switches: Vec<PolicySwitch>,
    sets: Vec<ActivePolicies>,
    people: Vec<Entity>,
    /// Every address from outside, linked or not: an address without a link restricts, too.
    addresses: Vec<Identity>,
    tags: Vec<EntityTag>,
    tools: Vec<Tool>,
    /// The bodies that sets and tools name.
    bodies: Vec<Blob>,
}

impl AuthoritySnapshot {
    /// Nothing but a halt.
    #[must_use]
    pub fn halted(at: Time) -> Self {
        Self { halt: Some(Halt { name: Halt::ALL.into(), at, by: Halt::OWNER.into() }), ..Self::default() }
    }

    /// As this instance wrote it.
    ///
    /// # Errors
    /// If another program has changed it, or the database cannot be read.
    pub async fn of(ledger: &Ledger) -> Result<Self, StoreError> {
        if let Some(why) = ledger.verify_authority().await?.into_iter().next() {
            return Err(why.into());
        }
        Self::unverified(ledger).await
    }

    /// As a backup has it, without a check of its seals.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn unverified(ledger: &Ledger) -> Result<Self, StoreError> {
        let halts: Vec<Halt> = ledger.select(Select::by("name", &Halt::ALL.to_owned())).await?;
        let sets: Vec<ActivePolicies> = ledger.select(Select::all()).await?;
        let tools: Vec<Tool> = ledger.select(Select::all()).await?;
        let mut bodies = Vec::new();
        for hash in sets.iter().map(|set| set.policies).chain(tools.iter().map(|tool| tool.spec)) {
            if let Body::Whole { content, salt: None } = ledger.kept(&hash).await? {
                bodies.push(Blob::public(content));
            }
        }
        let outside = |address: &Identity| !RESERVED_PLATFORMS.contains(&address.platform.as_str());
        let mut addresses: Vec<Identity> = ledger.select(Select::all()).await?;
        addresses.retain(|address| outside(address) && !address.is_erased());
        Ok(Self {
            halt: halts.into_iter().next(),
            switches: ledger.select(Select::all().filter("name", Op::Ge, &String::new())).await?,
            sets,
            people: ledger.select(Select::all()).await?,
            addresses,
            tags: ledger.select(Select::all()).await?,
            tools,
            bodies,
        })
    }

    /// Enters what is different from the backup into the batch that restores it, and says what that is, a line each.
    pub fn carry_into(&self, backup: &Self, now: Time, batch: &mut Batch) -> Vec<String> {
        let mut carried = Vec::new();
        if let (Some(halt), None) = (&self.halt, &backup.halt) {
            batch.put(halt);
            carried.push("the halt stays".to_owned());
        }
        self.carry_policies(backup, batch, &mut carried);
        self.carry_people(backup, batch, &mut carried);
        self.carry_tools(backup, batch, &mut carried);
        for body in &self.bodies {
            batch.put(body);
        }
        if !carried.is_empty() {
            batch.audit(AuditEvent::AuthorityCarried { carried: carried.len() }.entry(SYSTEM, now));
        }
        carried
    }

    fn carry_policies(&self, backup: &Self, batch: &mut Batch, carried: &mut Vec<String>) {
        let said = |switch: &PolicySwitch| if switch.enabled { "on" } else { "off" };
        let gone = backup.switches.iter().filter(|old| self.switches.iter().all(|now| now.name != old.name));
        let gone: Vec<&PolicySwitch> = gone.collect();
        batch.erase::<PolicySwitch, _>("name", gone.iter().map(|old| &old.name));
        carried.extend(gone.iter().map(|old| format!("policy `{}`: not switched any more", old.name)));
        for switch in &self.switches {
            let before = backup.switches.iter().find(|old| old.name == switch.name);
            if before.is_none_or(|old| old.enabled != switch.enabled) {
                carried.push(format!("policy `{}`: stays switched {}", switch.name, said(switch)));
            }
            batch.put(switch);
        }
        for set in &self.sets {
            batch.put(set);
        }
    }

    fn carry_people(&self, backup: &Self, batch: &mut Batch, carried: &mut Vec<String>) {
        for old in &backup.people {
            // A person who was forgotten since comes back with the backup, and has to be forgotten again.
            let Some(now) = self.people.iter().find(|now| now.id == old.id).filter(|now| now.name.is_some())
            else {
                continue;
            };
            let trust = lower(now.trust, old.trust);
            let merged = Entity { relationship: now.relationship.clone(), trust, ..old.clone() };
            let (tags, before) = (tags_of(&self.tags, old), tags_of(&backup.tags, old));
            if merged == *old && tags == before {
                continue;
            }
            let name = old.name.as_deref().unwrap_or("a person");
            carried.push(format!("{name}: relationship, trust and tags stay as they are now"));
            batch.put(&merged);
            batch.erase::<EntityTag, _>("entity_id", [&old.id]);
            for tag in tags {
                batch.put(tag);
            }
        }
        let known = |entity| backup.people.iter().any(|old| Some(old.id) == entity);
        let hostile = |entity: &&Entity| entity.trust == Some(Trust::Hostile) && !known(Some(entity.id));
        let hostile: Vec<&Entity> = self.people.iter().filter(hostile).collect();
        for old in backup.addresses.iter().filter(|old| old.entity_id.is_some()) {
            let same = |now: &&Identity| (&now.platform, &now.identifier) == (&old.platform, &old.identifier);
            let Some(now) = self.addresses.iter().find(same) else { continue };
            if hostile.iter().any(|entity| now.entity_id == Some(entity.id)) {
                continue; // it comes with its person
            }
            let entity_id = now.entity_id.filter(|_| known(now.entity_id));
            let is_verified = old.is_verified && now.is_verified && entity_id == old.entity_id;
            let merged = Identity { entity_id, is_verified, ..old.clone() };
            if merged != *old {
                let address = format!("{}:{}", old.platform, old.identifier);
                carried.push(match entity_id {
                    None => format!("{address}: stays unlinked"),
                    Some(_) => format!("{address}: its link stays as it is now"),
                });
                batch.erase::<Identity, _>("id", [&old.id]).put(&merged);
            }
        }
        for entity in hostile {
            carried.push(format!("{}: stays hostile", entity.name.as_deref().unwrap_or("a person")));
            batch.put(entity);
            for address in self.addresses.iter().filter(|address| address.entity_id == Some(entity.id)) {
                // The backup may know the address under another id.
                let same = |old: &&Identity| {
                    (&old.platform, &old.identifier) == (&address.platform, &address.identifier)
                };
                let id = backup.addresses.iter().find(same).map_or(address.id, |old| old.id);
                batch.erase::<Identity, _>("id", [&id]).put(&Identity { id, ..address.clone() });
            }
        }
    }

    fn carry_tools(&self, backup: &Self, batch: &mut Batch, carried: &mut Vec<String>) {
        let gone = backup.tools.iter().filter(|old| self.tools.iter().all(|now| now.tool_id != old.tool_id));
        let gone: Vec<&Tool> = gone.collect();
        batch.erase::<Tool, _>("tool_id", gone.iter().map(|old| &old.tool_id));
        carried
            .extend(gone.iter().map(|old| format!("tool `{}`: stays as it ships, or removed", old.tool_id)));
        for tool in &self.tools {
            let same = |old: &&Tool| {
                (&old.tool_id, old.spec, old.monitoring_level, &old.execution_mode)
                    == (&tool.tool_id, tool.spec, tool.monitoring_level, &tool.execution_mode)
            };
            if !backup.tools.iter().any(|old| same(&old)) {
                carried.push(format!(
                    "tool `{}`: its registration and level stay as they are now",
                    tool.tool_id
                ));
                batch.put(tool);
            }
        }
    }
}

fn tags_of<'a>(tags: &'a [EntityTag], entity: &Entity) -> Vec<&'a EntityTag> {
    let mut tags: Vec<&EntityTag> = tags.iter().filter(|tag| tag.entity_id == entity.id).collect();
    tags.sort_by(|a, b| a.tag.cmp(&b.tag));
    tags
}

/// The lower of two trusts. `None` is the trust of every known person.
fn lower(one: Option<Trust>, other: Option<Trust>) -> Option<Trust> {
    let rank = |trust: Option<Trust>| trust.unwrap_or(Trust::Standard);
    if rank(one) < rank(other) { one } else { other }
}

#[cfg(test)]
mod tests {
    use super::lower;
    use domain::Trust::{Hostile, Operator, Standard, Untrusted, Verified};

    #[test]
    fn the_lower_trust_is_carried() {
        let table = [
            (None, None, None),
            (Some(Hostile), None, Some(Hostile)),
            (None, Some(Hostile), Some(Hostile)),
            (None, Some(Verified), None),
            (Some(Operator), None, None),
            (Some(Untrusted), Some(Verified), Some(Untrusted)),
            (Some(Verified), Some(Standard), Some(Standard)),
        ];
        for (now, then, expected) in table {
            assert_eq!(lower(now, then), expected, "{now:?} now, {then:?} then");
        }
    }
}
