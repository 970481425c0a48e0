//! One pinned thread with a table in memory, as multiples of the memory floor in the same run.

use guira::Layout;

use super::{
    Bench, Results,
    timing::{
        BAND_MIDDLES, Beside, Clock, PRESENT, Rounds, STEP, bands, locked_line, over_keys,
        over_range, two_lines,
    },
};
use crate::{
    bar::Bar,
    common::{BATCH, Floor, Keys, Pick},
    peers::filter_of,
    plot::{Chart, Series},
    table::Table,
};

pub fn run(bench: &Bench, results: &mut Results) {
    bench.cores.pin(1);
    let floor = Floor::new(bench.bytes);
    let mut rounds = Rounds::default();
    for round in 0..bench.rounds {
        bench.say(format!("one thread, round {} of {}", round + 1, bench.rounds));
        batches_and_lookups(bench, &floor, round as u64, &mut rounds);
        singles(bench, &floor, round as u64, &mut rounds);
        for layout in [Layout::Plain5x12, Layout::Plain6x10] {
            last_band(bench, &floor, layout, &mut rounds);
        }
    }
    add_bars(&rounds, results);
    add_table(&rounds, results);
    add_charts(&rounds, results);
}

/// Fills by batches to capacity, looks up, and removes.
fn batches_and_lookups(bench: &Bench, floor: &Floor, round: u64, rounds: &mut Rounds) {
    let f = || two_lines(floor);
    let filter = filter_of(Layout::Plain4x16, bench.bytes);
    let items = filter.capacity() as u64;
    let keys = Keys::new(round);
    let (mut whole, mut floors) = (Clock::default(), Vec::new());
    for (name, band) in bands(items) {
        let (figure, clock) = Beside::measure(f, || {
            over_range(keys, band, |block| filter.insert_hash_batch(block).expect("room"))
        });
        whole = whole.and(clock);
        floors.push(figure.floor);
        rounds.note(format!("insert {name}, batch"), figure);
    }
    let mean = floors.iter().sum::<f64>() / floors.len() as f64;
    let figure = Beside { nanoseconds: whole.per_key(), floor: mean };
    rounds.note("insert, empty to capacity, batch", figure);

    let mut found = [false; BATCH];
    for present in PRESENT {
        let pick = Pick { present, inserted: (0, items) };
        for pass in 0..3 {
            let asked = keys.pick(STEP as usize, pick, pass);
            // The floor with the same keys: they come from memory too.
            let f = || over_keys(&asked, |block| floor.read::<2>(block)).per_key();
            let (figure, _) = Beside::measure(f, || {
                over_keys(&asked, |block| {
                    filter.contains_hash_batch(block, &mut found[..block.len()])
                })
            });
            rounds.note(format!("look-up, {present} % present, batch"), figure);
            let (figure, _) = Beside::measure(f, || {
                over_keys(&asked, |block| {
                    block.iter().filter(|&&key| filter.contains_hash(key)).count()
                })
            });
            rounds.note(format!("look-up, {present} % present, single"), figure);
        }
    }

    // Keys in the order of their inserts are in no order of the table's.
    let step = STEP.min(items / 20);
    let (figure, _) = Beside::measure(f, || {
        over_range(keys, 0..step, |block| {
            let removed = filter.remove_hash_batch(block, &mut found[..block.len()]);
            assert_eq!(removed, block.len(), "every key that was inserted can be removed");
        })
    });
    rounds.note("remove, batch", figure);
    both(rounds, floor, "remove, single", || {
        over_range(keys, step..2 * step, |block| {
            assert!(block.iter().all(|&key| filter.remove_hash(key)), "every key is there");
        })
    });
}

/// Fills one by one to capacity.
fn singles(bench: &Bench, floor: &Floor, round: u64, rounds: &mut Rounds) {
    let filter = filter_of(Layout::Plain4x16, bench.bytes);
    let keys = Keys::new(round);
    for (name, band) in bands(filter.capacity() as u64) {
        both(rounds, floor, &format!("insert {name}, single"), || {
            over_range(keys, band, |block| {
                for &key in block {
                    filter.insert_hash(key).expect("room");
                }
            })
        });
    }
}

/// Notes a figure by F and by R, both measured before and after.
fn both(rounds: &mut Rounds, floor: &Floor, name: &str, work: impl FnOnce() -> Clock) {
    let before = locked_line(floor);
    let (figure, _) = Beside::measure(|| two_lines(floor), work);
    let by_r = Beside { floor: f64::midpoint(before, locked_line(floor)), ..figure };
    rounds.note(name, figure);
    rounds.note(format!("{name}, by R"), by_r);
}

