//! SWAR: all lanes of a word in a handful of instructions.

use super::Census;

/// Lanes of equal width side by side in a word, lowest lane in the lowest bits; what stands below the
/// first lane or above the last does not matter.
///
/// A value of this type is meant to be a constant, so that nothing of it is left in compiled code.
///
/// Two zero-lane tests are used (Warren, Hacker's Delight, section 6-1):
/// - the *short* one, `(x - 1) & !x & high` in every lane. It says exactly whether there is a zero
///   lane, and its lowest set bit is exactly the lowest zero lane; bits above that one can be
///   wrong, because the subtraction borrows from the next lane.
/// - the *exact* one, which adds inside the lanes and so carries nowhere. Every bit is right.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    count: u32,
    bits: u32,
    /// Where the lowest lane begins.
    shift: u32,
    /// The lowest bit of every lane; multiplying by it broadcasts a value to all lanes.
    ones: u64,
    /// The highest bit of every lane: where the zero-lane tests leave their answer.
    highs: u64,
    /// Every bit of every lane but the highest.
    lows: u64,
    /// Every bit above the lanes.
    above: u64,
}

impl Lanes {
    /// `count` lanes of `bits` bits, the lowest of which begins at bit `shift`.
    ///
    /// # Panics
    /// If they do not fit into a word, or have no bits.
    pub(crate) const fn new(count: u32, bits: u32, shift: u32) -> Self {
        assert!(count > 0 && bits > 0 && bits < 32 && shift + count * bits <= 64);
        let mut ones = 0;
        let mut lane = 0;
        while lane < count {
            ones |= 1 << (shift + lane * bits);
            lane += 1;
        }
        let highs = ones << (bits - 1);
        let lows = highs - ones;
        // In two steps: the lanes may end at the word's last bit.
        let above = u64::MAX << (shift + count * bits - 1) << 1;
        Self { count, bits, shift, ones, highs, lows, above }
    }

    /// The value in every lane.
    #[inline]
    pub(crate) const fn broadcast(self, value: u32) -> u64 {
        value as u64 * self.ones
    }

    /// The high bits of the zero lanes of `x`: zero when there is none, right at its lowest set
    /// bit, perhaps wrong above that.
    #[inline]
    pub(crate) const fn zeros_short(self, x: u64) -> u64 {
        x.wrapping_sub(self.ones) & !x & self.highs
    }

    /// The high bits of exactly the zero lanes of `x`.
    #[inline]
    pub(crate) const fn zeros(self, x: u64) -> u64 {
        !(((x & self.lows) + self.lows) | x) & self.highs
    }

    /// How many lanes a mask of high bits marks.
    #[inline]
    pub(crate) const fn marked(self, mask: u64) -> u32 {
        if self.count < 1 << self.bits && self.shift == 0 {
            // One multiply sums the lanes into the highest one, where the sum fits. (A population
            // count is a dozen instructions on baseline x86-64.)
            let sums = (mask >> (self.bits - 1)).wrapping_mul(self.ones);
            (sums >> self.highest()) as u32 & (u32::MAX >> (32 - self.bits))
        } else {
            mask.count_ones()
        }
    }

    /// The shift of the lane whose high bit is the lowest set one of `mask`.
    #[inline]
    pub(crate) const fn lowest(self, mask: u64) -> u32 {
        mask.trailing_zeros() - (self.bits - 1)
    }

    /// How many lanes of all these words are not zero, and whether in every word no lane above a zero lane is
    /// other than zero, nor a bit above the lanes.
    ///
    /// Without a branch on any word, so that compilers make vectors of it.
    #[inline]
    pub(crate) fn census(self, words: &[u64]) -> Census {
        let mut zero_lanes = 0;
        let mut wrong = 0;
        // As many words as every lane can count, up to where longer blocks gain nothing.
        for block in words.chunks(1 << (self.bits - 1).min(7)) {
            let mut counts = 0;
            for &word in block {
                let zeros = self.zeros(word);
                counts += zeros >> (self.bits - 1);
                let above_zeros = (zeros << self.bits) & self.highs;
                wrong |= above_zeros & !zeros | word & self.above;
            }
            zero_lanes += self.sum(counts);
        }
        let lanes = words.len() as u64 * u64::from(self.count);
        Census { occupied: lanes - zero_lanes, valid: wrong == 0 }
    }

    /// The sum of all lanes.
    #[inline]
    fn sum(self, lanes: u64) -> u64 {
        let shifts = (0..self.count).map(|lane| self.shift + lane * self.bits);
        shifts.map(|shift| lanes >> shift & (u64::MAX >> (64 - self.bits))).sum()
    }

    /// The shift of the highest lane.
    #[inline]
    pub(crate) const fn highest(self) -> u32 {
        self.shift + (self.count - 1) * self.bits
    }
}
