//! Mutants of moves in tables that grow, whoever makes them, and each for one of the operations
//! that make room.

use super::super::change::{
    Change::{self, Before, Condition, Delay, Delete, During, Instead, Rebind, Weaken},
    Fault,
    Half::Release,
    fault,
};

const READ_SOURCE_RELAXED: Change = During("table/split/relocate: to_change: Acquire to Relaxed");
const COPY_RELAXED: Change = During("table/split/relocate: copy: Release to Relaxed");
const CLEAR_RELAXED: Change = During("table/split/relocate: clear_original: Release to Relaxed");

/// Why two mutants survive.
const READ_BY_THE_SEARCH: &str = "the search has read the slot by an Acquire. Only a slot that was \
     removed and inserted again since would tell: `split_publish_move` covers the same step";

/// Mutants of moves, whoever makes them.
const MOVES: &[Fault] = &[
    fault("split-relocate-no-lock", "a move takes no lock", During("lock-skipped")),
    fault(
        "split-relocate-wrong-lock",
        "a move takes another stripe's lock",
        Instead("self.stripes.under_another_lock(self.stripe_of::<L>([side, other]))"),
    ),
    fault(
        "split-relocate-level-ignored",
        "a plan is carried out at another level",
        Condition("L::find(seen, slot).is_none()"),
    ),
    fault(
        "split-relocate-stale-plan",
        "a slot that is gone is moved",
        Condition("level(seen) != place.level"),
    ),
    fault("split-relocate-early-bump", "a move bumps the version before the copy", Delay(1)),
    fault("split-relocate-no-bump", "a move does not bump the version", Delete),
    fault(
        "split-relocate-late-bump",
        "a move bumps the version after the clearing",
        Before(
            "let stored = self.clear_original::<L>(&guard, victim, seen, incoming);
             guard.bump();
             return stored;",
        ),
    ),
    fault("split-relocate-bump-relaxed", "a move bumps the version by Relaxed", Weaken(Release)),
    fault(
        "split-relocate-lock-gap",
        "the lock is released between the copy and the clearing",
        Rebind {
            name: "guard",
            value: "{ drop(guard); self.stripe_of::<L>([side, other]).lock() }",
        },
    ),
    fault("split-relocate-not-cleared", "a move does not clear the source", Instead("true")),
    fault("split-relocate-no-copy", "a move makes no copy", Condition("true")),
    fault(
        "split-relocate-copy-store",
        "the copy is made by a plain store",
        Condition("{ self.bucket(to.bucket).store(new, Release); true }"),
    ),
    fault(
        "split-clear-level-ignored",
        "a move clears at another level than that of its plan",
        Condition("true"),
    ),
    fault(
        "split-clear-drops-incoming",
        "the incoming item is not stored",
        Instead("L::without(word, lane)"),
    ),
    fault(
        "split-clear-plain-store",
        "a move clears by a plain store",
        Before("self.bucket(place.bucket).store(new, Release); return true;"),
    ),
    fault(
        "split-cleared-ghosts-counted",
        "a move does not count the ghosts that it clears",
        Delete,
    ),
    fault(
        "split-clear-incoming-assumed",
        "an incoming item that was not stored counts as stored",
        Instead("true"),
    ),
    fault("split-clear-one-copy", "a move clears one copy of several", Delete),
    fault(
        "split-clear-all-store",
        "copies are cleared by plain stores",
        Condition("{ self.bucket(place.bucket).store(new, Release); true }"),
    ),
];

/// A fault of the moves of an operation: the start of its name, the rest of it, and what the moves
/// do.
macro_rules! fault_of {
    ($of:literal, $operation:literal, $name:literal, $what:literal) => {
        fault_of!($of, $operation, $name, $what, During(concat!("split-relocate-", $name)))
    };
    ($of:literal, $operation:literal, $name:literal, $what:literal, $change:expr) => {
        fault(concat!($of, $name), concat!("a move of ", $operation, " ", $what), $change)
    };
}

/// The faults of the moves of an operation.
macro_rules! faults_of {
    ($of:literal, $operation:literal) => {
        [
            fault_of!($of, $operation, "no-lock", "takes no lock"),
            fault_of!($of, $operation, "wrong-lock", "takes another stripe's lock"),
            fault_of!($of, $operation, "stale-plan", "is made though its slot is gone"),
            fault_of!($of, $operation, "no-bump", "does not bump the version"),
            fault_of!($of, $operation, "early-bump", "bumps the version before the copy"),
            fault_of!($of, $operation, "late-bump", "bumps the version after the clearing"),
            fault_of!($of, $operation, "bump-relaxed", "bumps the version by Relaxed"),
            fault_of!($of, $operation, "clear-relaxed", "clears by Relaxed", CLEAR_RELAXED),
            fault_of!($of, $operation, "read-relaxed", "reads by Relaxed", READ_SOURCE_RELAXED),
            fault_of!($of, $operation, "copy-relaxed", "copies by Relaxed", COPY_RELAXED),
        ]
    };
}

/// All faults.
pub(super) fn faults() -> impl Iterator<Item = Fault> {
    let of_callers = [
        faults_of!("split-insert-move-", "`insert`"),
        faults_of!("split-unique-move-", "`insert_unique`"),
    ];
    let of_callers = of_callers.into_iter().flatten().map(|fault| match fault.name {
        "split-insert-move-read-relaxed" | "split-unique-move-read-relaxed" => {
            fault.survives(READ_BY_THE_SEARCH)
        }
        _ => fault,
    });
    MOVES.iter().copied().chain(of_callers)
}
