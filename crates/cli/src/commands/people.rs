//! `people`: who is known, what they write from, and how far they are trusted.

use app::App;
use app::people::IdentityStatus;
use app::people::{AddressView, Because, Changes, NewPerson, PersonView};
use ledger::records::EntityKind;

use super::Done;
use crate::args::{People, PersonChanges};
use crate::show::{Screen, Tone, brief, inline, plural};

pub(crate) async fn people(app: &App, screen: &Screen, command: People) -> Done {
    match command {
        People::Add(new) => {
            let new = NewPerson {
                name: new.name,
                kind: new.kind.into(),
                relationship: new.relationship,
                tags: new.tags,
                trust: new.trust.map(Into::into),
                addresses: new.addresses,
            };
            shown(app, screen, &app.people().add(new).await?)
        }
        People::Link { who, address, verified } => {
            let surety = if verified { IdentityStatus::Verified } else { IdentityStatus::Unverified };
            shown(app, screen, &app.people().link(&who, &address, surety).await?)
        }
        People::Unlink { address } => {
            let unlinked = app.people().unlink(&address).await?;
            if screen.json {
                screen.json_line(&unlinked)?
            } else {
                screen.line(&format!("{} is nobody's now", inline(&unlinked.address)))?
            }
            Ok(0)
        }
        People::List { unknown: false, .. } => list(app, screen).await,
        People::List { unknown: true, limit } => unknown(app, screen, limit as usize).await,
        People::Show { who } => shown(app, screen, &app.people().show(&who).await?),
        People::Set(changes) => {
            let PersonChanges { who, relationship, no_relationship, tags, no_tags, trust, no_trust } =
                *changes;
            let changes = Changes {
                relationship: relationship.map(Some).or(no_relationship.then_some(None)),
                trust: trust.map(|trust| Some(trust.into())).or(no_trust.then_some(None)),
                tags,
                no_tags,
            };
            shown(app, screen, &app.people().set(&who, changes).await?)
        }
    }
}

async fn list(app: &App, screen: &Screen) -> Done {
    let people = app.people().list().await?;
    for person in &people {
        if screen.json { screen.json_line(person)? } else { screen.line(&row(app, screen, person))? }
    }
    if screen.json {
        return Ok(0);
    }
    if people.is_empty() {
        screen.note("nobody is known here yet");
    }
    let (_, strangers) = app.people().unknown_senders(0).await?;
    if strangers > 0 {
        let command = screen.note_tinted("regent people list --unknown", Tone::Command);
        let strangers = plural(strangers as u64, "sender is nobody's", "senders are nobody's");
        screen.note(&format!("{strangers}: {command}"));
    }
    Ok(0)
}

async fn unknown(app: &App, screen: &Screen, limit: usize) -> Done {
    let (addresses, all) = app.people().unknown_senders(limit).await?;
    for address in &addresses {
        if screen.json {
            screen.json_line(address)?;
            continue;
        }
        let id = screen.tinted(&format!("{:<8}", address.short), Tone::Command);
        let seen = address.first_seen.date_time(app.zone());
        screen.line(&format!("{id} {:<40} first seen {seen}", inline(&address.address)))?;
    }
    if addresses.len() < all && !screen.json {
        screen.note(&format!("{} more", all - addresses.len()));
    }
    Ok(0)
}

fn row(app: &App, screen: &Screen, person: &PersonView) -> String {
    let id = screen.tinted(&format!("{:<8}", person.short), Tone::Command);
    let what = person.relationship.as_deref().unwrap_or_else(|| kind(person));
    let trust = format!("{} ({})", person.trust, because(person.because));
    let seen = person.first_seen.date_time(app.zone());
    let addresses: Vec<String> = person.addresses.iter().map(|address| inline(&address.address)).collect();
    let tags = if person.tags.is_empty() { String::new() } else { format!("  [{}]", person.tags.join(", ")) };
    format!(
        "{id} {:<16} {:<10} {trust:<27} {seen}  {}{tags}",
        brief(&name(person), 24),
        brief(what, 24),
        addresses.join(", ")
    )
}

fn shown(app: &App, screen: &Screen, person: &PersonView) -> Done {
    if screen.json {
        screen.json_line(person)?;
        return Ok(0);
    }
    let list = |items: &[String]| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
    screen.line(&format!("{}  {}", screen.tinted(&person.short, Tone::Command), inline(&name(person))))?;
    screen.line(&format!("  kind          {}", kind(person)))?;
    screen.line(&format!("  relationship  {}", person.relationship.as_deref().unwrap_or("none")))?;
    screen.line(&format!("  trust         {}: {}", person.trust, reason(person.because)))?;
    screen.line(&format!("  tags          {}", list(&person.tags)))?;
    screen.line(&format!("  first seen    {}", person.first_seen.date_time(app.zone())))?;
    if person.addresses.is_empty() {
        screen.line("  address       none: nobody can write as them yet")?;
    }
    for address in &person.addresses {
        screen.line(&format!("  address       {}", one(app, person, address)))?;
    }
    Ok(0)
}

fn one(app: &App, person: &PersonView, address: &AddressView) -> String {
    let verified = if address.verified { ", verified" } else { "" };
    // Where it differs: somebody may be trusted more under one address than under another.
    let trust = address.trust.filter(|trust| *trust != person.trust);
    let trust = trust.map_or_else(String::new, |trust| format!(", trusted as {trust} from here"));
    format!(
        "{}{verified}{trust}, since {}",
        inline(&address.address),
        address.first_seen.date_time(app.zone())
    )
}

fn name(person: &PersonView) -> String {
    person.name.clone().unwrap_or_else(|| "(no name)".into())
}

const fn kind(person: &PersonView) -> &'static str {
    match (person.is_owner, person.kind) {
        (true, _) => "owner",
        (false, EntityKind::Person) => "person",
        (false, EntityKind::Persona) => "persona",
        (false, EntityKind::Agent) => "agent",
        (false, EntityKind::Webhook) => "webhook",
        (false, EntityKind::System) => "system",
    }
}

/// Why somebody is trusted as far as they are, in a word.
const fn because(because: Because) -> &'static str {
    match because {
        Because::Owner => "owner",
        Because::Set => "set by you",
        Because::VerifiedAddress => "verified address",
        Because::Known => "known",
        Because::Webhook => "webhook",
        Because::System => "house",
    }
}

const fn reason(because: Because) -> &'static str {
    match because {
        Because::Owner => "this is the owner",
        Because::Set => "you said so",
        Because::VerifiedAddress => "known, from an address that you verified",
        Because::Known => "known, and nothing else is said",
        Because::Webhook => "a webhook, unless you say otherwise",
        Because::System => "part of the house",
    }
}
