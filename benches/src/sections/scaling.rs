//! guira by threads, over mixes of reads and writes, at several loads.

use guira::Layout;
use guira_harness::{
    Keys, filter_of,
    plot::{Chart, Look, Series},
    table::Table,
};

use super::shared::thread_counts;
use crate::{
    bench::{Bench, Results, Section},
    threads::{Population, Work, throughput},
};

/// Per cent of reads in the mixes.
const READS: [u32; 5] = [100, 95, 90, 50, 0];

/// One mix at one load by one number of threads.
struct Row {
    load: u64,
    reads: u32,
    threads: usize,
    /// Million operations per second of all threads.
    speed: f64,
    failures: u64,
}

#[derive(Default)]
pub struct Scaling(Vec<Row>);

impl Section for Scaling {
    fn measure(&mut self, bench: &Bench) {
        let counts = thread_counts(bench);
        let most = counts.iter().copied().max().unwrap_or(1);
        for &load in bench.mode.pick(&[80][..], &[80], &[50, 80, 95]) {
            let filter = filter_of(Layout::Plain4x16, bench.bytes);
            let items = filter.slots() as u64 * load / 100;
            let population = Population::new(Keys::new(load), items, most);
            assert_eq!(population.fill(&filter), 0, "room at {load} % load");
            for reads in READS {
                bench.say(format!("{reads} % reads at {load} % load"));
                for &threads in &counts {
                    let work = Work::mix(reads);
                    let (cores, time) = (&bench.cores, bench.time);
                    let run = throughput(&filter, cores, &population, threads, work, time);
                    let (speed, failures) = (run.total(), run.failures);
                    self.0.push(Row { load, reads, threads, speed, failures });
                }
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let head = [
            "load, %",
            "reads, %",
            "threads",
            "million operations/s",
            "per thread",
            "against one",
            "failed writes",
        ];
        let mut table = Table::new("scaling", &head);
        for row in &self.0 {
            let one = self.curve(row.load, row.reads).next().map_or(f64::NAN, |(_, one)| one);
            table.push(vec![
                row.load.to_string(),
                row.reads.to_string(),
                row.threads.to_string(),
                format!("{:.1}", row.speed),
                format!("{:.1}", row.speed / row.threads as f64),
                format!("{:.2}", row.speed / one),
                row.failures.to_string(),
            ]);
        }
        results.tables.push(table);
        for (load, name, title) in [
            (50, "scaling-50", "guira by threads at 50 % load"),
            (80, "scaling-80", "guira by threads at 80 % load"),
            (95, "scaling-95", "guira by threads at 95 % load"),
        ] {
            let mut chart = Chart::new(name, title)
                .x("threads")
                .whole_x()
                .y("throughput (million operations per second)");
            for (nth, reads) in READS.into_iter().enumerate() {
                let look = if nth == 0 { Look::GUIRA } else { Look::nth(nth) };
                let points = self.curve(load, reads).collect();
                chart.push(Series::new(look, format!("{reads} % reads"), points));
            }
            results.charts.push(chart);
        }
    }
}

impl Scaling {
    /// Returns speed by threads.
    fn curve(&self, load: u64, reads: u32) -> impl Iterator<Item = (f64, f64)> {
        let rows = self.0.iter().filter(move |row| (row.load, row.reads) == (load, reads));
        rows.map(|row| (row.threads as f64, row.speed))
    }
}
