//! The statistics are exact, and under load relocations and retries are few. Only with the feature
//! `stats`.
#![cfg(feature = "stats")]

mod common;

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use common::{Subject, rng, scaled};
use guira::{CuckooFilter, CuckooMap, Filter, GrowingFilter, Layout, kind::Set};
use rand::RngExt;

/// The sum of a histogram.
fn all(histogram: [u64; 16]) -> u64 {
    histogram.iter().sum()
}

/// The sum of all values in a histogram whose last place is empty.
fn weighted(histogram: [u64; 16]) -> u64 {
    assert_eq!(histogram[15], 0);
    histogram.iter().zip(0..).map(|(number, relocations)| number * relocations).sum()
}

#[test]
fn one_thread_retries_nothing_and_every_relocation_belongs_to_an_insert() {
    for &layout in Layout::ALL {
        let capacity = scaled(2_000, 50_000);
        let filter = CuckooFilter::builder().capacity(capacity).layout(layout).seed(1);
        let filter = filter.build().unwrap();
        let (singly, in_batches) = (capacity as u64 / 2, capacity as u64);
        for key in 0..singly {
            filter.insert(&key).unwrap();
        }
        filter.insert_batch(singly..in_batches - 10).unwrap();
        for key in in_batches - 10..in_batches {
            // Aliases are found in place of a few keys.
            let _ = filter.insert_unique(&key).unwrap();
        }
        let stats = filter.stats();
        assert_eq!(stats.inserts, filter.len() as u64, "{layout:?}");
        assert_eq!(all(stats.relocations_per_insert), stats.inserts);
        assert_eq!(weighted(stats.relocations_per_insert), stats.relocations);
        assert!(stats.relocations > stats.inserts / 100, "{layout:?}: {stats:?}");
        assert!(weighted(stats.path_lengths) >= stats.relocations);
        assert_eq!((stats.lookup_retries, stats.lock_waits, stats.failed_searches), (0, 0, 0));
        assert!((0..in_batches).all(|key| filter.contains(&key)));
        // In plain layouts, neither hits nor misses retry.
        let found = (0..in_batches).filter(|key| filter.contains(&(key, 'x'))).count();
        assert!(found < capacity / 8);
        assert!(layout.is_semi_sorted() || filter.stats().lookup_retries == 0);
    }
}

#[test]
fn a_full_filter_counts_its_failed_searches() {
    let filter = CuckooFilter::builder().capacity(100).seed(2).build().unwrap();
    let refused = (0..1_000).filter(|key| filter.insert(key).is_err()).count() as u64;
    let stats = filter.stats();
    assert_eq!((stats.failed_searches, stats.inserts), (refused, 1_000 - refused));
    assert!(format!("{filter:?}").contains(&format!("failed_searches: {refused}")));
}

#[test]
fn a_growing_filter_counts_while_it_grows() {
    let filter = GrowingFilter::builder().capacity(100).seed(1).build().unwrap();
    filter.insert_batch(0..10_000).unwrap();
    let stats = filter.stats();
    assert_eq!((stats.inserts, all(stats.relocations_per_insert)), (10_000, 10_000));
    // A search of a table that grows hardly ever fails.
    assert!(stats.relocations > 0);
    assert!(format!("{filter:?}").contains("relocations_per_insert: ["));
}

/// Churn at 95 % load by two writers beside two readers: few lookups retry, and an insert relocates
/// one item or two.
#[test]
fn relocations_and_retries_are_few_under_load() {
    let slots = scaled(20_000, 1_000_000_u64);
    let filter = CuckooFilter::builder().capacity((slots * 96 / 100) as usize).seed(3);
    let filter = filter.build().unwrap();
    // Even, so that a writer never removes what the other one inserts.
    let live = filter.slots() as u64 * 95 / 200 * 2;
    filter.insert_batch(0..live).unwrap();
    let before = filter.stats();
    let (done, rounds) = (AtomicBool::new(false), scaled(20_000, 300_000_u64));
    let lookups: u64 = thread::scope(|scope| {
        let readers = [1, 2].map(|seed| {
            let (filter, done) = (&filter, &done);
            scope.spawn(move || {
                let (mut rng, mut lookups) = (rng(seed), 0);
                while !done.load(Relaxed) || lookups < 10_000 {
                    // Half of them absent: only misses retry.
                    let _ = filter.contains(&rng.random_range(0..2 * live));
                    lookups += 1;
                }
                lookups
            })
        });
        let writers = [0, 1].map(|writer| {
            let filter = &filter;
            // Each owns half of the keys.
            scope.spawn(move || {
                for round in 0..rounds {
                    let key = 2 * round + writer;
                    assert!(
                        filter.remove(&(if key < live { key } else { key - live + (4 << 40) }))
                    );
                    filter.insert(&(key + (4 << 40))).unwrap();
                }
            })
        });
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Relaxed);
        readers.map(|reader| reader.join().unwrap()).iter().sum()
    });
    let stats = filter.stats();
    let inserts = (stats.inserts - before.inserts) as f64;
    assert!((inserts - (2 * rounds) as f64).abs() < 0.5);
    let relocations = (stats.relocations - before.relocations) as f64 / inserts;
    assert!((0.1..2.0).contains(&relocations), "{relocations} relocations per insert");
    let retries = stats.lookup_retries as f64 / lookups as f64;
    assert!(retries < 0.01, "{retries} retries per lookup");
    let waits = stats.lock_waits as f64 / (inserts * (2.0 + relocations));
    assert!(waits < 0.02, "{waits} waits per lock");
}

/// The statistics of a clone start at zero, and a clear keeps those of the filter.
#[test]
fn a_clone_has_statistics_of_its_own() {
    fn check<E: Subject>(filter: &Filter<Set, E>) {
        filter.insert_batch(0..100).unwrap();
        let copy = filter.clone();
        assert_eq!((copy.stats().inserts, copy.len()), (0, 100));
        copy.insert(&0).unwrap();
        filter.clear();
        assert_eq!((copy.stats().inserts, filter.stats().inserts), (1, 100));
    }
    check(&CuckooFilter::builder().capacity(1_000).seed(1).build().unwrap());
    check(&GrowingFilter::builder().capacity(10).seed(1).build().unwrap());
}

/// A map counts as a set does.
#[test]
fn a_map_counts_inserts_and_no_replacements() {
    let map = CuckooMap::builder().capacity(1_000).seed(1).build().expect("small");
    for key in 0..900 {
        map.insert(&key, 1).expect("room");
    }
    for key in 900..1_000 {
        assert!(map.insert_unique(&key, 2).is_ok());
    }
    let inserts = map.stats().inserts;
    assert_eq!(inserts as usize, map.len());
    assert!(map.replace(&0, 1, 3));
    assert_eq!(map.stats().inserts, inserts, "a replacement is no insert");
}
