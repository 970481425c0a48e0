//! Mutants of operations on the whole of a table that grows by splitting, of merges, and of the
//! ends of rounds.

use super::super::change::{
    Change::{self, Before, Condition, Delay, Delete, During, Instead, Rebind, Weaken},
    Fault,
    Half::Release,
    fault,
};

/// All locks are released, and others are held in their place, which no other thread knows.
const LOCKS_RELEASED: Change = Rebind {
    name: "stripes",
    value: "{
                drop(stripes);
                Box::leak(Box::new(crate::table::Stripes::with_count(1).unwrap())).lock_all()
            }",
};

/// Mutants of copies of the whole table, and of clears.
const WHOLE: &[Fault] = &[
    fault("split-clone-no-locks", "a clone takes no locks", During("lock-skipped")),
    fault(
        "split-clone-one-lock-fewer",
        "a clone takes all locks but one",
        During("all-but-one-lock"),
    ),
    fault(
        "split-clone-any-order",
        "clones take the locks in no fixed order",
        During("locks-in-no-order"),
    ),
    fault(
        "split-clone-early-unlock",
        "a clone releases the locks before it reads the words",
        LOCKS_RELEASED,
    ),
    fault(
        "split-clone-late-ghosts",
        "a clone reads the number of ghosts after it has released the locks",
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
    fault("split-clone-no-fence", "no Acquire fence after a clone has read the words", Delete),
    fault("split-copy-no-locks", "a snapshot takes no locks", During("lock-skipped")),
    fault(
        "split-copy-one-lock-fewer",
        "a snapshot takes all locks but one",
        During("all-but-one-lock"),
    ),
    fault(
        "split-copy-any-order",
        "snapshots take the locks in no fixed order",
        During("locks-in-no-order"),
    ),
    fault(
        "split-copy-early-unlock",
        "a snapshot releases the locks before it reads the words",
        LOCKS_RELEASED,
    ),
    fault(
        "split-copy-late-ghosts",
        "a snapshot reads the number of ghosts after it has released the locks",
        LOCKS_RELEASED,
    ),
    fault(
        "split-copy-despite-growth",
        "a snapshot goes on though the table has outgrown it",
        Condition("true"),
    ),
    fault(
        "split-copy-none-ahead",
        "a snapshot leaves out the children of buckets that were split ahead of their turn",
        Delete,
    ),
    fault("split-copy-no-fence", "no Acquire fence after a snapshot has read the words", Delete),
    fault("split-whole-gaps", "whoever holds all stripes does not advance the size", Delete),
    fault("split-clear-no-locks", "`clear` takes no locks", During("lock-skipped")),
    fault(
        "split-clear-one-lock-fewer",
        "`clear` takes all locks but one",
        During("all-but-one-lock"),
    ),
    fault(
        "split-clear-any-order",
        "`clear` takes the locks in no fixed order",
        During("locks-in-no-order"),
    ),
    fault("split-clear-no-bump", "`clear` does not bump the versions", Delete),
    fault("split-clear-late-bump", "`clear` bumps the versions after the clearing", Delay(3)),
    fault("split-clear-bump-relaxed", "`clear` bumps the versions by Relaxed", Weaken(Release)),
    fault(
        "split-clear-levels",
        "`clear` clears the levels, too",
        Instead("word.fetch_and(0, AcqRel)"),
    ),
    fault(
        "split-clear-store",
        "`clear` clears a word by a load and a store",
        // The load is a read-modify-write for the sake of loom, as in `load_to_change`.
        Instead(
            "{
                 let old = word.fetch_and(u64::MAX, AcqRel);
                 word.store(old & levels, crate::sync::Release);
                 old
             }",
        ),
    ),
    fault(
        "split-clear-early-unlock",
        "`clear` releases the locks before it counts",
        LOCKS_RELEASED,
    ),
    fault(
        "split-clear-uncounted",
        "`clear` does not count the items that it removes",
        Instead("self.occupancy.clear(0, ghosts)"),
    ),
    fault(
        "split-clear-ghosts-counted",
        "`clear` does not count the ghosts that it removes",
        Instead("self.occupancy.clear(occupied as i64 - ghosts, 0)"),
    ),
];

/// Mutants of merges.
const MERGES: &[Fault] = &[
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
    fault(
        "split-merge-limit-no-lock",
        "no lock for the decision of a merge on the limit",
        During("lock-skipped"),
    ),
    fault(
        "split-merge-copies-no-lock",
        "no lock for the decision of a merge that there are too many copies",
        During("lock-skipped"),
    ),
    fault("split-merge-uncounted", "a merge does not count the items", Delete),
    fault(
        "split-merge-unknown-ignored",
        "a merge treats a slot that knows neither location as if it were merged",
        Instead("return Ok(())"),
    ),
    fault(
        "split-merge-add-store",
        "a merge changes a word by a plain store",
        Instead("{ self.bucket(bucket).store(new, Release); true }"),
    ),
    fault(
        "split-merge-ghost-no-lock",
        "a merge adds a ghost without a lock",
        Instead("None::<crate::table::StripeGuard>"),
    ),
    fault(
        "split-merge-ghosts-uncounted",
        "a merge does not count the ghosts that it adds",
        Condition("false"),
    ),
    fault(
        "split-merge-undo-no-lock",
        "a refused merge removes without a lock",
        During("lock-skipped"),
    ),
    fault(
        "split-merge-undo-wrong-lock",
        "a refused merge removes under another stripe's lock",
        Instead("self.stripes.under_another_lock(self.stripe::<L>(&whole))"),
    ),
    fault(
        "split-merge-undo-despite-clear",
        "a refused merge removes after a clear",
        Instead("{ let _ = clears; self.clear_one::<L>(&guard, &whole, None) }"),
    ),
    fault(
        "split-merge-undo-no-bump",
        "a refused merge does not bump the version",
        During("remove-no-bump"),
    ),
    fault(
        "split-merge-undo-late-bump",
        "a refused merge bumps the version after the clearing",
        During("remove-late-bump"),
    ),
    fault(
        "split-merge-undo-bump-relaxed",
        "a refused merge bumps the version by Relaxed",
        During("remove-bump-relaxed"),
    ),
    fault(
        "split-merge-undo-shortest",
        "a refused merge removes the slot that knows least",
        During("leveled-shortest"),
    ),
    fault(
        "split-merge-undo-uncounted",
        "a refused merge does not count the items that it removes",
        Instead("false"),
    ),
    fault(
        "split-merge-undo-ghosts-counted",
        "a refused merge does not count the ghosts that it removes",
        Delete,
    ),
];

/// Mutants of words of one bucket at two levels, and of inserts that need the last splits.
const ROUNDS: &[Fault] = &[
    fault(
        "split-levels-differ",
        "the words of two locations in one bucket may have different levels",
        Instead("{ let _ = buckets; false }"),
    ),
    fault(
        "split-one-slot-twice",
        "a slot is seen before and after the split of a bucket that both sides had",
        Instead("buckets[0] == buckets[1] && levels[0] != levels[1]"),
    ),
    fault(
        "split-next-same-group",
        "a group that is being split is tried again",
        Instead("Size { split: group * GROUP, ..size }"),
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
];

/// All faults.
pub(super) fn faults() -> impl Iterator<Item = Fault> {
    [WHOLE, MERGES, ROUNDS].into_iter().flatten().copied()
}
