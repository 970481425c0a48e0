//! The hashers on offer, behind types of our own: foldhash, and rapidhash for filters that travel.

use core::hash::{BuildHasher, Hasher};

#[cfg(not(feature = "std"))]
use foldhash::fast::RandomState;
use foldhash::fast::{FixedState, FoldHasher};
use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
#[cfg(feature = "std")]
use std::hash::RandomState;

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
///
/// ```
/// use guira::{CuckooFilter, DefaultHashBuilder};
///
/// // Two filters that share a hasher can be asked by one hash.
/// let hasher = DefaultHashBuilder::default();
/// let build = || CuckooFilter::builder().capacity(100).hasher(hasher.clone()).build();
/// let (recent, older) = (build()?, build()?);
/// let hash = std::hash::BuildHasher::hash_one(&hasher, "tyto alba");
/// assert!(!recent.contains_hash(hash) && !older.contains_hash(hash));
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
    /// The builder for this seed: equal seeds, equal hashes.
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
    /// A builder seeded at random.
    fn default() -> Self {
        Self::with_seed(random_seed())
    }
}

impl core::fmt::Debug for DefaultHashBuilder {
    /// Without the seed: logs are read by others.
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

/// Builds hashers whose results are the same on every platform and in every release: for filters that are
/// saved in one place and loaded in another.
///
/// Each piece that an item hands to its hasher is hashed by [rapidhash](https://docs.rs/rapidhash) in its
/// third version, whose results are fixed, with the outcome of the piece before as its seed. Integers are pieces of
/// their own width in little-endian bytes, `usize` and `isize` of 64 bits. What pieces an item consists of is up to
/// its type's `Hash`: for integers and strings that has not changed since Rust 1.0, but it is not promised.
///
/// One thing a hasher cannot mend: slices, arrays and vectors of integers wider than a byte come as they lie in
/// memory. So their hashes differ on machines of another byte order, where snapshots are refused for that reason; and
/// those of `[usize]` differ between 32 and 64 bits, **which nothing finds out**: hash `u64` instead.
///
/// Without a [seed](Self::with_seed) of yours it is 0. A seed that others know gives up what protection a
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
/// let elsewhere = CuckooFilter::from_bytes_with_hasher(&bytes, StableHashBuilder::default()).unwrap();
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
    /// The builder for this seed: equal seeds, equal hashes.
    ///
    /// ```
    /// use std::hash::BuildHasher;
    ///
    /// use guira::StableHashBuilder;
    ///
    /// assert_eq!(StableHashBuilder::with_seed(0), StableHashBuilder::default());
    /// assert_ne!(StableHashBuilder::with_seed(1).hash_one(7), StableHashBuilder::with_seed(2).hash_one(7));
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
    fn take(&mut self, piece: &[u8]) {
        self.0 = rapidhash_v3_seeded(piece, &RapidSecrets::seed_cpp(self.0));
    }
}

/// Takes integers in as little-endian bytes.
macro_rules! little_endian {
    ($($write:ident: $type:ty as $wide:ty),*) => {
        impl Hasher for StableHasher {
            #[inline]
            fn finish(&self) -> u64 {
                self.0
            }
            #[inline]
            fn write(&mut self, bytes: &[u8]) {
                self.take(bytes);
            }
            $(#[inline]
            fn $write(&mut self, value: $type) {
                self.take(&(value as $wide).to_le_bytes());
            })*
        }
    };
}

little_endian! {
    write_u8: u8 as u8, write_u16: u16 as u16, write_u32: u32 as u32, write_u64: u64 as u64,
    write_u128: u128 as u128, write_usize: usize as u64, write_i8: i8 as i8, write_i16: i16 as i16,
    write_i32: i32 as i32, write_i64: i64 as i64, write_i128: i128 as i128, write_isize: isize as i64
}

/// A seed from the system's randomness, by way of std's hasher keys; without std from what foldhash finds, which is
/// addresses and the like.
pub(crate) fn random_seed() -> u64 {
    RandomState::default().hash_one(0)
}

/// The seed of the mixing of hashes in a filter with this seed.
pub(crate) fn mixing_seed(seed: u64) -> u64 {
    derive_seed(seed, 0)
}

/// The seed of the hasher of a filter with this seed, where none was given.
pub(crate) fn hasher_seed(seed: u64) -> u64 {
    derive_seed(seed, 1)
}

/// Derives the `stream`-th independent seed from one (`SplitMix64`, Steele et al. 2014).
fn derive_seed(seed: u64, stream: u64) -> u64 {
    let mut z = seed.wrapping_add((stream + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
