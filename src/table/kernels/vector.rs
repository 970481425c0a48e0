//! Vectors of one instruction set: what the code of the kernels is generic over.

use super::{Part, mask};
use crate::sync::Word;

/// A vector with one item in each lane of 64 bits.
///
/// A vector is made only by `splat` and `load`, and from other vectors. So where there is one, the
/// processor has its instructions, and all operations on it are safe. The methods are
/// `inline(always)`, because the attribute `target_feature` is not allowed on methods of a trait,
/// and so is all code that uses them, up to a function that has the attribute.
pub(super) trait Vector: Copy {
    /// The number of lanes.
    const LANES: usize;
    /// A bit for each lane.
    const ALL: u32 = (1 << Self::LANES) - 1;
    /// The lanes in memory.
    type Array: AsRef<[u64]>;
    /// One of each vector in a batch window, and in the longest burst.
    type Window<T: Copy>: AsMut<[T]>;
    type Burst<T: Copy>: AsMut<[T]>;
    /// A truth value for each half of a lane.
    type Test: Copy;

    /// Returns copies of one value.
    fn window<T: Copy>(value: T) -> Self::Window<T>;
    fn burst<T: Copy>(value: T) -> Self::Burst<T>;

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

    /// Returns all lanes.
    fn store(self) -> Self::Array;
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
    fn multiply(self, by: Factor<Self>) -> Self;
    /// The products of the low halves.
    fn multiply_low(self, other: Self) -> Self;
    fn shift_right<const N: u32>(self) -> Self;
    fn shift_left<const N: u32>(self) -> Self;
    /// Shifts each half of a lane by itself.
    fn shift_right_low<const N: u32>(self) -> Self;
    fn shift_right_by(self, bits: u32) -> Self;
    fn shift_left_by(self, bits: u32) -> Self;

    /// Returns a bit for each lane that is not zero.
    fn nonzero(self) -> u32;
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

    /// Returns `t - self` modulo n. Both are below n, which has at most 32 bits.
    fn reflect(self, t: Self, n: Self) -> Self;
    /// Shifts the slot whose highest bit is the only bit of `mark` to the lowest bits. What is
    /// above it may be anything.
    fn shift_to(self, mark: Self, part: &Part<'_>) -> Self;
    /// Returns the nibbles of the codes.
    ///
    /// # Safety
    /// The table of nibbles has an entry for each code.
    unsafe fn gather_nibbles(self) -> Self;
    /// Calls [`fixed::full_probe`](super::fixed::full_probe), not inline.
    fn full_probe(self, part: &Part<'_>, words: [Self; 2]) -> u32;

    /// Multiplies the low halves, and returns the high halves of the products.
    #[inline(always)]
    fn reduce(self, n: Self) -> Self {
        self.multiply_low(n).shift_right::<32>()
    }
}

/// A factor in every lane, and its high half in every lane of a second vector, which only some
/// instruction sets need.
#[derive(Clone, Copy)]
pub(super) struct Factor<V> {
    pub(super) value: V,
    pub(super) high: V,
}

impl<V: Vector> Factor<V> {
    /// # Safety
    /// As [`Vector::splat`].
    #[inline(always)]
    pub(super) unsafe fn splat(value: u64) -> Self {
        // SAFETY: the caller promises it.
        unsafe { Self { value: V::splat(value), high: V::splat(value >> 32) } }
    }
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
