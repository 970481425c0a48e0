//! Views: they answer as a loaded filter does. `forged.rs` has bytes that are to do harm.

mod forged;
mod guarded;

use guira::{
    Contains, CuckooFilter, GrowingFilter, LoadError, StableHashBuilder,
    kind::{Expiring, Map},
};

use super::common::{
    forge::{HEADER, SIZE, amend_header, number},
    kind::{ExpiringSets, GrowingExpiringSets, GrowingMaps, Kind, Maps, Sets, new},
    saved::{crowd, filled, loader, sample, small},
    scaled, settings,
    suite::on_all_kinds,
};
use guarded::Guarded;

on_all_kinds! { a_view_answers_as_a_loaded_filter_does, headers_are_validated }

/// Keys that are present or not.
fn keys() -> Vec<u64> {
    (0..3_000).chain((1 << 50)..(1 << 50) + 50).collect()
}

/// Sizes of batches: none, one by one, bursts, and rounds of kernels with a rest.
const BATCHES: [usize; 9] = [0, 1, 5, 6, 31, 33, 64, 700, 3_000];

/// All answers of a filter or of a view, by a macro since they share no trait.
macro_rules! answers {
    ($of:expr, $keys:expr) => {{
        let (of, keys): (_, &[u64]) = ($of, $keys);
        let single: Vec<bool> = keys.iter().map(|key| of.contains(key)).collect();
        let counts: Vec<usize> = keys.iter().map(|key| of.count(key)).collect();
        let batches: Vec<(usize, Vec<bool>)> = BATCHES
            .iter()
            .map(|&len| {
                let keys = &keys[..len.min(keys.len())];
                let mut found = vec![false; keys.len()];
                (of.contains_batch(keys, &mut found), found)
            })
            .collect();
        let masks: Vec<u64> = (0..=64).map(|len| of.contains_mask(&keys[..len])).collect();
        let hashed: Vec<guira::Hashed> = keys.iter().map(|key| of.hash_key(key)).collect();
        let mut by_hash = vec![false; keys.len()];
        of.contains_batch(&hashed, &mut by_hash);
        (single, counts, batches, masks, by_hash)
    }};
}

use answers;

/// As above, the values of a map.
macro_rules! values {
    ($of:expr, $keys:expr) => {{
        let (of, keys): (_, &[u64]) = ($of, $keys);
        let mut single = Vec::new();
        for (key, value) in keys.iter().zip(0..) {
            let mut values: Vec<u16> = of.values(key).collect();
            values.sort_unstable();
            single.push((of.get(key), of.contains_value(key, value), values));
        }
        let batches: Vec<(usize, Vec<Option<u16>>)> = BATCHES
            .iter()
            .map(|&len| {
                let keys = &keys[..len.min(keys.len())];
                let mut values = vec![None; keys.len()];
                (of.get_batch(keys, &mut values), values)
            })
            .collect();
        let mut values = [0; 64];
        let mask = of.get_mask(&keys[..64], &mut values);
        (single, batches, mask, values)
    }};
}

use values;

/// Bytes of filters of every layout, in several sizes; if they grow, with children ahead of their
/// turn.
fn snapshots<K: Kind>() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = small::<K>()
        .into_iter()
        .map(|(builder, keys)| filled::<K>(builder, keys).0.to_bytes())
        .collect();
    for layout in K::layouts() {
        if K::GROWS {
            let (filter, _) = filled::<K>(settings::<K>(1, layout, 3), 900);
            crowd::<K>(&filter, 3);
            all.push(filter.to_bytes());
        }
        // Beyond the size from which batches prefetch, in thorough tests.
        let size = scaled(30_000, 250_000);
        let capacity = if K::GROWS { 1 } else { 3 * size as usize };
        all.push(filled::<K>(settings::<K>(capacity, layout, 3), size).0.to_bytes());
    }
    all
}

