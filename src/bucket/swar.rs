//! SWAR: operations on all lanes of a word in a handful of instructions.

/// Adjacent lanes of equal width in a word, the first lane in the lowest bits. Bits below the first
/// lane and above the last one may have any value.
///
/// There are two zero-lane tests (Warren, Hacker's Delight, section 6-1). Both mark zero lanes by
/// their highest bits:
/// - the *short* test, `(x - 1) & !x & high` in every lane. It is nonzero if and only if there is a
///   zero lane, and its lowest set bit marks the lowest zero lane. Bits above that one can be
///   wrong, because the subtraction borrows from the next lane.
/// - the *exact* test, which adds within each lane, so no lane carries into the next one. Every bit
///   is right.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    pub(super) count: u32,
    pub(super) bits: u32,
    /// The position of the lowest bit of the first lane.
    pub(super) shift: u32,
    /// The lowest bit of every lane. A multiplication by it broadcasts a value to all lanes.
    pub(super) ones: u64,
    /// The highest bit of every lane, where the zero-lane tests leave their result.
    pub(super) highs: u64,
    /// All bits of every lane except the highest.
    pub(super) lows: u64,
    /// All bits above the lanes.
    pub(super) above: u64,
}

impl Lanes {
    /// Returns `count` lanes of `bits` bits, of which the first begins at bit `shift`.
    ///
    /// # Panics
    /// If there are no lanes, if `bits` is not in `1 ..= 32`, or if the lanes do not fit into a
    /// word.
    pub(crate) const fn new(count: u32, bits: u32, shift: u32) -> Self {
        assert!(count > 0 && bits > 0 && bits <= 32 && shift + count * bits <= 64);
        let mut ones = 0;
        let mut lane = 0;
        while lane < count {
            ones |= 1 << (shift + lane * bits);
            lane += 1;
        }
        let highs = ones << (bits - 1);
        let lows = highs - ones;
        // Two shifts, because the lanes may end at the highest bit of the word, and a shift by 64
        // overflows.
        let above = u64::MAX << (shift + count * bits - 1) << 1;
        Self { count, bits, shift, ones, highs, lows, above }
    }

    /// Returns a word with the value in every lane.
    #[inline]
    pub(crate) const fn broadcast(self, value: u32) -> u64 {
        value as u64 * self.ones
    }

    /// The short test: marks the lowest zero lane of `x`, if there is one. Marks above it can be
    /// wrong.
    #[inline]
    pub(crate) const fn zeros_short(self, x: u64) -> u64 {
        x.wrapping_sub(self.ones) & !x & self.highs
    }

    /// The exact test: marks all zero lanes of `x`.
    #[inline]
    pub(crate) const fn zeros(self, x: u64) -> u64 {
        !(((x & self.lows) + self.lows) | x) & self.highs
    }

    /// Marks all lanes of `x` that are not zero.
    #[inline]
    pub(crate) const fn nonzeros(self, x: u64) -> u64 {
        (((x & self.lows) + self.lows) | x) & self.highs
    }

    /// Returns the shift of the lowest lane that `mask` marks.
    #[inline]
    pub(crate) const fn lowest(self, mask: u64) -> u32 {
        mask.trailing_zeros() - (self.bits - 1)
    }

    /// Returns the shift of the last lane.
    #[inline]
    pub(crate) const fn highest(self) -> u32 {
        self.shift + (self.count - 1) * self.bits
    }

    /// Removes the marked lanes, and moves the lanes above each of them down. All lanes must be
    /// those of a plain layout, which begin at the lowest bit.
    #[inline]
    pub(crate) const fn without(self, mut word: u64, mut marks: u64) -> u64 {
        // The highest first, so that the other marks stay right.
        while marks != 0 {
            let mark = 1 << marks.ilog2();
            let below = (1 << self.lowest(mark)) - 1;
            word = word & below | (word >> self.bits) & !below;
            marks ^= mark;
        }
        word
    }

    /// Returns the lane with this mark.
    #[inline]
    pub(crate) const fn slot(self, word: u64, mark: u64) -> u32 {
        (word >> self.lowest(mark)) as u32 & (u32::MAX >> (32 - self.bits))
    }

    /// Returns the number of bits of a lane.
    #[inline]
    pub(crate) const fn bits(self) -> u32 {
        self.bits
    }

    /// Returns the lowest bit of every lane.
    #[inline]
    pub(crate) const fn ones(self) -> u64 {
        self.ones
    }

    /// Returns the highest bit of every lane.
    #[inline]
    pub(crate) const fn highs(self) -> u64 {
        self.highs
    }
}

/// Returns, for each byte of two words, the shift of the lane that has the byte's lowest bit, if
/// lanes of these bits begin at the lowest bit of each word.
pub(super) const fn shifts(bits: u32) -> [u8; 16] {
    let mut shifts = [0; 16];
    let mut byte = 0;
    while byte < shifts.len() {
        shifts[byte] = (byte as u32 % 8 * 8 / bits * bits) as u8;
        byte += 1;
    }
    shifts
}
