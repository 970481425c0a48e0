//! What the models share: runs with a minimum of executions and a set of expected outcomes, and
//! small tables in which a model chooses where each fingerprint is.
//!
//! A model that cannot fail proves nothing. So [`check`] also fails if fewer schedules were
//! explored than the model's floor, or if an outcome that must be possible was never seen.

#[cfg(not(loom))]
compile_error!(
    "run the models from the folder loom-tests, with no RUSTFLAGS set: its .cargo/config.toml sets \
     `--cfg loom`, and an outer RUSTFLAGS replaces that"
);

use std::{
    collections::BTreeSet,
    io::Write,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

use guira::raw::{Addressing, BucketLayout, Fingerprint, Move, Pair, Table};

pub mod chain;
pub mod expiry;
pub mod growing_maps;
pub mod values;

/// The layout of the models. With two slots per bucket, a bucket is full after two inserts. With 8
/// bits, there are fingerprints for every pair of buckets. The feature `semi-sorted` selects the
/// semi-sorted layout.
#[cfg(not(feature = "semi-sorted"))]
pub type L = guira::raw::Plain<2, 8>;
#[cfg(feature = "semi-sorted")]
#[allow(missing_docs, reason = "as above")]
pub type L = guira::raw::SemiSorted<2, 8>;

/// Largest number of preemptions in a schedule, unless `GUIRA_LOOM_BOUND` is set.
const DEFAULT_BOUND: usize = 2;

/// The outcomes that a model has seen over all its executions. loom does not know of them: they are
/// kept by std's atomics.
#[derive(Debug)]
pub struct Seen {
    executions: AtomicUsize,
    outcomes: Mutex<BTreeSet<&'static str>>,
}

impl Seen {
    /// Notes that an outcome was seen.
    ///
    /// # Panics
    /// Never: the lock is not held over anything that panics.
    pub fn note(&self, outcome: &'static str) {
        self.outcomes.lock().expect("no panics under this lock").insert(outcome);
    }

    /// Notes one of two outcomes, and returns the condition.
    pub fn note_if(&self, condition: bool, yes: &'static str, no: &'static str) -> bool {
        self.note(if condition { yes } else { no });
        condition
    }
}

/// The bound on preemptions: `GUIRA_LOOM_BOUND`, a number or `none`.
fn bound() -> Option<usize> {
    match std::env::var("GUIRA_LOOM_BOUND") {
        Ok(text) if text == "none" => None,
        Ok(text) => Some(text.parse().expect("GUIRA_LOOM_BOUND is a number or `none`")),
        Err(_) => Some(DEFAULT_BOUND),
    }
}

/// Explores a model and prints one line about it. Fails unless it explored at least `floor`
/// executions and saw all of `outcomes` and no other.
///
/// The floor is about 0.8 of the executions with two preemptions. Change it with the model, or with
/// the steps of the protocol.
///
/// If `GUIRA_LOOM_ASSERTIONS_ONLY` is set, only the model's own assertions count: mutants of the
/// library must violate these, and not just explore less.
///
/// # Panics
/// If the model fails, or explored too little.
pub fn check(
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    model: impl Fn(&Arc<Seen>) + Send + Sync + 'static,
) {
    check_within(bound(), name, floor, outcomes, model);
}

/// As [`check`], with at least this many preemptions, for errors that need more than two.
///
/// # Panics
/// If the model fails, or explored too little.
pub fn check_deep(
    preemptions: usize,
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    model: impl Fn(&Arc<Seen>) + Send + Sync + 'static,
) {
    let bound = bound().map(|bound| bound.max(preemptions));
    check_within(bound, name, floor, outcomes, model);
}

/// As [`check`], with one preemption fewer, for models of long operations.
///
/// # Panics
/// If the model fails, or explored too little.
pub fn check_shallow(
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    model: impl Fn(&Arc<Seen>) + Send + Sync + 'static,
) {
    check_within(bound().map(|bound| bound - 1), name, floor, outcomes, model);
}

/// Implements [`check`], [`check_deep`] and [`check_shallow`].
fn check_within(
    bound: Option<usize>,
    name: &str,
    floor: usize,
    outcomes: &[&'static str],
    model: impl Fn(&Arc<Seen>) + Send + Sync + 'static,
) {
    let seen = Arc::new(Seen { executions: AtomicUsize::new(0), outcomes: Mutex::default() });
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.max_branches = 100_000;
    let inside = Arc::clone(&seen);
    let started = std::time::Instant::now();
    builder.check(move || {
        inside.executions.fetch_add(1, SeqCst);
        model(&inside);
    });
    let executions = seen.executions.load(SeqCst);
    let printed_bound = bound.map_or("none".into(), |bound| bound.to_string());
    let found = seen.outcomes.lock().expect("no panics under this lock").clone();
    // The test harness does not capture direct writes to standard output. One write, one line.
    let seconds = started.elapsed().as_secs_f64();
    let outcomes_seen = found.iter().copied().collect::<Vec<_>>().join(", ");
    let line = format!(
        "model {name}: {executions} executions, bound {printed_bound}; {seconds:.1} s; \
         seen: {outcomes_seen}\n"
    );
    std::io::stdout().write_all(line.as_bytes()).expect("standard output");
    if std::env::var_os("GUIRA_LOOM_ASSERTIONS_ONLY").is_some() {
        return;
    }
    assert!(executions > 1, "{name}: explored one execution, which proves nothing");
    assert!(executions >= floor, "{name}: explored {executions} executions, fewer than {floor}");
    if bound.is_none() {
        // Without a bound loom skips schedules that differ from others only in the order of steps
        // between which it sees no conflict, and with them some outcomes.
        return;
    }
    let expected: BTreeSet<_> = outcomes.iter().copied().collect();
    assert_eq!(found, expected, "{name}: the outcomes seen are not those that must be possible");
}

/// Runs one thread of a model.
pub fn spawn<R: 'static>(
    table: &loom::sync::Arc<Table>,
    work: impl FnOnce(&Table) -> R + 'static,
) -> loom::thread::JoinHandle<R> {
    let table = table.clone();
    loom::thread::spawn(move || work(&table))
}

/// When a lookup can run relative to a writer: see [`spawn_reader`].
pub const EVERY_WAY: &[&str] = &["before", "during", "after"];

/// Runs a thread that looks up a pair and checks that it is found. Notes when the lookup ran,
/// relative to the writer that sets `done` at its end.
///
/// # Panics
/// In the thread, if the pair is not found.
pub fn spawn_reader(
    table: &loom::sync::Arc<Table>,
    seen: &Arc<Seen>,
    done: &Mark,
    pair: Pair,
) -> loom::thread::JoinHandle<()> {
    let (seen, done) = (seen.clone(), done.clone());
    spawn(table, move |table| {
        let was_done = done.is_set();
        assert!(table.contains::<L>(pair), "an item that is in the table throughout was missed");
        seen.note(done.relative_to(was_done));
    })
}

/// A point that a thread has reached. As with [`Seen`], loom does not know of it.
#[derive(Clone, Debug, Default)]
pub struct Mark(Arc<AtomicBool>);

impl Mark {
    /// Notes that the point was reached.
    pub fn set(&self) {
        self.0.store(true, SeqCst);
    }

    /// Returns whether the point was reached.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(SeqCst)
    }

    /// Returns when an operation that just ended ran relative to this point: one of [`EVERY_WAY`].
    /// `was_set` is whether the point was reached when it began.
    #[must_use]
    pub fn relative_to(&self, was_set: bool) -> &'static str {
        match (was_set, self.is_set()) {
            (true, _) => "after",
            (false, true) => "during",
            (false, false) => "before",
        }
    }
}

