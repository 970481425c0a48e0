//! The public interface as users write it: programs that must compile and answer, and the traits
//! that types implement. See `methods.rs` for the list of methods.

use std::{
    collections::{HashMap, HashSet, hash_map},
    error::Error,
    fmt::Debug,
    hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState},
    iter::FusedIterator,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::{Arc, LazyLock, OnceLock},
    thread,
};

use guira::{
    BuildError, Contains, CuckooFilter, CuckooMap, ExpiringFilter, Filter, FilterBuilder,
    GrowingFilter, GrowingMap, Hashed, InsertBatchError, InsertError, InsertMask, Insertion, Key,
    Layout, MergeError, StableHashBuilder, StableHasher, Values,
    kind::{Contents, Expiring, Fixed, Growing, Growth, Map, Set},
};

type Outcome = Result<(), Box<dyn Error>>;

#[test]
fn keys_are_borrowed() -> Outcome {
    let seen = CuckooFilter::builder().capacity(1_000).seed(1).build()?;
    seen.insert("tyto alba")?;
    let owned = String::from("tyto alba");
    assert!(seen.contains(&owned) && seen.contains(owned.as_str()) && seen.contains(&"tyto alba"));
    assert!(seen.contains(&Box::<str>::from("tyto alba")));
    seen.insert(&("10.0.0.1", 443_u16))?;
    assert!(seen.contains(&(owned.replace("tyto alba", "10.0.0.1"), 443_u16)));
    seen.insert(&[1_u8, 2, 3][..])?;
    let key = seen.hash_key("tyto alba");
    assert!(seen.contains(&key) && seen.remove(&key) && !seen.contains("tyto alba"));
    assert!(seen.insert_unique("guira")?.is_new());
    assert_eq!(seen.insert_unique("guira")?, Insertion::Found(()));
    assert_eq!(seen.count("guira"), 1);
    Ok(())
}

/// A key whose type says that a batch of it has this many hashes.
struct Liar<const HASHES: usize>(u64);

impl<const HASHES: usize> Key for Liar<HASHES> {
    fn hash_with<S: BuildHasher>(&self, _hasher: &S) -> Hashed {
        Hashed(self.0)
    }

    fn as_hashes(_keys: &[Self]) -> Option<&[u64]> {
        Some(&[7; 1_000][..HASHES])
    }
}

/// Returns how many of 100 keys are found in a batch, of which half are present.
fn found_of_liars<const HASHES: usize>() -> usize {
    let seen = CuckooFilter::builder().capacity(1_000).seed(1).build().expect("memory");
    let keys: Vec<_> = (0..100).map(Liar::<HASHES>).collect();
    for key in keys.iter().step_by(2) {
        seen.insert(key).expect("room");
    }
    let mut found = vec![true; 100];
    let count = seen.contains_batch(&keys, &mut found);
    assert_eq!(count, found.iter().filter(|&&found| found).count());
    assert_eq!(seen.contains_mask(&keys[..64]), (0..32).fold(0, |mask, bit| mask | 1 << (2 * bit)));
    count
}

/// `Key` is open to all types, and so is its hidden function.
#[test]
fn a_wrong_number_of_hashes_does_no_harm() {
    assert_eq!([found_of_liars::<0>(), found_of_liars::<99>(), found_of_liars::<1_000>()], [50; 3]);
}

