//! Lookups beside writers that relocate, change tags, remove, and append.

use std::{
    collections::HashMap,
    sync::atomic::{
        AtomicBool, AtomicU64, AtomicUsize,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

use guira::{
    Layout,
    raw::{Addressing, Kernel, mix},
};
use rand::RngExt;

use super::{
    SEED, buckets,
    common::{
        Watchdog,
        chosen::mixing_seed,
        churn::{Plan, StopOnPanic, churn},
        hashers::{self, Part},
        kind::{Kind, Maker, Of, Sets},
        rng, scaled,
        suite::{cloned, on_all_kinds, on_kinds},
    },
    filter, kernels,
};

on_all_kinds! {
    no_lookup_misses_an_item_that_moves_or_changes,
}

on_kinds! {
    [splitting: GrowingSets, splitting_maps: GrowingMaps]
    {no_lookup_misses_an_item_while_it_grows}
}

/// The bit that is set in the numbers of the second half of 256 stripes.
const LATE: u32 = 128;

/// Two buckets with one empty slot together, and an item that can be in either.
struct Scene {
    filter: Of<Sets, Part>,
    item: u64,
    /// Items with a single bucket: to insert one evicts the item from that bucket.
    drivers: [u64; 2],
}

impl Scene {
    fn new(layout: Layout, kernel: Kernel, buckets: usize) -> Self {
        let filter = filter::<Sets>(layout, buckets, kernel);
        let buckets = super::buckets::<Sets>(&filter);
        let addressing = Addressing::new(buckets, &layout.slots());
        let mut rng = rng(7);
        // Items with a single bucket, by that bucket, and an item between two of these.
        let mut alone = HashMap::new();
        let (item, [left, right]) = loop {
            let item: u64 = rng.random();
            let pair = addressing.pair(mix(item, mixing_seed(SEED)));
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
        let drivers = [left, right].map(|bucket| alone[&bucket]);
        for driver in drivers {
            (1..layout.slots_per_bucket())
                .for_each(|_| filter.insert(&driver).expect("a slot is left"));
        }
        filter.insert(&item).expect("two slots are left");
        Self { filter, item, drivers }
    }

    /// Moves the item to one bucket and to the other one.
    fn drive(&self) {
        for driver in &self.drivers {
            self.filter.insert(driver).expect("the item gives way");
            assert!(self.filter.remove(driver), "the driver is missing");
        }
    }

    /// Looks up the item, alone and in batches that consist of it.
    fn find(&self) {
        assert!(self.filter.contains(&self.item), "false negative");
        assert_eq!(self.filter.count(&self.item), 1, "there is one copy");
        let batch = [self.item; 1_100];
        for len in [6, 13, 64, 65, 100, 200, 1_100] {
            assert!(Sets::finds_all(&self.filter, &batch[..len]), "false negative");
        }
    }
}

/// An item that is relocated all the time is found by every batch, at every place.
fn relocated(scene: &Scene) {
    // In a large table the item moves less often.
    let is_large = buckets::<Sets>(&scene.filter) > 65_536;
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
    assert_eq!(scene.filter.count(&scene.item), 1);
}

#[test]
fn no_kernel_misses_an_item_that_is_relocated() {
    let _watchdog = Watchdog::new("no_kernel_misses_an_item_that_is_relocated");
    let few = [Layout::Plain8x8, Layout::Plain4x16, Layout::SemiSorted6x12, Layout::SemiSorted4x17];
    for &layout in Layout::ALL {
        // Versions are copied; those of 100 items are gathered; buckets are prefetched.
        let sizes: &[usize] = if few.contains(&layout) { &[16, 20_000, 70_001] } else { &[16] };
        for &buckets in sizes {
            for kernel in kernels() {
                relocated(&Scene::new(layout, kernel, buckets));
            }
        }
    }
}

/// Lookups find the items that stay while others move, with a tag that they have had.
fn no_lookup_misses_an_item_that_moves_or_changes<K: Kind>() {
    let _watchdog = Watchdog::new("no_lookup_misses_an_item_that_moves_or_changes");
    let layouts = K::layouts();
    // Versions are copied; those of some batches are gathered; buckets are prefetched.
    for (third, buckets) in [(1, 3), (2, 20), (1, scaled(500, 20_000)), (2, scaled(900, 80_000))] {
        let plan = Plan {
            layout: layouts[layouts.len() * third / 3],
            buckets,
            readers: 1,
            writers: 1,
            reads: scaled(20_000, 100_000),
            changes: 200,
            copies: 0,
            seed: SEED,
        };
        // In a filter that grows, there are fewer ways to look up.
        if !K::GROWS || buckets < 100 {
            for make in kernels().into_iter().map(by_kernel::<K>) {
                churn::<K, Part>(make, &plan, &cloned::<K, Part>);
            }
        }
    }
}

/// What completes a builder of filters that are looked up by a kernel.
fn by_kernel<K: Kind>(kernel: Kernel) -> Maker<K, Part> {
    match kernel {
        Kernel::Scalar => |builder| hashers::identity(builder).kernel(Kernel::Scalar),
        Kernel::Avx2 => |builder| hashers::identity(builder).kernel(Kernel::Avx2),
        _ => |builder| hashers::identity(builder).kernel(Kernel::Avx512),
    }
}

/// An item is found as soon as it is known to be inserted, also beside splits.
fn no_lookup_misses_an_item_while_it_grows<K: Kind>() {
    let _watchdog = Watchdog::new("no_lookup_misses_an_item_while_it_grows");
    let layouts = K::layouts();
    for kernel in kernels() {
        for round in 0..scaled(3, 30) {
            let layout = layouts[round % layouts.len()];
            let filter = filter::<K>(layout, 1, kernel);
            let items: Vec<u64> =
                rng(round as u64).random_iter().take(scaled(3_000, 20_000)).collect();
            let inserted = AtomicUsize::new(0);
            thread::scope(|scope| {
                scope.spawn(|| {
                    for (item, before) in items.iter().zip(0..) {
                        K::add(&filter, *item).expect("room as it grows");
                        inserted.store(before + 1, Release);
                    }
                });
                let mut known = 0;
                while known < items.len() {
                    known = inserted.load(Acquire);
                    for latest in [40, 90] {
                        let items = &items[known.saturating_sub(latest)..known];
                        assert!(K::finds_all(&filter, items), "false negative: {filter:?}");
                    }
                }
            });
        }
    }
}
