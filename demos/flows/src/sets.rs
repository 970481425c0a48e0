//! The sets that the replay compares, behind one interface for bursts of packets.

use std::{
    hash::BuildHasher,
    sync::{Mutex, MutexGuard, PoisonError},
};

use guira::{
    Filter, Hashed, StableHashBuilder,
    kind::{Growth, Set},
};
use hashbrown::{
    HashTable,
    hash_table::{Entry, OccupiedEntry},
};

use crate::{failure::Failure, packet::FlowKey};

/// Most packets of a burst. Network drivers deliver packets in bursts of about this size.
pub const BURST: usize = 32;

/// Distinct flows, and their hashes by the hasher that all sets share.
pub struct Burst {
    pub keys: [FlowKey; BURST],
    pub hashes: [u64; BURST],
    pub len: usize,
    /// Mask of the flows that the set holds, by the records of the replay.
    pub held: u64,
}

impl Burst {
    /// Returns a burst without flows.
    pub fn new() -> Self {
        Self { keys: [FlowKey::NONE; BURST], hashes: [0; BURST], len: 0, held: 0 }
    }

    /// Returns the mask of all flows.
    pub fn all(&self) -> u64 {
        (1 << self.len) - 1
    }
}

/// Returns the mask of those of `which` for which `test` holds.
fn mask(which: u64, mut test: impl FnMut(usize) -> bool) -> u64 {
    positions(which).fold(0, |mask, position| mask | u64::from(test(position)) << position)
}

/// Iterates over the positions of the set bits.
pub fn positions(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let position = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(position)
    })
}

/// A set of flows as one thread of the replay uses it. Bit `i` of a mask stands for flow `i`.
pub trait FlowSet: Send {
    /// Looks up all flows.
    fn contains(&mut self, burst: &Burst) -> u64;
    /// Inserts the flows of a mask, and returns those that were not in the set.
    fn insert(&mut self, burst: &Burst, which: u64) -> Result<u64, Failure>;
    /// Removes the flows of a mask, and returns those that were in the set.
    fn remove(&mut self, burst: &Burst, which: u64) -> u64;
}

/// No set at all, which shows what the replay itself costs.
#[derive(Clone, Copy)]
pub struct NoSet;

impl FlowSet for NoSet {
    fn contains(&mut self, burst: &Burst) -> u64 {
        burst.held
    }

    fn insert(&mut self, _: &Burst, which: u64) -> Result<u64, Failure> {
        Ok(which)
    }

    fn remove(&mut self, _: &Burst, which: u64) -> u64 {
        which
    }
}

/// A shared filter that takes one packet at a time.
#[derive(Clone, Copy)]
pub struct OneByOne<'a, G: Growth>(pub &'a Filter<Set, G>);

impl<G: Growth> FlowSet for OneByOne<'_, G> {
    fn contains(&mut self, burst: &Burst) -> u64 {
        mask(burst.all(), |at| self.0.contains(&Hashed(burst.hashes[at])))
    }

    fn insert(&mut self, burst: &Burst, which: u64) -> Result<u64, Failure> {
        let mut added = 0;
        for at in positions(which) {
            let insertion = self.0.insert_unique(&Hashed(burst.hashes[at])).map_err(refused)?;
            added |= u64::from(insertion.is_new()) << at;
        }
        Ok(added)
    }

    fn remove(&mut self, burst: &Burst, which: u64) -> u64 {
        mask(which, |at| self.0.remove(&Hashed(burst.hashes[at])))
    }
}

/// A shared filter that takes a burst at a time, so that accesses to memory overlap.
#[derive(Clone, Copy)]
pub struct InBursts<'a, G: Growth>(pub &'a Filter<Set, G>);

impl<G: Growth> FlowSet for InBursts<'_, G> {
    fn contains(&mut self, burst: &Burst) -> u64 {
        self.0.contains_mask(Hashed::slice(&burst.hashes[..burst.len]))
    }

    fn insert(&mut self, burst: &Burst, which: u64) -> Result<u64, Failure> {
        let (hashes, len) = gather(burst, which);
        let outcome = self.0.insert_unique_mask(Hashed::slice(&hashes[..len]));
        match outcome.refused.count_ones() {
            0 => Ok(scatter(outcome.added, which)),
            count => Err(refused(format!("{count} flows do not fit"))),
        }
    }

    fn remove(&mut self, burst: &Burst, which: u64) -> u64 {
        let (hashes, len) = gather(burst, which);
        let mut removed = [false; BURST];
        self.0.remove_batch(Hashed::slice(&hashes[..len]), &mut removed[..len]);
        positions(which).zip(removed).fold(0, |mask, (at, removed)| mask | u64::from(removed) << at)
    }
}

