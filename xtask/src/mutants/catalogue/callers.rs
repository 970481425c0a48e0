//! Mutants of steps that several operations share, each for one of its callers.

use super::super::change::{
    Change::{self, Condition, During, Instead, Rebind, Weaken},
    Fault,
    Half::{Acquire, Release},
    fault,
};

/// A table's operation takes the lock of another stripe. The version is that of the right one.
pub(super) const OTHER_LOCK_OF_A_PAIR: Change = Instead(
    "core::borrow::Borrow::<crate::table::Stripes>::borrow(&self.stripes)
         .under_another_lock(self.addressing.stripe_fingerprint(pair.fingerprint))",
);
/// A chain's operation takes the lock of another stripe.
const OTHER_LOCK_OF_A_HASH: Change = Instead(
    "{
                 let fingerprint = self.finest.fingerprint(mixed);
                 self.stripes.under_another_lock(self.finest.stripe_fingerprint(fingerprint))
             }",
);
/// All locks are released, and a guard of other stripes is kept.
const RELEASED: Change = Rebind {
    name: "stripes",
    value: "{
        drop(stripes);
        let others = crate::table::Stripes::new(1).unwrap();
        Box::leak(Box::new(others)).lock_all()
    }",
};
pub(super) const READ_SEGMENTS_RELAXED: Change = During("sync/set_once: get: Acquire to Relaxed");
const SET_SEGMENT_RELAXED: Change = During("sync/set_once: set: Release to Relaxed");

