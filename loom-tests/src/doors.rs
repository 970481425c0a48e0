//! Tiny filters of every kind, around tables in which a model moves items and splits buckets, and
//! calls of their public methods beside writers.

use std::{num::NonZero, sync::Arc as StdArc};

use guira::{
    Filter, Hashed, Layout,
    kind::{Contents, Expiring, Fixed, Growing, Growth, Map, Set},
    raw::{
        ClockState, FixedTable, FixedWords, GrowingTable, Item, Limits, Move, Pair, Payload, Slots,
    },
};
use loom::sync::Arc;

use crate::{
    EVERY_WAY, Mark, Seen, check_each,
    expiry::{self, START, WINDOW},
    reversed, spawn_deep,
    splits::{self, growing},
    values,
};

/// The value of the item.
pub const VALUE: u16 = 5;

/// The number of stamps.
const STAMPS: u32 = 4;

/// A filter of two buckets, both of which are those of one item.
pub trait Tiny: Send + Sync + Sized + 'static {
    /// Returns an empty filter, in which there may be this many copies of an item.
    fn limited(max_copies: Option<NonZero<u8>>) -> Self;

    /// Returns an empty filter without a limit.
    #[must_use]
    fn empty() -> Self {
        Self::limited(None)
    }

    /// The key of the item.
    fn key(&self) -> Hashed;

    /// Inserts the item, with [`VALUE`] if there are values.
    fn put(&self, key: Hashed);

    /// Moves the item from the bucket that it is in to its other one.
    fn shift(&self, key: Hashed);

    /// Moves the item to its other bucket, and back. If the filter grows, splits the first bucket
    /// between the two moves.
    fn stir(&self, key: Hashed);

    /// Returns the number of copies of the item, and that of all items.
    fn counts(&self, key: Hashed) -> [usize; 2];

    /// Begins the next generation, if items expire. Returns whether they do.
    fn age(&self) -> bool;
}

/// Returns a hash whose mixed form has a property.
fn hash<C: Contents, G: Growth>(filter: &Filter<C, G>, fits: impl Fn(u64) -> bool) -> Hashed {
    Hashed((0..).find(|&hash| fits(filter.mixed_hash(hash))).expect("one of many"))
}

/// Moves the copy of a pair from the first bucket to the second one. Returns `false` if it was not
/// there, or if the destination was full.
fn relocate(table: &FixedTable, pair: Pair) -> bool {
    let Pair { fingerprint, value, buckets: [from, to] } = pair;
    let slot = table.slots().slot(fingerprint.get(), value);
    table.relocate::<FixedWords>(Move { slot, from, to }, None)
}

/// Moves the copy of a pair from the first bucket to the second one, and back, unless it is gone.
fn move_and_back(table: &FixedTable, pair: Pair) {
    let _ = relocate(table, pair);
    let _ = relocate(table, reversed(pair));
}

/// As above, with a split of the first bucket between the two moves.
fn move_split_and_back(table: &GrowingTable, item: Item) {
    let [first, second] = item.sides;
    let _ = splits::relocate(table, first);
    splits::split(table);
    let _ = splits::relocate(table, second);
}

