//! A concurrent cuckoo filter: is this item in the set? In a few bits per item, with rare false
//! positives and no false negatives, with removal, shared by many threads, whose lookups take no lock.
//!
//! # A first filter
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
//! `contains` saying `false` is certain; `true` is wrong for about one absent item in 8 500 once the filter is at its capacity. Items are whatever
//! implements [`Hash`](core::hash::Hash); they are hashed, and not kept. **Remove only what you inserted**: the filter
//! cannot tell an item that was never inserted from another with the same fingerprint, as [the
//! contract](CuckooFilter#the-contract-of-removal) says.
//!
//! # Which size
//!
//! [`CuckooFilter::with_capacity`] makes a filter with about 0.012 % false positives. For another rate ask
//! the [builder](CuckooFilter::builder), which takes the layout with the fewest bits per item, or the
//! [fastest](CuckooFilterBuilder::fastest):
//!
//! ```
//! use guira::{CuckooFilter, Layout};
//!
//! let cached = CuckooFilter::builder().capacity(1_000_000).false_positive_rate(0.01).build()?;
//! assert_eq!(cached.layout(), Layout::SemiSorted6x12);
//! assert!(cached.false_positive_rate() < 0.003);
//! assert!(cached.size_in_bytes() < 1_400_000);
//! # Ok::<(), guira::BuildError>(())
//! ```
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
//! `capacity(n)` holds n distinct items in all but one table of 10 000, and as a rule a few more. After that `insert` says
//! [`Full`](InsertError::Full), and the filter is as it was. Copies count: [`len`](CuckooFilter::len) says how
//! many items are in.
//!
//! # When it must grow
//!
//! [`GrowingFilter`] has the same calls, and appends a table where it would be full; nothing is copied, and nobody waits for it. The
//! rate asked for holds for all its tables together. An absent item is looked up in each of them, so give the capacity that you
//! expect. It cannot be saved.
//!
//! ```
//! use guira::{CuckooFilter, GrowingFilter};
//!
//! let seen: GrowingFilter =
//!     CuckooFilter::builder().capacity(1_000).false_positive_rate(0.01).build_growing()?;
//! seen.try_extend(0..50_000).unwrap();
//! assert!(seen.contains(&49_999) && seen.false_positive_rate() <= 0.01);
//! # Ok::<(), guira::BuildError>(())
//! ```
//!
//! # Which calls
//!
//! - `insert`, `contains`, `remove`, `count`: a multiset.
//! - `insert_unique`: adds only what is absent. Who is told `false` owns no copy, and removes none.
//! - `*_batch`, `contains_mask` and `try_extend`: the same for slices, bursts and iterators, with the cache misses of dozens of
//!   items under way at once. In tables beyond the caches a batch is 1.7 to 3 times as fast; within them, as fast.
//! - `*_hash`: the same by 64-bit hashes, or by integer keys as they are.
//!
//! A [`FromIterator`] or an [`Extend`] there is not: an insert can fail, and these could not say so.
//!
//! # Threads
//!
//! Every operation but [`clear`](CuckooFilter::clear) takes `&self`: share a filter by reference or in an
//! [`Arc`](alloc::sync::Arc). Lookups take no lock and write
//! nothing; inserts take none as long as one of an item's two buckets has room. What overlapping
//! calls may observe stands [with the filter](CuckooFilter#what-overlapping-calls-may-observe), how
//! it works in [`docs::design`], what it does not do in [`docs::limits`], and what has been checked in
//! [`docs::verification`].
//!
//! # Beside a cache or a store
//!
//! A filter in front of a store answers for the keys that are not in it. It is right as long as a key is inserted before it is
//! published, and removed after it is withdrawn, once for each insert. Who does what, and when, with threads that
//! create and delete the same keys: [`docs::caches`].
//!
//! # Saving
//!
//! `save` and `to_bytes` make a snapshot while others go on reading and writing, and `load` and `from_bytes` a filter
//! of it; what is damaged is refused. With the feature `std`:
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use guira::CuckooFilter;
//!
//! let seen = CuckooFilter::with_capacity(1_000);
//! seen.insert("tyto alba").unwrap();
//! let mut file = Vec::new(); // or a `File`
//! seen.save(&mut file).unwrap();
//!
//! let again = CuckooFilter::load(&file[..]).unwrap();
//! assert!(again.contains("tyto alba"));
//! # }
//! ```
//!
//! The [format](docs::snapshots) is the same everywhere, and for filters that travel from one platform or release to another there
//! is a hasher that is, [`StableHashBuilder`]: they are loaded by `load_with_hasher`. With the feature `serde` a filter is
//! `Serialize`, as the bytes of its snapshot, and `Deserialize` with the default hasher or `StableHashBuilder::default()`.
//!
//! # What goes on inside
//!
//! With the feature `stats` a filter counts its relocations, the lengths of their paths, the lookups that had to look again and
//! the waits for locks, and `stats()` returns the numbers. Without it none of this takes a byte or an instruction. With it each
//! insert counts twice, each lock is tried before it is waited for, and a filter takes one to nine KiB more, by the number of cores.
//!
//! # Features
//!
//! | feature | by default | what it adds |
//! |---|---|---|
//! | `std` | yes | snapshots; locks that park; a random seed from the system; counters for as many threads as run at once |
//! | `serde` | no | `Serialize` and `Deserialize` for [`CuckooFilter`]; turns `std` on |
//! | `stats` | no | `stats()`, and `Stats` |
//!
//! Features only add, and change no signature; any set of them can be had together. Without `std` the library is `no_std`, and needs an
//! allocator and 64-bit atomics. Everything but snapshots is there, with these differences:
//!
//! - Who waits for a stripe spins. Where a thread can be interrupted by another that it waits for (an interrupt handler,
//!   a scheduler with strict priorities), that may be for ever: only lookups, and `insert` where a bucket has room, take no lock.
//! - The default seed is made of addresses and the like, which can be guessed. Where somebody chooses the keys, draw a
//!   [`seed`](CuckooFilterBuilder::seed) from what the platform has.
//! - All threads count in one place, so writers are slower side by side.
//!
//! # What is promised from release to release
//!
//! Semantic versioning for all that is documented here. The module `raw`, which is not, is exempt, and so is
//! everything under a `--cfg`. Enums and their variants, [`Segment`] and `Stats` may have more members some day, and say so. What the
//! default hasher makes of an item may change, and what a filter of a certain seed mistakes.
//! Rust 1.89 will do; a later one will be asked for in a minor release only.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
// Shows which feature an item needs, where docs.rs builds the documentation.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]

