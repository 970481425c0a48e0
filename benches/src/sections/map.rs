//! Maps against sets with the same slots per bucket: tables of the same size, the same keys, one
//! pinned thread, alternately, in a second-level cache and in memory.

use guira::{CuckooMap, Hashed, Layout};
use guira_harness::{BATCH, Keys, Pick, filter_of};

use crate::{
    bar::{Bar, Target::AtMost},
    bench::{Bench, Results, Section},
    rounds::Rounds,
    timing::{Clock, STEP, over_keys},
    workload::{insert_batch, lookup_batch, lookup_single},
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

/// Fills a map and a set with the same keys, and looks up in both alternately.
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
    keys.blocks(0..items, |block| {
        let values: Vec<u16> = block.iter().map(|key| (key % (1 << bits)) as u16).collect();
        map.insert_batch(Hashed::slice(block), &values).expect("room");
    });
    insert_batch(&set, keys, 0..items);
    let mut note = |what: &str, of_map: Clock, of_set: Clock| {
        let name = format!("{layout:?}, {place}: {what}");
        rounds.note(name, of_map.per_key(), of_set.per_key());
    };
    let mut got = [None; BATCH];
    for present in [0, 50, 100] {
        for pass in 0..3 {
            let targets = keys.pick(STEP as usize, Pick { present, inserted: (0, items) }, pass);
            let of_map = over_keys(&targets, |block| {
                map.get_batch(Hashed::slice(block), &mut got[..block.len()])
            });
            let of_set = lookup_batch(&set, &targets).0;
            note(&format!("get, batch, {present} % present"), of_map, of_set);
            let of_map = over_keys(&targets, |block| {
                let values = block.iter().filter_map(|&key| map.get(&Hashed(key)));
                values.fold(0, |all, value| all ^ value)
            });
            let of_set = lookup_single(&set, &targets).0;
            note(&format!("get, single, {present} % present"), of_map, of_set);
        }
    }
}
