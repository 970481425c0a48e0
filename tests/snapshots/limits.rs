//! Fields at their limits: a value is refused, or the filter that is loaded stays one that can be
//! saved and loaded again, whatever is done with it. (Fields that have only one valid value are in
//! `fields.rs`.)

use guira::LoadError;

use super::common::{
    Subject,
    forge::{
        BLOCK, BOUND, CAPACITY, CLEAN, CONTENTS, COPIES, END, FIRST, GENERATION, GHOSTS, HEADER,
        LOAD, MAX_BUCKETS, OCCUPIED, REFRESHED, SIZE, STRIPES, SWEPT, TARGET, TIME_TO_LIVE, TIMES,
        WINDOW, WORDS, amend, number, put,
    },
    kind::{Kind, Of, new},
    rng,
    saved::{crowd, filled, loader},
    suite::on_all_kinds,
};

on_all_kinds! { a_field_at_its_limit_stays_valid }

/// Keys of which a filter has some.
const KEYS: u64 = 150;

/// A snapshot with other values of some fields.
struct Row {
    name: String,
    bytes: Vec<u8>,
    /// The name of the field that is refused, if one is.
    refused: Option<&'static str>,
}

/// The snapshot with other numbers at some offsets.
fn row(bytes: &[u8], name: &str, numbers: &[(usize, u64)], refused: Option<&'static str>) -> Row {
    let mut bytes = bytes.to_vec();
    for &(at, number) in numbers {
        put(&mut bytes, at, number);
    }
    amend(&mut bytes);
    let name =
        format!("{name} {:?}", numbers.iter().map(|&(_, number)| number).collect::<Vec<_>>());
    Row { name, bytes, refused }
}

/// The number of which one byte is another one, and its place.
fn byte(bytes: &[u8], at: usize, value: u8) -> (usize, u64) {
    let start = at / 8 * 8;
    let mut number = number(bytes, start).to_le_bytes();
    number[at - start] = value;
    (start, u64::from_le_bytes(number))
}

/// An empty filter that has grown to another size, without buckets that were split ahead of their
/// turn.
fn empty<K: Kind>(bytes: &[u8], slots: u64, first: u64, level: u64, split: u64) -> Vec<u8> {
    let buckets = (first << level) + split;
    let mut bytes = bytes[..HEADER].to_vec();
    for bucket in 0..buckets {
        let is_split = bucket < split || bucket >= first << level;
        bytes.extend(((level + u64::from(is_split)) << 60).to_le_bytes());
    }
    let capacity = buckets * slots * number(&bytes, LOAD) / 256;
    let numbers = [(FIRST, first), (SIZE, level << 32 | split), (MAX_BUCKETS, first << 15)];
    let counts = [(WORDS, buckets), (OCCUPIED, 0), (GHOSTS, 0), (CAPACITY, capacity)];
    for (at, number) in numbers.into_iter().chain(counts) {
        put(&mut bytes, at, number);
    }
    let blocks = (8 * buckets as usize).div_ceil(BLOCK);
    bytes.resize(bytes.len() + 8 * (blocks + 1), 0);
    amend(&mut bytes);
    bytes
}

/// Fields that filters of all kinds have.
fn common(bytes: &[u8], slots: u64) -> Vec<Row> {
    let row = |name, numbers: &[_], refused| row(bytes, name, numbers, refused);
    vec![
        row("unchanged", &[], None),
        row("stripes", &[byte(bytes, STRIPES, 0)], None),
        row("stripes", &[byte(bytes, STRIPES, 11)], None),
        row("stripes", &[byte(bytes, STRIPES, 12)], Some("stripes")),
        row("occupied", &[(OCCUPIED, slots + 1)], Some("occupied slots")),
    ]
}

