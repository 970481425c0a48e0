//! Mutants of the steps that tables of a fixed size and tables that grow share. The models of
//! either must notice them.

use super::super::change::{
    Change::{self, After, Before, Condition, Delay, Delete, During, Instead, Rebind, Weaken},
    Fault,
    Half::{Acquire, Release},
    Tables, fault,
};

/// The lock of another stripe for an item. The version is that of the right one.
const OTHER_LOCK: Change = Instead("self.stripes.under_another_lock(self.stripe::<L>(&item))");

/// A fault of tables that grow alone, in a step of both.
const fn growing(name: &'static str, what: &'static str, change: Change) -> Fault {
    fault(name, what, change).only_in(Tables::Growing)
}

/// Steps in tables of both kinds, whatever their slots hold.
const STEPS: &[Fault] = &[
    // Reads of both words.
    fault(
        "read-wrong-stripe",
        "a lookup reads the version of another stripe",
        Instead("self.stripes.another(self.stripe::<L>(item))"),
    ),
    fault("read-late-version", "the version is first read after the words", Delay(1)),
    fault("read-version-relaxed", "a lookup reads the version by Relaxed", Weaken(Acquire)),
    fault("read-words-relaxed", "a lookup reads the words by Relaxed", Weaken(Acquire)),
    fault(
        "read-first-only",
        "the second location is not looked at",
        Instead("[self.space.load_both(item)[0]; 2]"),
    ),
    // Inserts.
    fault("insert-relaxed", "`insert` adds by Relaxed", Weaken(Release)),
    fault(
        "add-plain-store",
        "the word is changed by a plain store",
        Instead("{ self.space.bucket(bucket).store(new, Release); true }"),
    ),
    // Inserts of what is absent.
    fault("absent-no-lock", "it takes no lock", During("lock-skipped")),
    fault(
        "absent-wrong-lock",
        "it takes another stripe's lock",
        Instead("self.stripes.under_another_lock(self.stripe::<L>(item))"),
    ),
    fault("absent-load-relaxed", "it reads by Relaxed", Weaken(Acquire)),
    fault("absent-relaxed", "it adds by Relaxed", Weaken(Release)),
    fault("absent-lock-kept", "the lock is kept while making room", Delay(2)),
    fault(
        "absent-two-reads",
        "presence and room are decided by two reads",
        Rebind { name: "words", value: "self.space.load_both_to_change(item)" },
    ),
    fault(
        "absent-no-second-scan",
        "no scan after making room",
        After(
            "if made_room.is_ok() {
                 let now = self.clock.now();
                 let words = self.space.load_both_to_change(item);
                 let swept = Self::SWEEPS.then_some(now);
                 if self.try_add::<L>(&self.stamped(*item, now), words, swept) == Some(true) {
                     S::count_added(self);
                     return Ok(Ok(now));
                 }
             }",
        ),
    ),
    fault("absent-no-last-scan", "no scan before an error is returned", After("made_room?;")),
    fault("unique-no-lock", "`insert_unique` takes no lock", During("absent-no-lock")),
    fault(
        "unique-wrong-lock",
        "`insert_unique` takes another stripe's lock",
        During("absent-wrong-lock"),
    ),
    fault("unique-load-relaxed", "`insert_unique` reads by Relaxed", During("absent-load-relaxed")),
    fault("unique-relaxed", "`insert_unique` adds by Relaxed", During("absent-relaxed")),
    fault(
        "unique-lock-kept",
        "`insert_unique` keeps the lock while making room",
        During("absent-lock-kept"),
    ),
    fault(
        "unique-two-reads",
        "`insert_unique` decides presence and room by two reads",
        During("absent-two-reads"),
    ),
    fault(
        "unique-no-second-scan",
        "`insert_unique` does not look again when it has made room",
        During("absent-no-second-scan"),
    ),
    fault(
        "unique-no-last-scan",
        "`insert_unique` does not look again before it returns an error",
        During("absent-no-last-scan"),
    ),
    // Removals.
    fault("remove-no-lock", "`remove` takes no lock", During("lock-skipped")),
    fault("remove-wrong-lock", "`remove` takes another stripe's lock", OTHER_LOCK),
    fault("remove-load-relaxed", "a removal reads by Relaxed", Weaken(Acquire)),
    fault("remove-no-bump", "a removal does not bump the version", Delete),
    fault(
        "remove-late-bump",
        "a removal bumps the version after the clearing",
        Before(
            "let cleared = self.try_change(found) || self.clear_again::<L>(guard, item, value);
             guard.bump();
             return cleared;",
        ),
    ),
    fault("remove-bump-relaxed", "a removal bumps the version by Relaxed", Weaken(Release)),
    fault("remove-clear-relaxed", "a removal clears by Relaxed", Weaken(Release)),
    fault(
        "remove-plain-store",
        "a removal clears by a plain store",
        Instead("{ self.space.bucket(bucket).store(new, Release); true }"),
    ),
    fault(
        "remove-not-cleared",
        "`remove` returns `true` and clears nothing",
        Instead("{ let _ = found; true }"),
    ),
    fault(
        "change-drops-new",
        "what is to replace a slot is not stored",
        Instead("S::with_changed(word, slot, None)"),
    ),
    fault(
        "change-plain-store",
        "a slot is cleared or replaced by a plain store",
        Before("self.space.bucket(bucket).store(changed, Release); return Ok(());"),
    ),
    // Moves.
    fault("relocate-no-lock", "a move takes no lock", During("lock-skipped")),
    fault(
        "relocate-wrong-lock",
        "a move takes another stripe's lock",
        Instead(
            "self.stripes
                 .under_another_lock(self.space.stripe_of_move(&self.stripes, step))",
        ),
    ),
    fault("relocate-unlocked-validation", "a plan is validated before the lock is taken", Delay(3)),
    fault("relocate-read-relaxed", "a move reads the source by Relaxed", Weaken(Acquire)),
    fault("relocate-early-bump", "a move bumps the version before the copy", Delay(1)),
    fault("relocate-no-copy", "a move makes no copy", Condition("true")),
    fault("relocate-copy-relaxed", "a move copies by Relaxed", Weaken(Release)),
    fault(
        "relocate-plain-store",
        "the copy is made by a plain store",
        Condition("{ self.space.bucket(bucket).store(new, Release); true }"),
    ),
    fault("relocate-no-bump", "a move does not bump the version", Delete),
    fault(
        "relocate-late-bump",
        "a move bumps the version after the clearing",
        Before(
            "let moved = self.clear_original::<L>(&guard, step, (seen, slot), stored);
             guard.bump();
             return moved;",
        ),
    ),
    fault("relocate-bump-relaxed", "a move bumps the version by Relaxed", Weaken(Release)),
    fault(
        "relocate-no-bump-incoming",
        "a move that stores what comes in does not bump the version",
        Instead("if incoming.is_none() { $ }"),
    ),
    fault(
        "relocate-lock-gap",
        "the lock is released between the copy and the clearing",
        Rebind {
            name: "guard",
            value: "{
                drop(guard);
                self.space.stripe_of_move(&self.stripes, step).lock()
            }",
        },
    ),
    fault("relocate-clear-relaxed", "a move clears by Relaxed", Weaken(Release)),
    fault("relocate-not-cleared", "a move does not clear the source", Instead("true")),
    // Copies.
    fault("count-no-lock", "`count` takes no lock", During("lock-skipped")),
    fault("count-wrong-lock", "`count` takes another stripe's lock", OTHER_LOCK),
    fault("count-relaxed", "`count` reads by Relaxed", Weaken(Acquire)),
    fault("limit-no-fence", "no fence before the unlocked count for the limit", Delete),
    fault(
        "limit-version-relaxed",
        "the unlocked count reads the version by Relaxed",
        During("read-version-relaxed"),
    ),
    fault("limit-relaxed", "all counts for the limit read by Relaxed", Weaken(Acquire)),
    fault("limit-estimate", "an unlocked estimate decides on the limit", Instead("true")),
    fault("limit-no-lock", "no lock for the decision on the limit", During("lock-skipped")),
    fault(
        "limit-wrong-lock",
        "another stripe's lock for the decision on the limit",
        During("count-wrong-lock"),
    ),
    fault(
        "limit-no-validation",
        "the unlocked count for the limit is not validated",
        Condition("true"),
    ),
];

