//! Errors of every kind, and panics: only the documented ones, at the caller's line.

use std::{
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, Once, PoisonError},
    thread::{self, ThreadId},
};

use crate::common::{
    kind::{Kind, Of, new},
    settings,
    suite::on_all_kinds,
};
use guira::{
    BuildError, CuckooFilter, ExpiringFilter, Filter, FilterBuilder, GrowingFilter, GrowingMap,
    Hashed, Layout,
    kind::{Contents, Fixed, Growing, Growth, Map},
};

on_all_kinds! {
    no_capacity,
    invalid_rates,
    a_hash_that_panics_leaves_the_filter_usable,
}

/// The error of a builder that must not succeed.
fn error<C: Contents, G: Growth>(builder: FilterBuilder<C, G>) -> BuildError {
    let error = builder.build().expect_err("an error");
    assert!(!error.to_string().is_empty());
    assert_eq!(error, error.clone());
    let _: &dyn std::error::Error = &error;
    error
}

fn no_capacity<K: Kind>() {
    let builder = new::<K>;
    if K::GROWS {
        let filter = builder().build().expect("a default");
        assert!((4_096..4_100).contains(&filter.slots()), "{filter:?}");
        return;
    }
    assert_eq!(error(builder()), BuildError::NoCapacity);
    let builder = builder().false_positive_rate(f64::NAN);
    assert_eq!(error(builder), BuildError::NoCapacity);
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
                    BuildError::CapacityTooLarge { capacity: given, layout: reported, .. } => {
                        assert_eq!((given, reported), (capacity, layout));
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
                BuildError::CapacityTooLarge { capacity: given, .. } => assert_eq!(given, capacity),
                other => panic!("{other:?} for {capacity} at {rate:?}"),
            }
        }
    }
}

fn invalid_rates<K: Kind>() {
    let wrong = [0.0, -0.0, 1.0, 1.5, -0.01, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX];
    for rate in wrong {
        for layout in [None, K::layouts().pop()] {
            let builder = match layout {
                None => new::<K>().capacity(100),
                Some(layout) => settings::<K>(100, layout, 1),
            };
            match builder.false_positive_rate(rate).build() {
                Err(BuildError::InvalidRate(given)) => {
                    assert!(given.to_bits() == rate.to_bits());
                }
                other => panic!("{rate}: {other:?}"),
            }
        }
    }
}

#[test]
fn rates_below_those_of_all_layouts() {
    for capacity in [1, 10, 1_000, 100_000] {
        for rate in [1e-9, 1e-30, f64::MIN_POSITIVE, f64::from_bits(1)] {
            let builder = CuckooFilter::builder().capacity(capacity);
            let BuildError::RateTooLow { target, lowest, .. } =
                error(builder.clone().false_positive_rate(rate))
            else {
                panic!("{rate} at {capacity}");
            };
            assert_eq!(target.to_bits(), rate.to_bits());
            assert!(lowest > rate && lowest < 0.001);
            // The lowest rate that the error names can be met, and no lower one.
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
                BuildError::LayoutMissesRate { layout: missing, target, reached: at, .. } => {
                    assert_eq!((missing, target, at), (layout, rate, reached));
                }
                other => panic!("{other:?}"),
            }
            let filter = builder.false_positive_rate(reached).build().expect("its own rate");
            assert_eq!(filter.layout(), layout);
        }
    }
}

/// Of growing filters, the target holds after the last doubling.
#[test]
fn rates_that_a_growing_filter_cannot_meet() {
    let builder = GrowingFilter::builder().capacity(1);
    let low = error(builder.clone().false_positive_rate(1e-9));
    let BuildError::RateTooLow { lowest, .. } = low else { panic!("{low:?}") };
    assert!(builder.clone().false_positive_rate(lowest * 1.01).build().is_ok(), "{lowest}");
    let named = |layout| error(builder.clone().layout(layout).false_positive_rate(0.03));
    let missed = named(Layout::Growing5x12);
    assert!(matches!(missed, BuildError::LayoutMissesRate { .. }), "{missed:?}");
    let unsuitable = named(Layout::Plain4x16);
    assert!(matches!(unsuitable, BuildError::LayoutUnsuitable { .. }), "{unsuitable:?}");
    // If it need not grow so far, the layout meets the target.
    let near = builder.clone().layout(Layout::Growing5x12).false_positive_rate(0.03);
    assert!(near.max_capacity(100_000).build().is_ok());
    // A layout alone sets the target.
    assert!(builder.layout(Layout::Growing5x12).build().is_ok());
}

