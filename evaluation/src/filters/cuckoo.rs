//! The paper's own cuckoo filter (section 3): buckets of four, partial-key cuckoo hashing by XOR, a
//! power of two of buckets, a random walk of 500 relocations, and, as in its authors' program, room
//! for one victim that found no place.

use rand::{RngExt, SeedableRng, rngs::SmallRng};

use super::{
    Filter,
    buckets::{Buckets, lanes},
    distinct_lines, hash, power_of_two,
    semi_sorted::SemiSorted,
};

/// Relocations before the table counts as full (section 4.2 and 7).
const MOST_KICKS: usize = 500;
/// Slots of a bucket.
pub const LANES: usize = 4;
/// The load that the paper's filters are sized for (section 5.1).
const LOAD: f64 = 0.95;

/// How a bucket of 48 bits holds four fingerprints, of which zero means none.
pub trait Code {
    /// Bits of a fingerprint.
    const BITS: u32;

    /// Whether either bucket holds the fingerprint.
    fn either_holds(words: [u64; 2], tag: u32) -> bool;

    /// The bucket with one fingerprint more; `None` when it is full.
    fn with(word: u64, tag: u32) -> Option<u64>;

    /// The bucket with one copy less; `None` when it holds none.
    fn without(word: u64, tag: u32) -> Option<u64>;

    /// The bucket with the fingerprint of a lane replaced, and that fingerprint.
    fn replace(word: u64, lane: usize, tag: u32) -> (u64, u32);
}

/// Four fingerprints of 12 bits side by side.
pub struct Plain;

impl Code for Plain {
    const BITS: u32 = 12;

    #[inline]
    fn either_holds([first, second]: [u64; 2], tag: u32) -> bool {
        let pattern = lanes::spread(tag.into());
        lanes::zero(first ^ pattern) | lanes::zero(second ^ pattern) != 0
    }

    #[inline]
    fn with(word: u64, tag: u32) -> Option<u64> {
        let free = lanes::zero(word);
        (free != 0).then(|| word | u64::from(tag) << lanes::lowest(free))
    }

    #[inline]
    fn without(word: u64, tag: u32) -> Option<u64> {
        let found = lanes::zero(word ^ lanes::spread(tag.into()));
        (found != 0).then(|| word & !(0xfff << lanes::lowest(found)))
    }

    #[inline]
    fn replace(word: u64, lane: usize, tag: u32) -> (u64, u32) {
        let old = (word >> (12 * lane)) as u32 & 0xfff;
        (word ^ u64::from(old ^ tag) << (12 * lane), old)
    }
}

/// A fingerprint on its way, and the bucket that it would go into next.
#[derive(Clone, Copy, Debug)]
struct Victim {
    bucket: usize,
    tag: u32,
}

/// The filter.
pub struct Cuckoo<C> {
    buckets: Buckets,
    victim: Option<Victim>,
    rng: SmallRng,
    code: std::marker::PhantomData<C>,
}

pub fn plain(bytes: usize) -> (Cuckoo<Plain>, usize) {
    Cuckoo::build(bytes)
}

pub fn semi_sorted(bytes: usize) -> (Cuckoo<SemiSorted>, usize) {
    Cuckoo::build(bytes)
}

impl<C: Code> Cuckoo<C> {
    fn build(bytes: usize) -> (Self, usize) {
        let buckets = Buckets::new(power_of_two(bytes, 48));
        let items = (LOAD * (buckets.count() * LANES) as f64) as usize;
        let rng = SmallRng::seed_from_u64(1);
        (Self { buckets, victim: None, rng, code: std::marker::PhantomData }, items)
    }

    /// The fingerprint, never zero, from the low half of the hash; the bucket from the high half.
    #[inline]
    fn place(&self, key: u64) -> (u32, usize) {
        let hash = hash(key);
        let tag = hash as u32 & (u32::MAX >> (32 - C::BITS));
        (tag + u32::from(tag == 0), self.buckets.reduce((hash >> 32) as u32))
    }

    /// The other bucket of a fingerprint.
    #[inline]
    fn other(&self, bucket: usize, tag: u32) -> usize {
        // As cheap a hash of the fingerprint as the authors', one multiplication.
        bucket ^ self.buckets.reduce(tag.wrapping_mul(0x5bd1_e995))
    }

