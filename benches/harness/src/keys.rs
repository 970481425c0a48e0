//! Random keys by index, so that billions of them take no memory.

use std::ops::Range;

use rand::{RngExt, SeedableRng, rngs::SmallRng};

use crate::BATCH;

/// An endless sequence of distinct random keys.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    seed: u64,
}

/// The share of present keys in a sequence of lookups.
#[derive(Clone, Copy, Debug)]
pub struct Pick {
    /// Per cent of keys that are in the filter.
    pub present: u32,
    /// First index, and end, of the keys that are in the filter.
    pub inserted: (u64, u64),
}

impl Keys {
    /// Returns the sequence of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Returns the key at an index. `SplitMix64` maps no two indices to one key.
    #[inline]
    #[must_use]
    pub fn key(self, index: u64) -> u64 {
        let mut z = self.seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns the keys at a range of indices.
    #[must_use]
    pub fn range(self, indices: Range<u64>) -> Vec<u64> {
        indices.map(|index| self.key(index)).collect()
    }

    /// Calls `call` with the keys at a range of indices, in blocks of at most [`BATCH`].
    pub fn blocks(self, indices: Range<u64>, mut call: impl FnMut(&[u64])) {
        let mut block = Vec::with_capacity(BATCH);
        for from in indices.clone().step_by(BATCH) {
            block.clear();
            let until = indices.end.min(from + BATCH as u64);
            block.extend((from..until).map(|index| self.key(index)));
            call(&block);
        }
    }

    /// Returns `count` keys to look up, present and absent ones in random order.
    #[must_use]
    pub fn pick(self, count: usize, pick: Pick, seed: u64) -> Vec<u64> {
        let mut rng = SmallRng::seed_from_u64(seed);
        let (from, until) = pick.inserted;
        (0..count)
            .map(|_| {
                if rng.random_range(0..100) < pick.present {
                    self.key(rng.random_range(from..until))
                } else {
                    // Indices of the upper half are never inserted.
                    self.key(rng.random::<u64>() | 1 << 63)
                }
            })
            .collect()
    }
}
