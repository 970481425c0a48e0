//! Mutants of tables that grow: splits, and the other steps beside them.

use super::super::change::{
    Change::{self, After, Before, Condition, Delay, Delete, During, Instead, Rebind, Weaken},
    Fault,
    Half::{Acquire, Release},
    fault,
};

/// The lock of another stripe for an item. The version is that of the right one.
const OTHER_LOCK_OF_AN_ITEM: Change = Instead(
    "self.stripes.under_another_lock(
         crate::bucket::Fingerprint::new(item.sides[0].code.core as u32))",
);
/// All locks are released, and others are held in their place, which no other thread knows.
const LOCKS_RELEASED: Change = Rebind {
    name: "stripes",
    value: "{
                drop(stripes);
                Box::leak(Box::new(crate::table::Stripes::with_count(1).unwrap())).lock_all()
            }",
};
const READ_SOURCE_RELAXED: Change = During("table/split/relocate: to_change: Acquire to Relaxed");
const COPY_RELAXED: Change = During("table/split/relocate: copy: Release to Relaxed");
const CLEAR_RELAXED: Change = During("table/split/relocate: clear_original: Release to Relaxed");

/// Mutants of all operations on items but moves.
const FAULTS: &[Fault] = &[
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
        Instead("in_first.count_ones() + in_second.count_ones()"),
    ),
    fault(
        "split-copies-one-side",
        "copies on the second side are not counted",
        Instead("in_first.count_ones()"),
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
            "if Self::is_in::<L>(item, self.load_both_to_change(item)) { return Ok(false); }
             drop(guard);
             return self.insert::<L>(item).map(|()| true);",
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
        After("if made_room.is_ok() && self.add::<L>(item) { return Ok(true); }"),
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
            "let new = L::without(word, lane);
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
                     let new = L::without(now, lane);
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
                 self.occupancy.count_ghosts(halves.copied.into());
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

/// Mutants of moves, whoever makes them.
const MOVES: &[Fault] = &[
    fault("split-relocate-no-lock", "a move takes no lock", During("lock-skipped")),
    fault(
        "split-relocate-wrong-lock",
        "a move takes another stripe's lock",
        Instead(
            "self.stripes.under_another_lock(
                 crate::bucket::Fingerprint::new(side.code.core as u32))",
        ),
    ),
    fault(
        "split-relocate-level-ignored",
        "a plan is carried out at another level",
        Condition("L::find(seen, slot).is_none()"),
    ),
    fault(
        "split-relocate-stale-plan",
        "a slot that is gone is moved",
        Condition("level(seen) != place.level"),
    ),
    fault("split-relocate-early-bump", "a move bumps the version before the copy", Delay(1)),
    fault("split-relocate-no-bump", "a move does not bump the version", Delete),
    fault(
        "split-relocate-late-bump",
        "a move bumps the version after the clearing",
        Before(
            "let stored = self.clear_original::<L>(&guard, victim, seen, incoming);
             guard.bump();
             return stored;",
        ),
    ),
    fault("split-relocate-bump-relaxed", "a move bumps the version by Relaxed", Weaken(Release)),
    fault(
        "split-relocate-lock-gap",
        "the lock is released between the copy and the clearing",
        Rebind {
            name: "guard",
            value: "{ drop(guard); self.stripe_of::<L>([side, other]).lock() }",
        },
    ),
    fault("split-relocate-not-cleared", "a move does not clear the source", Instead("true")),
    fault("split-relocate-no-copy", "a move makes no copy", Condition("true")),
    fault(
        "split-relocate-copy-store",
        "the copy is made by a plain store",
        Condition("{ self.bucket(to.bucket).store(new, Release); true }"),
    ),
    fault(
        "split-clear-level-ignored",
        "a move clears at another level than that of its plan",
        Condition("true"),
    ),
    fault(
        "split-clear-drops-incoming",
        "the incoming item is not stored",
        Instead("L::without(word, lane)"),
    ),
    fault(
        "split-clear-plain-store",
        "a move clears by a plain store",
        Before("self.bucket(place.bucket).store(new, Release); return true;"),
    ),
    fault(
        "split-cleared-ghosts-counted",
        "a move does not count the ghosts that it clears",
        Delete,
    ),
    fault(
        "split-clear-incoming-assumed",
        "an incoming item that was not stored counts as stored",
        Instead("true"),
    ),
    fault("split-clear-one-copy", "a move clears one copy of several", Delete),
    fault(
        "split-clear-all-store",
        "copies are cleared by plain stores",
        Condition("{ self.bucket(place.bucket).store(new, Release); true }"),
    ),
];

