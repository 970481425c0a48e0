//! Mutants of growing filters: segments read or appended in the wrong way, and faults of a table
//! that are on for its callers in the chain only.

use super::super::change::{
    Change::{After, Before, Condition, Delay, Delete, During, Instead, Weaken},
    Fault,
    Half::{Acquire, Release},
    fault,
};

pub(super) const FAULTS: &[Fault] = &[
    // Lookups.
    fault("chain-lookup-no-validation", "the version is not read again", Condition("true")),
    fault(
        "chain-lookup-per-segment",
        "a lookup validates each segment by itself, the first one first",
        Before(
            "for segment in self.segments() {
                 loop {
                     let version = stripe.version();
                     if segment.contains_unvalidated(mixed) { return true; }
                     if stripe.validate(version) { break; }
                 }
             }
             return false;",
        ),
    ),
    fault(
        "chain-lookup-per-segment-from-finest",
        "a lookup validates each segment by itself, the finest one first",
        Before(
            "for segment in self.segments().rev() {
                 loop {
                     let version = stripe.version();
                     if segment.contains_unvalidated(mixed) { return true; }
                     if stripe.validate(version) { break; }
                 }
             }
             return false;",
        ),
    )
    .survives(
        "it is correct: the copy assigned to an item only goes to earlier segments, which are read \
         later",
    ),
    fault(
        "chain-lookup-from-first",
        "a lookup compares one segment after the other, the first one first",
        Condition("self.segments().any(|segment| segment.contains_unvalidated(mixed))"),
    )
    .survives("it is correct: one version covers all segments, in whatever order they are read"),
    fault(
        "chain-lookup-open-probe",
        "a lookup counts an uncertain match of a quick probe as a hit",
        Instead("{ let _ = certain; found }"),
    )
    .survives_in_plain_words("a quick probe of plain words is always certain"),
    fault("chain-lookup-late-version", "the version is first read after the words", Delay(1)),
    fault(
        "chain-lookup-last-only",
        "a lookup reads the last segment only",
        Condition(
            "self.segments().rev().take(1).any(|segment| segment.contains_unvalidated(mixed))",
        ),
    ),
    fault("chain-lookup-version-relaxed", "a lookup reads the version by Relaxed", Weaken(Acquire)),
    fault("chain-lookup-words-relaxed", "a lookup reads the words by Relaxed", Weaken(Acquire)),
    // Removals and counts.
    fault(
        "chain-remove-first-segment",
        "a removal starts at the first segment",
        Instead("self.segments().any(|segment| segment.remove(&guard, item))"),
    ),
    fault("chain-remove-no-lock", "`remove` takes no lock", During("lock-skipped")),
    fault("chain-remove-no-bump", "a removal does not bump the version", During("remove-no-bump")),
    fault(
        "chain-remove-late-bump",
        "a removal bumps the version after the clearing",
        During("remove-late-bump"),
    ),
    fault(
        "chain-remove-not-cleared",
        "`remove` returns `true` and clears nothing",
        During("remove-not-cleared"),
    ),
    fault("chain-count-no-lock", "`count` takes no lock", During("lock-skipped")),
    fault(
        "chain-count-relaxed",
        "`count` reads by Relaxed",
        During("table/copies: count_locked: Acquire to Relaxed"),
    ),
    // Inserts.
    fault("chain-insert-relaxed", "`insert` adds by Relaxed", Weaken(Release)),
    fault(
        "chain-append-relaxed",
        "`insert` adds by Relaxed once the last segment was full",
        Weaken(Release),
    ),
    fault(
        "half-no-lock",
        "no lock for the decision that copies take half of the slots",
        During("lock-skipped"),
    ),
    fault(
        "half-estimate",
        "an unlocked estimate decides that copies take half of the slots",
        Condition("self.estimate_copies::<L>(pair) >= half_of_slots::<L>(pair)"),
    ),
    fault("chain-limit-no-lock", "no lock for the decision on the limit", During("lock-skipped")),
    fault("chain-limit-estimate", "an unlocked estimate decides on the limit", Instead("true")),
    fault(
        "chain-limit-no-validation",
        "the unlocked count for the limit is not validated",
        Condition("true"),
    ),
    fault(
        "chain-limit-version-relaxed",
        "the unlocked count for the limit reads the version by Relaxed",
        Weaken(Acquire),
    ),
    fault(
        "chain-limit-words-relaxed",
        "the unlocked count for the limit reads the words by Relaxed",
        Weaken(Acquire),
    ),
    fault(
        "chain-limit-last-only",
        "the limit is on the copies in the last segment",
        Instead(
            "self.segments().rev().take(1).map(|segment| segment.count_unvalidated(mixed)).sum()",
        ),
    ),
    fault("chain-relocate-no-lock", "a move takes no lock", During("relocate-no-lock")),
    fault("chain-unique-no-lock", "`insert_unique` takes no lock", During("lock-skipped")),
    fault(
        "chain-unique-early-segments",
        "`insert_unique` finds the segments before it takes the lock",
        Delay(1),
    ),
    fault("chain-unique-last-only", "`insert_unique` scans the last segment only", Delete),
    fault(
        "chain-unique-scan-relaxed",
        "`insert_unique` scans the earlier segments by Relaxed",
        Weaken(Acquire),
    ),
    fault("chain-unique-relaxed", "`insert_unique` adds by Relaxed", Weaken(Release)),
    fault(
        "chain-unique-two-reads",
        "presence and room are decided by two reads",
        During("unique-two-reads"),
    ),
    fault(
        "chain-unique-lock-gap",
        "the lock is released between the scan and the addition",
        Before(
            "if last.count(&guard, mixed) > 0 { return Ok(last.find_unvalidated(mixed)); }
             drop(guard);
             return self.insert(item).map(|()| None);",
        ),
    ),
    fault("chain-unique-lock-kept", "the lock is kept while making room", Delay(2)),
    fault(
        "chain-unique-no-second-scan",
        "no scan after making room",
        After("if made_room.is_ok() && last.add(item) { return Ok(None); }"),
    ),
    fault("chain-unique-no-last-scan", "no scan before `Full` is returned", After("made_room?;")),
    fault(
        "chain-unique-no-append",
        "`insert_unique` appends no segment",
        Instead("last.make_room(item, &mut relocations)"),
    ),
    // Whole chains.
    fault("chain-clear-no-locks", "`clear` takes no locks", During("lock-skipped")),
    fault("chain-clear-no-bump", "`clear` does not bump the versions", Delete),
    fault("chain-clear-bump-relaxed", "`clear` bumps the versions by Relaxed", Weaken(Release)),
    fault(
        "chain-clear-late-bump",
        "`clear` bumps the versions after the clearing",
        Before(
            "let count = self.segments().map(|segment| segment.clear_locked(&stripes)).sum();
             stripes.bump();
             return count;",
        ),
    ),
    fault(
        "chain-clear-last-only",
        "`clear` clears the last segment only",
        Instead(
            "self.segments().rev().take(1).map(|segment| segment.clear_locked(&stripes)).sum()",
        ),
    ),
    fault("chain-clone-no-locks", "a clone takes no locks", During("lock-skipped")),
    // Segments.
    fault(
        "segment-own-stripes",
        "every segment has stripes of its own",
        Instead(
            "Self {
                addressing,
                buckets,
                stripes: Shared::new(Stripes::new(1).unwrap()).unwrap(),
                counters: counters.clone(),
                clock: (),
            }",
        ),
    ),
    fault(
        "segment-own-stripe-choice",
        "a segment's stripe follows from its own fingerprint",
        Instead("fingerprint"),
    ),
    fault(
        "set-once-second-wins",
        "the second value takes the place of the first",
        Condition("{ self.0.store(inner, Release); false }"),
    ),
];
