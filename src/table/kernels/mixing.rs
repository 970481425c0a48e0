//! From hashes to mixed hashes, and from fingerprints to scattered bits. The formulas are those of
//! `mix.rs`.

use super::{
    MIXER, SCATTER,
    vector::{Factor, Vector},
};

/// The mixer of hashes.
pub(super) struct Mixer<V> {
    seed: V,
    factors: [Factor<V>; 2],
}

impl<V: Vector> Mixer<V> {
    /// # Safety
    /// As [`Vector::splat`].
    #[inline(always)]
    pub(super) unsafe fn new(seed: u64) -> Self {
        let [(_, first), (_, second)] = MIXER;
        // SAFETY: the caller promises it.
        unsafe {
            Self { seed: V::splat(seed), factors: [Factor::splat(first), Factor::splat(second)] }
        }
    }

    /// Loads hashes, and mixes them.
    #[inline(always)]
    pub(super) fn mix(&self, hashes: &[u64]) -> V {
        // SAFETY: there are vectors already.
        let hashes = unsafe { V::load(hashes) };
        let x = hashes.xor(self.seed);
        let x = x.xor(x.shift_right::<{ MIXER[0].0 }>()).multiply(self.factors[0]);
        let x = x.xor(x.shift_right::<{ MIXER[1].0 }>()).multiply(self.factors[1]);
        x.xor(x.shift_right::<31>())
    }
}

/// The function that scatters fingerprints, or cores of them.
pub(super) struct Scatter<V> {
    factors: [V; 2],
}

impl<V: Vector> Scatter<V> {
    /// # Safety
    /// As [`Vector::splat`].
    #[inline(always)]
    pub(super) unsafe fn new() -> Self {
        let [first, second] = SCATTER;
        // SAFETY: the caller promises it.
        unsafe { Self { factors: [V::splat(first.into()), V::splat(second.into())] } }
    }

    /// Returns 64 bits for each number of 32 bits.
    #[inline(always)]
    pub(super) fn scatter(&self, x: V) -> V {
        let x = x.multiply_low(self.factors[0]);
        x.xor(x.shift_right_low::<15>()).multiply_low(self.factors[1])
    }
}
