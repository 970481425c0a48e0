//! Every crate with the same keys in the same run: memory, false-positive rate, and speed by one
//! thread, with a million items and in memory; and by two threads, and beside writers.

use guira_harness::{
    BATCH, Keys,
    plot::{Chart, Series},
    table::{Table, cell},
};

use crate::{
    bench::{Bench, Results, Section},
    memory,
    peers::{self, Candidate, Peer, Size},
    rounds::Rounds,
    stop,
    threads::{Population, Reading, Shared, Work, beside, throughput},
    timing::{Clock, PRESENT, STEP, bands, median, over_keys, over_range},
};

/// Lookups of absent keys behind one false-positive rate.
const LOOKUPS: usize = 1 << 24;

/// Size of the tables with a million items, in bytes.
const SMALL: usize = 2 << 20;

/// Number of threads that have keys of their own in each filter.
const POPULATIONS: usize = 4;

/// The keys of all crates.
const KEYS: Keys = Keys::new(11);

/// What stands in README.md.
const README: [&str; 6] =
    [peers::FLOOR, "guira Plain4x16", "sbbf-rs", "xorf BinaryFuse16", "cuckoofilter", "papaya set"];

/// Names of the two sizes.
const SIZES: [&str; 2] = ["1 M items", "memory"];

/// Figures in the table, with their digits; times are nanoseconds per key.
const COLUMNS: [(&str, usize); 8] = [
    ("bits per item", 1),
    ("false positives, %", 4),
    ("refused items", 0),
    ("insert", 1),
    ("lookup, 100 % present", 1),
    ("lookup, 50 % present", 1),
    ("lookup, 0 % present", 1),
    ("remove", 1),
];

/// Name of the speed of two threads, half of whose operations are writes, beside that of one.
const TWO: &str = "2 threads : 1, half writes";

/// Largest number of writers beside the reader.
const MAX_WRITERS: usize = 2;

/// Figures by name, most without a base; NaN where a crate has no such operation.
#[derive(Default)]
pub struct Peers(Rounds);

impl Section for Peers {
    fn measure(&mut self, bench: &Bench) {
        let named = peers::names().any(|name| bench.is_named(name));
        let available = peers::ALL.iter().filter(|peer| peer.is_available());
        for peer in available.filter(|peer| !named || bench.is_named(peer.name)) {
            bench.say(peer.name);
            for batches in [false, true] {
                if peer.kernel.is_some() && !batches {
                    continue;
                }
                for _ in 0..bench.rounds {
                    self.one_thread(bench, peer, SIZES[0], SMALL, batches);
                }
                self.one_thread(bench, peer, SIZES[1], bench.bytes, batches);
            }
        }
    }

    fn report(&self, results: &mut Results) {
        results.tables.push(("In memory, by one thread", self.brief("brief", |_| true)));
        let is_first = |peer: &Candidate| README.contains(&peer.name);
        results.tables.push(("What a reader compares first", self.brief("first", is_first)));
        results.tables.push(("Comparison with other crates", self.comparison()));
        self.add_charts(results);
    }
}

/// Returns the name of a crate, and whether it works in batches.
fn row(peer: &Candidate, batches: bool) -> String {
    if batches { format!("{}, batch", peer.name) } else { peer.name.to_string() }
}

impl Peers {
    /// Measures one crate at one size, unless it has no batches; in memory, by several threads too.
    fn one_thread(
        &mut self,
        bench: &Bench,
        peer: &'static Candidate,
        size: &str,
        bytes: usize,
        batches: bool,
    ) {
        // Whole keys take some sixteen times the memory of a fingerprint.
        let fewer = if peer.is_set && bytes > SMALL { 16 } else { 1 };
        let items = bytes / 2 * 94 / 100 / fewer;
        let population = Population::new(KEYS, items as u64, POPULATIONS);
        let before = memory::held();
        let mut filter = (peer.build)(Size { items, bytes });
        if batches && filter.lookup_batch(&[], &mut []).is_none() {
            return;
        }
        bench.cores.pin(1);
        let row = row(peer, batches);
        let note = |figures: &mut Rounds, what: &str, figure| {
            figures.note(format!("{row}, {size}: {what}"), figure, f64::NAN);
        };
        let figures = &mut self.0;
        fill(filter.as_mut(), &population, items, before, batches, &mut |what, figure| {
            note(figures, what, figure);
        });
        look_up(filter.as_ref(), &population, batches, &mut |what, figure| {
            note(figures, what, figure);
        });
        if bytes > SMALL
            && !batches
            && let Some(filter) = filter.shared()
        {
            share(figures, bench, peer, filter, &population);
            bench.cores.pin(1);
        }
        note(figures, "remove", remove(filter.as_mut(), &population, batches));
    }

