//! Hashers of saved filters: another one is refused, one from the filter's seed is made again.

use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    panic::{AssertUnwindSafe, catch_unwind},
};

use guira::{CuckooFilter, FilterBuilder, FromSeed, LoadError, StableHashBuilder, StableHasher};

use super::common::{
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
    assert!(refused(CuckooFilter::loader().seeded_hasher().bytes(&bytes)));
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
    let limited = CuckooFilter::loader().limit(9).seeded_hasher::<StableHashBuilder>();
    let limited = limited.bytes(&CuckooFilter::with_capacity(50).to_bytes());
    assert!(matches!(limited, Err(LoadError::LimitExceeded { .. })), "a hasher keeps the limit");
}

/// A hasher that is made from the filter's seed, given or drawn, is made again from a snapshot.
#[test]
fn a_hasher_with_the_filters_seed_needs_no_other_seed() {
    fn check<S: FromSeed>() {
        for seed in [None, Some(3)] {
            let builder = seed.into_iter().fold(builder(), FilterBuilder::seed);
            let filter = builder.seeded_hasher::<S>().build().expect("a small filter");
            filter.insert("x").expect("an empty slot");
            let bytes = filter.to_bytes();
            let new = || CuckooFilter::loader().seeded_hasher::<S>();
            for copy in [new().bytes(&bytes), new().reader(&bytes[..])] {
                let copy = copy.expect("the same hasher");
                assert!(copy.contains("x") && copy.hash_key("y") == filter.hash_key("y"));
            }
            let another = CuckooFilter::loader().seeded_hasher::<Another>().bytes(&bytes);
            assert!(matches!(another, Err(LoadError::OtherHasher)));
        }
    }
    check::<StableHashBuilder>();
    check::<BuildHasherDefault<DefaultHasher>>();
    // Without a setting, it is the stable hasher.
    let bytes = builder().build().expect("a small filter").to_bytes();
    assert!(CuckooFilter::loader().seeded_hasher::<StableHashBuilder>().bytes(&bytes).is_ok());
    assert!(CuckooFilter::loader().bytes(&bytes).is_ok());
}

/// A stable hasher with another seed than the one that it is given.
struct Another(StableHashBuilder);

impl FromSeed for Another {
    fn from_seed(seed: u64) -> Self {
        Self(StableHashBuilder::from_seed(seed.wrapping_add(1)))
    }
}

impl BuildHasher for Another {
    type Hasher = StableHasher;

    fn build_hasher(&self) -> StableHasher {
        self.0.build_hasher()
    }
}

/// A hasher that can be told to panic.
struct Panicking(StableHashBuilder);

thread_local! {
    /// Panics that are still to come: in the making of hashers, and in their use.
    static PANICS: std::cell::Cell<[bool; 2]> = const { std::cell::Cell::new([false; 2]) };
}

impl FromSeed for Panicking {
    fn from_seed(seed: u64) -> Self {
        assert!(!PANICS.get()[0], "told to panic");
        Self(StableHashBuilder::from_seed(seed))
    }
}

impl BuildHasher for Panicking {
    type Hasher = StableHasher;

    fn build_hasher(&self) -> StableHasher {
        assert!(!PANICS.get()[1], "told to panic");
        self.0.build_hasher()
    }
}

#[test]
fn a_panic_of_the_hasher_leaves_no_trace() {
    let filter = builder().seed(1).build().expect("a small filter");
    let bytes = filter.to_bytes();
    for (is_given, panics) in
        [(false, [true, false]), (false, [false, true]), (true, [false, true])]
    {
        for place in [0, 9, 60] {
            let loader = CuckooFilter::loader().limit(10_000);
            let mut loader = if is_given {
                loader.hasher(Panicking(filter.hasher().clone()))
            } else {
                loader.seeded_hasher()
            };
            loader.push(&bytes[..place]).expect("a start");
            PANICS.set(panics);
            let push = AssertUnwindSafe(|| loader.push(&bytes[place..]));
            catch_unwind(push).expect_err("told to panic");
            PANICS.set([false; 2]);
            assert!(received(&loader) == bytes[..place]);
            loader.push(&bytes[place..]).expect("the right rest");
            assert!(loader.finish().expect("complete").to_bytes() == bytes);
        }
    }
}
