//! Key probes: how a lookup by key finds a value in both words.

use super::{Fastest, addressing::key_shift};
use crate::bucket::BucketLayout;

/// What a lookup by key needs of the bits of a value. A filter keeps it at hand.
#[derive(Clone, Copy, Debug)]
pub struct KeyProbe {
    /// Bits of the low half of a mixed hash that are below a key.
    key_shift: u32,
    /// The lowest bit of the key in every slot.
    ones: u64,
    /// The second operand of the test for equal keys, in each word. For vector code with four slots
    /// of 16 bits: a mask of all keys. Otherwise `ones`, negated: the short zero-lane test
    /// subtracts at the lowest bit of each key, so a lane borrows if all bits of its key are zero.
    operand: Fastest,
    /// The bits of a value.
    value_mask: u32,
}

/// Whether vector code compares slots of 16 bits.
const fn is_4x16<L: BucketLayout>() -> bool {
    cfg!(guira_vectors) && matches!((L::SLOTS, L::BITS), (4, 16))
}

impl KeyProbe {
    /// The probe of tables with this layout and values of this many bits.
    #[inline]
    pub(crate) fn new<L: BucketLayout>(value_bits: u32) -> Self {
        let ones = L::LANES.ones() << value_bits;
        let value_mask = (1 << value_bits) - 1;
        let keys = !L::LANES.broadcast(value_mask);
        Self {
            key_shift: key_shift::<L>(value_bits),
            ones,
            operand: both(if is_4x16::<L>() { keys } else { ones.wrapping_neg() }),
            value_mask,
        }
    }

    /// Bits of the low half of a mixed hash that are below a key.
    #[inline]
    pub(in crate::table) fn key_shift(&self) -> u32 {
        self.key_shift
    }

    /// A word with the key in every slot, and the value zero.
    #[inline]
    fn pattern(&self, key: u32) -> u64 {
        u64::from(key) * self.ones
    }

    /// The value at the end of a slot.
    #[inline]
    pub(super) fn value(&self, slot: u32) -> u16 {
        (slot & self.value_mask) as u16
    }

    /// Returns whether a slot holds this key, and what ends with the lowest such slot of the first
    /// word that has one: at least its value. If there is none, that is of no meaning.
    #[cfg(not(guira_vectors))]
    #[inline]
    pub(super) fn first_slot<L: BucketLayout>(&self, words: Fastest, key: u32) -> (bool, u32) {
        let pattern = self.pattern(key);
        let [first, second]: Fastest = core::array::from_fn(|place| {
            let x = words[place] ^ pattern;
            x.wrapping_add(self.operand[place]) & !x & L::LANES.highs()
        });
        // No branch between the words, as in `either_contains`.
        let (matches, place) = if first == 0 { (second, 8) } else { (first, 0) };
        let byte = place + matches.trailing_zeros() as usize / 8;
        (matches != 0, slot_at::<L>(words, byte))
    }
}

/// What ends with the slot that has the lowest bit of a byte of two words. A byte beyond them
/// stands for no slot.
#[inline]
fn slot_at<L: BucketLayout>(words: [u64; 2], byte: usize) -> u32 {
    let shifts = const { &L::LANES.shifts() };
    (words[byte / 8 % 2] >> (shifts[byte] % 64)) as u32
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

    use super::{KeyProbe, is_4x16, slot_at};
    use crate::{
        bucket::BucketLayout,
        table::fixed::{BothWords, Fastest},
    };

    /// A word twice.
    #[inline]
    pub(super) fn both(word: u64) -> Fastest {
        // SAFETY: the target has SSE2.
        unsafe { _mm_set1_epi64x(word as i64) }
    }

    impl KeyProbe {
        /// As the method of the same name without vectors.
        #[inline]
        pub(in crate::table) fn first_slot<L: BucketLayout>(
            &self,
            words: Fastest,
            key: u32,
        ) -> (bool, u32) {
            // SAFETY: the target has SSE2.
            let x = unsafe { _mm_xor_si128(words, both(self.pattern(key))) };
            if is_4x16::<L>() {
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
                return (matches != 0, slots[byte / 2 % 8].into());
            }
            // SAFETY: the target has SSE2.
            let matches = unsafe {
                let lower = _mm_add_epi64(x, self.operand);
                let zeros = _mm_and_si128(_mm_andnot_si128(x, lower), both(L::LANES.highs()));
                // With a byte beyond the words, which stands for none.
                0x1ffff ^ _mm_movemask_epi8(_mm_cmpeq_epi8(zeros, _mm_setzero_si128())) as u32
            };
            let byte = matches.trailing_zeros() as usize;
            (matches != 1 << 16, slot_at::<L>(words.values(), byte))
        }
    }
}
