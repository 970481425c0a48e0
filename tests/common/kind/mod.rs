//! The kinds of filters, as parameters of a test: what a test calls on all of them.

mod expiring;
mod map;
mod set;

use std::{fmt::Debug, hash::BuildHasher};

use guira::{
    Filter, FilterBuilder, InsertBatchError, InsertError, InsertMask, Insertion, Key, Layout,
    MergeError, StableHashBuilder,
    kind::{Contents, Expiring, Fixed, Growing, Map, Set},
};
use rand::Rng;

use super::{Subject, items::Items};
pub use expiring::{By, Timing, occupied, stamp_bits};
pub use map::max_value;

/// A set of one table.
pub type Sets = (Set, Fixed);
/// A set that grows.
pub type GrowingSets = (Set, Growing);
/// A map of one table.
pub type Maps = (Map, Fixed);
/// A map that grows.
pub type GrowingMaps = (Map, Growing);
/// A filter whose items expire.
pub type ExpiringSets = (Expiring, Fixed);
/// A filter that grows, and whose items expire.
pub type GrowingExpiringSets = (Expiring, Growing);

/// A filter of a kind.
pub type Of<K, S = StableHashBuilder> = Filter<<K as Kind>::Contents, <K as Kind>::Growth, S>;
/// Its builder.
pub type BuilderOf<K, S = StableHashBuilder> =
    FilterBuilder<<K as Kind>::Contents, <K as Kind>::Growth, S>;
/// Completes a builder with the hasher under test.
pub type Maker<K, S> = fn(BuilderOf<K>) -> BuilderOf<K, S>;

/// A builder.
pub fn new<K: Kind>() -> BuilderOf<K> {
    K::expiring(Filter::builder())
}

