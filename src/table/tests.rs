//! Lookups that a move overtakes: an item is on its second side when the lookup has read the word
//! of its first side, and on its first side when it reads the word of the second one. The version
//! alone tells. In every form of words, by every kernel, single and in batches.

mod first_load;

use first_load::{at_first_load, page};

use super::{
    Answers, Blocks, FixedTable, FixedWords, Hashes, Kernel, Mixer, Payload, Seen, Source, Table,
    Words,
    split::{GrowingTable, GrowingWords, Limits},
};
use crate::{
    bucket::{Leveled, Slots},
    sync::Relaxed,
};

const SEED: u64 = 7;
/// The window of stamps, and the generation in which they begin.
const WINDOW: u32 = 4;
const GENERATION: u64 = 6;
/// Numbers of buckets: in batches, cache lines of the second table are prefetched.
const SIZES: [u64; 2] = [5_000, 70_000];

/// What slots hold beside fingerprints, in a test of this number of bits.
fn payloads(bits: u32) -> [Payload; 3] {
    [Payload::NONE, Payload::values(bits), Payload::stamps(bits, WINDOW, GENERATION)]
}

fn expires(payload: Payload) -> bool {
    payload.value_bits() > 0 && payload == Payload::stamps(payload.value_bits(), WINDOW, GENERATION)
}

/// Looks up a batch by the lookup for this payload.
fn look_up<S: Blocks>(table: &Table<S>, payload: Payload, hashes: &[u64]) -> Vec<bool> {
    let mut source = Hashes::new(Source::Slice(hashes), Mixer::new(SEED));
    let mut found = vec![false; hashes.len()];
    let mut answers = Answers::Each(&mut found);
    let count = match (expires(payload), payload.value_bits()) {
        (true, _) => table.visible_each(&mut source, &mut answers),
        (_, 0) => table.look_up_each::<false>(&mut source, &mut answers),
        _ => table.look_up_each::<true>(&mut source, &mut answers),
    };
    assert_eq!(count, found.iter().filter(|found| **found).count());
    found
}

/// Looks up an item, alone and at several places of a batch, while it moves from its second side to
/// its first one, just before the second word is loaded.
fn finds_what_moves<S: Blocks, L: Words<S>>(
    table: &Table<S>,
    payload: Payload,
    finds: impl Fn(u64) -> bool,
) {
    let (space, mixer) = (&table.space, Mixer::new(SEED));
    let item_of = |hash| {
        let item = L::item(space, mixer.mix(hash));
        S::with_value(item, if expires(payload) { table.clock.stamp(GENERATION) } else { 0 })
    };
    let word = |seen: Seen| space.bucket(seen.bucket);
    let pages = |hash| space.load_both(&item_of(hash)).map(|seen| page(word(seen)));
    let hash = (0..100).find(|&hash| pages(hash)[0] != pages(hash)[1]).expect("a hash");
    let [_, protected] = pages(hash);
    let others = (1 << 40..).filter(|&other| !pages(other).contains(&protected));
    let others: Vec<u64> = others.take(100).collect();
    let item = item_of(hash);
    let [first, second] = space.load_both(&item);
    let with = |seen: Seen, is_second| {
        L::with(space, seen.word, L::slot_of(space, &item, is_second, seen.word)).expect("room")
    };
    let moving = |lookup: &mut dyn FnMut()| {
        word(second).store(with(second, true), Relaxed);
        let overtake = || {
            let guard = table.stripe::<L>(&item).lock();
            word(first).store(with(first, false), Relaxed);
            guard.bump();
            word(second).store(second.word, Relaxed);
        };
        at_first_load(word(second), &overtake, lookup);
        word(first).store(first.word, Relaxed);
    };
    moving(&mut || assert!(finds(mixer.mix(hash)), "alone, by {:?}", table.kernel));
    for len in [1, 3, 16, 21, 100] {
        for place in (0..len).filter(|place| [0, 1, 2, 7, 8, 15, 16, 20, 99].contains(place)) {
            let mut hashes = others[..len].to_vec();
            hashes[place] = hash;
            moving(&mut || {
                let found = look_up(table, payload, &hashes);
                let expected: Vec<bool> = (0..len).map(|other| other == place).collect();
                assert_eq!(found, expected, "{place} of {len}, by {:?}", table.kernel);
            });
        }
    }
}

/// The kernels that the processor has.
fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.iter().copied().filter(|kernel| kernel.is_available())
}

fn in_fixed(slots: Slots, payload: Payload) {
    for buckets in SIZES {
        let mut table = FixedTable::new(slots, buckets, payload, false).expect("memory");
        for kernel in kernels() {
            table.set_kernel(kernel);
            finds_what_moves::<_, FixedWords>(&table, payload, |mixed| {
                match (expires(payload), payload.value_bits()) {
                    (true, _) => table.is_mixed_visible(mixed),
                    (_, 0) => table.contains_mixed(mixed),
                    _ => table.get_mixed(mixed).is_some(),
                }
            });
        }
    }
}

#[test]
fn a_lookup_that_a_move_overtakes_finds_the_item() {
    for payload in payloads(4) {
        in_fixed(Slots::plain(4, 16, payload.value_bits()), payload);
        in_fixed(Slots::plain(5, 12, payload.value_bits()), payload);
    }
    in_fixed(Slots::plain(8, 8, 0), Payload::NONE);
    in_fixed(Slots::semi_sorted(4, 17), Payload::NONE);
    in_fixed(Slots::semi_sorted(6, 12), Payload::NONE);
}

fn in_growing(slots: u32, core: u32, payload: Payload) {
    for first in SIZES {
        let leveled = Leveled::new(slots, core, payload.value_bits());
        let limits = Limits { buckets: 4 * first, load: 200, copies: 1 };
        for reserve in [true, false] {
            let table = GrowingTable::new(leveled, payload, first, limits, 32, (reserve, false));
            let mut table = table.expect("memory");
            // Into the middle of a round. Not all splits are published.
            while table.addressing().buckets(table.size()) < first + first / 4 + 3 {
                assert!(table.split_one());
            }
            for kernel in kernels() {
                table.set_kernel(kernel);
                finds_what_moves::<_, GrowingWords>(&table, payload, |mixed| {
                    match (expires(payload), payload.value_bits()) {
                        (true, _) => table.is_mixed_visible(mixed),
                        (_, 0) => table.contains_mixed(mixed),
                        _ => table.get_mixed(mixed).is_some(),
                    }
                });
            }
        }
    }
}

#[test]
fn a_lookup_that_a_move_overtakes_in_a_growing_table_finds_the_item() {
    for payload in payloads(3) {
        for (slots, core) in [(5, 6), (4, 7), (3, 8), (2, 8)] {
            in_growing(slots, core, payload);
        }
    }
}