#[test]
fn many_keys_at_once() -> Outcome {
    let seen = GrowingFilter::builder().seed(1).build()?;
    let keys: Vec<String> = (0..100).map(|number| format!("key {number}")).collect();
    seen.insert_batch(&keys)?;
    seen.insert_batch(["udp", "tcp"])?;
    seen.insert_batch([1, 2, 3])?;
    let (mut found, mut three) = (vec![false; 100], [false; 3]);
    assert_eq!(seen.contains_batch(&keys, &mut found), 100);
    assert_eq!(seen.contains_batch(&["tcp", "sctp", "udp"], &mut three), 2);
    assert_eq!(seen.contains_mask(&["tcp", "sctp", "udp"]), 0b101);
    // A slice of hashes is not copied.
    let hashes: Vec<u64> = keys.iter().map(|key| seen.hash_key(key).0).collect();
    assert_eq!(seen.contains_batch(Hashed::slice(&hashes), &mut found), 100);
    assert_eq!(seen.contains_mask(&[Hashed(hashes[0]), Hashed(1)]), 0b01);
    // Iterators of keys, of references, and of hashes.
    seen.insert_batch(100..200)?;
    seen.insert_batch(keys.iter().map(String::as_str))?;
    seen.insert_batch(hashes.iter().map(|hash| Hashed(hash + 1)))?;
    seen.insert_batch(Hashed::slice(&hashes))?;
    seen.insert_batch(vec![String::from("key 0")])?;
    assert_eq!(seen.count(&keys[0]), 4);
    assert_eq!(seen.insert_unique_batch(&[5_000, 5_001, 5_000], &mut three)?, 2);
    assert_eq!(three, [true, true, false]);
    assert_eq!(seen.insert_unique_mask(&[5_000, 5_002]).added, 0b10);
    assert_eq!(seen.remove_batch(&[5_000, 5_001, 5_003], &mut three), 2);
    let error = CuckooFilter::with_capacity(8).insert_batch(0..100).expect_err("too many");
    assert_eq!(error.added() + error.failures().len(), 100);
    Ok(())
}

/// A hasher of a user.
#[derive(Clone)]
struct Keyed(u64);

impl BuildHasher for Keyed {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}

#[test]
fn hashers_are_named_or_inferred() -> Outcome {
    struct Store {
        by_std: CuckooFilter<RandomState>,
        by_seed: GrowingMap<Keyed>,
        plain: GrowingFilter,
    }
    let store = Store {
        by_std: CuckooFilter::builder()
            .capacity(100)
            .hasher(RandomState::new())
            .build()
            .expect("memory"),
        by_seed: GrowingMap::builder().hasher(Keyed(5)).build()?,
        plain: GrowingFilter::default(),
    };
    store.by_std.insert("a")?;
    store.by_seed.insert("a", 1)?;
    store.plain.insert("a")?;
    assert!(store.by_std.contains(&Hashed(store.by_std.hasher().hash_one("a"))));
    #[cfg(feature = "std")]
    {
        let bytes = store.by_std.to_bytes();
        let hasher = store.by_std.hasher().clone();
        assert!(CuckooFilter::loader().hasher(hasher).bytes(&bytes)?.contains("a"));
        let bytes = store.by_seed.to_bytes();
        assert!(GrowingMap::loader().hasher(Keyed(5)).bytes(&bytes)?.contains("a"));
        assert!(GrowingMap::loader().bytes(&bytes).is_err());
        let copy: GrowingFilter = GrowingFilter::loader().bytes(&store.plain.to_bytes())?;
        assert!(copy.contains("a"));
    }
    Ok(())
}

/// A hasher needs no other trait, and `Debug` of the filter does not need it either.
#[test]
fn a_hasher_needs_no_other_trait() {
    struct Plain;

    impl BuildHasher for Plain {
        type Hasher = StableHasher;

        fn build_hasher(&self) -> StableHasher {
            StableHashBuilder::from_seed(1).build_hasher()
        }
    }

    let filter = CuckooFilter::builder().capacity(10).hasher(Plain).build().expect("memory");
    assert!(format!("{filter:?}").starts_with("CuckooFilter {"));
    let filter = GrowingMap::builder().capacity(10).hasher(Plain).build().expect("memory");
    assert!(format!("{filter:?}").starts_with("GrowingMap {"));
}

#[test]
fn the_seeds_of_hashers_are_not_shown() {
    let builder = StableHashBuilder::from_seed(0x1234_5678_9abc_def0);
    assert_eq!(format!("{builder:?}"), "StableHashBuilder { .. }");
    assert_eq!(format!("{:?}", builder.build_hasher()), "StableHasher { .. }");
}

/// Takes a filter of any kind.
fn describe<C: Contents, G: Growth, S: BuildHasher>(filter: &Filter<C, G, S>, key: &str) -> String {
    format!("{} items, {}", filter.len(), filter.contains(key))
}

/// Takes sets, whether they grow or not.
fn deduplicate<G: Growth>(seen: &Filter<Set, G>, keys: &[&str]) -> Result<usize, InsertBatchError> {
    seen.insert_unique_batch(keys, &mut vec![false; keys.len()])
}

