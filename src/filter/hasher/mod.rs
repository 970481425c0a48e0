//! The default hasher, which is stable and seeded.

mod check;
#[cfg(feature = "std")]
mod types;

use core::{
    borrow::Borrow,
    fmt,
    hash::{BuildHasher, Hash, Hasher},
};

use rapidhash::v3::{RapidSecrets, rapidhash_v3_inline};

pub(super) use check::HasherChecks;
#[cfg(feature = "std")]
pub use types::KeyTypes;

use crate::table::{GAMMA, finalize};

/// The default hasher of filters. Its results are the same in every release and, with the
/// exceptions below, on every platform.
///
/// - **Integers** are the same key in every width: `7_u8`, `7_i32` and `7_usize` have equal hashes.
///   Signed integers are sign-extended to 64 bits, unsigned ones zero-extended. `u128` and `i128`
///   are hashed as two integers, the low half first. A folded multiplication hashes up to two
///   integers.
/// - **Bytes and strings** are hashed by [rapidhash](https://docs.rs/rapidhash) version 3, without
///   its final multiplication, from the hash so far as its seed.
///
/// # Protection against chosen keys
///
/// The hasher protects against somebody who chooses keys but sees neither the seed nor the result
/// of any call: every number that a key is combined with is derived from the seed, so such keys
/// collide no more often than others. [`default`](Self::default) takes a random seed. A filter's
/// own hasher gets a seed that is derived from the filter's, which is random unless it is set, and
/// stored in snapshots: keep snapshots as secret as the seed.
///
/// It does not protect against somebody who sees results, be it only which inserts fail, or how
/// long calls take. See [who may see results](crate::docs::limits#who-may-see-results).
///
/// # The mixer
///
/// After the hasher, whichever it is, the filter mixes each hash with two secrets from its seed.
/// The mixer makes up for weak hashers, among them [`Hashed`](crate::Hashed) integers: tables fill
/// as far as with random keys and have the documented false-positive rates, with keys of 51 shapes,
/// which are counters, shifted or multiplied, addresses, floats, digits, reversed bits, and keys
/// made to undo the mixer that an earlier version had (`tests/screening/`; [the
/// figures](crate::docs::speed#quality-of-the-mixer)). Both secrets are in its first product, so no
/// choice of hashes undoes it without them. It is no keyed hash function: do not rely on it where
/// somebody chooses hashes and sees results.
///
/// # What it cannot make stable
///
/// What is hashed is up to the type's `Hash`. For integers and strings this has not changed since
/// Rust 1.0, but it is not promised.
///
/// Slices, arrays and vectors of integers wider than a byte are hashed as they are in memory, and
/// in some releases of Rust so are IP addresses. Their hashes depend on the byte order, and loading
/// a snapshot from a machine with another byte order fails, whatever the keys are. Hashes of
/// `[usize]` also differ between 32 and 64 bits, **and nothing detects it**: hash `u64` values.
///
/// ```
/// use std::hash::BuildHasher;
///
/// use guira::StableHashBuilder;
///
/// let hasher = StableHashBuilder::from_seed(42);
/// assert_eq!(hasher.hash_one("tyto alba"), 307_958_414_262_301_330); // here, and anywhere
/// assert_eq!(hasher.hash_one(7_u8), hasher.hash_one(7_i64));
/// ```
#[derive(Clone)]
pub struct StableHashBuilder {
    secrets: RapidSecrets,
}

/// The hasher that [`StableHashBuilder`] builds.
#[derive(Clone)]
pub struct StableHasher(State<RapidSecrets>);

impl StableHashBuilder {
    /// Returns the builder with this seed. Equal seeds give equal hashes, in every process.
    ///
    /// ```
    /// use std::hash::BuildHasher;
    ///
    /// let [one, other] = [1, 2].map(guira::StableHashBuilder::from_seed);
    /// assert_ne!(one.hash_one("tyto alba"), other.hash_one("tyto alba"));
    /// ```
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        // Not by `RapidSecrets::seed`, so that the results depend on rapidhash version 3 alone.
        let secrets = core::array::from_fn(|index| derive_seed(seed, SECRETS + index as u64));
        Self { secrets: RapidSecrets { seed: derive_seed(seed, START), secrets } }
    }
}

impl Default for StableHashBuilder {
    /// Returns a builder with a random seed.
    fn default() -> Self {
        Self::from_seed(random_seed())
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
        StableHasher(State::new(self.secrets))
    }

    /// Hashes one value, without a copy of the secrets.
    #[inline]
    fn hash_one<T: Hash>(&self, value: T) -> u64 {
        let mut state = State::new(&self.secrets);
        value.hash(&mut state);
        state.finish()
    }
}

impl fmt::Debug for StableHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StableHasher").finish_non_exhaustive()
    }
}

