//! How throughput grows with threads, and what a reader has beside writers.
//!
//! `cargo bench --bench scaling -- [--megabytes N] [--milliseconds N] [--csv FILE]`: pinned threads, from
//! one to one for each core and two and four times as many, over mixes of reads and writes, at loads
//! that stay; then one reader of keys that are always there beside up to as many writers as there
//! are other cores, and how long its look-ups take. Half of the keys that the mixes read are present;
//! a write takes out the oldest of the thread's own keys or puts in a new one, in turn. The program that cargo builds
//! needs nothing else, so it can be copied to a larger machine.

mod common;

use std::{fs::File, io::Write, path::PathBuf, time::Duration};

use clap::Parser;
use common::{
    Cores, Keys, capacity_for, filter,
    threads::{Population, Reading, Work, beside, throughput},
};
use guira::{CuckooFilter, Layout};

/// Per cent of reads.
const READS: [u32; 5] = [100, 95, 90, 50, 0];

/// Per cent of slots in use.
const LOADS: [u64; 3] = [50, 80, 95];

#[derive(Debug, Parser)]
#[command(about = "Throughput by threads, and a reader beside writers")]
struct Options {
    /// Size of the filter, in MiB.
    #[arg(long, default_value_t = 128)]
    megabytes: usize,
    /// How long each figure is measured.
    #[arg(long, default_value_t = 400)]
    milliseconds: u64,
    /// Writes all figures to a file as well.
    #[arg(long)]
    csv: Option<PathBuf>,
    /// Cargo says this to every benchmark.
    #[arg(long, hide = true)]
    bench: bool,
}

/// 1, 2, 4, … up to the cores, and two and four times as many threads.
fn thread_counts(cores: usize) -> Vec<usize> {
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|&n| n < cores).collect();
    counts.extend([cores, 2 * cores, 4 * cores]);
    counts
}

/// A filter at a load, and who may change what of it.
fn loaded(options: &Options, load: u64, threads: usize) -> (CuckooFilter, Population) {
    let capacity = capacity_for(options.megabytes << 20, Layout::Plain4x16);
    let filter = filter(capacity, Layout::Plain4x16);
    let population = Population::new(Keys::new(load), filter.slots() as u64 * load / 100, threads);
    assert_eq!(population.fill(&filter), 0, "room at {load} % load");
    (filter, population)
}

fn main() -> std::io::Result<()> {
    let options = Options::parse();
    let time = Duration::from_millis(options.milliseconds);
    let cores = Cores::list();
    let counts = thread_counts(cores.count());
    let most = *counts.last().expect("some");
    let mut csv: Box<dyn Write> = match &options.csv {
        Some(path) => Box::new(File::create(path)?),
        None => Box::new(std::io::sink()),
    };
    writeln!(
        csv,
        "what,load_percent,reads_percent,threads,writers,reading,mops,writes_mops,\
                   p50_ns,p99_ns,p999_ns"
    )?;
    println!("{} MiB, {} cores, million operations a second", options.megabytes, cores.count());
    println!("load  reads/writes  threads     all  per thread  against one");
    for load in LOADS {
        let (filter, population) = loaded(&options, load, most);
        for reads in READS {
            let mut one = None;
            for &threads in &counts {
                let run = throughput(&filter, &cores, &population, threads, Work::mix(reads), time);
                if run.failures > 0 {
                    println!("{} writes of the next row failed", run.failures);
                }
                let all = run.total();
                let one = *one.get_or_insert(all);
                let mix = format!("{reads}/{}", 100 - reads);
                let (each, against) = (all / threads as f64, all / one);
                println!(
                    "{load:>3} % {mix:>13} {threads:>8} {all:>7.1} {each:>11.1} {against:>12.2}"
                );
                writeln!(csv, "mix,{load},{reads},{threads},,single,{all},,,,")?;
            }
        }
    }
    println!(
        "\none reader at 90 % load; nanoseconds of a call, the clock's {} ns included",
        clock()
    );
    println!("writers  reading        reads  against none  writes    p50    p99   p99.9");
    let (filter, population) = loaded(&options, 90, most);
    let mut writers: Vec<usize> =
        counts.iter().map(|&n| n - 1).filter(|&n| n < 2 * cores.count()).collect();
    writers.dedup();
    for reading in [Reading::Single, Reading::Batch, Reading::SingleTimed, Reading::BurstTimed] {
        let mut alone = None;
        for &writers in &writers {
            let both = (&filter as _, &population);
            let run = beside(both, both, &cores, writers, reading, time);
            assert_eq!(run.misses, 0, "a key that is always present was missed");
            let against = run.reads / *alone.get_or_insert(run.reads);
            let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|q| {
                let timed = (!run.latency.is_empty()).then(|| run.latency.value_at_quantile(q));
                timed.map_or(String::new(), |nanoseconds| nanoseconds.to_string())
            });
            println!(
                "{writers:>7}  {:<11} {:>8.1} {against:>13.2} {:>7.1} {p50:>6} {p99:>6} {p999:>7}",
                format!("{reading:?}"),
                run.reads,
                run.writes,
            );
            writeln!(
                csv,
                "beside,90,,,{writers},{reading:?},{},{},{p50},{p99},{p999}",
                run.reads, run.writes
            )?;
        }
    }
    csv.flush()
}

/// Nanoseconds between two looks at the clock, which every timed call has on top.
fn clock() -> u64 {
    let start = std::time::Instant::now();
    for _ in 0..1000 {
        std::hint::black_box(std::time::Instant::now());
    }
    start.elapsed().as_nanos() as u64 / 1000
}
