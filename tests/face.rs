//! The public interface: which traits types implement, and that engines offer the same operations.
//! See `methods.rs` for their documentation.

use std::{
    error::Error,
    fmt::Debug,
    hash::{BuildHasher, Hash, Hasher, RandomState},
    iter::FusedIterator,
    panic::{RefUnwindSafe, UnwindSafe},
    time::Duration,
};

use guira::{
    BuildError, ByHash, CuckooFilter, CuckooMap, DefaultHashBuilder, DefaultHasher, Engine,
    Expiring, ExpiringFilter, Filter, FilterBuilder, Fixed, Growable, Growing, GrowingFilter,
    GrowingMap, InsertBatchError, InsertError, InsertMask, Kernel, Layout, Mappable, Mapped,
    Membership, MergeError, Permanent, Segment, StableHashBuilder, StableHasher, Values,
};

/// Can be sent, shared, and used after a panic was caught. (No panic breaks a filter.)
fn usable_everywhere<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug + 'static>() {}

/// Fits into any boxed error.
fn an_error<T: Error + Send + Sync + Unpin + 'static>() {}

fn a_value<T: Clone + Eq + Hash>() {}

fn copied<T: Copy>() {}

fn usable_with<S>()
where
    S: BuildHasher + Debug + Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + 'static,
{
    usable_everywhere::<CuckooFilter<S>>();
    usable_everywhere::<GrowingFilter<S>>();
    usable_everywhere::<CuckooMap<S>>();
    usable_everywhere::<GrowingMap<S>>();
    usable_everywhere::<FilterBuilder<Fixed, S>>();
    usable_everywhere::<FilterBuilder<Growing, S>>();
    usable_everywhere::<FilterBuilder<Mapped<Fixed>, S>>();
    usable_everywhere::<FilterBuilder<Mapped<Growing>, S>>();
    usable_everywhere::<ExpiringFilter<S>>();
    usable_everywhere::<FilterBuilder<Expiring, S>>();
    usable_everywhere::<S>();
    #[cfg(feature = "std")]
    usable_everywhere::<(guira::Loader<Fixed, S>, guira::Loader<Growing, S>)>();
    #[cfg(feature = "std")]
    usable_everywhere::<(guira::Loader<Mapped<Fixed>, S>, guira::Loader<Expiring, S>)>();
}

#[test]
fn every_type_is_usable_everywhere() {
    usable_with::<DefaultHashBuilder>();
    usable_with::<StableHashBuilder>();
    usable_with::<RandomState>();
    usable_everywhere::<(DefaultHasher, StableHasher)>();
    usable_everywhere::<(Kernel, Layout, Segment, InsertMask, Values)>();
    usable_everywhere::<(ByHash<Fixed>, ByHash<Growing>, ByHash<Mapped<Fixed>>)>();
    usable_everywhere::<ByHash<Expiring>>();
    usable_everywhere::<(BuildError, InsertError, InsertBatchError, MergeError)>();
    #[cfg(feature = "std")]
    usable_everywhere::<(guira::Snapshot, guira::Dump)>();
    #[cfg(feature = "stats")]
    usable_everywhere::<guira::Stats>();
}

#[test]
fn segments_can_be_iterated_everywhere() {
    fn check<T: ExactSizeIterator<Item = Segment> + Send + Sync + Unpin>(segments: &T) -> usize {
        segments.len()
    }
    assert_eq!(check(&GrowingFilter::with_capacity(10).segments()), 1);
}

#[test]
fn values_can_be_iterated_everywhere() {
    fn check<T: ExactSizeIterator + FusedIterator + Clone>(values: &T) -> usize {
        values.len()
    }
    assert_eq!(check(&CuckooMap::with_capacity(10).values(&1)), 0);
}

#[test]
fn errors_are_errors_and_values_are_values() {
    an_error::<BuildError>();
    an_error::<InsertError>();
    an_error::<InsertBatchError>();
    an_error::<MergeError>();
    // Not `UnwindSafe`, since an `io::Error` is not.
    #[cfg(feature = "std")]
    an_error::<guira::LoadError>();

    copied::<(BuildError, InsertError, InsertMask, Kernel, Layout, Segment, StableHashBuilder)>();
    copied::<(ByHash<Fixed>, ByHash<Growing>, ByHash<Mapped<Fixed>>, ByHash<Expiring>)>();
    a_value::<(Kernel, MergeError)>();
    a_value::<(InsertError, InsertBatchError, InsertMask, Layout, Segment, StableHashBuilder)>();
    #[cfg(feature = "stats")]
    {
        fn check<T: Clone + Default + Eq>() {}
        check::<guira::Stats>();
    }
}

#[test]
fn hashers_are_hashers() {
    fn check<S: BuildHasher<Hasher: Hasher + Clone + Debug> + Clone>() {}
    check::<DefaultHashBuilder>();
    check::<StableHashBuilder>();
    let _ = DefaultHashBuilder::default();
}

