//! Saving and loading against reading and writing as many bytes, alternately; and how long a writer
//! waits for a lock while the whole filter is copied, against `memcpy`.
//!
//! The file is in the folder for temporary files and stays in the system's page cache. Every
//! operation runs twice and is timed the second time: memory that has been free for some seconds
//! may have gone back to a virtual machine's host, and is expensive to touch again.

use std::{
    fs::{self, File},
    hint::black_box,
    io,
    path::PathBuf,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use guira::{CuckooFilter, Hashed, Insertion, Layout};
use guira_harness::{Cores, Keys, filter_of};

use crate::{
    bench::{Bench, Results, Section},
    figure::Figure,
    memory::{advise_huge_pages, with_small_pages},
    rounds::Rounds,
    stop,
    timing::{insert_batch, milliseconds},
};

/// Names of the operations; the first is the floor.
const NAMES: [&str; 5] = ["read", "load", "from_bytes", "to_bytes", "save"];

/// The measured layouts.
const LAYOUTS: [Layout; 2] = [Layout::Plain4x16, Layout::SemiSorted6x12];

/// Milliseconds of the best round, beside those of reading.
#[derive(Default)]
pub struct Snapshot(Rounds);

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
            let best = measure(layout, bench.bytes, bench.mode.pick(1, 5, 15));
            for (name, milliseconds) in NAMES.into_iter().zip(best) {
                self.0.note(format!("{name}, {layout:?}"), milliseconds, best[0]);
            }
        }
    }

    fn report(&self, results: &mut Results) {
        let head = ["snapshot", "best, ms", "reading, ms", "of reading"];
        results.tables.push(("Snapshots", self.0.table("snapshot", head, 1)));
    }
}

/// Returns the milliseconds of the best round of each operation.
fn measure(layout: Layout, bytes: usize, rounds: usize) -> [f64; NAMES.len()] {
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
    let mut best = [f64::INFINITY; NAMES.len()];
    for _ in 0..rounds {
        for (work, best) in works.iter_mut().zip(&mut best) {
            stop::point();
            // A caller's buffers are not on huge pages; the filter asks for its own.
            with_small_pages(&mut *work);
            *best = best.min(milliseconds(|| with_small_pages(work)));
        }
    }
    best
}

/// Per cent of the slots that are occupied.
const LOAD: u64 = 90;

/// Keys that the writer removes and inserts again, one after the other.
const KEYS: u64 = 10_000;

/// Calls of the writer before the copy begins.
const WARM_UP: u64 = 2 * KEYS;

/// Longest waits in milliseconds, beside `memcpy`: a plain copy of as many bytes into memory that
/// was touched before.
#[derive(Default)]
pub struct Stall {
    waits: Rounds,
    /// Beside a pause that is as long as the operation.
    pauses: Rounds,
}

impl Section for Stall {
    fn measure(&mut self, bench: &Bench) {
        for bytes in [bench.bytes, 4 * bench.bytes] {
            let filter = filter_of(Layout::Plain4x16, bytes);
            bench.say(format!("longest waits beside copies, {} MiB", bytes >> 20));
            insert_batch(&filter, Keys::new(1), 0..filter.slots() as u64 * LOAD / 100);
            let clone = || drop(black_box(filter.try_clone().expect("memory")));
            self.measure_operation("clone", bench, &filter, clone);
            let save = || filter.write_to(io::sink()).expect("memory");
            self.measure_operation("save", bench, &filter, save);
        }
    }

    fn report(&self, results: &mut Results) {
        for row in self.waits.rows() {
            let note = format!("without the operation {:.2} ms", self.pauses.row(row.name).figure);
            results.figures.push(Figure::new(row.name, row.times, "of memcpy").note(note));
        }
        let head = ["operation", "ms", "memcpy, ms", "of memcpy"];
        results.tables.push(("Waits beside copies", self.waits.table("stall", head, 2)));
    }
}

impl Stall {
    fn measure_operation(
        &mut self,
        name: &str,
        bench: &Bench,
        filter: &CuckooFilter,
        operation: impl Fn(),
    ) {
        let bytes = filter.size_in_bytes();
        // Touched memory, on huge pages where the system has them.
        let [from, mut to] = [1, 2].map(|value| {
            let mut words = Vec::<u64>::with_capacity(bytes / 8);
            advise_huge_pages(words.as_ptr() as usize, bytes);
            words.resize(bytes / 8, value);
            words
        });
        bench.cores.pin(0);
        // This round is not counted: the memory may have gone back to a virtual machine's host.
        operation();
        let name = format!("longest wait beside {name}, {} MiB", bytes >> 20);
        for _ in 0..bench.mode.pick(3, 9, 21) {
            stop::point();
            let memcpy = milliseconds(|| black_box(&mut to).copy_from_slice(black_box(&from)));
            let mut whole = 0.0;
            let work = || whole = milliseconds(&operation);
            let wait = longest_wait(filter, &bench.cores, work);
            let pause = Duration::from_secs_f64(whole / 1e3);
            let control = longest_wait(filter, &bench.cores, || thread::sleep(pause));
            self.waits.note(&name, wait, memcpy);
            self.pauses.note(&name, control, memcpy);
        }
    }
}

/// Returns the longest call, in milliseconds, of a pinned thread that removes and inserts keys of
/// its own beside `work`.
fn longest_wait(filter: &CuckooFilter, cores: &Cores, work: impl FnOnce()) -> f64 {
    let (calls, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            cores.pin(1);
            let mut longest = 0.0_f64;
            let mut timed = |call: &dyn Fn() -> bool| {
                let mut outcome = false;
                let time = milliseconds(|| outcome = call());
                // What the thread waits for before the work begins is not counted.
                if calls.fetch_add(1, Relaxed) >= WARM_UP {
                    longest = longest.max(time);
                }
                outcome
            };
            let keys = Keys::new(9);
            while !stop.load(Relaxed) {
                keys.blocks(0..KEYS, |block| {
                    for key in Hashed::slice(block) {
                        let insert = || filter.insert_unique(key) == Ok(Insertion::New(()));
                        let _ = timed(&insert) && timed(&|| filter.remove(key));
                    }
                });
            }
            longest
        });
        while calls.load(Relaxed) < WARM_UP {
            thread::yield_now();
        }
        work();
        stop.store(true, Relaxed);
        writer.join().expect("no panic")
    })
}
