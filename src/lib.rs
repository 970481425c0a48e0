//! A concurrent cuckoo filter: it answers "is this item in the set?" in a few bits per item, with
//! rare false positives and no false negatives. Items can be removed, have small values, or expire.
//! Any number of threads share a filter, and lookups take no lock.
//!
//! # A first filter
//!
//! ```
//! use guira::CuckooFilter;
//!
//! let seen = CuckooFilter::with_capacity(1_000_000);
//! std::thread::scope(|scope| {
//!     scope.spawn(|| seen.insert_batch(0..1_000).unwrap());
//!     scope.spawn(|| seen.insert_batch(1_000..2_000).unwrap());
//! });
//! assert!(seen.contains(&17));
//! assert!(seen.remove(&17));
//! ```
//!
//! If [`contains`](Filter::contains) returns `false`, the item is not in the filter. For an absent
//! item it returns `true` with a probability of about 1 in 8,500, once the filter is at capacity.
//! The filter hashes items and does not keep them.
//!
//! **Remove only what you inserted, once, and after the insert returned.** The filter cannot
//! distinguish an item that was never inserted from another item with the same fingerprint: see
//! [the contract](Filter#the-contract-of-removal).
//!
//! # Two axes
//!
//! | | fixed capacity | grows |
//! |---|---|---|
//! | a set of keys | [`CuckooFilter`] | [`GrowingFilter`] |
//! | keys with values of up to 16 bits | [`CuckooMap`] | [`GrowingMap`] |
//! | keys that are forgotten after a while | [`ExpiringFilter`] | [`GrowingExpiringFilter`] |
//!
//! All of them are names for [`Filter<C, G, S>`](Filter): its contents, its growth, its hasher.
//! [`docs::choice`] says when another crate is better.
//!
//! # Conventions
//!
//! - **Keys** are borrowed: `&K`, where `K` implements [`Hash`](core::hash::Hash). A
//!   non-negative integer is the same key in every width up to 64 bits. [`Hashed`] is a key that is
//!   its own hash, in every method.
//! - **`insert` adds a copy. `insert_unique` adds only what is absent**, and returns
//!   [`Insertion::New`] or [`Insertion::Found`]. Whoever got `Ok` from `insert`, or `New`, owns a
//!   copy, and may remove it once. Nobody else may.
//! - **`remove` takes the key and what its slot holds beside it**: nothing in a set, the value in a
//!   map, the generation in an expiring filter.
//! - **`*_batch`** takes slices of keys and of answers of one length, and returns the number of
//!   positive answers. (`insert_batch` has no answers. It takes any iterator, and in a map slices
//!   of keys and of values.) **`*_mask`** takes up to 64 keys, and answers in the bits of a `u64`,
//!   or of two if there are two kinds of answers. Both overlap the cache misses of their keys.
//! - **Errors.** What can fail for lack of room or memory returns a `Result`. `with_capacity`,
//!   `default`, `clone` and `to_bytes` panic if the system refuses memory, as `Vec` does; batches,
//!   if their slices differ in length.
//! - There is no [`FromIterator`] and no [`Extend`], because an insert can fail and these traits
//!   cannot return an error.
//!
//! # Size and rate
//!
//! [`CuckooFilter::with_capacity`] makes a filter with about 0.012 % false positives. For another
//! rate use the [builder](CuckooFilter::builder). It takes the layout with the fewest bits per item
//! that meets the target, or the [fastest](FilterBuilder::fastest) such layout:
//!
//! | target rate, at least | smallest [`Layout`] | fastest layout | bits per item | rate at capacity |
//! |---|---|---|---|---|
//! | 6.1 % | [`Plain8x8`](Layout::Plain8x8) | the same | 8.1 | 6.0 % |
//! | 1.2 % | [`Plain6x10`](Layout::Plain6x10) | the same | 10.9 | 1.15 % |
//! | 0.29 % | [`SemiSorted6x12`](Layout::SemiSorted6x12) | the next plain layout below | 10.9 | 0.29 % |
//! | 0.24 % | [`Plain5x12`](Layout::Plain5x12) | the same | 13.2 | 0.24 % |
//! | 0.06 % | [`SemiSorted5x14`](Layout::SemiSorted5x14) | the next plain layout below | 13.2 | 0.06 % |
//! | 0.012 % | [`Plain4x16`](Layout::Plain4x16) | the same | 16.7 | 0.0117 % |
//! | 0.006 % | [`SemiSorted4x17`](Layout::SemiSorted4x17) | the same | 16.7 | 0.0059 % |
//! | 0.00014 % | [`SemiSorted3x22`](Layout::SemiSorted3x22) | the same | 22.9 | 0.00013 % |
//!
//! The bits per item are those of the buckets in a filter for a million items or more. Smaller
//! filters take more. `BENCHMARKS.md`, in the repository, compares the speed of plain and
//! semi-sorted layouts. A filter built with [`capacity(n)`](Filter::capacity) holds n distinct
//! items. After that, `insert` returns [`InsertError::Full`] and changes nothing. What allocates
//! memory, and what happens if it is refused, is in [`docs::limits`].
//!
//! # Growth
//!
//! A [`GrowingFilter`] has the same methods, and a few more. It grows in small steps while threads
//! use it: inserts split one bucket after another, so no call copies the table. A lookup reads two
//! buckets at every size, and the target rate holds at every size, too. In return it takes more bits
//! per item: [its page](GrowingFilter#what-it-costs) has a table.
//!
//! # Values
//!
//! A [`CuckooMap`] stores a small value beside each fingerprint: the file that holds a key, the
//! worker that owns a flow. A lookup rarely returns the value of another key, and never misses a
//! key that is in the map. Removals name the value: see [the contract of
//! maps](CuckooMap#the-contract-of-removal-and-replacement).
//!
//! # Expiry
//!
//! An [`ExpiringFilter`] finds an item for a window of generations after its insert, and then
//! forgets it. It detects duplicates in a stream, or replayed tokens. The caller begins each
//! generation, or names a time to live. [`docs::expiry`] is a guide, with recipes.
//!
//! # Threads
//!
//! Share a filter by reference or in an [`Arc`](alloc::sync::Arc). Lookups take no lock and write
//! nothing. [`insert`](CuckooFilter#method.insert) takes no lock while one of the item's two
//! buckets has room. (Its documentation names the exceptions: items with many copies, and growth.)
//!
//! - What overlapping calls may observe: [`Filter`](Filter#what-overlapping-calls-may-observe).
//! - How to call it in async code: as it is, but for [what takes long](docs::saving#with-tokio).
//! - How to keep a filter in step with a cache or a store: [`docs::caches`].
//! - How it works: [`docs::design`].
//! - What it does not do: [`docs::limits`].
//! - What has been checked: [`docs::verification`].
//!
//! # Saving, cloning, clearing
//!
//! [`save`](Filter::save), [`to_bytes`](Filter::to_bytes), and [`clone`](Filter::try_clone) copy a
//! filter while other threads read and write it. The copy holds every item that was present
//! throughout the call. A [`Loader`] takes bytes, a reader, a file, or chunks that are pushed to
//! it, and refuses a damaged snapshot. A [`View`] looks up items in a snapshot without loading it,
//! for example in a mapped file. [`clear`](Filter::clear) removes all items. Saving needs the
//! feature `std`. The [snapshot format](docs::snapshots) and the results of the default hasher are
//! the same in every release and on every platform. [`docs::saving`] is a guide to files and async
//! code.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `std` | yes | snapshots; locks whose waiters yield and sleep; a random seed from the system; a counter in up to 64 shards; the detection of AVX2 and AVX-512 |
//! | `serde` | no | `Serialize` and `Deserialize` for [`Filter`]; enables `std` |
//! | `stats` | no | `stats()` and `Stats`: counts of relocations, search paths, retries, and waits |
//!
//! Features only add; they change no signature. Without `std` the crate is `no_std` and needs an
//! allocator and 64-bit atomics. It has everything but snapshots, with five differences:
//!
//! - A thread that waits for a lock only spins. (A filter has many locks, one in each *stripe*,
//!   which serves some of the fingerprints.) If a thread that holds a lock can be interrupted by
//!   another one that then waits for that lock (an interrupt handler, or a scheduler with strict
//!   priorities), the other one may spin forever. Apart from the getters, two
//!   operations take no lock: a lookup, and an `insert` into a filter that does not grow, without
//!   [`max_copies`](FilterBuilder::max_copies), if one of the item's buckets has room.
//! - The default seed comes from addresses and similar values, which can be guessed. If an attacker
//!   can choose keys, pass a [`seed`](FilterBuilder::seed) from a random source of the platform.
//! - All threads share one counter, and each update of it costs one more locked instruction.
//! - An expiring filter with a [`ttl`](FilterBuilder::ttl) needs a clock of the caller.
//! - The processor is not asked for AVX2 and AVX-512, so batches use them only if the crate is
//!   compiled for a target that has them.
//!
//! Without the feature `stats` the counts take no memory and no instruction. With it, each insert
//! updates one more counter, a thread tries a lock before it waits for it, and a filter takes two
//! to three KiB more, and 16 bytes more for each stripe.
//!
//! # Compatibility
//!
//! The crate follows semantic versioning for everything that is documented. The hidden module `raw`
//! and everything under a `--cfg` are exempt. Errors, [`InsertMask`], [`Layout`], and `Stats` may
//! gain members; they are marked `#[non_exhaustive]`. One thing may change in any release: which
//! absent items a filter with a given seed reports as present.
//!
//! The minimum Rust version is 1.89. It may rise in a minor release, never in a patch release.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
// Shows which feature an item needs, where docs.rs builds the documentation.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]

