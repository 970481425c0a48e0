//! The paper's cuckoo filter (section 3): four slots per bucket, a power of two of buckets, the
//! alternate bucket by XOR, and a random walk of at most 500 relocations. As in the authors'
//! program, one victim that found no slot is kept beside the table.

use rand::{RngExt, SeedableRng, rngs::SmallRng};

use super::{
    Filter,
    buckets::{Buckets, fields},
    count_cache_lines, hash, power_of_two,
    semi_sorted::SemiSorted,
};

/// Relocations after which the table counts as full (sections 2.2 and 4).
const MAX_RELOCATIONS: usize = 500;
/// Slots per bucket.
pub const SLOTS_PER_BUCKET: usize = 4;
/// The load up to which the paper's tables fill (sections 2.2 and 5.1).
const LOAD: f64 = 0.95;

/// The encoding of four fingerprints in a bucket; a zero fingerprint marks an empty slot.
pub trait BucketLayout {
    /// Bits per fingerprint.
    const BITS: u32;

    /// Returns `true` if either bucket holds the fingerprint.
    fn either_holds(words: [u64; 2], fingerprint: u32) -> bool;

    /// Adds a fingerprint to a bucket; `None` if the bucket is full.
    fn with(word: u64, fingerprint: u32) -> Option<u64>;

    /// Removes one copy of a fingerprint from a bucket; `None` if it holds none.
    fn without(word: u64, fingerprint: u32) -> Option<u64>;

    /// Replaces the fingerprint in a slot, and also returns the old one.
    fn replace(word: u64, slot: usize, fingerprint: u32) -> (u64, u32);
}

/// Four fingerprints of 12 bits side by side.
pub struct Plain;

impl BucketLayout for Plain {
    const BITS: u32 = 12;

    #[inline]
    fn either_holds([first, second]: [u64; 2], fingerprint: u32) -> bool {
        let pattern = fields::spread(fingerprint.into());
        fields::zero(first ^ pattern) | fields::zero(second ^ pattern) != 0
    }

    #[inline]
    fn with(word: u64, fingerprint: u32) -> Option<u64> {
        let free = fields::zero(word);
        (free != 0).then(|| word | u64::from(fingerprint) << fields::lowest(free))
    }

    #[inline]
    fn without(word: u64, fingerprint: u32) -> Option<u64> {
        let found = fields::zero(word ^ fields::spread(fingerprint.into()));
        (found != 0).then(|| word & !(0xfff << fields::lowest(found)))
    }

    #[inline]
    fn replace(word: u64, slot: usize, fingerprint: u32) -> (u64, u32) {
        let old = (word >> (12 * slot)) as u32 & 0xfff;
        (word ^ u64::from(old ^ fingerprint) << (12 * slot), old)
    }
}

/// An evicted fingerprint, and the bucket that it would go into next.
#[derive(Clone, Copy, Debug)]
struct Victim {
    bucket: usize,
    fingerprint: u32,
}

/// The filter, with buckets of `BYTES` bytes.
pub struct Cuckoo<L, const BYTES: usize = 6> {
    buckets: Buckets<BYTES>,
    victim: Option<Victim>,
    rng: SmallRng,
    layout: std::marker::PhantomData<L>,
}

pub fn plain(bytes: usize) -> (Cuckoo<Plain>, usize) {
    Cuckoo::build(bytes)
}

/// Builds a filter of semi-sorted buckets of `BYTES` bytes, with `HIGH` bits per fingerprint above
/// the low nibble: four times `HIGH`, and 12 bits of code, fill a bucket.
pub fn semi_sorted<const HIGH: u32, const BYTES: usize>(
    bytes: usize,
) -> (Cuckoo<SemiSorted<HIGH>, BYTES>, usize) {
    const { assert!(4 * HIGH as usize + 12 == 8 * BYTES) };
    Cuckoo::build(bytes)
}

impl<L: BucketLayout, const BYTES: usize> Cuckoo<L, BYTES> {
    fn build(bytes: usize) -> (Self, usize) {
        let buckets = Buckets::new(power_of_two(bytes, 8 * BYTES));
        let items = (LOAD * (buckets.count() * SLOTS_PER_BUCKET) as f64) as usize;
        let rng = SmallRng::seed_from_u64(1);
        (Self { buckets, victim: None, rng, layout: std::marker::PhantomData }, items)
    }

    /// Returns the fingerprint of a key, which is never zero, and its first bucket.
    #[inline]
    fn address(&self, key: u64) -> (u32, usize) {
        let hash = hash(key);
        let fingerprint = hash as u32 & (u32::MAX >> (32 - L::BITS));
        (fingerprint + u32::from(fingerprint == 0), self.buckets.reduce((hash >> 32) as u32))
    }