    /// Returns a figure, or NaN.
    fn figure(&self, row: &str, size: &str, what: &str) -> f64 {
        self.0.row(&format!("{row}, {size}: {what}")).figure
    }

    /// Returns the crates that were measured, singly and in batches.
    fn measured(&self) -> impl Iterator<Item = (&'static Candidate, bool, String)> {
        let all = peers::ALL.iter().flat_map(|peer| [(peer, false), (peer, true)]);
        let all = all.map(|(peer, batches)| (peer, batches, row(peer, batches)));
        all.filter(|(.., row)| self.figure(row, SIZES[0], COLUMNS[0].0).is_finite())
    }

    fn comparison(&self) -> Table {
        let columns = || SIZES.into_iter().flat_map(|size| COLUMNS.map(|column| (size, column)));
        let figures = columns().map(|(size, (what, _))| format!("{size}: {what}"));
        let head = ["crate", "concurrent writes"].map(String::from).into_iter();
        let head: Vec<String> = head.chain(figures).chain([TWO.into()]).collect();
        let mut table =
            Table::new("comparison", &head.iter().map(String::as_str).collect::<Vec<_>>());
        for (peer, batches, row) in self.measured() {
            let mut cells = vec![row.clone(), peer.writes.into()];
            cells.extend(
                columns().map(|(size, (what, digits))| {
                    cell(Some(self.figure(&row, size, what)), digits)
                }),
            );
            let of_one = self.0.row(&format!("{}: {TWO}", peer.name)).times;
            cells.push(cell(Some(of_one).filter(|_| !batches), 2));
            table.push(cells);
        }
        table
    }

    /// What a reader compares first, of some crates: tables in memory, by one thread.
    fn brief(&self, name: &'static str, is_wanted: impl Fn(&Candidate) -> bool) -> Table {
        const HEAD: [&str; 6] = [
            "crate",
            "insert, ns",
            "lookup, present / absent, ns",
            "remove, ns",
            "bits per item",
            "false positives, %",
        ];
        let mut table = Table::new(name, &HEAD);
        for (.., row) in self.measured().filter(|it| is_shown(it.0) && is_wanted(it.0)) {
            let figure = |what| short(self.figure(&row, SIZES[1], what));
            let [present, absent] = ["lookup, 100 % present", "lookup, 0 % present"].map(figure);
            let [insert, remove, bits, rate] =
                ["insert", "remove", "bits per item", "false positives, %"].map(figure);
            table.push(vec![row, insert, format!("{present} / {absent}"), remove, bits, rate]);
        }
        table
    }

    fn add_charts(&self, results: &mut Results) {
        let mut lookups = Chart::new("lookups-by-presence", "Lookups by presence, one thread")
            .x("present keys (%)")
            .y("time per lookup (ns)");
        let mut inserts = Chart::new("inserts-by-load", "Inserts by load, one thread")
            .x("load (% of the items)")
            .y("time per insert (ns)")
            .log_y();
        for (peer, batches, row) in self.measured().filter(|it| is_shown(it.0)) {
            let look = if batches { peer.look.variant() } else { peer.look };
            let figure = |what: String| self.figure(&row, SIZES[1], &what);
            let points = PRESENT.map(|present| {
                (f64::from(present), figure(format!("lookup, {present} % present")))
            });
            lookups.push(Series::new(look, &row, points.to_vec()));
            let points = bands(100).map(|(name, band)| {
                let middle = f64::midpoint(band.start as f64, band.end as f64);
                (middle, figure(format!("insert {name}")))
            });
            let points: Vec<(f64, f64)> = points.collect();
            if points[0].1.is_finite() {
                inserts.push(Series::new(look, &row, points));
            }
        }
        let title = "A lookup beside writers, 99.9th percentile";
        let mut latencies = Chart::new("latency-beside-writers-p999", title)
            .x("writers beside the reader")
            .whole_x()
            .y("latency (ns)")
            .log_y();
        for (peer, ..) in self.measured().filter(|it| !it.1) {
            let points = (0..=MAX_WRITERS).map(|writers| {
                let name = format!("{}: {writers} writers", peer.name);
                (writers as f64, self.0.row(&name).figure)
            });
            let points: Vec<(f64, f64)> = points.collect();
            if points[0].1.is_finite() {
                latencies.push(Series::new(peer.look, peer.name, points));
            }
        }
        let title = "Time of a lookup of an absent key in 128 MiB, one thread (ns)";
        let mut absent = Chart::new("lookups", title).bars();
        for (peer, batches, row) in self.measured().filter(|it| README.contains(&it.0.name)) {
            let time = self.figure(&row, SIZES[1], "lookup, 0 % present");
            let look = if batches { peer.look.variant() } else { peer.look };
            absent.push(Series::new(look, row, vec![(0.0, time)]));
        }
        results.charts.extend([lookups, inserts, latencies, absent]);
    }
}

