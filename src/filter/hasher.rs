//! The hashers: foldhash by default, and rapidhash for filters that are saved and loaded elsewhere,
//! both with secrets of their own.

use core::{
    borrow::Borrow,
    fmt,
    hash::{BuildHasher, Hash, Hasher},
};

#[cfg(not(feature = "std"))]
use foldhash::fast::RandomState;
use foldhash::{SharedSeed, fast::FoldHasher};
use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
#[cfg(feature = "std")]
use std::hash::RandomState;

/// The default hasher of filters, with random secrets for each filter.
///
/// It is [foldhash](https://docs.rs/foldhash) in its `fast` form: one folded multiplication for a
/// `u64`. Its `quality` form would only add a final mix, and the filter mixes every hash anyway,
/// with a seed of its own.
///
/// It protects against somebody who chooses keys but sees neither the seed nor any answer: every
/// number that a key is combined with is derived from the seed, so such keys collide no more often
/// than others. (Foldhash's own `FixedState` combines keys with published constants as well, and
/// keys that contain those collide under every seed.) It does not protect against somebody who sees
/// answers, or how long they take. For that, use a keyed cryptographic hash such as std's
/// `RandomState`.
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
pub struct DefaultHashBuilder {
    start: u64,
    secrets: SharedSeed,
}

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
pub struct DefaultHasher(Fold<SharedSeed>);

impl DefaultHashBuilder {
    /// Returns the builder with this seed, from which it derives its secrets. Equal seeds give
    /// equal hashes.
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
        // From a seed of zero, `from_u64` would derive six equal secrets.
        let secrets = SharedSeed::from_u64(derive_seed(seed, SECRETS));
        Self { start: derive_seed(seed, START), secrets }
    }
}

impl Default for DefaultHashBuilder {
    /// Returns a builder with a random seed.
    fn default() -> Self {
        Self::with_seed(random_seed())
    }
}

impl fmt::Debug for DefaultHashBuilder {
    /// Formats the builder without its seed, since logs are read by others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultHashBuilder").finish_non_exhaustive()
    }
}

impl BuildHasher for DefaultHashBuilder {
    type Hasher = DefaultHasher;

    #[inline]
    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher(Fold::new(self.start, self.secrets.clone()))
    }

    /// Hashes one value, without a copy of the secrets.
    #[inline]
    fn hash_one<T: Hash>(&self, value: T) -> u64 {
        let mut hasher = Fold::new(self.start, &self.secrets);
        value.hash(&mut hasher);
        hasher.finish()
    }
}

impl fmt::Debug for DefaultHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultHasher").finish_non_exhaustive()
    }
}

/// Foldhash with secrets that it borrows or owns.
///
/// [`FoldHasher`] borrows them, which [`BuildHasher::build_hasher`] cannot express. So this hasher
/// keeps the state between writes, as foldhash does, and calls foldhash for every multiplication.
///
/// A folded multiplication has one known weakness that depends on no constant: a key and its
/// complement have equal hashes for one secret in 2^26. That is rarer than the false positives of
/// every layout.
#[derive(Clone)]
struct Fold<B> {
    accumulator: u64,
    /// Integers that were written since the last multiplication, side by side.
    integers: u128,
    /// Their number of bits.
    bits: u32,
    secrets: B,
}

impl<B: Borrow<SharedSeed>> Fold<B> {
    #[inline]
    fn new(start: u64, secrets: B) -> Self {
        Self { accumulator: start, integers: 0, bits: 0, secrets }
    }

    /// Foldhash with the state of this hasher.
    #[inline]
    fn foldhash(&self) -> FoldHasher<'_> {
        FoldHasher::with_seed(self.accumulator, self.secrets.borrow())
    }

    /// The accumulator with the pending integers folded in.
    #[inline]
    fn folded(&self) -> u64 {
        let mut hasher = self.foldhash();
        hasher.write_u128(self.integers);
        hasher.finish()
    }

    /// Adds an integer of this many bits.
    #[inline]
    fn add(&mut self, value: u128, bits: u32) {
        if self.bits + bits > u128::BITS {
            self.accumulator = self.folded();
            (self.integers, self.bits) = (value, bits);
        } else {
            self.integers |= value << self.bits;
            self.bits += bits;
        }
    }
}

/// A hasher whose results are the same in every release and, with one exception, on every platform:
/// for filters that are saved in one place and loaded in another.
///
/// Each write of an item's `Hash` is hashed by [rapidhash](https://docs.rs/rapidhash) version 3,
/// whose results are fixed, with the result of the previous write as its seed. Integers are hashed
/// as little-endian bytes of their own width, `usize` and `isize` as 64 bits. Which writes an item
/// makes is up to its type's `Hash`. For integers and strings this has not changed since Rust 1.0,
/// but it is not promised.
///
/// A hasher cannot correct one difference: slices, arrays and vectors of integers wider than a byte
/// are hashed as they are in memory. So their hashes depend on the byte order, and loading a
/// snapshot from a machine with another byte order fails, whatever the items are. Hashes of
/// `[usize]` also differ between 32 and 64 bits, **and nothing detects it**: hash `u64` values.
///
/// All secrets of rapidhash are derived from the [seed](Self::with_seed), so it protects against
/// chosen keys as [`DefaultHashBuilder`] does, as long as the seed is secret. There is no default
/// seed. [`hasher_with`](crate::FilterBuilder::hasher_with) derives it from the filter's own seed,
/// which is random and stored in snapshots:
///
/// ```
/// # #[cfg(feature = "std")] {
/// use guira::{CuckooFilter, StableHashBuilder};
///
/// let builder = CuckooFilter::builder().capacity(1_000);
/// let filter = builder.hasher_with(StableHashBuilder::with_seed).build()?;
/// filter.insert("tyto alba").unwrap();
/// let bytes = filter.to_bytes();
///
/// let elsewhere = CuckooFilter::from_bytes_with(&bytes, StableHashBuilder::with_seed).unwrap();
/// assert!(elsewhere.contains("tyto alba"));
/// # }
/// # Ok::<(), guira::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StableHashBuilder(RapidSecrets);

