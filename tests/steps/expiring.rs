//! Tables that grow and whose slots expire: writers that stop, or panic, at each step of an insert,
//! a refresh, a removal, a sweep, a split, or the beginning of a generation.

use std::sync::Arc;

use guira::raw::{
    Aged, Clock as _, GrowingLayout, GrowingSpace, GrowingTable, Item, Leveled, Limits,
};
use rand::RngExt;

use super::scene::{self, Subject, at_every_step};
use crate::common::{Watchdog, rng};

/// Four slots of 15 bits, with stamps of two bits and tails of five.
type L = Leveled<4, 7>;
type Table = GrowingTable<Aged>;

const STAMP_BITS: u32 = 2;
const WINDOW: u32 = 1;
const START: u64 = 8;
/// Buckets at level 0. Those of the writer are in the first half.
const BUCKETS: u32 = 16;
const STRIPES: usize = 64;

/// A table, and a writer about to make its call.
type Scene = scene::Scene<GrowingSpace<Aged>, L>;

impl Subject<L> for GrowingSpace<Aged> {
    /// As in a table whose slots do not expire, and the generation twice.
    const LOOKUP: usize = 11;
    const INSERT: usize = 12;

    fn finds(table: &Table, item: Item) -> bool {
        table.is_visible::<L>(item)
    }

    fn insert(table: &Table, item: Item) -> bool {
        table.insert_for::<L>(item, WINDOW).is_ok()
    }

    fn reversed(item: Item) -> Item {
        super::reversed(item)
    }

    /// It grows, holds every item, and everything expires.
    fn go_on(scene: &mut Scene, cut_off: bool) {
        let table = &scene.table;
        let (mut rng, mut added) = (rng(9), Vec::new());
        for number in 0..300 {
            let item = table.growth().item::<L>(rng.random());
            // Few are refused, because of aliases; and all in a table that may not grow.
            let outcome = if number % 2 == 0 {
                Self::insert(table, item)
            } else {
                table.insert_unseen::<L>(item).is_ok()
            };
            if outcome {
                added.push(item);
            }
        }
        assert!(added.len() > 250 || table.limits().buckets == BUCKETS.into());
        added.extend(scene.present());
        assert!(added.iter().all(|item| scene.finds(*item)), "an item is missing");
        assert!(added.iter().all(|item| table.refresh::<L>(*item)), "none to refresh");
        assert!(added.iter().all(|item| scene.finds(*item)), "an item is missing");
        // Twice, because a generation whose beginning was cut off is not swept.
        (0..2 << STAMP_BITS).for_each(|_| _ = table.advance::<L>());
        if !cut_off {
            assert!(added.iter().all(|item| !scene.finds(*item)));
            let (grown, _, words) = table.copy_words().expect("memory for a few words");
            let numbers = grown.numbers(words.len() as u64);
            let mut buckets = (0..).zip(words).filter(|(place, _)| !numbers.contains(place));
            assert!(buckets.all(|(_, word)| L::occupied(word) == 0), "a slot leaked");
            assert_eq!(table.clock().visible_slots(), Some(0));
        }
    }
}

/// A table of at most so many buckets.
fn table(most: u32) -> Scene {
    let payload = Aged::new(STAMP_BITS, WINDOW, START);
    let limits = Limits { buckets: most.into(), load: 256 };
    let table = Table::new::<L>(payload, BUCKETS.into(), limits, STRIPES, (true, false));
    let mut scene = Scene::new(table.expect("a small table"));
    scene.room = super::roomy::<_, L>(scene.table.growth(), 2, 8);
    scene
}

/// Items that all begin in the first two buckets on both sides, with different cores.
fn items(table: &Table) -> Vec<Item> {
    let (mut rng, mut items) = (rng(5), Vec::<Item>::new());
    while items.len() < 20 {
        let item = table.growth().item::<L>(rng.random());
        let core = item.sides[0].code.core;
        let is_new = items.iter().all(|other| other.sides[0].code.core != core);
        if is_new && item.sides.iter().all(|side| side.start < 2) {
            items.push(item);
        }
    }
    items
}

