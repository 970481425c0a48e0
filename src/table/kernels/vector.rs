//! Vectors of one instruction set: what the code of the kernels is generic over.

use core::arch::x86_64::{__m128i, _mm_cvtsi32_si128};

use super::mask;
use crate::{bucket::Lanes, sync::Word};

/// The largest number of lanes.
pub(super) const MAX_LANES: usize = 16;
/// The smallest number of lanes.
pub(super) const MIN_LANES: usize = 4;

/// A vector with one item in each lane of 64 bits.
///
/// A vector is made only by `splat` and `load`, and from other vectors. So where there is one, the
/// processor has its instructions, and all operations on it are safe. The methods are
/// `inline(always)`, because the attribute `target_feature` is not allowed on methods of a trait,
/// and so is all code that uses them, up to a function that has the attribute.
pub(super) trait Vector: Copy {
    /// The number of lanes, from [`MIN_LANES`] to [`MAX_LANES`].
    const LANES: usize;
    /// Whether there is an instruction for products of 64 bits.
    const MULTIPLIES: bool;
    /// A truth value for each half of a lane.
    type Test: Copy;

    /// Returns the value in every lane.
    ///
    /// # Safety
    /// The processor has the instructions, and the caller is compiled for them.
    unsafe fn splat(value: u64) -> Self;

    /// Loads the first values of a slice, one into each lane. Lanes beyond the slice are zero.
    ///
    /// # Safety
    /// As [`splat`](Self::splat).
    unsafe fn load(values: &[u64]) -> Self;

    /// Loads shared words: see `sync/vector.rs`. The addresses are `first` plus the lanes times 8
    /// bytes.
    ///
    /// # Safety
    /// At each of these addresses is a [`Word`], valid for reads.
    unsafe fn gather(self, first: *const Word) -> Self;

    /// Writes the low half of each lane to the start of a slice.
    fn store_low(self, values: &mut [u32]);

    fn xor(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    /// `!self & other`.
    fn and_not(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    /// The products, modulo 2^64.
    fn multiply(self, other: Self) -> Self;
    /// The products of the low halves.
    fn multiply_low(self, other: Self) -> Self;
    fn shift_right(self, bits: u32) -> Self;
    fn shift_left(self, bits: u32) -> Self;

    /// Returns a bit for each lane in which the two differ.
    fn different(self, other: Self) -> u32;
    /// Returns `nonzero` in the lanes in which `self` is not zero, and `zero` in the others.
    fn select(self, nonzero: Self, zero: Self) -> Self;

    /// Shifts each lane to the right by the number of bits in the same lane, up to 16. What comes
    /// in from the left may be anything.
    fn shift_right_each(self, bits: Self) -> Self;

    /// Returns the upper half of each lane in both halves.
    fn upper_halves(self) -> Self;
    /// Returns the lower half of each lane in both halves.
    fn lower_halves(self) -> Self;
    /// Returns the upper halves of `self` as lower halves, beside the upper halves of `other`.
    fn beside(self, other: Self) -> Self;
    fn add_halves(self, other: Self) -> Self;
    fn subtract_halves(self, other: Self) -> Self;
    /// The products of the halves, modulo 2^32.
    fn multiply_halves(self, other: Self) -> Self;
    fn min_halves(self, other: Self) -> Self;
    fn shift_right_halves(self, bits: u32) -> Self;
    /// Shifts each half to the right by the number of bits in the same half, up to 16, and then to
    /// the left by `left`. What comes in from the right may be anything.
    fn shift_each_half(self, right: Self, left: u32) -> Self;
    /// Tests which halves are below those of `other`.
    fn below(self, other: Self) -> Self::Test;
    /// Returns the halves of `yes` where the test is true, and those of `no` elsewhere.
    fn choose(test: Self::Test, yes: Self, no: Self) -> Self;
    /// Adds the halves of `other` where the test is true and `bits` has this bit.
    fn add_if_set(self, test: Self::Test, bits: Self, bit: Self, other: Self) -> Self;

    /// Shifts the slot whose highest bit is the only bit of `mark` to the lowest bits. What is
    /// above it may be anything.
    fn shift_to(self, mark: Self, lanes: &Lanes) -> Self;
    /// Returns the nibbles of the codes.
    ///
    /// # Safety
    /// The table of nibbles has an entry for each code.
    unsafe fn gather_nibbles(self) -> Self;

    /// As [`splat`](Self::splat). There is a vector already.
    #[inline(always)]
    fn all(self, value: u64) -> Self {
        // SAFETY: where `self` is, the processor has the instructions.
        unsafe { Self::splat(value) }
    }

    /// Returns a bit for each lane that is not zero.
    #[inline(always)]
    fn nonzero(self) -> u32 {
        self.different(self.all(0))
    }

    /// Multiplies the low halves, and returns the high halves of the products.
    #[inline(always)]
    fn reduce(self, n: Self) -> Self {
        self.multiply_low(n).shift_right(32)
    }
}

/// Implements methods of [`Vector`] that are one intrinsic each.
macro_rules! by_intrinsics {
    ($($method:ident($($other:ident)?) $intrinsic:expr;)*) => {$(
        #[inline(always)]
        fn $method(self $(, $other: Self)?) -> Self {
            Self(unsafe { $intrinsic(self.0 $(, $other.0)?) })
        }
    )*};
}
pub(super) use by_intrinsics;

/// A count of bits for the shifts that take it from a register. The compiler makes an immediate of
/// a constant.
#[inline(always)]
pub(super) fn count(bits: u32) -> __m128i {
    // SAFETY: the target has SSE2.
    unsafe { _mm_cvtsi32_si128(bits as i32) }
}

/// Returns a mask of the lanes that have an item, if there are this many items from the first lane
/// on.
#[inline(always)]
pub(super) fn lanes_of<V: Vector>(items: usize) -> u32 {
    mask(V::LANES.min(items))
}

/// The vectors of AVX2.
pub(super) trait InAvx2: Vector {}
/// The vectors of AVX-512.
pub(super) trait InAvx512: Vector {}