fn of_fixed<K: Kind>(bytes: &[u8], slots: u64, per_bucket: u64) -> Vec<Row> {
    let row = |name, numbers: &[_], refused| row(bytes, name, numbers, refused);
    let mut rows = vec![
        row("words", &[(WORDS, 0)], Some("words")),
        row("words", &[(WORDS, (1 << 32) + 1)], Some("words")),
        row("capacity", &[(CAPACITY, 0)], Some("capacity")),
        row("capacity", &[(CAPACITY, 1)], None),
        row("capacity", &[(CAPACITY, slots)], None),
        row("capacity", &[(CAPACITY, slots + 1)], Some("capacity")),
    ];
    if K::IS_PERMANENT {
        rows.push(row("copies", &[(COPIES, 1)], None));
        rows.push(row("copies", &[(COPIES, 2 * per_bucket - 1)], None));
        rows.push(row("copies", &[(COPIES, 2 * per_bucket)], Some("copies")));
    }
    rows
}

fn of_growing<K: Kind>(bytes: &[u8], slots: u64, per_bucket: u64) -> Vec<Row> {
    let (first, size) = (number(bytes, FIRST), number(bytes, SIZE));
    let (level, split) = (size >> 32, size & u64::from(u32::MAX));
    let (buckets, round) = ((first << level) + split, first << level);
    let plain = row;
    let row = |name, numbers: &[_], refused| row(bytes, name, numbers, refused);
    let with_load = |load: u64, refused| {
        let capacity = buckets * per_bucket * load / 256;
        row("load", &[(LOAD, load), (CAPACITY, capacity)], refused)
    };
    let max = "largest number of buckets";
    let mut rows = vec![
        row("first buckets", &[(FIRST, 0)], Some("first buckets")),
        row("first buckets", &[(FIRST, (1 << 32) + 1)], Some("first buckets")),
        row("level", &[(SIZE, 16 << 32)], Some("level")),
        row("split buckets", &[(SIZE, level << 32 | round)], Some("split buckets")),
        row(max, &[(MAX_BUCKETS, buckets - 1)], Some(max)),
        row(max, &[(MAX_BUCKETS, first << 15)], None),
        row(max, &[(MAX_BUCKETS, (first << 15) + 1)], Some(max)),
        with_load(0, Some("load")),
        with_load(1, None),
        with_load(256, None),
        with_load(257, Some("load")),
        row("capacity", &[(CAPACITY, number(bytes, CAPACITY) + 1)], Some("capacity")),
        row("target rate", &[(TARGET, 1_f64.to_bits() - 1)], None),
        row("target rate", &[(TARGET, 1_f64.to_bits())], Some("target rate")),
    ];
    if K::IS_PERMANENT {
        rows.push(row("copies", &[(COPIES, 1)], None));
        rows.push(row("copies", &[(COPIES, u64::MAX)], None));
        for ghosts in [0, slots, u64::MAX] {
            rows.push(row("ghosts", &[(GHOSTS, ghosts)], None));
        }
    }
    // Sizes: the smallest table, and one that can grow no further, with and without room for the
    // last child, and with the lowest load.
    for (first, level, split) in [(1, 0, 0), (1, 15, 0), (3, 14, 5), (256, 0, 255)] {
        let bytes = &empty::<K>(bytes, per_bucket, first, level, split);
        let name = format!("first {first}, level {level}, split {split}");
        rows.push(plain(bytes, &name, &[], None));
        let buckets = (first << level) + split;
        rows.push(plain(bytes, &name, &[(MAX_BUCKETS, buckets)], None));
        let capacity = buckets * per_bucket / 256;
        let refused =
            (first * per_bucket < 256).then_some(if capacity == 0 { "capacity" } else { "load" });
        rows.push(plain(bytes, &name, &[(LOAD, 1), (CAPACITY, capacity)], refused));
    }
    rows
}

