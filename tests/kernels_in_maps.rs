//! Batch lookups in maps by every kernel: the answers are those of single lookups, also beside
//! writers.

mod common;

use std::{
    sync::atomic::{
        AtomicBool, AtomicU64,
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
use guira::{CuckooMap, Hashed, Layout};
use rand::RngExt;

/// The kernels that the processor has.
fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.iter().copied().filter(|kernel| kernel.is_available())
}

/// A map with these slots per bucket and bits of a value, about this many buckets, and items that
/// are their own hashes. `None` if a slot has no room for the values.
fn map((slots, value_bits): (u32, u32), buckets: usize, kernel: Kernel) -> Option<CuckooMap<Part>> {
    let layout = Layout::with_values(slots, value_bits)?;
    // A load of about 90 %.
    let capacity = (buckets * slots as usize * 9 / 10).max(1);
    let builder = CuckooMap::builder().capacity(capacity).layout(layout);
    let built = hashers::identity(builder).seed(11).kernel(kernel).build();
    Some(built.expect("a small map of a kernel that is available"))
}

/// Batches of these lengths, besides all short ones. The longest ones are several rounds.
const LONG: [usize; 6] = [255, 511, 512, 513, 1_025, 5_000];

/// Numbers of buckets: a single one, versions copied, few copied and more gathered, buckets
/// prefetched.
const BUCKETS: [usize; 4] = [1, 101, 20_000, 80_000];

#[test]
fn every_kernel_gives_the_values_of_single_lookups() {
    for slots in 2..=6 {
        for value_bits in 0..=16 {
            for buckets in BUCKETS {
                // Large tables differ in how they are looked up, not in their slots.
                let is_small = buckets < scaled(1_000, 10_000);
                if is_small || (slots, value_bits) == (4, 8) {
                    same_answers((slots, value_bits), buckets);
                }
            }
        }
    }
}

/// Compares the answers of all kernels with those of single lookups.
fn same_answers(form: (u32, u32), buckets: usize) {
    for kernel in kernels() {
        let Some(map) = map(form, buckets, kernel) else { return };
        let mut rng = rng(buckets as u64);
        let present: Vec<u64> = (0..map.capacity().max(1)).map(|_| rng.random()).collect();
        let values = u16::MAX >> (16 - form.1.max(1)) & if form.1 == 0 { 0 } else { u16::MAX };
        // Twice with different values, where there is room: a lookup returns one of them.
        for item in present.iter().chain(&present[..present.len() / 3]) {
            let _ = map.insert(item, rng.random::<u16>() & values);
        }
        let items: Vec<u64> = (0..6_000)
            .map(|number| match number % 3 {
                0 => rng.random(),
                _ => present[rng.random_range(..present.len())],
            })
            .collect();
        let expected: Vec<Option<u16>> = items.iter().map(|item| map.get(item)).collect();
        assert!(expected.iter().flatten().count() > 0, "{form:?}, {buckets} buckets");
        let mut start = 0;
        for len in (0..=130).chain(LONG) {
            start = (start + 131) % (items.len() - len + 1);
            compare(&map, &items[start..start + len], &expected[start..start + len]);
        }
    }
}

/// Looks up a batch in every way, into answers of either value with one more at each end.
fn compare(map: &CuckooMap<Part>, items: &[u64], expected: &[Option<u16>]) {
    let len = items.len();
    let what = || format!("{:?}, {:?}, {map:?}, {len}", map.kernel(), map.layout());
    let present = expected.iter().flatten().count();
    for unset in [None, Some(0xaaaa)] {
        for by_hash in [false, true] {
            let mut all = vec![unset; len + 2];
            let answers = &mut all[1..=len];
            let count = if by_hash {
                map.get_batch(Hashed::slice(items), answers)
            } else {
                map.get_batch(items, answers)
            };
            assert!(*answers == *expected, "{}: {answers:?}, not {expected:?}", what());
            assert_eq!(count, present, "{}", what());
            assert!(all[0] == unset && all[len + 1] == unset, "{}", what());
        }
    }
    let numbers: Vec<u16> = expected.iter().map(|value| value.unwrap_or(0)).collect();
    for unset in [0, 0xaaaa] {
        let (mut values, mut flags) = (vec![unset; len + 2], vec![unset != 0; len + 2]);
        let count = map.get_batch_into(items, &mut values[1..=len], &mut flags[1..=len]);
        let is_found = |place: usize| expected[place].is_some() == flags[place + 1];
        assert!(count == present && (0..len).all(is_found), "{}: {flags:?}", what());
        assert!(values[1..=len] == numbers, "{}: {values:?}, not {expected:?}", what());
        assert!(values[0] == unset && values[len + 1] == unset, "{}", what());
        assert!(flags[0] == (unset != 0) && flags[len + 1] == flags[0], "{}", what());
    }
    let mut found = vec![false; len];
    assert_eq!(map.contains_batch(items, &mut found), present, "{}", what());
    let is_right = |(value, &is_found): (&Option<u16>, &bool)| value.is_some() == is_found;
    assert!(expected.iter().zip(&found).all(is_right), "{}", what());
    if len <= 64 {
        let bits = expected.iter().enumerate();
        let mask = bits.fold(0, |mask, (place, value)| mask | u64::from(value.is_some()) << place);
        assert_eq!(map.contains_mask(items), mask, "{}", what());
        for unset in [0, 0xaaaa] {
            let mut values = vec![unset; len + 2];
            assert_eq!(map.get_mask(items, &mut values[1..=len]), mask, "{}", what());
            assert!(values[1..=len] == numbers, "{}: {values:?}, not {expected:?}", what());
            assert!(values[0] == unset && values[len + 1] == unset, "{}", what());
        }
    }
}

/// Items that are relocated or get another value all the time are found by every batch, with a
/// value that they have had.
#[test]
fn no_kernel_misses_an_item_beside_writers() {
    let _watchdog = Watchdog::new("no_kernel_misses_an_item_beside_writers");
    for buckets in [16, 20_000, 80_000] {
        for kernel in kernels() {
            beside_writers(&map((4, 4), buckets, kernel).expect("a layout"));
        }
    }
}

/// The values that an item has in turn.
fn values(item: u64) -> [u16; 2] {
    [(item % 8) as u16, (item % 8) as u16 + 8]
}

fn beside_writers(map: &CuckooMap<Part>) {
    let rounds = scaled(100, 300);
    let mut rng = rng(map.slots() as u64);
    let items: Vec<u64> = (0..map.capacity() / 2).map(|_| rng.random()).collect();
    for item in &items {
        map.insert(item, values(*item)[0]).expect("half of the room");
    }
    // Aliases may have each other's values.
    let is_alone = |item: &&u64| map.count(*item) == 1;
    let alone: Vec<u64> = items.iter().filter(is_alone).copied().take(1_100).collect();
    let others: Vec<u64> = (0..map.capacity() / 2).map(|_| rng.random()).collect();
    let is_foreign = |item: &u64| others.iter().take(2_000).any(|other| other == item);
    assert!(!alone.is_empty() && !alone.iter().any(is_foreign));
    let (stop, turns) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let _stop = StopOnPanic(&stop);
            while !stop.load(Acquire) {
                // Inserts into a nearly full map relocate, and values are replaced.
                let few: Vec<_> = others
                    .iter()
                    .take(2_000)
                    .take_while(|other| map.insert(*other, 0).is_ok())
                    .collect();
                for (from, to) in [(0, 1), (1, 0)] {
                    for item in &alone {
                        let values = values(*item);
                        assert!(map.replace(item, values[from], values[to]), "{item} is missing");
                    }
                }
                for other in few {
                    assert!(map.remove(other, 0), "{other}");
                }
                turns.fetch_add(1, Relaxed);
            }
        });
        let reader = scope.spawn(|| {
            let _stop = StopOnPanic(&stop);
            let mut done = 0;
            while !stop.load(Acquire) && (done < rounds || turns.load(Relaxed) < 5) {
                for len in [6, 13, 64, 65, 200, 1_100] {
                    let batch = &alone[..len.min(alone.len())];
                    let mut found = vec![None; batch.len()];
                    assert_eq!(map.get_batch(batch, &mut found), batch.len(), "false negative");
                    for (item, value) in batch.iter().zip(found) {
                        let value = value.expect("false negative");
                        // An alias among the others has the value zero.
                        assert!(values(*item).contains(&value) || value == 0, "{item}: {value}");
                    }
                }
                done += 1;
            }
            stop.store(true, Release);
        });
        reader.join().expect("no false negative");
        writer.join().expect("no item is lost");
    });
}
