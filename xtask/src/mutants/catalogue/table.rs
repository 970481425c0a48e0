//! Mutants of one table: lookups, inserts, removals, relocations, and what holds all stripes.

use super::super::change::{
    Change::{After, Before, Condition, Delay, Delete, During, Instead, Weaken},
    Fault,
    Half::{Acquire, Release},
    fault,
};

pub(super) const FAULTS: &[Fault] = &[
    // Lookups.
    fault("lookup-no-validation", "the version is not read again", Instead("(words, true)")),
    fault(
        "lookup-first-unvalidated",
        "a first miss is not validated",
        Instead("(unsafe { self.read_in::<W>(stripe, [first, second]) }.0, true)"),
    ),
    fault(
        "lookup-words-twice",
        "the words are read again instead of the version",
        Instead(
            "(words, words.values()
                 == unsafe { <[u64; 2]>::load(self.buckets.as_slice(), buckets) })",
        ),
    ),
    fault(
        "lookup-open-probe",
        "a lookup counts an uncertain match of a quick probe as a hit",
        Condition("{ let _ = certain; found | unchanged }"),
    )
    .survives_in_plain_words("a quick probe of plain words is always certain"),
    fault("lookup-late-version", "the version is first read after the words", Delay(1)),
    fault("lookup-version-relaxed", "a lookup reads the version by Relaxed", Weaken(Acquire)),
    fault("lookup-words-relaxed", "a lookup reads both words by Relaxed", Weaken(Acquire)),
    fault("lookup-one-retry", "a second miss is not validated", After("return false;")),
    // Inserts.
    fault("search-add-relaxed", "`insert` adds by Relaxed after a search", Weaken(Release)),
    // Relocations.
    fault("path-failed-move", "a failed move counts as room for the insert", Instead("true")),
    // Copies.
    fault(
        "copies-one-bucket-twice",
        "an item with one bucket has its copies counted twice",
        Condition("false"),
    ),
    fault(
        "copies-first-bucket",
        "copies in the second bucket are not counted",
        Instead("{ let _ = second; first }"),
    ),
    fault(
        "only-copies-no-lock",
        "no lock for the decision that buckets hold only copies",
        During("lock-skipped"),
    ),
    fault(
        "only-copies-estimate",
        "an unlocked estimate decides that buckets hold only copies",
        Instead("self.estimate_copies::<L>(pair) >= slots_of::<L>(pair)"),
    ),
    // Whole tables.
    fault("copy-no-locks", "a snapshot takes no locks", During("lock-skipped")),
    fault("copy-one-lock-fewer", "a snapshot takes all locks but one", During("all-but-one-lock")),
    fault(
        "copy-any-order",
        "snapshots take the locks in no fixed order",
        During("locks-in-no-order"),
    ),
    fault("clone-no-locks", "a clone takes no locks", During("lock-skipped")),
    fault("clone-one-lock-fewer", "a clone takes all locks but one", During("all-but-one-lock")),
    fault(
        "clone-any-order",
        "clones take the locks in no fixed order",
        During("locks-in-no-order"),
    ),
    fault("copy-no-fence", "no Acquire fence after a copy has read the words", Delete),
    fault("clear-no-locks", "`clear` takes no locks", During("lock-skipped")),
    fault("clear-one-lock-fewer", "`clear` takes all locks but one", During("all-but-one-lock")),
    fault(
        "clear-any-order",
        "`clear` takes the locks in no fixed order",
        During("locks-in-no-order"),
    ),
    fault("clear-no-bump", "`clear` does not bump the versions", Delete),
    fault(
        "clear-late-bump",
        "`clear` bumps the versions after the clearing",
        Before(
            "let count = self.clear_locked::<L>(&stripes);
             stripes.bump();
             return count;",
        ),
    ),
    fault("clear-bump-relaxed", "`clear` bumps the versions by Relaxed", Weaken(Release)),
];
