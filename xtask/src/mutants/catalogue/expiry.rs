//! Mutants of tables whose slots expire.

use super::super::change::{
    Change::{self, Before, Condition, Delay, Delete, During, Instead, Weaken},
    Fault,
    Half::Release,
    Tables, fault,
};

/// The lock of another stripe. The version is that of the right one.
const OTHER_LOCK: Change = Instead("self.stripes.under_another_lock(self.stripe::<L>(&item))");

/// A step that was to clear a slot does not notice that a sweep has taken it.
const IGNORES_SWEEP: Change = Condition("$ | true");

/// Mutants of steps that are written for one table.
pub(super) const FAULTS: &[Fault] = &[
    // Lookups.
    fault("age-late-now", "a lookup first reads the generation after the words", Delay(1)),
    fault("age-no-now-validation", "a miss does not validate the generation", Instead("unchanged")),
    fault(
        "age-no-version-validation",
        "a miss does not validate the version",
        Instead("{ let _ = unchanged; self.clock.validate(now) }"),
    ),
    fault("age-batch-late-now", "a batch first reads the generation after the words", Delay(1)),
    fault(
        "age-batch-no-now-validation",
        "a batch does not validate the generation",
        Instead("true"),
    ),
    fault(
        "age-batch-first-only",
        "a batch takes a copy that has expired for an answer",
        Instead("stamp.is_none() && $"),
    ),
    // Sweeps.
    fault(
        "sweep-begins-early",
        "a sweep begins that of a generation which has not passed the locks",
        Before("self.begin_sweep_locked(self.now(), end()); return true;"),
    ),
    fault("sweep-last-age", "the last age is swept", Instead("0")),
    fault("keep-no-pass", "a write begins a generation and does not pass the locks", Delete)
        .only_in(Tables::Fixed),
    // Whole tables.
    fault(
        "clone-late-pause",
        "a clone holds up sweeps only when it has copied the words",
        Delay(2),
    ),
    fault(
        "copy-late-pause",
        "a snapshot holds up sweeps only when it has copied the words",
        Delay(2),
    ),
    fault("copy-early-now", "a snapshot reads the generation before the words", Delay(1)),
    fault(
        "copy-late-now",
        "a snapshot is in the generation of its end",
        Instead("Some((copy, { let _ = now; self.clock.read(self.clock.now()) }))"),
    ),
    fault(
        "copy-late-resume",
        "a copy of the words holds up sweeps while it waits for the schedule",
        Instead("drop(stripes)"),
    )
    .may_hang(),
    fault("clone-early-now", "a clone reads the generation before the words", Delay(1)),
    fault("clone-other-time", "a clone starts in the generation of an empty table", Delete),
    // Answers of inserts.
    fault(
        "age-insert-other-answer",
        "`insert` returns the generation of its end",
        Instead("$.map(|_| self.generation())"),
    ),
    fault(
        "age-unique-other-answer",
        "`insert_unique` returns the generation of its end",
        Instead(
            "Ok(generation.map_or(Insertion::Found(()), |_| Insertion::New(self.generation())))",
        ),
    ),
    fault(
        "age-batch-other-answer",
        "a batch of inserts returns the generation of its end",
        Instead("$.map(|_| self.generation())"),
    ),
    fault(
        "age-batch-other-stamp",
        "the stamps of a batch are of another generation than the answer",
        Instead(
            "self.engine.insert_each(hashes, { let _ = generation; self.generation() }, &mut count, failed)",
        ),
    ),
    fault("clear-age-uncounted", "`clear` does not count the stamps", Delete),
    // Decisions that are a generation old.
    fault(
        "count-late-generation",
        "a reading is counted for a generation that another call has ended",
        Instead("true"),
    ),
    fault(
        "copies-expired",
        "copies that have expired count for the limit on copies",
        Instead("{ let _ = now; self.copies_in::<L>(item, words) }"),
    ),
];

