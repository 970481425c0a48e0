//! Screening of the formulas that lead from a key to its fingerprint and its buckets: whether
//! tables of keys of every shape fill as far as with random ones and have the documented rate of
//! false positives, with every seed.
//!
//! `cargo test --release --test screening -- --ignored --nocapture` screens all shapes in six
//! layouts of tables of a fixed size and three of tables that grow, with 24 seeds. That takes ten
//! minutes of processor time.

mod shapes;
mod table;

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

use guira::{
    Layout,
    raw::{Addressing, Code, Fingerprint, GrowingAddressing, Leveled, Mixer},
};
use shapes::{GOLDEN, SHAPES, Shape, finalize};
use table::Table;

/// A stored fingerprint and the bucket that stores it, on one of the two sides of an item.
pub type Side = (u32, u32);

/// From a seed and keys to mixed hashes.
type Mix = fn(seed: u64) -> Box<dyn Fn(u64) -> u64>;

/// The formulas from mixed hashes on, for a number of buckets.
struct Formulas {
    name: String,
    buckets: u64,
    slots: usize,
    /// The probability that the fingerprints of two items are equal.
    equal: f64,
    /// Lookups for each seed.
    lookups: u64,
    sides: Box<dyn Fn(u64) -> [Side; 2] + Sync>,
    /// From one side to the other one.
    other: Box<dyn Fn(Side) -> Side + Sync>,
}

/// The library's mixer.
fn mixer(seed: u64) -> Box<dyn Fn(u64) -> u64> {
    let mixer = Mixer::new(seed);
    Box::new(move |key| mixer.mix(key))
}

/// The library's formulas for tables of a fixed size.
fn fixed(layout: Layout, buckets: u64, lookups: u64) -> Formulas {
    let addressing = Addressing::new(buckets, &layout.slots());
    let empty = if layout.is_semi_sorted() { 16.0 } else { 1.0 };
    Formulas {
        name: format!("{layout:?}"),
        buckets,
        slots: layout.slots_per_bucket() as usize,
        equal: 1.0 / (2_f64.powi(layout.fingerprint_bits() as i32) - empty),
        lookups,
        sides: Box::new(move |mixed| {
            let pair = addressing.pair(mixed);
            pair.buckets.map(|bucket| (pair.fingerprint.get(), bucket))
        }),
        other: Box::new(move |(value, bucket)| {
            (value, addressing.alt_bucket(Fingerprint::new(value), bucket))
        }),
    }
}

/// The library's formulas for tables that grow, after this many doublings.
fn growing(leveled: Leveled, first: u64, level: u32, lookups: u64) -> Formulas {
    let addressing = || GrowingAddressing::new(first, leveled);
    let (forth, back) = (addressing(), addressing());
    // A slot that knows as much as it can, with the marker above it.
    let stored = move |side: guira::raw::Side| {
        let Code { core, extension } = side.code;
        let tail = extension >> level & ((1 << leveled.max_tail) - 1) | 1 << leveled.max_tail;
        let chosen = (extension & ((1 << level) - 1)) as u32;
        ((tail << leveled.core | core) as u32, side.start + first as u32 * chosen)
    };
    Formulas {
        name: format!("growing, {} slots, {level}", leveled.slots),
        buckets: first << level,
        slots: leveled.slots as usize,
        equal: 0.5_f64.powi((leveled.core + leveled.max_tail) as i32),
        lookups,
        sides: Box::new(move |mixed| forth.item(mixed).sides.map(stored)),
        other: Box::new(move |(slot, bucket)| {
            let (slot, chosen) = (u64::from(slot), u64::from(bucket) / first);
            let extension = slot >> leveled.core << level | chosen;
            let code = Code { core: slot & leveled.core_mask, extension };
            let start = (u64::from(bucket) % first) as u32;
            stored(back.other(guira::raw::Side { start, code }))
        }),
    }
}

/// What the tables of one shape of keys are like.
struct Outcome {
    /// Load at the first refusal: the mean of all seeds.
    load: f64,
    /// False positives in relation to the expected number.
    rate: f64,
    /// By how many standard deviations the number of false positives differs from the expected one.
    deviation: f64,
    /// The variance of that number between seeds, in relation to what chance would allow.
    dispersion: f64,
    /// By how many standard deviations the number exceeds the expected one with the worst seed.
    worst: f64,
    /// The variance of the number of items by first bucket, in relation to what chance would allow:
    /// the mean of all seeds, and the largest.
    unevenness: [f64; 2],
    seeds: u64,
}

