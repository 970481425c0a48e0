//! Filters whose items expire.

mod by_hash;
mod clock;
mod engine;
mod items;
mod ticker;

pub use ticker::Ticker;

use super::{DefaultHashBuilder, Engine, Filter, Fixed};
use crate::table::Aged;

/// The engine of an [`ExpiringFilter`]: one table, whose slots hold a fingerprint and a stamp.
pub type Expiring = Fixed<Aged>;

/// A filter that forgets: it finds an item for a window of generations after its insert.
///
/// Use it for duplicates in a stream, replayed nonces and tokens, and whatever else matters only
/// for a while. Time passes when [`advance`](Filter::advance) is called: it begins the next
/// *generation*. The filter reads no clock; a [`Ticker`] calls `advance` by the clock of the
/// caller. All else is as in a [`CuckooFilter`](crate::CuckooFilter): any number of threads share a
/// filter, and lookups acquire no lock and write nothing. An item takes 16.7 bits with the default
/// window of 13 generations, at 0.19 % false positives.
///
/// ```
/// use guira::ExpiringFilter;
///
/// let seen = ExpiringFilter::builder().capacity(100_000).window(2).build()?;
/// assert!(seen.insert_unique("nonce 17").unwrap().is_some());
/// assert!(seen.insert_unique("nonce 17").unwrap().is_none()); // a replay
///
/// seen.advance();
/// seen.advance();
/// assert!(seen.contains("nonce 17"));
/// seen.advance();
/// assert!(!seen.contains("nonce 17"));
/// # Ok::<(), guira::BuildError>(())
/// ```
///
/// # How long an item is found
///
/// Let w be the [`window`](Filter::window). An insert returns the generation g of its item. **The
/// item is found up to the generation g + w, and no longer.** (Aliases and false positives aside.)
/// More precisely, for calls that overlap:
///
/// - Of the advances that begin after the insert began, take the w-th, or the (w + 1)-th if no
///   advance was running when the insert began. Every lookup that begins after the insert returned,
///   and returns before that advance begins, finds the item.
/// - Of the advances that begin after the insert returned, take the (w + 1)-th. No lookup that
///   begins after it has returned finds the item.
///
/// In between, what overlaps an advance may be ordered before or after it. An item that is
/// [inserted for n generations](Filter::insert_for) has n in place of w, and one that is
/// [refreshed](Filter::refresh) is found as if it were inserted at that moment. Inserts that take
/// so long that the window passes meanwhile (because their thread is suspended) may leave an item
/// that is not found, or one that is found later, for another window.
///
/// # Capacity
///
/// What has expired occupies its slot until it is swept: by the `advance` that ends the generation
/// in which it expired, by an insert that needs the slot, or by [`sweep`](Filter::sweep). So the
/// capacity must be enough for the items of w + 2 generations, or of w + 1 generations if the
/// filter is swept early in each generation: those of the present one, and of the w before it.
/// Copies count: an item that is inserted in every generation occupies one slot for each of them.
/// A filter that is full returns [`Full`](crate::InsertError::Full) and loses nothing.
///
/// [`len`](Filter::len) counts what is found, and not what has expired.
///
/// # The contract of removal
///
/// An item need not be removed. If you do it anyway, to accept a message again or to give a token
/// back, follow this contract: every call of `remove(&item, generation)` must be paid for by a call
/// of [`insert`](Filter::insert), [`insert_for`](Filter::insert_for),
/// [`insert_unique`](Filter::insert_unique) or [`insert_batch`](Filter::insert_batch) with an equal
/// item that returned this generation. That call happened before the removal, and pays for no other
/// one. In addition:
///
/// - No [`clear`](Filter::clear) came between the two, or overlapped one of them.
/// - Nobody calls [`refresh`](Filter::refresh) for this item. What is refreshed is left to expire.
/// - Nobody calls [`insert_evicting`](Filter::insert_evicting) on this filter.
///
/// A removal that comes too late removes nothing, so nobody needs to know whether an item has
/// expired. (It can also return `false` for an item that has not expired, if the refresh of an
/// alias took its copy. Nothing is lost then.)
///
/// # What overlapping calls may observe
///
/// What [`Filter`](Filter#what-overlapping-calls-may-observe) says holds here too: for one item and
/// its aliases, the filter behaves like a multiset of generations behind a lock. In addition:
///
/// - An `advance` takes effect at one moment for all items. Lookups that overlap it are ordered
///   before it or after it, each on its own.
/// - An insert that overlaps an `advance` may return the generation that ends or the one that
///   begins.
/// - If calls of `insert_unique` with one item overlap each other and an `advance`, none of them
///   accepts the item again before the former insert has expired.
/// - Lookups find the item while a `refresh` runs.
///
/// # Copies and snapshots
///
/// Clones and [snapshots](Filter::save) contain the generation, and the ages of the items. A copy
/// starts in the generation in which it was made. A filter that is loaded later does not know the
/// time in between: the caller advances it accordingly, before it is used. A [`Ticker`]
/// [counts these advances](Ticker::resume). Filters whose items expire cannot be merged,
/// since their generations are counted apart: `merge` and `max_copies` are methods of
/// [`Permanent`](crate::Permanent) engines only.
///
/// ```compile_fail
/// let filter = guira::ExpiringFilter::with_capacity(9);
/// filter.merge(&filter.clone());
/// ```
///
/// # Sources
///
/// Cuckoo filters with values are described by Fan et al. (2014, section 6); here the value is a
/// generation. The usual alternative is to rotate several filters, where a lookup reads each of
/// them.
pub type ExpiringFilter<S = DefaultHashBuilder> = Filter<Expiring, S>;

impl Engine for Expiring {}
