//! How full tables get: the experiment behind the sizes that `CuckooFilter::builder` chooses.
//!
//! - `cargo bench --bench load -- reach [BUCKETS [TABLES]]`: the load at the first `Full`.
//! - `cargo bench --bench load -- quantile [BUDGET]`: for many small tables of every size, how many
//!   items fit but for one table in 10 000, which is what `src/table/sizing.rs` is fitted to.
//! - `cargo bench --bench load -- capacity [TABLES [LARGEST]]`: how many filters refuse an item before
//!   they hold as many as they were built for.
//!
//! A layout's name behind these, as in `-- quantile SemiSorted3x22`, leaves out the others.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use guira::{
    CuckooFilter, Layout,
    raw::{Core, Geometry, Plain, SemiSorted, WordLayout},
};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// How many items fit into a new table before the first one does not.
fn items_until_full<L: WordLayout>(buckets: u64, rng: &mut SmallRng) -> u64 {
    let core = Core::new(Geometry::new(buckets, rng.random()), true).expect("memory");
    let mut items = 0;
    while core.insert::<L>(core.geometry().pair::<L>(rng.random())).is_ok() {
        items += 1;
    }
    items
}

/// The same for many tables, over all processors, ascending.
fn sample<L: WordLayout>(buckets: u64, tables: usize) -> Vec<u64> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(tables);
    let all = Mutex::new(Vec::with_capacity(tables));
    thread::scope(|scope| {
        for thread in 0..threads {
            let all = &all;
            scope.spawn(move || {
                let mut rng = SmallRng::seed_from_u64(buckets << 8 | thread as u64);
                let share = tables / threads + usize::from(thread < tables % threads);
                let mine: Vec<u64> =
                    (0..share).map(|_| items_until_full::<L>(buckets, &mut rng)).collect();
                all.lock().expect("no panics").extend(mine);
            });
        }
    });
    let mut all = all.into_inner().expect("no panics");
    all.sort_unstable();
    all
}

fn reach<L: WordLayout>(wanted: &Wanted, buckets: u64, tables: usize) {
    let Some(name) = wanted.name::<L>() else { return };
    let slots = (buckets * u64::from(L::LANES)) as f64;
    let loads: Vec<f64> =
        sample::<L>(buckets, tables).iter().map(|&items| 100.0 * items as f64 / slots).collect();
    let mean = loads.iter().sum::<f64>() / loads.len() as f64;
    let variance = loads.iter().map(|load| (load - mean).powi(2)).sum::<f64>()
        / (loads.len() - 1).max(1) as f64;
    println!(
        "{name:<14} {buckets:>11} buckets {tables:>4} tables: load {mean:.2} % (sd {:.3}, {:.2} to {:.2})",
        variance.sqrt(),
        loads[0],
        loads[loads.len() - 1],
    );
}

fn quantile<L: WordLayout>(wanted: &Wanted, budget: u64) {
    let Some(name) = wanted.name::<L>() else { return };
    for half_octave in 0.. {
        let buckets = f64::exp2(f64::from(half_octave) / 2.0).round() as u64;
        let slots = buckets * u64::from(L::LANES);
        let tables = (budget / slots).min(400_000);
        if tables < 2_000 {
            break;
        }
        let items = sample::<L>(buckets, tables as usize);
        let at = |share: f64| items[(share * tables as f64) as usize];
        println!(
            "{name:<14} buckets {buckets:>6} slots {slots:>7} tables {tables:>6}: min {} 1e-4 {} 1e-3 {} \
             1e-2 {} median {} ({:.2} % / {:.2} %)",
            items[0],
            at(1e-4),
            at(1e-3),
            at(1e-2),
            at(0.5),
            100.0 * at(1e-4) as f64 / slots as f64,
            100.0 * at(0.5) as f64 / slots as f64,
        );
    }
}

/// Builds filters for many capacities, and counts those that refuse one of as many random items.
fn capacity(layout: Layout, tables: usize, largest: usize) {
    let mut capacities: Vec<usize> = (5..40).collect();
    capacities.extend(
        (0..)
            .map(|i| (40.0 * f64::exp2(f64::from(i) / 3.0)) as usize)
            .take_while(|&c| c <= largest),
    );
    let threads = thread::available_parallelism().map_or(1, usize::from);
    for capacity in capacities {
        let refused = AtomicUsize::new(0);
        thread::scope(|scope| {
            for thread in 0..threads {
                let refused = &refused;
                scope.spawn(move || {
                    let mut rng = SmallRng::seed_from_u64((capacity << 8 | thread) as u64);
                    for _ in 0..tables / threads {
                        let filter = CuckooFilter::builder().capacity(capacity).layout(layout);
                        let filter = filter.seed(rng.random()).build().expect("memory");
                        let fits = (0..capacity).all(|_| filter.by_hash().insert(rng.random()).is_ok());
                        refused.fetch_add(usize::from(!fits), Relaxed);
                    }
                });
            }
        });
        let refused = refused.into_inner();
        let per_10_000 = 1e4 * refused as f64 / tables as f64;
        println!(
            "{layout:?} capacity {capacity:>6}: {refused} of {tables} tables refused one ({per_10_000:.2} in 10 000)"
        );
    }
}

macro_rules! for_every_layout {
    ($function:ident($($argument:expr),*)) => {
        $function::<Plain<8, 8>>($($argument),*);
        $function::<Plain<6, 10>>($($argument),*);
        $function::<Plain<5, 12>>($($argument),*);
        $function::<Plain<4, 16>>($($argument),*);
        $function::<SemiSorted<6, 12>>($($argument),*);
        $function::<SemiSorted<5, 14>>($($argument),*);
        $function::<SemiSorted<4, 17>>($($argument),*);
        $function::<SemiSorted<3, 22>>($($argument),*);
    };
}

/// The layouts asked for, by name; all of them where none is named.
struct Wanted(Vec<String>);

impl Wanted {
    /// Those of all layouts that are wanted.
    fn layouts(&self) -> impl Iterator<Item = Layout> {
        let all = Layout::ALL.iter().copied();
        all.filter(|layout| self.0.is_empty() || self.0.contains(&format!("{layout:?}")))
    }

    /// The name of a layout, if it is wanted.
    fn name<L: WordLayout>(&self) -> Option<String> {
        let layout = self.layouts().find(|it| (it.lanes(), it.bits()) == (L::LANES, L::BITS))?;
        Some(format!("{layout:?}"))
    }
}

fn main() {
    // Cargo passes `--bench` along; every other argument is ours.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let (numbers, mut names): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|argument| argument.parse::<u64>().is_ok());
    let what = if names.is_empty() { "reach".into() } else { names.remove(0) };
    let wanted = Wanted(names);
    let number = |at: usize, default: u64| {
        numbers.get(at).map_or(default, |it| it.parse().expect("a number"))
    };
    match &*what {
        "reach" => {
            let tables = number(1, 10) as usize;
            for_every_layout!(reach(&wanted, number(0, 1 << 20), tables));
        }
        "quantile" => {
            for_every_layout!(quantile(&wanted, number(0, 2_000_000_000)));
        }
        "capacity" => {
            for layout in wanted.layouts() {
                capacity(layout, number(0, 100_000) as usize, number(1, 3_000) as usize);
            }
        }
        other => panic!("reach, quantile or capacity, not {other}"),
    }
}
