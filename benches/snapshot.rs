//! Saving and loading beside reading and writing as many bytes, turn by turn.
//!
//! `cargo bench --bench snapshot [-- LAYOUT …]`, for another size with `GUIRA_MEGABYTES=N`, for more turns with
//! `GUIRA_TURNS=N`. The file is in the folder for temporary files, and stays in the system's page cache. Whatever is
//! measured is done once before, every time: memory that was free for some seconds may not be the virtual
//! machine's any more, and costs several times as much to touch.

mod common;

use std::{
    fs::{self, File},
    hint::black_box,
    io::Read,
};

use common::{Keys, capacity_for, fill, filter, from_environment, nanoseconds};
use guira::{CuckooFilter, Layout};

/// What is measured, by name.
type Work<'a> = (&'static str, Box<dyn FnMut() + 'a>);

fn measure(layout: Layout, bytes: usize, turns: usize) {
    let capacity = capacity_for(bytes, layout);
    let filter = filter(capacity, layout);
    fill(&filter, Keys::new(1), 0..capacity as u64);
    let name = format!("guira-snapshot-{}", std::process::id());
    let (path, other) = (std::env::temp_dir().join(&name), std::env::temp_dir().join(name + "-2"));
    let snapshot = filter.to_bytes();
    fs::write(&path, &snapshot).expect("a file");
    let open = || File::open(&path).expect("the file");
    let mut buffer = vec![0; 64 << 10];
    let mut works: [Work; 7] = [
        ("read", Box::new(|| drop(black_box(fs::read(&path).expect("the file"))))),
        (
            "read, 64 KiB at a time",
            Box::new(|| {
                let mut file = open();
                while file.read(&mut buffer).expect("the file") > 0 {}
            }),
        ),
        ("load", Box::new(|| drop(CuckooFilter::load(open()).expect("a snapshot")))),
        ("from_bytes", Box::new(|| drop(CuckooFilter::from_bytes(&snapshot).expect("a snapshot")))),
        ("to_bytes", Box::new(|| drop(black_box(filter.to_bytes())))),
        ("write", Box::new(|| fs::write(&other, &snapshot).expect("a file"))),
        ("save", Box::new(|| filter.save(File::create(&other).expect("a file")).expect("room"))),
    ];
    let mut times = [const { Vec::new() }; 7];
    for _ in 0..turns {
        for ((_, work), times) in works.iter_mut().zip(&mut times) {
            work();
            times.push(nanoseconds(work) / 1e6);
        }
    }
    println!("{layout:?}, {:.0} MiB, {turns} turns", snapshot.len() as f64 / f64::from(1 << 20));
    for times in &mut times {
        times.sort_unstable_by(f64::total_cmp);
    }
    for ((name, _), own) in works.iter().zip(&times) {
        let (best, median) = (own[0], own[turns / 2]);
        println!(
            "  {name:<22} best {best:6.1} ms, {:.2} of reading; median {median:6.1} ms, {:.2}",
            best / times[0][0],
            median / times[0][turns / 2],
        );
    }
    drop(works);
    for path in [path, other] {
        fs::remove_file(path).expect("the file");
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let bytes = from_environment("GUIRA_MEGABYTES", 128) << 20;
    let turns = from_environment("GUIRA_TURNS", 5).max(1);
    let usual = [Layout::Plain4x16, Layout::SemiSorted6x12];
    for layout in Layout::ALL {
        let is_wanted = wanted.contains(&format!("{layout:?}"));
        if is_wanted || wanted.is_empty() && usual.contains(layout) {
            measure(*layout, bytes, turns);
        }
    }
}
