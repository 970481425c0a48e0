//! The same calls lead to the same table, whether or not it was saved, loaded and cloned meanwhile,
//! and whichever thread made them.

use std::{sync::mpsc, thread};

use super::*;

/// What a thread does with a table.
struct Steps {
    table: GrowingTable,
    /// Keys to insert, or to remove.
    changes: Vec<(bool, u64)>,
}

fn change<L: GrowingLayout>(table: &GrowingTable, changes: &[(bool, u64)]) {
    for &(insert, key) in changes {
        let item = item::<L>(table, key);
        if insert {
            let _ = table.insert::<L>(&item);
        } else {
            let _ = table.remove::<L>(&item);
        }
    }
}

/// Of this thread and another one, at most one owns the only shard of a table with eight stripes.
/// Both own shards of a table with 1,024.
fn history<L: GrowingLayout>(first: u64, max: u64, seed: u64) {
    let mut random = Random(seed);
    let ((to_other, steps), (back, results)) = (mpsc::channel::<Steps>(), mpsc::channel());
    thread::scope(|scope| {
        scope.spawn(move || {
            for Steps { table, changes } in steps {
                change::<L>(&table, &changes);
                back.send(table).unwrap();
            }
        });
        let (plain, mut other) = (new::<L>(first, max, 1_024), new::<L>(first, max, 8));
        // The bytes of stripes and shards that the tables differ by.
        let beside = plain.size_in_bytes() - other.size_in_bytes();
        let (mut keys, mut next) = (Vec::new(), 0);
        for round in 0..60 {
            // More inserts than removals, or fewer, or none of one kind.
            let inserts = [100, 90, 52, 50, 45, 0][random.below(6)];
            let changes: Vec<_> = (0..random.below(600))
                .map(|_| {
                    if keys.is_empty() || random.below(100) < inserts {
                        keys.push(next);
                        next += 1;
                        (true, next - 1)
                    } else {
                        (false, keys.swap_remove(random.below(keys.len())))
                    }
                })
                .collect();
            change::<L>(&plain, &changes);
            if random.below(2) == 0 {
                change::<L>(&other, &changes);
            } else {
                to_other.send(Steps { table: other, changes }).unwrap();
                other = results.recv().unwrap();
            }
            assert_eq!(plain.size(), other.size(), "{first} buckets, seed {seed}, round {round}");
            assert!(plain.copy_words() == other.copy_words(), "{first}, {seed}, {round}");
            assert_eq!(plain.size_in_bytes() - other.size_in_bytes(), beside);
            // Another thread may go on only with a table that was loaded.
            if random.below(2) == 0 {
                other = reloaded::<L>(&other, 8);
            } else {
                other = other.try_clone::<L>().expect("memory").0;
            }
            if random.below(20) == 0 {
                assert_eq!(plain.clear::<L>(), other.clear::<L>());
                keys.clear();
                other = reloaded::<L>(&other, 8);
            }
        }
        drop(to_other);
    });
}

#[test]
fn equal_histories_lead_to_equal_tables() {
    for seed in 0..2 {
        for first in FIRST {
            history::<Slots5>(first, first << 10, seed);
            history::<Slots4>(first, first << 15, seed);
            history::<Slots2>(first, first << 15, seed);
        }
        history::<Slots3>(3, 700, seed);
        history::<Slots5>(1, 1_500, seed);
    }
}
