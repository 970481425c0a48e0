//! Two vectors side by side. Each step is two steps that do not depend on each other, so that their
//! latencies overlap: the steps of one vector depend on one another, and the processor does not
//! look so far ahead that it finds enough other ones.

use super::{
    Part,
    vector::{Factor, InAvx2, InAvx512, Vector},
};
use crate::sync::Word;

/// Two vectors as one.
#[derive(Clone, Copy)]
pub(super) struct Two<V>(V, V);

/// The lanes of two vectors in memory.
pub(super) struct Lanes<const N: usize>([[u64; N]; 2]);

impl<const N: usize> AsRef<[u64]> for Lanes<N> {
    #[inline(always)]
    fn as_ref(&self) -> &[u64] {
        self.0.as_flattened()
    }
}

impl<const N: usize, V: InAvx2 + Vector<Array = [u64; N]>> InAvx2 for Two<V> {}
impl<const N: usize, V: InAvx512 + Vector<Array = [u64; N]>> InAvx512 for Two<V> {}

impl<const N: usize, V: Vector<Array = [u64; N]>> Vector for Two<V> {
    const LANES: usize = 2 * N;
    type Array = Lanes<N>;
    // Twice as many as there can be.
    type Window<T: Copy> = V::Window<T>;
    type Burst<T: Copy> = V::Burst<T>;
    type Test = [V::Test; 2];

    #[inline(always)]
    fn window<T: Copy>(value: T) -> V::Window<T> {
        V::window(value)
    }

    #[inline(always)]
    fn burst<T: Copy>(value: T) -> V::Burst<T> {
        V::burst(value)
    }

    #[inline(always)]
    unsafe fn splat(value: u64) -> Self {
        // SAFETY: the caller promises that the processor has the instructions.
        let vector = unsafe { V::splat(value) };
        Self(vector, vector)
    }

    #[inline(always)]
    unsafe fn load(values: &[u64]) -> Self {
        let (first, second) = values.split_at(values.len().min(N));
        // SAFETY: as above.
        unsafe { Self(V::load(first), V::load(second)) }
    }

    #[inline(always)]
    unsafe fn gather(self, first: *const Word) -> Self {
        // SAFETY: the caller promises that there are words.
        unsafe { Self(self.0.gather(first), self.1.gather(first)) }
    }

    #[inline(always)]
    fn store(self) -> Lanes<N> {
        Lanes([self.0.store(), self.1.store()])
    }