/// Is generic over keys, with the bound that users know.
fn track<T: Hash + ?Sized, S: BuildHasher>(seen: &CuckooFilter<S>, key: &T) -> bool {
    seen.insert(key).is_ok() && seen.contains(key)
}

/// Is generic over keys and hashes.
fn track_any<K: Key + ?Sized>(seen: &CuckooFilter, key: &K) -> bool {
    seen.insert(key).is_ok() && seen.contains(key)
}

/// Clones a builder in generic code.
fn twins<C: Contents, G: Growth>() -> [Filter<C, G>; 2] {
    let builder = Filter::<C, G>::builder().capacity(9).seed(1);
    [builder.clone().build().expect("memory"), builder.build().expect("memory")]
}

/// Looks up keys with a lifetime of their own.
fn pairs(filter: &impl for<'a> Contains<(u32, &'a str)>) -> bool {
    let text = String::from("a");
    !filter.contains(&(1, text.as_str()))
}

/// Takes filters and sets of users.
fn lacks(filter: &impl Contains<str>, key: &str) -> bool {
    !filter.contains(key)
}

/// A set of a user.
struct Exact(HashSet<String>);

impl Contains<str> for Exact {
    fn contains(&self, key: &str) -> bool {
        self.0.contains(key)
    }
}

#[test]
fn generic_code_and_trait_objects() -> Outcome {
    let set = CuckooFilter::builder().capacity(9).seed(1).build()?;
    let growing = GrowingFilter::builder().seed(1).build()?;
    let (map, growing_map) = (CuckooMap::with_capacity(9), GrowingMap::with_capacity(9));
    let expiring = ExpiringFilter::builder().capacity(9).window(13).build().unwrap();
    set.insert("a")?;
    growing.insert("a")?;
    map.insert("a", 1)?;
    growing_map.insert("a", 1)?;
    expiring.insert("a")?;
    assert_eq!(describe(&set, "a"), describe(&growing, "a"));
    assert_eq!(describe(&map, "a"), describe(&growing_map, "a"));
    assert_eq!(describe(&expiring, "a"), "1 items, true");
    assert_eq!((deduplicate(&set, &["b", "b"])?, deduplicate(&growing, &["b", "b"])?), (1, 1));
    assert!(track(&set, "c") && track(&set, &7) && track(&set, &[1, 2]));
    assert!(track_any(&set, "d") && track_any(&set, &Hashed(7)));
    let exact = Exact(HashSet::from(["a".to_string()]));
    assert!(!lacks(&set, "a") && !lacks(&map, "a") && !lacks(&exact, "a") && lacks(&&growing, "z"));
    let levels: Vec<Box<dyn Contains<str> + Send + Sync>> =
        vec![Box::new(set), Box::new(growing_map), Box::new(expiring), Box::new(exact)];
    assert!(levels.iter().all(|level| level.contains("a") && !level.contains("z")));
    let by_hash: &dyn Contains<Hashed> = &growing;
    assert!(by_hash.contains(&growing.hash_key("a")));
    assert_eq!(by_hash.contains_batch(Hashed::slice(&[1, 2]), &mut [false; 2]), 0);
    // The trait is in scope, and an `Arc` stands between the caller and the filter.
    let shared = Arc::new(growing);
    assert!(shared.contains("a") && shared.contains(&String::from("a")) && !shared.contains(&7));
    assert!(pairs(&*shared));
    // The containers of std have methods with the same names.
    let names: HashMap<&str, GrowingFilter> = HashMap::from([("x", GrowingFilter::default())]);
    assert!(names.contains_key("x") && !names["x"].contains("y"));
    let mut sets = HashMap::<u32, GrowingFilter>::new();
    if let hash_map::Entry::Vacant(vacant) = sets.entry(3) {
        vacant.insert(GrowingFilter::default()).insert("y")?;
    }
    sets.entry(4).or_default().insert("z")?;
    Ok(())
}

static GLOBAL: LazyLock<CuckooFilter> = LazyLock::new(|| CuckooFilter::with_capacity(100));
static ONCE: OnceLock<ExpiringFilter<RandomState>> = OnceLock::new();

