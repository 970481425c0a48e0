//! Mutants of what moves do in tables that grow alone.

use super::super::change::{
    Change::{Condition, Delete, Instead},
    Fault, fault,
};

/// Mutants of moves, whoever makes them.
const MOVES: &[Fault] = &[
    fault(
        "split-relocate-level-ignored",
        "a plan is carried out at another level",
        Instead("L::find(word, slot).is_some()"),
    ),
    fault(
        "split-relocate-stale-plan",
        "a slot that is gone is moved",
        Instead("level(word) == place.level"),
    ),
    fault(
        "split-cleared-ghosts-counted",
        "a move does not count the ghosts that it clears",
        Delete,
    ),
    fault("split-clear-one-copy", "a move clears one copy of several", Delete),
    fault(
        "split-clear-all-store",
        "copies are cleared by plain stores",
        Condition("{ self.bucket(place.bucket).store(new, Release); true }"),
    ),
];

/// All faults.
pub(super) fn faults() -> impl Iterator<Item = Fault> {
    MOVES.iter().copied()
}
