//! Pushes that a loader refuses: it stays as it was, and goes on with the right bytes.

use guira::{CuckooFilter, GrowingFilter, GrowingMap, Layout, LoadError};
use rand::{RngExt, rngs::SmallRng};

use super::common::{
    capacity_of,
    forge::{
        BLOCK, CONTENTS, COPIES, GROWTH, HASHER_CHECK, LENGTH, OCCUPIED, VERSION, ahead, amend,
        blocks, header, number, places, put, table,
    },
    kind::{GrowingMaps, GrowingSets, Kind, Sets},
    rng,
    saved::{LoaderOf, corrupt, filled, loader, received, sample},
    scaled,
    suite::on_all_kinds,
};

on_all_kinds! { refused_pushes_leave_no_trace_in_small_loaders }

/// Wrong bytes, and what tells the error that they lead to.
type Wrong = (Vec<u8>, fn(&LoadError) -> bool);

/// Bytes of a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// A map that has grown.
fn small_map() -> Vec<u8> {
    let builder = GrowingMap::builder().capacity(10).value_bits(2);
    filled::<GrowingMaps>(builder.seed(2), 2_000).0.to_bytes()
}

/// A set that has split some of its buckets in their turn, and others ahead of it.
fn small_growing() -> Vec<u8> {
    let builder = GrowingFilter::builder().capacity(1).layout(Layout::Growing2x30).seed(2);
    let bytes = filled::<GrowingSets>(builder, 1_000).0.to_bytes();
    assert!(blocks(&bytes).len() == 1);
    bytes
}

/// A map that has grown beyond two huge pages.
fn large_map() -> Vec<u8> {
    let builder = GrowingMap::builder().capacity(100_000).seed(2);
    let bytes = filled::<GrowingMaps>(builder, 1_500_000).0.to_bytes();
    assert!(bytes.len() > 2 * HUGE_PAGE, "{}", bytes.len());
    bytes
}

/// A set that has grown beyond two huge pages.
fn large_growing() -> Vec<u8> {
    let builder = GrowingFilter::builder().capacity(100_000).seed(2);
    let bytes = filled::<GrowingSets>(builder, 1_500_000).0.to_bytes();
    assert!(bytes.len() > 2 * HUGE_PAGE, "{}", bytes.len());
    bytes
}

/// A fixed filter of this many bytes.
fn fixed(bytes: usize) -> Vec<u8> {
    let capacity = capacity_of(Layout::Plain4x16, bytes / 8);
    filled::<Sets>(CuckooFilter::builder().capacity(capacity).seed(9), 10_000).0.to_bytes()
}

/// Returns a loader that has received some bytes.
fn loader_after<K: Kind>(bytes: &[u8], at_once: bool) -> LoaderOf<K> {
    let mut loader = loader::<K>();
    if at_once {
        loader = loader.allocate_at_once();
    }
    loader.push(bytes).expect("the start of a snapshot");
    loader
}

