//! Mutants of moves, each for one of the operations that make room.

use super::super::change::{
    Change::{self, During},
    Fault, fault,
};

const READ_SOURCE_RELAXED: Change = During("table/relocate: relocate: Acquire to Relaxed");
const COPY_RELAXED: Change = During("table/relocate: relocate: Release to Relaxed");
/// Why two mutants of chains survive.
const OBSERVED_BY_A_THIRD_THREAD: &str =
    "only a third thread could see it. `room_insert_acquires` covers the same step in a table";

/// Why one mutant of chains survives.
const COVERED_IN_A_TABLE: &str =
    "no model of a chain sees it. `room_insert_publishes` covers the same step in a table";

pub(super) const FAULTS: &[Fault] = &[
    // The moves of `insert`.
    fault(
        "insert-relocate-wrong-lock",
        "a move of `insert` takes another stripe's lock",
        During("relocate-wrong-lock"),
    ),
    fault(
        "insert-relocate-no-bump",
        "a move of `insert` does not bump the version",
        During("relocate-no-bump"),
    ),
    fault(
        "insert-relocate-early-bump",
        "a move of `insert` bumps the version before the copy",
        During("relocate-early-bump"),
    ),
    fault(
        "insert-relocate-late-bump",
        "a move of `insert` bumps the version after the clearing",
        During("relocate-late-bump"),
    ),
    fault(
        "insert-relocate-bump-relaxed",
        "a move of `insert` bumps the version by Relaxed",
        During("relocate-bump-relaxed"),
    ),
    fault(
        "insert-relocate-clear-relaxed",
        "a move of `insert` clears by Relaxed",
        During("relocate-clear-relaxed"),
    ),
    fault(
        "insert-relocate-read-relaxed",
        "a move of `insert` reads the source by Relaxed",
        READ_SOURCE_RELAXED,
    ),
    fault("insert-relocate-copy-relaxed", "a move of `insert` copies by Relaxed", COPY_RELAXED),
    // The moves of `insert_unique`.
    fault(
        "unique-relocate-wrong-lock",
        "a move of `insert_unique` takes another stripe's lock",
        During("relocate-wrong-lock"),
    ),
    fault(
        "unique-relocate-no-bump",
        "a move of `insert_unique` does not bump the version",
        During("relocate-no-bump"),
    ),
    fault(
        "unique-relocate-early-bump",
        "a move of `insert_unique` bumps the version before the copy",
        During("relocate-early-bump"),
    ),
    fault(
        "unique-relocate-late-bump",
        "a move of `insert_unique` bumps the version after the clearing",
        During("relocate-late-bump"),
    ),
    fault(
        "unique-relocate-bump-relaxed",
        "a move of `insert_unique` bumps the version by Relaxed",
        During("relocate-bump-relaxed"),
    ),
    fault(
        "unique-relocate-clear-relaxed",
        "a move of `insert_unique` clears by Relaxed",
        During("relocate-clear-relaxed"),
    ),
    fault(
        "unique-relocate-read-relaxed",
        "a move of `insert_unique` reads the source by Relaxed",
        READ_SOURCE_RELAXED,
    ),
    fault(
        "unique-relocate-copy-relaxed",
        "a move of `insert_unique` copies by Relaxed",
        COPY_RELAXED,
    ),
    // The moves of `insert` into a chain.
    fault(
        "chain-relocate-wrong-lock",
        "a move of `insert` takes another stripe's lock",
        During("relocate-wrong-lock"),
    ),
    fault(
        "chain-relocate-bump-relaxed",
        "a move of `insert` bumps the version by Relaxed",
        During("relocate-bump-relaxed"),
    ),
    fault(
        "chain-relocate-clear-relaxed",
        "a move of `insert` clears by Relaxed",
        During("relocate-clear-relaxed"),
    ),
    fault(
        "chain-relocate-read-relaxed",
        "a move of `insert` reads the source by Relaxed",
        READ_SOURCE_RELAXED,
    )
    .survives(OBSERVED_BY_A_THIRD_THREAD),
    fault("chain-relocate-copy-relaxed", "a move of `insert` copies by Relaxed", COPY_RELAXED)
        .survives(COVERED_IN_A_TABLE),
    // The moves of `insert_unique` into a chain.
    fault(
        "chain-unique-relocate-wrong-lock",
        "a move of `insert_unique` takes another stripe's lock",
        During("relocate-wrong-lock"),
    ),
    fault(
        "chain-unique-relocate-no-bump",
        "a move of `insert_unique` does not bump the version",
        During("relocate-no-bump"),
    ),
    fault(
        "chain-unique-relocate-early-bump",
        "a move of `insert_unique` bumps the version before the copy",
        During("relocate-early-bump"),
    ),
    fault(
        "chain-unique-relocate-late-bump",
        "a move of `insert_unique` bumps the version after the clearing",
        During("relocate-late-bump"),
    ),
    fault(
        "chain-unique-relocate-bump-relaxed",
        "a move of `insert_unique` bumps the version by Relaxed",
        During("relocate-bump-relaxed"),
    ),
    fault(
        "chain-unique-relocate-clear-relaxed",
        "a move of `insert_unique` clears by Relaxed",
        During("relocate-clear-relaxed"),
    ),
    fault(
        "chain-unique-relocate-read-relaxed",
        "a move of `insert_unique` reads the source by Relaxed",
        READ_SOURCE_RELAXED,
    )
    .survives(OBSERVED_BY_A_THIRD_THREAD),
    fault(
        "chain-unique-relocate-copy-relaxed",
        "a move of `insert_unique` copies by Relaxed",
        COPY_RELAXED,
    ),
];