/// A hasher needs no other trait, and `Debug` of the filter does not need it either.
#[test]
fn a_hasher_needs_no_other_trait() {
    struct Plain;

    impl BuildHasher for Plain {
        type Hasher = StableHasher;

        fn build_hasher(&self) -> StableHasher {
            StableHashBuilder::with_seed(1).build_hasher()
        }
    }

    let filter = CuckooFilter::with_capacity_and_hasher(10, Plain);
    assert!(format!("{filter:?}").starts_with("CuckooFilter {"));
    let filter = GrowingFilter::with_capacity_and_hasher(10, Plain);
    assert!(format!("{filter:?}").starts_with("GrowingFilter {"));
}

#[test]
fn the_seeds_of_hashers_are_not_shown() {
    let builder = DefaultHashBuilder::with_seed(0x1234_5678_9abc_def0);
    assert_eq!(format!("{builder:?}"), "DefaultHashBuilder { .. }");
    assert_eq!(format!("{:?}", builder.build_hasher()), "DefaultHasher { .. }");
    let builder = StableHashBuilder::with_seed(0x1234_5678_9abc_def0);
    assert_eq!(format!("{builder:?}"), "StableHashBuilder { .. }");
    assert_eq!(format!("{:?}", builder.build_hasher()), "StableHasher { .. }");
}

#[cfg(feature = "std")]
#[test]
fn the_source_of_a_read_error_is_reported_once() {
    let error = guira::LoadError::from(std::io::Error::other("unplugged"));
    assert!(matches!(error, guira::LoadError::Io(_)));
    assert!(!error.to_string().contains("unplugged"));
    assert_eq!(error.source().expect("a source").to_string(), "unplugged");
    assert!(guira::LoadError::NotASnapshot.source().is_none());
}

/// Calls every operation on items and on hashes, and everything else that filters share.
fn uses_everything<E: Membership>(filter: &Filter<E>) -> Result<(), Box<dyn Error>> {
    let (some, answers) = ([1_u64, 2, 3], &mut [false; 3]);
    filter.insert(&0)?;
    assert!(filter.insert_unique(&"ani")?);
    filter.insert_batch(&some)?;
    assert_eq!(filter.insert_unique_batch(&some, answers)?, 0);
    assert_eq!(filter.contains_batch(&some, answers), 3);
    assert_eq!(filter.contains_mask(&some), 0b111);
    assert_eq!(filter.insert_unique_mask(&some).added, 0);
    assert!(filter.contains(&0) && filter.count("ani") == 1);
    assert_eq!((filter.remove_batch(&some[..1], &mut [false]), filter.remove_mask(&some)), (1, 6));
    filter.try_extend(some)?;
    assert!(filter.remove("ani"));
    filter.clear();

    let by_hash: ByHash<'_, E> = filter.by_hash();
    by_hash.insert(0)?;
    assert!(by_hash.insert_unique(9)?);
    by_hash.insert_batch(&some)?;
    assert_eq!(by_hash.insert_unique_batch(&some, answers)?, 0);
    assert_eq!(by_hash.contains_batch(&some, answers), 3);
    assert_eq!(by_hash.contains_mask(&some), 0b111);
    assert_eq!(by_hash.insert_unique_mask(&some).refused, 0);
    assert!(by_hash.contains(0) && by_hash.count(9) == 1);
    assert_eq!((by_hash.remove_batch(&some, answers), by_hash.remove_mask(&[0])), (3, 1));
    by_hash.try_extend(some)?;
    assert!(by_hash.remove(9));
    is_permanent(filter, Layout::Plain8x8)
}

