//! A chain and one of its calls, as an example or a line of the filter gives them.

use domain::{DataClass, Tier};

use super::judge::{Asked, Circumstances, Word};
use super::pick::{Chain, Picked};
use super::set::VpolSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub chain: Chain,
    pub call: Option<Call>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub tool: String,
    pub tier: Tier,
    pub data_class: Option<DataClass>,
    pub roles: Vec<String>,
    /// Whether somebody sits at it is what the chain says.
    pub circumstances: Circumstances,
}

impl VpolSet {
    /// The policy of the chain, and what it says about the call.
    #[must_use]
    pub fn answer(&self, Case { chain, call }: &Case) -> (Picked, Option<Word>) {
        let picked = self.pick(chain);
        let word = call.as_ref().map(|call| {
            picked.vpol.judge(&Asked {
                tool: &call.tool,
                tier: call.tier,
                data_class: call.data_class,
                hands_back: false,
                is_owner: chain.principal.is_owner == Some(true),
                roles: &call.roles,
                circumstances: Circumstances { attended: chain.attended, ..call.circumstances },
            })
        });
        (picked, word)
    }
}
