//! Simulates the papers' tables on plain arrays, with any bucket and fingerprint size: a power of
//! two of buckets, `i XOR hash(fingerprint)`, and a random walk.

use std::{hint::black_box, ops::Range};

use rand::{Rng, RngExt, SeedableRng, rngs::SmallRng};

/// Relocations after which the table counts as full.
const MAX_RELOCATIONS: usize = 500;
/// Hashes whose buckets are read into the caches together before they are inserted one by one.
const WINDOW: usize = 32;

/// The dimensions of a table, and how it finds an alternate bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of buckets, a power of two.
    pub buckets: u32,
    /// Slots per bucket.
    pub slots: usize,
    /// Bits per fingerprint.
    pub bits: u32,
    /// Whether the fingerprint is hashed before the XOR, as section 3.1 advises.
    pub hashed: bool,
}

impl Shape {
    /// Returns the shape of the papers' tables, which hash the fingerprint.
    pub fn new(log_buckets: u32, slots: usize, bits: u32) -> Self {
        Self { buckets: 1 << log_buckets, slots, bits, hashed: true }
    }

    /// Returns the number of slots in the table.
    pub fn total_slots(self) -> usize {
        self.buckets as usize * self.slots
    }

    /// Creates a generator of hashes that depends on the shape and the seed.
    fn rng(self, seed: u64) -> SmallRng {
        let shape = u64::from(self.buckets) << 16 | (self.slots as u64) << 8 | u64::from(self.bits);
        SmallRng::seed_from_u64(shape.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed)
    }
}

/// A table that inserts by algorithm 1 of the paper. The high half of a hash selects the first
/// bucket, the low half the fingerprint.
struct Simulation {
    shape: Shape,
    /// The slots of all buckets; zero marks an empty one. Each bucket fills from its first slot.
    slots: Vec<u32>,
    rng: SmallRng,
}

impl Simulation {
    fn new(shape: Shape, seed: u64) -> Self {
        assert!(shape.buckets.is_power_of_two(), "XOR needs a power of two");
        let slots = vec![0; shape.total_slots()];
        Self { shape, slots, rng: SmallRng::seed_from_u64(seed) }
    }

    /// Returns the fingerprint of a hash and its first bucket. Zero becomes one, which is then
    /// twice as frequent, as in the authors' program.
    fn address(&self, hash: u64) -> (u32, u32) {
        let low = u64::from(hash as u32);
        let fingerprint = ((low << self.shape.bits) >> 32) as u32;
        (fingerprint.max(1), (hash >> 32) as u32 & (self.shape.buckets - 1))
    }

    fn alt_bucket(&self, fingerprint: u32, bucket: u32) -> u32 {
        let mut x = fingerprint;
        if self.shape.hashed {
            // The finalizer of MurmurHash3.
            x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
            x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
            x ^= x >> 16;
        }
        bucket ^ (x & (self.shape.buckets - 1))
    }

    /// Returns the indices of a bucket's slots.
    fn range(&self, bucket: u32) -> Range<usize> {
        let from = bucket as usize * self.shape.slots;
        from..from + self.shape.slots
    }

    /// Writes a fingerprint to a bucket's first free slot; `false` if the bucket is full.
    fn push(&mut self, bucket: u32, fingerprint: u32) -> bool {
        let range = self.range(bucket);
        let free = self.slots[range].iter_mut().find(|slot| **slot == 0);
        free.map(|slot| *slot = fingerprint).is_some()
    }

    /// Inserts the fingerprint of a hash. If no slot is free, returns the fingerprint that is left
    /// over, which may be another one.
    fn insert(&mut self, hash: u64) -> Option<u32> {
        let (mut fingerprint, first) = self.address(hash);
        let second = self.alt_bucket(fingerprint, first);
        if self.push(first, fingerprint) || self.push(second, fingerprint) {
            return None;
        }
        let mut bucket = if self.rng.random() { first } else { second };
        for _ in 0..MAX_RELOCATIONS {
            let slot = self.range(bucket).start + self.rng.random_range(0..self.shape.slots);
            std::mem::swap(&mut self.slots[slot], &mut fingerprint);
            bucket = self.alt_bucket(fingerprint, bucket);
            if self.push(bucket, fingerprint) {
                return None;
            }
        }
        Some(fingerprint)
    }

    /// Returns `true` if one of the hash's two buckets holds its fingerprint.
    fn contains(&self, hash: u64) -> bool {
        let (fingerprint, first) = self.address(hash);
        let buckets = [first, self.alt_bucket(fingerprint, first)];
        buckets.into_iter().any(|bucket| self.slots[self.range(bucket)].contains(&fingerprint))
    }

