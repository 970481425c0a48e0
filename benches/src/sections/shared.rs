//! A filter or set that threads share: two threads against one, and the latency of one reader's
//! lookups beside writers.

use guira_harness::plot::{Chart, Series};

use crate::{
    bench::{Bench, Results},
    peers::Candidate,
    rounds::Rounds,
    stop,
    threads::{Population, Reading, Shared, Work, beside, throughput},
};

/// Largest number of writers beside the reader.
const MAX_WRITERS: usize = 2;

/// The latency of one reader of one crate beside writers.
struct Latency {
    peer: &'static Candidate,
    writers: usize,
    /// Nanoseconds at the 99.9th percentile.
    p999: u64,
}

/// Figures of all crates that threads can share.
#[derive(Default)]
pub struct SharedFigures {
    /// Million operations per second of two threads, beside those of one.
    speeds: Rounds,
    latencies: Vec<Latency>,
}

/// Returns the name of the speeds of a crate with this per cent of reads.
fn name(peer: &Candidate, reads: u32) -> String {
    format!("{}, {reads} % reads", peer.name)
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
            if reads == 100 || filter.can_remove() {
                let [one, two] = [1, 2].map(|threads| {
                    stop::point();
                    let work = Work::mix(reads);
                    throughput(filter, &bench.cores, population, threads, work, bench.time).total()
                });
                self.speeds.note(name(peer, reads), two, one);
            }
        }
        if !filter.can_remove() {
            return;
        }
        for writers in 0..=MAX_WRITERS {
            stop::point();
            let both = (filter, population);
            let run = beside(both, both, &bench.cores, writers, Reading::Timed, bench.time);
            let p999 = run.latency.value_at_quantile(0.999);
            self.latencies.push(Latency { peer, writers, p999 });
        }
    }

    /// Returns the speed of two threads as a multiple of that of one, or NaN.
    pub fn two_against_one(&self, peer: &Candidate, reads: u32) -> f64 {
        self.speeds.row(&name(peer, reads)).times
    }

    /// Adds the table of the speeds, and the plot of the latencies.
    pub fn report(&self, results: &mut Results) {
        let head = ["million operations/s", "two threads", "one thread", "times"];
        let speeds = self.speeds.table("peers-throughput", head, 1);
        results.tables.push(("Other crates, by two threads", speeds));
        let title = "A lookup beside writers, 99.9th percentile";
        let chart = Chart::new("latency-beside-writers-p999", title)
            .x("writers beside the reader")
            .whole_x()
            .y("latency (ns)")
            .log_y();
        // The figures of a crate follow one another.
        let of_peers = self.latencies.chunk_by(|a, b| a.peer.name == b.peer.name);
        let series = of_peers.map(|rows| {
            let points = rows.iter().map(|it| (it.writers as f64, it.p999 as f64));
            Series::new(rows[0].peer.look, rows[0].peer.name, points.collect())
        });
        results.charts.push(chart.with_all(series));
    }
}
