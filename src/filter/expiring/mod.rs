//! Filters whose items expire.

mod batches;
mod clock;
mod items;
mod life;

use super::{
    Filter, StableHashBuilder,
    kind::{Expiring, Fixed, Growing},
};
pub use life::Life;

/// A filter that forgets: it finds an item for a time to live, or for a window of generations.
///
/// Use it for duplicates in a stream, replayed nonces and tokens, idle flows, and whatever else
/// matters only for a while. A builder names either a time to live, [`ttl`], or a [`window`]: then
/// time passes in *generations*, which you begin by [`advance`](Filter::advance). All else is as in
/// a [`CuckooFilter`](crate::CuckooFilter). An item takes 16.7 bits at 0.19 % false positives, 22.9
/// bits at 0.0043 %, or 37.4 bits at 0.0000013 %. [`docs::expiry`](crate::docs::expiry) has
/// recipes.
///
/// [`ttl`]: crate::FilterBuilder::ttl
/// [`window`]: crate::FilterBuilder::window
///
/// ```
/// # #[cfg(feature = "std")] {
/// use std::{
///     sync::atomic::{AtomicU64, Ordering::Relaxed},
///     time::Duration,
/// };
///
/// use guira::ExpiringFilter;
///
/// let builder = ExpiringFilter::builder().ttl(Duration::from_secs(600)).capacity(500 * 800);
/// let seen = builder.clone().build().unwrap();
/// assert!(seen.insert_unique("nonce 17").unwrap().is_new());
/// assert!(!seen.insert_unique("nonce 17").unwrap().is_new()); // a replay, for ten minutes
///
/// // A test does not wait for them: it sets the clock.
/// static NOW: AtomicU64 = AtomicU64::new(0);
/// let seen = builder.clock(|| NOW.load(Relaxed)).build().unwrap();
/// assert!(seen.insert_unique("nonce 17").unwrap().is_new());
/// NOW.store(Duration::from_secs(720).as_nanos() as u64, Relaxed);
/// assert!(seen.insert_unique("nonce 17").unwrap().is_new());
/// # }
/// ```
///
/// # How long an item is found
///
/// **With a time to live**, for that time after its insert or refresh began, and not after 1.2
/// times that time and two lags of the clock: [`ttl`] has the whole promise. Time passes by itself.
/// There are generations here, too, six in a time to live, which writes begin; an insert returns
/// that of its item, for [`remove`](Filter::remove).
///
/// **With a window** of w generations, an insert returns the generation g of its item, which is
/// current at some moment of the call. The item is found up to the generation g + w, and no longer,
/// unless it is removed or cleared:
///
/// - A lookup finds the item if it begins after the insert returned, and returns before the
///   generation g + w + 1 begins.
/// - A lookup does not find the item if it begins after some call returned the generation g + w + 1
///   or a later one. (A further copy, an alias, or a false positive can be found for longer.)
///
/// Here, "after" means that one call happened before the other. In between, what overlaps an
/// `advance` may be ordered before or after it.
///
/// An item that is [inserted for a shorter life](Filter::insert_for) has a past generation as its
/// g, and one that is [refreshed](Filter::refresh) that of some moment of the call. An insert that
/// takes so long that its item expires meanwhile (because its thread is suspended) may leave an
/// item that is not found, or one that is found later, for another window.
///
/// # Capacity
///
/// What has expired occupies its slot until it is swept: by writes, with a time to live; by the
/// `advance` that ends the generation in which it expired; by an insert that needs the slot; or by
/// [`sweep`](Filter::sweep). So the capacity must be enough for a third more items than come in a
/// time to live, or with a window, for those of w + 2 generations: those of the current one, of the
/// w before it, and of one that has expired. Copies count: an item that is inserted in every
/// generation occupies one slot for each of them, up to w + 2. [Insert or
/// refresh](Filter::insert_or_refresh) instead, which needs one slot for a key. With a window of 3
/// or less, [`copies`](crate::FilterBuilder::copies) can make room for such copies, too. A filter
/// that is full returns [`Full`](crate::InsertError::Full) and loses nothing.
///
/// [`len`](Filter::len) counts what is found, and not what has expired.
///
/// # The contract of removal
///
/// An item need not be removed. If you do it anyway, to accept a message again or to give a token
/// back, follow this contract: every call of `remove(&item, generation)` must be paid for by a call
/// of [`insert`](Filter::insert), [`insert_for`](Filter::insert_for),
/// [`insert_unique`](Filter::insert_unique) or [`insert_unique_for`](Filter::insert_unique_for)
/// with an equal item that returned this generation. That call happened before the removal, and
/// pays for no other one. In addition:
///
/// - The insert was made on this filter. Or it returned before the clone or the snapshot was begun
///   from which this filter comes.
/// - No [`clear`](Filter::clear) came between the two, or overlapped one of them.
/// - Nobody refreshes this item from its insert to its removal, by [`refresh`](Filter::refresh) or
///   [`insert_or_refresh`](Filter::insert_or_refresh). What is refreshed is left to expire.
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
///   before it or after it, each on its own, and an insert may return the generation that ends or
///   the one that begins.
/// - If calls of `insert_unique` or of `insert_or_refresh` with one item overlap each other and an
///   `advance`, none of them inserts the item again before the former insert has expired, or is
///   removed or cleared.
/// - Lookups find the item while a `refresh` runs. Exception: if it expires during the call,
///   lookups may miss it until the call returns `true`.
///
/// # Copies and snapshots
///
/// Clones and [snapshots](Filter::write_to) contain the generation and the ages of the items. With
/// a time to live, a clone goes on by the same clock, and in a filter that is loaded, no time has
/// passed since the save. If the caller set the [clock](crate::FilterBuilder::clock), the
/// [loader](crate::Loader::clock) needs one, too.
///
/// Filters whose items expire cannot be merged, since their generations are counted apart:
///
/// ```compile_fail
/// let filter = guira::ExpiringFilter::builder().capacity(9).window(5).build().unwrap();
/// filter.merge(&filter.clone());
/// ```
pub type ExpiringFilter<S = StableHashBuilder> = Filter<Expiring, Fixed, S>;

