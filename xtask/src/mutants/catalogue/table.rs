//! Mutants of one table: lookups, inserts, removals, relocations, and what holds all stripes.

use super::super::change::{
    Change::{After, Before, Condition, Delay, Delete, During, Instead, Rebind, Weaken},
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
        Instead("(self.read::<W>(pair).0, true)"),
    ),
    fault(
        "lookup-words-twice",
        "the words are read again instead of the version",
        Instead("(words, words.values() == <[u64; 2]>::load(buckets))"),
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
    fault("insert-relaxed", "`insert` adds by Relaxed", Weaken(Release)),
    fault("search-add-relaxed", "`insert` adds by Relaxed after a search", Weaken(Release)),
    fault(
        "add-plain-store",
        "the word is changed by a plain store",
        Instead("{ word.store(new, Release); true }"),
    ),
    fault("unique-no-lock", "`insert_unique` takes no lock", During("lock-skipped")),
    fault("unique-relaxed", "`insert_unique` adds by Relaxed", Weaken(Release)),
    fault("unique-lock-kept", "the lock is kept while making room", Delay(2)),
    fault(
        "unique-lock-gap",
        "the lock is released between the scan and the addition",
        Before(
            "if self.count_locked::<L>(&guard, pair) > 0 { return Ok(Some(pair.fingerprint)); }
             drop(guard);
             return self.insert::<L>(pair).map(|()| None);",
        ),
    ),
    fault(
        "unique-two-reads",
        "presence and room are decided by two reads",
        Before("return if self.add::<L>(pair) { Addition::Added } else { Addition::NoRoom };"),
    ),
    fault(
        "unique-no-second-scan",
        "no scan after making room",
        After("if made_room.is_ok() && self.add::<L>(pair) { return Ok(None); }"),
    ),
    fault("unique-no-last-scan", "no scan before `Full` is returned", After("made_room?;")),
    // Removals.
    fault("remove-no-lock", "`remove` takes no lock", During("lock-skipped")),
    fault("remove-no-bump", "a removal does not bump the version", Delete),
    fault(
        "remove-late-bump",
        "a removal bumps the version after the clearing",
        Before(
            "let cleared = self.clear_slot::<L>(guard, bucket, word, pattern, incoming);
             guard.bump();
             return cleared;",
        ),
    ),
    fault("remove-bump-relaxed", "a removal bumps the version by Relaxed", Weaken(Release)),
    fault("remove-clear-relaxed", "a removal clears by Relaxed", Weaken(Release)),
    fault("remove-not-cleared", "`remove` returns `true` and clears nothing", Instead("true")),
    fault(
        "clear-slot-drops-incoming",
        "the incoming fingerprint is not stored",
        Instead("L::without(word, pattern)"),
    ),
    fault(
        "clear-slot-retry-drops-incoming",
        "the incoming fingerprint is not stored if the compare-and-swap is retried",
        Instead("{ return self.clear_slot::<L>(_guard, bucket, now, pattern, None); }"),
    ),
    fault(
        "clear-slot-plain-store",
        "the slot is cleared by a plain store",
        Before("self.buckets.bucket(bucket).store(new, Release); return true;"),
    ),
    // Relocations.
    fault("relocate-no-lock", "a move takes no lock", During("lock-skipped")),
    fault("relocate-unlocked-validation", "a plan is validated before the lock is taken", Delay(3)),
    fault("relocate-stale-plan", "a stale plan is not noticed", Delete),
    fault("relocate-no-copy", "a move makes no copy", Condition("true")),
    fault(
        "relocate-plain-store",
        "the copy is made by a plain store",
        Condition("{ to.store(new, Release); true }"),
    ),
    fault("relocate-early-bump", "a move bumps the version before the copy", Delay(1)),
    fault("relocate-no-bump", "a move does not bump the version", Delete),
    fault("relocate-late-bump", "a move bumps the version after the clearing", Delay(1)),
    fault("relocate-bump-relaxed", "a move bumps the version by Relaxed", Weaken(Release)),
    fault(
        "relocate-no-bump-incoming",
        "a move that stores an incoming fingerprint does not bump the version",
        Instead("if incoming.is_none() { $ }"),
    ),
    fault(
        "relocate-lock-gap",
        "the lock is released between the copy and the clearing",
        Rebind { name: "guard", value: "drop(guard); self.stripe(step.fingerprint).lock()" },
    ),
    fault("relocate-clear-relaxed", "a move clears by Relaxed", Weaken(Release)),
    fault("relocate-not-cleared", "a move does not clear the source", Delete),
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
    fault("count-no-lock", "`count` takes no lock", During("lock-skipped")),
    fault("count-relaxed", "`count` reads by Relaxed", Weaken(Acquire)),
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
    fault("limit-no-fence", "no fence before the unlocked count for the limit", Delete),
    fault("limit-no-lock", "no lock for the decision on the limit", During("lock-skipped")),
    fault("limit-estimate", "an unlocked estimate decides on the limit", Instead("true")),
    fault(
        "limit-no-validation",
        "the unlocked count for the limit is not validated",
        Instead("(self.read(pair).0, true)"),
    ),
    fault("limit-relaxed", "the unlocked count for the limit reads by Relaxed", Weaken(Acquire)),
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
