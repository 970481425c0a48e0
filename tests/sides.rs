//! Addresses in a table that grows: from hashes to sides, from one side to the other, and from
//! sides to buckets at every size.

mod common;

use common::{for_every_growing_layout, rng, scaled};
use guira::raw::{Code, GrowingAddressing, Item, Leveled, Place, Side, Size};
use rand::RngExt;

const MAX_LEVEL: u32 = 15;
/// Largest number of buckets.
const MAX_BUCKETS: u64 = 1 << 32;

/// Numbers of first buckets: odd ones, and such that there are more than 2^32 slots, or one bucket
/// fewer than at most.
const FIRST: [u64; 11] = [
    1,
    2,
    3,
    7,
    256,
    1_000,
    (1 << 17) - 1,
    1 << 17,
    (1 << 30) + 1,
    (1 << 31) + 12_345,
    MAX_BUCKETS - 1,
];

fn addressing(leveled: &Leveled, first: u64) -> GrowingAddressing {
    GrowingAddressing::new(first, *leveled)
}

/// What is left of a side if only so many bits of the extension are known.
fn forget(side: Side, known: u32) -> Side {
    let Side { start, code: Code { core, extension } } = side;
    assert!(known <= extension.ilog2());
    let extension = extension & ((1 << known) - 1) | 1 << known;
    Side { start, code: Code { core, extension } }
}

/// Some sizes of a table of this many first buckets: the begin, the end and two places within each
/// round, as far as it has rounds; and all sizes of small tables.
fn sizes(first: u64) -> Vec<Size> {
    let mut sizes = Vec::new();
    for level in 0..=MAX_LEVEL {
        let round = first << level;
        let small = if round <= 64 { 2..round - 1 } else { 0..0 };
        for split in [0, 1, round / 3, round - 1].into_iter().chain(small) {
            let fits = split < round && round + split <= MAX_BUCKETS;
            if fits && (level < MAX_LEVEL || split == 0) {
                sizes.push(Size { level, split });
            }
        }
    }
    sizes
}

/// The place of a side, by the rule alone: each split that has happened sends the side on by the
/// next bit.
fn place_by_rule(first: u64, side: Side, size: Size) -> Place {
    let (mut bucket, mut level) = (u64::from(side.start), 0);
    let is_split =
        |bucket: u64, level: u32| level < size.level || level == size.level && bucket < size.split;
    while is_split(bucket, level) {
        bucket += (first << level) * (side.code.extension >> level & 1);
        level += 1;
    }
    Place { bucket: u32::try_from(bucket).expect("at most 2^32 buckets"), level }
}

/// The sides of an item lead to each other, as far as they are known, and to the same stripe.
fn sides_lead_to_each_other(leveled: &Leveled) {
    for first in FIRST {
        let (addressing, mut rng) = (addressing(leveled, first), rng(first));
        assert_eq!(addressing.first(), first);
        for _ in 0..scaled(500, 20_000) {
            let Item { sides } = addressing.item(rng.random());
            let [one, other] = sides;
            assert!(sides.iter().all(|side| u64::from(side.start) < first));
            assert_eq!(one.code.core, other.code.core);
            assert!(sides.iter().all(|side| side.code.known() == leveled.extension));
            for known in 0..=leveled.extension {
                let [one, other] = [one, other].map(|side| forget(side, known));
                assert_eq!(
                    [addressing.other(one), addressing.other(other)],
                    [other, one],
                    "{known} bits"
                );
            }
            let stripe = |starts| addressing.stripe(one.code.core, starts);
            assert_eq!(stripe([one.start, other.start]), stripe([other.start, one.start]));
        }
    }
}

#[test]
fn each_side_leads_to_the_other_one() {
    for_every_growing_layout!(sides_lead_to_each_other());
}