/// Returns a table of this many empty buckets.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn table(buckets: u64) -> Table {
    Table::new(Addressing::new(buckets), false).expect("memory for a few words")
}

/// Returns the `nth` fingerprint of a stripe whose alternate bucket, from `bucket`, is `alternate`.
///
/// Models have two stripes, so fingerprints of one parity share a stripe.
///
/// # Panics
/// If the layout has too few fingerprints.
#[must_use]
pub fn fingerprint(
    table: &Table,
    bucket: u32,
    alternate: u32,
    stripe: u32,
    nth: usize,
) -> Fingerprint {
    (L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT)
        .filter(|value| value % 2 == stripe)
        .map(Fingerprint::new)
        .filter(|&fingerprint| table.addressing().alt_bucket(fingerprint, bucket) == alternate)
        .nth(nth)
        .expect("a fingerprint for these buckets")
}

/// Returns the pair of a fingerprint, starting from one of its buckets.
#[must_use]
pub fn pair(table: &Table, fingerprint: Fingerprint, bucket: u32) -> Pair {
    Pair { fingerprint, buckets: [bucket, table.addressing().alt_bucket(fingerprint, bucket)] }
}

/// Puts a copy of a fingerprint into each of these buckets.
///
/// # Panics
/// If a bucket is full.
pub fn put_each(table: &Table, fingerprint: Fingerprint, buckets: &[u32]) {
    for &bucket in buckets {
        put(table, fingerprint, bucket);
    }
}

/// Puts a copy of a fingerprint into this very bucket.
///
/// # Panics
/// If the bucket is full.
pub fn put(table: &Table, fingerprint: Fingerprint, bucket: u32) {
    table.insert::<L>(Pair { fingerprint, buckets: [bucket; 2] }).expect("room");
}

/// Counts the copies of a fingerprint in this very bucket.
#[must_use]
pub fn copies(table: &Table, fingerprint: Fingerprint, bucket: u32) -> usize {
    table.count::<L>(Pair { fingerprint, buckets: [bucket; 2] })
}

/// Moves a fingerprint. Returns `false` if it was not there, or if the destination was full.
#[must_use]
pub fn relocate(table: &Table, fingerprint: Fingerprint, from: u32, to: u32) -> bool {
    table.relocate::<L>(Move { fingerprint, from, to }, None)
}
