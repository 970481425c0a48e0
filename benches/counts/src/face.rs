//! The table of operations, and the only file here that calls filters.

use guira::{
    CuckooFilter, CuckooMap, ExpiringFilter, GrowingFilter, GrowingMap, Hashed, InsertBatchError,
    Insertion, Layout,
};

use crate::{
    Keys::{self, Absent, New, Present, UpTo},
    Kind, Operation, count,
};

/// Capacity of the large filters. All of them have more than 65,536 buckets and 512 KiB, so batches
/// prefetch, and batches of inserts interleave their searches.
const LARGE: usize = 420_000;

/// Capacity of a filter of less than 512 KiB, whose batches do not prefetch.
const SMALL: usize = 40_000;

/// First capacity of the filters that grow. They have more than four times as many slots when they
/// hold half of [`LARGE`].
const FIRST_CAPACITY: usize = LARGE / 7;

/// Counts all operations.
pub(crate) fn count_all() {
    let few = || contains_batches().into_iter().filter(|batch| batch.keys.are_present()).collect();
    count(&set("set Plain4x16", LARGE, Layout::Plain4x16, set_operations()));
    count(&set("set SemiSorted6x12", LARGE, Layout::SemiSorted6x12, set_operations()));
    count(&set("small set Plain4x16", SMALL, Layout::Plain4x16, few()));
    count(&map("map of 4 bits", 4));
    count(&map("map of 8 bits", 8));
    count(&expiring());
    count(&growing());
    count(&growing_map());
    let contains = |filter: &_, keys: &[_]| each(keys, |key| CuckooFilter::contains(filter, key));
    count(&hashed("hasher, u64", |key| key, contains));
    let contains = |filter: &_, keys: &[String]| {
        each(keys, |key| CuckooFilter::contains(filter, key.as_str()))
    };
    count(&hashed("hasher, str of 16 bytes", |key| format!("{key:016x}"), contains));
}

fn set(
    name: &'static str,
    capacity: usize,
    layout: Layout,
    operations: Vec<Operation<CuckooFilter, Hashed>>,
) -> Kind<CuckooFilter, Hashed> {
    let builder = CuckooFilter::builder().capacity(capacity).layout(layout);
    Kind {
        name,
        capacity,
        build: Box::new(move |kernel, seed| {
            builder.clone().kernel(kernel).seed(seed).build().unwrap()
        }),
        clone: CuckooFilter::clone,
        key: Hashed,
        insert: |filter, keys| all(filter.insert_batch(keys), keys),
        operations,
    }
}

fn set_operations() -> Vec<Operation<CuckooFilter, Hashed>> {
    let mut operations = Vec::new();
    for (name, from, to) in [
        ("insert to 50 %", 0.0, 0.5),
        ("insert 50 to 90 %", 0.5, 0.9),
        ("insert 95 to 100 %", 0.95, 1.0),
    ] {
        operations.push(one(name, from, UpTo(to), |filter: &CuckooFilter, keys| {
            each(keys, |key| filter.insert(key).is_ok())
        }));
        operations.push(one(&format!("{name}, batch of 64"), from, UpTo(to), insert_batch::<64>));
        operations.push(one(
            &format!("{name}, batch of 4096"),
            from,
            UpTo(to),
            insert_batch::<4096>,
        ));
    }
    operations.extend([
        one("insert_unique new", 0.8, New, |filter: &CuckooFilter, keys| {
            each(keys, |key| filter.insert_unique(key) == Ok(Insertion::New(())))
        }),
        one("insert_unique new, batch of 64", 0.8, New, insert_unique_batch::<64>),
        one("insert_unique new, batch of 4096", 0.8, New, insert_unique_batch::<4096>),
        one("insert_unique new, mask of 16", 0.8, New, |filter, keys| {
            masks(keys, |keys| filter.insert_unique_mask(keys).added)
        }),
        one("insert_unique present", 0.9, Present, |filter, keys| {
            each(keys, |key| filter.insert_unique(key) == Ok(Insertion::Found(())))
        }),
        one("remove", 0.9, Present, |filter, keys| each(keys, |key| filter.remove(key))),
        one("remove, batch of 64", 0.9, Present, remove_batch::<64>),
        one("remove, batch of 4096", 0.9, Present, remove_batch::<4096>),
    ]);
    for (name, keys) in [("contains present", Present), ("contains absent", Absent)] {
        operations
            .push(one(name, 0.9, keys, |filter, keys| each(keys, |key| filter.contains(key))));
    }
    operations.extend(contains_batches());
    operations.sort_by(|a, b| a.load.total_cmp(&b.load));
    operations
}