/// The place of a side is the one that splits lead to, at every size. If it is not known far
/// enough, there is none.
fn places_follow_splits(leveled: &Leveled) {
    for first in FIRST {
        let (addressing, mut rng) = (addressing(leveled, first), rng(first));
        for size in sizes(first) {
            let buckets = addressing.buckets(size);
            assert_eq!(buckets, (first << size.level) + size.split);
            for _ in 0..scaled(50, 2_000) {
                let Item { sides } = addressing.item(rng.random());
                for side in sides {
                    let place = addressing.place_of_item(side, size);
                    assert_eq!(place, place_by_rule(first, side, size), "{first}, {size:?}");
                    assert!(u64::from(place.bucket) < buckets);
                    for known in 0..=leveled.extension {
                        let expected = (known >= place.level).then_some(place);
                        let found = addressing.place(forget(side, known), size);
                        assert_eq!(found, expected, "{known} bits, {size:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn places_are_those_that_splits_lead_to() {
    for_every_growing_layout!(places_follow_splits());
}

/// The child of the next bucket to be split is the next bucket of the array, so no two buckets have
/// one child.
#[test]
fn children_are_added_at_the_end() {
    for first in FIRST {
        let addressing = addressing(&Leveled::new(4, 7, 0), first);
        let all = 0..(first << MAX_LEVEL).min(MAX_BUCKETS) - first;
        let step = (all.end / 10_000).max(1) as usize;
        for added in all.step_by(step) {
            let level = ((first + added) / first).ilog2();
            let split = first + added - (first << level);
            let size = Size { level, split };
            assert_eq!(addressing.buckets(size), first + added);
            let child =
                addressing.child(u32::try_from(split).expect("a number of a bucket"), level);
            assert_eq!(u64::from(child), first + added, "{first}, {size:?}");
        }
    }
}

/// Core, first bucket and extension do not determine each other: in a million items, each
/// combination of some bits of all three is as frequent as the others, on both sides. The hashes
/// are fixed, so the counts are the same in every run.
fn parts_are_independent(leveled: &Leveled) {
    let items = scaled(1_u64 << 18, 1 << 21);
    // Few first buckets, which takes few bits of the fraction, and many, for which the extension
    // gets fewer bits of the product.
    for first in [256, 1_000, 1 << 17] {
        let addressing = addressing(leveled, first);
        // The lowest bits of the extension choose the half of the first splits, and the highest
        // are the last of the tail.
        for shift in [0, 7, leveled.extension - 3] {
            let mut counts = [[0_u32; 8 * 8 * 8]; 2];
            for key in 0..items {
                let item = addressing.item(guira::raw::mix(key, 42));
                for (counts, side) in counts.iter_mut().zip(item.sides) {
                    let core = side.code.core as usize & 7;
                    let start = (u64::from(side.start) * 8 / first) as usize;
                    let extension = (side.code.extension >> shift) as usize & 7;
                    counts[core << 6 | start << 3 | extension] += 1;
                }
            }
            let mean = items as f64 / 512.0;
            let most = 6.0 * mean.sqrt();
            for (side, counts) in counts.iter().enumerate() {
                let worst = counts.iter().map(|&count| (f64::from(count) - mean).abs());
                let worst = worst.fold(0.0, f64::max);
                assert!(worst < most, "{first}, side {side}, bits from {shift}: {worst} of {mean}");
            }
        }
    }
}

#[test]
fn core_start_and_extension_are_independent() {
    for_every_growing_layout!(parts_are_independent());
}

/// What the cores add to the other side differs: at each split about half of the cores send the
/// other side to the other half, and no two splits agree about them.
fn cores_scatter(leveled: &Leveled) {
    let first = 1 << 16;
    let addressing = addressing(leveled, first);
    let others: Vec<Side> = (0..1 << leveled.core)
        .map(|core| {
            let code = Code { core, extension: 1 << leveled.extension };
            addressing.other(Side { start: 0, code })
        })
        .collect();
    let cores = others.len();
    let range = cores / 4..=cores * 3 / 4;
    for bit in 0..MAX_LEVEL {
        let has = |side: &&Side, bit: u32| side.code.extension >> bit & 1 == 1;
        let count = others.iter().filter(|side| has(side, bit)).count();
        assert!(range.contains(&count), "bit {bit} in {count} of {cores}");
        for other in 0..bit {
            let same = others.iter().filter(|side| has(side, bit) == has(side, other)).count();
            assert!(range.contains(&same), "bits {bit} and {other} in {same} of {cores}");
        }
    }
    // Sixteen parts of the buckets at level 0.
    let mut parts = [0; 16];
    for side in &others {
        parts[side.start as usize >> 12] += 1;
    }
    assert!(parts.iter().all(|&part| part > 0 && part <= cores / 4), "{parts:?}");
    // No two cores lead to the same place.
    let mut places: Vec<(u32, u64)> =
        others.iter().map(|side| (side.start, side.code.extension)).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), cores);
}

#[test]
fn cores_send_the_other_side_everywhere() {
    for_every_growing_layout!(cores_scatter());
}