/// The last 5 % before capacity of another layout, by batch.
fn last_band(bench: &Bench, floor: &Floor, layout: Layout, rounds: &mut Rounds) {
    let filter = filter_of(layout, bench.bytes);
    let keys = Keys::new(9);
    let (name, band) = bands(filter.capacity() as u64).last().expect("bands");
    let insert =
        |band| over_range(keys, band, |block| filter.insert_hash_batch(block).expect("room"));
    insert(0..band.start);
    let (figure, _) = Beside::measure(|| two_lines(floor), || insert(band));
    rounds.note(format!("{layout:?}: insert {name}, batch"), figure);
}

fn add_bars(rounds: &Rounds, results: &mut Results) {
    let worst = |kind: &str| {
        let all = PRESENT.map(|present| {
            (rounds.times(&format!("look-up, {present} % present, {kind}")), present)
        });
        all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("some")
    };
    let mut bar = |name: &str, target, measured, note: &str| {
        results.bars.push(Bar::at_most(name, target, measured, "F").note(note));
    };
    for (name, kind, target) in [
        ("`contains_hash_batch`", "batch", 1.15),
        ("`contains_hash`, one after another", "single", 2.0),
    ] {
        let (measured, at) = worst(kind);
        bar(name, target, measured, &format!("worst of 0, 25, 50, 75, 100 % present: at {at} %"));
    }
    let times = |name: &str| rounds.times(name);
    bar(
        "`insert_hash_batch`, empty to capacity",
        2.5,
        times("insert, empty to capacity, batch"),
        "",
    );
    bar(
        "the last 5 % before capacity, 6 lanes",
        6.0,
        times("Plain6x10: insert 95–100 %, batch"),
        "by batch",
    );
    bar(
        "the last 5 % before capacity, 5 lanes",
        8.0,
        times("Plain5x12: insert 95–100 %, batch"),
        "by batch",
    );
    bar("the last 5 % before capacity, 4 lanes", 12.0, times("insert 95–100 %, batch"), "by batch");
    bar("`remove_hash_batch`", 2.0, times("remove, batch"), "at capacity");
    let by_r = times("remove, single, by R");
    bar(
        "`remove_hash`, one after another",
        3.5,
        times("remove, single"),
        &format!("{by_r:.2} R, one locked instruction on a random line"),
    );
}

fn add_table(rounds: &Rounds, results: &mut Results) {
    let mut table = Table::new(
        "one-thread",
        &["Plain4x16, one thread", "ns", "floor beside it, ns", "multiple"],
    );
    for (name, nanoseconds, floor, times) in rounds.medians() {
        let unit = if name.ends_with("by R") { "R" } else { "F" };
        let multiple = format!("{times:.2} {unit}");
        table.push(vec![name.into(), format!("{nanoseconds:.1}"), format!("{floor:.1}"), multiple]);
    }
    results.tables.push(table);
}

fn add_charts(rounds: &Rounds, results: &mut Results) {
    let series = |nth, kind: &str| {
        let points = PRESENT.map(|present| {
            (
                f64::from(present),
                rounds.nanoseconds(&format!("look-up, {present} % present, {kind}")),
            )
        });
        Series::line(nth, format!("guira, {kind}"), points.to_vec())
    };
    let f = rounds.medians().next().map_or(f64::NAN, |(_, _, floor, _)| floor);
    results.charts.push(
        Chart::new(
            "lookups-by-presence-one-thread",
            "Look-ups by presence, beside the memory floor",
        )
        .x("keys present (%)")
        .y("time per look-up (ns)")
        .with(series(0, "batch"))
        .with(series(1, "single"))
        .with(Series::guide("floor F, two lines per key", vec![(0.0, f), (100.0, f)])),
    );
    let names: Vec<&str> = bands(100).map(|(name, _)| name).collect();
    let series = |nth, kind: &str| {
        let points = names
            .iter()
            .zip(BAND_MIDDLES)
            .map(|(name, middle)| (middle, rounds.nanoseconds(&format!("insert {name}, {kind}"))));
        Series::line(nth, format!("guira, {kind}"), points.collect())
    };
    results.charts.push(
        Chart::new("inserts-by-load-one-thread", "Inserts by load, beside the memory floor")
            .x("load (% of capacity, middle of the band)")
            .y("time per insert (ns)")
            .log_y()
            .with(series(0, "batch"))
            .with(series(1, "single"))
            .with(Series::guide("floor F, two lines per key", vec![(25.0, f), (97.5, f)])),
    );
}
