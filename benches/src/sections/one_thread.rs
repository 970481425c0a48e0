//! One pinned thread with tables in memory, in multiples of the floors of the same run: see
//! `floors.rs`.

use guira::{CuckooFilter, CuckooMap, ExpiringFilter, Hashed, Layout, raw::Kernel};
use guira_harness::{Keys, Pick, capacity_for, filter_of};

use crate::{
    bench::{Bench, Results, Section},
    figure::Figure,
    floors::Floors,
    rounds::Rounds,
    timing::{
        Clock, STEP, get_single, insert_batch, insert_single, lookup_batch, lookup_single, median,
        over_keys, remove_batch, remove_single,
    },
};

/// Per cent of present keys that lookups are measured at.
const PRESENT: [u32; 3] = [0, 50, 100];
/// Per cent of the capacity at which tables are full, but for the last band.
const NEARLY_FULL: u64 = 95;
/// Layouts whose last band is measured.
const LAST_BAND: [Layout; 3] = [Layout::Plain4x16, Layout::Plain5x12, Layout::Plain6x10];
/// Names of rows.
const INSERT: &str = "insert, single, with room";
const REMOVE: &str = "remove, single";
const LAST_SINGLE: &str = "insert, single, last 5 % before capacity";

#[derive(Default)]
pub struct OneThread {
    by_p: Rounds,
    by_r: Rounds,
}

impl Section for OneThread {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(1);
        let bytes = bench.mode.pick(16, 1024, 1024) << 20;
        let floors = Floors::new(bytes);
        for layout in LAST_BAND {
            bench.say(format!("one thread, {layout:?}"));
            let filter = filter_of(layout, bytes);
            let items = filter.capacity() as u64;
            if layout == Layout::Plain4x16 {
                insert_batch(&filter, Keys::new(0), 0..items / 2);
                for round in 0..bench.rounds as u64 {
                    self.with_room(&filter, &floors, items / 2 + round * STEP);
                }
                insert_batch(&filter, Keys::new(0), items / 2..items * NEARLY_FULL / 100);
                self.lookups(bench, &floors, items * NEARLY_FULL / 100, &filter);
            } else {
                insert_batch(&filter, Keys::new(0), 0..items * NEARLY_FULL / 100);
            }
            for round in 0..bench.rounds {
                self.last_band(&filter, &floors, round == 0 && layout == Layout::Plain4x16);
            }
        }
        self.map(bench, &floors, bytes);
        self.expiring(bench, &floors, bytes);
    }

    fn report(&self, results: &mut Results) {
        for name in ["lookup, single", "get of a map, single", "lookup, expiring, single"] {
            let worst = self.by_p.greatest(|row| row.starts_with(name));
            let note = format!("worst of 0, 50, 100 % present: {}", worst.name);
            results.figures.push(Figure::new(name, worst.times, "P").note(note));
        }
        let of_last_band = LAST_BAND.map(last_batch);
        for name in [INSERT, REMOVE, LAST_SINGLE]
            .into_iter()
            .chain(of_last_band.each_ref().map(String::as_str))
        {
            results.figures.push(Figure::new(name, self.by_p.row(name).times, "P"));
        }
        let worst = self.by_r.greatest(|row| row.starts_with("lookup"));
        let note = format!("{}, by {:?}", worst.name, Kernel::best());
        results.figures.push(Figure::new("lookup, batch", worst.times, "R").note(note));
        for (title, name, head, rounds) in [
            ("One thread, in memory, against P", "one-thread", "multiple of P", &self.by_p),
            ("One thread, in memory, against R", "one-thread-r", "multiple of R", &self.by_r),
        ] {
            let head = ["one thread", "ns", "floor, ns", head];
            results.tables.push((title, rounds.table(name, head, 2)));
        }
    }
}

fn last_batch(layout: Layout) -> String {
    format!("insert, batch, last 5 % before capacity, {} slots", layout.slots_per_bucket())
}

/// Nanoseconds of P per key.
fn p(floors: &Floors, keys: &[u64]) -> f64 {
    median((0..3).map(|_| over_keys(keys, |block| floors.probe(block)).per_key()))
}

