//! Mutants of tables with values, and of maps.

use super::{
    super::change::{
        Change::{Before, Condition, Delete, During, Instead},
        Fault, fault,
    },
    callers::OTHER_LOCK_OF_A_PAIR,
};

/// The faults of a lookup of values that the steps of all lookups have.
macro_rules! lookup {
    ($name:literal, $lookup:literal) => {
        [
            fault(
                concat!($name, "-late-version"),
                concat!($lookup, " first reads the version after the words"),
                During("lookup-late-version"),
            ),
            fault(
                concat!($name, "-version-relaxed"),
                concat!($lookup, " reads the version by Relaxed"),
                During("lookup-version-relaxed"),
            ),
            fault(
                concat!($name, "-words-relaxed"),
                concat!($lookup, " reads both words by Relaxed"),
                During("lookup-words-relaxed"),
            ),
        ]
    };
}

/// The faults of `replace` that the steps of removals have.
macro_rules! replacement {
    ($name:literal) => {
        [
            fault(concat!($name, "-no-lock"), "`replace` takes no lock", During("lock-skipped")),
            fault(
                concat!($name, "-no-bump"),
                "a replacement does not bump the version",
                During("remove-no-bump"),
            ),
            fault(
                concat!($name, "-late-bump"),
                "a replacement bumps the version after it has stored the slot",
                During("remove-late-bump"),
            ),
            fault(
                concat!($name, "-bump-relaxed"),
                "a replacement bumps the version by Relaxed",
                During("remove-bump-relaxed"),
            ),
            fault(
                concat!($name, "-clear-relaxed"),
                "a replacement stores the slot by Relaxed",
                During("remove-clear-relaxed"),
            ),
            fault(
                concat!($name, "-not-stored"),
                "`replace` removes the old value and stores no new one",
                During("clear-slot-drops-incoming"),
            ),
            fault(
                concat!($name, "-by-key"),
                "a replacement takes a copy with any value",
                During("remove-by-key"),
            ),
        ]
    };
}

/// The faults that these lookups share.
pub(super) const LOOKUPS: [[Fault; 3]; 3] = [
    lookup!("get", "`get`"),
    lookup!("values", "`values`"),
    lookup!("contains-value", "`contains_value`"),
];

/// The faults of `replace`.
pub(super) const REPLACEMENTS: [[Fault; 7]; 1] = [replacement!("replace")];

pub(super) const FAULTS: &[Fault] = &[
    // Lookups with any value.
    fault("lookup-with-value", "a lookup compares the value", Instead("0")),
    fault(
        "lookup-retry-with-value",
        "a lookup that retries compares the value",
        Instead("L::either_contains(words, pattern)"),
    ),
    // `get`.
    fault(
        "get-wrong-version",
        "`get` reads another stripe's version",
        Instead("self.stripes.of(Fingerprint::new(key + 1))"),
    ),
    fault("get-no-validation", "a miss of `get` is not validated", Condition("true")),
    // `values`.
    fault("values-no-validation", "`values` does not validate the version", Condition("true")),
    fault(
        "values-unvalidated-match",
        "`values` validates the version only if it found no match",
        Condition("unchanged || !self.candidates_in::<L>(pair, words).as_slice().is_empty()"),
    ),
    // `contains_value`.
    fault(
        "contains-value-no-validation",
        "a miss of `contains_value` is not validated",
        Condition("true"),
    ),
    // `replace`.
    fault("replace-wrong-lock", "`replace` takes another stripe's lock", OTHER_LOCK_OF_A_PAIR),
    // Slots that differ in the value alone.
    fault(
        "remove-by-key",
        "a removal takes a copy with any value",
        Instead(
            "{
                 let copy = L::pattern(self.first_match::<L>(word, pair.fingerprint));
                 self.clear_slot::<L>(guard, bucket, word, copy, incoming)
             }",
        ),
    ),
    fault(
        "relocate-by-key",
        "a move clears a copy with any value",
        Condition(
            "{
                 let copy = L::pattern(self.first_match::<L>(seen, step.fingerprint));
                 !self.clear_slot::<L>(&guard, step.from, seen, copy, incoming)
             }",
        ),
    ),
    // `get_or_insert`, and counts.
    fault(
        "unique-with-value",
        "`get_or_insert` finds only copies with its own value",
        Instead(
            "words.map(|word| {
                 let is_own = L::contains(word, L::pattern(pair.fingerprint));
                 if is_own { word & !self.values::<L>() } else { 0 }
             })",
        ),
    ),
    fault(
        "unique-own-value",
        "`get_or_insert` returns its own value for the one that it found",
        Instead("Addition::Found(pair.fingerprint)"),
    ),
    fault(
        "copies-with-value",
        "only copies with the same value are counted",
        Before(
            "let own = L::pattern(pair.fingerprint);
             let [first, second] = words.map(|word| L::count(word, own) as usize);
             return if pair.buckets[0] == pair.buckets[1] { first } else { first + second };",
        ),
    ),
    // The number of items in a map.
    fault("map-insert-uncounted", "`insert` into a map does not count the item", Delete),
    fault(
        "map-unique-counts-always",
        "`insert_unique` into a map counts an item that it did not add",
        Condition("true"),
    ),
    fault(
        "map-remove-counts-always",
        "`remove` from a map counts an item that it did not remove",
        Condition("true"),
    ),
];
