//! Mutants of merges, in a table and in a chain.

use super::super::change::{
    Change::{Before, Condition, Delete, During, Instead, Weaken},
    Fault,
    Half::Release,
    fault,
};

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "merge-holds-stripes",
        "a merge holds the stripes of the other table",
        Before("let _held = other.stripes.lock_all(); let _ = self.stripes.clears();"),
    ),
    fault(
        "merge-one-copy-less",
        "a merge leaves out a copy",
        Instead("if added == 1 { let _ = (segment, pair); None } else { $ }"),
    ),
    fault("merge-not-undone", "a refused merge removes nothing", Delete),
    fault("merge-relaxed", "a merge adds by Relaxed", Weaken(Release)),
    fault(
        "merge-limit-ignored",
        "a merge ignores the limit on copies",
        Condition("{ let _ = limit; false }"),
    ),
    fault(
        "merge-clears-unlocked",
        "a merge reads the number of clears while one is in progress",
        During("lock-skipped"),
    ),
    fault("merge-undo-no-lock", "a refused merge removes without a lock", During("lock-skipped")),
    fault(
        "merge-undo-no-bump",
        "a refused merge does not bump the version",
        During("remove-no-bump"),
    ),
    fault(
        "merge-undo-despite-clear",
        "a refused merge removes after a clear",
        Instead("{ let _ = clears; self.remove_locked::<L>(&guard, pair) }"),
    ),
    fault("merge-uncounted", "`merge` does not count the items", Delete),
    // Chains.
    fault(
        "chain-merge-holds-stripes",
        "a merge holds the stripes of the other chain",
        Before("let _held = other.stripes.lock_all(); let _ = self.stripes.clears();"),
    ),
    fault("chain-merge-relaxed", "a merge adds to the finest segment by Relaxed", Weaken(Release)),
    fault(
        "chain-merge-rest-relaxed",
        "a merge adds to an earlier segment by Relaxed",
        Weaken(Release),
    ),
    fault("chain-merge-no-append", "a merge appends no segment", Condition("false")),
    fault(
        "chain-merge-limit-no-lock",
        "no lock for the decision on the limit",
        During("lock-skipped"),
    ),
    fault(
        "chain-merge-limit-last-only",
        "the limit is on the copies in the last segment",
        Instead("self.segments().rev().take(1).map(|segment| segment.count_possible(known)).sum()"),
    ),
    fault(
        "chain-merge-undo-no-lock",
        "a refused merge removes without a lock",
        During("lock-skipped"),
    ),
    fault(
        "chain-merge-undo-no-bump",
        "a refused merge does not bump the version",
        During("remove-no-bump"),
    ),
    fault(
        "chain-merge-undo-from-first",
        "a refused merge removes from the first segment",
        Instead(
            "coarse_enough(self.segments(), known).any(|s| s.undo_known(&guard, clears, known))",
        ),
    ),
    fault(
        "chain-merge-undo-despite-clear",
        "a refused merge removes after a clear",
        Instead(
            "{
                 let clears = { let _ = clears; self.stripes.clears_locked(&guard) };
                 coarse_enough(self.segments(), known)
                     .rev()
                     .any(|s| s.undo_known(&guard, clears, known))
             }",
        ),
    ),
];