extern crate alloc;

#[cfg(not(target_has_atomic = "64"))]
compile_error!("guira keeps its buckets in 64-bit atomics, which this target does not have");

mod bucket;
mod chain;
pub mod docs;
mod error;
mod filter;
mod sync;
mod table;

/// The typed core, for research and for this crate's own models, tests and measurements.
///
/// It is exempt from semantic versioning.
#[doc(hidden)]
pub mod raw {
    #[cfg(guira_steps)]
    pub use crate::sync::steps;
    pub use crate::{
        bucket::{BucketLayout, Census, Fingerprint, Plain, SemiSorted},
        chain::Chain,
        table::{
            Addressing, MAX_BUCKETS, Move, Nested, Nesting, Pair, Progress, Search, ShardedCounter,
            Single, Table, mix,
        },
    };
    #[cfg(loom)]
    pub use crate::{
        sync::spin::{SpinGuard, SpinLock},
        table::{AllStripes, Stripe, StripeGuard, Stripes, Version},
    };
}

pub use bucket::Layout;
pub use error::{BuildError, InsertBatchError, InsertError};
#[cfg(feature = "std")]
pub use filter::LoadError;
pub use filter::{
    ByHash, CuckooFilter, DefaultHashBuilder, DefaultHasher, Engine, Filter, FilterBuilder, Fixed,
    Growing, GrowingFilter, InsertMask, Membership, Segment, StableHashBuilder, StableHasher,
};
#[cfg(feature = "stats")]
pub use table::Stats;

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
