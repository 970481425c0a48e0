//! Mutants of expiry in tables that grow.

use super::super::change::{
    Change::{self, After, Before, Condition, Delay, Delete, During, Instead, Rebind, Weaken},
    Fault,
    Half::Acquire,
    Tables, fault,
};

/// The clock of a table that no other thread knows is paused.
const OTHER_PAUSE: Change =
    Instead("Box::leak(Box::new(self.growth.payload().clock(1, Some(1)).unwrap())).pause()");
/// A copy waits for the schedule with all stripes and sweeps held up.
const LATE_RESUME: Change = Before("let _ = self.clock.read(0);");
/// All stripes are released, and others are held in their place, which no other thread knows.
const STRIPES_RELEASED: Change = Rebind {
    name: "stripes",
    value: "{
                drop(stripes);
                Box::leak(Box::new(crate::table::Stripes::with_count(1).unwrap())).lock_all()
            }",
};

/// A fault of a statement that both tables share, in those that grow.
const fn growing(name: &'static str, what: &'static str, change: Change) -> Fault {
    fault(name, what, change).only_in(Tables::Growing)
}

pub(super) const FAULTS: &[Fault] = &[
    // Lookups.
    fault("split-age-late-now", "a lookup first reads the generation after the words", Delay(1)),
    fault("split-age-now-relaxed", "a lookup reads the generation by Relaxed", Weaken(Acquire)),
    fault(
        "split-age-late-version",
        "a lookup first reads the version after the words",
        During("read-late-version, growing"),
    ),
    fault(
        "split-age-version-relaxed",
        "a lookup reads the version by Relaxed",
        During("read-version-relaxed, growing"),
    ),
    fault(
        "split-age-words-relaxed",
        "a lookup reads the words by Relaxed",
        During("read-words-relaxed, growing"),
    ),
    fault(
        "split-age-first-only",
        "a lookup does not look at the second location",
        During("read-first-only, growing"),
    ),
    fault(
        "split-age-no-now-validation",
        "a miss does not validate the generation",
        Condition("reading.is_valid()"),
    ),
    fault(
        "split-age-no-version-validation",
        "a miss does not validate the version",
        Condition("{ let _ = reading; self.clock.validate(now) }"),
    ),
    // Refreshes and removals where slots differ in what they know.
    growing("refresh-unnoted", "a refresh is not noted", Delete),
    growing(
        "refresh-longest",
        "a refresh takes the slot that knows most, whatever its age is",
        Instead("marked::<S, L>(words, marks).max()"),
    ),
    growing(
        "age-remove-shortest",
        "a removal takes the slot that knows least",
        Instead("found.into_iter().chain([(knowledge, copy.place, copy.slot)]).min()"),
    ),
    growing(
        "age-remove-despite-newer",
        "a removal takes a slot though a newer one, which may have been refreshed, knows more",
        Condition("false"),
    ),
    growing(
        "age-remove-newer-refused",
        "a newer slot that knows more keeps a removal from taking one, though none was refreshed",
        Condition("knowledge < newer"),
    ),
    // Slots that are cleared or replaced.
    growing("split-age-remove-uncounted", "`remove_of` does not count the item", Delete),
    // Sweeps.
    fault(
        "split-sweep-no-children",
        "a sweep leaves out the buckets beyond its end",
        Condition("true"),
    ),
    growing("advance-ghosts-stay", "ghosts count as such when they have expired", Delete),
    // Splits.
    fault("split-grow-no-sweep", "an insert splits without a sweep before", Delete),
    fault(
        "sweep-before-split-no-lock",
        "a sweep before a split takes no lock",
        Before(
            "let now = self.now(); self.sweep_locked((now, self.end()), buckets, sweep); return;",
        ),
    ),
    fault(
        "sweep-before-split-early-now",
        "a sweep before a split reads the generation before it takes the lock",
        Before(
            "let now = self.now();
             if let Some(_sweeping) = self.sweeping.try_lock() {
                 self.sweep_locked((now, self.end()), buckets, sweep);
             }
             return;",
        ),
    ),
    fault("split-early-now", "a split reads the generation before it takes the lock", Delay(1)),
    fault(
        "split-out-of-turn-early-now",
        "a split out of turn reads the generation before it takes the lock",
        Delay(1),
    ),
    fault("split-carries-expired", "a split carries over what has expired", Instead("word")),
    fault("split-sweeps-uncounted", "a split does not count what it sweeps", Delete),
    fault(
        "split-ghost-stamps-uncounted",
        "a split does not count the stamps of the slots that it copies",
        Delete,
    ),
    fault("split-stamp-ghosts-uncounted", "a split does not count the ghosts with a stamp", Delete),
    // Moves.
    fault(
        "split-cleared-stamps-counted",
        "a move does not count the stamps of the ghosts that it clears",
        Delete,
    ),
    fault(
        "split-cleared-stamp-ghosts-counted",
        "a move does not count the ghosts with a stamp that it clears",
        Delete,
    ),
    // Whole tables.
    fault("split-clone-no-pause", "a clone does not hold up sweeps", OTHER_PAUSE),
    fault("split-copy-no-pause", "a snapshot does not hold up sweeps", OTHER_PAUSE),
    fault("split-clear-no-pause", "`clear` does not hold up sweeps", OTHER_PAUSE),
    fault(
        "split-clone-late-resume",
        "a clone holds up sweeps while it waits for the schedule",
        LATE_RESUME,
    )
    .may_hang(),
    fault(
        "split-copy-late-resume",
        "a snapshot holds up sweeps while it waits for the schedule",
        LATE_RESUME,
    )
    .may_hang(),
    fault(
        "split-clone-early-now",
        "a clone reads the generation before the words",
        Before(
            "let (now, sweep) = self.clock_of_copy();
             if let Some(size) = self.copy_into(&stripes, &mut copy.buckets) {
                 let (splits, ghosts) = (self.occupancy.splits(), self.ghosts_in(sweep.as_ref()));
                 drop((stripes, paused));
                 break (size, splits, ghosts, self.clock.read(now).zip(sweep));
             }",
        ),
    ),
    fault(
        "split-copy-early-now",
        "a snapshot reads the generation before the words",
        Instead(
            "{
                 let early = self.clock_of_copy();
                 self.copy_image(size, image, &mut copy);
                 early
             }",
        ),
    ),
    fault(
        "split-copy-two-generations",
        "a snapshot reads the generation again after the state of the sweep",
        Instead("{ let (_, sweep) = self.clock_of_copy(); (self.clock_of_copy().0, sweep) }"),
    ),
    fault(
        "split-clone-late-clock",
        "a clone reads the ghosts with each stamp after it has released the stripes",
        STRIPES_RELEASED,
    ),
    fault("split-clone-other-time", "a clone starts in the generation of an empty table", Delete),
    fault(
        "split-clone-other-sweep",
        "a clone does not take over the sweep",
        After("copy.clock.set_sweep(&SweepState::default());"),
    ),
    fault(
        "sweep-state-before-begin",
        "a copy takes over the sweep that has ended, of the generation before",
        Condition("true"),
    ),
    fault("sweep-state-ghosts-stay", "a copy takes over ghosts that have expired", Delete),
    fault("split-clear-age-uncounted", "`clear` does not count the stamps", Delete),
    fault("split-clear-ghosts-stay", "`clear` does not count the ghosts with each stamp", Delete),
];
