//! The floors: what memory and a few instructions cost without any filter.

use std::hint::select_unpredictable;

use guira_harness::Keys;

use crate::memory::advise_huge_pages;

/// Number of keys whose lines are in flight.
const WINDOW: usize = 32;

/// Random words, on huge pages where the system has them, like a filter's table.
pub struct Floors {
    words: Vec<u64>,
}

impl Floors {
    /// Allocates `bytes` bytes.
    pub fn new(bytes: usize) -> Self {
        let mut words: Vec<u64> = Vec::with_capacity(bytes / 8);
        advise_huge_pages(words.as_ptr().addr(), bytes);
        let keys = Keys::new(3);
        words.extend((0..bytes as u64 / 8).map(|index| keys.key(index)));
        Self { words }
    }

    /// R: reads two random lines per key, prefetched in a window that rolls.
    pub fn rolling(&self, keys: &[u64]) -> u64 {
        let (mut sum, mut window) = (0_u64, [[0_usize; 2]; WINDOW]);
        for (at, &key) in keys.iter().enumerate() {
            let next = [key, key.wrapping_mul(0x9e37_79b9_7f4a_7c15)].map(|hash| self.place(hash));
            for place in next {
                prefetch(&raw const self.words[place]);
            }
            let [first, second] = std::mem::replace(&mut window[at % WINDOW], next);
            sum = sum.wrapping_add(self.words[first]).wrapping_add(self.words[second]);
        }
        sum
    }

    /// P: what a lookup in a cuckoo table cannot do without. A mixer, a fingerprint, both buckets,
    /// two loads, and one comparison; nothing is prefetched.
    pub fn probe(&self, keys: &[u64]) -> usize {
        let buckets = self.words.len() as u64;
        let reduce = |bits: u64, n: u64| ((bits & 0xffff_ffff) * n) >> 32;
        let mut found = 0;
        for &key in keys {
            let mixed = Keys::new(0x0123_4567).key(key);
            let fingerprint = 1 + reduce(mixed, 65_535);
            let first = reduce(mixed >> 32, buckets);
            let bits = (fingerprint as u32).wrapping_mul(0x9e37_79b1);
            let bits = (bits ^ (bits >> 15)).wrapping_mul(0x85eb_ca6b);
            let (second, wraps) = reduce(bits.into(), buckets).overflowing_sub(first);
            let second = select_unpredictable(wraps, second.wrapping_add(buckets), second);
            // SAFETY: both are below the number of words.
            let words =
                [first, second].map(|bucket| unsafe { *self.words.get_unchecked(bucket as usize) });
            found += usize::from(words[0] ^ words[1] == fingerprint);
        }
        found
    }

    /// Maps a hash to a word.
    fn place(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.words.len() as u128) >> 64) as usize
    }
}

fn prefetch(word: *const u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and faults on no address, and SSE is part of x86-64.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(word.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = word;
}
