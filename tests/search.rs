//! The search for a free lane, in worlds made for it.

mod common;

use std::cell::RefCell;

use common::{for_every_layout, rng};
use guira::raw::{Addressing, BucketLayout, Fingerprint, Progress, Search};
use rand::RngExt;

/// A word with nothing but copies of a fingerprint.
fn full_of<L: BucketLayout>(fingerprint: Fingerprint) -> u64 {
    (0..L::SLOTS).fold(0, |word, _| L::with(word, fingerprint).expect("a lane is free"))
}

/// Two items fill their buckets with copies, and another has one bucket of each: nothing can be moved, and
/// only four buckets are within reach. A search that met them again and again would use itself up.
fn copies_are_seen_through<L: BucketLayout>(buckets: u64, most: usize) {
    let geometry = Addressing::new(buckets);
    let mut rng = rng(u64::from(L::BITS));
    let items = [0, 1].map(|_| geometry.pair::<L>(rng.random()));
    let words: Vec<(u32, u64)> = items
        .iter()
        .flat_map(|item| item.buckets.map(|bucket| (bucket, full_of::<L>(item.fingerprint))))
        .collect();
    let read = RefCell::new(Vec::new());
    let look = |bucket| {
        read.borrow_mut().push(bucket);
        words.iter().find(|(known, _)| *known == bucket).expect("a bucket within reach").1
    };
    let mut search = Search::default();
    search.start(&geometry, items.map(|item| item.buckets[0]));
    while search.step::<L>(&geometry, 1, look, |_| {}) == Progress::Asked {}
    let read = read.into_inner();
    assert!(read.len() <= most, "{} buckets read to see that none has room", read.len());
    assert!(items.iter().flat_map(|item| item.buckets).all(|bucket| read.contains(&bucket)));
}

#[test]
fn copies_do_not_use_a_search_up() {
    for_every_layout!(copies_are_seen_through(1_000, 4));
    // In a large table the first ones may come again.
    for_every_layout!(copies_are_seen_through(1 << 20, 256 + 2 * 8));
}
