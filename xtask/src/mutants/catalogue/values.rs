//! Mutants of tables with values, and of maps.

use super::{
    super::change::{
        Change::{Before, Condition, Delete, During, Instead},
        Fault, fault,
    },
    callers::OTHER_LOCK_OF_A_PAIR,
};

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
        Instead("self.stripes.borrow().of(Fingerprint::new((key >> longer) + 1))"),
    ),
    fault("get-no-validation", "a miss of `get` is not validated", Condition("true")),
    fault(
        "get-late-version",
        "`get` first reads the version after the words",
        During("lookup-late-version"),
    ),
    fault(
        "get-version-relaxed",
        "`get` reads the version by Relaxed",
        During("lookup-version-relaxed"),
    ),
    fault("get-words-relaxed", "`get` reads both words by Relaxed", During("lookup-words-relaxed")),
    // `values`.
    fault("values-no-validation", "`values` does not validate the version", Condition("true")),
    fault(
        "values-unvalidated-match",
        "`values` validates the version only if it found no match",
        Condition("unchanged || !self.candidates_in::<L>(pair, words).as_slice().is_empty()"),
    ),
    fault(
        "values-late-version",
        "`values` first reads the version after the words",
        During("lookup-late-version"),
    ),
    fault(
        "values-version-relaxed",
        "`values` reads the version by Relaxed",
        During("lookup-version-relaxed"),
    ),
    fault(
        "values-words-relaxed",
        "`values` reads both words by Relaxed",
        During("lookup-words-relaxed"),
    ),
    // `contains_value`.
    fault(
        "contains-value-no-validation",
        "a miss of `contains_value` is not validated",
        Condition("true"),
    ),
    fault(
        "contains-value-late-version",
        "`contains_value` first reads the version after the words",
        During("lookup-late-version"),
    ),
    fault(
        "contains-value-version-relaxed",
        "`contains_value` reads the version by Relaxed",
        During("lookup-version-relaxed"),
    ),
    fault(
        "contains-value-words-relaxed",
        "`contains_value` reads both words by Relaxed",
        During("lookup-words-relaxed"),
    ),
    // `replace`.
    fault("replace-no-lock", "`replace` takes no lock", During("lock-skipped")),
    fault("replace-wrong-lock", "`replace` takes another stripe's lock", OTHER_LOCK_OF_A_PAIR),
    fault("replace-no-bump", "a replacement does not bump the version", During("remove-no-bump")),
    fault(
        "replace-late-bump",
        "a replacement bumps the version after it has stored the slot",
        During("remove-late-bump"),
    ),
    fault(
        "replace-bump-relaxed",
        "a replacement bumps the version by Relaxed",
        During("remove-bump-relaxed"),
    ),
    fault(
        "replace-clear-relaxed",
        "a replacement stores the slot by Relaxed",
        During("remove-clear-relaxed"),
    ),
    fault(
        "replace-not-stored",
        "`replace` removes the old value and stores no new one",
        During("clear-slot-drops-incoming"),
    ),
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
    fault("replace-by-key", "a replacement takes a copy with any value", During("remove-by-key")),
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
