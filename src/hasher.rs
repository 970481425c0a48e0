//! The default hasher: foldhash, behind types of our own.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::{FixedState, FoldHasher};

/// Builds the hashers of a filter whose user named none; seeded at random for every filter.
///
/// Inside is [foldhash](https://docs.rs/foldhash) in its `fast` form: among well-kept hashers it is
/// the one that costs least for integers and short strings (one folded multiply for a `u64`). What
/// its `quality` form adds is a last mix of the result, which the filter does anyway, to every hash, with a
/// seed of its own. It is minimally resistant to collisions made on purpose by
/// somebody who cannot see the outcome of look-ups; against somebody who can, use a keyed
/// cryptographic hash such as std's `RandomState`.
///
/// Its results may change from release to release and from platform to platform.
#[derive(Clone, Debug)]
pub struct DefaultHashBuilder(FixedState);

/// The hasher that [`DefaultHashBuilder`] builds.
#[derive(Clone)]
pub struct DefaultHasher(FoldHasher<'static>);

impl DefaultHashBuilder {
    /// The builder for this seed: equal seeds, equal hashes.
    #[must_use]
    pub fn with_seed(seed: u64) -> Self {
        Self(FixedState::with_seed(seed))
    }
}

impl Default for DefaultHashBuilder {
    /// A builder seeded at random.
    fn default() -> Self {
        Self::with_seed(random_seed())
    }
}

impl BuildHasher for DefaultHashBuilder {
    type Hasher = DefaultHasher;

    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher(self.0.build_hasher())
    }
}

impl std::fmt::Debug for DefaultHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DefaultHasher").finish_non_exhaustive()
    }
}

/// Hands every kind of write on, since foldhash treats integers by their width.
macro_rules! forward {
    ($($write:ident: $type:ty),*) => {
        impl Hasher for DefaultHasher {
            #[inline]
            fn finish(&self) -> u64 {
                self.0.finish()
            }
            #[inline]
            fn write(&mut self, bytes: &[u8]) {
                self.0.write(bytes);
            }
            $(#[inline]
            fn $write(&mut self, value: $type) {
                self.0.$write(value);
            })*
        }
    };
}

forward! {
    write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128,
    write_usize: usize, write_i8: i8, write_i16: i16, write_i32: i32, write_i64: i64,
    write_i128: i128, write_isize: isize
}

/// A seed from the system's randomness, by way of std's hasher keys.
pub(crate) fn random_seed() -> u64 {
    std::hash::RandomState::new().hash_one(0)
}

/// Derives the `stream`-th independent seed from one (`SplitMix64`, Steele et al. 2014).
pub(crate) fn derive_seed(seed: u64, stream: u64) -> u64 {
    let mut z = seed.wrapping_add((stream + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