/// A kind of filter.
///
/// An item is a key with a tag, which its removal names: nothing in a set, the value in a map, and
/// the generation in a filter whose items expire. An insert *wants* a tag: a value, or a life in
/// generations.
pub trait Kind: Sized + 'static {
    type Contents: Contents;
    type Growth: Subject;
    type Tag: Copy + Debug + Ord + Send + Sync + 'static;

    /// Whether a filter grows instead of being full.
    const GROWS: bool = Self::Growth::GROWS;
    /// Whether copies can be limited, and filters be merged.
    const IS_PERMANENT: bool = true;
    /// Whether items have values, which can be replaced.
    const IS_MAP: bool = false;

    /// The layouts to test.
    fn layouts() -> Vec<Layout>;

    /// Sets what goes with a layout beside the target rate. The seed chooses among windows.
    fn settings(builder: BuilderOf<Self>, _layout: Layout, _seed: u64) -> BuilderOf<Self> {
        builder
    }

    /// Limits copies, where that can be done.
    fn limited<S>(builder: BuilderOf<Self, S>, max_copies: usize) -> BuilderOf<Self, S>;

    /// Draws what an insert wants: one in eight cannot be had, if there are such.
    fn want<S>(filter: &Of<Self, S>, rng: &mut dyn Rng) -> u16;

    /// Draws a tag that items may have, and some that they cannot have.
    fn any_tag<S>(filter: &Of<Self, S>, rng: &mut dyn Rng) -> Self::Tag;

    /// What an insert returns if there is room: the tag, or the error.
    fn tag<S>(filter: &Of<Self, S>, want: u16) -> Result<Self::Tag, InsertError>;

    /// As `tag`, for inserts in batches and inserts of absent keys, which want less.
    fn plain_tag<S>(filter: &Of<Self, S>, want: u16) -> Result<Self::Tag, InsertError> {
        Self::tag(filter, want)
    }

    /// A want that can be had, and follows from the key.
    fn usual_want<S>(filter: &Of<Self, S>, key: u64) -> u16;

    fn insert<Q: Key + ?Sized, S: BuildHasher>(
        filter: &Of<Self, S>,
        key: &Q,
        want: u16,
    ) -> Result<Self::Tag, InsertError>;

    fn insert_unique<Q: Key + ?Sized, S: BuildHasher>(
        filter: &Of<Self, S>,
        key: &Q,
        want: u16,
    ) -> Result<Insertion<Self::Tag, Option<Self::Tag>>, InsertError>;

    /// Returns the tag of all items, if they have one and the call tells it.
    fn insert_batch<Q: Key + Copy, S: BuildHasher>(
        filter: &Of<Self, S>,
        keys: &[Q],
        wants: &[u16],
    ) -> Result<Option<Self::Tag>, InsertBatchError>;

    /// `None` if there is no such method.
    fn insert_unique_batch<Q: Key, S: BuildHasher>(
        _filter: &Of<Self, S>,
        _keys: &[Q],
        _added: &mut [bool],
    ) -> Option<Result<usize, InsertBatchError>> {
        None
    }

    /// `None` if there is no such method.
    fn insert_unique_mask<Q: Key, S: BuildHasher>(
        _filter: &Of<Self, S>,
        _keys: &[Q],
    ) -> Option<InsertMask> {
        None
    }

    fn remove<Q: Key + ?Sized, S: BuildHasher>(
        filter: &Of<Self, S>,
        key: &Q,
        tag: Self::Tag,
    ) -> bool;

    fn remove_batch<Q: Key, S: BuildHasher>(
        filter: &Of<Self, S>,
        keys: &[Q],
        tags: &[Self::Tag],
        removed: &mut [bool],
    ) -> usize;

    /// The tags of a key that are found, if a lookup tells them.
    fn tags<Q: Key + ?Sized, S: BuildHasher>(
        _filter: &Of<Self, S>,
        _key: &Q,
    ) -> Option<Vec<Self::Tag>> {
        None
    }

    /// A tag of each key that is found, if lookups tell it, by one of three methods.
    fn get_each<S: BuildHasher>(
        _filter: &Of<Self, S>,
        _keys: &[u64],
        _choice: u16,
    ) -> Option<Vec<Option<Self::Tag>>> {
        None
    }

    /// Whether a key is found with this tag, if there is such a method.
    fn contains_tag<S: BuildHasher>(
        _filter: &Of<Self, S>,
        _key: u64,
        _tag: Self::Tag,
    ) -> Option<bool> {
        None
    }

    /// Whether a lookup of a key finds one of these tags, as far as it tells.
    fn holds<S: BuildHasher>(filter: &Of<Self, S>, key: u64, tags: &[Self::Tag]) -> bool {
        let found = Self::tags(filter, &key);
        filter.contains(&key)
            && found.is_none_or(|found| found.iter().any(|tag| tags.contains(tag)))
    }

    /// Whether lookups of many keys find all of them, with any tag.
    fn finds_all<S: BuildHasher>(filter: &Of<Self, S>, keys: &[u64]) -> bool {
        let mut found = vec![false; keys.len()];
        let all = filter.contains_batch(keys, &mut found) == keys.len();
        let first = &keys[..keys.len().min(64)];
        all && found.iter().all(|&found| found)
            && filter.contains_mask(first).count_ones() as usize == first.len()
    }

    /// Gives an item another tag, if items of this kind can get one. Returns the tag.
    fn retag<S: BuildHasher>(
        _filter: &Of<Self, S>,
        _key: u64,
        _tag: Self::Tag,
        _want: u16,
    ) -> Option<Self::Tag> {
        None
    }

    /// Adds the items of another filter. `None` if there is no such method.
    fn merge<S: BuildHasher>(
        _filter: &Of<Self, S>,
        _other: &Of<Self, S>,
    ) -> Option<Result<(), MergeError>> {
        None
    }

    /// The tag of an item that was added in this generation.
    fn tag_of<S>(filter: &Of<Self, S>, key: u64) -> Self::Tag {
        Self::tag(filter, Self::usual_want(filter, key)).expect("it can be had")
    }

    /// Inserts a key with its usual tag.
    fn add<S: BuildHasher>(filter: &Of<Self, S>, key: u64) -> Result<(), InsertError> {
        Self::insert(filter, &key, Self::usual_want(filter, key)).map(drop)
    }

    /// Inserts a key if it is absent. Returns whether it was.
    fn add_unique<S: BuildHasher>(filter: &Of<Self, S>, key: u64) -> Result<bool, InsertError> {
        let insertion = Self::insert_unique(filter, &key, Self::usual_want(filter, key));
        insertion.map(|insertion| insertion.is_new())
    }

    /// Inserts keys with their usual tags.
    fn add_batch<S: BuildHasher>(
        filter: &Of<Self, S>,
        keys: &[u64],
    ) -> Result<(), InsertBatchError> {
        let wants: Vec<u16> = keys.iter().map(|&key| Self::usual_want(filter, key)).collect();
        Self::insert_batch(filter, keys, &wants).map(drop)
    }

    /// Removes what `add` added in this generation.
    fn take<S: BuildHasher>(filter: &Of<Self, S>, key: u64) -> bool {
        Self::remove(filter, &key, Self::tag_of(filter, key))
    }

    /// Removes what `add` added in this generation. Returns how many copies there were.
    fn take_batch<S: BuildHasher>(filter: &Of<Self, S>, keys: &[u64]) -> usize {
        let tags: Vec<Self::Tag> = keys.iter().map(|&key| Self::tag_of(filter, key)).collect();
        Self::remove_batch(filter, keys, &tags, &mut vec![false; keys.len()])
    }

    /// The current generation, if items of this kind expire.
    fn now<S>(_filter: &Of<Self, S>) -> u64 {
        0
    }

    /// Begins a generation, if items of this kind expire.
    fn advance<S>(_filter: &Of<Self, S>) {}

    /// Sets a window of 13, if items of this kind expire.
    fn expiring(builder: BuilderOf<Self>) -> BuilderOf<Self> {
        builder
    }

    /// Sets the window, and what begins generations, if items of this kind expire.
    fn timed<S>(builder: BuilderOf<Self, S>, _timing: Timing) -> BuilderOf<Self, S> {
        builder
    }

    /// Begins a generation, or moves the clock and has one begun, if items of this kind expire.
    fn pass<S>(_filter: &Of<Self, S>, _timing: Timing) {}

    /// Loads a filter that was saved.
    #[cfg(feature = "std")]
    fn load(bytes: &[u8], _timing: Timing) -> Of<Self> {
        Filter::loader().bytes(bytes).expect("its own bytes")
    }

    /// As the method of this name, if items of this kind expire.
    fn insert_or_refresh<S: BuildHasher>(
        filter: &Of<Self, S>,
        _key: u64,
    ) -> Result<Insertion<Self::Tag>, InsertError> {
        unreachable!("{} items stay", filter.len())
    }

    /// As the method of this name, if items of this kind expire.
    fn insert_or_refresh_mask<S: BuildHasher>(filter: &Of<Self, S>, _keys: &[u64]) -> InsertMask {
        unreachable!("{} items stay", filter.len())
    }

    /// As `insert_unique`, for this life, if items of this kind expire.
    fn insert_unique_for<Q: Key + ?Sized, S: BuildHasher>(
        filter: &Of<Self, S>,
        key: &Q,
        life: u16,
    ) -> Result<Insertion<Self::Tag, Option<Self::Tag>>, InsertError> {
        Self::insert_unique(filter, key, life)
    }

    /// Sweeps so many buckets, if items of this kind expire.
    fn sweep<S>(_filter: &Of<Self, S>, _buckets: u64) {}

    /// As `refresh`, for a burst.
    fn refresh_mask<S: BuildHasher>(_filter: &Of<Self, S>, _keys: &[u64]) -> u64 {
        0
    }

    /// Gives an item the current generation, if items of this kind expire. Returns whether it was
    /// there.
    fn refresh<S: BuildHasher>(_filter: &Of<Self, S>, _key: u64) -> bool {
        true
    }

    /// Checks lookups that only this kind has against those that all kinds have.
    fn check_lookups<S: BuildHasher>(_filter: &Of<Self, S>, _keys: &[u64], _rng: &mut dyn Rng) {}

    /// One of the operations that concern time, if items of this kind expire.
    fn pass_time<S: BuildHasher + Clone>(
        _filter: &Of<Self, S>,
        _items: &mut Items<Self::Tag>,
        _rng: &mut dyn Rng,
    ) {
    }
}

/// What sets and maps have in common.
macro_rules! permanent {
    () => {
        fn limited<S>(builder: BuilderOf<Self, S>, max_copies: usize) -> BuilderOf<Self, S> {
            // A limit, and not what most items have.
            builder.copies(1).max_copies(max_copies)
        }

        fn merge<S: BuildHasher>(
            filter: &Of<Self, S>,
            other: &Of<Self, S>,
        ) -> Option<Result<(), MergeError>> {
            Some(filter.merge(other))
        }
    };
}

/// What sets have in common, whether their items expire or not.
macro_rules! unique_batches {
    () => {
        fn insert_unique_batch<Q: Key, S: BuildHasher>(
            filter: &Of<Self, S>,
            keys: &[Q],
            added: &mut [bool],
        ) -> Option<Result<usize, InsertBatchError>> {
            Some(filter.insert_unique_batch(keys, added))
        }

        fn insert_unique_mask<Q: Key, S: BuildHasher>(
            filter: &Of<Self, S>,
            keys: &[Q],
        ) -> Option<InsertMask> {
            Some(filter.insert_unique_mask(keys))
        }
    };
}
use permanent;
use unique_batches;
