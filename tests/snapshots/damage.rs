//! Damaged snapshots: every damage is an error, however the bytes arrive.

use guira::{CuckooFilter, Layout, LoadError};
use rand::{RngExt, rngs::SmallRng};

use super::common::{
    forge::{
        BLOCK, EXISTING, HEADER, KIND, PLANNED, VERSION, amend, blocks, header_len, number, put,
        rest,
    },
    kind::{GrowingSets, Kind, Of, Sets},
    rng,
    saved::{corrupt, filled, loaded, pushed, sample, small},
    scaled,
    suite::on_saved_kinds,
};

on_saved_kinds! {
    truncation_at_every_length_is_detected,
    every_flipped_bit_is_detected,
    random_damage_is_detected
}

fn truncation_at_every_length_is_detected<K: Kind>() {
    let (bytes, mut rng) = (sample::<K>().to_bytes(), rng(1));
    for at in 0..bytes.len() {
        for outcome in
            [loaded::<K>(&bytes[..at], &mut rng), pushed::<K>(&bytes[..at], 1 << 20, &mut rng)]
        {
            match outcome {
                Err(LoadError::Truncated { received, .. }) => assert_eq!(received, at as u64),
                other => panic!("{at} bytes: {other:?}"),
            }
        }
    }
}

fn every_flipped_bit_is_detected<K: Kind>() {
    let mut bytes = sample::<K>().to_bytes();
    let header = header_len(&bytes);
    for bit in 0..8 * bytes.len() {
        let byte = bit / 8;
        bytes[byte] ^= 1 << (bit % 8);
        let error = pushed::<K>(&bytes, 1 << 20, &mut rng(bit as u64)).expect_err("a flip");
        let expected = match error {
            LoadError::NotASnapshot => byte < VERSION,
            LoadError::UnknownVersion(_) => (VERSION..KIND).contains(&byte),
            LoadError::DamagedHeader => (KIND..header).contains(&byte),
            // A header that seems to be longer may seem to lack bytes.
            LoadError::Truncated { .. } => [PLANNED, EXISTING].contains(&byte),
            LoadError::DamagedBuckets => byte >= header,
            _ => false,
        };
        assert!(expected, "bit {bit}: {error:?}");
        bytes[byte] ^= 1 << (bit % 8);
    }
    pushed::<K>(&bytes, 1 << 20, &mut rng(1)).expect("the original bits");
}

/// Corrupts snapshots at random, a quarter of them behind corrected checksums. One is accepted only
/// if it decodes to a filter that is saved as the same bytes, and behind its own checksums only if
/// nothing changed. `LOAD` loads one.
fn corrupted<K: Kind>(
    snapshots: &[Vec<u8>],
    rounds: u64,
    load: impl Fn(&[u8], &mut SmallRng) -> Result<Of<K>, LoadError>,
) {
    let mut rng = rng(17);
    let [mut same, mut amended] = [0; 2];
    for round in 0..rounds {
        let original = &snapshots[rng.random_range(0..snapshots.len())];
        let mut bytes = original.clone();
        corrupt(&mut bytes, &mut rng);
        let corrected = rng.random_ratio(1, 4);
        if corrected {
            amend(&mut bytes);
        }
        let Ok(filter) = load(&bytes, &mut rng) else { continue };
        let saved = filter.to_bytes();
        if K::GROWS && corrected {
            // A snapshot may claim more ghosts than there are slots: then all of them are.
            let ghosts = rest(&bytes) + 16;
            let told = number(&saved, ghosts);
            assert!(told <= number(&bytes, ghosts), "round {round}");
            put(&mut bytes, ghosts, told);
            amend(&mut bytes);
        }
        let different = (0..bytes.len()).find(|&at| saved.get(at) != bytes.get(at));
        assert!(saved == bytes, "round {round}: differs from byte {different:?} on");
        if corrected {
            amended += 1;
        } else {
            assert!(snapshots.contains(&bytes), "round {round}: accepted {bytes:x?}");
            same += 1;
        }
    }
    // Some damage changes nothing, or leads to the snapshot of another filter.
    assert!(same > 0 && amended > 0 && same + amended < rounds / 2, "{same}, {amended} accepted");
}

