//! Mutants of tables that grow: splits, lookups, inserts, removals and copies.

use super::super::change::{
    Change::{self, After, Before, Condition, Delay, Delete, During, Instead, Rebind, Weaken},
    Fault,
    Half::{Acquire, Release},
    fault,
};

/// The lock of another stripe for an item. The version is that of the right one.
const OTHER_LOCK_OF_AN_ITEM: Change =
    Instead("self.stripes.under_another_lock(self.stripe::<L>(item))");

pub(super) const FAULTS: &[Fault] = &[
    // Lookups.
    fault(
        "split-lookup-wrong-stripe",
        "a lookup reads the version of another stripe",
        Instead("self.stripes.at(item.sides[0].code.core as usize + 1)"),
    ),
    fault("split-lookup-late-version", "the version is first read after the words", Delay(1)),
    fault("split-lookup-version-relaxed", "a lookup reads the version by Relaxed", Weaken(Acquire)),
    fault(
        "split-lookup-words-relaxed",
        "a lookup reads hint and words by Relaxed",
        Weaken(Acquire),
    ),
    fault(
        "split-lookup-first-only",
        "the second location is not looked at",
        Instead("{ let [first, _] = self.load_both(item); [first; 2] }"),
    ),
    fault("split-lookup-no-validation", "the version is not read again", Condition("true")),
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
    fault("split-count-no-lock", "`count` takes no lock", During("lock-skipped")),
    fault("split-count-wrong-lock", "`count` takes another stripe's lock", OTHER_LOCK_OF_AN_ITEM),
    fault("split-count-relaxed", "`count` reads by Relaxed", Weaken(Acquire)),
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
    fault("split-limit-no-fence", "no fence before the unlocked count for the limit", Delete),
    fault(
        "split-limit-version-relaxed",
        "the unlocked count reads the version by Relaxed",
        Weaken(Acquire),
    ),
    fault("split-limit-relaxed", "all counts for the limit read by Relaxed", Weaken(Acquire)),
    fault("split-limit-estimate", "an unlocked estimate decides on the limit", Instead("true")),
    fault("split-limit-no-lock", "no lock for the decision on the limit", During("lock-skipped")),
    fault(
        "split-limit-wrong-lock",
        "another stripe's lock for the decision on the limit",
        During("split-count-wrong-lock"),
    ),
    fault(
        "split-limit-no-validation",
        "the unlocked count for the limit is not validated",
        Condition("true"),
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
        During("split-count-wrong-lock"),
    ),
    fault("split-copies-ignored", "copies have no limit", Condition("false")),
    // Inserts.
    fault("split-insert-relaxed", "`insert` adds by Relaxed", Weaken(Release)),
    fault("split-search-add-relaxed", "`insert` adds by Relaxed after a search", Weaken(Release)),
    fault("split-insert-uncounted", "`insert` does not count the item", Delete),
    fault(
        "split-add-plain-store",
        "the word is changed by a plain store",
        Instead("{ self.bucket(bucket).store(new, Release); true }"),
    ),
    fault("split-unique-no-lock", "`insert_unique` takes no lock", During("lock-skipped")),
    fault(
        "split-unique-wrong-lock",
        "`insert_unique` takes another stripe's lock",
        OTHER_LOCK_OF_AN_ITEM,
    ),
    fault(
        "split-unique-lock-gap",
        "the lock is released between the scan and the addition",
        Before(
            "let found = self.value_in::<L>(item, self.load_both_to_change(item));
             if found.is_some() { return Ok(found); }
             drop(guard);
             return self.insert::<L>(item).map(|()| None);",
        ),
    ),
    fault("split-unique-relaxed", "`insert_unique` adds by Relaxed", Weaken(Release)),
    fault("split-unique-load-relaxed", "`insert_unique` reads by Relaxed", Weaken(Acquire)),
    fault("split-unique-uncounted", "`insert_unique` does not count the item", Delete),
    fault("split-unique-lock-kept", "the lock is kept while making room", Delay(3)),
    fault(
        "split-unique-two-reads",
        "presence and room are decided by two reads",
        Rebind { name: "seen", value: "self.load_both_to_change(item)" },
    ),
    fault(
        "split-unique-no-second-scan",
        "no scan after making room",
        After("if made_room.is_ok() && self.add::<L>(item) { return Ok(None); }"),
    ),
    fault("split-unique-no-last-scan", "no scan before an error is returned", After("made_room?;")),
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
    fault("split-remove-no-lock", "`remove` takes no lock", During("lock-skipped")),
    fault("split-remove-wrong-lock", "`remove` takes another stripe's lock", OTHER_LOCK_OF_AN_ITEM),
    fault("split-remove-load-relaxed", "`remove` reads by Relaxed", Weaken(Acquire)),
    fault("split-remove-no-bump", "a removal does not bump the version", Condition("false")),
    fault(
        "split-remove-late-bump",
        "a removal bumps the version after the clearing",
        Before(
            "let new = changed(word, lane);
             if self.bucket(bucket).compare_exchange(word, new, Release, Relaxed).is_ok() {
                 guard.bump();
                 return true;
             }
             continue;",
        ),
    ),
    fault("split-remove-bump-relaxed", "a removal bumps the version by Relaxed", Weaken(Release)),
    fault(
        "split-remove-not-again",
        "a removal does not look again if its word has changed",
        Condition(
            "{
                 let mut now = word;
                 loop {
                     let new = changed(now, lane);
                     match self.bucket(bucket).compare_exchange(now, new, Release, Relaxed) {
                         Ok(()) => break true,
                         Err(changed) => now = changed,
                     }
                 }
             }",
        ),
    ),
    fault(
        "split-remove-plain-store",
        "a removal clears by a plain store",
        Condition("{ self.bucket(bucket).store(new, Release); true }"),
    ),
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
    fault("split-remove-uncounted", "`remove` does not count the item", Instead("false")),
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