/// Calls every operation of a map on keys and on hashes, and everything else that filters share.
fn uses_a_map<E: Mappable>(map: &Filter<Mapped<E>>) -> Result<(), Box<dyn Error>> {
    let (some, numbers, answers) = ([1_u64, 2, 3], [5, 6, 7], &mut [false; 3]);
    let (found, values) = (&mut [None; 3], &mut [0; 3]);
    map.insert(&0, 4)?;
    assert_eq!(map.get_or_insert("ani", 9)?, None);
    map.insert_batch(&some, &numbers)?;
    assert_eq!((map.get_batch(&some, found), *found), (3, numbers.map(Some)));
    assert_eq!((map.get_batch_into(&some, values, answers), *values), (3, numbers));
    assert_eq!((map.get_mask(&some, values), *values), (0b111, numbers));
    assert_eq!((map.contains_batch(&some, answers), map.contains_mask(&some)), (3, 0b111));
    assert!(map.contains(&0) && map.contains_value(&0, 4) && map.count("ani") == 1);
    assert!(map.get(&0) == Some(4) && map.values("ani").eq([9]));
    assert_eq!(map.remove_batch(&some[..2], &numbers[..2], &mut [false; 2]), 2);
    assert!(map.replace("ani", 9, 8) && map.remove("ani", 8));
    map.clear();

    let by_hash: ByHash<'_, Mapped<E>> = map.by_hash();
    by_hash.insert(0, 4)?;
    assert_eq!(by_hash.get_or_insert(9, 9)?, None);
    by_hash.insert_batch(&some, &numbers)?;
    assert_eq!((by_hash.get_batch(&some, found), *found), (3, numbers.map(Some)));
    assert_eq!((by_hash.get_batch_into(&some, values, answers), *values), (3, numbers));
    assert_eq!((by_hash.get_mask(&some, values), *values), (0b111, numbers));
    assert_eq!((by_hash.contains_batch(&some, answers), by_hash.contains_mask(&some)), (3, 0b111));
    assert!(by_hash.contains(0) && by_hash.contains_value(0, 4) && by_hash.count(9) == 1);
    assert!(by_hash.get(0) == Some(4) && by_hash.values(9).eq([9]));
    assert_eq!(by_hash.remove_batch(&some[..1], &numbers[..1], &mut [false]), 1);
    assert!(by_hash.replace(9, 9, 8) && by_hash.remove(9, 8));
    assert_eq!(map.value_bits(), 8);
    let builder = Filter::<Mapped<E>>::builder().capacity(9).false_positive_rate(0.01);
    assert_eq!(builder.value_bits(3).build()?.value_bits(), 3);
    is_permanent(map, Layout::with_values(3, 8).expect("a layout"))
}

/// Calls every operation of an expiring filter on items and on hashes, and everything else that
/// filters share.
fn uses_an_expiring_filter(filter: &ExpiringFilter) -> Result<(), Box<dyn Error>> {
    let (some, answers) = ([1_u64, 2, 3], &mut [false; 3]);
    let now = filter.generation();
    assert_eq!((filter.insert(&0)?, filter.insert_for(&4, 12)?), (now, now - 1));
    assert_eq!(filter.insert_unique("ani")?, Some(now));
    assert!(!filter.insert_evicting(&5) && filter.refresh(&5));
    assert_eq!(filter.refresh_mask(&[5, 5]), 0b11);
    assert_eq!(filter.insert_batch(&some)?, now);
    assert_eq!(filter.insert_unique_batch(&some, answers)?, 0);
    assert_eq!((filter.contains_batch(&some, answers), filter.contains_mask(&some)), (3, 0b111));
    assert_eq!(filter.insert_unique_mask(&some).added, 0);
    assert!(filter.contains(&0) && filter.count("ani") == 1 && filter.remove("ani", now));
    assert_eq!((filter.sweep(u64::MAX), filter.advance(), filter.window()), (0, now + 1, 13));
    assert_eq!((filter.interval(), filter.tick(|| Duration::ZERO)), (None, None));
    assert_eq!(filter.advance_to(|| Duration::ZERO), now + 1);
    filter.clear();

    let by_hash: ByHash<'_, Expiring> = filter.by_hash();
    assert_eq!((by_hash.insert(0)?, by_hash.insert_for(4, 12)?), (now + 1, now));
    assert_eq!(by_hash.insert_unique(9)?, Some(now + 1));
    assert!(!by_hash.insert_evicting(5) && by_hash.refresh(5));
    assert_eq!(by_hash.refresh_mask(&[5, 5]), 0b11);
    assert!(by_hash.remove(0, now + 1) && by_hash.remove(4, now) && by_hash.remove(5, now + 1));
    assert_eq!(by_hash.insert_batch(&some)?, now + 1);
    assert_eq!(by_hash.insert_unique_batch(&some, answers)?, 0);
    assert_eq!((by_hash.contains_batch(&some, answers), by_hash.contains_mask(&some)), (3, 0b111));
    assert_eq!(by_hash.insert_unique_mask(&some).refused, 0);
    assert!(by_hash.contains(9) && by_hash.count(9) == 1 && by_hash.remove(9, now + 1));
    let builder = ExpiringFilter::builder().capacity(9).false_positive_rate(0.01);
    assert_eq!(builder.window(3).build()?.window(), 3);
    describes(filter, Layout::with_values(3, 4).expect("a layout"))
}

/// Calls everything that filters share whose items stay.
fn is_permanent<E: Permanent>(filter: &Filter<E>, layout: Layout) -> Result<(), Box<dyn Error>> {
    let copies = [filter.clone(), filter.clone()];
    copies[0].merge(&copies[1])?;
    assert_eq!(copies[0].len(), 6);
    Filter::<E>::builder().capacity(9).max_copies(7).build()?;
    describes(filter, layout)
}

