//! The search for an empty slot, in tables constructed for it.

mod common;

use std::cell::RefCell;

use common::{for_every_layout, rng};
use guira::raw::{Addressing, BucketLayout, Fingerprint, Pair, Plain, Progress, Search};
use rand::RngExt;

/// A word full of copies of one fingerprint.
fn full_of<L: BucketLayout>(fingerprint: Fingerprint) -> u64 {
    (0..L::SLOTS).fold(0, |word, _| L::with(word, fingerprint).expect("an empty slot"))
}

/// The copies of two items fill both buckets of each, and a third item has one bucket of each. Only
/// these four buckets are within reach. A search that visited them again and again would exhaust
/// its limit on them.
fn copies_are_deduplicated<L: BucketLayout>(buckets: u64, max_reads: usize) {
    let addressing = Addressing::new(buckets);
    let mut rng = rng(u64::from(L::BITS));
    let items = [0, 1].map(|_| addressing.pair::<L>(rng.random()));
    let words: Vec<(u32, u64)> = items
        .iter()
        .flat_map(|item| item.buckets.map(|bucket| (bucket, full_of::<L>(item.fingerprint))))
        .collect();
    let reads = RefCell::new(Vec::new());
    let read = |bucket| {
        reads.borrow_mut().push(bucket);
        words.iter().find(|(known, _)| *known == bucket).expect("a bucket within reach").1
    };
    let mut search = <Search>::default();
    search.start(&addressing, items.map(|item| item.buckets[0]));
    let outcome = loop {
        match search.step::<L>(&addressing, 1, read, |_| {}) {
            Progress::Prefetched => {}
            outcome => break outcome,
        }
    };
    assert_eq!(outcome, Progress::Exhausted);
    let reads = reads.into_inner();
    assert!(reads.len() <= max_reads, "the search read {} buckets of four", reads.len());
    assert!(items.iter().flat_map(|item| item.buckets).all(|bucket| reads.contains(&bucket)));
}

#[test]
fn copies_do_not_exhaust_a_search() {
    for_every_layout!(copies_are_deduplicated(1_000, 4));
    // In a large table the first 256 visits are not deduplicated.
    for_every_layout!(copies_are_deduplicated(1 << 20, 256 + 2 * 8));
}

/// The moves lead from a bucket with an empty slot back to one of the pair's buckets.
#[test]
fn moves_begin_at_the_empty_slot() {
    type L = Plain<4, 16>;
    let addressing = Addressing::new(1_000);
    let mut rng = rng(9);
    let root: Pair = addressing.pair::<L>(rng.random());
    // Every bucket is full of fingerprints of its own, except one that is two moves away.
    let full = |bucket: u32| {
        let fingerprint = |slot| Fingerprint::new(1 + bucket * 4 + slot);
        (0..4).fold(0, |word, slot| L::with(word, fingerprint(slot)).expect("an empty slot"))
    };
    let follow = |bucket: u32, slot: usize| {
        let fingerprint = L::fingerprints(full(bucket)).nth(slot).expect("an occupied slot");
        addressing.alt_bucket(fingerprint, bucket)
    };
    let empty = follow(follow(root.buckets[1], 2), 3);
    let read = |bucket| if bucket == empty { 0 } else { full(bucket) };
    let mut search = <Search>::default();
    search.start(&addressing, root.buckets);
    while search.step::<L>(&addressing, 1, read, |_| {}) == Progress::Prefetched {}
    let moves: Vec<_> = search.moves::<L>().collect();
    let [first, last] = moves[..] else { panic!("two moves, not {moves:?}") };
    assert!(!L::is_full(read(first.to)), "the first move goes to an empty slot");
    assert_eq!(first.from, last.to, "the second move fills the slot that the first one empties");
    assert!(root.buckets.contains(&last.from), "the last move leaves one of the pair's buckets");
    for step in moves {
        assert_eq!(addressing.alt_bucket(step.fingerprint, step.from), step.to);
        assert!(L::contains(read(step.from), L::pattern(step.fingerprint)));
    }
}