/// Steps in tables of both kinds, whose slots hold values.
const VALUES: &[Fault] = &[
    // In tables of a fixed size, only lookups of values read in this way.
    fault("find-no-validation", "the version is not read again", Condition("true")),
    fault(
        "values-late-version",
        "`values` first reads the version after the words",
        During("read-late-version"),
    ),
    fault(
        "values-version-relaxed",
        "`values` reads the version by Relaxed",
        During("read-version-relaxed"),
    ),
    fault(
        "values-words-relaxed",
        "`values` reads the words by Relaxed",
        During("read-words-relaxed"),
    ),
    fault("values-no-validation", "`values` does not validate the version", Condition("true")),
    fault(
        "values-unvalidated-match",
        "`values` validates the version only if it found no match",
        Condition("reading.is_valid() || self.space.marks(&item, words) != [0; 2]"),
    ),
    fault(
        "contains-value-late-version",
        "`contains_value` first reads the version after the words",
        During("read-late-version"),
    ),
    fault(
        "contains-value-version-relaxed",
        "`contains_value` reads the version by Relaxed",
        During("read-version-relaxed"),
    ),
    fault(
        "contains-value-words-relaxed",
        "`contains_value` reads the words by Relaxed",
        During("read-words-relaxed"),
    ),
    fault(
        "contains-value-no-validation",
        "a miss of `contains_value` is not validated",
        During("find-no-validation"),
    ),
    fault("replace-no-lock", "`replace` takes no lock", During("lock-skipped")),
    fault("replace-wrong-lock", "`replace` takes another stripe's lock", OTHER_LOCK),
    fault("replace-load-relaxed", "`replace` reads by Relaxed", During("remove-load-relaxed")),
    fault("replace-no-bump", "a replacement does not bump the version", During("remove-no-bump")),
    fault(
        "replace-late-bump",
        "a replacement bumps the version after it has stored the slot",
        During("remove-late-bump"),
    ),
    fault(
        "replace-bump-relaxed",
        "a replacement bumps the version by Relaxed",
        During("remove-bump-relaxed"),
    ),
    fault(
        "replace-plain-store",
        "a replacement stores the slot by a plain store",
        During("remove-plain-store"),
    ),
    fault(
        "replace-clear-relaxed",
        "a replacement stores the slot by Relaxed",
        During("remove-clear-relaxed"),
    ),
    fault(
        "replace-not-stored",
        "`replace` removes the old value and stores no new one",
        Instead("self.clear_one::<L>(&guard, &item, None)"),
    ),
    fault(
        "relocate-by-key",
        "a move clears a slot with any value",
        Rebind {
            name: "slot",
            value: "{
                let values = crate::table::Payload::value_mask(&self.space.payload());
                let mut left = S::LANES.nonzeros(S::slots(seen.word));
                let mut found = slot;
                while left != 0 {
                    let mark = left & left.wrapping_neg();
                    left ^= mark;
                    let other = S::LANES.slot(seen.word, mark);
                    if other & !values == slot & !values {
                        found = other;
                        break;
                    }
                }
                found
            }",
        },
    ),
    fault(
        "unique-with-value",
        "`get_or_insert` finds only slots with its own value",
        Instead("self.space.changed(item, words, None).and(self.found_in::<L>(now, item, words))"),
    ),
    fault(
        "unique-own-value",
        "`get_or_insert` returns another value than the one that it found",
        Instead("Addition::Found(value ^ 1)"),
    ),
];