fn of_expiring(bytes: &[u8]) -> Vec<Row> {
    let size = number(bytes, SIZE);
    let buckets = match number(bytes, FIRST) {
        0 => number(bytes, WORDS),
        first => (first << (size >> 32)) + (size & u64::from(u32::MAX)),
    };
    let row = |name, numbers: &[_], refused| row(bytes, name, numbers, refused);
    let (window, now) = (number(bytes, WINDOW), number(bytes, GENERATION));
    assert_eq!(window, 13);
    let last = (1 << 63) - 1;
    let latest = if number(bytes, FIRST) == 0 { 0 } else { now };
    let mut rows = vec![
        row("window", &[(WINDOW, 5)], Some("window")),
        row("window", &[(WINDOW, 6)], None),
        row("window", &[(WINDOW, 14)], Some("window")),
        row("generation", &[(GENERATION, window - 1)], Some("generation")),
        row("generation", &[(GENERATION, window), (WINDOW, window)], None),
        row("generation", &[(GENERATION, last - 1), (CLEAN, last - 14), (BOUND, last - 14)], None),
        row("generation", &[(GENERATION, last), (CLEAN, last - 14), (BOUND, last - 14)], None),
        row("generation", &[(GENERATION, last), (CLEAN, last), (BOUND, last)], None),
        row("generation", &[(GENERATION, last + 1)], Some("generation")),
        row("generation", &[(GENERATION, u64::MAX)], Some("generation")),
        row("swept", &[(CLEAN, now), (BOUND, now)], None),
        row("swept", &[(CLEAN, now + 1)], Some("swept generation")),
        row("swept", &[(GENERATION, 99), (CLEAN, 85), (BOUND, 85)], None),
        row("bound", &[(GENERATION, 99), (CLEAN, 85), (BOUND, 86)], Some("bound of the sweep")),
        row("bound", &[(GENERATION, 99), (CLEAN, 85), (BOUND, 99), (END, buckets)], None),
        row(
            "bound",
            &[(GENERATION, 99), (CLEAN, 85), (BOUND, 100), (END, buckets)],
            Some("bound of the sweep"),
        ),
        row("end", &[(END, buckets), (SWEPT, buckets - 1)], None),
        row("end", &[(END, buckets), (SWEPT, buckets)], Some("swept buckets")),
        row("end", &[(END, buckets + 1)], Some("end of the sweep")),
        row("end", &[(SWEPT, 1)], Some("swept buckets")),
        row("swept", &[(GENERATION, 99), (CLEAN, 84)], Some("swept generation")),
        row("refreshed", &[(REFRESHED, latest)], None),
        row("refreshed", &[(REFRESHED, latest + 1)], Some("refreshed generation")),
        row("time", &[(TIME_TO_LIVE, 1 << 30)], Some("unused field")),
        row("time", &[(TIMES, 1)], Some("unused field")),
    ];
    // The same with a clock of the system: the coarse one, or the precise one.
    for (source, lag) in [(1, 72_000_000), (2, 0)] {
        let clock = byte(bytes, CONTENTS + 3, source);
        for time in [20_000_u64, 1 << 30, 1 << 60] {
            let timed = |name, numbers: &[_], refused| {
                let fields = [(WINDOW, 6), (TIME_TO_LIVE, time), clock];
                row(name, &[&fields[..], numbers].concat(), refused)
            };
            rows.push(timed("time", &[], None));
            rows.push(timed("time", &[(WINDOW, 7)], Some("window")));
            let too_short = [(TIME_TO_LIVE, 19_999)];
            rows.push(timed("time", &too_short, Some("time to live")));
            let too_long = [(TIME_TO_LIVE, (1 << 60) + 1)];
            rows.push(timed("time", &too_long, Some("time to live")));
            let most = 2 * (time + lag) + 512;
            for at in (TIMES..).step_by(8).take(7) {
                for left in [most, 0_u64.wrapping_sub(1), 0_u64.wrapping_sub(1 << 61)] {
                    rows.push(timed("time left", &[(at, left)], None));
                }
                for left in [most + 1, 0_u64.wrapping_sub((1 << 61) + 1)] {
                    rows.push(timed("time left", &[(at, left)], Some("time left")));
                }
            }
            let all = |left: u64| (TIMES..).step_by(8).take(7).map(|at| (at, left)).collect();
            let (most, last): (Vec<_>, _) = (all(most), (GENERATION, last));
            let late = [last, (CLEAN, last.1), (BOUND, last.1)];
            rows.push(timed("times left", &[&most[..], &late].concat(), None));
            rows.push(timed("times left", &most, None));
        }
    }
    rows.push(row("clock", &[byte(bytes, CONTENTS + 3, 4)], Some("unused field")));
    rows
}

