//! Where items go, simulated for buckets and fingerprints of any size: by the papers' rules and by
//! this library's, on plain arrays.

mod library;
mod papers;
mod table;

pub use library::Library;
pub use papers::{Papers, Zero};
pub use table::Slot;

use rand::{Rng, SeedableRng, rngs::SmallRng};

/// Hashes whose buckets are asked for together, before they are inserted one by one.
const WINDOW: usize = 32;

/// A filter's table: so many buckets, of so many slots, for so many bits of a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub buckets: u32,
    pub slots: usize,
    pub bits: u32,
}

impl Shape {
    /// Slots of the table in all.
    pub fn room(self) -> usize {
        self.buckets as usize * self.slots
    }

    /// A random order of places for each seed.
    fn rng(self, seed: u64) -> SmallRng {
        let shape = u64::from(self.buckets) << 16 | (self.slots as u64) << 8 | u64::from(self.bits);
        SmallRng::seed_from_u64(shape.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed)
    }
}

/// How items are placed. A hash's high half chooses the first bucket, its low half the fingerprint.
pub trait Placement {
    /// Stores the fingerprint of a hash. `Some` when there is no room, with the fingerprint that is
    /// left over: this or another.
    fn insert(&mut self, hash: u64) -> Option<u32>;

    /// Whether one of the hash's two buckets holds its fingerprint.
    fn contains(&self, hash: u64) -> bool;

    /// Brings the buckets of some hashes into the caches.
    fn warm(&self, hashes: &[u64]);

    /// Every fingerprint stored.
    #[cfg(test)]
    fn fingerprints(&self) -> Vec<u32>;
}

/// Whose rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Section 3 of the paper: power of two, XOR, a random walk.
    Papers(Zero),
    /// Any number of buckets, a reflection, the emptier bucket first, breadth-first search.
    Library,
}

/// Runs the body with `$placement` an empty one of a rule and a shape, with the smallest slots.
macro_rules! with_placement {
    ($rule:expr, $shape:expr, $seed:expr, $placement:ident => $body:expr) => {{
        let (shape, seed) = ($shape, $seed);
        macro_rules! sized {
            ($slot:ty) => {
                match $rule {
                    Rule::Papers(zero) => {
                        let mut $placement = Papers::<$slot>::new(shape, zero, seed);
                        $body
                    }
                    Rule::Library => {
                        let mut $placement = Library::<$slot>::new(shape, seed);
                        $body
                    }
                }
            };
        }
        match shape.bits {
            ..=8 => sized!(u8),
            ..=16 => sized!(u16),
            _ => sized!(u32),
        }
    }};
}

/// The share of the slots that is occupied when the first item finds no room.
pub fn load_at_first_refusal(rule: Rule, shape: Shape, seed: u64) -> f64 {
    let mut rng = shape.rng(seed);
    with_placement!(rule, shape, seed, placement => {
        fill(&mut placement, &mut rng, usize::MAX) as f64 / shape.room() as f64
    })
}

/// Fills a table to a load, and returns the load reached and the share of `queries` absent hashes
/// that seem to be there.
pub fn false_positives(
    rule: Rule,
    shape: Shape,
    load: f64,
    queries: usize,
    seed: u64,
) -> (f64, f64) {
    let mut rng = shape.rng(seed);
    with_placement!(rule, shape, seed, placement => {
        let filled = fill(&mut placement, &mut rng, (shape.room() as f64 * load) as usize);
        let found = (0..queries).filter(|_| placement.contains(rng.next_u64())).count();
        (filled as f64 / shape.room() as f64, found as f64 / queries as f64)
    })
}

/// How many copies of one item fit into an empty table.
pub fn copies_of_one(rule: Rule, shape: Shape, hash: u64) -> usize {
    with_placement!(rule, shape, 0, placement => {
        (0..=shape.room()).take_while(|_| placement.insert(hash).is_none()).count()
    })
}

/// Inserts random hashes up to a number of them or to the first that finds no room; returns how
/// many there are.
fn fill(placement: &mut impl Placement, rng: &mut SmallRng, most: usize) -> usize {
    let mut filled = 0;
    let mut window = [0; WINDOW];
    loop {
        window.fill_with(|| rng.next_u64());
        placement.warm(&window);
        for hash in window {
            if filled == most || placement.insert(hash).is_some() {
                return filled;
            }
            filled += 1;
        }
    }
}

/// Maps 32 uniform bits evenly onto `0 .. n`.
fn reduce(bits: u32, n: u64) -> u32 {
    ((u64::from(bits) * n) >> 32) as u32
}

#[cfg(test)]
mod tests;
