//! Tests of what cannot be seen from outside.

use super::{GrowingTable, GrowingWords, Item, Limits, Payload, Space};
#[cfg(target_os = "linux")]
use crate::table::split::Place;
use crate::{InsertError, bucket::Leveled, table::mix};

/// A table of this layout after some inserts, at a load at which searches are long.
fn grown(leveled: Leveled, first: u64, items: u64) -> GrowingTable {
    let limits = Limits { buckets: first << 8, load: 230 };
    let table = GrowingTable::new(leveled, Payload::NONE, first, limits, 32, (true, false));
    let table = table.expect("memory");
    for key in 0..items {
        // One that finds no room may be refused.
        let _ = table.insert::<GrowingWords>(table.growth().item(mix(key, 1)));
    }
    table
}

/// Both forms of `neighbours` agree, for items at random in tables at all moments of a round.
fn vectors_agree(leveled: Leveled) {
    for (first, items) in [(1, 40), (3, 500), (256, 300), (256, 1_200), (300, 2_000), (256, 9_000)]
    {
        let mut table = grown(leveled, first, items);
        if !table.has_avx512 {
            return;
        }
        for key in 0..3_000 {
            let item: Item = table.growth().item(mix(key, 2));
            let roots = table.load_both(&item);
            if !roots.iter().all(|seen| leveled.is_full(seen.word)) {
                continue;
            }
            let vector = table.neighbours(&item, roots);
            table.has_avx512 = false;
            let scalar = table.neighbours(&item, roots);
            table.has_avx512 = true;
            let buckets = |n: &super::Neighbours| n.in_order().collect::<alloc::vec::Vec<_>>();
            assert_eq!(buckets(&vector), buckets(&scalar), "{first} {items} {key}");
        }
    }
}

/// While another thread holds the lock of the last group that may be split, the table is busy, and
/// not fully grown.
#[test]
fn a_group_that_another_thread_holds_is_waited_for() {
    let leveled = Leveled::new(4, 7, 0);
    let limits = Limits { buckets: 16 + 8, load: 230 };
    let table = GrowingTable::new(leveled, Payload::NONE, 16, limits, 8, (false, false));
    let table = table.expect("memory");
    let guard = table.stripes.at(0).lock();
    assert_eq!(table.split_next(table.size()), Ok(false));
    drop(guard);
    assert_eq!(table.split_next(table.size()), Ok(true));
    let refusal = Err(InsertError::MaxCapacity);
    assert_eq!(table.split_next(table.size()), refusal);
}

/// No child has a number beyond the last possible bucket, where numbers would begin again: its
/// words would take the place of those of a bucket in use.
#[cfg(target_os = "linux")]
#[test]
fn no_bucket_is_split_into_one_beyond_the_last() {
    let leveled = Leveled::new(4, 7, 0);
    let first = (1 << 31) + 8;
    let limits = Limits { buckets: 1 << 32, load: 230 };
    // 16 GiB of addresses, of which hardly a page is touched.
    let table = GrowingTable::new(leveled, Payload::NONE, first, limits, 8, (false, true));
    let Some(table) = table else { return };
    let early = |bucket| table.split_early(Place { bucket, level: 0 });
    assert_eq!(early((1 << 31) - 9), Ok(true));
    for bucket in [(1 << 31) - 8, (1 << 31) - 1, 1 << 31] {
        assert_eq!(early(bucket), Err(InsertError::FullyGrown));
    }
    assert_eq!(table.occupied(), (0, 0));
}

#[test]
fn neighbours_in_vectors_are_those_one_by_one() {
    vectors_agree(Leveled::new(2, 8, 0));
    vectors_agree(Leveled::new(3, 8, 0));
    vectors_agree(Leveled::new(4, 7, 0));
}
