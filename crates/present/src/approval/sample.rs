//! Questions for tests.

#![expect(clippy::unwrap_used, reason = "only tests are built with it")]

use super::view::ApprovalView;
use broker::Reach;
use broker::decide::{Answer, Layer, Word};
use broker::grant::Terms;
use broker::question::{NamedBy, Question, Sink};
use domain::approval::Status;
use domain::call::{Call, Chooser};
use domain::id::{ApprovalId, CallId, OriginId, ReasonId, TaskId, VpolId};
use domain::tags::Tags;
use domain::{Digest, Tier};
use serde_json::Value;

pub fn time(text: &str) -> domain::Time {
    text.parse().unwrap()
}

pub fn sink(name: &str, value: &str, named_by: NamedBy) -> Sink {
    Sink { name: name.into(), value: value.into(), named_by }
}

pub fn question(tool: &str, args: Value, sinks: Vec<Sink>) -> Question {
    Question {
        call: Call {
            id: CallId::from_bits(1),
            tool: tool.parse().unwrap(),
            args,
            task: TaskId::from_bits(2),
            subtask: Some(3),
            chosen_by: Chooser::Model,
            tags: Tags {
                origin: OriginId::from_bits(3),
                reason: ReasonId::from_bits(4),
                vpol: VpolId::from_bits(5),
            },
        },
        description: "does something".into(),
        tier: Tier::WriteDestructive,
        reach: Reach::Workspace,
        sinks,
        asked: vec![Word {
            layer: Layer::Tier,
            answer: Answer::Review,
            reason: "deleting always needs you".into(),
            instead: None,
        }],
        names: Vec::new(),
        diff: None,
        diff_whole: true,
        lines_added: 0,
        lines_removed: 0,
        wanted: String::new(),
        typed: None,
        offer: None,
        decision: Digest::of(b"decision"),
    }
}

pub fn view(question: Question) -> ApprovalView {
    ApprovalView {
        id: ApprovalId::from_bits(7),
        short: "a-m3xd".into(),
        task: TaskId::from_bits(2),
        task_short: "t-k7q2".into(),
        call: CallId::from_bits(1),
        status: Status::Pending,
        fate: None,
        authority: "owner".into(),
        created_at: time("2026-11-15T14:18:00Z"),
        timeout_at: time("2026-11-15T14:48:00Z"),
        resolved_at: None,
        resolved_by: None,
        resolved_via: None,
        said: None,
        changed: None,
        question: Some(question),
        shape: Digest::of(b"shape"),
        grant: None,
        coverage: None,
        attended: true,
    }
}

pub fn offer() -> Terms {
    Terms {
        nature: Digest::ZERO,
        tool: "write_file".parse().unwrap(),
        principal: "owner".into(),
        agent: "main".into(),
        session: None,
        pins: [("path".to_owned(), "reports/*".to_owned())].into(),
        by_hand: false,
        reason: String::new(),
    }
}