/// What can be done with a filter.
type Step<K> = (&'static str, fn(&mut Of<K>));

fn steps<K: Kind>() -> Vec<Step<K>> {
    vec![
        ("insert", |filter| (0..KEYS).for_each(|key| _ = K::add(filter, key))),
        ("remove", |filter| {
            let (mut rng, keys) = (rng(1), 0..2 * KEYS);
            for key in keys {
                let tag = K::any_tag(filter, &mut rng);
                let _ = (K::take(filter, key), K::remove(filter, &key, tag));
            }
        }),
        ("shrink", |filter| _ = K::Growth::shrink(filter)),
        ("advance", |filter| (0..20).for_each(|_| K::advance(filter))),
        ("batch", |filter| {
            let keys: Vec<u64> = (KEYS..4 * KEYS).collect();
            let _ = (K::add_batch(filter, &keys), K::take_batch(filter, &keys[..90]));
        }),
        ("insert_unique", |filter| {
            (0..KEYS).for_each(|key| _ = K::add_unique(filter, 7 * key));
            let _ = K::insert_unique_mask(filter, &[1_u64 << 40, 1 << 41]);
        }),
        ("replace", |filter| {
            for key in 0..KEYS {
                let tag = K::tag_of(filter, key);
                if K::contains_tag(filter, key, tag) == Some(true) {
                    K::retag(filter, key, tag, 0);
                }
            }
        }),
        ("refresh", |filter| {
            (0..KEYS).for_each(|key| _ = K::refresh(filter, key));
        }),
        ("advance once", |filter| K::advance(filter)),
        ("merge", |filter| _ = K::merge(filter, &filter.clone())),
        ("sweep", |filter| K::sweep(filter, 100)),
        ("cap", |filter| {
            K::Growth::set_max_bytes(filter, Some(0));
            (0..KEYS).for_each(|key| _ = K::add(filter, key));
            K::Growth::set_max_bytes(filter, None);
        }),
        ("clone", |filter| *filter = filter.clone()),
        ("clear", |filter| filter.clear()),
    ]
}

/// Loads a snapshot, and takes all steps from one on in turn, from several of them. The filter is
/// saved and loaded after each step.
fn check<K: Kind>(Row { name, bytes, refused }: &Row) {
    let load = |bytes: &[u8]| loader::<K>().bytes(bytes);
    match (load(bytes), refused) {
        (Ok(_), None) => {}
        (Err(LoadError::InvalidField { name, .. }), Some(refused)) if name == *refused => return,
        (other, _) => panic!("{name}: {other:?} in place of {refused:?}"),
    }
    let steps = steps::<K>();
    for first in (0..steps.len()).step_by(4) {
        let mut filter = load(bytes).expect("as before");
        let mut taken = Vec::new();
        for (step, take) in steps.iter().cycle().skip(first).take(steps.len()) {
            take(&mut filter);
            taken.push(*step);
            assert!(filter.len() <= filter.slots(), "{name} after {taken:?}");
            if let Err(error) = load(&filter.to_bytes()) {
                panic!("{name} after {taken:?}: {error}");
            }
        }
    }
}

fn a_field_at_its_limit_stays_valid<K: Kind>() {
    let (capacity, keys) = if K::GROWS { (1, 900) } else { (100, 100) };
    let (filter, _) = filled::<K>(new::<K>().capacity(capacity).seed(u64::MAX), keys);
    if K::GROWS {
        crowd::<K>(&filter, 2);
    }
    let bytes = filter.to_bytes();
    let per_bucket = u64::from(filter.layout().slots_per_bucket());
    let slots = filter.slots() as u64;
    let mut rows = common(&bytes, slots);
    if K::GROWS {
        rows.extend(of_growing::<K>(&bytes, slots, per_bucket));
    } else {
        rows.extend(of_fixed::<K>(&bytes, slots, per_bucket));
    }
    if bytes[CONTENTS] == 2 {
        rows.extend(of_expiring(&bytes));
    }
    rows.iter().for_each(check::<K>);
}