/// Wrong bytes from a place in a snapshot on, with the errors that they lead to.
fn wrong_rests(bytes: &[u8], place: usize) -> Vec<Wrong> {
    let mut rests: Vec<Wrong> = Vec::new();
    let blocks = blocks(bytes);
    let later: Vec<(usize, usize)> =
        blocks.iter().copied().filter(|&(at, _)| at >= place).collect();
    // A flipped bit: in what comes next, in the header, in blocks soon and late, in the last byte.
    let header = header(bytes);
    let mut flipped = vec![place, header / 2, header - 1, bytes.len() - 9, bytes.len() - 1];
    flipped.extend(
        [0, 1, 3, later.len() / 2]
            .iter()
            .filter_map(|&nth| later.get(nth))
            .flat_map(|&(at, len)| [at + len / 2, at + len - 1]),
    );
    for at in flipped.into_iter().filter(|at| (place..bytes.len()).contains(at)) {
        let mut wrong = bytes.to_vec();
        // A header may seem to be longer: then more bytes than there are would be right.
        wrong[at] ^= if (LENGTH..CONTENTS).contains(&at) { 0x41 } else { 4 };
        let expected: fn(&LoadError) -> bool = match at {
            at if at >= header => |error| matches!(error, LoadError::DamagedBuckets),
            ..VERSION => |error| matches!(error, LoadError::NotASnapshot),
            VERSION..LENGTH => |error| matches!(error, LoadError::UnknownVersion(_)),
            _ => |error| matches!(error, LoadError::DamagedHeader),
        };
        rests.push((wrong.split_off(place), expected));
    }
    // A number of occupied slots, or a child, that does not fit to the rest, behind right checksums.
    let fields = [Some(OCCUPIED), (bytes[GROWTH] == 1).then(|| ahead(bytes)[0].start)];
    let table = table(bytes).expect("a whole snapshot");
    for at in fields.into_iter().flatten().filter(|&at| (place..table).contains(&at)) {
        let mut wrong = bytes.to_vec();
        put(&mut wrong, at, number(bytes, at) - 1);
        amend(&mut wrong);
        assert!(wrong[..place] == bytes[..place]);
        rests.push((wrong.split_off(place), |error| matches!(error, LoadError::InvalidBuckets)));
    }
    let followed = [&bytes[place..], &vec![0; BLOCK]].concat();
    rests
        .push((followed, |error| matches!(error, LoadError::TrailingBytes { more: 0x1_0000, .. })));
    rests
}

/// A loader refuses wrong bytes at many places, and loads the filter. `each` selects the places.
fn refused_pushes_leave_no_trace<K: Kind>(bytes: &[u8], each: usize) {
    for at_once in [false, true] {
        let mut loader = loader_after::<K>(&[], at_once);
        let mut pushed = 0;
        for place in places(bytes).into_iter().step_by(each) {
            loader.push(&bytes[pushed..place]).expect("its own snapshot");
            pushed = place;
            for (wrong, expected) in wrong_rests(bytes, place) {
                let error = loader.push(&wrong).expect_err("wrong bytes");
                assert!(expected(&error), "{error:?} at {place}");
                assert_eq!(loader.received(), place as u64);
                if bytes.len() < HUGE_PAGE {
                    assert!(received(&loader) == bytes[..place], "{error:?} at {place}");
                }
            }
            assert!(received(&loader) == bytes[..place], "{place} of {} bytes", bytes.len());
            // The rest is loaded from here, too.
            if bytes.len() < HUGE_PAGE {
                let mut other = loader_after::<K>(&bytes[..place], at_once);
                let (wrong, _) = wrong_rests(bytes, place).swap_remove(0);
                other.push(&wrong).expect_err("wrong bytes");
                other.push(&bytes[place..]).expect("the right rest");
                assert!(other.finish().expect("complete").to_bytes() == bytes);
            }
        }
        loader.push(&bytes[pushed..]).expect("the right rest");
        assert!(loader.finish().expect("complete").to_bytes() == bytes);
    }
}

fn refused_pushes_leave_no_trace_in_small_loaders<K: Kind>() {
    refused_pushes_leave_no_trace::<K>(&sample::<K>().to_bytes(), 1);
}

#[test]
fn refused_pushes_leave_no_trace_in_further_loaders() {
    refused_pushes_leave_no_trace::<GrowingSets>(&small_growing(), 1);
    refused_pushes_leave_no_trace::<GrowingMaps>(&small_map(), 1);
    for bytes in [8, BLOCK, 3 * BLOCK + 8] {
        refused_pushes_leave_no_trace::<Sets>(&fixed(bytes), 1);
    }
}

/// With tables that are staged until enough of a huge page has arrived.
#[test]
fn refused_pushes_leave_no_trace_in_large_loaders() {
    refused_pushes_leave_no_trace::<GrowingSets>(&large_growing(), 41);
    refused_pushes_leave_no_trace::<GrowingMaps>(&large_map(), 41);
    refused_pushes_leave_no_trace::<Sets>(&fixed(2 * HUGE_PAGE + BLOCK + 8), 29);
}