    #[inline(always)]
    fn store_low(self, values: &mut [u32]) {
        self.0.store_low(values);
        self.1.store_low(&mut values[N..]);
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0.xor(other.0), self.1.xor(other.1))
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0.and(other.0), self.1.and(other.1))
    }

    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Self(self.0.and_not(other.0), self.1.and_not(other.1))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0.or(other.0), self.1.or(other.1))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), self.1.add(other.1))
    }

    #[inline(always)]
    fn subtract(self, other: Self) -> Self {
        Self(self.0.subtract(other.0), self.1.subtract(other.1))
    }

    #[inline(always)]
    fn multiply(self, by: Factor<Self>) -> Self {
        let Factor { value, high } = by;
        let first = self.0.multiply(Factor { value: value.0, high: high.0 });
        Self(first, self.1.multiply(Factor { value: value.1, high: high.1 }))
    }

    #[inline(always)]
    fn multiply_low(self, other: Self) -> Self {
        Self(self.0.multiply_low(other.0), self.1.multiply_low(other.1))
    }

    #[inline(always)]
    fn shift_right<const B: u32>(self) -> Self {
        Self(self.0.shift_right::<B>(), self.1.shift_right::<B>())
    }

    #[inline(always)]
    fn shift_left<const B: u32>(self) -> Self {
        Self(self.0.shift_left::<B>(), self.1.shift_left::<B>())
    }

    #[inline(always)]
    fn shift_right_low<const B: u32>(self) -> Self {
        Self(self.0.shift_right_low::<B>(), self.1.shift_right_low::<B>())
    }

    #[inline(always)]
    fn shift_right_by(self, bits: u32) -> Self {
        Self(self.0.shift_right_by(bits), self.1.shift_right_by(bits))
    }

    #[inline(always)]
    fn shift_left_by(self, bits: u32) -> Self {
        Self(self.0.shift_left_by(bits), self.1.shift_left_by(bits))
    }

    #[inline(always)]
    fn nonzero(self) -> u32 {
        self.0.nonzero() | self.1.nonzero() << N
    }

    #[inline(always)]
    fn different(self, other: Self) -> u32 {
        self.0.different(other.0) | self.1.different(other.1) << N
    }

    #[inline(always)]
    fn select(self, nonzero: Self, zero: Self) -> Self {
        Self(self.0.select(nonzero.0, zero.0), self.1.select(nonzero.1, zero.1))
    }

    #[inline(always)]
    fn shift_right_each(self, bits: Self) -> Self {
        Self(self.0.shift_right_each(bits.0), self.1.shift_right_each(bits.1))
    }

    #[inline(always)]
    fn upper_halves(self) -> Self {
        Self(self.0.upper_halves(), self.1.upper_halves())
    }

    #[inline(always)]
    fn lower_halves(self) -> Self {
        Self(self.0.lower_halves(), self.1.lower_halves())
    }

    #[inline(always)]
    fn beside(self, other: Self) -> Self {
        Self(self.0.beside(other.0), self.1.beside(other.1))
    }

    #[inline(always)]
    fn add_halves(self, other: Self) -> Self {
        Self(self.0.add_halves(other.0), self.1.add_halves(other.1))
    }

    #[inline(always)]
    fn subtract_halves(self, other: Self) -> Self {
        Self(self.0.subtract_halves(other.0), self.1.subtract_halves(other.1))
    }

    #[inline(always)]
    fn multiply_halves(self, other: Self) -> Self {
        Self(self.0.multiply_halves(other.0), self.1.multiply_halves(other.1))
    }

    #[inline(always)]
    fn min_halves(self, other: Self) -> Self {
        Self(self.0.min_halves(other.0), self.1.min_halves(other.1))
    }

    #[inline(always)]
    fn shift_right_halves(self, bits: u32) -> Self {
        Self(self.0.shift_right_halves(bits), self.1.shift_right_halves(bits))
    }

    #[inline(always)]
    fn shift_each_half(self, right: Self, left: u32) -> Self {
        Self(self.0.shift_each_half(right.0, left), self.1.shift_each_half(right.1, left))
    }

    #[inline(always)]
    fn below(self, other: Self) -> Self::Test {
        [self.0.below(other.0), self.1.below(other.1)]
    }

    #[inline(always)]
    fn choose(test: Self::Test, yes: Self, no: Self) -> Self {
        let [first, second] = test;
        Self(V::choose(first, yes.0, no.0), V::choose(second, yes.1, no.1))
    }

    #[inline(always)]
    fn add_if_set(self, test: Self::Test, bits: Self, bit: Self, other: Self) -> Self {
        Self(
            self.0.add_if_set(test[0], bits.0, bit.0, other.0),
            self.1.add_if_set(test[1], bits.1, bit.1, other.1),
        )
    }

    #[inline(always)]
    fn reflect(self, t: Self, n: Self) -> Self {
        Self(self.0.reflect(t.0, n.0), self.1.reflect(t.1, n.1))
    }

    #[inline(always)]
    fn shift_to(self, mark: Self, part: &Part<'_>) -> Self {
        Self(self.0.shift_to(mark.0, part), self.1.shift_to(mark.1, part))
    }

    #[inline(always)]
    unsafe fn gather_nibbles(self) -> Self {
        // SAFETY: the caller promises that the table has an entry for each code.
        unsafe { Self(self.0.gather_nibbles(), self.1.gather_nibbles()) }
    }

    #[inline(always)]
    fn full_probe(self, part: &Part<'_>, [one, other]: [Self; 2]) -> u32 {
        let first = self.0.full_probe(part, [one.0, other.0]);
        first | self.1.full_probe(part, [one.1, other.1]) << N
    }
}
