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

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use guira::{
    CuckooFilter, Filter, Hashed, Layout,
    kind::{Contents, Fixed},
    raw::{Fingerprint, FixedTable, FixedWords, Move, Pair, Payload, Slots},
};
use loom::{cell::UnsafeCell, thread::JoinHandle};

mod check;
#[cfg(not(feature = "semi-sorted"))]
pub mod doors;
pub mod expiry;
pub mod splits;
pub mod splits_expiry;
pub mod ttl;
pub mod values;

pub use check::{Seen, check, check_deep, check_each, check_shallow};

/// The layout of the models. With two slots per bucket, a bucket is full after two inserts. With 8
/// bits, there are fingerprints for every pair of buckets. The feature `semi-sorted` selects the
/// semi-sorted layout.
pub const SLOTS: Slots =
    if cfg!(feature = "semi-sorted") { Slots::semi_sorted(2, 8) } else { Slots::plain(2, 8, 0) };

/// Runs one thread of a model.
pub fn spawn<T: 'static, R: 'static>(
    shared: &loom::sync::Arc<T>,
    work: impl FnOnce(&T) -> R + 'static,
) -> JoinHandle<R> {
    let shared = shared.clone();
    loom::thread::spawn(move || work(&shared))
}

/// As [`spawn`], with a larger stack: the default is too small for snapshots.
///
/// # Panics
/// If the thread cannot be started.
pub fn spawn_deep<T: Send + Sync + 'static, R: Send + 'static>(
    shared: &loom::sync::Arc<T>,
    work: impl FnOnce(&T) -> R + Send + 'static,
) -> JoinHandle<R> {
    let shared = shared.clone();
    let thread = loom::thread::Builder::new().stack_size(1 << 14);
    thread.spawn(move || work(&shared)).expect("a thread")
}

/// When a reader can run relative to a writer: see [`read_beside`].
pub const EVERY_WAY: &[&str] = &["before", "during", "after"];

/// Runs a reader in a thread of its own. Notes when it ran, relative to the writer that sets `done`
/// at its end.
fn spawn_noted<T: 'static>(
    shared: &loom::sync::Arc<T>,
    seen: &Arc<Seen>,
    done: &Mark,
    read: impl FnOnce(&T) + 'static,
) -> JoinHandle<()> {
    let (seen, done) = (seen.clone(), done.clone());
    spawn(shared, move |shared| {
        let was_done = done.is_set();
        read(shared);
        seen.note(done.relative_to(was_done));
    })
}

/// Runs a reader in a thread of its own beside a writer in this one. Notes when the reader ran.
///
/// # Panics
/// If the reader panics.
pub fn read_beside<T: 'static>(
    shared: &loom::sync::Arc<T>,
    seen: &Arc<Seen>,
    read: impl FnOnce(&T) + 'static,
    write: impl FnOnce(&T),
) {
    let done = Mark::default();
    let reader = spawn_noted(shared, seen, &done, read);
    write(shared);
    done.set();
    reader.join().unwrap();
}

/// A table in which items are looked up.
pub trait Lookup: 'static {
    /// What is looked up.
    type Item: Copy + 'static;

    /// Returns whether an item is found.
    fn finds(&self, item: Self::Item) -> bool;
}

impl Lookup for FixedTable {
    type Item = Pair;

    fn finds(&self, item: Pair) -> bool {
        self.contains(item)
    }
}

/// A filter that looks up each key as a batch of its own.
pub struct InBatches(pub CuckooFilter);

impl Lookup for InBatches {
    type Item = Hashed;

    fn finds(&self, key: Hashed) -> bool {
        self.0.contains_batch(&[key], &mut [false]) == 1
    }
}

impl Lookup for CuckooFilter {
    type Item = Hashed;

    fn finds(&self, key: Hashed) -> bool {
        self.contains(&key)
    }
}

