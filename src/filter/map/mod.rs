//! Maps: their names, their contract, and the values that they return.

mod batches;
mod items;

use core::iter::FusedIterator;

use super::{
    Filter, StableHashBuilder,
    kind::{Fixed, Growing, Map},
};
use crate::table::Candidates;

/// A map from keys to small values, with a fixed capacity: the [`Filter`] of one table whose slots
/// hold a fingerprint and a value.
///
/// An *item* of a map is a key with a value. The map stores a fingerprint of the key, and not the
/// key itself: an item with a value of 4 bits takes 16.7 bits. A lookup can return the value of
/// another key, with the probability of a false positive, but it never misses a key that is in the
/// map. Values have 8 bits, or as many as [`value_bits`](crate::FilterBuilder::value_bits) sets.
/// All else is as in a [`CuckooFilter`](crate::CuckooFilter).
///
/// ```
/// use guira::CuckooMap;
///
/// let workers = CuckooMap::builder().capacity(100_000).value_bits(4).seed(1).build().unwrap();
/// workers.insert("flow 17", 3).unwrap();
/// assert_eq!(workers.get("flow 17"), Some(3));
/// assert_eq!(workers.get("flow 18"), None);
///
/// assert!(workers.replace("flow 17", 3, 5));
/// assert!(workers.remove("flow 17", 5));
/// assert!(workers.is_empty());
/// ```
///
/// # What a lookup may return
///
/// The map cannot distinguish the items of *aliases*, two keys with the same fingerprint and the
/// same buckets. Any key, present or absent, has an alias among the other keys of the map with a
/// probability of at most [`false_positive_rate`](Filter::false_positive_rate). So:
///
/// - `values(&key)` returns the values of the key and of its aliases. **The value of an item that
///   is in the map throughout the call is always among them.** For most keys it is the only one.
/// - `get(&key)` returns one of these values, or `None` if there is none, and then the key is not
///   in the map. The value may be that of an alias, even if the key itself is in the map.
/// - `contains_value(&key, value)` returns `true` if `value` is one of them. It never returns
///   `false` for an item that is in the map.
///
/// Therefore, let a value be a hint that can be verified, or that does no harm if it is wrong: the
/// run of a store that may hold the key (then search the runs of all `values`), the shard or the
/// worker that owns a flow, a class of traffic. For values that must be right, use a hash table.
///
/// A map is a multimap: each `insert` adds an item, even if its key already has a value. With
/// `insert_unique` each key gets one value. If keys have several, say how many by
/// [`values_per_key`](crate::FilterBuilder::values_per_key): all values of a key share two buckets,
/// and without it the capacity holds for one value a key.
///
/// # The contract of removal and replacement
///
/// **Remove or replace only what you inserted: with its own value, once, and after it was
/// inserted.** In full: every call of `remove(&key, value)`, and every call of `replace(&key,
/// value, new)`, must be paid for by a call with an equal key that made an item with this value:
///
/// - `insert(&key, value)`, which returned `Ok(())`,
/// - `insert_unique(&key, value)`, which returned `New`, or
/// - `replace(&key, old, value)`, which returned `true`.
///
/// That call happened before the removal or the replacement, and pays for no other one. No
/// [`clear`](Filter::clear) came between the two, or overlapped one of them. So a `replace` uses up
/// one payment and makes another: after it, remove or replace the item with the new value.
///
/// The value must be the one that you inserted or set last, from your own records, and **never one
/// that a lookup returned**: that may belong to an alias. The items of aliases with equal values
/// are interchangeable, so it does not matter which of them is taken. With different values they
/// are not: whoever takes the wrong one removes a value that a lookup of the alias then misses. A
/// caller to whom `insert_unique` returned `Found` owns no item, and must not remove or
/// replace one.
///
/// # What overlapping calls may observe
///
/// What [`Filter`](Filter#what-overlapping-calls-may-observe) says of items holds for items with
/// their values: for one key and its aliases, a map behaves like a multiset of values behind a
/// lock. In addition:
///
/// - A lookup that overlaps a `replace` returns the old value or the new one, as if one of the two
///   calls came first. It never misses both.
/// - `values` does not take effect at one moment. If another thread moves an item meanwhile, its
///   value may come twice. If two values are inserted meanwhile, one after the other, it may return
///   the later one without the earlier one.
/// - A lookup that returns a value *happens after* the insert or the replacement that it found.
/// - If a `replace` overlaps a [`clone`](Filter::try_clone), a save or a [`merge`](Filter::merge),
///   the copy has the item with the old value or with the new one. Which of them is unknown, so the
///   item must not be removed or replaced in the copy.
///
/// # Sources
///
/// Fan et al. (2014, section 6) describe cuckoo filters with values. Bender et al. (2025, "Time To
/// Replace Your Filter: How Maplets Simplify System Design", arXiv 2510.05518) argue for such maps
/// in place of several filters.
pub type CuckooMap<S = StableHashBuilder> = Filter<Map, Fixed, S>;

/// A map that grows: the [`Filter`] of a table that splits its buckets, and whose slots hold a
/// fingerprint and a value.
///
/// It grows as a [`GrowingFilter`](crate::GrowingFilter#what-it-costs) does, a few buckets at a
/// time, while other threads use it. The promises and the contracts are those of a [`CuckooMap`]:
/// an item's value is always among its [`values`](Filter::values). A lookup reads two buckets,
/// however far the map has grown. [`get`](Filter::get) prefers the slot that knows most of the key.
///
/// A value takes bits of the fingerprint, so the layout depends on it:
/// [`Layout::growing`](crate::Layout::growing) lists which values fit. Without a target the rate is
/// at most 0.5 % after all doublings. With values of 8 bits an item then takes 43 bits (2 slots of
/// 30 bits); a [`max_capacity`](crate::FilterBuilder::max_capacity) or a higher target can lower
/// that. Once both buckets of a key are full, it takes no more than half of their slots, or three
/// of four.
///
/// ```
/// use guira::GrowingMap;
///
/// let shards = GrowingMap::builder().capacity(1_000).value_bits(4).build().unwrap();
/// for key in 0..50_000_u64 {
///     shards.insert(&key, (key % 16) as u16).unwrap();
/// }
/// assert!(shards.len() == 50_000 && shards.false_positive_rate() <= 0.005);
/// assert!((0..50_000_u64).all(|key| shards.values(&key).any(|v| u64::from(v) == key % 16)));
/// assert!(shards.remove(&17_u64, 1));
/// ```
pub type GrowingMap<S = StableHashBuilder> = Filter<Map, Growing, S>;

/// The values that a key may have: [`values`](crate::Filter::values) returns them.
#[derive(Clone, Debug)]
pub struct Values {
    candidates: Candidates,
    next: usize,
}

impl Values {
    pub(super) fn new(candidates: Candidates) -> Self {
        Self { candidates, next: 0 }
    }
}

impl Iterator for Values {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let value = *self.candidates.as_slice().get(self.next)?;
        self.next += 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.candidates.as_slice().len() - self.next;
        (len, Some(len))
    }
}

impl ExactSizeIterator for Values {}
impl FusedIterator for Values {}
