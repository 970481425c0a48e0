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
                self.latencies.push(Latency {
                    peer,
                    reading,
                    writers,
                    nanoseconds,
                    reads: run.reads,
                    writes: run.writes,
                    misses: run.misses,
                });
            }
        }
    }

    /// Returns the speed of two threads as a multiple of that of one.
    pub fn two_against_one(&self, peer: &Candidate, reads: u32) -> Option<f64> {
        Some(self.speed(peer, reads, 2)? / self.speed(peer, reads, 1)?)
    }

    fn speed(&self, peer: &Candidate, reads: u32, threads: usize) -> Option<f64> {
        let wanted = (peer.name, reads, threads);
        let mut speeds = self.speeds.iter();
        let found = speeds.find(|it| (it.peer.name, it.reads, it.threads) == wanted);
        found.map(|it| it.operations)
    }

    /// Adds the tables, and the plot of the latencies.
    pub fn report(&self, results: &mut Results) {
        let of_one = |row: &Speed| {
            let one = self.speed(row.peer, row.reads, 1).unwrap_or(f64::NAN);
            format!("{:.2}", row.operations / one)
        };
        let speeds = Table::of(
            "peers-throughput",
            &self.speeds,
            &[
                ("crate", &|row| row.peer.name.into()),
                ("reads, %", &|row| row.reads.to_string()),
                ("threads", &|row| row.threads.to_string()),
                ("million operations/s", &|row| format!("{:.1}", row.operations)),
                ("per thread", &|row| format!("{:.1}", row.operations / row.threads as f64)),
                ("against one", &of_one),
            ],
        );
        results.tables.push(("Other crates, by threads", speeds));
        let latencies = Table::of(
            "peers-latency",
            &self.latencies,
            &[
                ("one reader", &|row| row.peer.name.into()),
                ("of", &|row| {
                    if row.is_single() { "single lookups".into() } else { "bursts of 32".into() }
                }),
                ("writers", &|row| row.writers.to_string()),
                ("p50, ns", &|row| row.nanoseconds[0].to_string()),
                ("p99, ns", &|row| row.nanoseconds[1].to_string()),
                ("p99.9, ns", &|row| row.nanoseconds[2].to_string()),
                ("million reads/s", &|row| format!("{:.1}", row.reads)),
                ("million writes/s", &|row| format!("{:.1}", row.writes)),
                ("misses of present keys", &|row| row.misses.to_string()),
            ],
        );
        results.tables.push(("Other crates, one reader beside writers", latencies));
        let title = "A lookup beside writers, 99.9th percentile";
        let chart = Chart::new("latency-beside-writers-p999", title)
            .x("writers beside the reader")
            .whole_x()
            .y("latency (ns)")
            .log_y();
        let single: Vec<&Latency> = self.latencies.iter().filter(|it| it.is_single()).collect();
        // The figures of a crate follow one another.
        let of_peers = single.chunk_by(|a, b| a.peer.name == b.peer.name);
        let series = of_peers.map(|rows| {
            let points = rows.iter().map(|it| (it.writers as f64, it.nanoseconds[2] as f64));
            Series::new(rows[0].peer.look, rows[0].peer.name, points.collect())
        });
        results.charts.push(chart.with_all(series));
    }
}

impl Latency {
    fn is_single(&self) -> bool {
        self.reading == Reading::SingleTimed
    }
}
