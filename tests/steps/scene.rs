//! Tables in which a writer is stopped, and the checks of what other threads see.

use std::sync::Arc;

use guira::raw::{Addressing, BucketLayout, Fingerprint, FixedTable, Pair, Plain};

use super::unblocked;

/// The layout of these tables.
pub type L = Plain<4, 16>;
/// Buckets of these tables.
pub const BUCKETS: u64 = 8;
/// Stripes of such small tables. The remainder of a fingerprint selects its stripe.
pub const STRIPES: u32 = 8;
/// Steps of a lookup without interference: the version, both words, the version.
pub const LOOKUP: usize = 4;
/// Steps of an insert into a bucket with an empty slot: both words, and the change of one.
pub const INSERT: usize = 3;

/// The operation of the writer.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    Insert,
    InsertUnique,
    Remove,
}

/// A pair, and its copies before and after the call.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub pair: Pair,
    pub before: usize,
    pub after: usize,
}

/// A writer, about to make its call.
pub struct Writer {
    pub table: Arc<FixedTable>,
    pub call: Call,
    pub pair: Pair,
}

impl Writer {
    /// Makes the call. Returns whether it did what was expected.
    pub fn perform(&self) -> bool {
        match self.call {
            Call::Insert => self.table.insert::<L>(self.pair) == Ok(()),
            Call::InsertUnique => self.table.insert_unique::<L>(self.pair) == Ok(true),
            Call::Remove => self.table.remove::<L>(self.pair),
        }
    }
}

/// Creates a new scene.
pub type Maker = Box<dyn Fn() -> Scene>;

/// A table, and the call of a writer.
pub struct Scene {
    pub table: Arc<FixedTable>,
    pub call: Call,
    pub known: Vec<Known>,
    /// The known pair that the call concerns.
    pub target: usize,
    /// How often the call acquires a lock.
    pub locks: usize,
    /// The bucket with an empty slot at the end of the eviction path.
    pub end: u32,
    /// The stripe of all fingerprints, if they share one.
    pub stripe: Option<u32>,
    pub last: u32,
}

impl Scene {
    /// An empty table.
    pub fn new(call: Call, locks: usize, end: u32, stripe: Option<u32>) -> Self {
        let table = FixedTable::new(Addressing::new(BUCKETS), false).expect("a small table");
        Self {
            table: Arc::new(table),
            call,
            known: Vec::new(),
            target: 0,
            locks,
            end,
            stripe,
            last: 0,
        }
    }

    /// A pair with these buckets whose fingerprint has not been used.
    pub fn unused(&mut self, buckets: [u32; 2]) -> Pair {
        let addressing = self.table.addressing();
        let fits = |&value: &u32| {
            self.stripe.is_none_or(|stripe| value % STRIPES == stripe)
                && addressing.alt_bucket(Fingerprint::new(value), buckets[0]) == buckets[1]
        };
        let found = (self.last + 1..=L::MAX_FINGERPRINT).find(fits);
        self.last = found.expect("such fingerprints are many");
        Pair { fingerprint: Fingerprint::new(self.last), buckets }
    }

    /// Inserts copies of a new pair into its first bucket.
    pub fn put(&mut self, buckets: [u32; 2], copies: usize) -> usize {
        let pair = self.unused(buckets);
        for _ in 0..copies {
            let here = Pair { buckets: [buckets[0]; 2], ..pair };
            self.table.insert::<L>(here).expect("room in this bucket");
        }
        self.known.push(Known { pair, before: copies, after: copies });
        self.known.len() - 1
    }

    /// Fills the first bucket with pairs.
    pub fn crowd(&mut self, buckets: [u32; 2]) {
        for _ in 0..L::SLOTS {
            self.put(buckets, 1);
        }
    }

    /// The removal of one of this many copies, which are in the second bucket that the call reads.
    pub fn removal(copies: usize, stripe: Option<u32>) -> Self {
        let mut scene = Self::new(Call::Remove, 1, 0, stripe);
        scene.put([0, 1], 1);
        scene.put([1, 1], 1);
        scene.target = scene.put([1, 0], copies);
        let target = &mut scene.known[scene.target];
        target.pair.buckets.reverse();
        target.after -= 1;
        scene
    }