extern crate alloc;

#[cfg(not(target_has_atomic = "64"))]
compile_error!("guira keeps its buckets in 64-bit atomics, which this target does not have");

#[cfg_attr(not(feature = "raw"), allow(dead_code, unused_imports, reason = "what `raw` exports"))]
mod bucket;
pub mod docs;
mod error;
mod filter;
mod sync;
#[cfg_attr(not(feature = "raw"), allow(dead_code, unused_imports, reason = "what `raw` exports"))]
mod table;

/// The typed core, for research and for this crate's own models, tests and measurements.
///
/// It is exempt from semantic versioning, and exists only with the feature of its name. Its
/// functions trust their arguments: those that no table has can make them access memory out of
/// bounds.
#[doc(hidden)]
#[cfg(feature = "raw")]
pub mod raw {
    #[cfg(guira_steps)]
    pub use crate::sync::steps;
    #[cfg(feature = "std")]
    pub use crate::table::split::ImageLoader;
    pub use crate::{
        bucket::{Census, Code, Fingerprint, Leveled, Slots, Sought, leveled::level},
        table::{
            Addressing, Candidates, Clock, ClockState, FixedSpace, FixedTable, FixedWords, Kernel,
            MAX_BUCKETS, MergeRefusal, Merged, Mixer, Move, Pair, Payload, ShardedCounter, Space,
            Start, Table, TimeSource, TimeState, Words, mix,
            split::{
                GrowingAddressing, GrowingSpace, GrowingTable, GrowingWords, Grown, Item, Limits,
                Place, Side, Size,
            },
        },
    };
    #[cfg(loom)]
    pub use crate::{
        sync::{
            leases::Leases,
            lock::{Lock, LockGuard},
        },
        table::{AllStripes, PendingInserts, Stripe, StripeGuard, Stripes, Version},
    };
}

pub use bucket::Layout;
pub use error::{BuildError, Error, InsertBatchError, InsertError, MergeError};
pub use filter::{
    Contains, CuckooFilter, CuckooMap, Dedup, ExpiringFilter, Filter, FilterBuilder,
    GrowingExpiringFilter, GrowingFilter, GrowingMap, Hashed, InsertMask, Insertion, Key, Life,
    StableHashBuilder, StableHasher, Values, kind,
};
#[cfg(feature = "std")]
pub use filter::{Dump, KeyTypes, LoadError, Loader, View};
#[cfg(feature = "stats")]
pub use table::Stats;
pub use table::split::Shrinking;

/// The examples of the README, as tests.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;