/// The two errors of `max_capacity`, and that of a capacity that needs too many buckets.
#[test]
fn capacities_that_a_growing_filter_cannot_have() {
    let builder = || GrowingFilter::builder().capacity(1_000);
    let low = error(builder().max_capacity(999));
    let expected = "the `max_capacity` is 999 items and the `capacity` 1000: raise the one or lower \
                    the other";
    assert_eq!(low.to_string(), expected);
    assert!(matches!(low, BuildError::MaxCapacityTooLow { max_capacity: 999, .. }));
    assert!(builder().max_capacity(1_000).build().is_ok());
    // The items are at most 2^32 buckets, each of 5 slots at most.
    let most = 5_usize << 32;
    for builder in [builder().max_capacity(most), GrowingFilter::builder().capacity(most)] {
        let large = error(builder);
        assert!(matches!(large, BuildError::CapacityTooLarge { .. }), "{large:?}");
    }
}

/// Where a thread panicked last: the file and the line.
static PANICS: Mutex<Vec<(ThreadId, String, u32)>> = Mutex::new(Vec::new());

/// Calls an operation that must panic. Returns its message, and the file and line of the panic.
fn panic_of(operation: &dyn Fn()) -> (String, String, u32) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place =
                info.location().map_or((String::new(), 0), |at| (at.file().into(), at.line()));
            PANICS.lock().expect("no panic").push((thread::current().id(), place.0, place.1));
            usual(info);
        }));
    });
    let panic = catch_unwind(AssertUnwindSafe(operation)).expect_err("this must panic");
    let message = panic.downcast_ref::<String>().expect("a formatted message").clone();
    let panics = PANICS.lock().expect("no panic");
    let mine = panics.iter().rfind(|(thread, ..)| *thread == thread::current().id());
    let (_, file, line) = mine.expect("the hook has run");
    (message, file.clone(), *line)
}

/// An operation that must panic, and its line.
macro_rules! here {
    ($operation:expr) => {
        (line!(), &|| _ = $operation)
    };
}

/// Checks that each operation panics with this message, at its own line.
fn assert_panics_here(expected: &str, operations: &[(u32, &dyn Fn())]) {
    for &(line, operation) in operations {
        let (message, file, panicked_at) = panic_of(operation);
        assert!(message.contains(expected), "{message}");
        assert_eq!((file.as_str(), panicked_at), (file!(), line));
    }
}

const LENGTHS: &str = "a batch needs as many answers as keys: 3 keys, 4 answers";
const VALUES: &str = "a batch needs as many values as keys: 3 keys, 4 values";
const BURST: &str = "a mask has at most 64 keys, not 65";

/// Checks what sets panic at, whether their items expire or not.
macro_rules! sets_panic_at_the_line_of_the_caller {
    ($filter:expr) => {
        let (filter, three, long) = ($filter, [1, 2, 3], [0; 65]);
        let lengths: &[(u32, &dyn Fn())] = &[
            here!(filter.contains_batch(&three, &mut [false; 4])),
            here!(filter.contains_batch(&three.map(Hashed), &mut [false; 4])),
            here!(filter.insert_unique_batch(&three, &mut [false; 4])),
            here!(filter.insert_unique_batch(&three.map(Hashed), &mut [false; 4])),
        ];
        assert_panics_here(LENGTHS, lengths);
        let bursts: &[(u32, &dyn Fn())] = &[
            here!(filter.contains_mask(&long)),
            here!(filter.contains_mask(&long.map(Hashed))),
            here!(filter.insert_unique_mask(&long)),
            here!(filter.insert_unique_mask(&long.map(Hashed))),
        ];
        assert_panics_here(BURST, bursts);
        // The lengths were checked before anything else.
        assert!(filter.is_empty());
    };
}

#[test]
fn panics_are_at_the_line_of_the_caller() {
    sets_panic_at_the_line_of_the_caller!(&CuckooFilter::with_capacity(10));
    sets_panic_at_the_line_of_the_caller!(&GrowingFilter::with_capacity(10));
    let expiring = ExpiringFilter::builder().capacity(10).window(13).build().unwrap();
    sets_panic_at_the_line_of_the_caller!(&expiring);
    let (filter, three, long) = (&CuckooFilter::with_capacity(10), [1, 2, 3], [0; 65]);
    filter.insert(&1).expect("room");
    assert_panics_here(LENGTHS, &[here!(filter.remove_batch(&three, &mut [false; 4]))]);
    assert_eq!((filter.len(), filter.count(&1)), (1, 1));
    assert_panics_here(
        BURST,
        &[here!(expiring.refresh_mask(&long)), here!(expiring.insert_or_refresh_mask(&long))],
    );
    assert_panics_here(
        LENGTHS,
        &[here!(expiring.insert_or_refresh_batch(&three, &mut [false; 4]))],
    );
    let most = usize::MAX;
    assert_panics_here(
        "buckets",
        &[here!(CuckooFilter::with_capacity(most)), here!(GrowingMap::with_capacity(most))],
    );
}