    /// Inserts random hashes until `max` are stored or one does not fit, and returns the share of
    /// slots that is occupied.
    fn fill(&mut self, rng: &mut SmallRng, max: usize) -> f64 {
        let mut filled = 0;
        let mut window = [0; WINDOW];
        loop {
            window.fill_with(|| rng.next_u64());
            // Reads all buckets of the window into the caches.
            for hash in window {
                let (fingerprint, first) = self.address(hash);
                let buckets = [first, self.alt_bucket(fingerprint, first)];
                black_box(buckets.map(|bucket| self.slots[self.range(bucket).start]));
            }
            for hash in window {
                if filled == max || self.insert(hash).is_some() {
                    return filled as f64 / self.slots.len() as f64;
                }
                filled += 1;
            }
        }
    }
}

/// Returns the share of slots that is occupied when an insertion first fails.
pub fn load_at_first_refusal(shape: Shape, seed: u64) -> f64 {
    Simulation::new(shape, seed).fill(&mut shape.rng(seed), usize::MAX)
}

/// Fills a table up to a load, and returns the load reached and the false-positive rate, measured
/// by `queries` lookups.
pub fn false_positives(shape: Shape, load: f64, queries: usize, seed: u64) -> (f64, f64) {
    let (mut simulation, mut rng) = (Simulation::new(shape, seed), shape.rng(seed));
    let filled = simulation.fill(&mut rng, (shape.total_slots() as f64 * load) as usize);
    let found = (0..queries).filter(|_| simulation.contains(rng.next_u64())).count();
    (filled, found as f64 / queries as f64)
}

/// Returns how many copies of one item fit into an empty table.
pub fn max_copies(shape: Shape, hash: u64) -> usize {
    let mut simulation = Simulation::new(shape, 0);
    (0..=shape.total_slots()).take_while(|_| simulation.insert(hash).is_none()).count()
}

#[cfg(test)]
mod tests {
    use super::{Rng, SeedableRng, Shape, Simulation, SmallRng, false_positives};

    #[test]
    fn a_table_holds_all_items_except_those_left_over() {
        for (log, slots, bits) in [(0, 4, 8), (1, 1, 3), (6, 1, 12), (8, 4, 6), (5, 8, 20)] {
            for hashed in [true, false] {
                let shape = Shape { hashed, ..Shape::new(log, slots, bits) };
                let mut rng = SmallRng::seed_from_u64(bits.into());
                let mut simulation = Simulation::new(shape, 7);
                let (mut expected, mut left_over) = (Vec::new(), Vec::new());
                for _ in 0..shape.total_slots() + 3 {
                    let hash = rng.next_u64();
                    expected.push(((u64::from(hash as u32) << bits >> 32) as u32).max(1));
                    match simulation.insert(hash) {
                        None => assert!(simulation.contains(hash), "{shape:?}"),
                        Some(fingerprint) => left_over.push(fingerprint),
                    }
                }
                assert!(left_over.len() >= 3, "more items than slots");
                let mut stored = simulation.slots;
                stored.retain(|&slot| slot != 0);
                stored.extend(left_over);
                stored.sort_unstable();
                expected.sort_unstable();
                assert_eq!(stored, expected, "{shape:?}");
            }
        }
    }

    #[test]
    fn items_stay_present_while_others_are_relocated() {
        for hashed in [true, false] {
            let shape = Shape { hashed, ..Shape::new(9, 4, 12) };
            let (mut rng, mut simulation) = (SmallRng::seed_from_u64(3), Simulation::new(shape, 7));
            let count = shape.total_slots() * 9 / 10;
            let hashes: Vec<u64> = (0..count).map(|_| rng.next_u64()).collect();
            assert!(hashes.iter().all(|&hash| simulation.insert(hash).is_none()), "{shape:?}");
            assert!(hashes.iter().all(|&hash| simulation.contains(hash)), "{shape:?}");
        }
    }

    #[test]
    fn false_positive_rates_match_the_formula() {
        for (slots, bits) in [(2, 7), (4, 8), (8, 9)] {
            let (load, rate) = false_positives(Shape::new(12, slots, bits), 0.8, 400_000, 5);
            assert!((load - 0.8).abs() < 0.001);
            let compared = 2.0 * slots as f64 * load;
            let expected = 1.0 - (1.0 - 1.0 / f64::from((1 << bits) - 1)).powf(compared);
            assert!((rate / expected - 1.0).abs() < 0.08, "{slots} slots: {rate} not {expected}");
        }
    }
}
