//! Mutants of moves, each for one of the operations that make room.

use super::super::change::{
    Change::{self, During},
    Fault, fault,
};

const READ_SOURCE_RELAXED: Change = During("table/relocate: relocate: Acquire to Relaxed");
const COPY_RELAXED: Change = During("table/relocate: relocate: Release to Relaxed");

/// A fault of the moves of an operation: the start of its name, the rest of it, and what the moves
/// do.
macro_rules! fault_of {
    ($of:literal, $operation:literal, $name:literal, $what:literal) => {
        fault_of!($of, $operation, $name, $what, During(concat!("relocate-", $name)))
    };
    ($of:literal, $operation:literal, $name:literal, $what:literal, $change:expr) => {
        fault(concat!($of, $name), concat!("a move of ", $operation, " ", $what), $change)
    };
}

/// The faults of the moves of an operation.
macro_rules! faults_of {
    ($of:literal, $operation:literal) => {
        [
            fault_of!($of, $operation, "wrong-lock", "takes another stripe's lock"),
            fault_of!($of, $operation, "no-bump", "does not bump the version"),
            fault_of!($of, $operation, "early-bump", "bumps the version before the copy"),
            fault_of!($of, $operation, "late-bump", "bumps the version after the clearing"),
            fault_of!($of, $operation, "bump-relaxed", "bumps the version by Relaxed"),
            fault_of!($of, $operation, "clear-relaxed", "clears by Relaxed"),
            fault_of!(
                $of,
                $operation,
                "read-relaxed",
                "reads the source by Relaxed",
                READ_SOURCE_RELAXED
            ),
            fault_of!($of, $operation, "copy-relaxed", "copies by Relaxed", COPY_RELAXED),
        ]
    };
}

/// All faults.
pub(super) fn faults() -> impl Iterator<Item = Fault> {
    let all = [
        faults_of!("insert-relocate-", "`insert`"),
        faults_of!("unique-relocate-", "`insert_unique`"),
    ];
    all.into_iter().flatten()
}
