//! Everything that can go wrong, and that nothing but what is documented to panic does.

mod common;

use std::{
    hash::{BuildHasher, Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
};

use guira::{BuildError, CuckooFilter, DefaultHashBuilder, FilterBuilder, Layout};

/// The error of a builder that must not succeed.
fn error(builder: FilterBuilder) -> BuildError {
    let error = builder.build().expect_err("an error");
    assert!(!error.to_string().is_empty());
    assert_eq!(error, error.clone());
    let _: &dyn std::error::Error = &error;
    error
}

#[test]
fn no_capacity() {
    assert_eq!(error(CuckooFilter::builder()), BuildError::NoCapacity);
    let builder = CuckooFilter::builder().false_positive_rate(f64::NAN).layout(Layout::Plain8x8);
    assert_eq!(error(builder), BuildError::NoCapacity);
}

#[test]
fn capacity_zero() {
    assert_eq!(error(CuckooFilter::builder().capacity(0)), BuildError::ZeroCapacity);
}

#[test]
#[should_panic(expected = "the capacity is zero")]
fn with_capacity_zero_panics() {
    let _ = CuckooFilter::with_capacity(0);
}

#[test]
#[cfg(target_pointer_width = "64")]
fn more_than_2_to_the_32_buckets() {
    for &layout in Layout::ALL {
        let most = layout.slots_per_bucket() as usize * (1 << 32);
        for capacity in
            [most, most + 1, 1 << 40, 1 << 53, usize::MAX / 2, usize::MAX - 1, usize::MAX]
        {
            let builder = CuckooFilter::builder().capacity(capacity);
            let builder = builder.layout(layout);
            for builder in [builder.clone(), builder.false_positive_rate(0.5)] {
                match error(builder) {
                    BuildError::CapacityTooLarge { capacity: asked, layout: wanted, .. } => {
                        assert_eq!((asked, wanted), (capacity, layout));
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    for capacity in [1 << 36, usize::MAX] {
        for rate in [None, Some(0.1), Some(0.001)] {
            let builder = CuckooFilter::builder().capacity(capacity);
            let builder = rate.into_iter().fold(builder, FilterBuilder::false_positive_rate);
            match error(builder) {
                BuildError::CapacityTooLarge { capacity: asked, .. } => assert_eq!(asked, capacity),
                other => panic!("{other:?} for {capacity} at {rate:?}"),
            }
        }
    }
}

#[test]
fn rates_that_are_none() {
    let wrong = [0.0, -0.0, 1.0, 1.5, -0.01, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX];
    for rate in wrong {
        for layout in [None, Some(Layout::Plain8x8), Some(Layout::Plain4x16)] {
            let builder = CuckooFilter::builder().capacity(100).false_positive_rate(rate);
            let builder = layout.into_iter().fold(builder, FilterBuilder::layout);
            match builder.build() {
                Err(BuildError::InvalidRate(asked)) => {
                    assert!(asked.to_bits() == rate.to_bits());
                }
                other => panic!("{rate}: {other:?}"),
            }
        }
    }
}

#[test]
fn rates_below_what_any_layout_reaches() {
    for capacity in [1, 10, 1_000, 100_000] {
        for rate in [1e-9, 1e-30, f64::MIN_POSITIVE, f64::from_bits(1)] {
            let builder = CuckooFilter::builder().capacity(capacity);
            let BuildError::RateTooLow { asked, lowest, .. } =
                error(builder.clone().false_positive_rate(rate))
            else {
                panic!("{rate} at {capacity}");
            };
            assert_eq!(asked.to_bits(), rate.to_bits());
            assert!(lowest > rate && lowest < 0.001);
            // What the error names as the lowest can be had, and nothing below it.
            let filter = builder.clone().false_positive_rate(lowest).build().expect("the lowest");
            assert!(filter.false_positive_rate() <= lowest);
            let BuildError::RateTooLow { .. } = error(builder.false_positive_rate(lowest * 0.999))
            else {
                panic!("lower than {lowest}");
            };
        }
    }
}

#[test]
fn layouts_that_miss_the_rate() {
    for &layout in Layout::ALL {
        for capacity in [1, 17, 5_000] {
            let builder = CuckooFilter::builder().capacity(capacity).layout(layout);
            let reached = builder.clone().build().expect("no rate").false_positive_rate();
            let rate = reached * 0.99;
            match error(builder.clone().false_positive_rate(rate)) {
                BuildError::LayoutMissesRate { layout: missing, asked, reached: at, .. } => {
                    assert_eq!((missing, asked, at), (layout, rate, reached));
                }
                other => panic!("{other:?}"),
            }
            let filter = builder.false_positive_rate(reached).build().expect("its own rate");
            assert_eq!(filter.layout(), layout);
        }
    }
}

/// A slice of answers that is too short or too long.
macro_rules! wrong_lengths {
    ($($name:ident: $method:ident($items:expr, $answers:literal)),* $(,)?) => {
        mod wrong_length {
            use guira::CuckooFilter;
            $(#[test]
            #[should_panic(expected = "a batch needs as many answers as items: 3 items")]
            fn $name() {
                let _ = CuckooFilter::with_capacity(10).$method($items, &mut [false; $answers]);
            })*
        }
    };
}

wrong_lengths! {
    of_contains_batch: contains_batch(&["a", "b", "c"], 2),
    of_insert_unique_batch: insert_unique_batch(&["a", "b", "c"], 4),
    of_remove_batch: remove_batch(&["a", "b", "c"], 0),
    of_contains_hash_batch: contains_hash_batch(&[1, 2, 3], 4),
    of_insert_unique_hash_batch: insert_unique_hash_batch(&[1, 2, 3], 2),
    of_remove_hash_batch: remove_hash_batch(&[1, 2, 3], 5),
}

#[test]
#[should_panic(expected = "a mask has room for 64 answers, not for 65")]
fn a_burst_too_long_for_a_mask() {
    let _ = CuckooFilter::with_capacity(10).contains_mask(&[0; 65]);
}

#[test]
#[should_panic(expected = "a mask has room for 64 answers, not for 65")]
fn a_burst_of_hashes_too_long_for_a_mask() {
    let _ = CuckooFilter::with_capacity(10).by_hash().contains_mask(&[0; 65]);
}

/// Nothing is done before the lengths are checked.
#[test]
fn a_wrong_length_changes_nothing() {
    let filter = CuckooFilter::with_capacity(10);
    filter.insert(&1).expect("room");
    let filter = &filter;
    let attempts: [Box<dyn Fn()>; 2] = [
        Box::new(|| drop(filter.insert_unique_batch(&[1, 2, 3], &mut [false; 2]))),
        Box::new(|| _ = filter.remove_batch(&[1, 2, 3], &mut [false; 4])),
    ];
    for attempt in attempts {
        assert!(catch_unwind(AssertUnwindSafe(attempt)).is_err());
        assert_eq!((filter.len(), filter.count(&1)), (1, 1));
    }
}

/// An item whose hashing panics, if it is that kind of item.
#[derive(Clone, Copy)]
struct Moody(u64, bool);

impl Hash for Moody {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(!self.1, "a mood");
        state.write_u64(self.0);
    }
}

/// A hasher that panics at one number.
#[derive(Clone)]
struct Touchy(DefaultHashBuilder);

struct TouchyHasher<H>(H);

impl BuildHasher for Touchy {
    type Hasher = TouchyHasher<<DefaultHashBuilder as BuildHasher>::Hasher>;

    fn build_hasher(&self) -> Self::Hasher {
        TouchyHasher(self.0.build_hasher())
    }
}

impl<H: Hasher> Hasher for TouchyHasher<H> {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn write_u64(&mut self, value: u64) {
        assert!(value != 666, "the number of the beast");
        self.0.write_u64(value);
    }
}

/// Does everything to a filter with items of which one in the middle of each batch panics, and checks
/// that it still counts right, finds what is in, and can be filled and emptied.
fn survives<S: BuildHasher, T: Hash>(filter: &CuckooFilter<S>, good: &[T], bad: &T, mixed: &[T]) {
    let panics = |attempt: &dyn Fn()| {
        assert!(catch_unwind(AssertUnwindSafe(attempt)).is_err(), "that should have panicked");
    };
    let check = |inserted: usize| {
        let found = good.iter().filter(|item| filter.contains(*item)).count();
        assert_eq!((filter.len(), found), (inserted, inserted));
    };
    panics(&|| _ = filter.insert(bad));
    panics(&|| _ = filter.insert_unique(bad));
    panics(&|| _ = filter.contains(bad));
    panics(&|| _ = filter.remove(bad));
    panics(&|| _ = filter.count(bad));
    check(0);

    // Of a batch, any number of items before the one that panics may be in; what is in, counts.
    panics(&|| drop(filter.insert_batch(mixed)));
    let inserted = filter.len();
    assert!(inserted < good.len());
    check(inserted);
    panics(&|| drop(filter.insert_unique_batch(mixed, &mut vec![false; mixed.len()])));
    let inserted = filter.len();
    check(inserted);
    panics(&|| _ = filter.contains_batch(mixed, &mut vec![false; mixed.len()]));
    check(inserted);
    panics(&|| _ = filter.remove_batch(mixed, &mut vec![false; mixed.len()]));
    let inserted = filter.len();
    check(inserted);

    let mut added = vec![false; good.len()];
    let outcome = filter.insert_unique_batch(good, &mut added);
    assert_eq!(outcome, Ok(good.len() - inserted));
    check(good.len());
    assert_eq!(filter.remove_batch(good, &mut added), good.len());
    check(0);
}

#[test]
fn a_hash_that_panics_leaves_the_filter_usable() {
    let filter = CuckooFilter::builder().capacity(1_000).seed(1).build().expect("small");
    let good: Vec<Moody> = (0..200).map(|number| Moody(number, false)).collect();
    let mut mixed = good.clone();
    mixed[150].1 = true;
    survives(&filter, &good, &Moody(150, true), &mixed);
}

#[test]
fn a_hasher_that_panics_leaves_the_filter_usable() {
    let hasher = Touchy(DefaultHashBuilder::with_seed(2));
    let builder = CuckooFilter::builder().capacity(1_000).seed(2);
    let filter = builder.hasher(hasher).build().expect("small");
    let good: Vec<u64> = (0..200).collect();
    let mut mixed = good.clone();
    mixed[150] = 666;
    survives(&filter, &good, &666, &mixed);
}