    /// Adds to the bucket if there is room.
    #[inline]
    fn add(&mut self, bucket: usize, tag: u32) -> bool {
        let with = C::with(self.buckets.read(bucket), tag);
        if let Some(word) = with {
            self.buckets.write(bucket, word);
        }
        with.is_some()
    }

    /// Adds, by relocations if need be; what is left over becomes the victim.
    fn add_somewhere(&mut self, first: usize, tag: u32) {
        if self.add(first, tag) {
            return;
        }
        let (mut bucket, mut tag) = (self.other(first, tag), tag);
        for _ in 1..MOST_KICKS {
            if self.add(bucket, tag) {
                return;
            }
            let lane = self.rng.random_range(0..LANES);
            let (word, old) = C::replace(self.buckets.read(bucket), lane, tag);
            self.buckets.write(bucket, word);
            tag = old;
            bucket = self.other(bucket, tag);
        }
        self.victim = Some(Victim { bucket, tag });
    }

    fn is_victim(&self, tag: u32, buckets: [usize; 2]) -> bool {
        self.victim.is_some_and(|victim| victim.tag == tag && buckets.contains(&victim.bucket))
    }
}

impl<C: Code> Filter for Cuckoo<C> {
    #[inline]
    fn insert(&mut self, key: u64) -> bool {
        if self.victim.is_some() {
            return false;
        }
        let (tag, first) = self.place(key);
        self.add_somewhere(first, tag);
        true
    }

    #[inline]
    fn contains(&self, key: u64) -> bool {
        let (tag, first) = self.place(key);
        let second = self.other(first, tag);
        let words = [first, second].map(|bucket| self.buckets.read(bucket));
        // The victim first, as it hardly ever is: so no branch depends on what the buckets hold.
        self.is_victim(tag, [first, second]) || C::either_holds(words, tag)
    }

    #[inline]
    fn remove(&mut self, key: u64) -> Option<bool> {
        let (tag, first) = self.place(key);
        let second = self.other(first, tag);
        for bucket in [first, second] {
            if let Some(word) = C::without(self.buckets.read(bucket), tag) {
                self.buckets.write(bucket, word);
                if let Some(victim) = self.victim.take() {
                    self.add_somewhere(victim.bucket, victim.tag);
                }
                return Some(true);
            }
        }
        let was_victim = self.is_victim(tag, [first, second]);
        if was_victim {
            self.victim = None;
        }
        Some(was_victim)
    }

    fn bytes(&self) -> usize {
        self.buckets.bytes()
    }

    fn slots(&self) -> usize {
        self.buckets.count() * LANES
    }

    fn lines(&self, key: u64) -> Option<usize> {
        let (tag, first) = self.place(key);
        Some(distinct_lines([first, self.other(first, tag)].into_iter().flat_map(Buckets::places)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Cuckoo, Filter, plain, semi_sorted};

    #[test]
    fn the_other_bucket_of_the_other_is_the_first() {
        let (filter, _) = plain(6 << 10);
        for tag in 1..4096 {
            for bucket in [0, 1, 500, 1023] {
                let other = filter.other(bucket, tag);
                assert!(other < 1024);
                assert_eq!(filter.other(other, tag), bucket);
            }
        }
    }

    /// Filled until it refuses, then emptied: the victim is found, and finds a place once there is one.
    fn the_victim_is_an_item<C: super::Code>(mut filter: Cuckoo<C>) {
        let keys: Vec<u64> = (0..filter.slots() as u64).map(|key| key * key).collect();
        let inserted = filter.inserts(&keys);
        assert!(inserted < keys.len() && filter.victim.is_some());
        assert!(keys[..inserted].iter().all(|&key| filter.contains(key)));
        for (nth, &key) in keys[..inserted].iter().enumerate() {
            assert_eq!(filter.remove(key), Some(true), "the {nth}th of {inserted}");
        }
        assert!(filter.victim.is_none());
        assert!((0..filter.buckets.count()).all(|bucket| filter.buckets.read(bucket) == 0));
    }

    #[test]
    fn the_victim_of_a_full_table_is_an_item() {
        the_victim_is_an_item(plain(6 << 8).0);
        the_victim_is_an_item(semi_sorted(6 << 8).0);
    }
}