/// A few items in a few buckets: some that have expired and have not been swept, and then some that
/// are visible. Returns further ones.
fn crowded(expired: usize, visible: usize) -> (Scene, Vec<Item>) {
    let mut scene = table(BUCKETS << 10);
    let mut items = items(&scene.table);
    for item in items.drain(..expired) {
        assert!(GrowingSpace::<Aged>::insert(&scene.table, item), "there is room");
    }
    (0..=WINDOW).for_each(|_| _ = scene.table.advance::<L>());
    items.drain(..visible).for_each(|item| scene.put(item));
    (scene, items)
}

/// The insert of an item: where slots have expired, where others must move, and where buckets must
/// be split.
fn insert(expired: usize, visible: usize, unseen: bool) -> Scene {
    let (scene, items) = crowded(expired, visible);
    let (table, item) = (Arc::clone(&scene.table), items[0]);
    scene.concerning(item, (0, 1), move || {
        if unseen {
            table.insert_unseen::<L>(item).is_ok_and(|generation| generation.is_some())
        } else {
            GrowingSpace::<Aged>::insert(&table, item)
        }
    })
}

/// The refresh of an item with one copy, or with an older copy that knows less and a younger one
/// that knows more, which gets both refreshed.
fn refresh(copies: usize) -> Scene {
    let (mut scene, items) = crowded(2, 3);
    let (table, item) = (Arc::clone(&scene.table), items[0]);
    scene.put(item);
    table.advance::<L>();
    scene.known.retain(|known| table.is_visible::<L>(known.item));
    if copies == 2 {
        while table.size().level == 0 {
            assert!(table.split_one::<L>());
        }
        scene.put(item);
        scene.known.retain(|known| known.item != item);
        scene.know(item, 2);
    }
    scene.with_call(move || table.refresh::<L>(item))
}

fn removal() -> Scene {
    let (scene, items) = crowded(2, 3);
    let (table, item) = (Arc::clone(&scene.table), items[0]);
    let generation = table.insert_for::<L>(item, WINDOW).expect("there is room");
    scene.concerning(item, (1, 0), move || table.remove_of::<L>(item, generation))
}

fn sweep() -> Scene {
    let (scene, _) = crowded(5, 4);
    let table = Arc::clone(&scene.table);
    scene.with_call(move || table.sweep::<L>(u64::MAX) == 0)
}

/// In the next generation, what is present is still visible.
fn advance() -> Scene {
    let (scene, _) = crowded(5, 4);
    let table = Arc::clone(&scene.table);
    let next = table.clock().generation() + 1;
    scene.with_call(move || table.advance::<L>() == next)
}

fn split() -> Scene {
    let (scene, _) = crowded(4, 5);
    let table = Arc::clone(&scene.table);
    scene.with_call(move || table.split_one::<L>())
}

#[test]
fn inserts_stop_or_panic() {
    let _watchdog = Watchdog::new("inserts_stop_or_panic");
    let mut locks = 0;
    for unseen in [false, true] {
        for (expired, visible) in
            [(0, 2), (4, 4), (7, 3), (0, 7), (0, 8), (2, 12), (0, 16), (0, 17)]
        {
            let name = format!("insert beside {expired} and {visible}, unseen {unseen}");
            locks += at_every_step(&name, || insert(expired, visible, unseen));
        }
    }
    assert!(locks > 20, "{locks}: nothing was moved or split");
}

#[test]
fn refreshes_and_removals_stop_or_panic() {
    let _watchdog = Watchdog::new("refreshes_and_removals_stop_or_panic");
    for copies in 1..=2 {
        assert_eq!(at_every_step(&format!("refresh of {copies}"), || refresh(copies)), 1);
        // Both of two.
        let scene = refresh(copies);
        let item = scene.known.last().expect("the item").item;
        assert!((scene.call)());
        scene.table.advance::<L>();
        assert_eq!(scene.table.count::<L>(item), copies);
    }
    assert_eq!(at_every_step("removal", removal), 1);
}

#[test]
fn sweeps_and_splits_stop_or_panic() {
    let _watchdog = Watchdog::new("sweeps_and_splits_stop_or_panic");
    assert!(at_every_step("sweep", sweep) >= 1);
    assert!(at_every_step("split", split) >= 1);
    // The lock of all advances, that of the sweeps twice, and every stripe.
    assert!(at_every_step("advance", advance) > STRIPES);
}
