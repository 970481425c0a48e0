//! Key probes: how a lookup by key finds a value in words whose layout is known at run time.

use super::Fastest;
use crate::bucket::{BucketLayout, fingerprints};

/// What a lookup by key needs of the layout and of the bits of a value.
///
/// With these numbers at hand, `get` has the same code for all layouts: no jump by layout, and no
/// shift by the bits of a value.
#[derive(Clone, Copy, Debug)]
pub struct KeyProbe {
    /// The number of fingerprints.
    count: u64,
    /// The lowest bit of the key in every slot.
    ones: u64,
    /// The second operand of the test for equal keys, in each word. For vector code with four slots
    /// of 16 bits: a mask of all keys. Otherwise `ones`, negated: the short zero-lane test
    /// subtracts at the lowest bit of each key, so a lane borrows if all bits of its key are zero.
    operand: Fastest,
    /// In each word, the highest bit of every slot.
    highs: Fastest,
    /// For each byte of two words, the position in its word of the slot that has the byte's lowest
    /// bit. The last one stands for no slot.
    shifts: [u8; 17],
    /// The bits of a value.
    value_mask: u32,
    /// Whether vector code compares slots of 16 bits.
    #[cfg(guira_vectors)]
    is_4x16: bool,
}

impl KeyProbe {
    /// The probe of tables with this layout and values of this many bits.
    #[inline]
    pub(crate) fn new<L: BucketLayout>(value_bits: u32) -> Self {
        let ones = L::LANES.ones() << value_bits;
        let value_mask = (1 << value_bits) - 1;
        let is_4x16 = cfg!(guira_vectors) && matches!((L::SLOTS, L::BITS), (4, 16));
        let keys = !L::LANES.broadcast(value_mask);
        Self {
            count: fingerprints::<L>(value_bits).into(),
            ones,
            operand: both(if is_4x16 { keys } else { ones.wrapping_neg() }),
            highs: both(L::LANES.highs()),
            shifts: const { L::LANES.shifts() },
            value_mask,
            #[cfg(guira_vectors)]
            is_4x16,
        }
    }

    /// The number of fingerprints.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// A word with the key in every slot, and the value zero.
    #[inline]
    fn pattern(&self, key: u32) -> u64 {
        u64::from(key) * self.ones
    }

    /// Returns whether a slot holds this key, and the value in the lowest such slot of the first
    /// word that has one. If there is none, the value is of no meaning.
    #[cfg(not(guira_vectors))]
    #[inline]
    pub(super) fn first_value(&self, words: Fastest, key: u32) -> (bool, u16) {
        let pattern = self.pattern(key);
        let [first, second]: Fastest = core::array::from_fn(|place| {
            let x = words[place] ^ pattern;
            x.wrapping_add(self.operand[place]) & !x & self.highs[place]
        });
        // No branch between the words, as in `either_contains`.
        let (matches, word) = if first == 0 { (second, words[1]) } else { (first, words[0]) };
        let byte = matches.trailing_zeros() / 8;
        let slot = (word >> (self.shifts[byte as usize] % 64)) as u32;
        (matches != 0, (slot & self.value_mask) as u16)
    }
}

/// A word twice.
#[cfg(not(guira_vectors))]
#[inline]
fn both(word: u64) -> Fastest {
    [word; 2]
}
#[cfg(guira_vectors)]
use sse2::both;

#[cfg(guira_vectors)]
mod sse2 {
    use core::arch::x86_64::{
        _mm_add_epi64, _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_cmpeq_epi16,
        _mm_movemask_epi8, _mm_set1_epi64x, _mm_setzero_si128, _mm_xor_si128,
    };

    use super::KeyProbe;
    use crate::table::fixed::{BothWords, Fastest};

    /// A word twice.
    #[inline]
    pub(super) fn both(word: u64) -> Fastest {
        // SAFETY: the target has SSE2.
        unsafe { _mm_set1_epi64x(word as i64) }
    }

    impl KeyProbe {
        /// As the method of the same name without vectors.
        #[inline]
        pub(in crate::table) fn first_value(&self, words: Fastest, key: u32) -> (bool, u16) {
            // SAFETY: the target has SSE2.
            let x = unsafe { _mm_xor_si128(words, both(self.pattern(key))) };
            if self.is_4x16 {
                // A slot with the key now holds the value alone. Read it from memory: a load from a
                // computed address is one instruction.
                // SAFETY: every value of 128 bits is such an array.
                let slots: [u16; 8] = unsafe { core::mem::transmute(x) };
                // SAFETY: the target has SSE2.
                let matches = unsafe {
                    let keys = _mm_and_si128(x, self.operand);
                    _mm_movemask_epi8(_mm_cmpeq_epi16(keys, _mm_setzero_si128())) as u32
                };
                // A byte beyond the words stands for none.
                let byte = (matches | 1 << 16).trailing_zeros() as usize;
                return (matches != 0, slots[byte / 2 % 8]);
            }
            // SAFETY: the target has SSE2.
            let matches = unsafe {
                let lower = _mm_add_epi64(x, self.operand);
                let zeros = _mm_and_si128(_mm_andnot_si128(x, lower), self.highs);
                // With a byte beyond the words, which stands for none.
                0x1ffff ^ _mm_movemask_epi8(_mm_cmpeq_epi8(zeros, _mm_setzero_si128())) as u32
            };
            let byte = matches.trailing_zeros() as usize;
            let slot = (words.values()[byte / 8 % 2] >> (self.shifts[byte] % 64)) as u32;
            (matches != 1 << 16, (slot & self.value_mask) as u16)
        }
    }
}