/// Implements [`Tiny`] for the filters with these contents.
macro_rules! tiny {
    ($(
        $contents:ty: $payload:expr, $slots:expr, $age:expr, [$fixed:expr, $growing:expr],
        $clock:expr, $value:expr $(, $argument:expr)?;
    )*) => {$(
        impl Tiny for Filter<$contents, Fixed> {
            fn limited(max_copies: Option<NonZero<u8>>) -> Self {
                let table = FixedTable::new($slots, 2, $payload, false);
                let table = table.expect("memory for a few words");
                Self::around(table, $fixed, $clock, max_copies)
            }

            fn key(&self) -> Hashed {
                let addressing = self.table().addressing();
                hash(self, |mixed| addressing.pair(mixed).buckets == [0, 1])
            }

            fn put(&self, key: Hashed) {
                self.insert(&key $(, $argument)?).map(drop).expect("room");
            }

            fn shift(&self, key: Hashed) {
                let pair = self.table().addressing().pair(self.mixed_hash(key.0));
                let pair = pair.with_value($value);
                let mut ways = [pair, reversed(pair)].into_iter();
                assert!(ways.any(|pair| relocate(self.table(), pair)), "it is nowhere");
            }

            fn stir(&self, key: Hashed) {
                let pair = self.table().addressing().pair(self.mixed_hash(key.0));
                move_and_back(self.table(), pair.with_value($value));
            }

            fn counts(&self, key: Hashed) -> [usize; 2] {
                [self.count(&key), self.len()]
            }

            fn age(&self) -> bool {
                $age(self)
            }
        }

        impl Tiny for Filter<$contents, Growing> {
            fn limited(max_copies: Option<NonZero<u8>>) -> Self {
                let limits = Limits { buckets: 4, load: 256, copies: 1 };
                Self::around(growing($payload, 2, limits), $growing, $clock, max_copies)
            }

            fn key(&self) -> Hashed {
                hash(self, |mixed| {
                    let [first, second] = self.table().addressing().item(mixed).sides;
                    let leaves = first.code.extension & 1 == 1;
                    (first.start, second.start, leaves) == (0, 1, true)
                })
            }

            fn put(&self, key: Hashed) {
                self.insert(&key $(, $argument)?).map(drop).expect("room");
            }

            fn shift(&self, key: Hashed) {
                let item = self.table().addressing().item(self.mixed_hash(key.0));
                let mut sides = item.with_value($value).sides.into_iter();
                assert!(sides.any(|side| splits::relocate(self.table(), side)), "it is nowhere");
            }

            fn stir(&self, key: Hashed) {
                let item = self.table().addressing().item(self.mixed_hash(key.0));
                move_split_and_back(self.table(), item.with_value($value));
            }

            fn counts(&self, key: Hashed) -> [usize; 2] {
                [self.count(&key), self.len()]
            }

            fn age(&self) -> bool {
                $age(self)
            }
        }
    )*};
}

tiny! {
    Set: Payload::NONE, Slots::plain(4, 16, 0), |_| false, [Layout::Plain4x16, Layout::Growing2x30], None, 0;
    Map: Payload::values(8), values::SLOTS, |_| false, [
        Layout::with_values(2, 8).expect("a layout"),
        Layout::growing(2, 8).expect("a layout")
    ], None, VALUE, VALUE;
    Expiring: Payload::stamps(2, WINDOW, START), expiry::SLOTS, |it: &Self| it.advance() > START, [
        Layout::with_values(2, 2).expect("a layout"),
        Layout::growing(2, 2).expect("a layout")
    ], Some(ClockState::new(WINDOW, START)), 0;
}

/// A call of a public method, for a filter and the key of its item.
pub type Call<T> = fn(&T, Hashed);

/// Explores each call beside each writer, in a filter that holds one copy of the item. Afterwards
/// every item is a copy of that one, and the counts must agree.
///
/// # Panics
/// If a call panics, and as [`check`](crate::check).
pub fn beside<T: Tiny>(name: &str, floor: usize, calls: &[Call<T>], writers: &[Call<T>]) {
    let filled = || {
        let filter = T::empty();
        filter.put(filter.key());
        filter
    };
    beside_in(name, floor, filled, calls, writers);
}

/// As [`beside`], in filters that a function makes, and fills with copies of the item.
///
/// # Panics
/// As [`beside`].
pub fn beside_in<T: Tiny>(
    name: &str,
    floor: usize,
    filled: fn() -> T,
    calls: &[Call<T>],
    writers: &[Call<T>],
) {
    let pairs = writers.iter().flat_map(|&write| calls.iter().map(move |&call| (call, write)));
    let models = pairs.map(|(call, write)| {
        move |seen: &StdArc<Seen>| {
            let filter = filled();
            let key = filter.key();
            let (filter, done) = (Arc::new(filter), Mark::default());
            let caller = {
                let (seen, done) = (seen.clone(), done.clone());
                spawn_deep(&filter, move |filter| {
                    let was_done = done.is_set();
                    call(filter, key);
                    seen.note(done.relative_to(was_done));
                })
            };
            write(&filter, key);
            done.set();
            caller.join().unwrap();
            let assert_counts = || {
                let [copies, len] = filter.counts(key);
                assert_eq!(copies, len, "copies were lost, doubled or miscounted");
            };
            assert_counts();
            // Until each stamp has been used again: a copy more, so that no count is below zero.
            for _ in 0..STAMPS {
                if filter.age() {
                    filter.put(key);
                    assert_counts();
                }
            }
        }
    });
    check_each(name, floor, EVERY_WAY, models);
}
