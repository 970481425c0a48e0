//! One pinned thread with a table in memory, in multiples of the memory floor of the same run: the
//! cost of random cache lines without any filter.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use guira::{Layout, raw::Kernel};
use guira_harness::{Keys, Pick, filter_of};

use crate::{
    bar::{Bar, Target::AtMost},
    bench::{Bench, Results, Section},
    memory::advise_huge_pages,
    rounds::Rounds,
    timing::{
        Clock, PRESENT, STEP, bands, insert_batch, insert_single, lookup_batch, lookup_single,
        over_keys, over_range, remove_batch, remove_single,
    },
};

#[derive(Default)]
pub struct OneThread(Rounds);

impl Section for OneThread {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(1);
        let floor = Floor::new(bench.bytes);
        for round in 0..bench.rounds {
            bench.say(format!("one thread, round {} of {}", round + 1, bench.rounds));
            batches_and_lookups(bench, &floor, round as u64, &mut self.0);
            singles(bench, &floor, round as u64, &mut self.0);
            for layout in [Layout::Plain5x12, Layout::Plain6x10] {
                last_band(bench, &floor, layout, &mut self.0);
            }
        }
    }

    fn report(&self, results: &mut Results) {
        add_bars(&self.0, results);
        let head = ["Plain4x16, one thread", "ns", "floor, ns", "multiple of F, or of R"];
        results.tables.push(("One thread, in memory", self.0.table("one-thread", head, 2)));
    }
}

/// Measures F: nanoseconds per key of two random lines, prefetched in windows of 32.
fn two_lines(floor: &Floor) -> f64 {
    over_range(Keys::new(77), 0..STEP, |block| floor.read::<2>(block)).per_key()
}

/// Measures R: nanoseconds per key of one locked instruction on a random line, not prefetched.
fn locked_line(floor: &Floor) -> f64 {
    over_range(Keys::new(78), 0..STEP / 4, |block| floor.write_locked(block)).per_key()
}

/// Measures some work, and before and after it a floor, of which the mean counts.
fn beside(floor: impl Fn() -> f64, work: impl FnOnce() -> Clock) -> (Clock, f64) {
    let before = floor();
    let clock = work();
    (clock, f64::midpoint(before, floor()))
}

/// Fills by batches to capacity, looks up, and removes.
fn batches_and_lookups(bench: &Bench, floor: &Floor, round: u64, rounds: &mut Rounds) {
    let f = || two_lines(floor);
    let filter = filter_of(Layout::Plain4x16, bench.bytes);
    let items = filter.capacity() as u64;
    let keys = Keys::new(round);
    let (mut whole, mut floors) = (Clock::default(), Vec::new());
    for (name, band) in bands(items) {
        let (clock, floor) = beside(f, || insert_batch(&filter, keys, band));
        whole = whole.and(clock);
        floors.push(floor);
        rounds.note(format!("insert {name}, batch"), clock.per_key(), floor);
    }
    let mean = floors.iter().sum::<f64>() / floors.len() as f64;
    rounds.note("insert, empty to capacity, batch", whole.per_key(), mean);

    for present in PRESENT {
        let pick = Pick { present, inserted: (0, items) };
        for pass in 0..3 {
            let targets = keys.pick(STEP as usize, pick, pass);
            // The floor reads by the same keys, so both fetch them from memory.
            let f = || over_keys(&targets, |block| floor.read::<2>(block)).per_key();
            let (clock, floor) = beside(f, || lookup_batch(&filter, &targets).0);
            rounds.note(format!("lookup, {present} % present, batch"), clock.per_key(), floor);
            let (clock, floor) = beside(f, || lookup_single(&filter, &targets).0);
            rounds.note(format!("lookup, {present} % present, single"), clock.per_key(), floor);
        }
    }

    // The order of inserts is unrelated to the order of buckets.
    let step = STEP.min(items / 20);
    let (clock, by_f) = beside(f, || remove_batch(&filter, keys, 0..step));
    rounds.note("remove, batch", clock.per_key(), by_f);
    by_f_and_r(rounds, floor, "remove, single", || remove_single(&filter, keys, step..2 * step));
}

/// Fills by single inserts to capacity.
fn singles(bench: &Bench, floor: &Floor, round: u64, rounds: &mut Rounds) {
    let filter = filter_of(Layout::Plain4x16, bench.bytes);
    let keys = Keys::new(round);
    for (name, band) in bands(filter.capacity() as u64) {
        let insert = || insert_single(&filter, keys, band);
        by_f_and_r(rounds, floor, &format!("insert {name}, single"), insert);
    }
}

