//! The steps of a table whose slots expire, against an oracle.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    thread,
};

use guira::raw::{Addressing, Aged, Clock as _, Plain, Table, mix};
use rand::{RngExt as _, SeedableRng, rngs::SmallRng};

type L = Plain<4, 16>;

fn table(buckets: u64, window: u32) -> Table<Aged> {
    Table::new(Addressing::nested(buckets, Aged::new(4, window, window.into())), false).unwrap()
}

#[test]
fn an_item_is_found_for_as_many_generations_as_the_window_has() {
    for window in 1..=13 {
        let table = table(1 << 10, window);
        let pair = |key: u64| table.addressing().pair::<L>(mix(key, 7));
        let mut inserted: HashMap<u64, u64> = HashMap::new();
        let mut random = SmallRng::seed_from_u64(window.into());
        let mut next = 0_u64;
        let mut now = u64::from(window);
        let per_generation = 3_600 / (u64::from(window) + 1);
        for _ in 0..200 {
            for _ in 0..per_generation {
                let generation = table.insert_for::<L>(pair(next), window).unwrap();
                assert_eq!(generation, now);
                inserted.insert(next, now);
                next += 1;
            }
            let mut wrong = 0;
            for key in next.saturating_sub(20_000)..next {
                let visible = now - inserted[&key] <= u64::from(window);
                let found = table.is_visible::<L>(pair(key));
                assert!(found || !visible, "window {window}: {key} in generation {now}");
                wrong += usize::from(found && !visible);
            }
            assert!(wrong <= 200, "window {window}: {wrong} old items found");
            let alive = inserted.values().filter(|&&g| now - g <= u64::from(window)).count();
            assert_eq!(table.clock().len(), Some(alive as i64));
            if random.random_bool(0.5) {
                table.sweep::<L>(random.random_range(0..2_000));
            }
            now = table.advance::<L>();
        }
    }
}

#[test]
fn no_item_is_missed_beside_sweeps_and_inserts() {
    const WINDOW: u32 = 5;
    let table = table(1 << 8, WINDOW);
    let pair = |key: u64| table.addressing().pair::<L>(mix(key, 7));
    let stop = AtomicBool::new(false);
    let advances = AtomicU64::new(0);
    let full = AtomicU64::new(0);
    thread::scope(|scope| {
        for writer in 0..3_u64 {
            let (table, stop, full) = (&table, &stop, &full);
            scope.spawn(move || {
                let mut mine: Vec<(u64, u64)> = Vec::new();
                let mut next = writer << 40;
                while !stop.load(SeqCst) {
                    for _ in 0..50 {
                        match table.insert_for::<L>(pair(next), WINDOW) {
                            Ok(generation) => mine.push((next, generation)),
                            Err(_) => {
                                full.fetch_add(1, SeqCst);
                            }
                        }
                        next += 1;
                    }
                    for &(key, generation) in &mine {
                        let found = table.is_visible::<L>(pair(key));
                        let now = table.clock().generation();
                        assert!(
                            found || now >= generation + u64::from(WINDOW),
                            "{key} {generation} {now}"
                        );
                    }
                    let now = table.clock().generation();
                    mine.retain(|&(_, generation)| now <= generation + 6);
                    if mine.len() > 200 {
                        thread::yield_now();
                    }
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..3_000 {
                table.advance::<L>();
                advances.fetch_add(1, SeqCst);
                thread::yield_now();
            }
            stop.store(true, SeqCst);
        });
    });
    for _ in 0..20 {
        table.advance::<L>();
    }
    assert_eq!(table.clock().len(), Some(0));
    assert!(table.copy_words().unwrap().iter().all(|&word| word == 0), "a slot leaked");
    println!("full {}", full.load(SeqCst));
}
