//! Mutants of values in tables that grow.

use super::super::change::{
    Change::{Condition, Delay, During, Instead, Weaken},
    Fault,
    Half::Acquire,
    fault,
};

/// The faults of a lookup that all lookups share.
macro_rules! lookup {
    ($name:literal, $lookup:literal) => {
        [
            fault(
                concat!($name, "-late-version"),
                concat!($lookup, " first reads the version after the words"),
                During("split-lookup-late-version"),
            ),
            fault(
                concat!($name, "-version-relaxed"),
                concat!($lookup, " reads the version by Relaxed"),
                During("split-lookup-version-relaxed"),
            ),
            fault(
                concat!($name, "-words-relaxed"),
                concat!($lookup, " reads hint and words by Relaxed"),
                During("split-lookup-words-relaxed"),
            ),
            fault(
                concat!($name, "-no-validation"),
                concat!("a miss of ", $lookup, " is not validated"),
                During("split-lookup-no-validation"),
            ),
        ]
    };
}

/// The faults of these lookups.
const LOOKUPS: [[Fault; 4]; 2] =
    [lookup!("split-get", "`get`"), lookup!("split-probe", "`contains_value`")];

const FAULTS: &[Fault] = &[
    fault(
        "leveled-any-value",
        "slots that are to have a value may have any",
        Instead("Self::matches_of(slots(word), pattern, lanes.broadcast((1 << value_bits) - 1))"),
    ),
    // `contains_value`.
    fault(
        "split-probe-by-key",
        "`contains_value` finds a slot with any value",
        During("leveled-any-value"),
    ),
    // `values`.
    fault(
        "split-values-late-version",
        "`values` first reads the version after the words",
        Delay(1),
    ),
    fault("split-values-version-relaxed", "`values` reads the version by Relaxed", Weaken(Acquire)),
    fault(
        "split-values-words-relaxed",
        "`values` reads hint and words by Relaxed",
        Weaken(Acquire),
    ),
    fault(
        "split-values-no-validation",
        "`values` does not validate the version",
        Condition("true"),
    ),
    fault(
        "split-values-unvalidated-match",
        "`values` validates the version only if it found no match",
        Condition("stripe.validate(version) || self.marks_of::<L>(item, seen) != [0; 2]"),
    ),
    // `replace`.
    fault("split-replace-no-lock", "`replace` takes no lock", During("lock-skipped")),
    fault(
        "split-replace-wrong-lock",
        "`replace` takes another stripe's lock",
        During("split-remove-wrong-lock"),
    ),
    fault(
        "split-replace-load-relaxed",
        "`replace` reads by Relaxed",
        During("split-remove-load-relaxed"),
    ),
    fault(
        "split-replace-no-bump",
        "a replacement does not bump the version",
        During("split-remove-no-bump"),
    ),
    fault(
        "split-replace-late-bump",
        "a replacement bumps the version after it has stored the slot",
        During("split-remove-late-bump"),
    ),
    fault(
        "split-replace-bump-relaxed",
        "a replacement bumps the version by Relaxed",
        During("split-remove-bump-relaxed"),
    ),
    fault(
        "split-replace-not-again",
        "a replacement does not look again if its word has changed",
        During("split-remove-not-again"),
    ),
    fault(
        "split-replace-plain-store",
        "a replacement stores the slot by a plain store",
        During("split-remove-plain-store"),
    ),
    fault(
        "split-replace-relaxed",
        "a replacement stores the slot by Relaxed",
        During("table/split/remove: clear_one: Release to Relaxed"),
    ),
    fault(
        "split-replace-by-key",
        "a replacement takes a slot with any value",
        During("leveled-any-value"),
    ),
    fault(
        "split-replace-not-stored",
        "`replace` removes the old value and stores no new one",
        Instead("self.clear_one::<L>(item, None)"),
    ),
    // `remove`.
    fault(
        "split-remove-by-key",
        "a removal takes a slot with any value",
        During("leveled-any-value"),
    ),
    // `get_or_insert`, and counts.
    fault(
        "split-unique-with-value",
        "`get_or_insert` finds only slots with its own value",
        During("split-value-in-by-value"),
    ),
    fault(
        "split-value-in-by-value",
        "a lookup by key finds only slots with the value of the key",
        Instead("L::matches_with_value(word, code, self.value_bits())"),
    ),
    fault(
        "split-unique-own-value",
        "`get_or_insert` returns its own value for the one that it found",
        Instead("Addition::Found((item.sides[0].code.core & 15) as u16)"),
    ),
    fault(
        "split-copies-with-value",
        "only copies with the same value are counted",
        Instead("L::matches_with_value(word, side.code, self.value_bits())"),
    ),
    // Merges.
    fault(
        "split-merge-undo-by-key",
        "a refused merge removes a slot with any value",
        Instead(
            "known.core >> self.value_bits() == code.core >> self.value_bits()
                 && may_be_one(known, code)",
        ),
    ),
];

/// All faults.
pub(super) fn faults() -> impl Iterator<Item = Fault> {
    LOOKUPS.into_iter().flatten().chain(FAULTS.iter().copied())
}
