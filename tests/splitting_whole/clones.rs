//! Copies, and clearing.

use super::*;

fn clones<L: GrowingLayout>() {
    for (first, keys) in FIRST.iter().flat_map(|&first| [0, 40, 3_000].map(|keys| (first, keys))) {
        let pair = Pair::<L>::with_ahead(first, 0..keys);
        let (copy, items) = pair.table.try_clone::<L>().expect("memory");
        assert_eq!(items, pair.keys.len() as u64);
        assert_eq!(copy.copy_words(), pair.table.copy_words());
        assert_eq!((copy.size(), copy.in_use()), (pair.table.size(), pair.table.in_use()));
        assert_eq!(copy.size_in_bytes(), pair.table.size_in_bytes());
        let mut copied = Pair::<L> { keys: pair.keys.clone(), ..Pair::of(copy) };
        copied.check();
        for key in 0..500 {
            copied.insert((1 << 40) + key);
        }
        copied.check();
        copied.drain();
        // The two have nothing in common.
        pair.check();
    }
}

#[test]
fn a_clone_is_equal_and_independent() {
    clones::<Slots5>();
    clones::<Slots4>();
    clones::<Slots3>();
    clones::<Slots2>();
}

#[test]
fn a_clone_keeps_its_limit_on_bytes() {
    let pair = Pair::<Slots4>::with(3, 0..10_000);
    pair.table.set_max_bytes(pair.table.size_in_bytes());
    let (copy, _) = pair.table.try_clone::<Slots4>().expect("memory");
    let mut copied = Pair::<Slots4> { keys: pair.keys.clone(), ..Pair::of(copy) };
    let refused = (0..100_000).find(|key| !copied.insert((1 << 40) + key));
    assert!(refused.is_some());
    assert_eq!(copied.table.size_in_bytes(), pair.table.size_in_bytes());
}

fn clears<L: GrowingLayout>() {
    for (first, keys) in FIRST.iter().flat_map(|&first| [40, 3_000].map(|keys| (first, keys))) {
        let mut pair = Pair::<L>::with_ahead(first, 0..keys);
        let (size, in_use) = (pair.table.size(), pair.table.in_use());
        let levels = |table: &GrowingTable| {
            let (_, _, words) = table.copy_words().expect("memory");
            words.into_iter().map(level).collect::<Vec<_>>()
        };
        let before = levels(&pair.table);
        assert_eq!(pair.table.clear::<L>(), pair.keys.len() as u64);
        assert_eq!((pair.table.size(), pair.table.in_use()), (size, in_use));
        assert_eq!(levels(&pair.table), before);
        assert_eq!((pair.occupied(), pair.table.grown().ghosts), (0, 0));
        assert_eq!(pair.table.clear::<L>(), 0);
        pair.keys.clear();
        // It grows as the table that is loaded now does.
        let mut loaded = Pair::<L>::of(reloaded::<L>(&pair.table, 64));
        for key in 0..keys + 1_000 {
            pair.insert((1 << 30) + key);
            loaded.insert((1 << 30) + key);
            assert_eq!(pair.table.size(), loaded.table.size(), "{key}");
        }
        assert_eq!(pair.table.copy_words(), loaded.table.copy_words());
        pair.drain();
    }
}

#[test]
fn a_cleared_table_keeps_its_size_and_no_slots() {
    clears::<Slots5>();
    clears::<Slots4>();
    clears::<Slots3>();
    clears::<Slots2>();
}

/// The bytes that were announced are those that the table grows by.
#[test]
fn the_next_growth_is_announced() {
    for reserve in [true, false] {
        for (first, max) in [(1, 1 << 12), (3, 7_000), (1_000, 1_000), (1_000, 5_000)] {
            let limits = Limits { buckets: max, load: LOAD };
            let table = GrowingTable::new::<Slots4>(first, limits, 64, (reserve, false));
            let table = table.expect("memory");
            let mut bytes = table.size_in_bytes();
            let mut announced = table.next_growth();
            for key in 0.. {
                let failed = table.insert::<Slots4>(&item::<Slots4>(&table, key)).is_err();
                let now = table.size_in_bytes();
                if now != bytes {
                    let in_advance = announced.expect("announced");
                    // Buckets may be split ahead, and several groups by one insert.
                    assert!(now >= bytes + in_advance || ahead(&table) > 0, "{in_advance}");
                }
                (bytes, announced) = (now, table.next_growth());
                assert_eq!(announced.is_none(), table.buckets() == max);
                if failed {
                    assert_eq!(announced, None);
                    break;
                }
            }
        }
    }
}
