//! Mutants of tables that grow: splits, lookups, inserts, removals and copies.

use super::super::change::{
    Change::{Before, Condition, Delete, During, Instead, Weaken},
    Fault,
    Half::Release,
    fault,
};

pub(super) const FAULTS: &[Fault] = &[
    // Lookups.
    fault(
        "split-level-ignored",
        "a word of another level is taken for the location",
        Condition("true"),
    ),
    fault(
        "split-follow-level-ignored",
        "no location is followed to a child",
        Instead("Place { bucket: place.bucket, level }"),
    ),
    // Copies.
    fault(
        "split-copies-one-bucket-twice",
        "a slot that matches on both sides in one bucket is counted twice",
        Instead("[in_first, in_second]"),
    ),
    fault(
        "split-copies-one-side",
        "copies on the second side are not counted",
        Instead("[in_first, 0]"),
    ),
    fault(
        "split-copies-estimate",
        "an unlocked estimate decides that there are too many copies",
        Condition("true"),
    ),
    fault(
        "split-copies-no-lock",
        "no lock for the decision that there are too many copies",
        During("lock-skipped"),
    ),
    fault(
        "split-copies-wrong-lock",
        "another stripe's lock for the decision that there are too many copies",
        Instead("self.stripes.under_another_lock(self.stripe::<L>(item))"),
    ),
    fault("split-copies-ignored", "copies have no limit", Condition("false")),
    // Inserts.
    fault("split-search-add-relaxed", "`insert` adds by Relaxed after a search", Weaken(Release)),
    fault(
        "split-youngest-failed-move",
        "a failed move counts as room for the insert",
        Condition("{ let _ = $; true }"),
    ),
    fault(
        "split-path-failed-move",
        "a failed move of a path counts as room for the insert",
        Condition("{ let _ = $; false }"),
    ),
    // Removals.
    fault(
        "split-remove-shorter-side",
        "a removal takes the slot that knows less, of those in two words",
        Condition("first > second"),
    ),
    fault(
        "leveled-shortest",
        "a removal takes the slot that knows least, of those in one word",
        Condition("longest.is_none_or(|found| found.slot > slot)"),
    ),
    // Splits.
    fault(
        "split-no-lock",
        "a split takes no lock",
        // A lock that no other thread knows.
        Instead(
            "Some(Box::leak(Box::new(crate::table::Stripes::with_count(1).unwrap())).at(0).lock())",
        ),
    ),
    fault(
        "split-wrong-lock",
        "a split takes another stripe's lock",
        Instead("self.stripes.at(group as usize + 1).try_lock()"),
    ),
    fault("split-not-advanced", "a split does not advance the size", Delete),
    fault("split-out-of-turn-no-lock", "a split out of turn takes no lock", During("lock-skipped")),
    fault(
        "split-out-of-turn-wrong-lock",
        "a split out of turn takes another stripe's lock",
        Instead("self.stripes.at((u64::from(bucket) / GROUP) as usize + 1).lock()"),
    ),
    fault(
        "split-out-of-turn-not-advanced",
        "a split out of turn does not advance the size",
        Delete,
    ),
    fault("split-again", "a bucket that has been split is split again", Condition("true")),
    fault(
        "split-child-late",
        "the child is written after the switch",
        Before(
            "if parent.compare_exchange(word, halves.stays, AcqRel, Acquire).is_ok() {
                 child.store(halves.child, Release);
                 self.occupancy.count_split(halves.copied);
                 self.count_split_slots::<L>(now, word, carried);
                 return true;
             }",
        ),
    ),
    fault(
        "split-size-early",
        "the size is stored before the switch",
        Before(
            "let early = Size { level: at, split: u64::from(bucket) + 1 };
             self.size.fetch_max(early.pack(), Release);
             self.hint.fetch_max(early.pack(), Release);",
        ),
    ),
    fault(
        "split-switch-store",
        "the switch is a plain store",
        Before("parent.store(halves.stays, Release); return true;"),
    ),
    fault("split-ghosts-uncounted", "a split does not count the slots that it copies", Delete),
    fault(
        "split-advance-too-far",
        "the size passes over a bucket that has not been split",
        Condition("size.split == 0 || ($)"),
    ),
    fault(
        "split-size-store",
        "the size can fall",
        Instead("{ self.size.store(size.pack(), Release); 0 }"),
    ),
    fault(
        "split-hint-store",
        "the hint can fall",
        Instead("{ self.hint.store(size.pack(), Release); 0 }"),
    )
    .survives(
        "an earlier size is a hint as good as a stale one: the words decide. It is raised, so that \
         lookups do not have to follow levels for longer than need be",
    ),
];