/// At random places of random snapshots, a loader refuses what a new one would refuse, and no more.
fn random_damage_leaves_no_trace<K: Kind>(snapshots: &[Vec<u8>], rounds: u64, rng: &mut SmallRng) {
    let [mut accepted, mut refused] = [0; 2];
    for _ in 0..rounds {
        let bytes = &snapshots[rng.random_range(0..snapshots.len())];
        let at_once = rng.random();
        let few_chunks = bytes.len() > HUGE_PAGE || rng.random();
        let most = if few_chunks { bytes.len() } else { 100.max(bytes.len() / 20) };
        let mut loader = loader_after::<K>(&[], at_once);
        let mut place = 0;
        while place < bytes.len() {
            if rng.random() {
                let mut wrong = bytes[place..].to_vec();
                corrupt(&mut wrong, rng);
                let mut all = [&bytes[..place], &wrong].concat();
                amend(&mut all);
                if rng.random() && all.starts_with(&bytes[..place]) {
                    wrong = all.split_off(place);
                }
                if rng.random() {
                    wrong.truncate(rng.random_range(0..=wrong.len()));
                }
                let mut new = loader_after::<K>(&bytes[..place], at_once);
                let outcomes = [&mut loader, &mut new].map(|loader| loader.push(&wrong));
                assert_eq!(format!("{:?}", outcomes[0]), format!("{:?}", outcomes[1]));
                if outcomes[0].is_ok() {
                    // What is wrong with them would be noticed later.
                    accepted += 1;
                    loader = loader_after::<K>(&bytes[..place], at_once);
                } else {
                    refused += 1;
                    assert!(received(&loader) == bytes[..place], "{place}");
                }
            }
            let some = rng.random_range(0..=most.min(bytes.len() - place));
            loader.push(&bytes[place..place + some]).expect("the right bytes");
            place += some;
        }
        assert!(loader.finish().expect("complete").to_bytes() == *bytes);
    }
    assert!(accepted > rounds / 2 && refused > rounds / 2, "{accepted}, {refused}");
}

#[test]
fn random_damage_to_pushes_leaves_no_trace() {
    let rng = &mut rng(8);
    random_damage_leaves_no_trace::<GrowingSets>(&[small_growing()], scaled(30, 1_000), rng);
    random_damage_leaves_no_trace::<GrowingMaps>(&[small_map()], scaled(30, 1_000), rng);
    let snapshots = [8, 800, BLOCK + 8, 4 * BLOCK].map(fixed);
    random_damage_leaves_no_trace::<Sets>(&snapshots, scaled(30, 1_000), rng);
    random_damage_leaves_no_trace::<GrowingSets>(&[large_growing()], scaled(3, 10), rng);
    random_damage_leaves_no_trace::<GrowingMaps>(&[large_map()], scaled(3, 10), rng);
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
    put(&mut other_hasher, HASHER_CHECK, 5);
    amend(&mut other_hasher);
    let mut invalid = subject().1;
    put(&mut invalid, COPIES, u64::MAX);
    amend(&mut invalid);
    // The header is right, with another seed.
    let mut late = of(1_000, 2).to_bytes();
    *late.last_mut().expect("a checksum") ^= 1;
    vec![
        (b"guira df".repeat(9), |error| matches!(error, LoadError::NotASnapshot)),
        (other_hasher, |error| matches!(error, LoadError::OtherHasher)),
        (invalid, |error| matches!(error, LoadError::InvalidField { .. })),
        (late, |error| matches!(error, LoadError::DamagedBuckets | LoadError::OtherHasher)),
        (of(100_000, 2).to_bytes(), |error| {
            matches!(error, LoadError::LimitExceeded { .. } | LoadError::OtherHasher)
        }),
        (of(100_000, 1).to_bytes(), |error| matches!(error, LoadError::LimitExceeded { .. })),
        (small_growing(), |error| matches!(error, LoadError::OtherKind { .. })),
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
