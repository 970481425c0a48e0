//! Pushes that a loader refuses: it stays as it was, and goes on with the right bytes.

use guira::{CuckooFilter, GrowingFilter, GrowingMap, Layout, LoadError};
use rand::{RngExt, rngs::SmallRng};

use super::common::{
    capacity_of,
    forge::{
        BLOCK, COPIES, GROWTH, HASHER_CHECKS, OCCUPIED, ahead, amend, number, places, put, table,
    },
    kind::{GrowingMaps, GrowingSets, Kind, Sets, new},
    rng,
    saved::{LoaderOf, corrupt, filled, loader, received, sample},
    scaled,
    suite::on_all_kinds,
};

on_all_kinds! { refused_pushes_leave_no_trace }

/// Wrong bytes, and what tells the error that they lead to.
type Wrong = (Vec<u8>, fn(&LoadError) -> bool);

/// Bytes of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// A fixed filter of this many bytes.
fn fixed(bytes: usize) -> Vec<u8> {
    let capacity = capacity_of(Layout::Plain4x16, bytes / 8);
    filled::<Sets>(CuckooFilter::builder().capacity(capacity).seed(9), 10_000).0.to_bytes()
}

/// Wrong bytes from a place in a snapshot on: changed somewhere, often behind right checksums, cut
/// off, or followed by others.
fn wrong_rest(bytes: &[u8], place: usize, rng: &mut SmallRng) -> Vec<u8> {
    let mut wrong = bytes[place..].to_vec();
    match rng.random_range(0..8) {
        0 => return [&wrong[..], &[0; 100]].concat(),
        1 => wrong[0] ^= 4,
        2 => {
            // A number of occupied slots, or a child, that does not fit to the rest.
            let mut all = bytes.to_vec();
            let children = (bytes[GROWTH] == 1).then(|| ahead(bytes)[0].start);
            let child = children.filter(|&at| Some(at) < table(bytes) && rng.random());
            let at = child.unwrap_or(OCCUPIED);
            put(&mut all, at, number(bytes, at).wrapping_sub(1));
            amend(&mut all);
            return all.split_off(place);
        }
        _ => corrupt(&mut wrong, rng),
    }
    let mut all = [&bytes[..place], &wrong].concat();
    amend(&mut all);
    if rng.random() && all.starts_with(&bytes[..place]) {
        wrong = all.split_off(place);
    }
    if rng.random() {
        wrong.truncate(rng.random_range(0..=wrong.len()));
    }
    wrong
}

/// At the edges of all parts of a snapshot, and at random places, a loader refuses what a new one
/// would refuse, which has received what the first one wrote, and no more. It goes on with the
/// right bytes. `each` selects the places, and `new` returns a loader.
fn check_pushes<K: Kind>(
    new: impl Fn() -> LoaderOf<K>,
    bytes: &[u8],
    each: usize,
    rng: &mut SmallRng,
) {
    let after = |bytes: &[u8]| {
        let mut loader = new();
        loader.push(bytes).expect("the start of a snapshot");
        loader
    };
    let [mut accepted, mut refused] = [0; 2];
    let (mut loader, mut pushed, mut places) = (new(), 0, places(bytes));
    places.extend((0..20).map(|_| rng.random_range(0..bytes.len())));
    places.sort_unstable();
    for place in places.into_iter().filter(|&at| at < bytes.len()).step_by(each) {
        loader.push(&bytes[pushed..place]).expect("its own snapshot");
        pushed = place;
        let received_ = received(&loader);
        assert!(received_ == bytes[..place], "{place} of {} bytes", bytes.len());
        for _ in 0..4 {
            let wrong = wrong_rest(bytes, place, rng);
            let mut new = after(&received_);
            let outcomes = [&mut loader, &mut new].map(|loader| loader.push(&wrong));
            assert_eq!(format!("{:?}", outcomes[0]), format!("{:?}", outcomes[1]));
            if outcomes[0].is_ok() {
                // What is wrong with them would be noticed later.
                accepted += 1;
                loader = after(&bytes[..place]);
            } else {
                refused += 1;
                // The rest is loaded from here, too.
                new.push(&bytes[place..]).expect("the right rest");
                assert!(new.finish().expect("complete").to_bytes() == bytes);
            }
        }
        assert!(received(&loader) == bytes[..place], "{place} of {} bytes", bytes.len());
    }
    loader.push(&bytes[pushed..]).expect("the right rest");
    assert!(loader.finish().expect("complete").to_bytes() == bytes);
    assert!(accepted > 0 && refused > 2, "{accepted}, {refused}");
}