/// The hash so far, with secrets that are owned, or borrowed, which
/// [`BuildHasher::build_hasher`] cannot express.
///
/// A folded multiplication has one known weakness that depends on no constant: an integer and its
/// complement have equal hashes for one secret in 2^26. That is rarer than the false positives of
/// every layout.
#[derive(Clone)]
struct State<B> {
    hash: u64,
    /// An integer that waits for a second one. In `hash_one`, the compiler knows whether there is
    /// one.
    pending: Option<u64>,
    secrets: B,
}

/// The indices of the secrets that rapidhash uses for texts of more than 112 bytes alone, and that
/// serve here: for one integer, for pairs of integers, and for the length of a text.
const ONE: usize = 0;
const PAIR: usize = 3;
const LENGTH: usize = 4;

impl<B: Borrow<RapidSecrets>> State<B> {
    #[inline]
    fn new(secrets: B) -> Self {
        Self { hash: secrets.borrow().seed, pending: None, secrets }
    }

    #[inline]
    fn secret(&self, index: usize) -> u64 {
        self.secrets.borrow().secrets[index]
    }

    /// The hash with the pending integer.
    #[inline]
    fn finished(&self) -> u64 {
        match self.pending {
            // Not with the secret of pairs: an integer and a pair of it and zero are two keys.
            Some(integer) => fold(self.hash ^ integer, self.secret(ONE)),
            None => self.hash,
        }
    }

    /// Adds 64 bits. Two of them share a multiplication.
    #[inline]
    fn add_integer(&mut self, integer: u64) {
        match self.pending.take() {
            Some(first) => {
                self.hash = fold(self.hash ^ first, self.secret(PAIR) ^ integer);
            }
            None => self.pending = Some(integer),
        }
    }

    /// Adds bytes, by rapidhash with the hash so far as its seed.
    ///
    /// Without the final multiplication, rapidhash gives some texts of different lengths the same
    /// hash under every seed. So the length is added, times a secret.
    #[inline]
    fn add_bytes(&mut self, bytes: &[u8]) {
        let (seed, secrets) = (self.finished(), self.secrets.borrow());
        let hash = if bytes.len() <= 16 {
            rapidhash(bytes, &RapidSecrets { seed, ..*secrets })
        } else if self.pending.is_none() && seed == secrets.seed {
            // As below, without a copy of the secrets. For a first write, the compiler knows.
            rapidhash(bytes, secrets)
        } else {
            rapidhash(bytes, &RapidSecrets { seed, ..*secrets })
        };
        self.hash = hash ^ self.secret(LENGTH).wrapping_mul(bytes.len() as u64);
        self.pending = None;
    }
}

/// A folded multiplication: the two halves of the product, combined by XOR.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Rapidhash without its final multiplication, which a filter's own mixing makes superfluous.
#[inline]
fn rapidhash(bytes: &[u8], secrets: &RapidSecrets) -> u64 {
    const FINAL_MULTIPLICATION: bool = false;
    const COMPACT: bool = false;
    const PROTECTED: bool = false;
    rapidhash_v3_inline::<FINAL_MULTIPLICATION, COMPACT, PROTECTED>(bytes, secrets)
}

/// Implements a hasher by two functions, of an integer of 64 bits and of bytes.
macro_rules! hasher {
    (
        impl[$($generics:tt)*] $hasher:ty, |$self:ident| $state:expr,
        $($write:ident: $type:ty),*
    ) => {
        impl<$($generics)*> Hasher for $hasher {
            #[inline]
            fn finish(&$self) -> u64 {
                $state.finished()
            }
            #[inline]
            fn write(&mut $self, bytes: &[u8]) {
                $state.add_bytes(bytes);
            }
            $(#[inline]
            #[allow(clippy::cast_lossless, reason = "`usize` and signed integers have no `From`")]
            fn $write(&mut $self, value: $type) {
                // Zero- or sign-extended.
                $state.add_integer(value as u64);
            })*
            #[inline]
            fn write_u128(&mut $self, value: u128) {
                $state.add_integer(value as u64);
                $state.add_integer((value >> 64) as u64);
            }
        }
    };
}

macro_rules! hashers {
    ($($integers:tt)*) => {
        hasher!(impl[B: Borrow<RapidSecrets>] State<B>, |self| self, $($integers)*);
        hasher!(impl[] StableHasher, |self| self.0, $($integers)*);
    };
}

hashers! {
    write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_usize: usize,
    write_i8: i8, write_i16: i16, write_i32: i32, write_i64: i64, write_isize: isize
}

/// The streams of [`derive_seed`] that a hasher uses: one for the start of its state, and those
/// from `SECRETS` on for its secrets. Streams 0 and 1 are the filter's.
const START: u64 = 2;
const SECRETS: u64 = 3;

/// Returns a seed from the system's randomness, by way of std's hasher keys.
#[cfg(feature = "std")]
pub(crate) fn random_seed() -> u64 {
    std::hash::RandomState::new().hash_one(0)
}

/// Returns a seed from rapidhash, which makes it from addresses and a counter.
#[cfg(not(feature = "std"))]
pub(crate) fn random_seed() -> u64 {
    RapidSecrets::random().seed
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
    finalize((stream + 1).wrapping_mul(GAMMA).wrapping_add(seed))
}
