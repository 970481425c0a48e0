//! Batch lookups by every kernel: the answers are those of single lookups, also beside writers.

mod common;

use std::{
    collections::HashMap,
    iter,
    sync::atomic::{
        AtomicBool, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

use common::{
    Watchdog, capacity_of,
    chosen::neighbour,
    churn::StopOnPanic,
    for_every_layout,
    hashers::{self, Part},
    operations::Operations,
    rng, scaled,
};
use guira::{
    CuckooFilter, Hashed, Layout,
    raw::{Addressing, BucketLayout, Kernel, mix},
};
use rand::RngExt;

const SEED: u64 = 11;

/// The seed with which a filter of this seed mixes hashes: see `docs::snapshots`.
fn mixing_seed() -> u64 {
    mix(SEED + 0x9e37_79b9_7f4a_7c15, 0)
}

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
fn filter(layout: Layout, buckets: usize, kernel: Kernel) -> CuckooFilter<Part> {
    let builder = CuckooFilter::builder().capacity(capacity_of(layout, buckets)).layout(layout);
    let filter = hashers::identity(builder).seed(SEED).kernel(kernel).build();
    filter.expect("a small filter of a kernel that is available")
}

/// The number of buckets of a filter.
fn buckets<S>(filter: &CuckooFilter<S>) -> u64 {
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
const BUCKETS: [usize; 8] = [1, 3, 5, 101, 2_049, 20_000, 65_600, 70_001];

#[test]
fn every_kernel_gives_the_answers_of_single_lookups() {
    for (number, &layout) in Layout::ALL.iter().enumerate() {
        for buckets in BUCKETS {
            // Debug builds fill one large table only.
            if number == 0 || buckets < scaled(10_000, usize::MAX) {
                same_answers(layout, buckets);
            }
        }
    }
}

/// Compares the answers of all kernels with those of single lookups.
fn same_answers(layout: Layout, buckets: usize) {
    let single = filter(layout, buckets, Kernel::Scalar);
    // Until an item is refused, or as many as fit.
    let most = if buckets < 10_000 { usize::MAX } else { single.capacity() };
    let mut rng = rng(buckets as u64);
    // With 0, which is in the lanes of a group that is not full.
    let items = iter::once(0).chain(iter::repeat_with(|| rng.random::<u64>())).take(most);
    let present: Vec<u64> = items.take_while(|item| single.insert(item).is_ok()).collect();
    assert!(present.iter().all(|item| single.contains(item)), "{layout:?}, {buckets} buckets");
    let items = some_items(&single, &present);
    let expected: Vec<bool> = items.iter().map(|item| single.contains(item)).collect();
    for kernel in kernels() {
        let filter = filter(layout, buckets, kernel);
        // In the same order, since the order decides for how many there is room.
        for item in &present {
            filter.insert(item).expect("room, as in the other filter");
        }
        let mut start = 0;
        for len in (0..=130).chain(LONG) {
            start = (start + 131) % (items.len() - len + 1);
            let (items, expected) = (&items[start..start + len], &expected[start..start + len]);
            compare(&filter, items, expected);
        }
    }
}

/// Items of four kinds: present ones, arbitrary ones, and ones whose fingerprint, or whose first
/// bucket, is next to that of a present item.
fn some_items(filter: &CuckooFilter<Part>, present: &[u64]) -> Vec<u64> {
    let layout = filter.layout();
    let smallest = if layout.is_semi_sorted() { 16 } else { 1 };
    let fingerprints = (1 << layout.fingerprint_bits()) - smallest;
    let mut rng = rng(8);
    let mut next = |number: usize| {
        let item = present[rng.random_range(..present.len())];
        let step = if rng.random() { 1 } else { -1 };
        let near = |fingerprint, bucket| {
            neighbour(item, mixing_seed(), (fingerprints, fingerprint), (buckets(filter), bucket))
        };
        match number % 5 {
            0 | 1 => item,
            2 => rng.random(),
            3 => near(step, 0),
            _ => near(0, step),
        }
    };
    (0..7_000).map(&mut next).collect()
}

/// Looks up a batch in every way, into answers of either value with one more at each end.
fn compare(filter: &CuckooFilter<Part>, items: &[u64], expected: &[bool]) {
    let len = items.len();
    let what = || format!("{:?}, {}, {filter:?}, {len}", filter.kernel(), buckets(filter));
    let present = expected.iter().filter(|&&is_present| is_present).count();
    for unset in [false, true] {
        for by_hash in [false, true] {
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
    }
    if len <= 64 {
        let bits = expected.iter().enumerate();
        let mask = bits.fold(0, |mask, (place, &is_present)| mask | u64::from(is_present) << place);
        assert_eq!(filter.contains_mask(items), mask, "{}", what());
        assert_eq!(filter.contains_mask(Hashed::slice(items)), mask, "{}", what());
    }
}

/// The bit that is set in the numbers of the second half of 256 stripes.
const LATE: u32 = 128;

/// Two buckets with one empty slot together, and an item that can be in either.
struct Scene {
    filter: CuckooFilter<Part>,
    /// The item, and one with the same fingerprint and its buckets exchanged.
    item: [u64; 2],
    /// Items with a single bucket: to insert one evicts the item from that bucket.
    drivers: [u64; 2],
}

impl Scene {
    fn new((layout, operations): (Layout, Operations), kernel: Kernel, buckets: usize) -> Self {
        let filter = filter(layout, buckets, kernel);
        let buckets = self::buckets(&filter);
        let addressing = Addressing::new(buckets);
        let mut rng = rng(7);
        // Items with a single bucket, by that bucket, and an item between two of these.
        let mut alone = HashMap::new();
        let (item, [left, right]) = loop {
            let item: u64 = rng.random();
            let pair = (operations.pair)(&addressing, mix(item, mixing_seed()));
            let [left, right] = pair.buckets;
            if left == right {
                alone.insert(left, item);
            } else if alone.contains_key(&left)
                && alone.contains_key(&right)
                && pair.fingerprint.get() & LATE != 0
            {
                break (item, pair.buckets);
            }
        };
        let there = i64::from(right) - i64::from(left);
        let alias = neighbour(item, mixing_seed(), (1 << 32, 0), (buckets, there));
        let pair = |item| (operations.pair)(&addressing, mix(item, mixing_seed()));
        assert_eq!(pair(alias), guira::raw::Pair { buckets: [right, left], ..pair(item) });
        let drivers = [left, right].map(|bucket| alone[&bucket]);
        for driver in drivers {
            (1..operations.slots).for_each(|_| filter.insert(&driver).expect("a slot is left"));
        }
        filter.insert(&item).expect("two slots are left");
        Self { filter, item: [item, alias], drivers }
    }

    /// Moves the item to one bucket and to the other one.
    fn drive(&self) {
        for driver in &self.drivers {
            self.filter.insert(driver).expect("the item gives way");
            assert!(self.filter.remove(driver), "the driver is missing");
        }
    }

    /// Looks up batches that consist of the item and its alias.
    fn find(&self) {
        let batch: [u64; 1_100] = std::array::from_fn(|place| self.item[place % 2]);
        let filter = &self.filter;
        for len in [6, 13, 64] {
            let (all, batch) = (u64::MAX >> (64 - len), &batch[..len]);
            assert_eq!(
                (filter.contains_mask(Hashed::slice(batch)), self.filter.contains_mask(batch)),
                (all, all)
            );
        }
        for len in [65, 100, 200, 1_100] {
            let (batch, mut found) = (&batch[..len], [false; 1_100]);
            let by_hash = filter.contains_batch(Hashed::slice(batch), &mut found[..len]);
            let by_item = self.filter.contains_batch(batch, &mut found[..len]);
            assert_eq!((by_hash, by_item), (len, len), "false negative");
            assert!(found[..len].iter().all(|&is_found| is_found), "false negative");
        }
    }
}

/// An item that is relocated all the time is found by every batch, at every place.
fn relocated(scene: &Scene) {
    // In a large table the item moves less often.
    let is_large = buckets(&scene.filter) > 65_536;
    let rounds = scaled(100, 300) * if is_large { 5 } else { 1 };
    let (stop, moves) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let _stop = StopOnPanic(&stop);
            while !stop.load(Acquire) {
                scene.drive();
                moves.fetch_add(2, Relaxed);
            }
        });
        let reader = scope.spawn(|| {
            let _stop = StopOnPanic(&stop);
            // On a busy machine the writer may begin late.
            let mut done = 0;
            while !stop.load(Acquire) && (done < rounds || moves.load(Relaxed) < rounds) {
                scene.find();
                done += 1;
            }
            stop.store(true, Release);
        });
        reader.join().expect("no false negative");
        writer.join().expect("no item is lost");
    });
    assert_eq!(scene.filter.count(&scene.item[0]), 1);
}

#[test]
fn no_kernel_misses_an_item_that_is_relocated() {
    fn add<L: BucketLayout>(all: &mut Vec<Operations>) {
        all.push(Operations::of::<L>());
    }
    let _watchdog = Watchdog::new("no_kernel_misses_an_item_that_is_relocated");
    let mut operations = Vec::new();
    for_every_layout!(add(&mut operations));
    let layouts = Layout::ALL.iter().copied().zip(operations);
    let few = [Layout::Plain8x8, Layout::Plain4x16, Layout::SemiSorted6x12, Layout::SemiSorted4x17];
    for layout in layouts.filter(|(layout, _)| few.contains(layout)) {
        // Versions are copied; those of 100 items are gathered; buckets are prefetched.
        for buckets in [16, 20_000, 70_001] {
            for kernel in kernels() {
                relocated(&Scene::new(layout, kernel, buckets));
            }
        }
    }
}
