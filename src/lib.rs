//! A concurrent cuckoo filter: is this item in the set? In a few bits per item, with rare false
//! positives and no false negatives, with removal, shared by many threads, whose look-ups take no lock.
//!
//! ```
//! use guira::CuckooFilter;
//!
//! let seen = CuckooFilter::with_capacity(1_000_000);
//! std::thread::scope(|scope| {
//!     for shard in 0..4_u32 {
//!         let seen = &seen;
//!         scope.spawn(move || {
//!             for key in (shard * 1_000)..(shard + 1) * 1_000 {
//!                 seen.insert(&key).unwrap();
//!             }
//!         });
//!     }
//! });
//! assert!(seen.contains(&17));
//! assert!(seen.remove(&17));
//! ```
//!
//! # Which filter
//!
//! [`CuckooFilter::with_capacity`] makes one with about 0.012 % false positives. For another rate ask
//! the [builder](CuckooFilter::builder), which takes the layout with the fewest bits per item, or the
//! [fastest](CuckooFilterBuilder::fastest):
//!
//! | rate asked for | smallest [`Layout`] | fastest | bits per item | rate at capacity |
//! |---|---|---|---|---|
//! | 6.1 % and more | [`Plain8x8`](Layout::Plain8x8) | the same | 8.1 | 6.0 % |
//! | 1.2 % | [`Plain6x10`](Layout::Plain6x10) | the same | 10.9 | 1.15 % |
//! | 0.29 % | [`SemiSorted6x12`](Layout::SemiSorted6x12) | | 10.9 | 0.29 % |
//! | 0.24 % | [`Plain5x12`](Layout::Plain5x12) | the same | 13.2 | 0.24 % |
//! | 0.06 % | [`SemiSorted5x14`](Layout::SemiSorted5x14) | | 13.2 | 0.06 % |
//! | 0.012 % | [`Plain4x16`](Layout::Plain4x16) | the same | 16.7 | 0.0117 % |
//! | 0.006 % | [`SemiSorted4x17`](Layout::SemiSorted4x17) | the same | 16.7 | 0.0059 % |
//! | 0.00014 % | [`SemiSorted3x22`](Layout::SemiSorted3x22) | the same | 22.9 | 0.00013 % |
//!
//! Where none stands, the fastest is the next plain one down. Beside plain layouts with as many lanes semi-sorted ones take
//! 1.00 to 1.07 of the time to look up absent items, 1.1 for the rest in batches, and up to 1.6 one by one: see
//! [`docs::speed`].
//!
//! # Which calls
//!
//! - `insert`, `contains`, `remove`, `count`: a multiset. **Remove only what you inserted**, as
//!   [the contract](CuckooFilter#the-contract-of-removal) says.
//! - `insert_unique`: adds only what is absent. Who is told `false` owns no copy.
//! - `*_batch`: the same for slices, with the cache misses of dozens of items under way at once. In
//!   tables beyond the caches a batch is two to three times as fast; within them, as fast.
//! - `*_hash`: the same by 64-bit hashes, or by integer keys as they are.
//!
//! Who inserts and removes what, and when, beside a cache or a store: [`docs::caches`].
//!
//! # Saving
//!
//! [`save`](CuckooFilter::save) and [`to_bytes`](CuckooFilter::to_bytes) make a snapshot while others go on reading and writing,
//! and [`load`](CuckooFilter::load) and [`from_bytes`](CuckooFilter::from_bytes) a filter of it; what is damaged is refused. The
//! [format](docs::snapshots) is the same everywhere, and for filters that travel from one platform or release to another there
//! is a [hasher](StableHashBuilder) that is: they are loaded by [`load_with_hasher`](CuckooFilter::load_with_hasher). With
//! the feature `serde` a filter is `Serialize`, as the bytes of its snapshot, and `Deserialize` with the default hasher or
//! `StableHashBuilder::default()`.
//!
//! # Concurrency
//!
//! Every operation but [`clear`](CuckooFilter::clear) takes `&self`. Look-ups take no lock and write
//! nothing; inserts take none as long as one of an item's two buckets has room. What overlapping
//! calls may observe stands [with the filter](CuckooFilter#what-overlapping-calls-may-observe), how
//! it works in [`docs::design`], what it does not do in [`docs::limits`], and what has been checked in
//! [`docs::verification`].

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]

extern crate alloc;

#[cfg(not(target_has_atomic = "64"))]
compile_error!("guira keeps its buckets in 64-bit atomics, which this target does not have");

mod batch;
mod builder;
mod chain;
mod counter;
mod crowd;
pub mod docs;
mod error;
mod filter;
mod geometry;
mod growing;
mod hasher;
mod outcome;
mod path;
mod protocol;
mod shared;
mod sizing;
#[cfg(feature = "std")]
mod snapshot;
mod stats;
mod stripes;
mod sync;
#[cfg_attr(not(feature = "std"), allow(dead_code, reason = "parts of it serve loading"))]
mod table;
mod word;

/// The typed core, for research and for this crate's own models and measurements.
///
/// What is here is exempt from semantic versioning.
#[doc(hidden)]
pub mod raw {
    #[cfg(loom)]
    pub use crate::stripes::{Epoch, Held, Stripe, Stripes};
    #[cfg(guira_steps)]
    pub use crate::sync::steps;
    pub use crate::{
        chain::{Chain, Nested, mixed},
        counter::ShardedCounter,
        geometry::{Geometry, MAX_BUCKETS, Pair, Placement},
        path::{Move, Progress, Search},
        shared::Core,
        word::{Fingerprint, Plain, SemiSorted, WordLayout},
    };
}

pub use builder::CuckooFilterBuilder;
#[cfg(feature = "std")]
pub use error::LoadError;
pub use error::{BuildError, InsertBatchError, InsertError};
pub use filter::CuckooFilter;
pub use growing::{GrowingFilter, Segment};
pub use hasher::{DefaultHashBuilder, DefaultHasher, StableHashBuilder, StableHasher};
#[cfg(feature = "stats")]
pub use stats::Stats;
pub use word::Layout;

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
