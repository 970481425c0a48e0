//! Simulates cuckoo tables with any bucket and fingerprint size on plain arrays, with the papers'
//! addressing or guira's.

mod guira;
mod papers;
mod table;

pub use guira::Guira;
pub use papers::{Papers, Zero};
pub use table::Slot;

use rand::{Rng, SeedableRng, rngs::SmallRng};

/// Hashes whose buckets are read into the caches together before they are inserted one by one.
const WINDOW: usize = 32;

/// The dimensions of a simulated table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub buckets: u32,
    /// Slots per bucket.
    pub slots: usize,
    /// Bits per fingerprint.
    pub bits: u32,
}

impl Shape {
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

/// A simulated table. The high half of a hash selects the first bucket, the low half the
/// fingerprint.
pub trait Simulation {
    /// Inserts the fingerprint of a hash. If no slot is free, returns the fingerprint that is left
    /// over, which may be another one.
    fn insert(&mut self, hash: u64) -> Option<u32>;

    /// Returns `true` if one of the hash's two buckets holds its fingerprint.
    fn contains(&self, hash: u64) -> bool;

    /// Reads the buckets of some hashes into the caches.
    fn prefetch(&self, hashes: &[u64]);

    /// Returns all stored fingerprints.
    #[cfg(test)]
    fn fingerprints(&self) -> Vec<u32>;
}

/// How a table addresses and relocates its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Section 3 of the paper: a power of two of buckets, XOR, a random walk.
    Papers(Zero),
    /// The same without hashing the fingerprint before the XOR, which section 3.1 advises against.
    Unhashed,
    /// guira's: any number of buckets, a reflection, the emptier bucket first, breadth-first
    /// search.
    Guira,
}

impl Scheme {
    /// The scheme of the papers' authors' program.
    pub const PAPER: Self = Self::Papers(Zero::BecomesOne);
    /// The paper's scheme with uniform fingerprints.
    pub const UNIFORM: Self = Self::Papers(Zero::IsLeftOut);
    /// The schemes of the loads of short fingerprints.
    pub const ALL: [Self; 3] = [Self::PAPER, Self::UNIFORM, Self::Guira];

    /// Returns the scheme's name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::PAPER => "paper's addressing",
            Self::Papers(_) => "paper's addressing, uniform fingerprints",
            Self::Unhashed => "paper's addressing, fingerprints not hashed",
            Self::Guira => "guira's addressing",
        }
    }
}

/// Evaluates `$body` with `$simulation` an empty table of a scheme and a shape, stored in the
/// smallest integer type that fits.
macro_rules! with_simulation {
    ($scheme:expr, $shape:expr, $seed:expr, $simulation:ident => $body:expr) => {{
        let (shape, seed) = ($shape, $seed);
        macro_rules! sized {
            ($slot:ty) => {
                match $scheme {
                    Scheme::Papers(zero) => {
                        let mut $simulation = Papers::<$slot>::new(shape, zero, true, seed);
                        $body
                    }
                    Scheme::Unhashed => {
                        let zero = Zero::BecomesOne;
                        let mut $simulation = Papers::<$slot>::new(shape, zero, false, seed);
                        $body
                    }
                    Scheme::Guira => {
                        let mut $simulation = Guira::<$slot>::new(shape);
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

/// Returns the share of slots that is occupied when an insertion first fails.
pub fn load_at_first_refusal(scheme: Scheme, shape: Shape, seed: u64) -> f64 {
    let mut rng = shape.rng(seed);
    with_simulation!(scheme, shape, seed, simulation => {
        fill(&mut simulation, &mut rng, usize::MAX) as f64 / shape.total_slots() as f64
    })
}

/// Fills a table up to a load, and returns the load reached and the false-positive rate, measured
/// by `queries` lookups.
pub fn false_positives(
    scheme: Scheme,
    shape: Shape,
    load: f64,
    queries: usize,
    seed: u64,
) -> (f64, f64) {
    let mut rng = shape.rng(seed);
    with_simulation!(scheme, shape, seed, simulation => {
        let filled = fill(&mut simulation, &mut rng, (shape.total_slots() as f64 * load) as usize);
        let found = (0..queries).filter(|_| simulation.contains(rng.next_u64())).count();
        (filled as f64 / shape.total_slots() as f64, found as f64 / queries as f64)
    })
}

/// Returns how many copies of one item fit into an empty table.
pub fn max_copies(scheme: Scheme, shape: Shape, hash: u64) -> usize {
    with_simulation!(scheme, shape, 0, simulation => {
        (0..=shape.total_slots()).take_while(|_| simulation.insert(hash).is_none()).count()
    })
}

/// Inserts random hashes until `max` are stored or one does not fit, and returns how many are
/// stored.
fn fill(simulation: &mut impl Simulation, rng: &mut SmallRng, max: usize) -> usize {
    let mut filled = 0;
    let mut window = [0; WINDOW];
    loop {
        window.fill_with(|| rng.next_u64());
        simulation.prefetch(&window);
        for hash in window {
            if filled == max || simulation.insert(hash).is_some() {
                return filled;
            }
            filled += 1;
        }
    }
}

/// Maps 32 uniform bits evenly onto `0..n`.
fn reduce(bits: u32, n: u64) -> u32 {
    ((u64::from(bits) * n) >> 32) as u32
}

#[cfg(test)]
mod tests;
