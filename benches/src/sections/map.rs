//! Maps against sets with the same slots per bucket: tables of the same size, the same keys, one
//! pinned thread, alternately, in a second-level cache and in memory.

use guira::{CuckooFilter, CuckooMap, Hashed, Insertion, Layout};
use guira_harness::{BATCH, Keys, Pick, filter_of};

use crate::{
    bar::{Bar, Target::AtMost},
    bench::{Bench, Results, Section},
    rounds::Rounds,
    timing::{Clock, STEP, over_keys, over_range},
    workload::{insert_batch, lookup_batch, lookup_single, remove_batch},
};

/// The layout of each set, and the bits of a value of the map that it is compared with.
const PAIRS: [(Layout, u32); 3] =
    [(Layout::Plain4x16, 8), (Layout::Plain5x12, 4), (Layout::Plain6x10, 2)];

/// Size in bytes of a table that stays in a second-level cache.
const CACHED: usize = 256 << 10;

/// What is compared, and the largest multiple of the set's time that reaches the target.
const BARS: [(&str, f64); 2] = [("get, batch", 1.1), ("get, single", 1.15)];

#[derive(Default)]
pub struct Map(Rounds);

impl Section for Map {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(1);
        for round in 0..bench.rounds {
            bench.say(format!("maps, round {} of {}", round + 1, bench.rounds));
            for pair in PAIRS {
                compare(("in L2", CACHED), pair, round as u64, &mut self.0);
                compare(("in memory", bench.bytes), pair, round as u64, &mut self.0);
            }
        }
    }

    fn report(&self, results: &mut Results) {
        for (what, most) in BARS {
            let worst = self.0.greatest(|name| name.contains(what));
            let name = format!("map: {what}");
            let bar = Bar::new(name, AtMost(most), worst.times, "of the set's lookup");
            results.bars.push(bar.note(format!("worst: {}", worst.name)));
        }
        let table = self.0.table("map", ["map, one thread", "ns", "set, ns", "of the set"], 1);
        results.tables.push(("Maps against sets", table));
    }
}

/// Values of the keys of a block.
fn values(block: &[u64], bits: u32) -> [u16; BATCH] {
    let mut values = [0; BATCH];
    for (value, key) in values.iter_mut().zip(block) {
        *value = (key % (1 << bits)) as u16;
    }
    values
}

/// Fills, looks up, replaces and removes, in a map and in a set alternately.
fn compare(
    (place, bytes): (&str, usize),
    (layout, bits): (Layout, u32),
    round: u64,
    rounds: &mut Rounds,
) {
    let set = filter_of(layout, bytes);
    let items = set.capacity() as u64;
    let valued = Layout::with_values(layout.slots_per_bucket(), bits).expect("a layout");
    let map = CuckooMap::builder().capacity(set.capacity()).layout(valued).seed(1).build();
    let map = map.expect("memory");
    let keys = Keys::new(round);
    let mut note = |what: &str,
                    of_map: &mut dyn FnMut(&CuckooMap) -> Clock,
                    of_set: &mut dyn FnMut(&CuckooFilter) -> Clock| {
        let (map, set) = (of_map(&map).per_key(), of_set(&set).per_key());
        rounds.note(format!("{layout:?}, {place}: {what}"), map, set);
    };
    note(
        "insert, empty to capacity, batch",
        &mut |map| {
            over_range(keys, 0..items, |block| {
                let values = values(block, bits);
                map.insert_batch(Hashed::slice(block), &values[..block.len()]).expect("room");
            })
        },
        &mut |set| insert_batch(set, keys, 0..items),
    );
    let mut got = [None; BATCH];
    for present in [0, 50, 100] {
        for pass in 0..3 {
            let targets = keys.pick(STEP as usize, Pick { present, inserted: (0, items) }, pass);
            note(
                &format!("get, batch, {present} % present"),
                &mut |map| {
                    over_keys(&targets, |block| {
                        map.get_batch(Hashed::slice(block), &mut got[..block.len()])
                    })
                },
                &mut |set| lookup_batch(set, &targets).0,
            );
            note(
                &format!("get, single, {present} % present"),
                &mut |map| {
                    over_keys(&targets, |block| {
                        let values = block.iter().filter_map(|&key| map.get(&Hashed(key)));
                        values.fold(0, |all, value| all ^ value)
                    })
                },
                &mut |set| lookup_single(set, &targets).0,
            );
        }
    }
    let step = STEP.min(items / 20);
    note(
        "replace of the map, insert_unique of the set, single",
        &mut |map| {
            over_range(keys, 0..step, |block| {
                let mut pairs = Hashed::slice(block).iter().zip(values(block, bits));
                assert!(pairs.all(|(key, value)| map.replace(key, value, value)), "is present");
            })
        },
        &mut |set| {
            over_range(keys, 0..step, |block| {
                block
                    .iter()
                    .filter(|&&key| set.insert_unique(&Hashed(key)) == Ok(Insertion::New(())))
                    .count()
            })
        },
    );
    note(
        "remove, batch",
        &mut |map| {
            over_range(keys, 0..step, |block| {
                let (values, mut removed) = (values(block, bits), [false; BATCH]);
                let removed = &mut removed[..block.len()];
                map.remove_batch(Hashed::slice(block), &values[..block.len()], removed)
            })
        },
        &mut |set| remove_batch(set, keys, 0..step),
    );
}
