//! Hashers from good to hopeless, each as a function that completes a builder of any engine.
//!
//! All are of one type, so that the suite is compiled once per engine and not once per hasher.

use std::hash::{BuildHasher, Hasher};

use guira::{
    FilterBuilder, StableHashBuilder, StableHasher,
    kind::{Contents, Growth},
};

/// Builds hashers that keep some bits of a hash, at a given position.
#[derive(Clone, Debug)]
pub struct Part {
    /// Without it, the hash is the last 64-bit integer written.
    good: Option<StableHashBuilder>,
    right: u32,
    mask: u64,
    left: u32,
}

/// The hasher of [`Part`].
pub struct PartHasher {
    good: Option<StableHasher>,
    last: u64,
    part: Part,
}

impl BuildHasher for Part {
    type Hasher = PartHasher;

    fn build_hasher(&self) -> PartHasher {
        let good = self.good.as_ref().map(BuildHasher::build_hasher);
        PartHasher { good, last: 0, part: self.clone() }
    }
}

impl Hasher for PartHasher {
    fn finish(&self) -> u64 {
        let Part { right, mask, left, .. } = self.part;
        (self.good.as_ref().map_or(self.last, Hasher::finish) >> right & mask) << left
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(good) = &mut self.good {
            good.write(bytes);
        }
        for &byte in bytes {
            self.last = self.last.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        if let Some(good) = &mut self.good {
            good.write_u64(value);
        }
        self.last = value;
    }
}

/// The item itself, masked and shifted.
fn raw<C: Contents, G: Growth>(
    builder: FilterBuilder<C, G>,
    mask: u64,
    left: u32,
) -> FilterBuilder<C, G, Part> {
    builder.hasher(Part { good: None, right: 0, mask, left })
}

/// The highest bits of a good hash, shifted.
fn truncated<C: Contents, G: Growth>(
    builder: FilterBuilder<C, G>,
    bits: u32,
    left: u32,
) -> FilterBuilder<C, G, Part> {
    let good = Some(StableHashBuilder::from_seed(u64::from(bits + left)));
    builder.hasher(Part { good, right: 64 - bits, mask: u64::MAX, left })
}

/// The default hasher.
pub fn good<C: Contents, G: Growth>(builder: FilterBuilder<C, G>) -> FilterBuilder<C, G, Part> {
    truncated(builder, 64, 0)
}

/// The item itself.
pub fn identity<C: Contents, G: Growth>(builder: FilterBuilder<C, G>) -> FilterBuilder<C, G, Part> {
    raw(builder, u64::MAX, 0)
}

/// 256 different hashes.
pub fn bad<C: Contents, G: Growth>(builder: FilterBuilder<C, G>) -> FilterBuilder<C, G, Part> {
    raw(builder, 0xff, 0)
}

/// 4 096 different hashes, in the highest bits.
pub fn bad_high<C: Contents, G: Growth>(builder: FilterBuilder<C, G>) -> FilterBuilder<C, G, Part> {
    raw(builder, 0xfff, 52)
}

/// A good hash truncated to 16 bits.
pub fn truncated_16<C: Contents, G: Growth>(
    builder: FilterBuilder<C, G>,
) -> FilterBuilder<C, G, Part> {
    truncated(builder, 16, 0)
}

/// The builder as it is.
pub fn default<C: Contents, G: Growth>(builder: FilterBuilder<C, G>) -> FilterBuilder<C, G> {
    builder
}