fn maps_panic_at_the_line_of_the_caller<G: Growth>() {
    let (map, three, long) = (Filter::<Map, G>::with_capacity(100), [1, 2, 3], [0; 65]);
    let map = &map;
    map.insert(&1, 1).expect("room");
    assert_panics_here(
        VALUES,
        &[
            here!(map.insert_batch(&three, &[1; 4])),
            here!(map.remove_batch(&three, &[1; 4], &mut [false; 3])),
            here!(map.get_mask(&three, &mut [1; 4])),
        ],
    );
    assert_panics_here(
        LENGTHS,
        &[
            here!(map.remove_batch(&three, &[1; 3], &mut [false; 4])),
            here!(map.get_batch(&three, &mut [None; 4])),
            here!(map.contains_batch(&three, &mut [false; 4])),
        ],
    );
    assert_panics_here(
        BURST,
        &[here!(map.contains_mask(&long)), here!(map.get_mask(&long, &mut [1; 65]))],
    );
    assert_eq!((map.len(), map.get(&1)), (1, Some(1)));
}

#[test]
fn maps_panic_at_the_line_of_the_caller_too() {
    maps_panic_at_the_line_of_the_caller::<Fixed>();
    maps_panic_at_the_line_of_the_caller::<Growing>();
}

/// An item whose hashing panics if the flag is set.
#[derive(Clone, Copy)]
struct Unhashable(u64, bool);

impl Hash for Unhashable {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(!self.1, "this item cannot be hashed");
        state.write_u64(self.0);
    }
}

/// Calls every operation with items of which one in the middle of each batch panics. Checks that
/// the filter still counts correctly, finds its items, and can be filled and emptied.
fn a_hash_that_panics_leaves_the_filter_usable<K: Kind>() {
    let builder = new::<K>().capacity(300).seed(1);
    let filter: &Of<K> = &builder.build().expect("small");
    let good: &[Unhashable] = &(0..200).map(|number| Unhashable(number, false)).collect::<Vec<_>>();
    let (bad, mixed) = (&Unhashable(150, true), &mut good.to_vec());
    mixed[150] = *bad;
    let panics = |attempt: &dyn Fn()| {
        assert!(catch_unwind(AssertUnwindSafe(attempt)).is_err(), "this must panic");
    };
    let check = |inserted: usize| {
        let found = good.iter().filter(|item| filter.contains(*item)).count();
        assert_eq!((filter.len(), found), (inserted, inserted));
    };
    let want = K::usual_want(filter, 0);
    let (tag, wants) = (K::tag_of(filter, 0), vec![want; good.len()]);
    let tags = vec![tag; good.len()];
    panics(&|| _ = K::insert(filter, bad, want));
    panics(&|| _ = K::insert_unique(filter, bad, want));
    panics(&|| _ = filter.contains(bad));
    panics(&|| _ = K::tags(filter, bad).or_else(|| panic!("no tags")));
    panics(&|| _ = K::remove(filter, bad, tag));
    panics(&|| _ = filter.count(bad));
    check(0);

    // Any number of items before the one that panics may have been added; these count.
    panics(&|| drop(K::insert_batch(filter, mixed, &wants)));
    let inserted = filter.len();
    assert!(inserted < good.len());
    check(inserted);
    // The answers say what was done, also if they are those of an earlier batch.
    let answers = |attempt: &dyn Fn(&mut [bool])| {
        let answers = Mutex::new(vec![true; mixed.len()]);
        panics(&|| attempt(&mut answers.lock().unwrap_or_else(PoisonError::into_inner)));
        let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        answers.into_iter().filter(|&answer| answer).count()
    };
    // Maps have no such method.
    let has_unique = K::insert_unique_mask::<Unhashable, _>(filter, &[]).is_some();
    if has_unique {
        let added = answers(&|added| drop(K::insert_unique_batch(filter, mixed, added)));
        assert_eq!(filter.len(), inserted + added);
    }
    let inserted = filter.len();
    check(inserted);
    panics(&|| _ = filter.contains_batch(mixed, &mut vec![false; mixed.len()]));
    panics(&|| _ = filter.contains_mask(&mixed[120..180]));
    check(inserted);
    let mut removed = 0;
    if K::IS_PERMANENT {
        removed = answers(&|removed| _ = K::remove_batch(filter, mixed, &tags, removed));
    }
    assert_eq!(filter.len(), inserted - removed);
    check(inserted - removed);
    if has_unique {
        panics(&|| _ = K::insert_unique_mask(filter, &mixed[120..180]));
    }
    check(filter.len());

    let absent: Vec<Unhashable> =
        good.iter().copied().filter(|item| !filter.contains(item)).collect();
    let outcome = K::insert_batch(filter, &absent, &wants[..absent.len()]);
    assert_eq!(outcome.map(drop), Ok(()));
    check(good.len());
    assert_eq!(K::remove_batch(filter, good, &tags, &mut vec![false; good.len()]), good.len());
    check(0);
}