/// Steps that find a slot by its key alone, whatever its value is.
const BY_KEY: [(&str, &str); 3] = [
    ("contains-value-by-key", "`contains_value` finds a slot with any value"),
    ("replace-by-key", "a replacement takes a slot with any value"),
    ("remove-by-key", "a removal takes a slot with any value"),
];

/// Steps in tables of both kinds, whose slots expire.
const EXPIRY: &[Fault] = &[
    fault("count-no-now-validation", "`count` does not validate the generation", Condition("true")),
    // `insert_unseen`.
    fault("unseen-no-lock", "`insert_unseen` takes no lock", During("absent-no-lock")),
    fault(
        "unseen-wrong-lock",
        "`insert_unseen` takes another stripe's lock",
        During("absent-wrong-lock"),
    ),
    fault("unseen-add-relaxed", "`insert_unseen` adds by Relaxed", During("absent-relaxed")),
    fault(
        "unseen-no-second-scan",
        "`insert_unseen` does not look again when it has made room",
        During("absent-no-second-scan"),
    ),
    fault(
        "unseen-kept-now",
        "`insert_unseen` keeps the generation while it makes room",
        Instead(
            "{
                 let now = self.clock.now();
                 let made_room = $;
                 if Self::SWEEPS && made_room.is_ok() {
                     let guard = self.stripe::<L>(item).lock();
                     let words = self.space.load_both_to_change(item);
                     let stamped = self.stamped(*item, now);
                     if self.found_in::<L>(now, item, words).is_none()
                         && self.try_add::<L>(&stamped, words, Some(now)) == Some(true)
                     {
                         drop(guard);
                         S::count_added(self);
                         return Ok(Ok(now));
                     }
                 }
                 made_room
             }",
        ),
    ),
    fault(
        "unseen-no-now-validation",
        "`insert_unseen` does not validate the generation",
        Condition("false"),
    ),
    // Inserts into slots that have expired.
    fault(
        "add-swept-no-lock",
        "an insert into full buckets sweeps them without a lock",
        During("lock-skipped"),
    ),
    fault(
        "add-swept-early-now",
        "an insert into full buckets reads the generation before it takes the lock",
        Delay(1),
    ),
    fault("add-swept-relaxed", "an insert into full buckets adds by Relaxed", Weaken(Release)),
    fault("add-swept-uncounted", "an insert does not count what it sweeps", Delete),
    fault("add-age-uncounted", "an insert does not count its stamp", Delete),
    // Sweeps.
    fault(
        "sweep-plain-store",
        "a sweep changes the word by a plain store",
        Condition("{ place.store(new, Release); true }"),
    ),
    fault("sweep-uncounted", "a sweep does not count what it clears", Delete),
    // Moves.
    fault("move-early-now", "a move reads the generation before it takes the lock", Delay(1)),
    fault("move-copies-expired", "a move copies what has expired", Condition("false")),
    fault("move-drop-uncounted", "a move does not count the expired slot that it clears", Delete),
    fault(
        "move-drop-ignores-change",
        "an expired slot that is gone counts as replaced by what comes in",
        Condition("{ let _ = $; false }"),
    ),
    fault(
        "move-drop-incoming-uncounted",
        "a move does not count the stamp of an item in the place of an expired slot",
        Delete,
    ),
    fault("move-sweep-uncounted", "a move does not count what it sweeps", Delete),
    fault(
        "move-ignores-sweep",
        "a slot that was swept counts as replaced by what comes in",
        Instead("{ self.count_copy(slot); true }"),
    ),
    fault("move-uncounted-copy", "a copy whose original was swept is not counted", Delete),
    fault("move-incoming-uncounted", "a move does not count the stamp of what comes in", Delete),
];