impl Outcome {
    fn new(mix: Mix, formulas: &Formulas, shape: &Shape, seeds: u64) -> Self {
        let Formulas { buckets, slots, equal, lookups, sides, other, .. } = formulas;
        let total = buckets * *slots as u64;
        let mut outcome = Self {
            load: 0.0,
            rate: 0.0,
            deviation: 0.0,
            dispersion: 0.0,
            worst: 0.0,
            unevenness: [0.0; 2],
            seeds,
        };
        let (mut positives, mut expected) = (0.0, 0.0);
        for seed in 0..seeds {
            let random = finalize(seed + 99);
            // As a filter derives the seed of its mixer: not zero, which would flip no bit.
            let mix = mix(finalize(seed.wrapping_add(GOLDEN[0])));
            let mut table = Table::new(*buckets, *slots);
            let mut first = vec![0_u32; *buckets as usize];
            let mut items = 0;
            while items < total {
                let sides = sides(mix((shape.key)(items, random)));
                if !table.insert(sides, other) {
                    break;
                }
                first[sides[0].1 as usize] += 1;
                items += 1;
            }
            let load = items as f64 / total as f64;
            let found = |key| u32::from(table.contains(sides(mix(key))));
            // Changed keys that were inserted, or later keys.
            let (range, lookups) = match shape.change {
                Some(_) => (0..items, items),
                None => (total..total + lookups, *lookups),
            };
            let change = shape.change.unwrap_or(|key| key);
            let found: u32 = range.map(|i| found(change((shape.key)(i, random)))).sum();
            let compared = 2.0 * *slots as f64 * load;
            let expectation = lookups as f64 * -(compared * (-equal).ln_1p()).exp_m1();
            let excess = f64::from(found) - expectation;
            let mean = items as f64 / *buckets as f64;
            let variance: f64 = first.iter().map(|&n| (f64::from(n) - mean).powi(2)).sum();
            let unevenness = variance / items as f64;

            outcome.load += load / seeds as f64;
            outcome.dispersion += excess.powi(2) / expectation / seeds as f64;
            outcome.worst = outcome.worst.max(excess / expectation.sqrt());
            outcome.unevenness[0] += unevenness / seeds as f64;
            outcome.unevenness[1] = outcome.unevenness[1].max(unevenness);
            positives += f64::from(found);
            expected += expectation;
        }
        outcome.rate = positives / expected;
        outcome.deviation = (positives - expected) / expected.sqrt();
        outcome
    }

    /// Whether chance does not explain it, given the load with random keys.
    fn is_bad(&self, random_load: f64) -> bool {
        // Between seeds, the variance of this share of the variance is 2 by the number of seeds.
        let most = 1.0 + 5.2 * (2.0 / self.seeds as f64).sqrt();
        self.load < random_load - 0.0015
            || self.deviation.abs() > 4.5 && (self.rate - 1.0).abs() > 0.01
            || self.dispersion > most
            || self.worst > 6.0
            || self.unevenness[0] > 1.1
            || self.unevenness[1] > 1.3
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { load, rate, deviation, dispersion, worst, unevenness: [mean, most], .. } = self;
        write!(
            f,
            "load {load:.4}, rate {rate:.3} ({deviation:+.1}), by seed: dispersion {dispersion:.2}, \
             worst {worst:+.1}, buckets {mean:.2}, {most:.2}"
        )
    }
}