/// Notes a figure in multiples of F and of R, both measured before and after it.
fn by_f_and_r(rounds: &mut Rounds, floor: &Floor, name: &str, work: impl FnOnce() -> Clock) {
    let before = locked_line(floor);
    let (clock, f) = beside(|| two_lines(floor), work);
    let r = f64::midpoint(before, locked_line(floor));
    rounds.note(name, clock.per_key(), f);
    rounds.note(format!("{name}, by R"), clock.per_key(), r);
}

/// Measures the last 5 % before capacity of another layout, by batches.
fn last_band(bench: &Bench, floor: &Floor, layout: Layout, rounds: &mut Rounds) {
    let filter = filter_of(layout, bench.bytes);
    let keys = Keys::new(9);
    let (name, band) = bands(filter.capacity() as u64).last().expect("bands");
    insert_batch(&filter, keys, 0..band.start);
    let (clock, f) = beside(|| two_lines(floor), || insert_batch(&filter, keys, band));
    rounds.note(format!("{layout:?}: insert {name}, batch"), clock.per_key(), f);
}

fn add_bars(rounds: &Rounds, results: &mut Results) {
    let kernel = format!(", by {:?}", Kernel::best());
    for (kind, target, by) in [("batch", 1.07, kernel.as_str()), ("single", 1.75, "")] {
        let is_lookup = |name: &str| name.starts_with("lookup") && name.ends_with(kind);
        let worst = rounds.greatest(is_lookup);
        let note = format!("worst of 0, 25, 50, 75, 100 % present: {}{by}", worst.name);
        let bar = Bar::new(format!("lookup, {kind}"), AtMost(target), worst.times, "F");
        results.bars.push(bar.note(note));
    }
    for (name, target, row) in [
        ("insert, batch, empty to capacity", 2.5, "insert, empty to capacity, batch"),
        ("insert, single, with room (up to half of the capacity)", 2.5, "insert 0–50 %, single"),
        ("remove, batch", 2.0, "remove, batch"),
    ] {
        results.bars.push(Bar::new(name, AtMost(target), rounds.row(row).times, "F"));
    }
    let by_r = rounds.row("remove, single, by R").times;
    let bar = Bar::new("remove, single", AtMost(3.2), rounds.row("remove, single").times, "F");
    let note = format!("{by_r:.2} R; R is one locked instruction on a random line");
    results.bars.push(bar.note(note));
    for (slots, row) in [
        (4, "insert 95–100 %, batch"),
        (5, "Plain5x12: insert 95–100 %, batch"),
        (6, "Plain6x10: insert 95–100 %, batch"),
    ] {
        let name = format!("insert, batch, last 5 % before capacity, {slots} slots per bucket");
        let bar = Bar::new(name, AtMost(8.0), rounds.row(row).times, "F");
        results.bars.push(bar.goal(AtMost(6.0)));
    }
}

/// Number of keys whose lines are prefetched together.
const WINDOW: usize = 32;

/// Memory of random words, on huge pages where the system has them, like a filter's table.
struct Floor {
    words: Vec<AtomicU64>,
}

impl Floor {
    /// Allocates `bytes` bytes.
    fn new(bytes: usize) -> Self {
        let mut words: Vec<AtomicU64> = Vec::with_capacity(bytes / 8);
        advise_huge_pages(words.as_ptr().addr(), bytes);
        words.extend((0..bytes as u64 / 8).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).into()));
        Self { words }
    }

    /// Reads `LINES` random lines per key, prefetched in windows of 32. With two lines this is F.
    fn read<const LINES: usize>(&self, keys: &[u64]) -> u64 {
        let mut sum = 0_u64;
        for keys in keys.chunks(WINDOW) {
            let mut places = [[0_usize; LINES]; WINDOW];
            for (place, &key) in places.iter_mut().zip(keys) {
                for (line, place) in place.iter_mut().enumerate() {
                    *place = self.place((key >> (32 * line)) as u32);
                    prefetch(&raw const self.words[*place]);
                }
            }
            for place in &places[..keys.len()] {
                for &place in place {
                    sum = sum.wrapping_add(self.words[place].load(Relaxed));
                }
            }
        }
        sum
    }

    /// Executes one locked instruction on one random line per key, without prefetching. This is R,
    /// the floor of single writes.
    fn write_locked(&self, keys: &[u64]) {
        for &key in keys {
            self.words[self.place(key as u32)].fetch_add(1, Relaxed);
        }
    }

    /// Maps 32 random bits to a word.
    fn place(&self, bits: u32) -> usize {
        ((u64::from(bits) * self.words.len() as u64) >> 32) as usize
    }
}

fn prefetch(word: *const AtomicU64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and faults on no address, and SSE is part of x86-64.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(word.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = word;
}
