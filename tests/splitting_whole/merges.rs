//! Merging tables of any two sizes.

use super::*;

/// The largest number of slots of a word that match an item.
fn count<L: GrowingLayout>(table: &GrowingTable, key: u64) -> usize {
    table.count::<L>(&item::<L>(table, key))
}

fn merges<L: GrowingLayout>(sizes: &[u64]) {
    for first in FIRST {
        for (&here, &there) in
            sizes.iter().flat_map(|here| sizes.iter().map(move |there| (here, there)))
        {
            let mut pair = Pair::<L>::with_ahead(first, 0..here);
            let other = Pair::<L>::with_ahead(first, 1_000_000..1_000_000 + there);
            let before = (pair.table.grown(), pair.occupied());
            let merged = pair.table.merge::<L>(&other.table, None);
            if merged.outcome.is_err() {
                // It is as before, apart from splits.
                assert_eq!(merged.change, 0);
                pair.check();
                assert!(first < 10, "{:?}, {here} and {there}", merged.outcome);
            } else {
                assert_eq!(merged.change, other.keys.len() as i64);
                pair.keys.extend(&other.keys);
                pair.check();
                // No ghost is lost.
                let ghosts = pair.table.grown().ghosts;
                assert!(ghosts >= before.0.ghosts + other.table.grown().ghosts);
            }
            // It grows on.
            for key in 2_000_000..2_000_200 {
                pair.insert(key);
            }
            pair.drain();
            other.check();
        }
    }
}

#[test]
fn tables_of_any_two_sizes_are_merged() {
    merges::<Slots5>(&[0, 10, 1_000]);
    merges::<Slots4>(&[10, 700]);
    merges::<Slots3>(&[10, 700]);
    merges::<Slots2>(&[10, 700]);
}

/// From one bucket to thousands and back: slots that know few bits go into many buckets.
#[test]
fn a_small_table_is_merged_into_a_large_one_in_halves() {
    let mut pair = Pair::<Slots5>::with(2, 0..6_000);
    let small = Pair::<Slots5>::with(2, 1_000_000..1_000_009);
    let ghosts = pair.table.grown().ghosts;
    let merged = pair.table.merge::<Slots5>(&small.table, None);
    assert!(merged.outcome.is_ok());
    // They know 5 bits at level 0, or 6 at level 1, and the buckets are at level 10 or so.
    let level = pair.table.size().level;
    assert!(level >= 9, "{level}");
    let added = pair.table.grown().ghosts - ghosts;
    assert!(added > 9 * 8, "{added} ghosts");
    pair.keys.extend(&small.keys);
    pair.check();
    pair.drain();
    assert!(pair.table.grown().ghosts > 9 * 8);
}

/// Merging a table with itself doubles every count.
#[test]
fn a_table_is_merged_with_itself() {
    let mut pair = Pair::<Slots4>::with_ahead(3, 0..1_000);
    let counts: Vec<_> = (0..1_000).map(|key| count::<Slots4>(&pair.table, key)).collect();
    let merged = pair.table.merge::<Slots4>(&pair.table, None);
    assert!(merged.outcome.is_ok());
    for (key, count_before) in (0..1_000).zip(counts) {
        assert!(count::<Slots4>(&pair.table, key) >= 2 * count_before, "{key}");
    }
    pair.keys.extend_from_within(..);
    pair.check();
    pair.drain();
}

/// A merge that is refused at any point leaves the items, their number, and no ghosts of its own.
fn refusals<L: GrowingLayout>(first: u64, doublings: u32, here: u64, there: u64) {
    let mut refused = 0;
    for seed in 0..6 {
        let other = Pair::<L>::with(first, 1_000_000..1_000_000 + there + seed);
        let mut pair = Pair::<L>::of(new::<L>(first, first << doublings, 64));
        let mut random = Random(seed);
        for key in 0..here {
            pair.insert(key);
            if random.below(5) == 0 {
                pair.remove(random.below(pair.keys.len()));
            }
        }
        let (ghosts, occupied, splits) =
            (pair.table.grown().ghosts, pair.occupied(), pair.table.in_use());
        let merged = pair.table.merge::<L>(&other.table, None);
        if let Err(refusal) = merged.outcome {
            refused += 1;
            assert_eq!(merged.change, 0);
            let MergeRefusal::Full { fitted, items } = refusal else { panic!("{refusal:?}") };
            assert!(fitted < items && items == other.keys.len() as u64);
            if pair.table.in_use() == splits {
                // Nothing was split: the same slots, perhaps elsewhere.
                assert_eq!((pair.table.grown().ghosts, pair.occupied()), (ghosts, occupied));
            }
            pair.check();
            pair.drain();
        }
    }
    assert!(refused > 3, "{refused} of 6: {first}, {doublings}, {here}, {there}");
}

#[test]
fn a_refused_merge_is_undone() {
    // As many levels, more levels here, so that slots are stored in halves, and fewer.
    refusals::<Slots5>(2, 8, 1_900, 1_200);
    refusals::<Slots5>(2, 8, 3_000, 40);
    refusals::<Slots4>(1, 10, 5_200, 100);
    refusals::<Slots4>(3, 7, 1_200, 1_200);
    refusals::<Slots4>(3, 3, 50, 1_000);
    refusals::<Slots3>(1_000, 1, 4_000, 3_500);
    refusals::<Slots2>(1_000, 1, 2_000, 3_000);
}

/// The limit on copies holds for what the merge adds, as far as it can be told.
#[test]
fn a_merge_keeps_the_limit_on_copies() {
    for (here, there) in [(1_000, 1_000), (3_000, 10), (10, 3_000)] {
        let mut pair = Pair::<Slots3>::with(100, 0..here);
        let other = Pair::<Slots3>::with(100, 0..there);
        let refused = pair.table.merge::<Slots3>(&other.table, Some(1));
        assert_eq!((refused.outcome, refused.change), (Err(MergeRefusal::TooManyCopies), 0));
        pair.check();
        let merged = pair.table.merge::<Slots3>(&other.table, Some(3));
        assert!(merged.outcome.is_ok(), "{:?}", merged.outcome);
        pair.keys.extend(&other.keys);
        pair.check();
        pair.drain();
    }
}
