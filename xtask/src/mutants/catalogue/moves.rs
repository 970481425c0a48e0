//! Mutants of moves, each for one of the operations that make room.

use super::super::change::{
    Change::{self, During},
    Fault, Tables, fault,
};

/// Why a mutant survives in tables that grow, for each of the operations.
const READ_BY_THE_SEARCH: &str = "the search has read the slot by an Acquire. Only a slot that was \
     removed and inserted again since would tell: `split_publish_move` covers the same step";

/// A fault of the moves of an operation: the rest of its name, and what the moves do.
macro_rules! fault_of {
    ($of:literal, $operation:literal, $in:literal, $name:literal, $what:literal) => {
        fault(
            concat!($of, $name),
            concat!("a move of ", $operation, " ", $what),
            During(concat!("relocate-", $name, $in)),
        )
    };
}

/// The faults of the moves of an operation. `$in` ends the names of the faults of moves: empty, or
/// ", growing".
macro_rules! faults_of {
    ($of:literal, $operation:literal, $in:literal) => {
        [
            fault_of!($of, $operation, $in, "no-lock", "takes no lock"),
            fault_of!($of, $operation, $in, "wrong-lock", "takes another stripe's lock"),
            fault_of!($of, $operation, $in, "no-bump", "does not bump the version"),
            fault_of!($of, $operation, $in, "early-bump", "bumps the version before the copy"),
            fault_of!($of, $operation, $in, "late-bump", "bumps the version after the clearing"),
            fault_of!($of, $operation, $in, "bump-relaxed", "bumps the version by Relaxed"),
            fault_of!($of, $operation, $in, "clear-relaxed", "clears by Relaxed"),
            fault_of!($of, $operation, $in, "read-relaxed", "reads the source by Relaxed"),
            fault_of!($of, $operation, $in, "copy-relaxed", "copies by Relaxed"),
        ]
    };
}

/// A stale plan of a table that grows.
const STALE_PLAN: Change = During("split-relocate-stale-plan");

/// All faults.
pub(super) fn faults() -> impl Iterator<Item = Fault> {
    let fixed = faults_of!("insert-relocate-", "`insert`", "").into_iter();
    let unique = faults_of!("unique-relocate-", "`insert_unique`", "").into_iter();
    let grown = faults_of!("split-insert-move-", "`insert`", ", growing").into_iter();
    let unique_grown = faults_of!("unique-relocate-", "`insert_unique`", ", growing").into_iter();
    let stale = [
        fault(
            "split-insert-move-stale-plan",
            "a move of `insert` is made though its slot is gone",
            STALE_PLAN,
        ),
        fault(
            "unique-relocate-stale-plan",
            "a move of `insert_unique` is made though its slot is gone",
            STALE_PLAN,
        )
        .only_in(Tables::Growing),
    ];
    let in_grown = grown.chain(unique_grown.map(|fault| fault.only_in(Tables::Growing)));
    let in_grown = in_grown.map(|fault| {
        if fault.name.ends_with("-read-relaxed") {
            fault.survives(READ_BY_THE_SEARCH)
        } else {
            fault
        }
    });
    let in_grown = in_grown.chain(stale).map(Fault::only_plain);
    fixed.chain(unique.map(|fault| fault.only_in(Tables::Fixed))).chain(in_grown)
}
