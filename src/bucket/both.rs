//! Both words of an item, as a lookup compares them with a key: on x86-64 in one register of SSE2,
//! where a comparison takes half as many instructions as in general registers. Until the words have
//! arrived from memory, these instructions wait in the scheduler, and leave less room for the next
//! lookups.
//!
//! What is compared is the lane of the key. So in semi-sorted words a match is only likely.

use super::{
    Leveled, Slots,
    leveled::{Compared, SLOTS_MASK},
};
use crate::sync::Word;

/// A word twice, aligned as a register of SSE2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(16))]
pub(crate) struct Twice([u64; 2]);

impl Twice {
    pub(crate) const fn new(word: u64) -> Self {
        Self([word; 2])
    }

    /// The word.
    #[inline]
    pub(crate) const fn get(self) -> u64 {
        self.0[0]
    }
}

impl Expected {
    /// What is expected, given the patterns and the empty words.
    #[cfg_attr(not(guira_vectors), expect(clippy::useless_conversion, reason = "of vectors"))]
    #[inline]
    pub(crate) fn new(patterns: [u64; 2], levels: [u64; 2]) -> Self {
        Self { patterns: patterns.into(), levels: levels.into() }
    }
}

/// Both words of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BothWords(Register);

/// What both words of an item of a table that grows are compared with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// For each side, the pattern of the item in every lane.
    pub(crate) patterns: Register,
    /// For each side, the empty word of the level.
    pub(crate) levels: Register,
}

impl BothWords {
    /// Returns whether a lane of one of them is that of the key, whatever its value is.
    #[inline]
    pub(crate) fn may_hold(self, slots: &Slots, key: u32) -> bool {
        self.marks(slots, slots.pattern(key)) != 0
    }

    /// As [`may_hold`](Self::may_hold), for plain words, whose lanes hold whole keys.
    #[inline]
    pub(crate) fn hold_plain(self, slots: &Slots, key: u32) -> bool {
        self.marks(slots, u64::from(key) * slots.keys) != 0
    }

    /// Returns whether a lane is that of the key, and what ends with the first such slot of the
    /// first word that has one: at least its value. If there is none, that has no meaning.
    #[inline]
    pub(crate) fn first_match(self, slots: &Slots, key: u32) -> (bool, u32) {
        let marks = self.marks(slots, u64::from(key) * slots.keys);
        (marks != 0, self.first_slot(marks, &slots.shifts))
    }

    /// What ends with the slot of the first byte that is marked, if there is one, given the shifts
    /// of the lanes.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn first_slot(self, marks: u32, shifts: &[u8; 16]) -> u32 {
        let byte = (marks | 1 << 15).trailing_zeros() as usize % 16;
        (self.words()[byte / 8] >> (shifts[byte] % 64)) as u32
    }

    /// Compares words of a table that grows with what is expected. With `VALUES`, the value of the
    /// slot that matches is looked for.
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    pub(crate) fn compare<const VALUES: bool>(
        self,
        leveled: &Leveled,
        expected: Expected,
    ) -> Compared {
        let (marks, is_level) = self.leveled_marks(leveled, expected);
        let is_sole = !VALUES || marks & marks.wrapping_sub(1) == 0;
        let value = if VALUES {
            self.first_slot(marks, &leveled.shifts) as u16 & leveled.value_mask
        } else {
            0
        };
        Compared { found: marks != 0, settled: is_level & is_sole, value }
    }
}

#[cfg(guira_vectors)]
mod in_vectors {
    use bytemuck::cast;
    use wide::{u8x16, u16x8, u64x2};

    use super::{BothWords, Expected, Leveled, SLOTS_MASK, Slots, Twice, Word};
    use crate::sync::vector::load_both;

    pub(crate) type Register = u64x2;

    impl Twice {
        #[inline]
        pub(crate) fn load(&self) -> u64x2 {
            cast(self.0)
        }
    }

    impl BothWords {
        /// Loads two words by Acquire.
        ///
        /// # Safety
        /// Both numbers are less than the number of words.
        #[inline]
        pub(crate) unsafe fn load(words: &[Word], buckets: [u32; 2]) -> Self {
            // SAFETY: the caller promises it.
            unsafe { Self::load_from::<false>(words.as_ptr(), buckets.map(u64::from)) }
        }

        /// As [`load`](Self::load), given the first of the words.
        ///
        /// # Safety
        /// At these numbers from there on are words, valid for reads. With `AVX`, the processor has
        /// its instructions.
        #[expect(clippy::inline_always, reason = "as `load_both`")]
        #[inline(always)]
        pub(crate) unsafe fn load_from<const AVX: bool>(
            first: *const Word,
            buckets: [u64; 2],
        ) -> Self {
            // SAFETY: the caller promises it.
            Self(cast(unsafe { load_both::<AVX>(first, buckets) }))
        }

        /// The words.
        #[inline]
        pub(crate) fn words(self) -> [u64; 2] {
            self.0.to_array()
        }

