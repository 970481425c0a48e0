//! Merges into a segment chain that other threads use, and merges that are refused and undone.

use guira::raw::{Chain, MergeRefusal};
use guira_loom_tests::{
    EVERY_WAY,
    chain::{
        FINER, LAYOUT, assert_filled, chain, crowd_second_segment, fill, filler, of_stripe,
        two_places, with_second_segment,
    },
    check, check_shallow, look_up_beside, publish, spawn,
};
use loom::{sync::Arc, thread};

const SLOTS: u32 = LAYOUT.slots_per_bucket();

/// Returns a chain with these items in its second segment, and nothing in its first.
fn second_segment_of(items: &[u64]) -> Arc<Chain> {
    let chain = with_second_segment();
    for &item in items {
        chain.insert(item).expect("room");
    }
    for nth in 0..SLOTS {
        assert!(chain.remove(filler(nth)));
    }
    chain
}

/// Adds as many copies of an item to the second segment as it accepts.
fn insert_up_to_half(chain: &Chain, item: u64) {
    for _ in 0..SLOTS {
        chain.insert(item).expect("half of the slots");
    }
}

/// Merges an item that fits, and then one of which there are too many copies.
///
/// The first one is in bucket 0 of the second segment, and so comes first.
fn refused_merge(target: &Chain, source: &Chain) {
    let merged = target.merge(source, None);
    assert_eq!((merged.change, merged.outcome), (0, Err(MergeRefusal::TooManyCopies)));
}

/// Catches a refused merge that removes a copy from the first segment, where it belongs to an item
/// that is an alias there only.
#[test]
fn removal_of_a_coarse_alias_beside_a_refused_merge() {
    check("growth_merge_coarse_alias", 220, &["both fit", "refused"], |seen| {
        let ([item, _], [_, full]) = (two_places(0, 0), two_places(1, 0));
        let coarse_alias = item | FINER;
        let chain = chain(2);
        fill(&chain, 1);
        chain.insert(coarse_alias).expect("the last slot");
        insert_up_to_half(&chain, full);
        let source = second_segment_of(&[item, full]);
        let remover = spawn(&chain, move |chain| chain.remove(coarse_alias));
        let merger = spawn(&chain, move |chain| chain.merge(&source, None).outcome.is_ok());
        assert!(remover.join().unwrap(), "removed instead of what was added");
        // The slot that becomes empty is enough for the copy that is one too many otherwise.
        let fits = seen.note_if(merger.join().unwrap(), "both fit", "refused");
        let added = usize::from(fits);
        assert_eq!((chain.count(item), chain.count(full)), (added, SLOTS as usize + added));
        assert_filled(&chain, 1);
    });
}

/// Catches a lookup that misses an item while a refused merge adds an alias and removes the item's
/// own copy.
#[test]
fn lookup_beside_a_refused_merge() {
    check_shallow("growth_merge_lookup", 12_800, EVERY_WAY, |seen| {
        let ([item, reversed], [_, full]) = (two_places(1, 0), of_stripe(1, false, 0));
        let chain = with_second_segment();
        // In bucket 0, which is full, and which the reader reads last. The merge adds to bucket 1,
        // and removes from bucket 0.
        chain.insert(item).expect("room");
        for nth in 1..SLOTS as usize {
            chain.insert(of_stripe(0, false, nth)[0]).expect("room");
        }
        for _ in 0..SLOTS.div_ceil(2) {
            chain.insert(full).expect("half of the slots of its bucket");
        }
        let source = second_segment_of(&[item, full]);
        look_up_beside(&chain, seen, reversed, move |chain| {
            refused_merge(chain, &source);
        });
        assert_eq!(chain.count(item), 1);
    });
}

/// Catches a refused merge that removes the same copy as another thread.
#[test]
fn removal_beside_a_refused_merge() {
    check("growth_merge_removal", 100, &["done"], |seen| {
        let ([item, reversed], [_, full]) = (two_places(0, 0), two_places(1, 0));
        let chain = with_second_segment();
        chain.insert(item).expect("room");
        insert_up_to_half(&chain, full);
        let remover = spawn(&chain, move |chain| chain.remove(reversed));
        let source = second_segment_of(&[item, full]);
        let merger = spawn(&chain, move |chain| refused_merge(chain, &source));
        assert!(remover.join().unwrap(), "found nothing to remove");
        merger.join().unwrap();
        assert_eq!((chain.count(item), chain.count(full)), (0, SLOTS as usize));
        seen.note("done");
    });
}

/// Catches a refused merge that removes what was inserted after a `clear` took what it had added.
#[test]
fn refused_merge_beside_a_clear_and_an_insert() {
    check("growth_merge_clear", 1_550, &["1", "2"], |seen| {
        let ([item, reversed], [_, twice]) = (two_places(0, 0), two_places(1, 0));
        let chain = with_second_segment();
        let clearer = spawn(&chain, move |chain| {
            let _ = chain.clear();
            chain.insert(reversed).expect("an empty slot");
        });
        // As in `merge_refused_clear`.
        let merger = spawn(&chain, move |chain| {
            let source = second_segment_of(&[item, twice, twice]);
            chain.merge(&source, Some(1)).outcome
        });
        clearer.join().unwrap();
        let outcome = merger.join().unwrap();
        let left = chain.count(item);
        assert!(left >= 1, "removed instead of its alias: {outcome:?}");
        seen.note(if left == 1 { "1" } else { "2" });
    });
}

