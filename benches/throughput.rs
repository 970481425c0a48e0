//! Nanoseconds per operation in a table beyond the caches, beside the memory floor of the same run.
//!
//! `cargo bench --bench throughput -- [MEGABYTES [ROUNDS]]`: one pinned thread, random `u64` keys, the
//! best of several rounds. F, the floor, is two random cache lines per key, prefetched in batches of
//! 32, from as much memory on the same kind of pages. Figures count as multiples of F.

use std::{hint::black_box, time::Instant};

use guira::{CuckooFilter, Layout};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// Keys of one measured step: enough to outlast the timer's noise, small beside the table.
const BLOCK: usize = 1 << 20;

/// Memory of random words, on huge pages where the system has them, as a filter's table is.
struct Floor {
    words: Vec<u64>,
}

impl Floor {
    fn new(bytes: usize) -> Self {
        let mut words: Vec<u64> = Vec::with_capacity(bytes / 8);
        #[cfg(target_os = "linux")]
        {
            let huge = 2 << 20;
            let start = words.as_ptr().addr().next_multiple_of(huge);
            let end = (words.as_ptr().addr() + bytes) & !(huge - 1);
            // SAFETY: whole pages inside the vector's own allocation; the advice changes no contents.
            unsafe {
                libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
            }
        }
        words.extend((0..bytes as u64 / 8).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        Self { words }
    }

    /// Reads `LINES` random lines per key.
    fn read<const LINES: usize>(&self, keys: &[u64]) -> u64 {
        let n = self.words.len() as u64;
        let mut sum = 0_u64;
        for keys in keys.chunks(32) {
            let mut places = [[0_usize; LINES]; 32];
            for (place, &key) in places.iter_mut().zip(keys) {
                for (line, place) in place.iter_mut().enumerate() {
                    let bits = (key >> (32 * line)) as u32;
                    *place = ((u64::from(bits) * n) >> 32) as usize;
                    prefetch(&raw const self.words[*place]);
                }
            }
            for place in &places[..keys.len()] {
                for &place in place {
                    sum = sum.wrapping_add(self.words[place]);
                }
            }
        }
        sum
    }
}

fn prefetch(word: *const u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and faults on no address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(word.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = word;
}

/// Nanoseconds per key of what `work` does to `keys` keys.
fn nanoseconds(keys: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9 / keys as f64
}

/// The best of several rounds of every step, by name, in order of first appearance.
#[derive(Default)]
struct Best(Vec<(String, f64)>);

impl Best {
    fn note(&mut self, name: &str, value: f64) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, best)) => *best = best.min(value),
            None => self.0.push((name.into(), value)),
        }
    }

    fn get(&self, name: &str) -> f64 {
        self.0.iter().find(|(known, _)| known == name).map_or(f64::NAN, |&(_, best)| best)
    }
}

/// One round: fill a filter, look up, remove, with the floor measured in between.
fn round(best: &mut Best, layout: Layout, bytes: usize, floor: &Floor, rng: &mut SmallRng) {
    // A capacity that fills as many bytes.
    let capacity = bytes / 8 * layout.lanes() as usize / 100 * 96;
    let filter = CuckooFilter::builder().capacity(capacity).layout(layout).build().expect("memory");
    let keys: Vec<u64> = (0..capacity).map(|_| rng.random()).collect();
    let absent: Vec<u64> = (0..BLOCK).map(|_| rng.random()).collect();
    let mut answers = vec![false; BLOCK];
    best.note(
        "F1",
        nanoseconds(BLOCK, || {
            black_box(floor.read::<1>(&absent));
        }),
    );
    best.note(
        "F",
        nanoseconds(BLOCK, || {
            black_box(floor.read::<2>(&absent));
        }),
    );

    let steps = [0, 50, 80, 90, 95, 100];
    for step in steps.windows(2) {
        let [from, to] = [step[0], step[1]].map(|percent| capacity * percent / 100);
        let middle = usize::midpoint(from, to);
        let name = format!("insert {}-{} % of capacity", step[0], step[1]);
        let batch = nanoseconds(middle - from, || {
            filter.insert_hash_batch(&keys[from..middle]).expect("room");
        });
        best.note(&format!("{name}, batch"), batch);
        let single = nanoseconds(to - middle, || {
            for &key in &keys[middle..to] {
                filter.insert_hash(key).expect("room");
            }
        });
        best.note(&format!("{name}, single"), single);
    }

    let present: Vec<u64> = (0..BLOCK).map(|_| keys[rng.random_range(0..capacity)]).collect();
    let half: Vec<u64> =
        (0..BLOCK).map(|i| if rng.random() { present[i] } else { absent[i] }).collect();
    for (name, keys) in [("0", &absent), ("50", &half), ("100", &present)] {
        let batch = nanoseconds(BLOCK, || {
            black_box(filter.contains_hash_batch(keys, &mut answers));
        });
        best.note(&format!("contains {name} % present, batch"), batch);
        let single = nanoseconds(BLOCK, || {
            black_box(keys.iter().filter(|&&key| filter.contains_hash(key)).count());
        });
        best.note(&format!("contains {name} % present, single"), single);
    }
    best.note(
        "F",
        nanoseconds(BLOCK, || {
            black_box(floor.read::<2>(&absent));
        }),
    );

    // Keys in the order of their inserts are in no order of the table's.
    let batch = nanoseconds(BLOCK, || {
        let removed = filter.remove_hash_batch(&keys[..BLOCK], &mut answers);
        assert_eq!(removed, BLOCK);
    });
    best.note("remove, batch", batch);
    let single = nanoseconds(BLOCK, || {
        let removed = keys[BLOCK..2 * BLOCK].iter().filter(|&&key| filter.remove_hash(key)).count();
        assert_eq!(removed, BLOCK);
    });
    best.note("remove, single", single);
    let unique = nanoseconds(BLOCK, || {
        for &key in &keys[..BLOCK] {
            black_box(filter.insert_unique_hash(key).expect("room"));
        }
    });
    best.note("insert_unique 86-93 % of capacity, single", unique);
}

fn main() {
    let arguments: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let megabytes = arguments.first().copied().unwrap_or(128);
    let rounds = arguments.get(1).copied().unwrap_or(5);
    if let Some(core) = core_affinity::get_core_ids().and_then(|cores| cores.last().copied()) {
        core_affinity::set_for_current(core);
    }
    let bytes = megabytes << 20;
    let floor = Floor::new(bytes);
    let mut rng = SmallRng::seed_from_u64(1);
    for &layout in Layout::ALL {
        let mut best = Best::default();
        for _ in 0..rounds {
            round(&mut best, layout, bytes, &floor, &mut rng);
        }
        let f = best.get("F");
        println!("\n{layout:?}, {megabytes} MiB, best of {rounds} rounds");
        for (name, nanoseconds) in &best.0 {
            println!("{name:<44} {nanoseconds:>7.1} ns  {:>5.2} F", nanoseconds / f);
        }
    }
}
