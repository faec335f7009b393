//! Answers from elsewhere: a number, and a code that is good once. Whoever can write in a channel cannot say yes with it
//! unless they were sent the code.

use domain::Digest;
use domain::approval::Lasting;
use domain::id::ApprovalId;
use domain::limits::CODE_TRIES;
use ledger::records::ApprovalCode;
use ledger::table::Record as _;
use ledger::{CommitError, Refusal};

use kernel::Services;

use super::{Act, ApprovalView, Approvals, CodeView};
use kernel::{Code, Problem};

pub(super) const CODES: &str = ApprovalCode::TABLE.name;

/// What somebody replied.
#[derive(Debug, PartialEq, Eq)]
struct Reply<'a> {
    yes: bool,
    number: u64,
    code: String,
    reason: &'a str,
}

impl<'a> Reply<'a> {
    /// `yes 3 K7Q2MX8P`, `no 3 k7q2-mx8p not today`.
    fn parse(text: &'a str) -> Option<Self> {
        let (word, rest) = text.trim().split_once(char::is_whitespace)?;
        let (number, rest) = rest.trim_start().split_once(char::is_whitespace)?;
        let rest = rest.trim_start();
        let (code, reason) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let yes = match word.to_lowercase().as_str() {
            "yes" | "y" | "approve" => true,
            "no" | "n" | "reject" => false,
            _ => return None,
        };
        let plain = |c: &char| *c != '-';
        let code = code.chars().filter(plain).collect::<String>().to_lowercase();
        let reason = reason.trim();
        // A yes with a but is none.
        (!yes || reason.is_empty()).then_some(())?;
        Some(Self { yes, number: number.parse().ok()?, code, reason })
    }
}

impl Approvals<'_> {
    /// A number and a one-time code to answer from elsewhere. A code that was given before is worth nothing any more.
    ///
    /// # Errors
    /// If there is no such question, it is not open any more, or the ledger fails.
    #[tracing::instrument(level = "info", name = "approvals.create_code", skip_all)]
    pub async fn create_code(self, id: &str) -> Result<CodeView, Problem> {
        const TRIES: usize = 8;
        let services = self.app.kernel.services().await?;
        let view = self.show(id).await?;
        if !view.status.is_open() {
            let what = format!("{} is {} already", view.short, view.status.name());
            return Err(Problem::new(Code::ANSWERED, what).remedy("regent approvals list"));
        }
        let code = fresh(&services);
        for _ in 0..TRIES {
            let taken = services.ledger.approval_codes().await?;
            let ours = taken.iter().find(|taken| taken.approval == view.id);
            let free = || (1..).find(|number| !taken.iter().any(|taken| taken.number == *number));
            let number = ours.map(|ours| ours.number).or_else(free).unwrap_or(1);
            let row = ApprovalCode {
                number,
                approval: view.id,
                digest: digest(view.id, &code),
                until: view.timeout_at,
                tries: CODE_TRIES,
                stamp: fresh(&services),
            };
            let mut batch = services.batch();
            match ours {
                Some(ours) => batch.expect_present::<ApprovalCode>("stamp", &ours.stamp),
                None => batch.expect_absent::<ApprovalCode>("number", &number),
            };
            batch.put(&row);
            match services.ledger.commit(batch).await {
                Ok(_) => {
                    let code = code.to_uppercase();
                    return Ok(CodeView { approval: view.id, number, code, until: row.until });
                }
                Err(CommitError::Refused(
                    Refusal::Present { table: CODES, .. } | Refusal::Gone { table: CODES, .. },
                )) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Problem::new(Code::INTERNAL, "no number was free"))
    }

    /// A reply as a channel brings it: `yes 3 K7Q2MX8P`, `no 3 K7Q2MX8P because`.
    ///
    /// # Errors
    /// If it is no such reply, the code is wrong or used up, or the ledger fails.
    #[tracing::instrument(level = "info", name = "approvals.reply", skip_all)]
    pub async fn reply(self, text: &str) -> Result<ApprovalView, Problem> {
        let services = self.app.kernel.services().await?;
        let Some(reply) = Reply::parse(text) else {
            let what = "a reply is `yes`, or `no`, then the number and the code";
            return Err(
                Problem::new(Code::BAD_ANSWER, what).remedy("regent approvals reply \"yes 3 K7Q2MX8P\"")
            );
        };
        let known = loop {
            let codes = services.ledger.approval_codes().await?;
            let known = codes.into_iter().find(|code| code.number == reply.number);
            let Some(known) = known.filter(|code| services.now() < code.until) else {
                return Err(no_such_code());
            };
            if known.digest == digest(known.approval, &reply.code) {
                break known;
            }
            // Somebody who replied at the same moment changed it: then this one has not cost a try yet.
            if wrong(&services, known).await? {
                return Err(no_such_code());
            }
        };
        let act = if reply.yes {
            Act::Approve { lasting: Lasting::Once, typed: None, good_for: None }
        } else {
            Act::Reject { reason: reply.reason.into() }
        };
        Box::pin(self.resolve_by(&known.approval.to_string(), act, "code", Some(&known))).await
    }
}

/// A wrong reply costs a try; after the last one the code is gone, and the question is still open. Says whether it did.
async fn wrong(services: &Services, known: ApprovalCode) -> Result<bool, Problem> {
    let mut batch = services.batch();
    batch.expect_present::<ApprovalCode>("stamp", &known.stamp);
    let left = known.tries.saturating_sub(1);
    if left == 0 {
        batch.erase::<ApprovalCode, _>("number", &[known.number]);
    } else {
        batch.put(&ApprovalCode { tries: left, stamp: fresh(services), ..known });
    }
    match services.ledger.commit(batch).await {
        Ok(_) => Ok(true),
        Err(CommitError::Refused(Refusal::Gone { table: CODES, .. })) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn no_such_code() -> Problem {
    Problem::new(Code::CODE, "the number or the code is wrong, or not good any more")
        .safe("nothing was decided")
        .remedy("regent approvals list")
}

fn digest(approval: ApprovalId, code: &str) -> Digest {
    Digest::of_parts(&[b"regent/code/", approval.to_string().as_bytes(), code.as_bytes()])
}

/// Eight letters and digits that cannot be mistaken for each other: 40 bits.
fn fresh(services: &Services) -> String {
    const LENGTH: usize = 8;
    let id: ApprovalId = services.id();
    id.to_string().chars().skip(2).take(LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::Reply;

    #[test]
    fn replies_as_people_write_them() {
        let reply = |yes, reason| Some(Reply { yes, number: 3, code: "k7q2mx8p".into(), reason });
        let table = [
            ("yes 3 K7Q2MX8P", reply(true, "")),
            ("  Yes  3  k7q2-mx8p ", reply(true, "")),
            ("no 3 K7Q2MX8P not today", reply(false, "not today")),
            ("n 3 K7Q2MX8P", reply(false, "")),
            ("yes", None),
            ("yes 3", None),
            ("maybe 3 K7Q2MX8P", None),
            ("yes 3 K7Q2MX8P no, wait", None),
            ("yes three K7Q2MX8P", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(Reply::parse(text), expected, "{text}");
        }
    }
}