fn a_view_answers_as_a_loaded_filter_does<K: Kind>() {
    let (keys, mut levels) = (keys(), Vec::new());
    for (nth, bytes) in snapshots::<K>().into_iter().enumerate() {
        let guarded = Guarded::new(&bytes, nth % 2 == 0, 0);
        let filter = loader::<K>().bytes(&bytes).expect("its own bytes");
        let view = loader::<K>().view(guarded.bytes()).expect("its own bytes");
        assert_eq!(answers!(&view, &keys), answers!(&filter, &keys));
        assert!(keys.iter().all(|key| !view.contains(key)) == filter.is_empty());
        let by_trait: &dyn Contains<u64> = &view;
        assert!(keys.iter().all(|key| by_trait.contains(key) == filter.contains(key)));
        view.verify().expect("its own bytes");
        levels.push(number(&bytes, SIZE) >> 32);
    }
    levels.sort_unstable();
    levels.dedup();
    assert!(levels.len() >= if K::GROWS { 3 } else { 1 }, "{levels:?}");
}

#[test]
fn a_view_has_the_values_of_a_loaded_map() {
    fn check<K: Kind<Contents = Map>>() {
        let keys = keys();
        for bytes in snapshots::<K>() {
            let guarded = Guarded::new(&bytes, true, 0);
            let map = loader::<K>().bytes(&bytes).expect("its own bytes");
            let view = loader::<K>().view(guarded.bytes()).expect("its own bytes");
            assert_eq!(values!(&view, &keys), values!(&map, &keys));
        }
    }
    check::<Maps>();
    check::<GrowingMaps>();
}

/// In every generation until all has expired, and long after.
#[test]
fn a_view_of_a_later_generation_answers_as_an_advanced_filter_does() {
    fn check<K: Kind<Contents = Expiring>>() {
        let keys = keys();
        for layout in K::layouts() {
            let builder = settings::<K>(if K::GROWS { 1 } else { 3_000 }, layout, 2);
            let filter = builder.build().expect("a small filter");
            let window = u64::from(filter.window());
            // Longer than the window, so that some slots have expired and are not swept.
            for key in 0..2_500 {
                filter.insert(&key).expect("room");
                if key % (2_500 / (window + 4)) == 0 {
                    filter.advance();
                }
            }
            let bytes = filter.to_bytes();
            let guarded = Guarded::new(&bytes, true, 0);
            let view = loader::<K>().view(guarded.bytes()).expect("its own bytes");
            let saved = filter.generation();
            assert_eq!(
                (view.generation(), view.in_generation(0).unwrap().generation()),
                (saved, saved)
            );
            assert_eq!(answers!(&view, &keys), answers!(&filter, &keys));
            for later in 1..window + 4 {
                assert_eq!(filter.advance(), saved + later);
                let view = view.in_generation(saved + later).expect("memory");
                assert_eq!(view.generation(), saved + later);
                assert_eq!(answers!(&view, &keys), answers!(&filter, &keys), "{later}, {layout:?}");
            }
            assert!(filter.is_empty());
            for later in [1 << layout.value_bits(), 1 << 40, u64::MAX - saved] {
                let view = view.in_generation(saved + later).expect("memory");
                assert_eq!(answers!(&view, &keys), answers!(&filter, &keys), "{later}, {layout:?}");
            }
        }
    }
    check::<ExpiringSets>();
    check::<GrowingExpiringSets>();
}

/// The errors of a view are those of a load, but for those of buckets, which it does not read.
fn headers_are_validated<K: Kind>() {
    let bytes = sample::<K>().to_bytes();
    let same = |bytes: &[u8], at_end: bool| {
        let guarded = Guarded::new(bytes, at_end, 0);
        let (view, load) = (loader::<K>().view(guarded.bytes()), loader::<K>().bytes(bytes));
        match (view.err(), load.err()) {
            (None, None | Some(LoadError::DamagedBuckets | LoadError::InvalidBuckets)) => {}
            (Some(one), Some(other)) => assert_eq!(format!("{one:?}"), format!("{other:?}")),
            (view, load) => panic!("{view:?}, {load:?}"),
        }
    };
    for len in 0..bytes.len() {
        same(&bytes[..len], len % 2 == 0);
    }
    same(&[&bytes[..], &[0; 8]].concat(), true);
    same(b"another file", true);
    let mut changed = bytes.clone();
    for bit in 0..8 * HEADER {
        changed[bit / 8] ^= 1 << (bit % 8);
        same(&changed, true);
        // Behind a right checksum.
        let mut amended = changed.clone();
        amend_header(&mut amended);
        same(&amended, true);
        changed[bit / 8] ^= 1 << (bit % 8);
    }
    for beside in 1..8 {
        let guarded = Guarded::new(&bytes, true, beside);
        let error = loader::<K>().view(guarded.bytes()).expect_err("no multiple of 8");
        assert!(matches!(error, LoadError::Unaligned), "{error:?}");
        assert!(error.to_string().contains("multiple of 8"));
    }
}

