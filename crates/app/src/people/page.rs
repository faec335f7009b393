//! A person as a page.

use ledger::records::EntityKind;
use present::{Page, Style, inline, shorten};

use super::{AddressView, Because, PersonView};
use crate::operation::Output;

impl Output for PersonView {
    fn render(&self, style: &Style<'_>) -> Page {
        let tags = if self.tags.is_empty() { "none".to_owned() } else { self.tags.join(", ") };
        let mut page = Page::new();
        page.add(format!("{}  {}", style.theme.paint_command(&self.short), inline(self.name_or_none())));
        page.add(format!("  kind          {}", self.kind_word()));
        page.add(format!("  relationship  {}", self.relationship.as_deref().unwrap_or("none")));
        page.add(format!("  trust         {}: {}", self.trust, explain(self.because)));
        page.add(format!("  tags          {tags}"));
        page.add(format!("  first seen    {}", self.first_seen.date_time(style.zone)));
        if self.addresses.is_empty() {
            page.add("  address       none: nobody can write as them yet");
        }
        let addresses = self.addresses.iter().map(|address| self.describe_address(address, style));
        page.add_all(addresses.map(|address| format!("  address       {address}")));
        page
    }
}

impl PersonView {
    /// The person on one line.
    pub(super) fn row(&self, style: &Style<'_>) -> String {
        let id = style.theme.paint_command(&format!("{:<8}", self.short));
        let what = self.relationship.as_deref().unwrap_or_else(|| self.kind_word());
        let trust = format!("{} ({})", self.trust, name_source(self.because));
        let seen = self.first_seen.date_time(style.zone);
        let addresses: Vec<String> = self.addresses.iter().map(|address| inline(&address.address)).collect();
        let tags = if self.tags.is_empty() { String::new() } else { format!("  [{}]", self.tags.join(", ")) };
        format!(
            "{id} {:<16} {:<10} {trust:<27} {seen}  {}{tags}",
            shorten(self.name_or_none(), 24),
            shorten(what, 24),
            addresses.join(", ")
        )
    }

    fn describe_address(&self, address: &AddressView, style: &Style<'_>) -> String {
        let verified = if address.verified { ", verified" } else { "" };
        // Only if it differs: a person can be trusted more under one address than under another.
        let trust = address.trust.filter(|trust| *trust != self.trust);
        let trust = trust.map_or_else(String::new, |trust| format!(", trusted as {trust} from here"));
        let since = address.first_seen.date_time(style.zone);
        format!("{}{verified}{trust}, since {since}", inline(&address.address))
    }

    fn name_or_none(&self) -> &str {
        self.name.as_deref().unwrap_or("(no name)")
    }

    const fn kind_word(&self) -> &'static str {
        match (self.is_owner, self.kind) {
            (true, _) => "owner",
            (false, EntityKind::Person) => "person",
            (false, EntityKind::Persona) => "persona",
            (false, EntityKind::Agent) => "agent",
            (false, EntityKind::Webhook) => "webhook",
            (false, EntityKind::System) => "system",
        }
    }
}

/// Why a person is trusted that far, in one or two words.
const fn name_source(because: Because) -> &'static str {
    match because {
        Because::Owner => "owner",
        Because::Set => "set by you",
        Because::VerifiedAddress => "verified address",
        Because::Known => "known",
        Because::Webhook => "webhook",
        Because::System => "house",
    }
}

/// Why a person is trusted that far.
const fn explain(because: Because) -> &'static str {
    match because {
        Because::Owner => "this is the owner",
        Because::Set => "you said so",
        Because::VerifiedAddress => "known, from an address that you verified",
        Because::Known => "known, and nothing else is said",
        Because::Webhook => "a webhook, unless you say otherwise",
        Because::System => "part of the house",
    }
}
