//! From hashes to mixed hashes, and from fingerprints to scattered bits. The formulas are those of
//! `mix.rs`.

use super::{MIXER, SCATTER, vector::Vector};

/// Loads hashes, and mixes them with the seed in every lane.
#[inline(always)]
pub(super) fn mix<V: Vector>(hashes: &[u64], seed: V) -> V {
    let [(first_shift, first), (second_shift, second)] = MIXER;
    // SAFETY: there is a vector already.
    let x = unsafe { V::load(hashes) }.xor(seed);
    let x = x.xor(x.shift_right(first_shift)).multiply(x.all(first));
    let x = x.xor(x.shift_right(second_shift)).multiply(x.all(second));
    x.xor(x.shift_right(31))
}

/// Returns 64 bits for each number of 32 bits: a fingerprint, or the core of one.
#[inline(always)]
pub(super) fn scatter<V: Vector>(x: V) -> V {
    let [first, second] = SCATTER;
    let x = x.multiply_low(x.all(first.into()));
    x.xor(x.shift_right_halves(15)).multiply_low(x.all(second.into()))
}
