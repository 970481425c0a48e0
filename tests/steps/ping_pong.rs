//! Lookups of an item that moves, or is replaced by an alias, between any two of their steps.

use std::{cell::Cell, rc::Rc, sync::Arc};

use guira::raw::{
    Addressing, BucketLayout, Fingerprint, Pair, Table,
    steps::{Step, with_hook},
};

use super::scene::{L, LOOKUP};
use crate::common::Watchdog;

/// Two buckets with one empty slot together, and an item that can be in either.
struct PingPong {
    table: Arc<Table>,
    item: Pair,
    /// Items with a single bucket: each evicts the item from it.
    drivers: [Pair; 2],
    /// The bucket that holds the item.
    place: usize,
}

/// What another thread does between two steps of a lookup.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Nothing,
    /// The item moves to its alternate bucket.
    Move,
    /// An alias is inserted into the alternate bucket, then the copy in the first one is removed.
    Replace,
}

impl PingPong {
    /// A table with the item in the bucket of this number.
    fn new(place: usize) -> Self {
        let table = Table::new(Addressing::new(2), false).expect("a small table");
        let pair = |buckets: [u32; 2], number| {
            let fits = |&value: &u32| {
                table.addressing().alt_bucket(Fingerprint::new(value), buckets[0]) == buckets[1]
            };
            let value = (L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT).filter(fits).nth(number);
            Pair { fingerprint: Fingerprint::new(value.expect("enough of them")), buckets }
        };
        let item = pair([0, 1], 0);
        let drivers = [pair([0, 0], 0), pair([1, 1], 0)];
        let insert = |pair| table.insert::<L>(pair).expect("room");
        insert(Pair { buckets: [place as u32; 2], ..item });
        for bucket in [0, 1] {
            (1..L::SLOTS as usize).for_each(|number| insert(pair([bucket, bucket], number)));
        }
        Self { table: Arc::new(table), item, drivers, place }
    }

    /// Acts so that the item is in the table at every moment.
    fn act(&mut self, meanwhile: Meanwhile) {
        let here = Pair { buckets: [self.place as u32; 2], ..self.item };
        match meanwhile {
            Meanwhile::Nothing => return,
            Meanwhile::Move => {
                let driver = self.drivers[self.place];
                assert_eq!(self.table.insert::<L>(driver), Ok(()), "the item is evicted");
                assert!(self.table.remove::<L>(driver), "the driver is present");
            }
            Meanwhile::Replace => {
                assert_eq!(self.table.insert::<L>(self.item), Ok(()), "one slot is empty");
                assert!(self.table.remove::<L>(here), "the first copy is present");
            }
        }
        self.place = 1 - self.place;
        assert_eq!(self.table.count::<L>(here), 0, "the item has left");
    }
}

/// Looks the item up with either bucket first. The digits of `script` select what happens before
/// each step. Returns how many steps the lookup took.
fn lookup_meanwhile(place: usize, first: usize, script: usize) -> usize {
    const ACTIONS: [Meanwhile; 3] = [Meanwhile::Nothing, Meanwhile::Move, Meanwhile::Replace];
    let mut scene = PingPong::new(place);
    let table = Arc::clone(&scene.table);
    let pair = Pair { buckets: [first as u32, 1 - first as u32], ..scene.item };
    let steps = Rc::new(Cell::new(0));
    let (taken, mut rest) = (Rc::clone(&steps), script);
    let hook = move |step| {
        assert!(step != Step::Lock, "a lookup takes no lock");
        scene.act(ACTIONS[rest % ACTIONS.len()]);
        rest /= ACTIONS.len();
        taken.set(taken.get() + 1);
    };
    let present = with_hook(hook, || table.contains::<L>(pair));
    assert!(present, "missed from {place} through {first}, script {script}");
    steps.get()
}

#[test]
fn a_lookup_is_right_whatever_happens_between_its_steps() {
    // Everything that can happen before each of the steps of two rounds.
    const SCRIPTS: usize = 3_usize.pow(2 * LOOKUP as u32);
    let _watchdog = Watchdog::new("a_lookup_is_right_whatever_happens_between_its_steps");
    let mut longest = 0;
    for script in 0..SCRIPTS {
        for (place, first) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            longest = longest.max(lookup_meanwhile(place, first, script));
        }
    }
    // Two retries, and a third round without interference.
    assert!(longest == 3 * LOOKUP, "{longest} steps");
}
