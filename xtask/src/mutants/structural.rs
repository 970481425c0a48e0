//! Faults of the protocol itself: steps left out or misplaced, as changes of the source.
//!
//! A change names a function and the tokens to be replaced in it, which must be there exactly once.
//! White space and comments do not count. Where the source has moved on, the command says so
//! instead of leaving a fault out: none is lost without notice.

use std::ops::Range;

use anyhow::{Context, Result, ensure};

use super::{Edit, Mutant, Source};
use crate::tokens::{flatten, function, the_only};

/// The file with the protocol.
const PROTOCOL: &str = "src/protocol.rs";
/// The file with the locks and the epochs.
const STRIPES: &str = "src/stripes.rs";
const WORD: &str = "src/word/mod.rs";
/// The file with the atomics.
const SYNC: &str = "src/sync/mod.rs";
/// The file with the filter that users see.
const FILTER: &str = "src/filter.rs";

/// A fault to be planted.
struct Fault {
    name: &'static str,
    changes: &'static [Change],
    /// Whether it is made with [`PRETENDED_LOCK`].
    pretends: bool,
    /// Whether running out of time counts as noticing it.
    may_hang: bool,
}

impl Fault {
    /// A fault that leaves a lock out: it may call `pretend()` for `lock()`.
    const fn that_pretends(self) -> Self {
        Self { pretends: true, ..self }
    }

    /// A fault by which a thread may come to wait for itself.
    const fn that_may_hang(self) -> Self {
        Self { may_hang: true, ..self }
    }
}

/// Tokens to be replaced by others.
struct Change {
    path: &'static str,
    /// The function that they are in; anywhere in the file, where it is empty.
    function: &'static str,
    old: &'static str,
    new: &'static str,
}

/// A fault made of these changes.
const fn fault(name: &'static str, changes: &'static [Change]) -> Fault {
    Fault { name, changes, pretends: false, may_hang: false }
}

/// A change inside a function of the protocol.
const fn within(function: &'static str, old: &'static str, new: &'static str) -> Change {
    Change { path: PROTOCOL, function, old, new }
}

/// A change inside a function of the filter.
const fn in_filter(function: &'static str, old: &'static str, new: &'static str) -> Change {
    Change { path: FILTER, function, old, new }
}

/// A change inside a function of the chain.
const fn in_chain(function: &'static str, old: &'static str, new: &'static str) -> Change {
    Change { path: "src/chain.rs", function, old, new }
}

/// Changes that give stripes a method `pretend`, which returns a `Held` without taking the lock.
const PRETENDED_LOCK: [Change; 2] = [
    Change {
        path: STRIPES,
        function: "",
        old: "_guard: LockGuard<'a>",
        new: "_guard: Option<LockGuard<'a>>",
    },
    Change {
        path: STRIPES,
        function: "lock",
        old: "Held { stripe: self, _guard: guard }",
        new: "Held { stripe: self, _guard: Some(guard) }
            }
            pub(crate) fn pretend(&self) -> Held<'_> {
                Held { stripe: self, _guard: None }",
    },
];