    /// The insert of an item whose buckets are full. To make room for it, this many others must
    /// move, each into the bucket that the next one leaves.
    pub fn path(call: Call, moves: usize, stripe: Option<u32>) -> Self {
        // An `insert_unique` probes before the moves and after them.
        let locks = if matches!(call, Call::InsertUnique) { moves + 2 } else { moves };
        let end = moves as u32 + 1;
        let mut scene = Self::new(call, locks, end, stripe);
        scene.crowd([1, 1]);
        scene.crowd([0, 2]);
        (2..end).for_each(|bucket| scene.crowd([bucket, bucket + 1]));
        scene.put([end, end], 1);
        scene.target = scene.put([0, 1], 0);
        scene.known[scene.target].after = 1;
        scene
    }

    /// Every kind of scene, with its name.
    pub fn all() -> Vec<(String, Maker)> {
        let mut scenes: Vec<(String, Maker)> = Vec::new();
        for stripe in [Some(1), None] {
            for copies in 1..=2 {
                let name = format!("removal of 1 of {copies}, stripe {stripe:?}");
                scenes.push((name, Box::new(move || Self::removal(copies, stripe))));
            }
            for moves in [1, 2, 4] {
                for call in [Call::Insert, Call::InsertUnique] {
                    let name = format!("{call:?} by {moves} moves, stripe {stripe:?}");
                    scenes.push((name, Box::new(move || Self::path(call, moves, stripe))));
                }
            }
        }
        scenes
    }

    /// The writer of this scene.
    pub fn writer(&self) -> Writer {
        let pair = self.known[self.target].pair;
        Writer { table: Arc::clone(&self.table), call: self.call, pair }
    }

    /// Looks everything up, with either bucket first, while a writer is stopped.
    pub fn look(&self) {
        for &Known { pair, before, after } in &self.known {
            for buckets in [pair.buckets, [pair.buckets[1], pair.buckets[0]]] {
                let lookup = || self.table.contains::<L>(Pair { buckets, ..pair });
                let present = unblocked(LOOKUP, lookup);
                if (before > 0) == (after > 0) {
                    assert_eq!(present, before > 0, "a lookup is wrong at {pair:?}");
                }
            }
        }
        let none = Pair { fingerprint: Fingerprint::new(L::MAX_FINGERPRINT), buckets: [0, 1] };
        assert!(!unblocked(LOOKUP, || self.table.contains::<L>(none)), "this was never inserted");
    }

    /// Inserts where there is room: into a bucket beside the path, and into the one at its end.
    pub fn insert_where_there_is_room(&mut self) {
        for buckets in [[6, 7], [7, 7], [self.end; 2]] {
            let pair = self.unused(buckets);
            let inserted = unblocked(INSERT, || self.table.insert::<L>(pair));
            assert_eq!(inserted, Ok(()), "there is room at {pair:?}");
            self.known.push(Known { pair, before: 1, after: 1 });
        }
    }

    /// Checks everything after the call.
    pub fn look_after(&self) {
        for &Known { pair, after, .. } in &self.known {
            assert_eq!(self.table.count::<L>(pair), after, "{pair:?}");
            assert_eq!(self.table.contains::<L>(pair), after > 0, "{pair:?}");
        }
    }

    /// Checks everything after the writer panicked: nothing is missing, and at most the item that
    /// it was moving has one copy too many.
    pub fn look_after_panic(&self) {
        let mut doubled = 0;
        for &Known { pair, before, after } in &self.known {
            let count = self.table.count::<L>(pair);
            assert!(count >= before.min(after), "{pair:?} is missing");
            assert_eq!(self.table.contains::<L>(pair), count > 0, "{pair:?}");
            doubled += count.saturating_sub(before.max(after));
        }
        assert!(doubled <= 1, "{doubled} copies too many");
    }

    /// Acquires every lock, and removes everything.
    pub fn empty(&mut self) {
        for &Known { pair, .. } in &self.known {
            while self.table.remove::<L>(pair) {}
            assert_eq!(self.table.count::<L>(pair), 0, "{pair:?} is in no other place");
        }
        for stripe in 0..STRIPES {
            self.stripe = Some(stripe);
            let pair = self.unused([0, 1]);
            assert_eq!(self.table.insert_unique::<L>(pair), Ok(true), "{pair:?} fits");
            assert!(self.table.remove::<L>(pair), "{pair:?} is in");
        }
    }
}
