//! Lookups of an item that moves, is replaced by an alias, or changes places with one that has
//! another value, between any two of their steps.

use std::{cell::Cell, rc::Rc, sync::Arc};

use guira::raw::{
    Addressing, Bare, BucketLayout, Fingerprint, FixedTable, Pair, Payload, Valued,
    steps::{Step, with_hook},
};

use super::fixed::{L, LOOKUP};
use crate::common::Watchdog;

/// The value that is in the table at every moment, and another one. Without values they are zero.
const VALUE: u16 = 5;
const OTHER: u16 = 2;

/// Two full buckets, apart from one slot, and an item with the value that can be in either.
struct Scene<P: Payload + 'static> {
    table: Arc<FixedTable<P>>,
    /// The pair of the item, with the value zero.
    pair: Pair,
    /// The bits of a value that there are.
    mask: u16,
    /// Items with a single bucket: each evicts the item from it.
    drivers: [Pair; 2],
    /// The bucket that holds the value.
    place: usize,
}

/// What another thread does between two steps of a lookup.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Nothing,
    /// The item moves to its alternate bucket.
    Move,
    /// An alias with the same value is inserted into the alternate bucket, then the item is
    /// removed.
    Replace,
    /// The item in the alternate bucket gets the value, then the item in the first one the other
    /// value.
    Exchange,
}

/// Scripts consist of these, in a table with one empty slot and in a full one.
const ACTIONS: [&[Meanwhile]; 2] = [
    &[Meanwhile::Nothing, Meanwhile::Move, Meanwhile::Replace],
    &[Meanwhile::Nothing, Meanwhile::Exchange],
];

/// A lookup of an item with the value.
type Lookup<P> = fn(&FixedTable<P>, Pair) -> bool;

/// Lookups of the value in a map.
const LOOKUPS: [Lookup<Valued>; 3] = [
    |table, pair| table.candidates::<L>(pair).as_slice().contains(&VALUE),
    |table, pair| table.contains_value::<L>(pair.with_value(VALUE)),
    |table, pair| table.get::<L>(pair).is_some_and(|value| [VALUE, OTHER].contains(&value)),
];

impl<P: Payload + 'static> Scene<P> {
    /// A table with the value in the bucket of this number. If it is `full`, an alias has the other
    /// value in the other bucket.
    fn new(payload: P, place: usize, full: bool) -> Self {
        let addressing = Addressing::new(2, payload);
        let mask = (1 << payload.value_bits()) - 1;
        let table = FixedTable::new(addressing, false).expect("a small table");
        let pair = |buckets: [u32; 2], number| {
            let fits = |&fingerprint: &Fingerprint| {
                table.addressing().alt_bucket(fingerprint, buckets[0]) == buckets[1]
            };
            let bits = payload.value_bits();
            let all = (1..=L::MAX_FINGERPRINT >> bits).map(|key| key << bits);
            let fingerprint = all.map(Fingerprint::new).filter(fits).nth(number);
            Pair { fingerprint: fingerprint.expect("enough of them"), buckets }
        };
        let item = pair([0, 1], 0);
        let drivers = [pair([0, 0], 0), pair([1, 1], 0)];
        let insert = |pair, value| {
            table.insert::<L>(Pair::with_value(pair, value & mask)).expect("room");
        };
        insert(Pair { buckets: [place as u32; 2], ..item }, VALUE);
        if full {
            insert(Pair { buckets: [1 - place as u32; 2], ..item }, OTHER);
        }
        for bucket in [0, 1] {
            for number in 1..L::SLOTS as usize {
                insert(pair([bucket, bucket], number), number as u16);
            }
        }
        Self { table: Arc::new(table), pair: item, mask, drivers, place }
    }

    /// Acts so that the value is in the table at every moment.
    fn act(&mut self, meanwhile: Meanwhile) {
        let in_bucket = |bucket, value| {
            let pair = Pair { buckets: [bucket as u32; 2], ..self.pair };
            pair.with_value(value & self.mask)
        };
        let (here, there) = (self.place, 1 - self.place);
        match meanwhile {
            Meanwhile::Nothing => return,
            Meanwhile::Move => {
                let driver = self.drivers[here].with_value(OTHER & self.mask);
                assert_eq!(self.table.insert::<L>(driver), Ok(()), "the item is evicted");
                assert!(self.table.remove::<L>(driver), "the driver is present");
            }
            Meanwhile::Replace => {
                let inserted = self.table.insert::<L>(self.pair.with_value(VALUE & self.mask));
                assert_eq!(inserted, Ok(()), "one slot is empty");
                assert!(self.table.remove::<L>(in_bucket(here, VALUE)), "the first is present");
            }
            Meanwhile::Exchange => {
                assert!(self.table.replace::<L>(in_bucket(there, OTHER), VALUE), "the other value");
                assert!(self.table.replace::<L>(in_bucket(here, VALUE), OTHER), "the value");
            }
        }
        self.place = there;
        let is_left = self.table.contains_value::<L>(in_bucket(here, VALUE));
        assert!(!is_left, "the value has left");
    }
}

/// Looks the value up with either bucket first. The digits of `script` select what happens before
/// each step. Returns how many steps the lookup took.
fn lookup_meanwhile<P: Payload + 'static>(
    lookup: Lookup<P>,
    mut scene: Scene<P>,
    first: usize,
    actions: &'static [Meanwhile],
    script: usize,
) -> usize {
    let table = Arc::clone(&scene.table);
    let pair = Pair { buckets: [first as u32, 1 - first as u32], ..scene.pair };
    let steps = Rc::new(Cell::new(0));
    let (taken, mut rest, place) = (Rc::clone(&steps), script, scene.place);
    let hook = move |step: Step| {
        assert!(!step.is_lock(), "a lookup takes no lock");
        scene.act(actions[rest % actions.len()]);
        rest /= actions.len();
        taken.set(taken.get() + 1);
    };
    let found = with_hook(hook, || lookup(&table, pair));
    assert!(found, "missed from {place} through {first}, script {script}");
    steps.get()
}

/// Tries everything that can happen before each of the steps of two rounds. Returns how many steps
/// the longest lookup took.
fn longest_lookup<P: Payload + 'static>(payload: P, lookup: Lookup<P>, full: bool) -> usize {
    let actions = ACTIONS[usize::from(full)];
    let scripts = 0..actions.len().pow(2 * LOOKUP as u32);
    let lookups = scripts.flat_map(|script| {
        [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(place, first)| {
            lookup_meanwhile(lookup, Scene::new(payload, place, full), first, actions, script)
        })
    });
    lookups.max().expect("many scripts")
}

#[test]
fn a_lookup_is_right_whatever_happens_between_its_steps() {
    let _watchdog = Watchdog::new("a_lookup_is_right_whatever_happens_between_its_steps");
    let longest = longest_lookup(Bare, |table, pair| table.contains::<L>(pair), false);
    // Two retries, and a third round without interference.
    assert_eq!(longest, 3 * LOOKUP);
    for full in [false, true] {
        for lookup in LOOKUPS {
            let longest = longest_lookup(Valued::new(3), lookup, full);
            assert!(longest <= 3 * LOOKUP, "{longest} steps");
        }
    }
}