/// A filter that forgets and grows: the [`Filter`] of a table that splits its buckets, and whose
/// slots hold a fingerprint and a generation.
///
/// Use it if you do not know how many items will come within a window. It grows to what the busiest
/// time needs, as a [`GrowingFilter`](crate::GrowingFilter#growth) does. An insert sweeps what has
/// expired before it splits buckets. So a filter to which as many items come in each generation as
/// expire keeps its size. After a peak, [`shrink_step`](Filter::shrink_step) releases memory.
///
/// ```
/// let seen = guira::GrowingExpiringFilter::builder().window(5).build().unwrap();
/// for generation in 0..20 {
///     seen.insert_batch((0..10_000).map(|item| (generation, item))).unwrap();
///     seen.advance();
/// }
/// assert!(seen.len() == 5 * 10_000 && seen.capacity() < 80_000); // the others have expired
/// ```
///
/// The promises and the contracts are those of an [`ExpiringFilter`], and the errors those of a
/// [`GrowingFilter`](crate::GrowingFilter#errors). What differs:
///
/// - **Memory.** A stamp takes bits of the slot, so the layout depends on the window.
///   [`Layout::growing`](crate::Layout::growing) lists what fits. Without a target, the rate is at
///   most 0.5 % after all doublings.
/// - **Removal** returns `false` in one more case. A slot that was filled later can know more of
///   its item than an older one. If an item, or one of its aliases, has such a younger copy, and
///   anything was refreshed within the window, the filter cannot tell which copy may go. Then the
///   older copy is left to expire.
/// - **[`len`](Filter::len)** is exact as long as nothing is refreshed. Otherwise it may
///   count a few slots too many or too few, until they expire.
pub type GrowingExpiringFilter<S = StableHashBuilder> = Filter<Expiring, Growing, S>;