        /// As `hold_plain`, for slots of sets with lanes of 16 bits.
        #[inline]
        pub(crate) fn hold_4x16(self, _slots: &Slots, key: u32) -> bool {
            let words: u16x8 = cast(self.0);
            let equal: u8x16 = cast(words.cmp_eq(u16x8::splat(key as u16)));
            equal.any()
        }

        /// As `hold_plain`, for slots of sets with lanes of 8 bits.
        #[inline]
        pub(crate) fn hold_8x8(self, _slots: &Slots, key: u32) -> bool {
            let words: u8x16 = cast(self.0);
            words.cmp_eq(u8x16::splat(key as u8)).any()
        }

        /// A bit for each byte that has the highest bit of a matching lane, and perhaps bits above
        /// the lowest one. The short test of `swar.rs` on both words. It subtracts at the lowest
        /// bit of each key, so a lane borrows if all bits of its key are zero.
        #[inline]
        pub(super) fn marks(self, slots: &Slots, pattern: u64) -> u32 {
            let x = self.0 ^ u64x2::splat(pattern);
            let zeros: u8x16 = cast((x + slots.minus_keys.load()) & !x & slots.highs.load());
            0xffff ^ zeros.cmp_eq(u8x16::splat(0)).move_mask() as u32
        }

        /// A bit for each byte that has the highest bit of a lane that matches, and whether both
        /// words have their levels. See [`Leveled::matches`].
        #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
        #[inline(always)]
        pub(super) fn leveled_marks(self, leveled: &Leveled, expected: Expected) -> (u32, bool) {
            let [lows, highs, ones, compared] = leveled.twice.each_ref().map(Twice::load);
            let slots = self.0 & u64x2::splat(SLOTS_MASK);
            let differences = (slots ^ expected.patterns) & compared | highs;
            let until = differences ^ (differences - ones);
            let nonzeros = |x: u64x2| ((x & lows) + lows) | x;
            let marks: u8x16 = cast(nonzeros(slots) & !nonzeros(slots & !until) & highs);
            let levels: u8x16 = cast((self.0 ^ expected.levels) & u64x2::splat(!SLOTS_MASK));
            let zeros = |x: u8x16| x.cmp_eq(u8x16::splat(0)).move_mask() as u32;
            (0xffff ^ zeros(marks), zeros(levels) == 0xffff)
        }
    }
}
#[cfg(guira_vectors)]
pub(crate) use in_vectors::Register;

#[cfg(not(guira_vectors))]
mod in_words {
    use super::{BothWords, Expected, Leveled, SLOTS_MASK, Slots, Word};
    use crate::sync::Acquire;

    pub(crate) type Register = [u64; 2];

    impl BothWords {
        /// Loads two words by Acquire.
        ///
        /// # Safety
        /// Both numbers are less than the number of words.
        #[inline]
        pub(crate) unsafe fn load(words: &[Word], buckets: [u32; 2]) -> Self {
            // SAFETY: the caller promises it.
            let word = |bucket: u32| unsafe { words.get_unchecked(bucket as usize) };
            Self::load_by(word(buckets[0]), word(buckets[1]))
        }

        /// As [`load`](Self::load), by references.
        #[inline]
        pub(crate) fn load_by(first: &Word, second: &Word) -> Self {
            Self([first.load(Acquire), second.load(Acquire)])
        }

        /// The words.
        #[inline]
        pub(crate) fn words(self) -> [u64; 2] {
            self.0
        }

        /// As `hold_plain`. Without vectors there is nothing faster.
        #[inline]
        pub(crate) fn hold_4x16(self, slots: &Slots, key: u32) -> bool {
            self.hold_plain(slots, key)
        }

        /// As above.
        #[inline]
        pub(crate) fn hold_8x8(self, slots: &Slots, key: u32) -> bool {
            self.hold_plain(slots, key)
        }

        /// As with vectors, with a bit for the first match alone.
        #[inline]
        pub(super) fn marks(self, slots: &Slots, pattern: u64) -> u32 {
            let [first, second] = self.0.map(|word| {
                let x = word ^ pattern;
                x.wrapping_add(slots.minus_keys.get()) & !x & slots.highs.get()
            });
            // No branch between the words: it would be mispredicted half of the time.
            let (marks, place) = if first == 0 { (second, 8) } else { (first, 0) };
            if marks == 0 { 0 } else { 1 << (place + marks.trailing_zeros() / 8) }
        }

        /// As with vectors.
        #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
        #[inline(always)]
        pub(super) fn leveled_marks(self, leveled: &Leveled, expected: Expected) -> (u32, bool) {
            let (mut bytes, mut differences) = (0, 0);
            for (place, word) in self.0.into_iter().enumerate() {
                let mut marks = leveled.matches_pattern(word, expected.patterns[place]);
                differences |= (word ^ expected.levels[place]) & !SLOTS_MASK;
                while marks != 0 {
                    bytes |= 1 << (place as u32 * 8 + marks.trailing_zeros() / 8);
                    marks &= marks - 1;
                }
            }
            (bytes, differences == 0)
        }
    }
}
#[cfg(not(guira_vectors))]
pub(crate) use in_words::Register;