/// Returns whether a crate is in the plots and in the brief table. Locked filters are for several
/// threads, and guira's kernels differ only in lookups.
fn is_shown(peer: &Candidate) -> bool {
    peer.writes != peers::LOCKED && peer.kernel.is_none()
}

/// Formats a figure with three digits, or more before the point.
fn short(figure: f64) -> String {
    let before_point = if figure > 0.0 { figure.log10().floor() as i32 + 1 } else { 1 };
    cell(Some(figure), (3 - before_point).clamp(0, 4) as usize)
}

/// Inserts all keys of the population.
fn fill(
    filter: &mut dyn Peer,
    population: &Population,
    items: usize,
    held_before: isize,
    batches: bool,
    note: &mut dyn FnMut(&str, f64),
) {
    let mut clocks = [Clock::default(); 5];
    let ends: Vec<u64> = bands(items as u64).map(|(_, band)| band.end).collect();
    let (mut inserted, mut fitted, mut can_insert) = (0, 0, true);
    population.blocks(|block| {
        stop::point();
        let band = ends.iter().position(|&end| inserted < end).unwrap_or(4);
        let result = clocks[band].time(block, |block| {
            if batches { filter.insert_batch(block) } else { filter.inserts(block) }
        });
        fitted += result.unwrap_or(0);
        can_insert &= result.is_some();
        inserted += block.len() as u64;
    });
    let mut held = memory::held() - held_before;
    if can_insert {
        note("refused items", (inserted as usize - fitted) as f64);
        note("insert", clocks.into_iter().fold(Clock::default(), Clock::and).per_key());
        for ((band, _), clock) in bands(items as u64).zip(clocks) {
            note(&format!("insert {band}"), clock.per_key());
        }
    } else {
        let mut keys = Vec::with_capacity(items);
        population.blocks(|block| keys.extend_from_slice(block));
        let mut clock = Clock::default();
        let before = memory::held();
        if clock.time(&keys, |keys| filter.make(keys)).is_some() {
            note("insert", clock.per_key());
        }
        held = memory::held() - before;
    }
    note("bits per item", held as f64 * 8.0 / inserted as f64);
}

fn look_up(
    filter: &dyn Peer,
    population: &Population,
    batches: bool,
    note: &mut dyn FnMut(&str, f64),
) {
    let mut found = [false; BATCH];
    let mut look = |block: &[u64]| {
        if batches {
            filter.lookup_batch(block, &mut found[..block.len()]).expect("batches")
        } else {
            filter.lookups(block)
        }
    };
    for present in PRESENT {
        let targets = population.reads(0, present);
        let time = median((0..3).map(|_| over_keys(&targets, &mut look).per_key()));
        note(&format!("lookup, {present} % present"), time);
    }
    let mut hits = 0;
    over_range(KEYS, 1 << 63..(1 << 63) + LOOKUPS as u64, |block| hits += look(block));
    note("false positives, %", 100.0 * hits as f64 / LOOKUPS as f64);
}

/// Removes keys that no thread has changed. Returns nanoseconds per key, or NaN.
fn remove(filter: &mut dyn Peer, population: &Population, batches: bool) -> f64 {
    let mine = population.indices(0);
    let until = mine.start + STEP.min((mine.end - mine.start) / 2);
    let (mut removed, mut can_remove) = ([false; BATCH], true);
    let clock = over_range(KEYS, mine.start..until, |block| {
        let result = if batches {
            filter.remove_batch(block, &mut removed[..block.len()])
        } else {
            filter.removes(block)
        };
        can_remove &= result.is_some();
    });
    if can_remove { clock.per_key() } else { f64::NAN }
}

/// Measures a filter that holds the population by two threads against one, half of their operations
/// writes, and the latency of one reader's lookups beside writers.
fn share(
    figures: &mut Rounds,
    bench: &Bench,
    peer: &Candidate,
    filter: &dyn Shared,
    population: &Population,
) {
    if !filter.can_remove() {
        return;
    }
    let [one, two] = [1, 2].map(|threads| {
        stop::point();
        throughput(filter, &bench.cores, population, threads, Work::mix(50), bench.time)
    });
    figures.note(format!("{}: {TWO}", peer.name), two, one);
    for writers in 0..=MAX_WRITERS {
        stop::point();
        let both = (filter, population);
        let run = beside(both, both, &bench.cores, writers, Reading::Timed, bench.time);
        let p999 = run.latency.value_at_quantile(0.999) as f64;
        figures.note(format!("{}: {writers} writers", peer.name), p999, f64::NAN);
    }
}