/// Calls everything that filters of any engine share. The layout has a rate of at most a quarter.
fn describes<E: Engine>(filter: &Filter<E>, layout: Layout) -> Result<(), Box<dyn Error>> {
    assert_eq!((filter.len(), filter.is_empty()), (3, false));
    assert!(filter.slots() >= filter.capacity() && filter.load_factor() > 0.0);
    assert!(filter.size_in_bytes() > 0 && filter.false_positive_rate() > 0.0);
    assert!(filter.segments().any(|segment| segment.layout == filter.layout()));
    #[cfg(feature = "stats")]
    assert!(filter.stats().inserts > 0);
    let copies = [filter.clone(), filter.try_clone()?];
    assert!(copies.iter().all(|copy| copy.len() == 3 && format!("{copy:?}") != ""));
    #[cfg(feature = "std")]
    is_saved(filter)?;
    let hasher = filter.hasher().clone();
    let built = Filter::<E>::builder().capacity(9).false_positive_rate(0.25).fastest().seed(1);
    let built = built.huge_pages(false).layout(layout).hasher(hasher.clone()).build()?;
    assert_eq!(built.capacity(), Filter::<E, _>::with_capacity_and_hasher(9, hasher).capacity());
    assert_eq!(Filter::<E>::with_capacity(9).capacity(), 9);
    filter.clear();
    Ok(())
}

/// Calls everything that saves and loads.
#[cfg(feature = "std")]
fn is_saved<E: Engine>(filter: &Filter<E>) -> Result<(), Box<dyn Error>> {
    let (bytes, mut written) = (filter.to_bytes(), Vec::new());
    filter.save(&mut written)?;
    filter.clone().save_exclusive(&mut written)?;
    let snapshot: guira::Snapshot = filter.snapshot()?;
    assert_eq!((2 * snapshot.len(), snapshot.read_at(0, &mut [0; 9])), (written.len() as u64, 9));
    let hasher = filter.hasher().clone();
    let with_seed = DefaultHashBuilder::with_seed;
    let mut copies = vec![
        Filter::<E>::from_bytes(&bytes)?,
        Filter::<E>::load(snapshot)?,
        Filter::from_bytes_with_hasher(&bytes, hasher.clone())?,
        Filter::load_with_hasher(&bytes[..], hasher.clone())?,
        Filter::from_bytes_with(&bytes, with_seed)?,
        Filter::load_with(&bytes[..], with_seed)?,
    ];
    let loaders: [guira::Loader<E>; 3] = [
        Filter::<E>::loader(1 << 30),
        Filter::loader_with_hasher(1 << 30, hasher),
        Filter::loader_with(1 << 30, with_seed),
    ];
    for mut loader in loaders {
        loader.push(&bytes)?;
        copies.push(loader.finish()?);
    }
    let mut loader = Filter::<E>::loader(1 << 30).allocate_at_once();
    loader.push(&bytes[..99])?;
    written.clear();
    loader.write_received(&mut written)?;
    assert_eq!((&written[..], loader.received()), (&bytes[..99], 99));
    let mut dump: guira::Dump = filter.dump();
    assert!(dump.prepare(filter, usize::MAX)? && dump.len() == bytes.len() as u64);
    assert_eq!(dump.read_at(filter, 0, &mut [0; 9]), 9);
    assert!(copies.iter().all(|copy| copy.to_bytes() == bytes));
    Ok(())
}

/// Calls everything that only filters that grow have.
fn grows<E: Growable>(filter: &mut Filter<E>) -> Result<(), Box<dyn Error>> {
    assert!(filter.next_growth().is_some() && filter.target_false_positive_rate() > 0.0);
    assert_eq!(filter.shrink_to_fit(), 0);
    let builder = Filter::<E>::builder().capacity(9).growth_factor(4);
    let capped = builder.max_bytes(filter.size_in_bytes()).build()?;
    assert!(capped.size_in_bytes() <= filter.size_in_bytes());
    filter.set_max_bytes(Some(0));
    assert_eq!(filter.next_growth(), None);
    Ok(())
}

#[test]
fn user_code_can_be_generic_over_engines() {
    uses_everything(&CuckooFilter::with_capacity(100)).expect("room");
    uses_everything(&GrowingFilter::with_capacity(100)).expect("room");
    uses_everything(&GrowingFilter::default()).expect("room");
    // Large ones, without aliases.
    uses_a_map(&CuckooMap::builder().capacity(100_000).seed(1).build().expect("memory"))
        .expect("room");
    uses_a_map(&GrowingMap::builder().capacity(100_000).seed(1).build().expect("memory"))
        .expect("room");
    grows(&mut GrowingFilter::with_capacity(10)).expect("room to grow");
    grows(&mut GrowingMap::with_capacity(10)).expect("room to grow");
    let expiring = ExpiringFilter::builder().capacity(100_000).seed(1);
    uses_an_expiring_filter(&expiring.build().expect("memory")).expect("room");
}
