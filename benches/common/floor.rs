//! The memory floor: what random cache lines cost without any filter.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Keys whose lines are asked for together.
const WINDOW: usize = 32;

/// Memory of random words, on huge pages where the system has them, as a filter's table is.
pub struct Floor {
    words: Vec<AtomicU64>,
}

impl Floor {
    /// As many bytes.
    pub fn new(bytes: usize) -> Self {
        let mut words: Vec<AtomicU64> = Vec::with_capacity(bytes / 8);
        advise_huge_pages(words.as_ptr().addr(), bytes);
        words.extend((0..bytes as u64 / 8).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).into()));
        Self { words }
    }

    /// Reads `LINES` random lines per key, prefetched in windows of 32: with two, this is F.
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

    /// One locked instruction on a random line per key, nothing prefetched: with this, R, compare
    /// what writes one key after another.
    pub fn write_locked(&self, keys: &[u64]) {
        for &key in keys {
            self.words[self.place(key as u32)].fetch_add(1, Relaxed);
        }
    }

    /// Spreads 32 random bits over the words.
    fn place(&self, bits: u32) -> usize {
        ((u64::from(bits) * self.words.len() as u64) >> 32) as usize
    }
}

/// Asks for huge pages for the whole ones among so many bytes.
pub fn advise_huge_pages(start: usize, bytes: usize) {
    #[cfg(target_os = "linux")]
    {
        let huge = 2 << 20;
        let (from, until) = (start.next_multiple_of(huge), (start + bytes) & !(huge - 1));
        if from < until {
            // SAFETY: whole pages of memory that the caller has; the advice changes no contents.
            unsafe { libc::madvise(from as *mut libc::c_void, until - from, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, bytes);
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
