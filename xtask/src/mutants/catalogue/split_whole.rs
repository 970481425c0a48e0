//! Mutants of operations on the whole of a table that grows by splitting.

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

/// Mutants of operations on the whole table, and of what they depend on.
pub(super) const FAULTS: &[Fault] = &[
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
