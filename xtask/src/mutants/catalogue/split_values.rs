//! Mutants of values in tables that grow.

use super::super::change::{
    Change::{During, Instead},
    Fault, fault,
};

/// The faults of a lookup that all lookups share.
macro_rules! lookup {
    ($name:literal, $lookup:literal) => {
        [
            fault(
                concat!($name, "-late-version"),
                concat!($lookup, " first reads the version after the words"),
                During("read-late-version, growing"),
            ),
            fault(
                concat!($name, "-version-relaxed"),
                concat!($lookup, " reads the version by Relaxed"),
                During("read-version-relaxed, growing"),
            ),
            fault(
                concat!($name, "-words-relaxed"),
                concat!($lookup, " reads hint and words by Relaxed"),
                During("read-words-relaxed, growing"),
            ),
            fault(
                concat!($name, "-no-validation"),
                concat!("a miss of ", $lookup, " is not validated"),
                During("find-no-validation, growing"),
            ),
        ]
    };
}

/// The faults of these lookups.
const LOOKUPS: [[Fault; 4]; 1] = [lookup!("split-get", "`get`")];

const FAULTS: &[Fault] = &[
    fault(
        "leveled-any-value",
        "slots that are to have a value may have any",
        Instead("Self::matches_of(slots(word), pattern, lanes.broadcast((1 << value_bits) - 1))"),
    ),
    // `get_or_insert`, and counts.
    fault(
        "split-value-in-by-value",
        "a lookup by key finds only slots with the value of the key",
        Instead("L::matches_with_value(word, code, self.value_bits())"),
    ),
    fault(
        "split-copies-with-value",
        "only copies with the same value are counted",
        Instead("L::matches_with_value(word, side.code, self.value_bits())"),
    ),
];

/// All faults.
pub(super) fn faults() -> impl Iterator<Item = Fault> {
    LOOKUPS.into_iter().flatten().chain(FAULTS.iter().copied())
}