/// Catches a merge that loses a segment that it appends, or one that another thread appends.
#[test]
fn append_beside_a_merge_that_appends() {
    check("growth_merge_append", 1_300, &["done"], |seen| {
        let chain = chain(2);
        fill(&chain, 0);
        let ([item, _], [other, _]) = (two_places(0, 0), two_places(1, 0));
        let writer = spawn(&chain, move |chain| chain.insert(other));
        let source = second_segment_of(&[item]);
        assert_eq!(chain.merge(&source, None).outcome, Ok(()));
        assert_eq!(writer.join().unwrap(), Ok(()));
        assert_eq!((chain.count(item), chain.count(other)), (1, 1));
        assert_eq!(chain.layouts().len(), 2);
        assert_filled(&chain, 0);
        seen.note("done");
    });
}

/// Runs a merge of an item that was inserted after a write, and expects a hit to show the write.
fn publishes(name: &str, floor: usize, target: fn() -> Arc<Chain>) {
    check(name, floor, &["hit", "miss"], move |seen| {
        let ([item, _], target) = (two_places(1, 0), target());
        let insert = move |target: &Chain| {
            let source = second_segment_of(&[item]);
            assert_eq!(target.merge(&source, None).outcome, Ok(()));
        };
        publish(&target, seen, insert, |target| target.contains(item));
        assert!(target.contains(item), "lost");
    });
}

/// Catches a merged copy in the finest segment that publishes nothing.
#[test]
fn a_hit_in_the_last_segment_happens_after_the_merge() {
    publishes("growth_merge_publishes", 31, with_second_segment);
}

/// Catches a merged copy in an earlier segment that publishes nothing.
#[test]
fn a_hit_in_the_first_segment_happens_after_the_merge() {
    publishes("growth_merge_publishes_first", 400, || {
        let chain = with_second_segment();
        assert!(chain.remove(filler(0)));
        for nth in 0..SLOTS as usize {
            // Items of one bucket, so that there is nothing to be moved.
            for item in of_stripe(0, false, nth) {
                chain.insert(item).expect("room");
            }
        }
        chain
    });
}

/// Catches merges that hold locks of the other chain: they deadlock. Also catches a merge that
/// leaves out a copy.
#[test]
fn opposite_merges() {
    check("growth_merge_opposite", 140, &["done"], |seen| {
        let items = [two_places(0, 0)[0], two_places(1, 0)[0]];
        let chains = items.map(|item| second_segment_of(&[item]));
        let others = chains.clone();
        let merger = thread::spawn(move || others[0].merge(&others[1], None).outcome);
        assert_eq!(chains[1].merge(&chains[0], None).outcome, Ok(()));
        assert_eq!(merger.join().unwrap(), Ok(()));
        let counts = chains.map(|chain| items.map(|item| chain.count(item)));
        assert!(counts.iter().flatten().all(|count| (1..=2).contains(count)), "{counts:?}");
        assert_eq!((counts[0][1], counts[1][0]), (1, 1));
        seen.note("done");
    });
}

/// Catches a merge that is refused below the limit because a half-done move counts twice.
#[test]
fn limit_not_reached_beside_a_move() {
    check("growth_merge_limit", 650, &["done"], |seen| {
        let chain = with_second_segment();
        let [item, _] = two_places(1, 0);
        crowd_second_segment(&chain, item);
        for nth in 0..SLOTS as usize - 1 {
            assert!(chain.remove(of_stripe(0, false, nth)[1]));
        }
        let mover = spawn(&chain, move |chain| {
            chain.insert(of_stripe(0, false, SLOTS as usize)[0]).expect("room");
        });
        let source = second_segment_of(&[item]);
        assert_eq!(chain.merge(&source, Some(2)).outcome, Ok(()), "there was one copy throughout");
        mover.join().unwrap();
        assert_eq!(chain.count(item), 2);
        let refused = chain.merge(&source, Some(2)).outcome;
        assert_eq!(refused, Err(MergeRefusal::TooManyCopies));
        seen.note("done");
    });
}

/// Catches a limit on merged copies that does not count those in the first segment.
#[test]
fn limit_covers_all_segments() {
    check("growth_merge_limit_segments", 68, &["done"], |seen| {
        let chain = chain(2);
        fill(&chain, 1);
        let ([item, _], [other, _]) = (two_places(0, 0), two_places(1, 0));
        chain.insert(item).expect("the last slot");
        let grower = spawn(&chain, move |chain| chain.insert(other).expect("a segment"));
        let source = second_segment_of(&[item]);
        let refused = Err(MergeRefusal::TooManyCopies);
        assert_eq!(chain.merge(&source, Some(1)).outcome, refused);
        grower.join().unwrap();
        assert_eq!(chain.merge(&source, Some(1)).outcome, refused);
        assert_eq!(chain.count(item), 1);
        seen.note("done");
    });
}