/// Runs a thread that looks up an item and checks that it is found. Notes when the lookup ran,
/// relative to the writer that sets `done` at its end.
///
/// # Panics
/// In the thread, if the item is not found.
pub fn spawn_reader<T: Lookup>(
    shared: &loom::sync::Arc<T>,
    seen: &Arc<Seen>,
    done: &Mark,
    item: T::Item,
) -> JoinHandle<()> {
    spawn_noted(shared, seen, done, move |shared| {
        assert!(shared.finds(item), "an item that is there throughout was missed");
    })
}

/// Runs the thread of [`spawn_reader`] beside a thread that writes.
///
/// # Panics
/// If one of the threads panics.
pub fn look_up_beside<T: Lookup>(
    shared: &loom::sync::Arc<T>,
    seen: &Arc<Seen>,
    item: T::Item,
    write: impl FnOnce(&T) + 'static,
) {
    let done = Mark::default();
    let reader = spawn_reader(shared, seen, &done, item);
    let writer = spawn(shared, move |shared| {
        write(shared);
        done.set();
    });
    reader.join().unwrap();
    writer.join().unwrap();
}

/// Data that one thread writes before it inserts an item, and that another one reads if it has
/// found the item.
#[derive(Clone, Debug)]
pub struct Written(loom::sync::Arc<UnsafeCell<bool>>);

impl Written {
    /// Returns data that is not written yet.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "only models make one")]
    pub fn new() -> Self {
        Self(loom::sync::Arc::new(UnsafeCell::new(false)))
    }

    /// Writes the data.
    pub fn write(&self) {
        // SAFETY: loom runs one thread at a time, and panics if an access does not happen before or
        // after this one.
        self.0.with_mut(|written| unsafe { *written = true });
    }

    /// Checks that the data has been written, and that this happens after.
    ///
    /// # Panics
    /// If it has not.
    pub fn assert(&self) {
        // SAFETY: as above.
        assert!(
            self.0.with(|written| unsafe { *written }),
            "a hit does not happen after its insert"
        );
    }
}

/// Writes data and inserts an item in a thread of its own. Looks for the item in this one, and
/// reads the data if it is found.
///
/// # Panics
/// If the other thread panics.
pub fn publish<T: 'static>(
    shared: &loom::sync::Arc<T>,
    seen: &Seen,
    insert: impl FnOnce(&T) + 'static,
    find: impl FnOnce(&T) -> bool,
) {
    let written = Written::new();
    let inserter = {
        let written = written.clone();
        spawn(shared, move |shared| {
            written.write();
            insert(shared);
        })
    };
    if seen.note_if(find(shared), "hit", "miss") {
        written.assert();
    }
    inserter.join().unwrap();
}

/// Explores a model of [`publish`] with the threads exchanged: the inserting one comes first, as
/// the documentation of the library's `Word::load_to_change` demands if `find` changes words.
///
/// # Panics
/// As [`check`].
pub fn publishes<T: 'static>(
    name: &str,
    floor: usize,
    set_up: impl Fn() -> loom::sync::Arc<T> + Send + Sync + 'static,
    insert: impl Fn(&T) + Send + Sync + 'static,
    find: impl Fn(&T) -> bool + Copy + Send + Sync + 'static,
) {
    check(name, floor, &["hit", "miss"], move |seen| {
        let (shared, written) = (set_up(), Written::new());
        let finder = {
            let (written, seen) = (written.clone(), seen.clone());
            spawn(&shared, move |shared| {
                if seen.note_if(find(shared), "hit", "miss") {
                    written.assert();
                }
            })
        };
        written.write();
        insert(&shared);
        finder.join().unwrap();
    });
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
pub fn table(buckets: u64) -> FixedTable {
    FixedTable::new(SLOTS, buckets, Payload::NONE, false).expect("memory for a few words")
}

/// Returns a filter of two empty buckets, whose words are of the kind of those of the models.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn filter() -> loom::sync::Arc<CuckooFilter> {
    loom::sync::Arc::new(new_filter())
}