/// Mutants of operations on the whole table, and of what they depend on.
const WHOLE: &[Fault] = &[
    fault("split-clone-no-locks", "a clone takes no locks", During("lock-skipped")),
    fault(
        "split-clone-one-lock-fewer",
        "a clone takes all locks but one",
        During("all-but-one-lock"),
    ),
    fault(
        "split-clone-early-unlock",
        "a clone releases the locks before it reads the words",
        LOCKS_RELEASED,
    ),
    fault(
        "split-clone-ghosts-uncounted",
        "a clone does not count its ghosts",
        Instead("copy.occupancy.start(items as i64, 0, 0)"),
    ),
    fault(
        "split-clone-none-ahead",
        "a clone leaves out the children of buckets that were split ahead of their turn",
        Delete,
    ),
    fault("split-copy-no-fence", "no Acquire fence after a clone has read the words", Delete),
    fault("split-copy-no-locks", "a snapshot takes no locks", During("lock-skipped")),
    fault(
        "split-copy-one-lock-fewer",
        "a snapshot takes all locks but one",
        During("all-but-one-lock"),
    ),
    fault(
        "split-copy-early-unlock",
        "a snapshot releases the locks before it reads the words",
        LOCKS_RELEASED,
    ),
    fault("split-whole-gaps", "whoever holds all stripes does not advance the size", Delete),
    fault("split-clear-no-locks", "`clear` takes no locks", During("lock-skipped")),
    fault(
        "split-clear-one-lock-fewer",
        "`clear` takes all locks but one",
        During("all-but-one-lock"),
    ),
    fault("split-clear-no-bump", "`clear` does not bump the versions", Delete),
    fault("split-clear-late-bump", "`clear` bumps the versions after the clearing", Delay(3)),
    fault(
        "split-clear-levels",
        "`clear` clears the levels, too",
        Instead("occupied += u64::from(L::occupied(word.fetch_and(0, AcqRel)))"),
    ),
    fault(
        "split-clear-early-unlock",
        "`clear` releases the locks before it counts",
        LOCKS_RELEASED,
    ),
    fault("split-clear-uncounted", "`clear` does not count what it removes", Instead("false")),
    // Both words of one bucket.
    fault(
        "split-levels-differ",
        "the words of two locations in one bucket may have different levels",
        Condition("true"),
    ),
    // Room.
    fault(
        "split-next-same-group",
        "a group that is being split is tried again",
        Instead("Size { split: group * GROUP, ..size }"),
    )
    .survives(
        "a thread then splits no bucket, or waits for the one that splits, where it could have \
         split the next one: it is slower, and the table grows later",
    ),
    fault(
        "split-insert-no-last-add",
        "an insert is refused though another thread has made room",
        Before("made_room?;"),
    ),
    fault(
        "split-reach-round-stays",
        "no round ends for an insert without room",
        Instead("Err(InsertError::Full)"),
    ),
    // Merges.
    fault(
        "split-merge-holds-stripes",
        "a merge holds the stripes of the other table",
        Before("let _held = other.stripes.lock_all(); let _ = self.stripes.clears();"),
    ),
    fault(
        "split-merge-limit-ignored",
        "a merge ignores the limit on copies",
        Condition("{ let _ = limit; false }"),
    ),
    fault("split-merge-relaxed", "a merge adds by Relaxed", Weaken(Release)),
    fault(
        "split-merge-undo-no-lock",
        "a refused merge removes without a lock",
        During("lock-skipped"),
    ),
    fault(
        "split-merge-undo-despite-clear",
        "a refused merge removes after a clear",
        Condition("{ let _ = attempt.clears; false }"),
    ),
    fault("split-merge-undo-no-bump", "a refused merge does not bump the version", Delete),
];

/// A fault of the moves of an operation: the start of its name, the rest of it, and what the moves
/// do.
macro_rules! fault_of {
    ($of:literal, $operation:literal, $name:literal, $what:literal) => {
        fault_of!($of, $operation, $name, $what, During(concat!("split-relocate-", $name)))
    };
    ($of:literal, $operation:literal, $name:literal, $what:literal, $change:expr) => {
        fault(concat!($of, $name), concat!("a move of ", $operation, " ", $what), $change)
    };
}

/// The faults of the moves of an operation.
macro_rules! faults_of {
    ($of:literal, $operation:literal) => {
        [
            fault_of!($of, $operation, "no-lock", "takes no lock"),
            fault_of!($of, $operation, "wrong-lock", "takes another stripe's lock"),
            fault_of!($of, $operation, "stale-plan", "is made though its slot is gone"),
            fault_of!($of, $operation, "no-bump", "does not bump the version"),
            fault_of!($of, $operation, "early-bump", "bumps the version before the copy"),
            fault_of!($of, $operation, "late-bump", "bumps the version after the clearing"),
            fault_of!($of, $operation, "bump-relaxed", "bumps the version by Relaxed"),
            fault_of!($of, $operation, "clear-relaxed", "clears by Relaxed", CLEAR_RELAXED),
            fault_of!($of, $operation, "read-relaxed", "reads by Relaxed", READ_SOURCE_RELAXED),
            fault_of!($of, $operation, "copy-relaxed", "copies by Relaxed", COPY_RELAXED),
        ]
    };
}

/// All faults.
pub(super) fn faults() -> impl Iterator<Item = Fault> {
    let of_callers = [
        faults_of!("split-insert-move-", "`insert`"),
        faults_of!("split-unique-move-", "`insert_unique`"),
    ];
    let shared = FAULTS.iter().chain(MOVES).chain(WHOLE).copied();
    shared.chain(of_callers.into_iter().flatten())
}
