//! Tables that split their buckets: writers that stop, or panic, at each step of a split, a move, a
//! removal or an insert.

use std::{ops::Range, sync::Arc};

use guira::{
    InsertError,
    raw::{
        Bare, GrowingLayout, GrowingSpace, GrowingTable, Growth, Item, Leveled, Limits, steps::Step,
    },
};
use rand::{RngExt, rngs::SmallRng};

use super::{
    scene::{self, Known, Subject, at_every_step},
    steps, stopped,
};
use crate::common::{Watchdog, rng};

/// Buckets at level 0: of tables that are crowded, so that several cores lead from a bucket to
/// itself, and of the others.
const FEW: u64 = 16;
const MANY: u64 = 64;
/// Stripes. The lock of the first eight buckets is that of the first stripe.
const STRIPES: usize = 64;
/// Number of inserts of a thread after which it checks whether the table must grow.
const STEP: usize = 32;

/// A table, and a writer about to make its call.
type Scene<L> = scene::Scene<GrowingSpace<Bare>, L>;

impl<L: GrowingLayout> Subject<L> for GrowingSpace<Bare> {
    /// The size, the version, both words, the version; and both words again, and both children, if
    /// it goes by an old size.
    const LOOKUP: usize = 9;
    /// The size, both words, and as many again, the change of one; and the check whether the table
    /// must grow.
    const INSERT: usize = 10;
    const SPARED: usize = 8 * STEP;
    const HAS_GHOSTS: bool = L::MAX_TAIL <= 4;

    fn finds(table: &GrowingTable, item: Item) -> bool {
        table.contains::<L>(item)
    }

    fn insert(table: &GrowingTable, item: Item) -> bool {
        table.insert::<L>(item) == Ok(())
    }

    fn reversed(item: Item) -> Item {
        super::reversed(item)
    }

    /// It grows, holds every item, and is emptied.
    fn go_on(scene: &mut Scene<L>, _cut_off: bool) {
        let table = &scene.table;
        for &Known { item, .. } in scene.known.iter().filter(|known| known.before != known.after) {
            // Only if no alias can be taken for it.
            while !<Self as Subject<L>>::HAS_GHOSTS && table.remove::<L>(item) {}
        }
        let (mut rng, mut present) = (rng(9), scene.present().collect::<Vec<Item>>());
        for _ in 0..300 {
            let item = table.growth().item::<L>(rng.random());
            match table.insert::<L>(item) {
                Ok(()) => present.push(item),
                // Many aliases and ghosts, in a layout of few bits.
                Err(InsertError::TooManyCopies | InsertError::Full) => assert!(L::MAX_TAIL < 6),
                Err(error) => panic!("{error:?}"),
            }
        }
        assert!(table.buckets() > table.growth().first());
        assert!(present.iter().all(|item| scene.finds(*item)), "an item is missing");
        assert!(present.iter().all(|item| table.remove::<L>(*item)), "none to remove");
    }
}

/// Items that differ in their cores and in the bucket at level 0 on both sides, as far as there are
/// such.
struct Items<'a> {
    growth: &'a Growth,
    rng: SmallRng,
    cores: Vec<u64>,
}

impl Items<'_> {
    /// An item whose sides begin in these buckets, with another core than all before. No core is 0:
    /// no item has the stripe whose lock is held while the first buckets are split.
    fn between<L: GrowingLayout>(&mut self, starts: [Range<u32>; 2]) -> Item {
        loop {
            let item = self.growth.item::<L>(self.rng.random());
            let [one, other] = item.sides;
            let fits = starts[0].contains(&one.start) && starts[1].contains(&other.start);
            let core = one.code.core % STRIPES as u64;
            if fits && core != 0 && !self.cores.contains(&core) {
                self.cores.push(core);
                return item;
            }
        }
    }
}

/// A table that splits buckets when this share of its slots, in 256ths, is occupied.
fn table<L: GrowingLayout>(first: u64, load: u32) -> Scene<L> {
    let limits = Limits { buckets: first << 15, load };
    let table = GrowingTable::new::<L>(Bare, first, limits, STRIPES, (true, false));
    scene::Scene::new(table.expect("a small table"))
}

fn items(table: &GrowingTable, seed: u64) -> Items<'_> {
    Items { growth: table.growth(), rng: rng(seed), cores: Vec::new() }
}