/// As [`filter`], for a caller that does not share it yet.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn new_filter() -> CuckooFilter {
    let is_semi_sorted = cfg!(feature = "semi-sorted");
    let layout = if is_semi_sorted { Layout::SemiSorted6x12 } else { Layout::Plain6x10 };
    let table =
        FixedTable::new(layout.slots(), 2, Payload::NONE, false).expect("memory for a few words");
    CuckooFilter::around(table, layout, None, None)
}

/// Returns a key whose item has both buckets of a filter, the first one first, and its pair.
///
/// # Panics
/// Never: many items have both buckets.
#[must_use]
pub fn keyed<C: Contents>(filter: &Filter<C, Fixed>) -> (Hashed, Pair) {
    let pair = |hash| filter.table().addressing().pair(filter.mixed_hash(hash));
    let mut keys = (0..).map(|hash| (Hashed(hash), pair(hash)));
    keys.find(|(_, pair)| pair.buckets == [0, 1]).expect("one of many")
}

/// Returns the `nth` fingerprint of a stripe whose alternate bucket, from `bucket`, is `alternate`.
///
/// Models have two stripes, so fingerprints of one parity share a stripe.
///
/// # Panics
/// If the layout has too few fingerprints.
#[must_use]
pub fn fingerprint(
    table: &FixedTable,
    bucket: u32,
    alternate: u32,
    stripe: u32,
    nth: usize,
) -> Fingerprint {
    (SLOTS.min_key()..1 << SLOTS.key_bits())
        .filter(|value| value % 2 == stripe)
        .map(Fingerprint::new)
        .filter(|&fingerprint| table.addressing().alt_bucket(fingerprint, bucket) == alternate)
        .nth(nth)
        .expect("a fingerprint for these buckets")
}

/// Returns a table of two buckets, an item that has both, and puts a copy of it into each of these.
#[must_use]
pub fn with_copies(buckets: &[u32]) -> (loom::sync::Arc<FixedTable>, Fingerprint) {
    let table = table(2);
    let item = fingerprint(&table, 0, 1, 0, 0);
    put_each(&table, item, buckets);
    (loom::sync::Arc::new(table), item)
}

/// Returns the pair of a fingerprint, starting from one of its buckets.
#[must_use]
pub fn pair(table: &FixedTable, fingerprint: Fingerprint, bucket: u32) -> Pair {
    let alternate = table.addressing().alt_bucket(fingerprint, bucket);
    Pair { fingerprint, value: 0, buckets: [bucket, alternate] }
}

/// Returns the same pair with the other bucket first.
#[must_use]
pub fn reversed(pair: Pair) -> Pair {
    let [first, second] = pair.buckets;
    Pair { buckets: [second, first], ..pair }
}

/// Puts a copy of a fingerprint into each of these buckets.
///
/// # Panics
/// If a bucket is full.
pub fn put_each(table: &FixedTable, fingerprint: Fingerprint, buckets: &[u32]) {
    for &bucket in buckets {
        put(table, fingerprint, bucket);
    }
}

/// Puts a copy of a fingerprint into this very bucket.
///
/// # Panics
/// If the bucket is full.
pub fn put(table: &FixedTable, fingerprint: Fingerprint, bucket: u32) {
    let pair = Pair { fingerprint, value: 0, buckets: [bucket; 2] };
    table.insert::<FixedWords>(pair).expect("room");
}

/// Counts the copies of a fingerprint in this very bucket.
#[must_use]
pub fn copies(table: &FixedTable, fingerprint: Fingerprint, bucket: u32) -> usize {
    table.count::<FixedWords>(Pair { fingerprint, value: 0, buckets: [bucket; 2] })
}

/// Moves a fingerprint. Returns `false` if it was not there, or if the destination was full.
#[must_use]
pub fn relocate(table: &FixedTable, fingerprint: Fingerprint, from: u32, to: u32) -> bool {
    table.relocate::<FixedWords>(Move { slot: fingerprint.get(), from, to }, None)
}