fn contains_batches() -> Vec<Operation<CuckooFilter, Hashed>> {
    let mut operations = Vec::new();
    for (name, keys) in [("contains present", Present), ("contains absent", Absent)] {
        operations.extend([
            by_kernel(&format!("{name}, batch of 64"), keys, contains_batch::<64>),
            by_kernel(&format!("{name}, batch of 4096"), keys, contains_batch::<4096>),
            by_kernel(&format!("{name}, mask of 16"), keys, |filter, keys| {
                masks(keys, |keys| filter.contains_mask(keys))
            }),
        ]);
    }
    operations
}

fn map(name: &'static str, value_bits: u32) -> Kind<CuckooMap, Hashed> {
    let builder = CuckooMap::builder().capacity(LARGE).value_bits(value_bits);
    let mut operations = vec![
        one("insert to 50 %", 0.0, UpTo(0.5), insert_values),
        one("insert 50 to 90 %", 0.5, UpTo(0.9), insert_values),
        one("replace", 0.9, Present, |map: &CuckooMap, keys| {
            each(keys, |key| map.replace(key, value(*key), value(*key) ^ 1))
        }),
        one("remove", 0.9, Present, |map, keys| each(keys, |key| map.remove(key, value(*key)))),
    ];
    for (name, keys) in [("get present", Present), ("get absent", Absent)] {
        operations.push(one(name, 0.9, keys, |map, keys| each(keys, |key| map.get(key).is_some())));
        operations.push(by_kernel(&format!("{name}, batch of 64"), keys, get_batch::<64>));
        operations.push(by_kernel(&format!("{name}, batch of 4096"), keys, get_batch::<4096>));
    }
    operations.push(one("insert 95 to 100 %", 0.95, UpTo(1.0), insert_values));
    Kind {
        name,
        capacity: LARGE,
        build: Box::new(move |kernel, seed| {
            builder.clone().kernel(kernel).seed(seed).build().unwrap()
        }),
        clone: CuckooMap::clone,
        key: Hashed,
        insert: insert_values,
        operations,
    }
}

fn expiring() -> Kind<ExpiringFilter, Hashed> {
    Kind {
        name: "expiring set",
        capacity: LARGE,
        build: Box::new(|_, seed| {
            ExpiringFilter::builder().capacity(LARGE).window(13).seed(seed).build().unwrap()
        }),
        clone: ExpiringFilter::clone,
        key: Hashed,
        insert: |filter, keys| {
            filter.advance();
            all(filter.insert_batch(keys).map(drop), keys)
        },
        operations: vec![
            one("insert 50 to 90 %", 0.5, UpTo(0.9), |filter: &ExpiringFilter, keys| {
                each(keys, |key| filter.insert(key).is_ok())
            }),
            one("insert_unique new", 0.8, New, |filter, keys| {
                each(keys, |key| filter.insert_unique(key).unwrap().is_new())
            }),
            one("insert_unique present", 0.9, Present, |filter, keys| {
                each(keys, |key| !filter.insert_unique(key).unwrap().is_new())
            }),
            one("refresh", 0.9, Present, |filter, keys| each(keys, |key| filter.refresh(key))),
            one("contains present", 0.9, Present, |filter, keys| {
                each(keys, |key| filter.contains(key))
            }),
            one("contains absent", 0.9, Absent, |filter, keys| {
                each(keys, |key| filter.contains(key))
            }),
        ],
    }
}

fn growing() -> Kind<GrowingFilter, Hashed> {
    let contains = |filter: &GrowingFilter, keys: &[Hashed]| each(keys, |key| filter.contains(key));
    let contains_batch = |filter: &GrowingFilter, keys: &[Hashed]| {
        batches::<64, _>(keys, |keys, found| filter.contains_batch(keys, found))
    };
    let builder = GrowingFilter::builder().capacity(FIRST_CAPACITY);
    Kind {
        name: "growing set",
        capacity: LARGE,
        build: Box::new(move |kernel, seed| {
            builder.clone().kernel(kernel).seed(seed).build().unwrap()
        }),
        clone: GrowingFilter::clone,
        key: Hashed,
        insert: |filter, keys| {
            let count = all(filter.insert_batch(keys), keys);
            assert!(filter.slots() > 4 * FIRST_CAPACITY, "it has grown");
            count
        },
        operations: vec![
            one("insert 50 to 90 %", 0.5, UpTo(0.9), |filter: &GrowingFilter, keys| {
                each(keys, |key| filter.insert(key).is_ok())
            }),
            one("contains present", 0.9, Present, contains),
            one("contains absent", 0.9, Absent, contains),
            by_kernel("contains present, batch of 64", Present, contains_batch),
            by_kernel("contains absent, batch of 64", Absent, contains_batch),
        ],
    }
}

