//! Lookups by every kernel, in all kinds of filters: batches have the answers of single lookups,
//! also beside writers that relocate, change tags, remove, and append.

mod beside;
#[path = "../common/mod.rs"]
mod common;

use common::{
    Subject, capacity_of_kind, chosen,
    hashers::{self, Part},
    kind::{Kind, Of},
    rng, scaled, settings,
    suite::on_all_kinds,
};
use guira::{
    CuckooFilter, Hashed, InsertError, Layout,
    kind::{Expiring, Map, Set},
    raw::Kernel,
};
use rand::RngExt;

const SEED: u64 = 11;

/// The kernels that the processor has.
fn kernels() -> Vec<Kernel> {
    let is_available = |kernel: &Kernel| kernel.is_available();
    let (available, others): (Vec<Kernel>, _) = Kernel::ALL.iter().copied().partition(is_available);
    if !others.is_empty() {
        println!("not tested, because they are not available: {others:?}");
    }
    available
}

/// A filter that is looked up by this kernel, and whose items are their own hashes.
fn filter<K: Kind>(layout: Layout, buckets: usize, kernel: Kernel) -> Of<K, Part> {
    let builder = settings::<K>(capacity_of_kind::<K>(layout, buckets), layout, SEED);
    hashers::identity(builder).kernel(kernel).build().expect("a small filter")
}

/// The number of buckets.
fn buckets<K: Kind>(filter: &Of<K, Part>) -> u64 {
    filter.slots() as u64 / u64::from(filter.layout().slots_per_bucket())
}

#[test]
fn a_kernel_that_is_missing_is_replaced() {
    for &kernel in Kernel::ALL {
        let built = CuckooFilter::builder().capacity(10).kernel(kernel).build();
        let taken = if kernel.is_available() { kernel } else { Kernel::best() };
        assert_eq!(built.expect("a small filter").kernel(), taken);
    }
    let has_vectors = cfg!(all(target_arch = "x86_64", not(any(guira_steps, guira_portable))));
    if !has_vectors {
        assert_eq!(kernels(), [Kernel::Scalar]);
    }
    assert!(Kernel::Scalar.is_available() && Kernel::best().is_available());
}

/// A process of its own for each value of the variable, because it is read once.
#[test]
#[cfg(feature = "std")]
fn the_environment_names_the_best_kernel() {
    const EXPECTED: &str = "GUIRA_EXPECTED_KERNEL";
    if let Ok(expected) = std::env::var(EXPECTED) {
        assert_eq!(format!("{:?}", Kernel::best()), expected);
        return;
    }
    let fastest = *kernels().last().expect("the scalar one");
    for (name, named) in [
        ("scalar", Kernel::Scalar),
        ("avx2", Kernel::Avx2),
        ("avx512", Kernel::Avx512),
        ("unknown", fastest),
        ("", fastest),
    ] {
        let expected = if named.is_available() { named } else { fastest };
        let status = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "the_environment_names_the_best_kernel"])
            .env("GUIRA_KERNEL", name)
            .env(EXPECTED, format!("{expected:?}"))
            .status();
        assert!(status.expect("a process").success(), "GUIRA_KERNEL={name}, not {expected:?}");
    }
}

/// Batches of these lengths, besides all short ones. The longest ones are several rounds.
const LONG: [usize; 8] = [255, 256, 511, 512, 513, 1_025, 2_047, 5_000];

/// Numbers of buckets: few and odd ones, and for each of these ways of looking up a table that is
/// looked up in this way. Versions copied; few copied and more gathered; buckets prefetched with
/// versions copied, and with versions gathered.
const BUCKETS: [usize; 8] = [1, 3, 5, 101, 2_049, 20_000, 65_600, 80_001];

on_all_kinds! {
    every_kernel_gives_the_answers_of_single_lookups,
}

/// What lookups tell besides whether a key is found.
trait Values: Kind {
    /// Checks the values that lookups of many keys return against those of single lookups.
    fn compare_values(_filter: &Of<Self, Part>, _keys: &[u64]) {}
}

impl<G: Subject> Values for (Set, G) {}
impl<G: Subject> Values for (Expiring, G) where Self: Kind {}

impl<G: Subject> Values for (Map, G) {
    fn compare_values(map: &Of<Self, Part>, keys: &[u64]) {
        let len = keys.len();
        let what = || format!("{:?}, {map:?}, {len}", map.kernel());
        let expected: Vec<Option<u16>> = keys.iter().map(|key| map.get(key)).collect();
        let numbers: Vec<u16> = expected.iter().map(|value| value.unwrap_or(0)).collect();
        let present = expected.iter().flatten().count();
        for unset in [None, Some(0xaaaa)] {
            for by_hash in [false, true] {
                let mut all = vec![unset; len + 2];
                let answers = &mut all[1..=len];
                let count = if by_hash {
                    map.get_batch(Hashed::slice(keys), answers)
                } else {
                    map.get_batch(keys, answers)
                };
                assert!(*answers == *expected, "{}: not {expected:?}", what());
                assert_eq!(count, present, "{}", what());
                assert!(all[0] == unset && all[len + 1] == unset, "{}", what());
            }
        }
        for unset in [0, 0xaaaa] {
            let mut values = vec![unset; len + 2];
            let some = &mut values[1..=len];
            if len <= 64 {
                assert_eq!(map.get_mask(keys, some), map.contains_mask(keys), "{}", what());
                assert!(*some == *numbers, "{}: {some:?}, not {numbers:?}", what());
            }
            assert!(values[0] == unset && values[len + 1] == unset, "{}", what());
        }
    }
}