/// Steps of both kinds of tables that only make a difference in those that grow.
const GROWING: &[Fault] = &[
    growing("split-insert-uncounted", "`insert` does not count the item", Delete),
    growing("absent-uncounted", "`insert_unique` does not count the item", Delete),
    growing("split-remove-uncounted", "`remove` does not count the item", Delete),
    growing(
        "remove-not-again",
        "a removal does not look again if its word has changed",
        Instead(
            "{
                 let bucket = found.0.bucket;
                 let mut next = found;
                 loop {
                     if self.try_change(next) {
                         break true;
                     }
                     let word = self.space.bucket(bucket).load_to_change(Relaxed);
                     let again = words.map(|seen| {
                         if seen.bucket == bucket { Seen { bucket, word } } else { seen }
                     });
                     match self.space.changed(item, again, value) {
                         Some(found) if found.0.bucket == bucket => next = found,
                         _ => break true,
                     }
                 }
             }",
        ),
    ),
    growing(
        "change-level-ignored",
        "a slot is cleared or replaced at another level",
        Condition("true"),
    ),
    growing(
        "relocate-incoming-assumed",
        "what comes in counts as stored though it was not",
        Instead("{ S::clear_elsewhere(self, guard, step); true }"),
    ),
    growing(
        "move-drop-unoccupied",
        "a move does not count the expired slot that it clears",
        Delete,
    ),
    growing("move-unoccupied-copy", "a copy whose original was swept is not counted", Delete),
];

/// All faults.
pub(super) fn faults() -> impl Iterator<Item = Fault> {
    let of_both = |faults: &'static [Fault], plain: bool| {
        faults.iter().flat_map(move |fault| {
            let fixed = fault.only_in(Tables::Fixed);
            let fixed = if plain { fixed.only_plain() } else { fixed };
            [fixed, fault.only_in(Tables::Growing).only_plain()]
        })
    };
    let of_values = of_both(VALUES, true).chain(of_both(EXPIRY, true));
    let by_key = BY_KEY.iter().flat_map(|&(name, what)| {
        let of = |tables, other| fault(name, what, During(other)).only_in(tables).only_plain();
        [of(Tables::Fixed, "changed-by-key"), of(Tables::Growing, "leveled-any-value")]
    });
    let growing = GROWING.iter().map(|fault| fault.only_plain());
    of_both(STEPS, false).chain(of_values).chain(by_key).chain(growing)
}