fn growing_map() -> Kind<GrowingMap, Hashed> {
    let get = |map: &GrowingMap, keys: &[Hashed]| each(keys, |key| map.get(key).is_some());
    let builder = GrowingMap::builder().capacity(FIRST_CAPACITY).value_bits(4);
    Kind {
        name: "growing map",
        capacity: LARGE,
        build: Box::new(move |_, seed| builder.clone().seed(seed).build().unwrap()),
        clone: GrowingMap::clone,
        key: Hashed,
        insert: |map, keys| each(keys, |key| map.insert(key, value(*key)).is_ok()),
        operations: vec![
            one("get present", 0.9, Present, get),
            one("get absent", 0.9, Absent, get),
        ],
    }
}

/// A set whose keys pass through the default hasher.
fn hashed<K: std::hash::Hash>(
    name: &'static str,
    key: fn(u64) -> K,
    contains: fn(&CuckooFilter, &[K]) -> usize,
) -> Kind<CuckooFilter, K> {
    let builder = CuckooFilter::builder().capacity(SMALL);
    Kind {
        name,
        capacity: SMALL,
        build: Box::new(move |_, seed| builder.clone().seed(seed).build().unwrap()),
        clone: CuckooFilter::clone,
        key,
        insert: |filter, keys| all(filter.insert_batch(keys), keys),
        operations: vec![one("contains present", 0.9, Present, contains)],
    }
}

fn insert_values(map: &CuckooMap, keys: &[Hashed]) -> usize {
    each(keys, |key| map.insert(key, value(*key)).is_ok())
}

/// The value of a key, of at most four bits.
fn value(key: Hashed) -> u16 {
    key.0 as u16 & 0xf
}

fn insert_batch<const N: usize>(filter: &CuckooFilter, keys: &[Hashed]) -> usize {
    keys.chunks(N).map(|keys| all(filter.insert_batch(keys), keys)).sum()
}

fn insert_unique_batch<const N: usize>(filter: &CuckooFilter, keys: &[Hashed]) -> usize {
    batches::<N, _>(keys, |keys, added| filter.insert_unique_batch(keys, added).unwrap())
}

fn contains_batch<const N: usize>(filter: &CuckooFilter, keys: &[Hashed]) -> usize {
    batches::<N, _>(keys, |keys, found| filter.contains_batch(keys, found))
}

fn remove_batch<const N: usize>(filter: &CuckooFilter, keys: &[Hashed]) -> usize {
    batches::<N, _>(keys, |keys, removed| filter.remove_batch(keys, removed))
}

fn get_batch<const N: usize>(map: &CuckooMap, keys: &[Hashed]) -> usize {
    batches::<N, _>(keys, |keys, values| map.get_batch(keys, values))
}

/// Returns the number of keys for which an operation returns `true`.
fn each<K>(keys: &[K], operation: impl Fn(&K) -> bool) -> usize {
    keys.iter().filter(|key| operation(key)).count()
}

/// Runs an operation on batches of `N` keys, and returns the sum of its results.
fn batches<const N: usize, A: Copy + Default>(
    keys: &[Hashed],
    operation: impl Fn(&[Hashed], &mut [A]) -> usize,
) -> usize {
    let mut answers = [A::default(); N];
    keys.chunks(N).map(|keys| operation(keys, &mut answers[..keys.len()])).sum()
}

/// Runs an operation on bursts of 16 keys, and returns the number of bits in its masks.
fn masks(keys: &[Hashed], operation: impl Fn(&[Hashed]) -> u64) -> usize {
    keys.chunks(16).map(|keys| operation(keys).count_ones() as usize).sum()
}

/// Returns the number of keys if all were inserted, else 0.
fn all<K>(outcome: Result<(), InsertBatchError>, keys: &[K]) -> usize {
    outcome.map_or(0, |()| keys.len())
}

fn one<F, K>(name: &str, load: f64, keys: Keys, run: fn(&F, &[K]) -> usize) -> Operation<F, K> {
    Operation { name: name.to_owned(), load, keys, has_kernels: false, run }
}

/// A batch of lookups at 90 % load.
fn by_kernel<F, K>(name: &str, keys: Keys, run: fn(&F, &[K]) -> usize) -> Operation<F, K> {
    Operation { has_kernels: true, ..one(name, 0.9, keys, run) }
}
