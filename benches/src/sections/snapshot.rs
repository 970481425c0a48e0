//! Saving and loading against reading and writing as many bytes, alternately.
//!
//! The file is in the folder for temporary files and stays in the system's page cache. Every
//! operation runs twice and is timed the second time: memory that has been free for some seconds
//! may have gone back to a virtual machine's host, and is expensive to touch again.

use std::{
    fs::{self, File},
    hint::black_box,
    path::PathBuf,
};

use guira::{CuckooFilter, Layout};
use guira_harness::{Keys, filter_of, table::Table};

use crate::{
    bar::{Bar, Target::AtMost},
    bench::{Bench, Results, Section},
    memory::with_small_pages,
    stop,
    timing::milliseconds,
    workload::insert_batch,
};

/// Names of the operations; the first is the floor.
const NAMES: [&str; 5] = ["read", "load", "from_bytes", "to_bytes", "save"];

/// The measured layouts.
const LAYOUTS: [Layout; 2] = [Layout::Plain4x16, Layout::SemiSorted6x12];

/// Milliseconds of one layout, by operation and round.
struct Row {
    layout: Layout,
    bytes: usize,
    times: [Vec<f64>; NAMES.len()],
}

#[derive(Default)]
pub struct Snapshot(Vec<Row>);

/// A file that is removed in the end, even after a stop.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let name = format!("guira-bench-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Section for Snapshot {
    fn measure(&mut self, bench: &Bench) {
        for layout in LAYOUTS {
            bench.say(format!("snapshots of {layout:?}"));
            measure(layout, bench.bytes, bench.mode.pick(1, 5, 15), &mut self.0);
        }
    }

    fn report(&self, results: &mut Results) {
        let best = |row: &Row, nth: usize| row.times[nth].iter().copied().fold(f64::NAN, f64::min);
        let operations = self.0.iter().flat_map(|row| (0..NAMES.len()).map(move |nth| (row, nth)));
        let operations: Vec<(&Row, usize)> = operations.collect();
        let table = Table::of(
            "snapshot",
            &operations,
            &[
                ("layout", &|(row, _)| format!("{:?}", row.layout)),
                ("MiB", &|(row, _)| format!("{:.0}", row.bytes as f64 / f64::from(1 << 20))),
                ("operation", &|&(_, nth)| NAMES[nth].into()),
                ("best, ms", &|&(row, nth)| format!("{:.1}", best(row, nth))),
                ("GB/s", &|&(row, nth)| format!("{:.2}", row.bytes as f64 / best(row, nth) / 1e6)),
                ("of reading", &|&(row, nth)| format!("{:.2}", best(row, nth) / best(row, 0))),
            ],
        );
        results.tables.push(("Snapshots", table));
        for row in &self.0 {
            let (name, times) = (format!("load, {:?}", row.layout), best(row, 1) / best(row, 0));
            let bar = Bar::new(name, AtMost(1.5), times, "of reading the file");
            results.bars.push(bar.note("best rounds"));
        }
    }
}

fn measure(layout: Layout, bytes: usize, rounds: usize, rows: &mut Vec<Row>) {
    let filter = filter_of(layout, bytes);
    insert_batch(&filter, Keys::new(1), 0..filter.capacity() as u64);
    let (source, target) = (Temporary::new("source"), Temporary::new("target"));
    let snapshot = with_small_pages(|| filter.to_bytes());
    fs::write(&source.0, &snapshot).expect("a file");
    let open = || File::open(&source.0).expect("the file");
    let create = || File::create(&target.0).expect("a file");
    let mut works: [Box<dyn FnMut() + '_>; NAMES.len()] = [
        Box::new(|| drop(black_box(fs::read(&source.0).expect("the file")))),
        Box::new(|| drop(CuckooFilter::loader().reader(open()).expect("a snapshot"))),
        Box::new(|| drop(CuckooFilter::loader().bytes(&snapshot).expect("a snapshot"))),
        Box::new(|| drop(black_box(filter.to_bytes()))),
        Box::new(|| filter.write_to(create()).expect("space on the disk")),
    ];
    rows.push(Row { layout, bytes: snapshot.len(), times: Default::default() });
    let row = rows.last_mut().expect("just pushed");
    for _ in 0..rounds {
        for (work, times) in works.iter_mut().zip(&mut row.times) {
            stop::point();
            // A caller's buffers are not on huge pages; the filter asks for its own.
            with_small_pages(&mut *work);
            times.push(milliseconds(|| with_small_pages(work)));
        }
    }
}