#[test]
fn threads_share_filters() {
    ONCE.get_or_init(|| {
        ExpiringFilter::builder()
            .capacity(9)
            .window(5)
            .hasher(RandomState::new())
            .build()
            .expect("memory")
    });
    thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || GLOBAL.insert(&("thread", thread)).expect("room"));
        }
    });
    let shared = Arc::new(GLOBAL.clone());
    assert!(thread::spawn(move || shared.contains(&("thread", 3))).join().expect("no panic"));
    assert!(format!("{:?}", *GLOBAL).starts_with("CuckooFilter { len: 4"));
    assert!(CuckooFilter::with_capacity(0).is_empty() && GrowingMap::with_capacity(0).is_empty());
    assert_eq!(CuckooFilter::builder().build().expect_err("none"), BuildError::NoCapacity);
    let [a, b] = twins::<Set, Growing>();
    b.insert("x").expect("room");
    a.merge(&b).expect("the same settings");
    assert!(a.contains("x") && a.next_growth().is_some());
}

/// Can be sent, shared, and used after a panic was caught. (No panic breaks a filter.)
fn usable_everywhere<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static>() {}

/// Can be sent and shared by generic code.
fn shared<C: Contents, G: Growth, S: Send + Sync + 'static>() {
    fn check<T: Send + Sync + Debug + 'static>() {}
    check::<Filter<C, G, S>>();
}

/// Checks the types of a kind of filter.
macro_rules! usable_everywhere {
    ($($contents:ident $growth:ident),*) => {$(
        usable_everywhere::<Filter<$contents, $growth, RandomState>>();
        usable_everywhere::<FilterBuilder<$contents, $growth, RandomState>>();
        #[cfg(feature = "std")]
        usable_everywhere::<guira::Loader<$contents, $growth, RandomState>>();
        #[cfg(feature = "std")]
        usable_everywhere::<guira::View<'static, $contents, $growth, RandomState>>();
    )*};
}

#[test]
fn types_implement_the_traits_that_users_expect() {
    fn an_error<T: Error + Send + Sync + Unpin + 'static>() {}
    fn a_value<T: Clone + Eq + Hash>() {}
    fn copied<T: Copy>() {}
    fn iterated<T: ExactSizeIterator + FusedIterator + Clone + 'static>() {}
    fn a_hasher<S: BuildHasher<Hasher: Clone + Debug> + Default + Clone + Debug>() {}
    shared::<Set, Fixed, RandomState>();
    usable_everywhere!(Set Fixed, Set Growing, Map Fixed, Map Growing, Expiring Fixed);
    usable_everywhere::<(StableHashBuilder, StableHasher, Layout, InsertMask, Values)>();
    usable_everywhere::<(BuildError, InsertError, InsertBatchError, MergeError)>();
    usable_everywhere::<(Hashed, Insertion<u64, u16>)>();
    an_error::<BuildError>();
    an_error::<InsertError>();
    an_error::<InsertBatchError>();
    an_error::<MergeError>();
    copied::<(BuildError, InsertError, InsertMask, Insertion, Hashed, Layout)>();
    a_value::<(InsertError, InsertBatchError, InsertMask, MergeError, Layout)>();
    iterated::<Values>();
    a_hasher::<StableHashBuilder>();
    #[cfg(feature = "std")]
    {
        // Not `UnwindSafe`, since an `io::Error` is not.
        an_error::<guira::LoadError>();
        usable_everywhere::<guira::Dump>();
        let error = guira::LoadError::from(std::io::Error::other("unplugged"));
        assert_eq!(error.to_string(), "the snapshot could not be read: unplugged");
        assert!(error.source().is_none(), "the cause is reported once");
        an_error::<guira::Error>();
        let any: guira::Error = error.into();
        assert_eq!(any.to_string(), "the snapshot could not be read: unplugged");
        // The path, and behind it the error of the system.
        let error = guira::CuckooFilter::load("no/such/file").expect_err("no such file");
        assert!(error.to_string().contains("no/such/file: "), "{error}");
        let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        assert_eq!(source.expect("its source").kind(), std::io::ErrorKind::NotFound);
        assert!(guira::LoadError::NotASnapshot.source().is_none());
    }
    #[cfg(feature = "stats")]
    {
        fn check<T: Clone + Default + Eq>() {}
        check::<guira::Stats>();
        usable_everywhere::<guira::Stats>();
    }
}
