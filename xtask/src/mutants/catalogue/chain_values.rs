//! Mutants of growing maps: segments read or changed in the wrong way, and faults of a table that
//! are on for its callers in the chain only.

use super::{
    super::change::{
        Change::{Before, Condition, Delay, During, Instead, Rebind, Weaken},
        Fault,
        Half::Acquire,
        fault,
    },
    callers::READ_SEGMENTS_RELAXED,
};

pub(super) const FAULTS: &[Fault] = &[
    // Lookups by key.
    fault(
        "chain-lookup-early-segments",
        "a lookup lists the segments before it reads the version",
        Before(
            "loop {
                 let segments = self.segments();
                 let version = stripe.version();
                 if segments.rev().any(|segment| segment.contains_unvalidated(mixed)) {
                     return true;
                 }
                 if stripe.validate(version) { return false; }
             }",
        ),
    ),
    fault(
        "chain-get-early-segments",
        "`get` lists the segments before it reads the version",
        Before(
            "loop {
                 let segments = self.segments();
                 let version = stripe.version();
                 let found = segments.rev().find_map(|segment| segment.value_unvalidated(finest));
                 if found.is_some() || stripe.validate(version) { return found; }
             }",
        ),
    ),
    fault("chain-get-late-version", "`get` first reads the version after the words", Delay(1)),
    fault("chain-get-version-relaxed", "`get` reads the version by Relaxed", Weaken(Acquire)),
    fault("chain-get-words-relaxed", "`get` reads the words by Relaxed", Weaken(Acquire)),
    fault("chain-get-segments-relaxed", "`get` acquires no segment", READ_SEGMENTS_RELAXED),
    fault(
        "chain-get-last-only",
        "`get` reads the last segment only",
        Instead("self.last_and_rest().1.value_unvalidated(finest)"),
    ),
    fault("chain-get-no-validation", "a miss of `get` is not validated", Condition("true")),
    // `values`.
    fault(
        "chain-values-wrong-version",
        "`values` reads another stripe's version",
        Instead("self.stripes.of(self.first().fingerprint(mixed))"),
    ),
    fault(
        "chain-values-early-segments",
        "`values` lists the segments before it reads the version",
        Before(
            "loop {
                 let segments = self.segments();
                 let version = stripe.version();
                 let mut all = AllCandidates::default();
                 for segment in segments.rev() {
                     let found = segment.candidates_unvalidated(mixed);
                     found.as_slice().iter().for_each(|&value| all.0.push(value));
                 }
                 if stripe.validate(version) { return all; }
             }",
        ),
    ),
    fault(
        "chain-values-late-version",
        "`values` first reads the version after the words",
        Delay(2),
    ),
    fault("chain-values-version-relaxed", "`values` reads the version by Relaxed", Weaken(Acquire)),
    fault("chain-values-words-relaxed", "`values` reads the words by Relaxed", Weaken(Acquire)),
    fault("chain-values-segments-relaxed", "`values` acquires no segment", READ_SEGMENTS_RELAXED),
    fault(
        "chain-values-last-only",
        "`values` reads the last segment only",
        Rebind { name: "segment", value: "self.last_and_rest().1" },
    ),
    fault(
        "chain-values-no-validation",
        "`values` does not validate the version",
        Condition("true"),
    ),
    fault(
        "chain-values-unvalidated-match",
        "`values` validates the version only if it found no match",
        Condition("!all.is_empty() || stripe.validate(version)"),
    ),
    // `contains_value`.
    fault(
        "chain-probe-wrong-version",
        "`contains_value` reads another stripe's version",
        Instead("self.stripes.of(self.first().fingerprint(item.0))"),
    ),
    fault(
        "chain-probe-early-segments",
        "`contains_value` lists the segments before it reads the version",
        Before(
            "loop {
                 let segments = self.segments();
                 let version = stripe.version();
                 if segments.rev().any(|segment| segment.contains_value_unvalidated(item)) {
                     return true;
                 }
                 if stripe.validate(version) { return false; }
             }",
        ),
    )
    .survives(
        "it is correct: the copy assigned to an item with its value only goes to earlier segments",
    ),
    fault(
        "chain-probe-late-version",
        "`contains_value` first reads the version after the words",
        Delay(1),
    ),
    fault(
        "chain-probe-version-relaxed",
        "`contains_value` reads the version by Relaxed",
        Weaken(Acquire),
    ),
    fault(
        "chain-probe-words-relaxed",
        "`contains_value` reads the words by Relaxed",
        Weaken(Acquire),
    ),
    fault(
        "chain-probe-segments-relaxed",
        "`contains_value` acquires no segment",
        READ_SEGMENTS_RELAXED,
    ),
    fault(
        "chain-probe-last-only",
        "`contains_value` reads the last segment only",
        Condition("self.last_and_rest().1.contains_value_unvalidated(item)"),
    ),
    fault(
        "chain-probe-no-validation",
        "a miss of `contains_value` is not validated",
        Condition("true"),
    ),
    // `get_or_insert`.
    fault(
        "chain-unique-own-value",
        "`get_or_insert` returns its own value for the one that it found",
        Instead("self.find_or_insert(item).map(|found| found.map(|_| item.1))"),
    ),
    fault(
        "chain-unique-value-lost",
        "`get_or_insert` returns no value of a copy in an earlier segment",
        Instead("first.map(|_| self.pair(mixed).fingerprint)"),
    ),
    // `replace`.
    fault(
        "chain-replace-wrong-lock",
        "`replace` takes another stripe's lock",
        Instead("self.stripes.of(self.first().fingerprint(item.0)).lock()"),
    ),
    fault(
        "chain-replace-first-segment",
        "a replacement starts at the first segment",
        Instead("self.segments().any(|segment| segment.replace(&guard, item, new))"),
    ),
    fault(
        "chain-replace-read-relaxed",
        "a replacement reads the words by Relaxed",
        During("table/remove: clear_one: Acquire to Relaxed"),
    ),
    fault(
        "chain-replace-segments-relaxed",
        "a replacement acquires no segment",
        READ_SEGMENTS_RELAXED,
    ),
    // Whole chains.
    fault(
        "chain-clone-early-segments",
        "a copy of a chain with values lists the segments only before it takes the locks",
        Condition("false"),
    ),
];
