//! One pinned thread with a table in memory, in multiples of the memory floor of the same run.

use guira::{Layout, raw::Kernel};
use guira_harness::{
    Keys, Pick, filter_of,
    plot::{Chart, Look, Series},
    table::Table,
};

use crate::{
    bar::Bar,
    bench::{Bench, Results, Section},
    floor::Floor,
    timing::{
        BAND_MIDDLES, Beside, Clock, PRESENT, Rounds, STEP, bands, locked_line, over_keys,
        two_lines,
    },
    workload::{
        insert_batch, insert_single, lookup_batch, lookup_single, remove_batch, remove_single,
    },
};

#[derive(Default)]
pub struct OneThread {
    rounds: Rounds,
}

impl Section for OneThread {
    fn measure(&mut self, bench: &Bench) {
        bench.cores.pin(1);
        let floor = Floor::new(bench.bytes);
        for round in 0..bench.rounds {
            bench.say(format!("one thread, round {} of {}", round + 1, bench.rounds));
            batches_and_lookups(bench, &floor, round as u64, &mut self.rounds);
            singles(bench, &floor, round as u64, &mut self.rounds);
            for layout in [Layout::Plain5x12, Layout::Plain6x10] {
                last_band(bench, &floor, layout, &mut self.rounds);
            }
        }
    }

    fn report(&self, results: &mut Results) {
        add_bars(&self.rounds, results);
        add_table(&self.rounds, results);
        add_charts(&self.rounds, results);
    }
}

/// Fills by batches to capacity, looks up, and removes.
fn batches_and_lookups(bench: &Bench, floor: &Floor, round: u64, rounds: &mut Rounds) {
    let f = || two_lines(floor);
    let filter = filter_of(Layout::Plain4x16, bench.bytes);
    let items = filter.capacity() as u64;
    let keys = Keys::new(round);
    let (mut whole, mut floors) = (Clock::default(), Vec::new());
    for (name, band) in bands(items) {
        let (figure, clock) = Beside::measure(f, || insert_batch(&filter, keys, band));
        whole = whole.and(clock);
        floors.push(figure.floor);
        rounds.note(format!("insert {name}, batch"), figure);
    }
    let mean = floors.iter().sum::<f64>() / floors.len() as f64;
    let figure = Beside { nanoseconds: whole.per_key(), floor: mean };
    rounds.note("insert, empty to capacity, batch", figure);

    for present in PRESENT {
        let pick = Pick { present, inserted: (0, items) };
        for pass in 0..3 {
            let targets = keys.pick(STEP as usize, pick, pass);
            // The floor reads by the same keys, so both fetch them from memory.
            let f = || over_keys(&targets, |block| floor.read::<2>(block)).per_key();
            let (figure, _) = Beside::measure(f, || lookup_batch(&filter, &targets).0);
            rounds.note(format!("lookup, {present} % present, batch"), figure);
            let (figure, _) = Beside::measure(f, || lookup_single(&filter, &targets).0);
            rounds.note(format!("lookup, {present} % present, single"), figure);
        }
    }

    // The order of inserts is unrelated to the order of buckets.
    let step = STEP.min(items / 20);
    let (figure, _) = Beside::measure(f, || remove_batch(&filter, keys, 0..step));
    rounds.note("remove, batch", figure);
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
    let (figure, _) = Beside::measure(|| two_lines(floor), work);
    let by_r = Beside { floor: f64::midpoint(before, locked_line(floor)), ..figure };
    rounds.note(name, figure);
    rounds.note(format!("{name}, by R"), by_r);
}

/// Measures the last 5 % before capacity of another layout, by batches.
fn last_band(bench: &Bench, floor: &Floor, layout: Layout, rounds: &mut Rounds) {
    let filter = filter_of(layout, bench.bytes);
    let keys = Keys::new(9);
    let (name, band) = bands(filter.capacity() as u64).last().expect("bands");
    insert_batch(&filter, keys, 0..band.start);
    let measured = Beside::measure(|| two_lines(floor), || insert_batch(&filter, keys, band));
    rounds.note(format!("{layout:?}: insert {name}, batch"), measured.0);
}

