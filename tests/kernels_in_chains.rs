//! Lookups in growing filters, single and in batches by every kernel: the answers are right, also
//! beside writers that move, remove, and append.

mod common;

use std::{
    sync::atomic::{
        AtomicBool, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

use common::{
    Watchdog,
    churn::StopOnPanic,
    hashers::{self, Part},
    rng, scaled,
};
use guira::raw::Kernel;
use guira::{FilterBuilder, GrowingFilter, Hashed, InsertError, Layout, kind::Growing, kind::Set};
use rand::{RngExt, rngs::SmallRng};

/// The kernels that the processor has.
fn kernels() -> impl Iterator<Item = Kernel> + Clone {
    Kernel::ALL.iter().copied().filter(|kernel| kernel.is_available())
}

/// How a chain is built: its first capacity, target rate, and growth factor.
#[derive(Clone, Copy, Debug)]
struct Shape {
    capacity: usize,
    rate: f64,
    factor: usize,
    /// The layout of the first segment, if the rate does not determine it.
    first: Option<Layout>,
}

impl Shape {
    fn builder(self, kernel: Kernel) -> FilterBuilder<Set, Growing, Part> {
        let Self { capacity, rate, factor, first } = self;
        let builder = GrowingFilter::builder().capacity(capacity).false_positive_rate(rate);
        let builder = match first {
            Some(layout) => builder.layout(layout),
            None => builder,
        };
        hashers::identity(builder).seed(11).kernel(kernel)
    }

    fn build(self, kernel: Kernel) -> GrowingFilter<Part> {
        self.builder(kernel).build().expect("a small filter")
    }
}

const fn shape(capacity: usize, rate: f64, factor: usize) -> Shape {
    Shape { capacity, rate, factor, first: None }
}

/// Chains of plain segments, of semi-sorted ones, and of both, with an odd number of buckets in the
/// first one. The rates are high, so that false positives occur and must agree.
const SHAPES: [Shape; 8] = [
    shape(1, 0.5, 2),
    shape(30, 0.5, 4),
    shape(150, 0.03, 2),
    shape(1_000, 0.03, 8),
    shape(40, 0.01, 2),
    // So few at first that 2,000 items reach the longest fingerprints.
    shape(10, 0.001, 2),
    shape(77, 0.000_1, 2),
    Shape { first: Some(Layout::Plain5x12), ..shape(60, 0.02, 2) },
];

#[test]
fn every_kernel_gives_the_answers_of_counts() {
    let mut layouts = Vec::new();
    for shape in SHAPES {
        layouts.extend(right_answers(shape, scaled(2_000, 20_000)));
    }
    for &layout in Layout::ALL {
        assert!(layouts.contains(&layout), "{layout:?} is not tested");
    }
}

/// In segments beyond a second-level cache, buckets are prefetched.
#[test]
fn large_segments_give_the_same_answers() {
    // Debug builds take too long.
    right_answers(shape(11_000, 0.03, 2), scaled(30_000, 700_000));
}

/// Compares lookups with counts, which read under the lock, before and after every append. Returns
/// the layouts.
fn right_answers(shape: Shape, items: usize) -> Vec<Layout> {
    for kernel in kernels() {
        let filter = shape.build(kernel);
        assert_eq!(filter.kernel(), kernel);
        let mut rng = rng(3);
        let mut present: Vec<u64> = vec![0];
        filter.insert(&0).expect("room");
        let mut segments = 0;
        while present.len() < items {
            if filter.segments().len() > segments {
                segments = filter.segments().len();
                compare(&filter, &present, &mut rng);
            }
            let item = rng.random();
            filter.insert(&item).expect("room in another segment");
            present.push(item);
        }
        compare(&filter, &present, &mut rng);
    }
    let filter = shape.build(Kernel::Scalar);
    filter.insert_batch(0..items as u64).expect("room");
    filter.segments().map(|segment| segment.layout).collect()
}

/// Looks up some present items and some others in every way.
fn compare(filter: &GrowingFilter<Part>, present: &[u64], rng: &mut SmallRng) {
    let mut next = || match rng.random_range(0..3) {
        0 => present[rng.random_range(..present.len())],
        // Near the end of the present ones: they are in the last segment.
        1 => present[present.len() - 1 - rng.random_range(..present.len().min(50))],
        _ => rng.random(),
    };
    for len in (0..=66).chain([130, 513, 1_025, 3_000]) {
        let items: Vec<u64> = (0..len).map(|_| next()).collect();
        let expected: Vec<bool> = items.iter().map(|item| filter.count(item) > 0).collect();
        let what = || format!("{:?}, {len}, {filter:?}", filter.kernel());
        let single: Vec<bool> = items.iter().map(|item| filter.contains(item)).collect();
        assert!(single == expected, "{}", what());
        let mut found = vec![false; len];
        let count = filter.contains_batch(&items, &mut found);
        assert!(found == expected, "{}", what());
        assert_eq!(count, expected.iter().filter(|&&is_present| is_present).count(), "{}", what());
        let by_hash = filter.contains_batch(Hashed::slice(&items), &mut found);
        assert!(by_hash == count && found == expected, "{}", what());
        if len <= 64 {
            let bits = (0..).zip(&expected);
            let mask = bits.fold(0, |mask, (place, &is)| mask | u64::from(is) << place);
            assert_eq!(filter.contains_mask(&items), mask, "{}", what());
        }
    }
}

/// Looks up present items in every way.
fn find(filter: &GrowingFilter<Part>, items: &[u64]) {
    let all = items.len();
    let mut found = vec![false; all];
    assert_eq!(filter.contains_batch(items, &mut found), all, "false negative: {filter:?}");
    assert!(found.iter().all(|&is_found| is_found), "false negative: {filter:?}");
    for burst in items.chunks(64) {
        let mask = filter.contains_mask(burst);
        assert_eq!(mask, u64::MAX >> (64 - burst.len()), "false negative: {filter:?}");
    }
    assert!(items.iter().all(|item| filter.contains(item)), "false negative: {filter:?}");
}

/// A chain that cannot grow to many more segments than these.
fn capped(shape: Shape, kernel: Kernel, segments: usize) -> GrowingFilter<Part> {
    let larger = shape.build(kernel);
    let mut rng = rng(5);
    while larger.segments().len() <= segments {
        larger.insert(&rng.random::<u64>()).expect("room in another segment");
    }
    let cap = larger.size_in_bytes() - 1;
    shape.builder(kernel).max_bytes(cap).build().expect("the cap has room for the first segment")
}

/// In a chain that is full, every insert moves items, and lookups find those that stay.
#[test]
fn no_lookup_misses_an_item_that_is_moved() {
    let _watchdog = Watchdog::new("no_lookup_misses_an_item_that_is_moved");
    for shape in [shape(3, 0.03, 2), shape(20, 0.001, 2), shape(40, 0.01, 4)] {
        for kernel in kernels() {
            moved(&capped(shape, kernel, 3));
        }
    }
}

fn moved(filter: &GrowingFilter<Part>) {
    let mut rng = rng(6);
    let mut stay = Vec::new();
    let mut go = Vec::new();
    loop {
        let item: u64 = rng.random();
        match filter.insert(&item) {
            Ok(()) if stay.len() <= go.len() => stay.push(item),
            Ok(()) => go.push(item),
            Err(InsertError::TooManyCopies) => {}
            Err(_) => break,
        }
    }
    assert!(go.len() > 3 && filter.segments().len() >= 3, "{filter:?}");
    let (stop, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let _stop = StopOnPanic(&stop);
            while !stop.load(Acquire) {
                let place = rng.random_range(..go.len());
                assert!(filter.remove(&go[place]), "an item is lost");
                // By moves, or in the place of the item that was removed.
                let mut others = (0..).map(|_| rng.random::<u64>());
                go[place] = others.find(|item| filter.insert(item).is_ok()).expect("endless");
                rounds.fetch_add(1, Relaxed);
            }
        });
        let _stop = StopOnPanic(&stop);
        let batch: Vec<u64> = stay.iter().copied().cycle().take(700).collect();
        for _ in 0..scaled(50, 400) {
            for len in [13, 64, 100, 700] {
                find(filter, &batch[..len]);
            }
        }
        // On a busy machine the writer may begin late.
        while rounds.load(Relaxed) < 100 && !stop.load(Acquire) {
            find(filter, &stay);
        }
        stop.store(true, Release);
    });
    find(filter, &stay);
    find(filter, &go);
}

/// An item is found as soon as it is known to be inserted, also in a segment that is new.
#[test]
fn no_lookup_misses_an_item_in_a_new_segment() {
    let _watchdog = Watchdog::new("no_lookup_misses_an_item_in_a_new_segment");
    for kernel in kernels() {
        for round in 0..scaled(3, 30) {
            let filter = shape(4, 0.01, 2).build(kernel);
            let items: Vec<u64> = rng(round).random_iter().take(scaled(3_000, 20_000)).collect();
            let inserted = AtomicUsize::new(0);
            thread::scope(|scope| {
                scope.spawn(|| {
                    for (item, before) in items.iter().zip(0..) {
                        filter.insert(item).expect("room in another segment");
                        inserted.store(before + 1, Release);
                    }
                });
                let mut known = 0;
                while known < items.len() {
                    known = inserted.load(Acquire);
                    find(&filter, &items[known.saturating_sub(40)..known]);
                    find(&filter, &items[known.saturating_sub(90)..known]);
                }
            });
        }
    }
}
