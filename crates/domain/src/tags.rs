//! The trinity that everything done carries: where it came from, why, and under which authority.

use serde::{Deserialize, Serialize};

use crate::id::{OriginId, ReasonId, VpolId};

/// Origin and V-Pol never change in a chain; a knock-on gets a reason of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tags {
    pub origin: OriginId,
    pub reason: ReasonId,
    pub vpol: VpolId,
}

impl Tags {
    /// The tags of a knock-on: same origin, same authority, its own reason.
    #[must_use]
    pub const fn because(self, reason: ReasonId) -> Self {
        Self { reason, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::Tags;
    use crate::id::{OriginId, ReasonId, VpolId};

    /// rabs §4: an e-mail, the shift it changes, the staff it notifies, the bill it adjusts.
    #[test]
    fn the_trinity_example_of_the_rabs_seed() {
        let shift = Tags {
            origin: OriginId::from_bits(4821),
            reason: ReasonId::from_bits(9001),
            vpol: VpolId::from_bits(12),
        };
        let notify = shift.because(ReasonId::from_bits(9002));
        let bill = notify.because(ReasonId::from_bits(9003));
        for knock_on in [notify, bill] {
            assert_eq!((knock_on.origin, knock_on.vpol), (shift.origin, shift.vpol));
        }
        assert!(shift.reason != notify.reason && notify.reason != bill.reason);
    }
}
