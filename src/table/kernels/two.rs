//! Two vectors side by side. Each step is two steps that do not depend on each other, so that their
//! latencies overlap: the steps of one vector depend on one another, and the processor does not
//! look so far ahead that it finds enough other ones.

use super::vector::{InAvx2, InAvx512, Vector};
use crate::{bucket::Lanes, sync::Word};

/// Two vectors as one.
#[derive(Clone, Copy)]
pub(super) struct Two<V>(V, V);

impl<V: InAvx2> InAvx2 for Two<V> {}
impl<V: InAvx512> InAvx512 for Two<V> {}

/// Implements methods of [`Vector`] that take each of the two by itself.
macro_rules! one_by_one {
    ($($method:ident($($other:ident)?);)*) => {$(
        #[inline(always)]
        fn $method(self $(, $other: Self)?) -> Self {
            Self(self.0.$method($($other.0)?), self.1.$method($($other.1)?))
        }
    )*};
}

impl<V: Vector> Vector for Two<V> {
    const LANES: usize = 2 * V::LANES;
    const MULTIPLIES: bool = V::MULTIPLIES;
    type Test = [V::Test; 2];

    one_by_one! {
        xor(other);
        and(other);
        and_not(other);
        or(other);
        add(other);
        subtract(other);
        multiply(other);
        multiply_low(other);
        shift_right_each(bits);
        upper_halves();
        lower_halves();
        beside(other);
        add_halves(other);
        subtract_halves(other);
        multiply_halves(other);
        min_halves(other);
    }

    #[inline(always)]
    unsafe fn splat(value: u64) -> Self {
        // SAFETY: the caller promises that the processor has the instructions.
        let vector = unsafe { V::splat(value) };
        Self(vector, vector)
    }

    #[inline(always)]
    unsafe fn load(values: &[u64]) -> Self {
        let (first, second) = values.split_at(values.len().min(V::LANES));
        // SAFETY: as above.
        unsafe { Self(V::load(first), V::load(second)) }
    }

    #[inline(always)]
    unsafe fn gather(self, first: *const Word) -> Self {
        // SAFETY: the caller promises that there are words.
        unsafe { Self(self.0.gather(first), self.1.gather(first)) }
    }

    #[inline(always)]
    fn store_low(self, values: &mut [u32]) {
        self.0.store_low(values);
        self.1.store_low(&mut values[V::LANES..]);
    }

    #[inline(always)]
    fn shift_right(self, bits: u32) -> Self {
        Self(self.0.shift_right(bits), self.1.shift_right(bits))
    }

    #[inline(always)]
    fn shift_left(self, bits: u32) -> Self {
        Self(self.0.shift_left(bits), self.1.shift_left(bits))
    }

    #[inline(always)]
    fn different(self, other: Self) -> u32 {
        self.0.different(other.0) | self.1.different(other.1) << V::LANES
    }

    #[inline(always)]
    fn select(self, nonzero: Self, zero: Self) -> Self {
        Self(self.0.select(nonzero.0, zero.0), self.1.select(nonzero.1, zero.1))
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
    fn shift_to(self, mark: Self, lanes: &Lanes) -> Self {
        Self(self.0.shift_to(mark.0, lanes), self.1.shift_to(mark.1, lanes))
    }

    #[inline(always)]
    unsafe fn gather_nibbles(self) -> Self {
        // SAFETY: the caller promises that the table has an entry for each code.
        unsafe { Self(self.0.gather_nibbles(), self.1.gather_nibbles()) }
    }
}