/// The failure of a filter that refuses flows although it has room for them.
fn refused(error: impl std::fmt::Display) -> Failure {
    Failure::broken(format!("the filter is below its capacity, but {error}"))
}

/// Gathers the hashes of the flows in a mask at the start of an array, and returns their number.
fn gather(burst: &Burst, which: u64) -> ([u64; BURST], usize) {
    let (mut hashes, mut len) = ([0; BURST], 0);
    for position in positions(which) {
        hashes[len] = burst.hashes[position];
        len += 1;
    }
    (hashes, len)
}

/// Moves the lowest bits of `answers` to the positions of the mask: the inverse of [`gather`].
fn scatter(answers: u64, which: u64) -> u64 {
    positions(which).enumerate().fold(0, |mask, (at, to)| mask | (answers >> at & 1) << to)
}

/// An exact set of one thread: the table inside `std`'s `HashSet`, used by hash.
pub struct Exact {
    table: HashTable<FlowKey>,
    hasher: StableHashBuilder,
}

impl Exact {
    pub fn new(hasher: &StableHashBuilder) -> Self {
        Self { table: HashTable::new(), hasher: hasher.clone() }
    }

    fn has(&self, hash: u64, key: &FlowKey) -> bool {
        self.table.find(hash, |held| held == key).is_some()
    }

    fn add(&mut self, hash: u64, key: &FlowKey) -> bool {
        let rehash = |key: &FlowKey| self.hasher.hash_one(key);
        match self.table.entry(hash, |held| held == key, rehash) {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert(*key);
                true
            }
        }
    }

    fn take(&mut self, hash: u64, key: &FlowKey) -> bool {
        self.table.find_entry(hash, |held| held == key).map(OccupiedEntry::remove).is_ok()
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn size_in_bytes(&self) -> usize {
        self.table.allocation_size() + size_of::<Self>()
    }
}

impl FlowSet for &mut Exact {
    fn contains(&mut self, burst: &Burst) -> u64 {
        mask(burst.all(), |at| self.has(burst.hashes[at], &burst.keys[at]))
    }

    fn insert(&mut self, burst: &Burst, which: u64) -> Result<u64, Failure> {
        Ok(mask(which, |at| self.add(burst.hashes[at], &burst.keys[at])))
    }

    fn remove(&mut self, burst: &Burst, which: u64) -> u64 {
        mask(which, |at| self.take(burst.hashes[at], &burst.keys[at]))
    }
}

/// Shards of the concurrent exact set: so many that two threads rarely want the same one.
const SHARDS: usize = 256;

/// A concurrent exact set: hash tables behind locks.
///
/// It is a strong peer: in this replay it is as fast as or faster than `DashSet` in most runs of
/// dashmap 6, which has the same structure, and than the `HashSet` of papaya 0.2. One hash of a
/// flow serves the choice of the shard and its table, and an uncontended `Mutex` is cheap to lock.
pub struct Sharded(Vec<Shard>);

/// A shard in a cache line of its own.
#[repr(align(64))]
struct Shard(Mutex<Exact>);

impl Sharded {
    pub fn new(hasher: &StableHashBuilder) -> Self {
        Self((0..SHARDS).map(|_| Shard(Mutex::new(Exact::new(hasher)))).collect())
    }

    /// Locks the shard of a hash. The tables use the lowest bits and the highest seven.
    fn shard(&self, hash: u64) -> MutexGuard<'_, Exact> {
        lock(&self.0[(hash >> 40) as usize % SHARDS])
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|shard| lock(shard).len()).sum()
    }

    pub fn size_in_bytes(&self) -> usize {
        let padding = size_of::<Shard>() - size_of::<Exact>();
        self.0.iter().map(|shard| lock(shard).size_in_bytes() + padding).sum()
    }
}

/// Locks a shard. A panic inside a table ends the program anyway.
fn lock(shard: &Shard) -> MutexGuard<'_, Exact> {
    shard.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FlowSet for &Sharded {
    fn contains(&mut self, burst: &Burst) -> u64 {
        mask(burst.all(), |at| self.shard(burst.hashes[at]).has(burst.hashes[at], &burst.keys[at]))
    }

    fn insert(&mut self, burst: &Burst, which: u64) -> Result<u64, Failure> {
        let mut add =
            |at: usize| self.shard(burst.hashes[at]).add(burst.hashes[at], &burst.keys[at]);
        Ok(mask(which, &mut add))
    }

    fn remove(&mut self, burst: &Burst, which: u64) -> u64 {
        mask(which, |at| self.shard(burst.hashes[at]).take(burst.hashes[at], &burst.keys[at]))
    }
}
