//! What every model needs: a run that is counted, outcomes that must be seen, and tables of a few
//! words in which a fingerprint stands just where the model wants it.
//!
//! A model that cannot fail proves nothing. So [`check`] fails, even where no assertion of the
//! model does, when fewer schedules were explored than the model's floor, or when an outcome that
//! must be possible was never seen.

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

use guira::raw::{Table, Fingerprint, Addressing, Move, Pair, BucketLayout};

/// The layout of the models: two lanes, so that words are full after two inserts; fingerprints of 8
/// bits, so that there are some for every pair of buckets. Plain, or with the feature `semi-sorted` that.
#[cfg(not(feature = "semi-sorted"))]
pub type L = guira::raw::Plain<2, 8>;
#[cfg(feature = "semi-sorted")]
#[allow(missing_docs, reason = "as above")]
pub type L = guira::raw::SemiSorted<2, 8>;

/// The most preemptions of a schedule, unless `GUIRA_LOOM_BOUND` says otherwise.
const DEFAULT_BOUND: usize = 2;

/// What a model has seen, over all its executions. Not part of the model: std's atomics, which loom
/// does not see and does not schedule by.
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

    /// Notes one of two outcomes, and hands the condition on.
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

/// Explores a model, prints one line about it, and fails unless it explored at least `floor`
/// executions and saw all of `outcomes` and no other. The floor is about 0.8 of what two preemptions
/// reach; change it with the model or with the steps of the protocol.
///
/// With `GUIRA_LOOM_ASSERTIONS_ONLY` set, only the model's own assertions count: mutants of the
/// library must be caught by these, not by exploring less.
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

/// The same with at least so many preemptions, for what takes more than usual to go wrong.
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

/// What [`check`] and [`check_deep`] do.
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
    // Straight to standard output, which the test harness does not capture. One write, one line.
    let seconds = started.elapsed().as_secs_f64();
    let outcomes_seen = found.iter().copied().collect::<Vec<_>>().join(", ");
    let line = format!(
        "model {name}: {executions} executions, bound {printed_bound}; {seconds:.1} s; seen: {outcomes_seen}\n"
    );
    std::io::stdout().write_all(line.as_bytes()).expect("standard output");
    if std::env::var_os("GUIRA_LOOM_ASSERTIONS_ONLY").is_some() {
        return;
    }
    assert!(executions > 1, "{name}: explored one execution, which proves nothing");
    assert!(executions >= floor, "{name}: explored {executions} executions, fewer than {floor}");
    if bound.is_none() {
        // Without a bound loom leaves out schedules that differ from others only in the order of steps
        // that it sees no conflict between, and some outcomes with them.
        return;
    }
    let expected: BTreeSet<_> = outcomes.iter().copied().collect();
    assert_eq!(found, expected, "{name}: the outcomes seen are not those that must be possible");
}

/// Runs one thread of a model.
pub fn spawn<R: 'static>(
    core: &loom::sync::Arc<Table>,
    work: impl FnOnce(&Table) -> R + 'static,
) -> loom::thread::JoinHandle<R> {
    let core = core.clone();
    loom::thread::spawn(move || work(&core))
}

/// Where a look-up can stand relative to a writer; see [`spawn_reader`].
pub const EVERY_WAY: &[&str] = &["before", "during", "after"];

/// Runs a thread that looks up a pair, which must be found, and notes where the look-up stood
/// relative to the writer that sets `done` at its end.
///
/// # Panics
/// In the thread, if the pair is not found.
pub fn spawn_reader(
    core: &loom::sync::Arc<Table>,
    seen: &Arc<Seen>,
    done: &Mark,
    pair: Pair,
) -> loom::thread::JoinHandle<()> {
    let (seen, done) = (seen.clone(), done.clone());
    spawn(core, move |core| {
        let was_done = done.is_set();
        assert!(core.contains::<L>(pair), "an item that is present all the time was missed");
        seen.note(done.relative_to(was_done));
    })
}

/// Where one thread of a model stands relative to another: not part of the model, like [`Seen`].
#[derive(Clone, Debug, Default)]
pub struct Mark(Arc<AtomicBool>);

impl Mark {
    /// Says that a thread has got here.
    pub fn set(&self) {
        self.0.store(true, SeqCst);
    }

    /// Whether it has.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(SeqCst)
    }

    /// Where something that just ended stands, one of [`EVERY_WAY`], if this was so when it began.
    #[must_use]
    pub fn relative_to(&self, was_set: bool) -> &'static str {
        match (was_set, self.is_set()) {
            (true, _) => "after",
            (false, true) => "during",
            (false, false) => "before",
        }
    }
}

/// A core of this many empty buckets.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn table(buckets: u64) -> Table {
    Table::new(Addressing::new(buckets), false).expect("memory for a few words")
}

/// The `nth` fingerprint whose other bucket, from `bucket`, is `other`.
///
/// Fingerprints of one parity share a stripe, since a model has two: `stripe` chooses which.
///
/// # Panics
/// If the layout has too few.
#[must_use]
pub fn fingerprint(core: &Table, bucket: u32, other: u32, stripe: u32, nth: usize) -> Fingerprint {
    (L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT)
        .filter(|value| value % 2 == stripe)
        .map(Fingerprint::new)
        .filter(|&fingerprint| core.addressing().alt_bucket(fingerprint, bucket) == other)
        .nth(nth)
        .expect("a fingerprint for these buckets")
}

/// The pair of a fingerprint, from one of its buckets.
#[must_use]
pub fn pair(core: &Table, fingerprint: Fingerprint, bucket: u32) -> Pair {
    Pair { fingerprint, buckets: [bucket, core.addressing().alt_bucket(fingerprint, bucket)] }
}

/// Puts a copy of a fingerprint into each of these buckets, just there.
///
/// # Panics
/// If one is full.
pub fn put_each(core: &Table, fingerprint: Fingerprint, buckets: &[u32]) {
    for &bucket in buckets {
        put(core, fingerprint, bucket);
    }
}

/// Puts a copy of a fingerprint into just this bucket.
///
/// # Panics
/// If it is full.
pub fn put(core: &Table, fingerprint: Fingerprint, bucket: u32) {
    core.insert::<L>(Pair { fingerprint, buckets: [bucket; 2] }).expect("room");
}

/// How many copies of a fingerprint stand in just this bucket.
#[must_use]
pub fn copies(core: &Table, fingerprint: Fingerprint, bucket: u32) -> usize {
    core.count::<L>(Pair { fingerprint, buckets: [bucket; 2] })
}

/// Moves a fingerprint; `false` when it was not there or had no room.
#[must_use]
pub fn relocate(core: &Table, fingerprint: Fingerprint, from: u32, to: u32) -> bool {
    core.relocate::<L>(Move { fingerprint, from, to }, None)
}
