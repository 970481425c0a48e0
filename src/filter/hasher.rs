//! The hashers: foldhash by default, and rapidhash for filters that are saved and loaded elsewhere.

use core::hash::{BuildHasher, Hasher};

#[cfg(not(feature = "std"))]
use foldhash::fast::RandomState;
use foldhash::fast::{FixedState, FoldHasher};
use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
#[cfg(feature = "std")]
use std::hash::RandomState;

/// The default hasher of filters, with a random seed for each filter.
///
/// It is [foldhash](https://docs.rs/foldhash) in its `fast` form: the cheapest well-maintained
/// hasher for integers and short strings (one folded multiplication for a `u64`). Its `quality`
/// form would only add a final mix, and the filter mixes every hash anyway, with a seed of its own.
/// It is minimally resistant to collisions chosen by somebody who cannot see the answers of
/// lookups. Against somebody who can, use a keyed cryptographic hash such as std's `RandomState`.
///
/// Its results may change from release to release and from platform to platform.
///
/// ```
/// use guira::{CuckooFilter, DefaultHashBuilder};
///
/// // Two filters that share a hasher can be looked up by the same hash.
/// let hasher = DefaultHashBuilder::default();
/// let build = || CuckooFilter::builder().capacity(100).hasher(hasher.clone()).build();
/// let (recent, older) = (build()?, build()?);
/// let hash = std::hash::BuildHasher::hash_one(&hasher, "tyto alba");
/// assert!(!recent.by_hash().contains(hash) && !older.by_hash().contains(hash));
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone)]
pub struct DefaultHashBuilder(FixedState);

/// The hasher that [`DefaultHashBuilder`] builds.
///
/// ```
/// use std::hash::{BuildHasher, Hasher};
///
/// let mut hasher = guira::DefaultHashBuilder::with_seed(1).build_hasher();
/// hasher.write_u64(17);
/// assert_eq!(hasher.finish(), guira::DefaultHashBuilder::with_seed(1).hash_one(17_u64));
/// ```
#[derive(Clone)]
pub struct DefaultHasher(FoldHasher<'static>);

impl DefaultHashBuilder {
    /// Returns the builder with this seed. Equal seeds give equal hashes.
    ///
    /// ```
    /// use std::hash::BuildHasher;
    ///
    /// use guira::DefaultHashBuilder;
    ///
    /// let hash = |seed| DefaultHashBuilder::with_seed(seed).hash_one("tyto alba");
    /// assert!(hash(1) == hash(1) && hash(1) != hash(2));
    /// ```
    #[must_use]
    pub fn with_seed(seed: u64) -> Self {
        Self(FixedState::with_seed(seed))
    }
}

impl Default for DefaultHashBuilder {
    /// Returns a builder with a random seed.
    fn default() -> Self {
        Self::with_seed(random_seed())
    }
}

impl core::fmt::Debug for DefaultHashBuilder {
    /// Formats the builder without its seed, since logs are read by others.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DefaultHashBuilder").finish_non_exhaustive()
    }
}

impl BuildHasher for DefaultHashBuilder {
    type Hasher = DefaultHasher;

    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher(self.0.build_hasher())
    }
}

impl core::fmt::Debug for DefaultHasher {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DefaultHasher").finish_non_exhaustive()
    }
}

/// Forwards every kind of write, since foldhash hashes integers by their width.
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