pub(super) const FAULTS: &[Fault] = &[
    // The lock of another stripe.
    fault("unique-wrong-lock", "`insert_unique` takes another stripe's lock", OTHER_LOCK_OF_A_PAIR),
    fault("remove-wrong-lock", "`remove` takes another stripe's lock", OTHER_LOCK_OF_A_PAIR),
    fault("count-wrong-lock", "`count` takes another stripe's lock", OTHER_LOCK_OF_A_PAIR),
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
    fault(
        "half-wrong-lock",
        "another stripe's lock for the decision that copies take half of the slots",
        During("reached-wrong-lock"),
    ),
    fault(
        "relocate-wrong-lock",
        "a move takes another stripe's lock",
        Instead(
            "core::borrow::Borrow::<crate::table::Stripes>::borrow(&self.stripes)
                 .under_another_lock(self.addressing.stripe_fingerprint(step.fingerprint))",
        ),
    ),
    fault(
        "chain-unique-wrong-lock",
        "`insert_unique` takes another stripe's lock",
        OTHER_LOCK_OF_A_HASH,
    ),
    fault(
        "chain-remove-wrong-lock",
        "`remove` takes another stripe's lock",
        Instead(
            "{
                 let fingerprint = self.finest.fingerprint(V::mixed(item));
                 self.stripes.under_another_lock(self.finest.stripe_fingerprint(fingerprint))
             }",
        ),
    ),
    fault("chain-count-wrong-lock", "`count` takes another stripe's lock", OTHER_LOCK_OF_A_HASH),
    // The version of another stripe.
    fault(
        "lookup-wrong-version",
        "a lookup reads another stripe's version",
        Instead("self.stripe(Fingerprint::new(pair.fingerprint.get() + 1))"),
    ),
    fault(
        "chain-lookup-wrong-version",
        "a lookup reads another stripe's version",
        Instead(
            "self.stripes.of(crate::bucket::Fingerprint::new(
                 self.first().fingerprint(mixed).get() + 1,
             ))",
        ),
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
    fault(
        "chain-lookup-first-word-relaxed",
        "a lookup reads each first word by Relaxed",
        During("table/lookup: load: Acquire to Relaxed"),
    ),
    fault(
        "chain-lookup-second-word-relaxed",
        "a lookup reads each second word by Relaxed",
        During("table/lookup: load: Acquire 2 to Relaxed"),
    ),
    // The end of a search.
    fault(
        "last-add-missing",
        "an exhausted search returns `Full` without a last attempt",
        Condition("false"),
    )
    .survives(
        "`Full` is a right answer: the search may miss a slot that becomes empty. \
         `tests/progress.rs` kills it",
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
        During("table/copies: count_locked: Acquire to Relaxed"),
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
    // The other steps of a chain.
    fault(
        "chain-remove-bump-relaxed",
        "a removal bumps the version by Relaxed",
        During("remove-bump-relaxed"),
    ),
    fault(
        "chain-remove-clear-relaxed",
        "a removal clears by Relaxed",
        During("remove-clear-relaxed"),
    ),
    fault(
        "chain-remove-read-relaxed",
        "a removal reads the words by Relaxed",
        During("table/remove: clear_one: Acquire to Relaxed"),
    ),
    fault(
        "chain-unique-read-relaxed",
        "`insert_unique` reads the last segment by Relaxed",
        During("table/insert: add_if_absent: Acquire to Relaxed"),
    ),
    fault(
        "chain-unique-rest-relaxed",
        "`insert_unique` adds to an earlier segment by Relaxed",
        Weaken(Release),
    ),
    fault(
        "chain-unique-rest-read-relaxed",
        "`insert_unique` reads an earlier segment by Relaxed before it adds there",
        During("table/insert: add_if_absent: Acquire to Relaxed"),
    ),
    // The places of segments.
    fault("chain-lookup-segments-relaxed", "a lookup acquires no segment", READ_SEGMENTS_RELAXED),
    fault("chain-count-segments-relaxed", "`count` acquires no segment", READ_SEGMENTS_RELAXED)
        .survives(
            "no model counts beside an append. `growth_removal` covers the same step of `remove`",
        ),
    fault("chain-insert-segments-relaxed", "`insert` acquires no segment", READ_SEGMENTS_RELAXED),
    fault(
        "chain-append-segments-relaxed",
        "`insert` acquires no segment once the last one was full",
        READ_SEGMENTS_RELAXED,
    ),
    fault(
        "chain-unique-segments-relaxed",
        "`insert_unique` acquires no segment",
        READ_SEGMENTS_RELAXED,
    ),
    fault("chain-remove-segments-relaxed", "a removal acquires no segment", READ_SEGMENTS_RELAXED),
    fault("chain-clear-segments-relaxed", "`clear` acquires no segment", READ_SEGMENTS_RELAXED),
    fault("chain-clone-segments-relaxed", "a clone acquires no segment", READ_SEGMENTS_RELAXED),
    fault("chain-append-set-relaxed", "`insert` does not publish a segment", SET_SEGMENT_RELAXED),
    fault(
        "chain-unique-set-relaxed",
        "`insert_unique` does not publish a segment",
        SET_SEGMENT_RELAXED,
    ),
    // What holds all stripes.
    fault("clear-early-unlock", "`clear` swaps after releasing the locks", RELEASED),
    fault("copy-early-unlock", "a snapshot reads after releasing the locks", RELEASED),
    fault("clone-early-unlock", "a clone reads after releasing the locks", RELEASED),
    fault("chain-clear-early-unlock", "`clear` swaps after releasing the locks", RELEASED),
    fault("chain-clone-early-unlock", "a clone reads after releasing the locks", RELEASED),
    fault(
        "chain-clear-one-lock-fewer",
        "`clear` takes all locks but one",
        During("all-but-one-lock"),
    ),
    fault(
        "chain-clone-one-lock-fewer",
        "a clone takes all locks but one",
        During("all-but-one-lock"),
    ),
    fault(
        "chain-clone-any-order",
        "clones take the locks in no fixed order",
        During("locks-in-no-order"),
    ),
    fault(
        "chain-clear-swap-acquire",
        "`clear` swaps without Release",
        During("table/whole_table: clear_locked: AcqRel to Acquire"),
    )
    .survives(
        "no model of a chain sees it. `clear` of a table shares the loop, where `clear_one_moment` \
         kills the same fault",
    ),
    fault(
        "chain-clear-swap-release",
        "`clear` swaps without Acquire",
        During("table/whole_table: clear_locked: AcqRel to Release"),
    ),
    fault(
        "chain-clone-no-fence",
        "a clone has no Acquire fence after reading the words",
        During("copy-no-fence"),
    ),
];
