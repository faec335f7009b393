//! What becomes of the world between the question and the call.

use super::super::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum World {
    Still,
    /// The tool is switched off, and stays so.
    Off,
    /// The tool is switched off and on again.
    OffAndOn,
    /// The tool is registered with another level, so it is another tool.
    Level,
    /// Somebody else changes what is in the file.
    Content,
    /// The time to answer runs out before anybody does.
    Overdue,
}

/// When it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    BeforeTheAnswer,
    AfterTheAnswer,
}

const WORLDS: [(World, u64); 6] = [
    (World::Still, 43),
    (World::Off, 15),
    (World::OffAndOn, 8),
    (World::Level, 10),
    (World::Content, 21),
    (World::Overdue, 3),
];
const EARLY_PERCENT: u64 = 25;

impl World {
    pub(super) fn draw(random: &mut Random) -> (Self, When) {
        let world = random.weighted(&WORLDS).copied().unwrap_or(Self::Still);
        let early = world == Self::Overdue || random.chance(EARLY_PERCENT);
        (world, if early { When::BeforeTheAnswer } else { When::AfterTheAnswer })
    }
}