fn random_damage_is_detected<K: Kind>() {
    let of = |(builder, keys)| filled::<K>(builder, keys).0.to_bytes();
    let snapshots: Vec<Vec<u8>> = small::<K>().into_iter().map(of).collect();
    let rounds = if K::GROWS { scaled(2_000, 50_000) } else { scaled(5_000, 100_000) };
    corrupted::<K>(&snapshots, rounds, loaded::<K>);
}

#[test]
#[ignore = "long: ten million snapshots of a set that grows; run it in release mode"]
fn long_random_damage_is_detected() {
    let load = |bytes: &[u8], rng: &mut SmallRng| pushed::<GrowingSets>(bytes, 10_000, rng);
    corrupted::<GrowingSets>(&[sample::<GrowingSets>().to_bytes()], 10_000_000, load);
}

/// Blocks that are repeated, missing, exchanged, or taken from another snapshot of the same filter,
/// which has the same header.
#[test]
fn blocks_belong_to_their_place_in_their_snapshot() {
    let builder = CuckooFilter::builder().capacity(100_000).layout(Layout::Plain4x16).seed(5);
    let (filter, items) = filled::<Sets>(builder, 50_000);
    let bytes = filter.to_bytes();
    let key = items.iter().find(|item| filter.count(&item.0) == 1).expect("one without alias");
    assert!(filter.remove(&key.0));
    filter.insert(&100_000_u64).expect("an empty slot");
    let later = filter.to_bytes();
    let (block, differs) = (BLOCK + 8, |nth: usize| {
        let range = HEADER + nth * (BLOCK + 8)..HEADER + nth * (BLOCK + 8) + BLOCK;
        bytes[range.clone()] != later[range]
    });
    assert!(bytes[..HEADER] == later[..HEADER] && blocks(&bytes).len() == 4);
    let changed = (0..3).find(|&nth| differs(nth)).expect("a changed bucket");
    let place = |nth: usize| HEADER + nth * block..HEADER + (nth + 1) * block;

    let mut exchanged = bytes.clone();
    exchanged[place(0)].copy_from_slice(&bytes[place(1)]);
    exchanged[place(1)].copy_from_slice(&bytes[place(0)]);
    let mut repeated = bytes.clone();
    repeated.splice(place(0).start..place(0).start, bytes[place(0)].iter().copied());
    let mut missing = bytes.clone();
    missing.drain(place(1));
    let mut mixed = bytes.clone();
    mixed[place(changed)].copy_from_slice(&later[place(changed)]);
    let mut rest = later.clone();
    rest[..place(changed).end].copy_from_slice(&bytes[..place(changed).end]);
    let mut rng = rng(3);
    for (damaged, name) in [
        (exchanged, "exchanged"),
        (repeated, "repeated"),
        (missing, "missing"),
        (mixed, "mixed"),
        (rest, "the rest of another"),
    ] {
        let error = pushed::<Sets>(&damaged, 1 << 20, &mut rng).expect_err(name);
        assert!(matches!(error, LoadError::DamagedBuckets), "{name}: {error:?}");
    }
    pushed::<Sets>(&later, 1 << 20, &mut rng).expect("undamaged");
}

/// A hole in the first block is noticed before the second block arrives.
#[test]
fn each_block_is_validated_when_it_has_arrived() {
    let builder = CuckooFilter::builder().capacity(60_000).layout(Layout::Plain4x16).seed(5);
    let mut bytes = filled::<Sets>(builder, 0).0.to_bytes();
    assert!(blocks(&bytes).len() > 1);
    put(&mut bytes, HEADER, 1 << 48);
    for (amended, end) in [(true, HEADER + BLOCK + 8), (false, HEADER + BLOCK + 8)] {
        let mut bytes = bytes.clone();
        if amended {
            amend(&mut bytes);
        }
        let mut loader = CuckooFilter::loader().limit(1 << 20);
        loader.push(&bytes[..end - 1]).expect("an incomplete checksum");
        let error = loader.push(&bytes[end - 1..end]).expect_err("a hole");
        let expected = match error {
            LoadError::InvalidBuckets => amended,
            LoadError::DamagedBuckets => !amended,
            _ => false,
        };
        assert!(expected, "{error:?}");
    }
}