fn add_bars(rounds: &Rounds, results: &mut Results) {
    let worst = |kind: &str| {
        let all = PRESENT.map(|present| {
            (rounds.times(&format!("lookup, {present} % present, {kind}")), present)
        });
        let measured = all.into_iter().filter(|(times, _)| times.is_finite());
        measured.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::NAN, 0))
    };
    let mut bar = |name: &str, target, measured, note: &str| {
        results.bars.push(Bar::at_most(name, target, measured, "F").note(note));
    };
    for (name, kind, target) in
        [("lookup, batch", "batch", 1.07), ("lookup, single", "single", 1.75)]
    {
        let (measured, at) = worst(kind);
        let kernel =
            if kind == "batch" { format!(", by {:?}", Kernel::best()) } else { String::new() };
        let note = format!("worst of 0, 25, 50, 75, 100 % present: at {at} %{kernel}");
        bar(name, target, measured, &note);
    }
    for (name, target, row) in [
        ("insert, batch, empty to capacity", 2.5, "insert, empty to capacity, batch"),
        ("insert, single, with room (up to half of the capacity)", 2.5, "insert 0–50 %, single"),
        ("remove, batch", 2.0, "remove, batch"),
    ] {
        bar(name, target, rounds.times(row), "");
    }
    let by_r = rounds.times("remove, single, by R");
    bar(
        "remove, single",
        3.2,
        rounds.times("remove, single"),
        &format!("{by_r:.2} R; R is one locked instruction on a random line"),
    );
    for (slots, row) in [
        (4, "insert 95–100 %, batch"),
        (5, "Plain5x12: insert 95–100 %, batch"),
        (6, "Plain6x10: insert 95–100 %, batch"),
    ] {
        let name = format!("insert, batch, last 5 % before capacity, {slots} slots per bucket");
        results.bars.push(Bar::at_most(name, 8.0, rounds.times(row), "F").goal(6.0));
    }
}

fn add_table(rounds: &Rounds, results: &mut Results) {
    let mut table =
        Table::new("one-thread", &["Plain4x16, one thread", "ns", "floor, ns", "multiple"]);
    for (name, nanoseconds, floor, times) in rounds.medians() {
        let unit = if name.ends_with("by R") { "R" } else { "F" };
        let multiple = format!("{times:.2} {unit}");
        table.push(vec![name.into(), format!("{nanoseconds:.1}"), format!("{floor:.1}"), multiple]);
    }
    results.tables.push(table);
}

fn add_charts(rounds: &Rounds, results: &mut Results) {
    const LOOKS: [(Look, &str); 2] = [(Look::GUIRA, "single"), (Look::GUIRA_BATCH, "batch")];
    let f = rounds.medians().next().map_or(f64::NAN, |(_, _, floor, _)| floor);
    let mut lookups = Chart::new("lookups-by-presence-one-thread", "Lookups and the memory floor")
        .x("present keys (%)")
        .y("time per lookup (ns)");
    let mut inserts = Chart::new("inserts-by-load-one-thread", "Inserts and the memory floor")
        .x("load (% of the capacity)")
        .y("time per insert (ns)")
        .log_y();
    for (look, kind) in LOOKS {
        let points = PRESENT.map(|present| {
            let row = format!("lookup, {present} % present, {kind}");
            (f64::from(present), rounds.nanoseconds(&row))
        });
        lookups.push(Series::new(look, format!("guira, {kind}"), points.to_vec()));
        let bands = bands(100).zip(BAND_MIDDLES);
        let points = bands.map(|((name, _), middle)| {
            (middle, rounds.nanoseconds(&format!("insert {name}, {kind}")))
        });
        inserts.push(Series::new(look, format!("guira, {kind}"), points.collect()));
    }
    lookups.push(Series::guide("floor F", vec![(0.0, f), (100.0, f)]));
    inserts.push(Series::guide("floor F", vec![(25.0, f), (97.5, f)]));
    results.charts.extend([lookups, inserts]);
}
