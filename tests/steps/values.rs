//! Lookups in a map while a value moves, is replaced by an alias's, or changes places with another
//! one, between any two of their steps.

use std::{cell::Cell, rc::Rc, sync::Arc};

use guira::raw::{
    Addressing, BucketLayout, Fingerprint, Pair, Table, Valued,
    steps::{Step, with_hook},
};

use super::scene::{L, LOOKUP};
use crate::common::Watchdog;

/// Bits of a value.
const VALUE_BITS: u32 = 3;
/// The value that is in the table at every moment, and another one.
const VALUE: u16 = 5;
const OTHER: u16 = 2;

/// Two full buckets, apart from one slot, and an item with the value that can be in either.
struct Scene {
    table: Arc<Table<Valued>>,
    /// The pair of the item, with the value zero.
    pair: Pair,
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

/// Lookups of the value.
const LOOKUPS: [fn(&Table<Valued>, Pair) -> bool; 3] = [
    |table, pair| table.candidates::<L>(pair).as_slice().contains(&VALUE),
    |table, pair| table.contains_value::<L>(pair.with_value(VALUE)),
    |table, pair| table.get::<L>(pair).is_some_and(|value| [VALUE, OTHER].contains(&value)),
];

impl Scene {
    /// A table with the value in the bucket of this number. If it is `full`, an alias has the other
    /// value in the other bucket.
    fn new(place: usize, full: bool) -> Self {
        let addressing = Addressing::nested(2, Valued::new(VALUE_BITS));
        let table = Table::new(addressing, false).expect("a small table");
        let pair = |buckets: [u32; 2], number| {
            let fits = |&fingerprint: &Fingerprint| {
                table.addressing().alt_bucket(fingerprint, buckets[0]) == buckets[1]
            };
            let all = (1..=L::MAX_FINGERPRINT >> VALUE_BITS).map(|key| key << VALUE_BITS);
            let fingerprint = all.map(Fingerprint::new).filter(fits).nth(number);
            Pair { fingerprint: fingerprint.expect("enough of them"), buckets }
        };
        let item = pair([0, 1], 0);
        let drivers = [pair([0, 0], 0), pair([1, 1], 0)];
        let insert = |pair, value| {
            table.insert::<L>(Pair::with_value(pair, value)).expect("room");
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
        Self { table: Arc::new(table), pair: item, drivers, place }
    }

    /// Acts so that the value is in the table at every moment.
    fn act(&mut self, meanwhile: Meanwhile) {
        let in_bucket =
            |bucket, value| Pair { buckets: [bucket as u32; 2], ..self.pair }.with_value(value);
        let (here, there) = (self.place, 1 - self.place);
        match meanwhile {
            Meanwhile::Nothing => return,
            Meanwhile::Move => {
                let driver = self.drivers[here].with_value(OTHER);
                assert_eq!(self.table.insert::<L>(driver), Ok(()), "the item is evicted");
                assert!(self.table.remove::<L>(driver), "the driver is present");
            }
            Meanwhile::Replace => {
                let inserted = self.table.insert::<L>(self.pair.with_value(VALUE));
                assert_eq!(inserted, Ok(()), "one slot is empty");
                assert!(self.table.remove::<L>(in_bucket(here, VALUE)), "the first is present");
            }
            Meanwhile::Exchange => {
                assert!(self.table.replace::<L>(in_bucket(there, OTHER), VALUE), "the other value");
                assert!(self.table.replace::<L>(in_bucket(here, VALUE), OTHER), "the value");
            }
        }
        self.place = there;
    }
}

/// Looks the value up with either bucket first. The digits of `script` select what happens before
/// each step. Returns how many steps the lookup took.
fn lookup_meanwhile(
    lookup: usize,
    (place, first): (usize, usize),
    full: bool,
    script: usize,
) -> usize {
    let mut scene = Scene::new(place, full);
    let table = Arc::clone(&scene.table);
    let pair = Pair { buckets: [first as u32, 1 - first as u32], ..scene.pair };
    let steps = Rc::new(Cell::new(0));
    let (taken, mut rest) = (Rc::clone(&steps), script);
    let actions = ACTIONS[usize::from(full)];
    let hook = move |step| {
        assert!(step != Step::Lock, "a lookup takes no lock");
        scene.act(actions[rest % actions.len()]);
        rest /= actions.len();
        taken.set(taken.get() + 1);
    };
    let found = with_hook(hook, || LOOKUPS[lookup](&table, pair));
    assert!(found, "lookup {lookup} missed from {place} through {first}, script {script}");
    steps.get()
}

#[test]
fn a_value_is_found_whatever_happens_between_the_steps_of_a_lookup() {
    let _watchdog =
        Watchdog::new("a_value_is_found_whatever_happens_between_the_steps_of_a_lookup");
    for (full, actions) in [false, true].into_iter().zip(ACTIONS) {
        for lookup in 0..LOOKUPS.len() {
            let mut longest = 0;
            // Everything that can happen before each of the steps of two rounds.
            for script in 0..actions.len().pow(2 * LOOKUP as u32) {
                for places in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                    longest = longest.max(lookup_meanwhile(lookup, places, full, script));
                }
            }
            assert!(longest <= 3 * LOOKUP, "{longest} steps");
        }
    }
}
