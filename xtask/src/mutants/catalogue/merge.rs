//! Mutants of merges.

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
        Instead("if added == 1 { let _ = (number, item); None } else { $ }"),
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
        Instead("{ let _ = clears; self.clear_one::<L>(&guard, &pair, None) }"),
    ),
    fault("merge-uncounted", "`merge` does not count the items", Delete),
];