/// Screens formulas with these shapes. Prints what is bad, and what random keys are like. Returns
/// the number of bad cases.
fn screen(mix: Mix, formulas: &[Formulas], shapes: &[Shape], seeds: u64) -> usize {
    let bad = AtomicUsize::new(0);
    for formulas in formulas {
        let outcome = |shape| Outcome::new(mix, formulas, shape, seeds);
        let random = outcome(&SHAPES[0]);
        println!("     {:16} {:28} {random}", formulas.name, SHAPES[0].name);
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(shape) = shapes.get(next.fetch_add(1, Relaxed)) {
                let outcome = outcome(shape);
                if outcome.is_bad(random.load) {
                    bad.fetch_add(1, Relaxed);
                    println!("BAD  {:16} {:28} {outcome}", formulas.name, shape.name);
                }
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    }
    bad.into_inner()
}

/// As at c9e7dda: the finalizer of `SplitMix64`.
fn split_mix(seed: u64) -> Box<dyn Fn(u64) -> u64> {
    Box::new(move |key| finalize(key ^ seed))
}

fn one_product(seed: u64) -> Box<dyn Fn(u64) -> u64> {
    let multiplier = finalize(seed) | 1;
    Box::new(move |key| (key ^ seed).wrapping_mul(multiplier))
}

fn one_folded_product(seed: u64) -> Box<dyn Fn(u64) -> u64> {
    let multiplier = finalize(seed) | 1 << 63 | 1;
    Box::new(move |key| {
        let product = u128::from(key ^ seed) * u128::from(multiplier);
        product as u64 ^ (product >> 64) as u64
    })
}

/// An alternate bucket that is linear in the fingerprint.
fn linear(layout: Layout, buckets: u64, lookups: u64) -> Formulas {
    let addressing = Addressing::new(buckets, &layout.slots());
    let alternate = move |(value, bucket): Side| {
        let t = (u64::from(value.wrapping_mul(0x9e37_79b1)) * buckets) >> 32;
        (value, ((t + buckets - u64::from(bucket)) % buckets) as u32)
    };
    Formulas {
        name: format!("linear {layout:?}"),
        sides: Box::new(move |mixed| {
            let pair = addressing.pair(mixed);
            let side = (pair.fingerprint.get(), pair.buckets[0]);
            [side, alternate(side)]
        }),
        other: Box::new(alternate),
        ..fixed(layout, buckets, lookups)
    }
}

/// A shape of keys by its name.
fn shape(name: &str) -> Shape {
    *SHAPES.iter().find(|shape| shape.name == name).expect("a shape")
}

#[test]
#[ignore = "ten minutes of processor time"]
fn in_full() {
    let all = [
        fixed(Layout::Plain8x8, 40_000, 1 << 18),
        fixed(Layout::Plain6x10, 50_021, 1 << 18),
        fixed(Layout::Plain5x12, 1 << 16, 1 << 19),
        fixed(Layout::SemiSorted6x12, 50_021, 1 << 19),
        fixed(Layout::Plain4x16, 1 << 16, 1 << 21),
        fixed(Layout::SemiSorted3x22, 80_000, 1 << 23),
        growing(Leveled::new(5, 6, 0), 50_021, 0, 1 << 19),
        growing(Leveled::new(4, 7, 0), 256, 8, 1 << 20),
        growing(Leveled::new(3, 8, 0), 64, 10, 1 << 23),
    ];
    assert_eq!(screen(mixer, &all, SHAPES, 24), 0);
}

#[test]
fn keys_of_every_shape_spread() {
    let some = [
        fixed(Layout::Plain6x10, 12_505, 1 << 16),
        growing(Leveled::new(5, 6, 0), 12_505, 0, 1 << 17),
    ];
    assert_eq!(screen(mixer, &some, SHAPES, 6), 0);
}

#[test]
fn weaker_mixers_are_bad() {
    let formulas = [fixed(Layout::Plain6x10, 12_505, 1 << 16)];
    let counters = ["counter", "counter << 32"].map(shape);
    assert_eq!(screen(one_product, &formulas, &counters, 6), 2);
    assert_eq!(screen(one_folded_product, &formulas, &counters, 6), 2);
    let made = ["undoes x ^ x >> 30, << 40"].map(shape);
    assert_eq!(screen(split_mix, &formulas, &made, 6), 1);
}

#[test]
fn a_linear_alternate_bucket_is_bad() {
    let outcome = |formulas| Outcome::new(mixer, &formulas, &SHAPES[0], 6);
    let ours = outcome(fixed(Layout::Plain8x8, 20_000, 1_000));
    let linear = outcome(linear(Layout::Plain8x8, 20_000, 1_000));
    assert!(linear.is_bad(ours.load) && !ours.is_bad(ours.load), "{linear}, {ours}");
}
