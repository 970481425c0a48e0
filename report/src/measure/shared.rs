//! What threads have of a filter or set that they share: throughput by threads, and the latency of one
//! reader's look-ups beside writers.

use super::{Bench, Results};
use crate::{
    common::threads::{Population, Reading, Shared, Work, beside, throughput},
    peers::Candidate,
    plot::{Chart, Series},
    table::{Table, cell},
};

/// Figures of all peers that threads can share.
pub struct SharedFigures {
    threads: Vec<usize>,
    writers: Vec<usize>,
    throughput: Table,
    latency: Table,
    reads: Chart,
    mixed: Chart,
    p99: Chart,
    p999: Chart,
}

/// Numbers of threads to measure: one, one for each core, and more than there are cores.
pub fn thread_counts(bench: &Bench) -> Vec<usize> {
    let cores = bench.cores.count();
    let mut counts = vec![1];
    if bench.full {
        counts.extend(std::iter::successors(Some(2), |n| Some(n * 2)).take_while(|&n| n < cores));
    }
    counts.extend([cores, 2 * cores]);
    if bench.full {
        counts.push(4 * cores);
    }
    counts.dedup();
    counts
}

impl SharedFigures {
    pub fn new(bench: &Bench) -> Self {
        let threads = thread_counts(bench);
        let writers = if bench.full { vec![0, 1, 2, 4] } else { vec![0, 1, 2] };
        let chart = |name, title: &str| Chart::new(name, title);
        let by_threads = |name, title| {
            chart(name, title)
                .x("threads")
                .whole_x()
                .y("throughput (million operations per second)")
        };
        let by_writers = |name, title| {
            chart(name, title).x("writers beside the reader").whole_x().y("latency (ns)").log_y()
        };
        Self {
            threads,
            writers,
            throughput: Table::new(
                "peers-throughput",
                &[
                    "peer",
                    "reads, %",
                    "threads",
                    "million operations/s",
                    "per thread",
                    "against one",
                ],
            ),
            latency: Table::new(
                "peers-latency",
                &[
                    "one reader",
                    "of",
                    "writers",
                    "p50, ns",
                    "p99, ns",
                    "p99.9, ns",
                    "million reads/s",
                    "million writes/s",
                    "misses of present keys",
                ],
            ),
            reads: by_threads("throughput-by-threads-reads", "Look-ups by threads, 94 % load"),
            mixed: by_threads("throughput-by-threads-mixed", "Half reads, half writes, 94 % load"),
            p99: by_writers(
                "latency-beside-writers-p99",
                "A look-up beside writers, 99th percentile",
            ),
            p999: by_writers(
                "latency-beside-writers-p999",
                "A look-up beside writers, 99.9th percentile",
            ),
        }
    }

    /// How many threads need keys of their own.
    pub fn most_threads(&self) -> usize {
        self.threads.iter().chain(&self.writers).copied().max().unwrap_or(1)
    }

    /// Measures one filter that holds the population.
    pub fn measure(
        &mut self,
        bench: &Bench,
        peer: &Candidate,
        filter: &dyn Shared,
        population: &Population,
    ) {
        self.by_threads(bench, peer, filter, population);
        if filter.can_remove() {
            self.beside_writers(bench, peer, filter, population);
        }
    }

    fn by_threads(
        &mut self,
        bench: &Bench,
        peer: &Candidate,
        filter: &dyn Shared,
        population: &Population,
    ) {
        for (reads, chart) in [(100, &mut self.reads), (50, &mut self.mixed)] {
            if reads < 100 && !filter.can_remove() {
                continue;
            }
            let mut points = Vec::new();
            for &threads in &self.threads {
                let work = Work::mix(reads);
                let run = throughput(filter, &bench.cores, population, threads, work, bench.time);
                let all = run.total();
                points.push((threads as f64, all));
                self.throughput.push(vec![
                    peer.name.into(),
                    reads.to_string(),
                    threads.to_string(),
                    format!("{all:.1}"),
                    format!("{:.1}", all / threads as f64),
                    format!("{:.2}", all / points[0].1),
                ]);
            }
            chart.push(Series::line(peer.nth(), peer.name, points));
        }
    }

    fn beside_writers(
        &mut self,
        bench: &Bench,
        peer: &Candidate,
        filter: &dyn Shared,
        population: &Population,
    ) {
        for (reading, what) in
            [(Reading::SingleTimed, "single look-ups"), (Reading::BurstTimed, "bursts of 32")]
        {
            let (mut p99, mut p999) = (Vec::new(), Vec::new());
            for &writers in &self.writers {
                let both = (filter, population);
                let run = beside(both, both, &bench.cores, writers, reading, bench.time);
                let quantile = |q| run.latency.value_at_quantile(q) as f64;
                p99.push((writers as f64, quantile(0.99)));
                p999.push((writers as f64, quantile(0.999)));
                self.latency.push(vec![
                    peer.name.into(),
                    what.into(),
                    writers.to_string(),
                    cell(Some(quantile(0.5)), 0),
                    cell(Some(quantile(0.99)), 0),
                    cell(Some(quantile(0.999)), 0),
                    format!("{:.1}", run.reads),
                    format!("{:.1}", run.writes),
                    run.misses.to_string(),
                ]);
            }
            if reading == Reading::SingleTimed {
                self.p99.push(Series::line(peer.nth(), peer.name, p99));
                self.p999.push(Series::line(peer.nth(), peer.name, p999));
            }
        }
    }

    pub fn finish(self, results: &mut Results) {
        results.tables.extend([self.throughput, self.latency]);
        results.charts.extend([self.reads, self.mixed, self.p99, self.p999]);
    }
}