/// Nanoseconds of R per key.
fn r(floors: &Floors, keys: &[u64]) -> f64 {
    // One call, since the window of a call begins empty.
    median((0..3).map(|_| {
        let mut clock = Clock::default();
        clock.time(keys, |keys| floors.rolling(keys));
        clock.per_key()
    }))
}

impl OneThread {
    /// Inserts and removes items of a filter that is half full, from this index on.
    fn with_room(&mut self, filter: &CuckooFilter, floors: &Floors, from: u64) {
        let (keys, range) = (Keys::new(0), from..from + STEP.min(filter.capacity() as u64 / 8));
        let floor = p(floors, &keys.range(range.clone()));
        self.by_p.note(INSERT, insert_single(filter, keys, range.clone()).per_key(), floor);
        self.by_p.note(REMOVE, remove_single(filter, keys, range.clone()).per_key(), floor);
        insert_batch(filter, keys, range.clone());
        let floor = r(floors, &keys.range(range.clone()));
        self.by_r.note("remove, batch", remove_batch(filter, keys, range).per_key(), floor);
    }

    /// Looks up items of a filter with this many of them.
    fn lookups(&mut self, bench: &Bench, floors: &Floors, items: u64, filter: &CuckooFilter) {
        for (present, targets) in targets(bench, items) {
            let single = lookup_single(filter, &targets).0.per_key();
            let row = format!("lookup, single, {present} % present");
            self.by_p.note(row, single, p(floors, &targets));
            let batch = lookup_batch(filter, &targets).0.per_key();
            let row = format!("lookup, batch, {present} % present");
            self.by_r.note(row, batch, r(floors, &targets));
        }
    }

    /// Fills copies of a filter up to its capacity.
    fn last_band(&mut self, filter: &CuckooFilter, floors: &Floors, also_single: bool) {
        let items = filter.capacity() as u64;
        let (keys, band) = (Keys::new(0), items * NEARLY_FULL / 100..items);
        let floor = p(floors, &keys.range(band.start..band.end.min(band.start + STEP)));
        let layout = filter.layout();
        let batch = insert_batch(&filter.clone(), keys, band.clone()).per_key();
        self.by_p.note(last_batch(layout), batch, floor);
        if also_single {
            let single = insert_single(&filter.clone(), keys, band).per_key();
            self.by_p.note(LAST_SINGLE, single, floor);
        }
    }

    fn map(&mut self, bench: &Bench, floors: &Floors, bytes: usize) {
        bench.say("one thread, a map");
        let map = CuckooMap::builder().capacity(capacity_for(bytes, Layout::Plain4x16) * 3 / 4);
        let map = map.value_bits(8).seed(1).build().expect("memory");
        let items = map.capacity() as u64 * 9 / 10;
        Keys::new(0).blocks(0..items, |block| {
            map.insert_batch(Hashed::slice(block), &vec![7; block.len()]).expect("room");
        });
        for (present, targets) in targets(bench, items) {
            let get = get_single(&map, &targets).0;
            let row = format!("get of a map, single, {present} % present");
            self.by_p.note(row, get.per_key(), p(floors, &targets));
        }
    }

    fn expiring(&mut self, bench: &Bench, floors: &Floors, bytes: usize) {
        bench.say("one thread, items that expire");
        let filter = ExpiringFilter::builder().capacity(capacity_for(bytes, Layout::Plain4x16));
        let filter = filter.window(13).seed(1).build().expect("memory");
        let items = filter.capacity() as u64 * 9 / 10;
        Keys::new(0).blocks(0..items, |block| {
            filter.insert_batch(Hashed::slice(block)).expect("room");
        });
        for (present, targets) in targets(bench, items) {
            let row = format!("lookup, expiring, single, {present} % present");
            let single = lookup_single(&filter, &targets).0.per_key();
            self.by_p.note(row, single, p(floors, &targets));
        }
    }
}

/// Keys to look up in each round, and how many per cent of them are present among this many items.
fn targets(bench: &Bench, items: u64) -> impl Iterator<Item = (u32, Vec<u64>)> {
    (0..bench.rounds as u64).flat_map(move |round| {
        PRESENT.map(|present| {
            let pick = Pick { present, inserted: (0, items) };
            (present, Keys::new(0).pick(STEP as usize, pick, round))
        })
    })
}