    /// Returns the alternate bucket of a fingerprint.
    #[inline]
    fn alt_bucket(&self, bucket: usize, fingerprint: u32) -> usize {
        // Hashes the fingerprint by one multiplication, as the authors' program does.
        bucket ^ self.buckets.reduce(fingerprint.wrapping_mul(0x5bd1_e995))
    }

    /// Adds a fingerprint to a bucket; `false` if the bucket is full.
    #[inline]
    fn add(&mut self, bucket: usize, fingerprint: u32) -> bool {
        let with = L::with(self.buckets.read(bucket), fingerprint);
        if let Some(word) = with {
            self.buckets.write(bucket, word);
        }
        with.is_some()
    }

    /// Adds a fingerprint, if necessary by relocations; one without a slot becomes the victim.
    fn add_or_relocate(&mut self, first: usize, fingerprint: u32) {
        if self.add(first, fingerprint) {
            return;
        }
        let (mut bucket, mut fingerprint) = (self.alt_bucket(first, fingerprint), fingerprint);
        for _ in 1..MAX_RELOCATIONS {
            if self.add(bucket, fingerprint) {
                return;
            }
            let slot = self.rng.random_range(0..SLOTS_PER_BUCKET);
            let (word, old) = L::replace(self.buckets.read(bucket), slot, fingerprint);
            self.buckets.write(bucket, word);
            fingerprint = old;
            bucket = self.alt_bucket(bucket, fingerprint);
        }
        self.victim = Some(Victim { bucket, fingerprint });
    }

    fn is_victim(&self, fingerprint: u32, buckets: [usize; 2]) -> bool {
        self.victim.is_some_and(|victim| {
            victim.fingerprint == fingerprint && buckets.contains(&victim.bucket)
        })
    }
}

impl<L: BucketLayout, const BYTES: usize> Filter for Cuckoo<L, BYTES> {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        if self.victim.is_some() {
            return false;
        }
        let (fingerprint, first) = self.address(key);
        self.add_or_relocate(first, fingerprint);
        true
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        let (fingerprint, first) = self.address(key);
        let second = self.alt_bucket(first, fingerprint);
        let words = [first, second].map(|bucket| self.buckets.read(bucket));
        // The branch on the victim is predictable; the buckets' contents cause no branch.
        self.is_victim(fingerprint, [first, second]) || L::either_holds(words, fingerprint)
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<bool> {
        let (fingerprint, first) = self.address(key);
        let second = self.alt_bucket(first, fingerprint);
        for bucket in [first, second] {
            if let Some(word) = L::without(self.buckets.read(bucket), fingerprint) {
                self.buckets.write(bucket, word);
                if let Some(victim) = self.victim.take() {
                    self.add_or_relocate(victim.bucket, victim.fingerprint);
                }
                return Some(true);
            }
        }
        let was_victim = self.is_victim(fingerprint, [first, second]);
        if was_victim {
            self.victim = None;
        }
        Some(was_victim)
    }

    fn bytes(&self) -> usize {
        self.buckets.bytes()
    }

    fn slots(&self) -> usize {
        self.buckets.count() * SLOTS_PER_BUCKET
    }

    fn cache_lines(&self, key: u64) -> Option<usize> {
        let (fingerprint, first) = self.address(key);
        Some(count_cache_lines(
            [first, self.alt_bucket(first, fingerprint)]
                .into_iter()
                .flat_map(Buckets::<BYTES>::byte_span),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::{Cuckoo, Filter, plain, semi_sorted};

    /// Fills and empties a filter: lookups find the victim, and removals make room for it.
    fn the_victim_is_an_item<L: super::BucketLayout, const BYTES: usize>(
        mut filter: Cuckoo<L, BYTES>,
    ) {
        let keys: Vec<u64> = (0..filter.slots() as u64).map(|key| key * key).collect();
        let inserted = filter.insert_all(&keys);
        assert!(inserted < keys.len() && filter.victim.is_some());
        assert!(keys[..inserted].iter().all(|&key| filter.contains(key)));
        for (index, &key) in keys[..inserted].iter().enumerate() {
            assert_eq!(filter.remove(key), Some(true), "key {index} of {inserted}");
        }
        assert!(filter.victim.is_none());
        assert!((0..filter.buckets.count()).all(|bucket| filter.buckets.read(bucket) == 0));
    }

    #[test]
    fn the_victim_of_a_full_table_is_an_item() {
        the_victim_is_an_item(plain(6 << 8).0);
        the_victim_is_an_item(semi_sorted::<9, 6>(6 << 8).0);
        the_victim_is_an_item(semi_sorted::<3, 3>(3 << 8).0);
    }
}
