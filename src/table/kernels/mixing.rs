//! Mixing and scattering, as every kernel computes them. The formulas are those of `table/mix.rs`.

use super::{MULTIPLIER, Mixer, REFLECTION, SCATTER, vector::Vector};

/// A mixer of hashes. The numbers are the same in every lane.
pub(super) struct VectorMixer<V> {
    flips: V,
    multiplier: V,
    multiplier_high: V,
}

impl<V: Vector> VectorMixer<V> {
    /// The vectors of a mixer, given any vector.
    #[inline(always)]
    pub(super) fn new(any: V, Mixer { flips, multiplier }: Mixer) -> Self {
        let all = |value| any.all(value);
        Self {
            flips: all(flips),
            multiplier: all(multiplier),
            multiplier_high: all(multiplier >> 32),
        }
    }

    /// Loads hashes, and mixes them.
    #[inline(always)]
    pub(super) fn mix(&self, hashes: &[u64]) -> V {
        // SAFETY: there are vectors already.
        let x = unsafe { V::load(hashes) }.xor(self.flips);
        let (low, high) = (self.multiplier, self.multiplier_high);
        let (x_high, lower) = (x.shift_right(32), x.all(u32::MAX.into()));
        // Both halves of the product, from the products of the halves. No sum overflows.
        let least = x.multiply_low(low);
        let middle = x_high.multiply_low(low).add(least.shift_right(32));
        let other = x.multiply_low(high).add(middle.and(lower));
        let upper = x_high.multiply_low(high).add(middle.shift_right(32));
        let upper = upper.add(other.shift_right(32));
        let lowest =
            if V::MULTIPLIES { x.multiply(low) } else { least.and(lower).or(other.shift_left(32)) };
        lowest.xor(upper).multiply(x.all(MULTIPLIER))
    }
}

/// Scatters fingerprints, in tables of a fixed size. Returns 32 bits for each number of 32 bits.
/// What is above them may be anything.
#[inline(always)]
pub(super) fn reflection<V: Vector>(x: V) -> V {
    let [by, flips] = REFLECTION;
    x.multiply_low(x.all(by.into())).xor(x.all(flips.into()))
}

/// Scatters the cores of fingerprints, in tables that grow. Returns 64 bits for each number of 32
/// bits.
#[inline(always)]
pub(super) fn scatter<V: Vector>(x: V) -> V {
    let [first, second] = SCATTER;
    let x = x.multiply_low(x.all(first.into()));
    x.xor(x.shift_right_halves(15)).multiply_low(x.all(second.into()))
}
