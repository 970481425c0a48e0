//! guira by threads, over mixes of reads and writes, at several loads.

use guira::Layout;

use super::{Bench, Results, shared::thread_counts};
use crate::{
    common::{
        Keys,
        threads::{Population, Work, throughput},
    },
    peers::filter_of,
    plot::{Chart, Series},
    table::Table,
};

pub fn run(bench: &Bench, results: &mut Results) {
    let threads = thread_counts(bench);
    let most = threads.iter().copied().max().unwrap_or(1);
    let mut table = Table::new(
        "scaling",
        &[
            "load, %",
            "reads, %",
            "threads",
            "million operations/s",
            "per thread",
            "against one",
            "failed writes",
        ],
    );
    let loads: &[u64] = if bench.full { &[50, 80, 95] } else { &[80] };
    for &load in loads {
        let filter = filter_of(Layout::Plain4x16, bench.bytes);
        let items = filter.slots() as u64 * load / 100;
        let population = Population::new(Keys::new(load), items, most);
        assert_eq!(population.fill(&filter), 0, "room at {load} % load");
        let (name, title) = match load {
            50 => ("scaling-50", "guira by threads at 50 % load"),
            80 => ("scaling-80", "guira by threads at 80 % load"),
            _ => ("scaling-95", "guira by threads at 95 % load"),
        };
        let mut chart = Chart::new(name, title)
            .x("threads")
            .whole_x()
            .y("throughput (million operations per second)");
        for (nth, reads) in [100, 95, 90, 50, 0].into_iter().enumerate() {
            bench.say(format!("{reads} % reads at {load} % load"));
            let mut points = Vec::new();
            for &threads in &threads {
                let work = Work::mix(reads);
                let run = throughput(&filter, &bench.cores, &population, threads, work, bench.time);
                let all = run.total();
                points.push((threads as f64, all));
                table.push(vec![
                    load.to_string(),
                    reads.to_string(),
                    threads.to_string(),
                    format!("{all:.1}"),
                    format!("{:.1}", all / threads as f64),
                    format!("{:.2}", all / points[0].1),
                    run.failures.to_string(),
                ]);
            }
            chart.push(Series::line(nth, format!("{reads} % reads"), points));
        }
        results.charts.push(chart);
    }
    results.tables.push(table);
}
