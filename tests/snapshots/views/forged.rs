//! Views of bytes that were not saved: lookups read nothing outside of them, and do not panic.

use std::fmt::Debug;

use guira::{
    GrowingFilter, LoadError, View,
    kind::{Contents, Expiring, Growth},
};
use rand::{Rng, RngExt, rngs::SmallRng};

use super::{
    super::common::{
        forge::{HEADER, LENGTH, amend, amend_header, number, put, table},
        kind::{ExpiringSets, GrowingExpiringSets, GrowingMaps, GrowingSets, Kind, Maps},
        rng,
        saved::{corrupt, filled, loader, sample, small},
        scaled,
        suite::on_all_kinds,
    },
    BATCHES, answers,
    guarded::Guarded,
    keys, values,
};

on_all_kinds! {
    verify_finds_every_flipped_bit,
    verify_agrees_with_loads,
    forged_bytes_do_no_harm
}

type ViewOf<'a, K> = View<'a, <K as Kind>::Contents, <K as Kind>::Growth>;

/// Opens a view. Where views copy the buckets, some are refused at once.
fn view<K: Kind>(guarded: &Guarded) -> Result<ViewOf<'_, K>, LoadError> {
    loader::<K>().view(guarded.bytes())
}

fn verify_finds_every_flipped_bit<K: Kind>() {
    let mut bytes = sample::<K>().to_bytes();
    for bit in (8 * HEADER..8 * bytes.len()).step_by(scaled(7, 1)) {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let guarded = Guarded::new(&bytes, true, 0);
        match view::<K>(&guarded).and_then(|view| view.verify()) {
            Err(LoadError::DamagedBuckets | LoadError::InvalidBuckets) => {}
            other => panic!("bit {bit}: {other:?}"),
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Behind right checksums, a view is verified if and only if it is loaded.
fn verify_agrees_with_loads<K: Kind>() {
    let mut rng = rng(8);
    let bytes = sample::<K>().to_bytes();
    let mut verified = [0; 2];
    for round in 0..scaled(500, 5_000) {
        let mut forged = bytes.clone();
        forge(&mut forged, &mut rng);
        amend(&mut forged);
        let guarded = Guarded::new(&forged, true, 0);
        let Ok(view) = view::<K>(&guarded) else { continue };
        let (view, load) = (view.verify().err(), loader::<K>().bytes(guarded.bytes()).err());
        assert_eq!(format!("{view:?}"), format!("{load:?}"), "round {round}");
        verified[usize::from(view.is_none())] += 1;
    }
    println!("{verified:?} were invalid and valid");
    assert!(verified[1] > 0 && (verified[0] > 0 || !cfg!(target_pointer_width = "64")));
}

/// Changes words, or fields whose checks leave a choice.
fn forge(bytes: &mut [u8], rng: &mut SmallRng) {
    let (words, end) = (HEADER, table(bytes).expect("a whole snapshot"));
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(words / 8..end / 8) * 8;
        let word = number(bytes, at);
        let changed = match rng.random_range(0..6) {
            0 => word ^ 1 << rng.random_range(0..64),
            // Another level.
            1 => word & !(15 << 60) | rng.random::<u64>() << 60,
            2 => number(bytes, rng.random_range(words / 8..end / 8) * 8),
            3 => rng.random(),
            // A number of a bucket.
            4 => rng.random_range(0..4 * (end - words) as u64 / 8),
            _ => word,
        };
        put(bytes, at, changed);
    }
}

/// Makes lookups of all kinds, whose answers may be anything.
fn use_view<C: Contents, G: Growth>(view: &View<'_, C, G>, keys: &[u64]) -> impl Debug + use<C, G> {
    answers!(view, keys)
}

/// Corrupts snapshots behind right checksums, from a few bits to all words. Lookups read nothing
/// outside, and do not panic.
fn forged_bytes_do_no_harm<K: Kind>() {
    let mut rng = rng(21);
    let keys: Vec<u64> = (0..90).chain((1 << 50)..(1 << 50) + 30).collect();
    let of = |(builder, keys)| filled::<K>(builder, keys).0.to_bytes();
    let mut snapshots: Vec<Vec<u8>> = small::<K>().into_iter().map(of).collect();
    snapshots.push(sample::<K>().to_bytes());
    let mut opened = 0;
    let rounds = scaled(1_500, 30_000);
    for _ in 0..rounds {
        let mut bytes = snapshots[rng.random_range(0..snapshots.len())].clone();
        match rng.random_range(0..4) {
            0 => corrupt(&mut bytes, &mut rng),
            1 => {
                let (words, end) = (HEADER, table(&bytes).expect("a whole snapshot"));
                rng.fill_bytes(&mut bytes[words..end]);
            }
            2 => {
                // Another size, generation, or number of buckets.
                let at = LENGTH + 4 + 8 * rng.random_range(0..(HEADER - LENGTH) / 8 - 1);
                let value = number(&bytes, at);
                let changed = [value + 1, value.wrapping_sub(1), value ^ 1 << 32, rng.random()];
                put(&mut bytes, at, changed[rng.random_range(0..4)]);
            }
            _ => forge(&mut bytes, &mut rng),
        }
        if rng.random_ratio(3, 4) {
            amend(&mut bytes);
        } else {
            amend_header(&mut bytes);
        }
        let guarded = Guarded::new(&bytes, rng.random(), 0);
        let Ok(view) = view::<K>(&guarded) else { continue };
        opened += 1;
        use_view(&view, &keys);
        let _ = view.verify();
    }
    println!("{opened} of {rounds} were opened");
    assert!(opened > rounds / 5);
}

/// As above, the values of maps and later generations.
#[test]
fn values_and_generations_of_forged_bytes_do_no_harm() {
    fn forged<K: Kind>(mut use_view: impl FnMut(&ViewOf<'_, K>)) {
        let (original, mut rng) = (sample::<K>().to_bytes(), rng(5));
        for round in 0..scaled(200, 3_000) {
            let mut bytes = original.clone();
            if round % 2 == 0 {
                forge(&mut bytes, &mut rng);
            } else {
                let (words, end) = (HEADER, table(&bytes).expect("a whole snapshot"));
                rng.fill_bytes(&mut bytes[words..end]);
            }
            let guarded = Guarded::new(&bytes, rng.random(), 0);
            if let Ok(view) = view::<K>(&guarded) {
                use_view(&view);
            }
        }
    }
    fn later<G: Growth>(view: &View<'_, Expiring, G>, keys: &[u64]) {
        for later in [1, 3, 1 << 50] {
            let view = view.in_generation(view.generation() + later).expect("memory");
            use_view(&view, keys);
        }
    }
    let keys: Vec<u64> = (0..90).collect();
    forged::<Maps>(|view| drop(values!(view, &keys)));
    forged::<GrowingMaps>(|view| drop(values!(view, &keys)));
    forged::<ExpiringSets>(|view| later(view, &keys));
    forged::<GrowingExpiringSets>(|view| later(view, &keys));
}

/// All words have a level that no bucket has, too high or too low: each lookup follows it, and
/// ends.
#[test]
fn lookups_in_a_table_of_impossible_levels_end() {
    // The numbers of children go beyond the last possible one if there are many buckets.
    let large = GrowingFilter::builder().capacity(900_000).build().unwrap();
    assert!(large.slots() / large.layout().slots_per_bucket() as usize >= 1 << 18);
    let originals = [sample::<GrowingSets>().to_bytes(), large.to_bytes()];
    for (original, level) in
        originals.iter().flat_map(|original| (0..16).map(move |l| (original, l)))
    {
        let mut bytes = original.clone();
        for at in (HEADER..table(&bytes).expect("a whole snapshot")).step_by(8) {
            let word = number(&bytes, at) & !(15 << 60) | level << 60;
            put(&mut bytes, at, word);
        }
        let guarded = Guarded::new(&bytes, true, 0);
        if let Ok(view) = view::<GrowingSets>(&guarded) {
            use_view(&view, &keys());
        }
    }
}
