//! Operations that hold all stripes of a growing filter: it is cleared, or cloned, beside others.

use guira::{
    Layout,
    raw::{Addressing, Chain, Nested},
};
use guira_loom_tests::check;
use loom::{sync::Arc, thread};

/// The layout of the segments, with few slots.
const LAYOUT: Layout =
    if cfg!(feature = "semi-sorted") { Layout::SemiSorted3x22 } else { Layout::Plain4x16 };
/// Fingerprints in the first segment.
const FINGERPRINTS: u32 = 64;

/// The addressing of a segment: the first one has one bucket, the second one two.
fn addressing(level: u32) -> Addressing<Nested> {
    Addressing::nested(1, Nested::new(level, (16, FINGERPRINTS), level))
}

/// An empty chain of up to two segments.
fn chain() -> Arc<Chain> {
    let plan = (0..2).map(|level| (LAYOUT, addressing(level))).collect();
    Arc::new(Chain::new(plan, false).expect("memory for a few words"))
}

/// Runs one thread of a model.
fn spawn<R: 'static>(
    chain: &Arc<Chain>,
    work: impl FnOnce(&Chain) -> R + 'static,
) -> thread::JoinHandle<R> {
    let chain = chain.clone();
    thread::spawn(move || work(&chain))
}

/// The item with this fingerprint in the first segment, from either of its buckets in the second.
fn item(fingerprint: u32) -> [u64; 2] {
    [0, 1].map(|bucket| bucket << 63 | u64::from(fingerprint) << 26)
}

/// The first item that has both buckets of the second segment.
fn item_with_two_buckets() -> [u64; 2] {
    let has_both = |item: &[u64; 2]| {
        let [first, second] = addressing(1).pair(item[0]).buckets;
        first != second
    };
    (LAYOUT.slots_per_bucket()..FINGERPRINTS).map(item).find(has_both).expect("every second one")
}

/// The items that fill the first segment.
fn fillers() -> impl Iterator<Item = u64> {
    (0..LAYOUT.slots_per_bucket()).map(|nth| item(nth)[0])
}

/// A chain whose first segment is full.
fn full_chain() -> Arc<Chain> {
    let chain = chain();
    fillers().for_each(|item| chain.insert(item).expect("an empty slot"));
    assert_eq!(chain.layouts().len(), 1);
    chain
}

/// The items of all segments are cleared, except one whose insert overlaps the clear and appends a
/// segment.
#[test]
fn clear_beside_an_insert_that_appends() {
    check("chain_clear_append", 54, &["kept", "cleared"], |seen| {
        let chain = full_chain();
        let [new, _] = item_with_two_buckets();
        let clearer = spawn(&chain, Chain::clear);
        chain.insert(new).expect("an empty slot, or another segment");
        let cleared = clearer.join().unwrap();
        let left = chain.count(new);
        seen.note_if(left == 1, "kept", "cleared");
        assert_eq!(cleared + left as u64, fillers().count() as u64 + 1);
        assert!(fillers().all(|item| chain.count(item) == 0), "left behind");
    });
}

/// Copies in two segments are counted beside a clear: all of them, or none.
#[test]
fn clear_beside_a_count() {
    check("chain_clear_count", 5, &["all", "none"], |seen| {
        let chain = full_chain();
        let twice = item(0)[0];
        chain.insert(twice).expect("another segment");
        assert_eq!((chain.count(twice), chain.layouts().len()), (2, 2));
        let clearer = spawn(&chain, Chain::clear);
        let copies = chain.count(twice);
        assert!([0, 2].contains(&copies), "{copies} copies");
        seen.note_if(copies == 2, "all", "none");
        assert_eq!(clearer.join().unwrap(), fillers().count() as u64 + 1);
    });
}

/// A clone beside the insert of an alias and the removal of a copy, in the second segment.
#[test]
fn clone_beside_an_alias_inserted_and_a_copy_removed() {
    check("chain_clone_alias", 92, &["1", "2"], |seen| {
        let chain = full_chain();
        let [item, reversed] = item_with_two_buckets();
        chain.insert(item).expect("another segment");
        let writer = spawn(&chain, move |chain| {
            // Into the other bucket; then the copy in the first one is removed, and vice versa.
            for item in [item, reversed] {
                chain.insert(item).expect("an empty slot");
                assert!(chain.remove(item));
            }
        });
        let (clone, occupied) = chain.try_clone().expect("memory for a few words");
        writer.join().unwrap();
        let copies = clone.count(item);
        assert!((1..=2).contains(&copies), "{copies} copies");
        seen.note_if(copies == 1, "1", "2");
        assert_eq!(occupied, (fillers().count() + copies) as u64);
        assert!(fillers().all(|item| clone.count(item) == 1), "lost or doubled");
    });
}

/// A clone beside an insert that appends a segment: whether the clone has the item or not, it counts
/// its slots.
#[test]
fn clone_beside_an_insert_that_appends() {
    check("chain_clone_append", 650, &["in the clone", "not in it"], |seen| {
        let chain = full_chain();
        let [new, _] = item_with_two_buckets();
        let cloner = spawn(&chain, |chain| chain.try_clone().expect("memory for a few words"));
        chain.insert(new).expect("another segment");
        let (clone, occupied) = cloner.join().unwrap();
        let copies = clone.count(new);
        seen.note_if(copies == 1, "in the clone", "not in it");
        assert_eq!(occupied, (fillers().count() + copies) as u64);
        assert!(fillers().all(|item| clone.count(item) == 1), "lost or doubled");
    });
}