fn every_kernel_gives_the_answers_of_single_lookups<K: Values>() {
    let mut layouts = K::layouts();
    let has_values = layouts.iter().any(|layout| layout.value_bits() == 16);
    if has_values && !K::GROWS && !cfg!(debug_assertions) {
        // Values of every width.
        let of = |slots| (0..=16).filter_map(move |bits| Layout::with_values(slots, bits));
        layouts = (2..=6).flat_map(of).collect();
    }
    let (middle, is_set) = (layouts.len() / 2, layouts.len() == Layout::ALL.len());
    for (number, &layout) in layouts.iter().enumerate() {
        let sizes = match (K::GROWS, is_set) {
            (true, _) => &[41, 3, 2_500][..],
            (false, true) => &BUCKETS,
            (false, false) => &[1, 101, 20_000, 80_001],
        };
        for (nth, &buckets) in sizes.iter().enumerate() {
            // Large tables differ in how they are looked up, and not in their slots. Debug builds
            // fill few.
            let most = match (cfg!(debug_assertions), K::GROWS, is_set) {
                (false, false, true) => usize::MAX,
                (true, true, _) => 0,
                _ => 200,
            };
            if number == middle || nth == 0 || buckets < most {
                same_answers::<K>(layout, buckets);
            }
        }
    }
}

/// Compares the answers of all kernels with those of single lookups, before and after each growth.
fn same_answers<K: Values>(layout: Layout, buckets: usize) {
    for kernel in kernels() {
        let filter = filter::<K>(layout, buckets, kernel);
        assert_eq!(filter.kernel(), kernel);
        assert_eq!(filter.try_clone().expect("memory").kernel(), kernel);
        let most = match (K::GROWS, buckets) {
            (true, 2_500) => scaled(30_000, 400_000),
            (true, _) => scaled(2_000, 20_000),
            // Until an item is refused, or as many as fit.
            (false, 0..10_000) => usize::MAX,
            (false, _) => filter.capacity(),
        };
        let mut rng = rng(buckets as u64);
        // With 0, which is in the lanes of a group that is not full.
        let mut present = vec![0];
        K::add(&filter, 0).expect("an empty filter");
        let mut slots = filter.slots();
        while present.len() < most {
            let item = rng.random();
            match K::add(&filter, item) {
                Ok(()) => present.push(item),
                Err(InsertError::TooManyCopies) => {}
                Err(_) => break,
            }
            // Another tag of the same key, where there is room: a lookup returns one of them.
            if present.len().is_multiple_of(3) {
                let _ = K::insert(&filter, &item, K::usual_want(&filter, !item));
            }
            if filter.slots() >= 2 * slots {
                slots = filter.slots();
                compare::<K>(&filter, &present);
            }
        }
        compare::<K>(&filter, &present);
    }
}

/// Items of four kinds: present ones, some of them among the latest, arbitrary ones, and in a table
/// of a fixed size ones whose fingerprint, or whose first bucket, is next to that of a present
/// item.
fn some_items<K: Kind>(filter: &Of<K, Part>, present: &[u64]) -> Vec<u64> {
    let layout = filter.layout();
    let mut rng = rng(8);
    let near = if K::GROWS {
        Vec::new()
    } else {
        chosen::near(present, SEED, (layout, buckets::<K>(filter)), &mut rng)
    };
    let next = |number: usize| match number % 4 {
        0 => present[rng.random_range(..present.len())],
        1 => present[present.len() - 1 - rng.random_range(..present.len().min(50))],
        2 if !near.is_empty() => near[rng.random_range(..near.len())],
        _ => rng.random(),
    };
    (0..7_000).map(next).collect()
}

/// Looks up batches in every way, into answers of either value with one more at each end.
/// Compares with counts, which read under the lock.
fn compare<K: Values>(filter: &Of<K, Part>, present: &[u64]) {
    assert!(present.iter().all(|item| filter.contains(item)), "{filter:?}");
    let items = some_items::<K>(filter, present);
    let expected: Vec<bool> = items.iter().map(|item| filter.count(item) > 0).collect();
    assert!(items.iter().zip(&expected).all(|(item, &found)| filter.contains(item) == found));
    let mut start = 0;
    // One that grows is compared after every doubling.
    let step = if K::GROWS { 5 } else { 1 };
    for len in (0..=130).chain(LONG).step_by(step) {
        start = (start + 131) % (items.len() - len + 1);
        let (items, expected) = (&items[start..start + len], &expected[start..start + len]);
        let what = || format!("{:?}, {filter:?}, {len}", filter.kernel());
        let present = expected.iter().filter(|&&is_present| is_present).count();
        for (unset, by_hash) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut all = vec![unset; len + 2];
            let answers = &mut all[1..=len];
            let count = if by_hash {
                filter.contains_batch(Hashed::slice(items), answers)
            } else {
                filter.contains_batch(items, answers)
            };
            assert!(*answers == *expected, "{}: {answers:?}, not {expected:?}", what());
            assert_eq!(count, present, "{}", what());
            assert!(all[0] == unset && all[len + 1] == unset, "{}", what());
        }
        if len <= 64 {
            let bits = (0..).zip(expected);
            let mask = bits.fold(0, |mask, (place, &is)| mask | u64::from(is) << place);
            assert_eq!(filter.contains_mask(items), mask, "{}", what());
            assert_eq!(filter.contains_mask(Hashed::slice(items)), mask, "{}", what());
        }
        K::compare_values(filter, items);
    }
}