/// Every fault.
const FAULTS: &[Fault] = &[
    // Look-ups.
    fault(
        "contains: no second load of the epoch",
        &[within("read", "stripe.is_still(epoch)", "{ let _ = epoch; true }")],
    ),
    fault(
        "contains: the words read again instead of the epoch",
        &[within(
            "read",
            "stripe.is_still(epoch)",
            "{ let _ = epoch; words == buckets.map(|bucket| bucket.load(Acquire)) }",
        )],
    ),
    fault(
        "contains: a second miss is believed",
        &[within("look_closely", "{ return found; }", "{ return found; } return false;")],
    ),
    fault(
        "contains: the epoch first loaded after the words",
        &[
            within("read", "let epoch = stripe.epoch();", ""),
            within(
                "read",
                "let words = words(buckets);",
                "let words = words(buckets);
                 let epoch = stripe.epoch();",
            ),
        ],
    ),
    fault(
        "contains: the second word not looked at",
        &[Change {
            path: WORD,
            function: "either_contains",
            old: "Self::contains(words[0], pattern) | Self::contains(words[1], pattern)",
            new: "Self::contains(words[0], pattern)",
        }],
    ),
    fault(
        "contains: the first word not looked at",
        &[Change {
            path: WORD,
            function: "either_contains",
            old: "Self::contains(words[0], pattern) | Self::contains(words[1], pattern)",
            new: "Self::contains(words[1], pattern)",
        }],
    ),
    // Epochs.
    fault(
        "advance: the epoch stays what it is",
        &[Change { path: STRIPES, function: "advance", old: "epoch + 1", new: "epoch" }],
    ),
    fault(
        "relocate: the epoch advanced before the copy",
        &[
            within(
                "relocate",
                "let held = self.stripe(step.fingerprint).lock();",
                "let held = self.stripe(step.fingerprint).lock(); held.advance();",
            ),
            within("relocate", "held.advance();", ""),
        ],
    ),
    fault(
        "relocate: the epoch advanced after the clear",
        &[within(
            "relocate",
            "held.advance(); self.clear_lane::<L>(&held, step.from, seen, pattern, newcomer);",
            "self.clear_lane::<L>(&held, step.from, seen, pattern, newcomer); held.advance();",
        )],
    ),
    fault("relocate: the epoch never advanced", &[within("relocate", "held.advance();", "")]),
    fault(
        "relocate: the epoch not advanced where a newcomer takes the lane",
        &[within("relocate", "held.advance();", "if newcomer.is_none() { held.advance(); }")],
    ),
    fault("remove: the epoch never advanced", &[within("remove_held", "held.advance();", "")]),
    fault(
        "remove: the epoch advanced after the clear",
        &[within(
            "remove_held",
            "held.advance(); self.clear_lane::<L>(held, bucket, word, pattern, None);",
            "self.clear_lane::<L>(held, bucket, word, pattern, None); held.advance();",
        )],
    ),
    // Locks.
    fault("remove: no lock", &[within("remove", ".lock()", ".pretend()")]).that_pretends(),
    fault("insert_unique: no lock", &[within("insert_unique", ".lock()", ".pretend()")])
        .that_pretends(),
    fault("count: no lock", &[within("count", ".lock()", ".pretend()")]).that_pretends(),
    fault("relocate: no lock", &[within("relocate", ".lock()", ".pretend()")]).that_pretends(),
    fault("only_copies: no lock", &[within("only_copies", ".lock()", ".pretend()")])
        .that_pretends(),
    fault(
        "only_copies: a glance taken for the verdict",
        &[within(
            "only_copies",
            "self.count_held::<L>(&held, pair) == lanes_of::<L>(pair)",
            "{ let _ = held; true }",
        )],
    ),
    fault(
        "insert_unique: the lock kept while it makes room",
        &[
            within(
                "insert_unique",
                "let (mut room_was_made, mut made) = (Ok(()), Made::none());",
                "let (mut room_was_made, mut made) = (Ok(()), Made::none());
                 let _held = self.stripe(pair.fingerprint).lock();",
            ),
            within(
                "insert_unique",
                "let held = self.stripe(pair.fingerprint).lock();",
                "let held = self.stripe(pair.fingerprint).pretend();",
            ),
        ],
    )
    .that_pretends()
    .that_may_hang(),
    fault(
        "insert_unique: the lock let go between the scan and the adding",
        &[within(
            "insert_unique",
            "if let Some(added) = self.add_absent::<L>(&held, pair) {
                     if added { self.counters.settled(&made); }
                     return Ok(added);
                 }
                 drop(held);",
            "let there = self.count_held::<L>(&held, pair) > 0;
                 drop(held);
                 if there { return Ok(false); }
                 if self.add::<L>(pair) { return Ok(true); }",
        )],
    ),
    fault(
        "add_absent: presence and room judged by two looks",
        &[
            within("add_absent", "loop", ""),
            within(
                "add_absent",
                "if self.try_add::<L>(pair, words)? { return Some(true); }",
                "self.add::<L>(pair).then_some(true)",
            ),
        ],
    ),
    fault(
        "insert_unique: no second scan once it has made room",
        &[within(
            "insert_unique",
            "room_was_made = self.make_room::<L>(pair, &mut made);",
            "room_was_made = self.make_room::<L>(pair, &mut made);
             if room_was_made.is_ok() && self.add::<L>(pair) { return Ok(true); }",
        )],
    ),
    fault(
        "insert_unique: no last scan before it says that the table is full",
        &[within(
            "insert_unique",
            "room_was_made = self.make_room::<L>(pair, &mut made);",
            "self.make_room::<L>(pair, &mut made)?; room_was_made = Ok(());",
        )],
    ),
    fault(
        "relocate: the lock let go between the copy and the clear",
        &[within(
            "relocate",
            "held.advance();",
            "drop(held); let held = self.stripe(step.fingerprint).lock(); held.advance();",
        )],
    ),
    // Moves.
    fault(
        "relocate: a stale plan not noticed",
        &[within("relocate", "if !L::contains(seen, pattern) { return false; }", "")],
    ),
    fault(
        "relocate: the plan re-validated before the lock is taken",
        &[
            within("relocate", "let held = self.stripe(step.fingerprint).lock();", ""),
            within(
                "relocate",
                "if !L::contains(seen, pattern) { return false; }",
                "if !L::contains(seen, pattern) { return false; }
                 let held = self.stripe(step.fingerprint).lock();",
            ),
        ],
    ),
    fault(
        "relocate: no copy made",
        &[within(
            "relocate",
            "to.compare_exchange(word, new, Release, Relaxed).is_ok()",
            "{ let _ = new; true }",
        )],
    ),
    fault(
        "relocate: the source not cleared",
        &[within(
            "relocate",
            "self.clear_lane::<L>(&held, step.from, seen, pattern, newcomer);",
            "let _ = newcomer;",
        )],
    ),
    fault(
        "relocate: the copy made by a plain store",
        &[within(
            "relocate",
            "to.compare_exchange(word, new, Release, Relaxed).is_ok()",
            "{ to.store(new, Release); true }",
        )],
    ),
    fault(
        "follow: a move that failed reported as room for the newcomer",
        &[within(
            "follow",
            "if !self.relocate::<L>(step, newcomer) { return false; }",
            "if !self.relocate::<L>(step, newcomer) { return true; }",
        )],
    ),
    fault(
        "clear_lane: the newcomer forgotten",
        &[within(
            "clear_lane",
            "Some(fingerprint) => L::replace(word, pattern, fingerprint)",
            "Some(_) => L::without(word, pattern)",
        )],
    ),
    fault(
        "clear_lane: the lane cleared by a plain store",
        &[within(
            "clear_lane",
            "self.table.bucket(bucket).compare_exchange(word, new, Release, Relaxed)",
            "{ self.table.bucket(bucket).store(new, Release); Ok::<(), u64>(()) }",
        )],
    ),
    // Adding, removing, counting.
    fault(
        "try_add: the word changed by a plain store",
        &[within(
            "try_add",
            "word.compare_exchange(seen, new, Release, Relaxed).is_ok()",
            "{ word.store(new, Release); true }",
        )],
    ),
    fault(
        "remove: says true and takes nothing out",
        &[within("remove_held", "self.clear_lane::<L>(held, bucket, word, pattern, None);", "")],
    ),
    fault(
        "copies: one bucket counted twice",
        &[within(
            "copies",
            "if first == second { count(first) } else { count(first) + count(second) }",
            "count(first) + count(second)",
        )],
    ),
    fault(
        "copies: the second bucket not counted",
        &[within(
            "copies",
            "if first == second { count(first) } else { count(first) + count(second) }",
            "{ let _ = second; count(first) }",
        )],
    ),
    // The number of items.
    fault("insert_hash: not counted", &[in_filter("insert_hash", "self.items.add(1);", "")]),
    fault(
        "insert_unique_hash: counted also where nothing was added",
        &[in_filter("insert_unique_hash", "if added { self.items.add(1); }", "self.items.add(1);")],
    ),
    fault(
        "remove_hash: counted also where nothing was removed",
        &[in_filter("remove_hash", "if removed { self.items.add(-1); }", "self.items.add(-1);")],
    ),
    fault(
        "Tally: counted by a load and a store",
        &[Change {
            path: SYNC,
            function: "",
            old: "self.0.fetch_add(change, Relaxed);",
            // The load is a read-modify-write for the sake of loom, as in `load_to_change`.
            new: "let old = self.0.fetch_add(0, Relaxed); self.0.store(old + change, Relaxed);",
        }],
    ),
    // Growth.
    fault(
        "chain, remove: from the first segment on",
        &[in_chain("remove", "self.segments().rev().any", "self.segments().any")],
    ),
    fault(
        "chain, contains: no second load of the epoch",
        &[in_chain("contains", "stripe.is_still(epoch)", "{ let _ = epoch; true }")],
    ),
    fault(
        "chain, contains: the last segment alone",
        &[in_chain("contains", "self.segments().rev().any", "self.segments().rev().take(1).any")],
    ),
    fault(
        "chain: no lock",
        &[in_chain(
            "lock",
            "self.stripes.of(first.pair(mixed).fingerprint).lock()",
            "self.stripes.of(first.pair(mixed).fingerprint).pretend()",
        )],
    )
    .that_pretends(),
    fault(
        "chain, insert_unique: the segments looked for before the lock is taken",
        &[
            in_chain("insert_unique", "let held = self.lock(mixed);", ""),
            in_chain(
                "insert_unique",
                "let (number, last, mut rest) = self.last_and_rest();",
                "let (number, last, mut rest) = self.last_and_rest();
                 let held = self.lock(mixed);",
            ),
        ],
    ),
    fault(
        "chain, insert_unique: the last segment alone looked at",
        &[in_chain(
            "insert_unique",
            "if rest.clone().any(|segment| segment.contains(mixed)) { return Ok(false); }",
            "",
        )],
    ),
    fault(
        "chain, insert_unique: no segment appended",
        &[in_chain("insert_unique", ".or_else(|_| self.append(number + 1))", "")],
    ),
    fault(
        "add_within_half: a glance taken for the verdict",
        &[within(
            "add_within_half",
            "if many(self.count_held::<L>(&held, pair))",
            "let _ = &held;",
        )],
    ),
    fault(
        "chain: every segment has stripes of its own",
        &[Change {
            path: "src/shared.rs",
            function: "sharing",
            old: "stripes: stripes.clone()",
            new: "stripes: { let _ = stripes; Stripes::new(1) }",
        }],
    ),
    fault(
        "chain: a segment's stripe follows from its own fingerprint",
        &[Change {
            path: "src/chain/nested.rs",
            function: "of_stripe",
            old: "fingerprint.get() >> self.extra_bits",
            new: "fingerprint.get()",
        }],
    ),
    fault(
        "SetOnce: the second value takes the place of the first",
        &[Change {
            path: "src/sync/set_once.rs",
            function: "set",
            old: "self.0.compare_exchange(ptr::null_mut(), inner, Release, Relaxed).is_err()",
            new: "{ self.0.store(inner, Release); let _ = Relaxed; false }",
        }],
    ),
    fault(
        "SpinLock: who is refused opens it",
        &[Change {
            path: "src/sync/spin.rs",
            function: "try_lock",
            old: "taken.then(|| SpinGuard(self))",
            new: "taken.then_some(SpinGuard(self))",
        }],
    ),
    // Snapshots.
    fault(
        "copy_words: the locks not taken",
        &[within("copy_words", "let _held = self.stripes.lock_all();", "")],
    ),
    fault(
        "copy_words: the locks given back before the words are read",
        &[within(
            "copy_words",
            "let _held = self.stripes.lock_all();",
            "drop(self.stripes.lock_all());",
        )],
    ),
    fault(
        "copy_words: one lock not taken",
        &[Change {
            path: STRIPES,
            function: "lock_all",
            old: "self.stripes.iter().map(Stripe::lock).collect()",
            new: "self.stripes.iter().skip(1).map(Stripe::lock).collect()",
        }],
    ),
    fault(
        "copy_words: the locks taken in no order",
        &[Change {
            path: STRIPES,
            function: "lock_all",
            old: "self.stripes.iter().map(Stripe::lock).collect()",
            new: "{
                use std::sync::atomic::{AtomicBool, Ordering};
                static TURN: AtomicBool = AtomicBool::new(false);
                let mut all: Vec<_> = self.stripes.iter().collect();
                if TURN.fetch_xor(true, Ordering::Relaxed) { all.reverse(); }
                all.into_iter().map(Stripe::lock).collect()
            }",
        }],
    ),
];

