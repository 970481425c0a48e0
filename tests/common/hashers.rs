//! Hashers from good to hopeless, each as a function that completes a builder of any engine.

use std::hash::{BuildHasher, Hasher};

use guira::{DefaultHashBuilder, FilterBuilder};

/// Builds hashers whose hash is the last 64-bit integer written, masked and shifted.
#[derive(Clone, Copy, Debug)]
pub struct Raw {
    mask: u64,
    shift: u32,
}

/// The hasher of [`Raw`].
pub struct RawHasher {
    how: Raw,
    value: u64,
}

impl BuildHasher for Raw {
    type Hasher = RawHasher;

    fn build_hasher(&self) -> RawHasher {
        RawHasher { how: *self, value: 0 }
    }
}

impl Hasher for RawHasher {
    fn finish(&self) -> u64 {
        (self.value & self.how.mask) << self.how.shift
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.value = self.value.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.value = value;
    }
}

/// Builds hashers that keep some bits of the default hasher's hash, at a given position.
#[derive(Clone, Debug)]
pub struct Truncated {
    good: DefaultHashBuilder,
    bits: u32,
    shift: u32,
}

/// The hasher of [`Truncated`].
pub struct TruncatedHasher<H> {
    good: H,
    bits: u32,
    shift: u32,
}

impl BuildHasher for Truncated {
    type Hasher = TruncatedHasher<<DefaultHashBuilder as BuildHasher>::Hasher>;

    fn build_hasher(&self) -> Self::Hasher {
        TruncatedHasher { good: self.good.build_hasher(), bits: self.bits, shift: self.shift }
    }
}

impl<H: Hasher> Hasher for TruncatedHasher<H> {
    fn finish(&self) -> u64 {
        (self.good.finish() >> (64 - self.bits)) << self.shift
    }

    fn write(&mut self, bytes: &[u8]) {
        self.good.write(bytes);
    }
}

/// The default hasher.
pub fn default<E>(builder: FilterBuilder<E>) -> FilterBuilder<E> {
    builder
}

/// The item itself.
pub fn identity<E>(builder: FilterBuilder<E>) -> FilterBuilder<E, Raw> {
    builder.hasher(Raw { mask: u64::MAX, shift: 0 })
}

/// 256 different hashes.
pub fn bad<E>(builder: FilterBuilder<E>) -> FilterBuilder<E, Raw> {
    builder.hasher(Raw { mask: 0xff, shift: 0 })
}

/// 4 096 different hashes, in the highest bits.
pub fn bad_high<E>(builder: FilterBuilder<E>) -> FilterBuilder<E, Raw> {
    builder.hasher(Raw { mask: 0xfff, shift: 52 })
}

/// A good hash truncated to 32 bits.
pub fn truncated_32<E>(builder: FilterBuilder<E>) -> FilterBuilder<E, Truncated> {
    builder.hasher(Truncated { good: DefaultHashBuilder::with_seed(32), bits: 32, shift: 0 })
}

/// A good hash truncated to 32 bits, in the high half.
pub fn truncated_high<E>(builder: FilterBuilder<E>) -> FilterBuilder<E, Truncated> {
    builder.hasher(Truncated { good: DefaultHashBuilder::with_seed(33), bits: 32, shift: 32 })
}

/// A good hash truncated to 16 bits.
pub fn truncated_16<E>(builder: FilterBuilder<E>) -> FilterBuilder<E, Truncated> {
    builder.hasher(Truncated { good: DefaultHashBuilder::with_seed(16), bits: 16, shift: 0 })
}