/// Items that all begin in one bucket on both sides. Their buckets are full again and again, and
/// nothing else has room for them. The call inserts the one with this number: if it finds no room,
/// it moves others, and splits buckets ahead of their turn.
fn crowded<L: GrowingLayout>(number: usize, unique: bool) -> Scene<L> {
    let (mut scene, mut all) = (table::<L>(FEW, 256), Vec::new());
    {
        let mut source = items(&scene.table, 5);
        for _ in 0..=number {
            source.cores.clear();
            all.push(source.between::<L>([0..1, 0..1]));
        }
    }
    let target = all.pop().expect("one at least");
    for item in all {
        // A few are refused, since too many aliases or copies would be there.
        if scene.table.insert::<L>(item) == Ok(()) {
            scene.know(item, 1);
        }
    }
    scene.room = super::roomy::<_, L>(scene.table.growth(), 3 * L::SLOTS, 4);
    let table = Arc::clone(&scene.table);
    scene.concerning(target, (0, 1), move || {
        if unique {
            table.insert_unique::<L>(target) == Ok(true)
        } else {
            table.insert::<L>(target) == Ok(())
        }
    })
}

/// The removal of the item with this number, of some that were crowded.
fn removal<L: GrowingLayout>(number: usize, of: usize) -> Scene<L> {
    let mut scene = crowded::<L>(of, false);
    scene.known.pop();
    let Known { item, .. } = scene.known.swap_remove(number);
    let table = Arc::clone(&scene.table);
    scene.concerning(item, (1, 0), move || table.remove::<L>(item))
}

/// The insert of an item whose buckets are full. Others have room in other buckets.
fn eviction<L: GrowingLayout>() -> Scene<L> {
    let mut scene = table::<L>(MANY, 1);
    let (target, others) = {
        let mut source = items(&scene.table, 6);
        let target = source.between::<L>([8..20, 20..32]);
        let other = |slot: u32| {
            let full = target.sides[slot as usize % 2].start;
            source.between::<L>([full..full + 1, 0..32])
        };
        (target, (0..2 * L::SLOTS).map(other).collect::<Vec<Item>>())
    };
    for item in others {
        // On its first side: its other side begins there, too, as far as the table can see.
        let there = Item { sides: [item.sides[0]; 2] };
        assert_eq!(scene.table.insert::<L>(there), Ok(()));
        scene.know(item, 1);
    }
    scene.room = super::roomy::<_, L>(scene.table.growth(), 3 * L::SLOTS, 3 * STEP + 8);
    let table = Arc::clone(&scene.table);
    scene.concerning(target, (0, 1), move || table.insert::<L>(target) == Ok(()))
}

/// Inserts after which the load is above the target: groups of buckets are split in turn.
fn overdue<L: GrowingLayout>() -> Scene<L> {
    let mut scene = table::<L>(MANY, 1);
    let others: Vec<Item> = {
        let mut source = items(&scene.table, 8);
        let other = |_| {
            source.cores.clear();
            source.between::<L>([0..32, 0..32])
        };
        (0..STEP - 4).map(other).collect()
    };
    others.into_iter().for_each(|item| scene.put(item));
    assert_eq!(scene.table.buckets(), MANY, "it has not grown");
    scene.room = super::roomy::<_, L>(scene.table.growth(), 3 * L::SLOTS, 4 + 2 * STEP);
    // A thread that does this for the first time checks after twice as many inserts at most.
    let mine = scene.room.split_off(4);
    scene.grows = true;
    let table = Arc::clone(&scene.table);
    scene.with_call(move || {
        let all = mine.iter().all(|item| table.insert::<L>(*item) == Ok(()));
        all && table.buckets() > MANY
    })
}

/// The numbers of crowded items whose insert splits a bucket, or moves one in a table that has been
/// split.
fn telling<L: GrowingLayout>(unique: bool) -> Vec<usize> {
    let takes_locks = |&number: &usize| {
        let scene = crowded::<L>(number, unique);
        let mut done = false;
        let all = steps(|| done = (scene.call)());
        let locks = all.iter().filter(|step| step.is_lock()).count();
        done && locks > usize::from(unique)
    };
    (L::SLOTS as usize..30).filter(takes_locks).collect()
}

