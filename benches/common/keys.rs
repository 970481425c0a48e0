//! Random keys by their index, so that billions of them take no memory.

use std::ops::Range;

use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// Keys of one call of a block's consumer: small beside the caches.
const BLOCK: usize = super::BATCH;

/// An endless row of distinct random keys.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    seed: u64,
}

/// Which keys a row of look-ups asks for.
#[derive(Clone, Copy, Debug)]
pub struct Pick {
    /// Per cent of keys that are in the filter.
    pub present: u32,
    /// Keys with these indices are in the filter.
    pub inserted: (u64, u64),
}

impl Keys {
    /// Another row for each seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The key with an index: `SplitMix64`, which maps no two indices to one key.
    #[inline]
    pub fn key(self, index: u64) -> u64 {
        let mut z = self.seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// The keys of a range of indices.
    pub fn range(self, indices: Range<u64>) -> Vec<u64> {
        indices.map(|index| self.key(index)).collect()
    }

    /// Calls with the keys of a range of indices, a block at a time.
    pub fn blocks(self, indices: Range<u64>, mut call: impl FnMut(&[u64])) {
        let mut block = Vec::with_capacity(BLOCK);
        for from in indices.clone().step_by(BLOCK) {
            block.clear();
            let until = indices.end.min(from + BLOCK as u64);
            block.extend((from..until).map(|index| self.key(index)));
            call(&block);
        }
    }

    /// So many keys to look up, those that are present and those that are not in random order.
    pub fn pick(self, count: usize, pick: Pick, seed: u64) -> Vec<u64> {
        let mut rng = SmallRng::seed_from_u64(seed);
        let (from, until) = pick.inserted;
        (0..count)
            .map(|_| {
                if rng.random_range(0..100) < pick.present {
                    self.key(rng.random_range(from..until))
                } else {
                    // Indices from the upper half are never inserted.
                    self.key(rng.random::<u64>() | 1 << 63)
                }
            })
            .collect()
    }
}
