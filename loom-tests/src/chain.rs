//! Chains of two small segments, and items whose places in them a model chooses.

use guira::{
    Layout,
    raw::{Addressing, Chain, Nested, Plan},
};
use loom::sync::Arc;

/// The layout of the segments: one with few slots per bucket.
pub const LAYOUT: Layout =
    if cfg!(feature = "semi-sorted") { Layout::SemiSorted3x22 } else { Layout::Plain4x16 };
/// Number of fingerprints in the first segment. Each has two extensions in the second one.
const FINGERPRINTS: u32 = 64;
/// The bit of a hash that selects one of the two extensions.
pub const FINER: u64 = 1 << 25;

/// The addressing of a segment: the first one has one bucket.
pub(crate) fn nested(level: u32) -> Addressing<Nested> {
    Addressing::nested(1, Nested::new(level, (16, FINGERPRINTS), level))
}

/// Returns an empty chain of at most this many segments.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn chain(segments: u32) -> Arc<Chain> {
    let plan: Vec<_> = (0..segments).map(|level| (LAYOUT, nested(level))).collect();
    Arc::new(Chain::new(Plan::new(&plan), false).expect("memory for a few words"))
}

/// The hash with this fingerprint in the first segment, and this first bucket in the second.
fn item(fingerprint: u64, bucket: u64) -> u64 {
    bucket << 63 | fingerprint << 26
}

/// Returns the `nth` item of a stripe whose buckets in the second segment differ (`has_both`), or
/// are the same one. The two hashes are aliases that start from bucket 0 and from bucket 1.
///
/// # Panics
/// If there are too few fingerprints.
#[must_use]
pub fn of_stripe(stripe: u32, has_both: bool, nth: usize) -> [u64; 2] {
    let second = nested(1);
    (0..u64::from(FINGERPRINTS))
        .filter(|fingerprint| fingerprint % 2 == u64::from(stripe))
        .map(|fingerprint| [0, 1].map(|bucket| item(fingerprint, bucket)))
        .filter(|&[item, _]| {
            let [one, other] = second.pair(item).buckets;
            (one != other) == has_both
        })
        .nth(nth)
        .expect("enough fingerprints")
}

/// Returns the `nth` item of a stripe that has two buckets in the second segment: see
/// [`of_stripe`].
#[must_use]
pub fn two_places(stripe: u32, nth: usize) -> [u64; 2] {
    of_stripe(stripe, true, nth)
}

/// Returns the `nth` of the items that fill the first segment. They are no aliases of the first
/// three [`two_places`] of each stripe.
///
/// # Panics
/// If there are too few fingerprints.
#[must_use]
pub fn filler(nth: u32) -> u64 {
    let taken: Vec<u64> =
        (0..2).flat_map(|stripe| (0..3).map(move |nth| two_places(stripe, nth)[0] >> 26)).collect();
    let fingerprint =
        (0..u64::from(FINGERPRINTS)).filter(|fp| !taken.contains(fp)).nth(nth as usize);
    item(fingerprint.expect("enough fingerprints"), 0)
}

/// Fills the first segment, apart from this many slots.
///
/// # Panics
/// If the chain is not empty.
pub fn fill(chain: &Chain, apart_from: u32) {
    for nth in 0..LAYOUT.slots_per_bucket() - apart_from {
        chain.insert(filler(nth)).expect("room");
    }
    assert_eq!(chain.layouts().len(), 1);
}

/// Checks that each item of [`fill`] is there once.
///
/// # Panics
/// If it is not.
pub fn assert_filled(chain: &Chain, apart_from: u32) {
    let mut fillers = (0..LAYOUT.slots_per_bucket() - apart_from).map(filler);
    assert!(fillers.all(|item| chain.count(item) == 1), "lost or doubled");
}

/// Returns a chain whose first segment is full and whose second one is empty.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn with_second_segment() -> Arc<Chain> {
    let chain = chain(2);
    fill(&chain, 0);
    let [item, _] = two_places(1, 2);
    chain.insert(item).expect("another segment");
    assert!(chain.remove(item));
    assert_eq!(chain.layouts().len(), 2);
    chain
}

/// Fills both buckets of the second segment, apart from one slot each, with items that have only
/// one bucket. Then adds an item that has both: it takes the slot in its first one.
///
/// # Panics
/// If the second segment is missing, or not empty.
pub fn crowd_second_segment(chain: &Chain, item: u64) {
    for nth in 0..LAYOUT.slots_per_bucket() as usize - 1 {
        for other in of_stripe(0, false, nth) {
            chain.insert(other).expect("room");
        }
    }
    chain.insert(item).expect("a slot");
}
