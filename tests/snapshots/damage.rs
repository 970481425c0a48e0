//! Damaged snapshots: every damage is an error, however the bytes arrive.

use guira::{CuckooFilter, Layout, LoadError};
use rand::{RngExt, rngs::SmallRng};

use super::common::{
    forge::{
        BLOCK, CONTENTS, GHOSTS, HEADER, LENGTH, OCCUPIED, VERSION, WORDS, amend, blocks, number,
        put, table,
    },
    kind::{GrowingSets, Kind, Of, Sets},
    rng,
    saved::{corrupt, filled, loaded, pushed, sample, small},
    scaled,
    suite::on_all_kinds,
};

on_all_kinds! {
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
    let header = HEADER;
    // All bits of the header. Those of the words are alike.
    let of_words = (8 * header..8 * bytes.len()).step_by(scaled(7, 1));
    for bit in (0..8 * header).chain(of_words) {
        let byte = bit / 8;
        bytes[byte] ^= 1 << (bit % 8);
        let error = pushed::<K>(&bytes, 1 << 20, &mut rng(bit as u64)).expect_err("a flip");
        let expected = match error {
            LoadError::NotASnapshot => byte < VERSION,
            LoadError::UnknownVersion(_) => (VERSION..LENGTH).contains(&byte),
            LoadError::DamagedHeader => (LENGTH..header).contains(&byte),
            // A header that seems to be longer may seem to lack bytes.
            LoadError::Truncated { .. } => (LENGTH..CONTENTS).contains(&byte),
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
            let told = number(&saved, GHOSTS);
            assert!(told <= number(&bytes, GHOSTS), "round {round}");
            put(&mut bytes, GHOSTS, told);
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
    println!("{same} unchanged and {amended} amended ones of {rounds} are accepted");
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
/// which has the same header. Their checksums may come with them.
#[test]
fn blocks_belong_to_their_place_in_their_snapshot() {
    let builder = CuckooFilter::builder().capacity(100_000).layout(Layout::Plain4x16).seed(5);
    let (filter, items) = filled::<Sets>(builder, 50_000);
    let bytes = filter.to_bytes();
    let key = items.iter().find(|item| filter.count(&item.0) == 1).expect("one without alias");
    assert!(filter.remove(&key.0));
    filter.insert(&100_000_u64).expect("an empty slot");
    let later = filter.to_bytes();
    let (places, table) = (blocks(&bytes), table(&bytes).expect("a whole snapshot"));
    assert!(bytes[..HEADER] == later[..HEADER] && places.len() == 4);
    // A block, and its checksum.
    let parts = |nth: usize| {
        let (at, len) = places[nth];
        [at..at + len, table + 8 * nth..table + 8 * nth + 8]
    };
    let differs = |nth: &usize| bytes[parts(*nth)[0].clone()] != later[parts(*nth)[0].clone()];
    let changed = (0..3).find(differs).expect("a changed bucket");

    let mut damaged: Vec<(&str, Vec<u8>)> = Vec::new();
    for some in [0..1, 0..2] {
        let parts = |nth: usize| parts(nth)[some.clone()].to_vec();
        let mut exchanged = bytes.clone();
        for (one, other) in parts(0).into_iter().zip(parts(1)) {
            exchanged[one.clone()].copy_from_slice(&bytes[other.clone()]);
            exchanged[other].copy_from_slice(&bytes[one]);
        }
        damaged.push(("exchanged", exchanged));
        let mut mixed = bytes.clone();
        for part in parts(changed) {
            mixed[part.clone()].copy_from_slice(&later[part]);
        }
        damaged.push(("mixed", mixed));
        // From the end on, so that the places before stay.
        let (mut repeated, mut missing) = (bytes.clone(), bytes.clone());
        for part in parts(1).into_iter().rev() {
            repeated.splice(part.start..part.start, bytes[part.clone()].iter().copied());
            missing.drain(part);
        }
        damaged.extend([("repeated", repeated), ("missing", missing)]);
    }
    for at in [parts(changed)[0].end, table] {
        damaged.push(("the rest of another", [&bytes[..at], &later[at..]].concat()));
    }
    let mut rng = rng(3);
    for (name, damaged) in damaged {
        let error = pushed::<Sets>(&damaged, 1 << 20, &mut rng).expect_err(name);
        let is_short = name == "missing";
        match error {
            LoadError::DamagedBuckets => {}
            LoadError::Truncated { .. } => assert!(is_short, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
    pushed::<Sets>(&later, 1 << 20, &mut rng).expect("undamaged");
}

/// The last eight bytes depend on every word, and on the fields before the number of occupied
/// slots: not on the time, in which replicas may differ.
#[test]
fn the_last_checksum_depends_on_every_word() {
    let builder = CuckooFilter::builder().capacity(100_000).layout(Layout::Plain4x16).seed(5);
    let bytes = filled::<Sets>(builder, 50_000).0.to_bytes();
    let last = |bytes: &[u8]| number(bytes, bytes.len() - 8);
    for (at, len) in blocks(&bytes) {
        for at in [at, at + len / 2, at + len - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            amend(&mut changed);
            assert_ne!(last(&changed), last(&bytes), "{at}");
        }
    }
    for at in (CONTENTS..HEADER - 8).filter(|at| !(WORDS..OCCUPIED).contains(at)) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        amend(&mut changed);
        assert_eq!(last(&changed) == last(&bytes), at >= OCCUPIED, "{at}");
    }
}

/// A malformed bucket is noticed with its block, before the next one arrives.
#[test]
fn each_block_is_validated_when_it_has_arrived() {
    let builder = CuckooFilter::builder().capacity(60_000).layout(Layout::Plain4x16).seed(5);
    let mut bytes = filled::<Sets>(builder, 0).0.to_bytes();
    assert!(blocks(&bytes).len() > 1);
    put(&mut bytes, HEADER, 1 << 48);
    let end = HEADER + BLOCK;
    let mut loader = CuckooFilter::loader().limit(1 << 20);
    loader.push(&bytes[..end - 1]).expect("an incomplete block");
    let error = loader.push(&bytes[end - 1..end]).expect_err("a hole");
    assert!(matches!(error, LoadError::DamagedBuckets), "{error:?}");
}

/// A checksum is compared byte by byte: nothing of a wrong one is kept.
#[test]
fn each_byte_of_a_checksum_is_validated_when_it_has_arrived() {
    let builder = CuckooFilter::builder().capacity(60_000).layout(Layout::Plain4x16).seed(5);
    let bytes = filled::<Sets>(builder, 10_000).0.to_bytes();
    let table = table(&bytes).expect("a whole snapshot");
    let mut loader = CuckooFilter::loader().limit(1 << 20);
    loader.push(&bytes[..table]).expect("its own words");
    for at in table..bytes.len() {
        for wrong in [bytes[at] ^ 1, bytes[at] ^ 0x80] {
            assert!(matches!(loader.push(&[wrong]), Err(LoadError::DamagedBuckets)), "{at}");
        }
        loader.push(&bytes[at..=at]).expect("the right byte");
    }
    assert!(loader.finish().expect("complete").to_bytes() == bytes);
}