/// One mutant for every fault.
pub(super) fn mutants(sources: &[Source]) -> Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    let mut outdated = Vec::new();
    for fault in FAULTS {
        match mutant(fault, sources) {
            Ok(mutant) => mutants.push(mutant),
            Err(error) => outdated.push(format!("{}: {error:#}", fault.name)),
        }
    }
    ensure!(
        outdated.is_empty(),
        "structural mutants that do not fit the source:\n{}",
        outdated.join("\n")
    );
    Ok(mutants)
}

/// The mutant of a fault, as the source stands.
fn mutant(fault: &Fault, sources: &[Source]) -> Result<Mutant> {
    let helpers: &[Change] = if fault.pretends { &PRETENDED_LOCK } else { &[] };
    let changes = fault.changes.iter().chain(helpers);
    let found = changes.map(|change| find(change, sources)).collect::<Result<Vec<_>>>()?;
    let place = found.first().context("no changes")?.0.clone();
    let edits = found.into_iter().map(|(_, edit)| edit).collect();
    let name = fault.name.to_owned();
    Ok(Mutant { place, name, edits, may_hang: fault.may_hang, explanation: None })
}

/// Where a change is to be made, for people and for the machine.
fn find(change: &Change, sources: &[Source]) -> Result<(String, Edit)> {
    let Change { path, function, old, new } = change;
    let source = sources
        .iter()
        .find(|source| source.path == *path)
        .with_context(|| format!("there is no {path}"))?;
    let (place, range) = find_tokens(&source.text, function, old)
        .with_context(|| format!("looking for `{old}` in {path}"))?;
    let edit = Edit { path: source.path.clone(), range, new: (*new).to_owned() };
    Ok((format!("{path}:{place}"), edit))
}

/// The place and the bytes of these tokens in a text, where they stand once in this function.
fn find_tokens(text: &str, within: &str, wanted: &str) -> Result<(String, Range<usize>)> {
    let tokens = flatten(text)?;
    let tokens = if within.is_empty() { &tokens[..] } else { &tokens[function(&tokens, within)?] };
    let wanted = flatten(wanted)?;
    ensure!(!wanted.is_empty(), "nothing to look for");
    let texts: Vec<&str> = wanted.iter().map(|token| token.text.as_str()).collect();
    let place = the_only(tokens, &texts).with_context(|| format!("in `{within}`"))?;
    let (first, last) = (&tokens[place.start], &tokens[place.end - 1]);
    let place = format!("{}:{}", first.line, first.column);
    Ok((place, first.range.start..last.range.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_in_its_function_across_comments() {
        let text = "fn a() { x.lock(); }\nfn b() { x // why\n .lock(\n); y }";
        let (place, range) = find_tokens(text, "b", "x.lock();").unwrap();
        assert_eq!((place.as_str(), &text[range]), ("2:10", "x // why\n .lock(\n);"));
        assert!(find_tokens(text, "", "x.lock();").is_err(), "twice in the file");
        assert!(find_tokens(text, "b", "z").is_err());
    }
}