/// A view is made by a loader, with the hasher and the limit of the loader.
#[test]
fn a_view_has_the_terms_of_its_loader() {
    let [one, other] = [1, 2].map(StableHashBuilder::from_seed);
    let filter =
        CuckooFilter::builder().capacity(1_000).hasher(one.clone()).build().expect("memory");
    filter.insert("x").expect("an empty slot");
    let bytes = filter.to_bytes();
    let guarded = Guarded::new(&bytes, true, 0);
    let bytes = guarded.bytes();
    let refused = |view: Result<_, _>| matches!(view, Err(LoadError::OtherHasher));
    assert!(refused(CuckooFilter::loader().view(bytes)));
    assert!(refused(CuckooFilter::loader().hasher(other).view(bytes)));
    let view = CuckooFilter::loader().hasher(one.clone()).view(bytes).expect("its hasher");
    assert!(view.contains("x"));
    assert_eq!(view.hash_key("y"), filter.hash_key("y"));
    let limited = CuckooFilter::loader().hasher(one.clone()).limit(9).view(bytes);
    assert!(matches!(limited, Err(LoadError::LimitExceeded { .. })));
    let mut pushed = CuckooFilter::loader().hasher(one);
    pushed.push(&bytes[..300]).expect("its hasher");
    assert!(pushed.view(bytes).expect("what was pushed is forgotten").contains("x"));
    let of_another_kind = GrowingFilter::loader().view(bytes);
    assert!(matches!(of_another_kind, Err(LoadError::OtherKind { .. })));
}

/// A file that is replaced by a save stays as it was where it is mapped.
#[cfg(unix)]
#[test]
fn a_view_of_a_mapped_file_goes_on_when_the_file_is_replaced() {
    use std::{fs, os::fd::AsRawFd, ptr, slice};

    let folder = std::env::temp_dir().join(format!("guira-mapped-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("seen.guira");
    let seen = GrowingFilter::with_capacity(1_000);
    seen.insert_batch(0..1_000_u64).expect("room");
    seen.save(&path).expect("a file");
    let file = fs::File::open(&path).expect("the file");
    let len = file.metadata().expect("the file").len() as usize;
    // SAFETY: a new mapping, of a file that nobody writes to.
    let mapped = unsafe {
        let fd = file.as_raw_fd();
        let at = libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_SHARED, fd, 0);
        assert!(at != libc::MAP_FAILED, "a mapping");
        slice::from_raw_parts(at.cast::<u8>(), len)
    };
    let view = GrowingFilter::loader().view(mapped).expect("a saved file");
    seen.clear();
    seen.save(&path).expect("the folder is writable");
    assert!((0..1_000_u64).all(|key| view.contains(&key)));
    view.verify().expect("a saved file");
    assert!(GrowingFilter::loader().file(&path).expect("a saved file").is_empty());
    // SAFETY: the mapping from above, which is used no more.
    unsafe { libc::munmap(mapped.as_ptr().cast_mut().cast(), len) };
    fs::remove_dir_all(&folder).expect("the folder");
}

/// Threads share a view.
#[test]
fn threads_share_a_view() {
    let (filter, items) = filled::<Sets>(new::<Sets>().capacity(2_000).seed(3), 1_000);
    let bytes = filter.to_bytes();
    let guarded = Guarded::new(&bytes, true, 0);
    let view = loader::<Sets>().view(guarded.bytes()).expect("its own bytes");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert!(items.iter().all(|item| view.count(&item.0) > 0)));
        }
    });
}
