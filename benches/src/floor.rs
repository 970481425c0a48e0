//! The memory floor: the cost of random cache lines without any filter.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::memory::advise_huge_pages;

/// Number of keys whose lines are prefetched together.
const WINDOW: usize = 32;

/// Memory of random words, on huge pages where the system has them, like a filter's table.
#[derive(Debug)]
pub struct Floor {
    words: Vec<AtomicU64>,
}

impl Floor {
    /// Allocates `bytes` bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let mut words: Vec<AtomicU64> = Vec::with_capacity(bytes / 8);
        advise_huge_pages(words.as_ptr().addr(), bytes);
        words.extend((0..bytes as u64 / 8).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).into()));
        Self { words }
    }

    /// Reads `LINES` random lines per key, prefetched in windows of 32. With two lines this is F.
    #[must_use]
    pub fn read<const LINES: usize>(&self, keys: &[u64]) -> u64 {
        let mut sum = 0_u64;
        for keys in keys.chunks(WINDOW) {
            let mut places = [[0_usize; LINES]; WINDOW];
            for (place, &key) in places.iter_mut().zip(keys) {
                for (line, place) in place.iter_mut().enumerate() {
                    *place = self.place((key >> (32 * line)) as u32);
                    prefetch(&raw const self.words[*place]);
                }
            }
            for place in &places[..keys.len()] {
                for &place in place {
                    sum = sum.wrapping_add(self.words[place].load(Relaxed));
                }
            }
        }
        sum
    }

    /// Executes one locked instruction on one random line per key, without prefetching. This is R,
    /// the floor of single writes.
    pub fn write_locked(&self, keys: &[u64]) {
        for &key in keys {
            self.words[self.place(key as u32)].fetch_add(1, Relaxed);
        }
    }

    /// Maps 32 random bits to a word.
    fn place(&self, bits: u32) -> usize {
        ((u64::from(bits) * self.words.len() as u64) >> 32) as usize
    }
}

fn prefetch(word: *const AtomicU64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and faults on no address, and SSE is part of x86-64.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(word.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = word;
}