/// The hasher that [`StableHashBuilder`] builds.
///
/// ```
/// use std::hash::{BuildHasher, Hasher};
///
/// let mut hasher = guira::StableHashBuilder::with_seed(0).build_hasher();
/// hasher.write(b"tyto alba");
/// assert_eq!(hasher.finish(), 6_011_713_551_847_225_873); // here, and anywhere
/// ```
#[derive(Clone)]
pub struct StableHasher(RapidSecrets);

impl StableHashBuilder {
    /// Returns the builder with this seed, from which it derives its secrets. Equal seeds give
    /// equal hashes. A seed that others know gives up the protection against chosen keys.
    ///
    /// ```
    /// use std::hash::BuildHasher;
    ///
    /// use guira::StableHashBuilder;
    ///
    /// let hash = |seed| StableHashBuilder::with_seed(seed).hash_one(7);
    /// assert!(hash(1) == hash(1) && hash(1) != hash(2));
    /// ```
    #[must_use]
    pub fn with_seed(seed: u64) -> Self {
        // Not by `RapidSecrets::seed`, so that the results depend on rapidhash version 3 alone.
        let secrets = core::array::from_fn(|index| derive_seed(seed, SECRETS + index as u64));
        Self(RapidSecrets { seed: derive_seed(seed, START), secrets })
    }
}

impl fmt::Debug for StableHashBuilder {
    /// Formats the builder without its seed, since logs are read by others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StableHashBuilder").finish_non_exhaustive()
    }
}

impl BuildHasher for StableHashBuilder {
    type Hasher = StableHasher;

    #[inline]
    fn build_hasher(&self) -> StableHasher {
        StableHasher(self.0)
    }
}

impl fmt::Debug for StableHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StableHasher").finish_non_exhaustive()
    }
}

/// Implements the hashers. Every kind of integer has a write of its own, since its width matters.
macro_rules! hashers {
    ($($write:ident: $type:ty as $unsigned:ty),*) => {
        impl<B: Borrow<SharedSeed>> Hasher for Fold<B> {
            #[inline]
            fn finish(&self) -> u64 {
                if self.bits > 0 { self.folded() } else { self.accumulator }
            }
            #[inline]
            fn write(&mut self, bytes: &[u8]) {
                let mut hasher = self.foldhash();
                hasher.write(bytes);
                self.accumulator = hasher.finish();
            }
            $(#[inline]
            fn $write(&mut self, value: $type) {
                self.add((value as $unsigned).into(), <$unsigned>::BITS);
            })*
        }

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

        impl Hasher for StableHasher {
            #[inline]
            fn finish(&self) -> u64 {
                self.0.seed
            }
            #[inline]
            fn write(&mut self, bytes: &[u8]) {
                self.0.seed = rapidhash_v3_seeded(bytes, &self.0);
            }
            $(#[inline]
            fn $write(&mut self, value: $type) {
                self.write(&(value as $unsigned).to_le_bytes());
            })*
        }
    };
}

hashers! {
    write_u8: u8 as u8, write_u16: u16 as u16, write_u32: u32 as u32, write_u64: u64 as u64,
    write_u128: u128 as u128, write_usize: usize as u64, write_i8: i8 as u8, write_i16: i16 as u16,
    write_i32: i32 as u32, write_i64: i64 as u64, write_i128: i128 as u128,
    write_isize: isize as u64
}

/// The streams of [`derive_seed`] that a hasher uses: one for the start of its state, and those
/// from `SECRETS` on for its secrets. Streams 0 and 1 are the filter's.
const START: u64 = 2;
const SECRETS: u64 = 3;

/// Returns a seed from the system's randomness, by way of std's hasher keys. Without std it comes
/// from foldhash, which uses addresses and the like.
pub(crate) fn random_seed() -> u64 {
    RandomState::default().hash_one(0)
}

/// The mixing seed of a filter with this seed.
pub(crate) fn mixing_seed(seed: u64) -> u64 {
    derive_seed(seed, 0)
}

/// The seed of the hasher of a filter with this seed, unless the user gave a hasher.
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

/// A hasher that is made from a seed.
pub trait FromSeed: BuildHasher {
    /// Returns the hasher with this seed.
    fn from_seed(seed: u64) -> Self;
}

impl FromSeed for StableHashBuilder {
    fn from_seed(seed: u64) -> Self {
        Self::with_seed(seed)
    }
}

impl<H: Default + Hasher> FromSeed for core::hash::BuildHasherDefault<H> {
    fn from_seed(_seed: u64) -> Self {
        Self::default()
    }
}

impl Default for StableHashBuilder {
    fn default() -> Self {
        Self::with_seed(random_seed())
    }
}