/// A hasher whose results are the same on every platform and in every release: for filters that are
/// saved in one place and loaded in another.
///
/// Each write of an item's `Hash` is hashed by [rapidhash](https://docs.rs/rapidhash) version 3,
/// whose results are fixed, with the result of the previous write as its seed. Integers are hashed
/// as little-endian bytes of their own width, `usize` and `isize` as 64 bits. Which writes an item
/// makes is up to its type's `Hash`. For integers and strings this has not changed since Rust 1.0,
/// but it is not promised.
///
/// A hasher cannot correct one difference: slices, arrays and vectors of integers wider than a byte
/// are hashed as they are in memory. So their hashes differ on machines with another byte order,
/// where loading a snapshot fails for that reason. Hashes of `[usize]` also differ between 32 and
/// 64 bits, **and nothing detects it**: hash `u64` values.
///
/// The default [seed](Self::with_seed) is 0. A seed that others know gives up the protection that a
/// random one gives against keys chosen to collide.
///
/// ```
/// # #[cfg(feature = "std")] {
/// use guira::{CuckooFilter, StableHashBuilder};
///
/// let filter =
///     CuckooFilter::builder().capacity(1_000).hasher(StableHashBuilder::default()).build()?;
/// filter.insert("tyto alba").unwrap();
/// let bytes = filter.to_bytes();
///
/// let hasher = StableHashBuilder::default();
/// let elsewhere = CuckooFilter::from_bytes_with_hasher(&bytes, hasher).unwrap();
/// assert!(elsewhere.contains("tyto alba"));
/// # }
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StableHashBuilder {
    seed: u64,
}

/// The hasher that [`StableHashBuilder`] builds.
///
/// ```
/// use std::hash::{BuildHasher, Hasher};
///
/// let mut hasher = guira::StableHashBuilder::default().build_hasher();
/// hasher.write(b"tyto alba");
/// assert_eq!(hasher.finish(), 4_406_851_832_166_200_713); // here, and anywhere
/// ```
#[derive(Clone, Debug)]
pub struct StableHasher(u64);

impl StableHashBuilder {
    /// Returns the builder with this seed. Equal seeds give equal hashes.
    ///
    /// ```
    /// use std::hash::BuildHasher;
    ///
    /// use guira::StableHashBuilder;
    ///
    /// assert_eq!(StableHashBuilder::with_seed(0), StableHashBuilder::default());
    /// let hash = |seed| StableHashBuilder::with_seed(seed).hash_one(7);
    /// assert_ne!(hash(1), hash(2));
    /// ```
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        Self { seed }
    }
}

impl BuildHasher for StableHashBuilder {
    type Hasher = StableHasher;

    #[inline]
    fn build_hasher(&self) -> StableHasher {
        StableHasher(self.seed)
    }
}

impl StableHasher {
    #[inline]
    fn add(&mut self, bytes: &[u8]) {
        self.0 = rapidhash_v3_seeded(bytes, &RapidSecrets::seed_cpp(self.0));
    }
}

/// Hashes integers as little-endian bytes.
macro_rules! little_endian {
    ($($write:ident: $type:ty as $wide:ty),*) => {
        impl Hasher for StableHasher {
            #[inline]
            fn finish(&self) -> u64 {
                self.0
            }
            #[inline]
            fn write(&mut self, bytes: &[u8]) {
                self.add(bytes);
            }
            $(#[inline]
            fn $write(&mut self, value: $type) {
                self.add(&(value as $wide).to_le_bytes());
            })*
        }
    };
}

little_endian! {
    write_u8: u8 as u8, write_u16: u16 as u16, write_u32: u32 as u32, write_u64: u64 as u64,
    write_u128: u128 as u128, write_usize: usize as u64, write_i8: i8 as i8, write_i16: i16 as i16,
    write_i32: i32 as i32, write_i64: i64 as i64, write_i128: i128 as i128,
    write_isize: isize as i64
}

/// Returns a seed from the system's randomness, by way of std's hasher keys. Without std it comes
/// from foldhash, which uses addresses and the like.
pub(crate) fn random_seed() -> u64 {
    RandomState::default().hash_one(0)
}

/// The mixing seed of a filter with this seed.
pub(crate) fn mixing_seed(seed: u64) -> u64 {
    derive_seed(seed, 0)
}

/// The seed of the default hasher of a filter with this seed.
pub(crate) fn hasher_seed(seed: u64) -> u64 {
    derive_seed(seed, 1)
}

/// Derives an independent seed for each stream from one seed (`SplitMix64`, Steele et al. 2014).
fn derive_seed(seed: u64, stream: u64) -> u64 {
    let mut z = seed.wrapping_add((stream + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
