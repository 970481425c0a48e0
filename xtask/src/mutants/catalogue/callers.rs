//! Mutants of steps that several operations share, each for one of its callers.

use super::super::change::{
    Change::{self, Condition, During, Instead, Rebind, Weaken},
    Fault,
    Half::{Acquire, Release},
    fault,
};

/// A table's operation takes the lock of another stripe. The version is that of the right one.
pub(super) const OTHER_LOCK_OF_A_PAIR: Change =
    Instead("self.stripes.under_another_lock(self.stripe_of(pair.fingerprint))");
/// All locks are released, and a guard of other stripes is kept.
const RELEASED: Change = Rebind {
    name: "stripes",
    value: "{
        drop(stripes);
        let others = crate::table::Stripes::new(1).unwrap();
        Box::leak(Box::new(others)).lock_all()
    }",
};

pub(super) const FAULTS: &[Fault] = &[
    // The lock of another stripe.
    fault(
        "reached-wrong-lock",
        "another stripe's lock for all decisions about a limit on copies",
        OTHER_LOCK_OF_A_PAIR,
    ),
    fault(
        "only-copies-wrong-lock",
        "another stripe's lock for the decision that buckets hold only copies",
        During("reached-wrong-lock"),
    ),
    fault(
        "first-copies-wrong-lock",
        "another stripe's lock for this decision before a search",
        During("reached-wrong-lock"),
    ),
    fault(
        "last-copies-wrong-lock",
        "another stripe's lock for this decision after a search",
        During("reached-wrong-lock"),
    ),
    fault(
        "batch-copies-wrong-lock",
        "another stripe's lock for this decision in a batch",
        During("reached-wrong-lock"),
    ),
    // The version of another stripe.
    fault(
        "lookup-wrong-version",
        "a lookup reads another stripe's version",
        Instead("self.stripe_of(Fingerprint::new(fingerprint.get() + 1))"),
    ),
    fault(
        "lookup-retry-wrong-version",
        "a lookup that retries reads another stripe's version",
        Instead("self.stripe_of(Fingerprint::new(pair.fingerprint.get() + 1))"),
    ),
    // The rounds of a lookup.
    fault(
        "lookup-first-late-version",
        "the first round reads the version after the words",
        During("lookup-late-version"),
    ),
    fault("lookup-first-relaxed", "the first round reads everything by Relaxed", Weaken(Acquire)),
    fault(
        "lookup-retry-late-version",
        "a retry reads the version after the words",
        During("lookup-late-version"),
    ),
    fault("lookup-retry-relaxed", "a retry reads everything by Relaxed", Weaken(Acquire)),
    // The end of a search.
    fault(
        "last-add-missing",
        "an exhausted search returns `Full` without a last attempt",
        Condition("false"),
    )
    .survives(
        "`Full` is a right answer: the search may miss a slot that becomes empty. \
         `tests/public/halts.rs` kills it",
    ),
    fault("last-add-relaxed", "the last attempt adds by Relaxed", Weaken(Release)),
    fault(
        "last-copies-ignored",
        "an exhausted search returns `Full` where only copies fill the buckets",
        Instead("false"),
    )
    .survives("`Full` is a right answer: both buckets are full"),
    fault(
        "last-full-is-too-many",
        "an exhausted search returns `TooManyCopies` where others fill the buckets",
        Instead("true"),
    ),
    fault(
        "reached-relaxed",
        "the copies are counted by Relaxed for a decision about a limit",
        Weaken(Acquire),
    )
    .survives("the lock orders all clearings before the count, and an error publishes nothing"),
    // Batches.
    fault("batch-add-relaxed", "a batch adds by Relaxed", Weaken(Release)),
    fault(
        "batch-stale-dropped",
        "a pending insert with a stale plan is dropped",
        Instead("Ok(())"),
    ),
    fault(
        "batch-relocate-wrong-lock",
        "a move of a batch takes another stripe's lock",
        During("relocate-wrong-lock"),
    ),
    fault(
        "batch-relocate-no-bump",
        "a move of a batch does not bump the version",
        During("relocate-no-bump"),
    ),
    fault(
        "batch-relocate-bump-relaxed",
        "a move of a batch bumps the version by Relaxed",
        During("relocate-bump-relaxed"),
    ),
    // What holds all stripes.
    fault("clear-early-unlock", "`clear` swaps after releasing the locks", RELEASED),
    fault("copy-early-unlock", "a snapshot reads after releasing the locks", RELEASED),
    fault("clone-early-unlock", "a clone reads after releasing the locks", RELEASED),
];
