//! A filter or set that threads share: throughput by threads, and the latency of one reader's
//! lookups beside writers.

use guira_harness::{
    plot::{Chart, Series},
    table::Table,
};

use crate::{
    bench::{Bench, Results},
    peers::Candidate,
    threads::{Population, Reading, Shared, Work, beside, throughput},
};

/// One crate by one number of threads.
struct Speed {
    peer: &'static Candidate,
    /// Per cent of reads.
    reads: u32,
    threads: usize,
    /// Million operations per second of all threads.
    operations: f64,
}

/// One reader of one crate beside writers.
struct Latency {
    peer: &'static Candidate,
    reading: Reading,
    writers: usize,
    /// Nanoseconds at the quantiles 0.5, 0.99 and 0.999.
    nanoseconds: [u64; 3],
    /// Million reads and writes per second.
    reads: f64,
    writes: f64,
    /// Lookups that missed a key that was always present.
    misses: u64,
}

/// Figures of all crates that threads can share.
#[derive(Default)]
pub struct SharedFigures {
    speeds: Vec<Speed>,
    latencies: Vec<Latency>,
}

/// Returns the numbers of threads to measure: one, two, one per core, and more than there are
/// cores.
pub fn thread_counts(bench: &Bench) -> Vec<usize> {
    let cores = bench.cores.count();
    let mut counts = vec![1, 2, cores, 2 * cores];
    if bench.mode.pick(false, false, true) {
        counts.extend(std::iter::successors(Some(2), |n| Some(n * 2)).take_while(|&n| n < cores));
        counts.push(4 * cores);
    }
    counts.sort_unstable();
    counts.dedup();
    counts
}

fn writer_counts(bench: &Bench) -> &'static [usize] {
    bench.mode.pick(&[0, 1, 2], &[0, 1, 2], &[0, 1, 2, 4])
}

/// Returns the number of threads that need keys of their own.
pub fn most_threads(bench: &Bench) -> usize {
    thread_counts(bench).iter().chain(writer_counts(bench)).copied().max().unwrap_or(1)
}

impl SharedFigures {
    /// Measures one filter that holds the population.
    pub fn measure(
        &mut self,
        bench: &Bench,
        peer: &'static Candidate,
        filter: &dyn Shared,
        population: &Population,
    ) {
        for reads in [100, 50] {
            if reads < 100 && !filter.can_remove() {
                continue;
            }
            for threads in thread_counts(bench) {
                crate::stop::point();
                let work = Work::mix(reads);
                let run = throughput(filter, &bench.cores, population, threads, work, bench.time);
                self.speeds.push(Speed { peer, reads, threads, operations: run.total() });
            }
        }
        if !filter.can_remove() {
            return;
        }
        for reading in [Reading::SingleTimed, Reading::BurstTimed] {
            for &writers in writer_counts(bench) {
                crate::stop::point();
                let both = (filter, population);
                let run = beside(both, both, &bench.cores, writers, reading, bench.time);
                let nanoseconds = [0.5, 0.99, 0.999].map(|q| run.latency.value_at_quantile(q));
                let (reads, writes, misses) = (run.reads, run.writes, run.misses);
                let latency =
                    Latency { peer, reading, writers, nanoseconds, reads, writes, misses };
                self.latencies.push(latency);
            }
        }
    }

    /// Returns the speed of two threads as a multiple of that of one.
    pub fn two_against_one(&self, peer: &Candidate, reads: u32) -> Option<f64> {
        let speed = |threads| {
            let mut speeds = self.speeds.iter();
            let found = speeds
                .find(|it| (it.peer.name, it.reads, it.threads) == (peer.name, reads, threads));
            found.map(|it| it.operations)
        };
        Some(speed(2)? / speed(1)?)
    }

    /// Adds the tables and plots.
    pub fn report(&self, results: &mut Results) {
        results.tables.extend([self.throughput(), self.latency()]);
        for (reads, name, title) in [
            (100, "throughput-by-threads-reads", "Lookups by threads, 94 % load"),
            (50, "throughput-by-threads-mixed", "Half reads, half writes, 94 % load"),
        ] {
            let chart = Chart::new(name, title)
                .x("threads")
                .whole_x()
                .y("throughput (million operations per second)");
            let speeds = self.speeds.iter().filter(|it| it.reads == reads);
            results.charts.push(
                chart.with_all(by_peer(
                    speeds.map(|it| (it.peer, (it.threads as f64, it.operations))),
                )),
            );
        }
        for (nth, name, title) in [
            (1, "latency-beside-writers-p99", "A lookup beside writers, 99th percentile"),
            (2, "latency-beside-writers-p999", "A lookup beside writers, 99.9th percentile"),
        ] {
            let chart = Chart::new(name, title)
                .x("writers beside the reader")
                .whole_x()
                .y("latency (ns)")
                .log_y();
            let single = self.latencies.iter().filter(|it| it.reading == Reading::SingleTimed);
            let points =
                single.map(|it| (it.peer, (it.writers as f64, it.nanoseconds[nth] as f64)));
            results.charts.push(chart.with_all(by_peer(points)));
        }
    }

    fn throughput(&self) -> Table {
        let head =
            ["crate", "reads, %", "threads", "million operations/s", "per thread", "against one"];
        let mut table = Table::new("peers-throughput", &head);
        for row in &self.speeds {
            let of_one =
                |it: &&Speed| (it.peer.name, it.reads, it.threads) == (row.peer.name, row.reads, 1);
            let one = self.speeds.iter().find(of_one).map_or(f64::NAN, |it| it.operations);
            table.push(vec![
                row.peer.name.into(),
                row.reads.to_string(),
                row.threads.to_string(),
                format!("{:.1}", row.operations),
                format!("{:.1}", row.operations / row.threads as f64),
                format!("{:.2}", row.operations / one),
            ]);
        }
        table
    }

    fn latency(&self) -> Table {
        let head = [
            "one reader",
            "of",
            "writers",
            "p50, ns",
            "p99, ns",
            "p99.9, ns",
            "million reads/s",
            "million writes/s",
            "misses of present keys",
        ];
        let mut table = Table::new("peers-latency", &head);
        for row in &self.latencies {
            let what = match row.reading {
                Reading::BurstTimed => "bursts of 32",
                _ => "single lookups",
            };
            let mut cells = vec![row.peer.name.into(), what.into(), row.writers.to_string()];
            cells.extend(row.nanoseconds.map(|nanoseconds| nanoseconds.to_string()));
            cells.extend([row.reads, row.writes].map(|speed| format!("{speed:.1}")));
            cells.push(row.misses.to_string());
            table.push(cells);
        }
        table
    }
}

/// One series per crate, in order of first appearance.
fn by_peer(points: impl Iterator<Item = (&'static Candidate, (f64, f64))>) -> Vec<Series> {
    let mut curves: Vec<(&Candidate, Vec<(f64, f64)>)> = Vec::new();
    for (peer, point) in points {
        match curves.iter_mut().find(|(known, _)| known.name == peer.name) {
            Some((_, points)) => points.push(point),
            None => curves.push((peer, vec![point])),
        }
    }
    let series = curves.into_iter();
    series.map(|(peer, points)| Series::new(peer.look, peer.name, points)).collect()
}