fn refused_pushes_leave_no_trace<K: Kind>() {
    let bytes = sample::<K>().to_bytes();
    let mut rng = rng(8);
    (0..scaled(3, 20)).for_each(|_| check_pushes::<K>(loader::<K>, &bytes, 1, &mut rng));
    let (capacity, keys) = if K::GROWS { (50, 40_000) } else { (10_000, 9_000) };
    let (filter, _) = filled::<K>(new::<K>().capacity(capacity).seed(1), keys);
    check_pushes::<K>(loader::<K>, &filter.to_bytes(), scaled(9, 1), &mut rng);
}

/// With tables of several huge pages, and of few words.
#[test]
fn refused_pushes_leave_no_trace_in_loaders_of_other_sizes() {
    let mut rng = rng(9);
    let set = GrowingFilter::builder().capacity(100_000).seed(2);
    let set = filled::<GrowingSets>(set, 1_500_000).0.to_bytes();
    let map = GrowingMap::builder().capacity(100_000).seed(2);
    let map = filled::<GrowingMaps>(map, 1_500_000).0.to_bytes();
    assert!(set.len().min(map.len()) > 2 * HUGE_PAGE);
    check_pushes::<GrowingSets>(loader::<GrowingSets>, &set, scaled(163, 41), &mut rng);
    // Memory from the allocator.
    let new = || GrowingFilter::loader().reserve_address_space(false);
    check_pushes::<GrowingSets>(new, &set, scaled(163, 41), &mut rng);
    check_pushes::<GrowingMaps>(loader::<GrowingMaps>, &map, scaled(163, 41), &mut rng);
    check_pushes::<Sets>(loader::<Sets>, &fixed(2 * HUGE_PAGE + BLOCK + 8), 29, &mut rng);
    for bytes in [8, 800, BLOCK - 8, BLOCK, BLOCK + 8, 3 * BLOCK + 8] {
        check_pushes::<Sets>(loader::<Sets>, &fixed(bytes), 1, &mut rng);
    }
}

/// The filter of a test of headers, and its snapshot.
fn subject() -> (CuckooFilter, Vec<u8>) {
    let filter = filled::<Sets>(CuckooFilter::builder().capacity(100).seed(1), 90).0;
    let bytes = filter.to_bytes();
    (filter, bytes)
}

/// Snapshots that a loader for [`subject`] with a limit of 10 kB refuses.
fn refused_snapshots() -> Vec<Wrong> {
    let of =
        |capacity, seed| filled::<Sets>(CuckooFilter::builder().capacity(capacity).seed(seed), 9).0;
    let mut other_hasher = subject().1;
    put(&mut other_hasher, HASHER_CHECKS, 5);
    amend(&mut other_hasher);
    let mut invalid = subject().1;
    put(&mut invalid, COPIES, u64::MAX);
    amend(&mut invalid);
    // The header is right, with another seed.
    let mut late = of(1_000, 2).to_bytes();
    *late.last_mut().expect("a checksum") ^= 1;
    vec![
        (b"guira df".repeat(9), |error| matches!(error, LoadError::NotASnapshot)),
        (other_hasher, |error| {
            matches!(error, LoadError::OtherHashes { .. } | LoadError::OtherHasher)
        }),
        (invalid, |error| matches!(error, LoadError::InvalidField { .. })),
        (late, |error| matches!(error, LoadError::DamagedBuckets | LoadError::OtherHasher)),
        (of(100_000, 2).to_bytes(), |error| {
            matches!(error, LoadError::LimitExceeded { .. } | LoadError::OtherHasher)
        }),
        (of(100_000, 1).to_bytes(), |error| matches!(error, LoadError::LimitExceeded { .. })),
        (sample::<GrowingSets>().to_bytes(), |error| matches!(error, LoadError::OtherKind { .. })),
    ]
}

/// Neither does the header of the refused bytes remain, nor a hasher with its seed.
#[test]
fn refused_headers_leave_no_trace() {
    let (filter, bytes) = subject();
    let own = || CuckooFilter::loader().hasher(filter.hasher().clone());
    let loaders: [&dyn Fn() -> LoaderOf<Sets>; 2] = [&CuckooFilter::loader, &own];
    for (new, (wrong, expected)) in
        loaders.iter().flat_map(|new| refused_snapshots().into_iter().map(move |case| (new, case)))
    {
        let common = bytes.iter().zip(&wrong).take_while(|(one, other)| one == other).count();
        for place in 0..=common {
            let mut loader = new().limit(10_000);
            loader.push(&bytes[..place]).expect("a start");
            for _ in 0..2 {
                let error = loader.push(&wrong[place..]).expect_err("another snapshot");
                assert!(expected(&error), "{error:?}");
                assert!(received(&loader) == bytes[..place]);
            }
            loader.push(&bytes[place..]).expect("the right rest");
            let loaded = loader.finish().expect("complete");
            assert!(loaded.to_bytes() == bytes && (0..90_u64).all(|key| loaded.contains(&key)));
            assert_eq!(loaded.hash_key("x"), filter.hash_key("x"));
        }
    }
}