fn crowds<L: GrowingLayout>(name: &str) {
    for unique in [false, true] {
        let numbers = telling::<L>(unique);
        assert!(numbers.len() > 3, "{name}: {numbers:?}");
        for number in numbers.into_iter().step_by(2) {
            let what = format!("{name}, insert {number}, unique {unique}");
            at_every_step(&what, || crowded::<L>(number, unique));
        }
    }
    for number in [0, 3] {
        at_every_step(&format!("{name}, removal {number}"), || removal::<L>(number, 20));
    }
}

#[test]
fn writers_stop_or_panic_in_crowds() {
    let _watchdog = Watchdog::new("writers_stop_or_panic_in_crowds");
    crowds::<Leveled<5, 6>>("5 x 12");
    crowds::<Leveled<4, 7>>("4 x 15");
    crowds::<Leveled<2, 8>>("2 x 30");
}

#[test]
fn tails_run_out_beside_writers_that_stop_or_panic() {
    let _watchdog = Watchdog::new("tails_run_out_beside_writers_that_stop_or_panic");
    crowds::<Leveled<5, 9>>("5 x 12 with tails of 2 bits");
    crowds::<Leveled<5, 10>>("5 x 12 with tails of 1 bit");
}

#[test]
fn writers_stop_or_panic_in_splits_that_are_due() {
    let _watchdog = Watchdog::new("writers_stop_or_panic_in_splits_that_are_due");
    at_every_step("4 x 15, due", overdue::<Leveled<4, 7>>);
    at_every_step("tails of 1 bit, due", overdue::<Leveled<5, 10>>);
}

/// The table doubles while a mover is stopped at each of its steps: between its copy and its clear
/// the slot that it moves goes to a child, or to both.
fn doubles_beside_a_mover<L: GrowingLayout>(name: &str, rounds: u32) {
    let undisturbed = eviction::<L>();
    let all = steps(|| assert!((undisturbed.call)(), "{name}"));
    assert!(all.iter().any(|step| step.is_lock()), "nothing is moved: {all:?}");
    let mut grown = 0;
    for number in 0..all.len() {
        let mut scene = eviction::<L>();
        let call = Arc::clone(&scene.call);
        let double = |_: &[Step]| {
            scene.look();
            // None of these is blocked: a thread that finds a lock held splits other buckets.
            while let Some(item) = scene.room.pop() {
                if scene.table.size().level == rounds {
                    break;
                }
                scene.put(item);
                assert!(scene.finds(item));
            }
            grown += usize::from(scene.table.size().level == rounds);
            scene.look();
        };
        let has_stopped = stopped(move || call(), number, double);
        assert!(has_stopped, "{name}: no step {number}");
        scene.look_after(false);
        GrowingSpace::<Bare>::go_on(&mut scene, false);
    }
    assert_eq!(grown, all.len(), "{name}: the table did not grow at each step");
}

#[test]
fn a_table_doubles_beside_a_mover_that_stopped() {
    let _watchdog = Watchdog::new("a_table_doubles_beside_a_mover_that_stopped");
    doubles_beside_a_mover::<Leveled<5, 6>>("5 x 12", 1);
    doubles_beside_a_mover::<Leveled<4, 7>>("4 x 15", 2);
    doubles_beside_a_mover::<Leveled<3, 8>>("3 x 20", 2);
    doubles_beside_a_mover::<Leveled<5, 9>>("5 x 12 with tails of 2 bits", 2);
    doubles_beside_a_mover::<Leveled<5, 10>>("5 x 12 with tails of 1 bit", 2);
}

#[test]
fn calls_without_interference_take_few_steps_and_no_lock() {
    type L = Leveled<4, 7>;
    let scene = table::<L>(FEW, 256);
    let item = items(&scene.table, 1).between::<L>([0..FEW as u32, 0..FEW as u32]);
    // The version, the size, both words, the version.
    assert_eq!(steps(|| assert!(!scene.finds(item))), [Step::Load; 5]);
    let inserted = || assert_eq!(scene.table.insert::<L>(item), Ok(()));
    assert_eq!(steps(inserted), [Step::Load, Step::Load, Step::Load, Step::Change]);
    // A hit needs no second look at the version.
    assert!(steps(|| assert!(scene.finds(item))).len() <= 5);
}
