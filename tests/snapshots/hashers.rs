//! Hashers of saved filters: another one is refused, the default one is made again.

use std::{
    hash::BuildHasher,
    panic::{AssertUnwindSafe, catch_unwind},
};

use guira::{CuckooFilter, FilterBuilder, KeyTypes, LoadError, StableHashBuilder, StableHasher};

use super::common::{
    forge::{HASHER_CHECKS, amend, number, put},
    kind::{BuilderOf, Sets},
    saved::received,
};

fn builder() -> BuilderOf<Sets> {
    CuckooFilter::builder().capacity(50)
}

#[test]
fn another_hasher_is_refused() {
    let [one, other] = [1, 2].map(StableHashBuilder::from_seed);
    let filter = builder().hasher(one.clone()).build().expect("a small filter");
    filter.insert("x").expect("an empty slot");
    let bytes = filter.to_bytes();
    let refused = |loaded: Result<_, _>| matches!(loaded, Err(LoadError::OtherHasher));
    assert!(refused(CuckooFilter::loader().bytes(&bytes)));
    assert!(refused(CuckooFilter::loader().hasher(other.clone()).reader(&bytes[..])));
    let mut loader = CuckooFilter::loader().hasher(other).limit(1 << 20);
    assert!(matches!(loader.push(&bytes), Err(LoadError::OtherHasher)));
    // The settings can be made in any order.
    let same = [
        CuckooFilter::loader().hasher(one.clone()).limit(1 << 20).reader(&bytes[..]),
        CuckooFilter::loader().hasher(one.clone()).bytes(&bytes),
        {
            let mut loader = CuckooFilter::loader().limit(1 << 20).hasher(one);
            loader.push(&bytes).expect("the same hasher");
            loader.finish()
        },
    ];
    assert!(same.into_iter().all(|loaded| loaded.expect("the same hasher").contains("x")));
}

/// The default hasher is made from the filter's seed, given or drawn, and again from a snapshot.
#[test]
fn the_default_hasher_needs_no_other_seed() {
    for seed in [None, Some(3)] {
        let builder = seed.into_iter().fold(builder(), FilterBuilder::seed);
        let filter = builder.build().expect("a small filter");
        filter.insert("x").expect("an empty slot");
        let bytes = filter.to_bytes();
        let new = CuckooFilter::loader;
        for copy in [new().bytes(&bytes), new().reader(&bytes[..])] {
            let copy = copy.expect("the same hasher");
            assert!(copy.contains("x") && copy.hash_key("y") == filter.hash_key("y"));
        }
        let another = new().hasher(StableHashBuilder::from_seed(3)).bytes(&bytes);
        assert!(matches!(another, Err(LoadError::OtherHasher)));
    }
}

/// Keys of some types have other hashes than when the snapshot was made, as after a change of the
/// standard library. The error names the types, and a loader that ignores them accepts it.
#[test]
fn types_that_are_hashed_in_another_way_are_named() {
    let filter = builder().seed(1).build().expect("a small filter");
    filter.insert("x").expect("an empty slot");
    // Addresses are the low half of the last number, and paths the high half.
    let mut bytes = filter.to_bytes();
    let changed = number(&bytes, HASHER_CHECKS + 24) ^ (1 << 7 | 1 << 50);
    put(&mut bytes, HASHER_CHECKS + 24, changed);
    amend(&mut bytes);
    let both = KeyTypes::ADDRESSES | KeyTypes::PATHS;
    let named = |ignored: KeyTypes| {
        let error = CuckooFilter::loader().ignore_types(ignored).bytes(&bytes).err()?;
        let LoadError::OtherHashes { types, .. } = error else { panic!("{error}") };
        Some(types)
    };
    assert_eq!(named(KeyTypes::ALL - both), Some(both));
    assert_eq!(named(KeyTypes::PATHS), Some(KeyTypes::ADDRESSES));
    assert_eq!((named(both), named(KeyTypes::ALL)), (None, None));
    let loaded = CuckooFilter::loader().ignore_types(both).bytes(&bytes).expect("ignored");
    assert!(loaded.contains("x"));
    // Another hasher is refused, whatever is ignored.
    let other = CuckooFilter::loader().hasher(StableHashBuilder::from_seed(9));
    let error = other.ignore_types(KeyTypes::ALL).bytes(&bytes).err();
    assert!(matches!(error, Some(LoadError::OtherHasher)), "{error:?}");
}

/// A hasher that can be told to panic.
struct Panicking(StableHashBuilder);

thread_local! {
    /// Whether a panic is still to come.
    static PANICS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl BuildHasher for Panicking {
    type Hasher = StableHasher;

    fn build_hasher(&self) -> StableHasher {
        assert!(!PANICS.get(), "told to panic");
        self.0.build_hasher()
    }
}

#[test]
fn a_panic_of_the_hasher_leaves_no_trace() {
    let filter = builder().seed(1).build().expect("a small filter");
    let bytes = filter.to_bytes();
    for place in [0, 9, 60] {
        let loader = CuckooFilter::loader().limit(10_000);
        let mut loader = loader.hasher(Panicking(filter.hasher().clone()));
        loader.push(&bytes[..place]).expect("a start");
        PANICS.set(true);
        let push = AssertUnwindSafe(|| loader.push(&bytes[place..]));
        catch_unwind(push).expect_err("told to panic");
        PANICS.set(false);
        assert!(received(&loader) == bytes[..place]);
        loader.push(&bytes[place..]).expect("the right rest");
        assert!(loader.finish().expect("complete").to_bytes() == bytes);
    }
}