/// Mutants of steps that tables of a fixed size and tables that grow share. The models of either
/// must notice them.
const OF_BOTH: &[Fault] = &[
    // `refresh`.
    fault("refresh-no-lock", "`refresh` takes no lock", During("lock-skipped")),
    fault("refresh-wrong-lock", "`refresh` takes another stripe's lock", OTHER_LOCK),
    fault(
        "refresh-no-now-validation",
        "`refresh` does not validate the generation",
        Condition("false"),
    ),
    fault(
        "refresh-any",
        "`refresh` takes any visible copy",
        Instead("marked::<S, L>(words, marks).last()"),
    ),
    fault("refresh-no-bump", "a refresh does not bump the version", Delete).survives(
        "a lookup that reads the slot before or after the refresh sees a visible slot, or \
         notices a tick. The bump makes the refresh a replacement like any other",
    ),
    fault("refresh-ignores-sweep", "a slot that was swept counts as refreshed", IGNORES_SWEEP),
    fault("refresh-uncounted", "a refresh does not count the stamps", Delete),
    // `remove_of`.
    fault("age-remove-no-lock", "`remove_of` takes no lock", During("lock-skipped")),
    fault("age-remove-wrong-lock", "`remove_of` takes another stripe's lock", OTHER_LOCK),
    fault(
        "age-remove-early-now",
        "`remove_of` reads the generation before it takes the lock",
        Delay(1),
    ),
    fault(
        "age-remove-expired",
        "`remove_of` removes what has expired, or a later item with the same stamp",
        Condition("false"),
    )
    .survives(
        "a shortcut: only visible slots are looked at, and a visible slot is of one generation",
    ),
    fault("age-remove-uncounted", "`remove_of` does not count the stamp", Delete),
    fault("age-remove-no-bump", "`remove_of` does not bump the version", Delete),
    fault("age-remove-bump-relaxed", "`remove_of` bumps the version by Relaxed", Weaken(Release)),
    fault("age-remove-clear-relaxed", "`remove_of` clears by Relaxed", Weaken(Release)),
    fault(
        "age-remove-ignores-change",
        "a slot that is gone counts as removed",
        Condition("$ | true"),
    ),
    // Sweeps.
    fault("sweep-no-lock", "a sweep takes no lock", During("lock-skipped")),
    fault("sweep-early-now", "a sweep reads the generation before it takes the lock", Delay(1)),
    // Advances.
    fault("advance-no-lock", "two advances run at once", During("lock-skipped")),
    fault(
        "advance-not-shared",
        "an advance that waited for another one begins a generation of its own",
        Condition("false"),
    ),
    fault("advance-always-shared", "an advance begins no generation", Condition("true")),
    fault(
        "tick-other-generation",
        "`tick` begins another generation than the one that follows what it measured",
        Instead("self.advance::<L>()"),
    ),
    fault("advance-no-sweep", "an advance does not sweep", Delete),
    fault("advance-no-pass", "an advance does not pass the locks of the stripes", Delete),
    fault(
        "advance-early-sweep",
        "the next sweep begins before the advance has passed the locks",
        Delay(1),
    ),
    // Tables that keep time.
    fault("keep-no-lock", "a write keeps time without the lock", During("lock-skipped")),
    fault("keep-unmarked", "a write that comes late does not say so", Delete),
    fault(
        "keep-unswept",
        "a generation begins before its stamp is swept",
        Condition("time >= due"),
    ),
    fault(
        "keep-early-next",
        "writes are told that a generation has begun before it has",
        Before("keeper.next.store(due + interval, Release);"),
    ),
    fault(
        "keep-late-ignored",
        "a generation is as long as if no write had come late",
        Instead("due + interval"),
    ),
];

/// The mutants of the steps that both tables share, for each of the two.
pub(super) fn of_both() -> impl Iterator<Item = Fault> {
    let of = |fault: &Fault| [Tables::Fixed, Tables::Growing].map(|tables| fault.only_in(tables));
    OF_BOTH.iter().flat_map(of)
}
