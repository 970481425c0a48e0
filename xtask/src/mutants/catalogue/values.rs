//! Mutants of tables with values, and of maps.

use super::super::change::{
    Change::{Before, Condition, Delete, During, Instead},
    Fault, fault,
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

/// The faults that these lookups share.
pub(super) const LOOKUPS: [[Fault; 3]; 1] = [lookup!("get", "`get`")];

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
    fault(
        "get-one-round",
        "`get` of a map does not look again",
        Instead("unsafe { self.try_get::<L>(probe, key, buckets) }.unwrap_or(None)"),
    ),
    fault("get-no-validation", "a miss of `get` is not validated", Condition("true")),
    // Slots that differ in the value alone.
    fault(
        "changed-by-key",
        "a slot with any value is found to be changed",
        Instead(
            "{
                 let key = self.key(pair.fingerprint).get();
                 let words = [first, second];
                 let value = Words::<L>::value_in(self, pair, words).map_or(0, u32::from);
                 L::pattern(Fingerprint::new(key | value))
             }",
        ),
    ),
    // Counts.
    fault(
        "copies-with-value",
        "only copies with the same value are counted",
        Before(
            "let own = L::pattern(pair.fingerprint);
             let [first, second] = words.map(|seen| L::count(seen.word, own) as usize);
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
