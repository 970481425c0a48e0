//! Tables that split their buckets: writers that stop, or panic, at each step of a split, a move, a
//! removal or an insert.

use std::{ops::Range, sync::Arc};

use guira::{
    InsertError,
    raw::{GrowingLayout, GrowingTable, Growth, Item, Leveled, Limits, steps::Step},
};
use rand::{RngExt, rngs::SmallRng};

use super::{panicked, steps, stopped, unblocked};
use crate::common::{Watchdog, rng};

/// Buckets at level 0: of tables that are crowded, so that several cores lead from a bucket to
/// itself, and of the others.
const FEW: u64 = 16;
const MANY: u64 = 64;
/// Stripes. The lock of the first eight buckets is that of the first stripe.
const STRIPES: usize = 64;
/// Number of inserts of a thread after which it checks whether the table must grow.
const STEP: usize = 32;
/// Steps of a lookup if nobody changes the table: the size, the version, both words, the version;
/// and both words again, and both children, if it goes by an old size.
const LOOKUP: usize = 9;
/// Steps of an insert where there is room: the size, both words, and as many again, the change of
/// one; and the check whether the table must grow.
const INSERT: usize = 10;

/// A call of a writer.
type Call = Arc<dyn Fn(&GrowingTable) -> bool + Send + Sync>;

/// A table, and a writer about to make its call.
struct Scene<L> {
    table: Arc<GrowingTable>,
    /// Items with one copy before the call and after it.
    present: Vec<Item>,
    /// The item that the call inserts or removes, and its copies before and after.
    target: Option<(Item, Range<usize>)>,
    call: Call,
    /// Whether an insert may find that the table must grow.
    grows: bool,
    /// Items whose locations have room.
    room: Vec<Item>,
    layout: std::marker::PhantomData<L>,
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

impl<L: GrowingLayout> Scene<L> {
    /// A table that splits buckets when this share of its slots, in 256ths, is occupied.
    fn new(first: u64, load: u32) -> Self {
        let limits = Limits { buckets: first << 15, load };
        let table = GrowingTable::new::<L>(first, limits, STRIPES, (true, false));
        let (table, call) = (Arc::new(table.expect("a small table")), Arc::new(|_: &_| true));
        let (present, room) = (Vec::new(), Vec::new());
        let layout = std::marker::PhantomData;
        Self { table, present, target: None, call, grows: false, room, layout }
    }

    fn items(&self, seed: u64) -> Items<'_> {
        Items { growth: self.table.growth(), rng: rng(seed), cores: Vec::new() }
    }

    fn contains(&self, item: &Item) -> bool {
        self.table.contains::<L>(*item)
    }

    fn put(&mut self, item: Item) {
        assert_eq!(self.table.insert::<L>(item), Ok(()), "there is room");
        self.present.push(item);
    }

    /// Random items in the upper half of the buckets, of which no bucket gets too many. (Before the
    /// table has doubled, only a part of them is used.)
    fn find_room(&mut self, count: usize) {
        let half = self.table.growth().first() as usize / 2;
        let mut used = vec![0; 2 * half];
        let mut rng = rng(77);
        while self.room.len() < count {
            let item = self.table.growth().item::<L>(rng.random());
            let starts = item.sides.map(|side| side.start as usize);
            let is_upper = starts.iter().all(|&start| start >= half);
            if is_upper && starts.iter().all(|&start| used[start] < 3 * L::SLOTS) {
                starts.iter().for_each(|&start| used[start] += 1);
                self.room.push(item);
            }
        }
    }

    /// Items that all begin in one bucket on both sides. Their buckets are full again and again, and
    /// nothing else has room for them. The call inserts the one with this number: if it finds no
    /// room, it moves others, and splits buckets ahead of their turn.
    fn crowded(number: usize, unique: bool) -> Self {
        let mut scene = Self::new(FEW, 256);
        let mut items = Vec::new();
        {
            let mut source = scene.items(5);
            for _ in 0..=number {
                source.cores.clear();
                items.push(source.between::<L>([0..1, 0..1]));
            }
        }
        let target = items.pop().expect("one at least");
        items.into_iter().for_each(|item| {
            // A few are refused, since too many aliases or copies would be there.
            if scene.table.insert::<L>(item) == Ok(()) {
                scene.present.push(item);
            }
        });
        scene.target = Some((target, 0..1));
        scene.call = if unique {
            Arc::new(move |table| table.insert_unique::<L>(target) == Ok(true))
        } else {
            Arc::new(move |table| table.insert::<L>(target) == Ok(()))
        };
        scene.find_room(4);
        scene
    }

    /// The removal of the item with this number, of some that were crowded.
    fn removal(number: usize, of: usize) -> Self {
        let mut scene = Self::crowded(of, false);
        let target = scene.present.swap_remove(number);
        scene.target = Some((target, 1..0));
        scene.call = Arc::new(move |table| table.remove::<L>(target));
        scene
    }

    /// The insert of an item whose buckets are full. Others have room in other buckets.
    fn eviction() -> Self {
        let mut scene = Self::new(MANY, 1);
        let (target, others) = {
            let mut source = scene.items(6);
            let target = source.between::<L>([8..20, 20..32]);
            let others: Vec<Item> = (0..2 * L::SLOTS)
                .map(|slot| {
                    let full = target.sides[slot as usize % 2].start;
                    source.between::<L>([full..full + 1, 0..32])
                })
                .collect();
            (target, others)
        };
        // The first side comes first while both are empty.
        others.into_iter().for_each(|item| scene.put_into_first(item));
        scene.target = Some((target, 0..1));
        scene.call = Arc::new(move |table| table.insert::<L>(target) == Ok(()));
        scene.find_room(3 * STEP + 8);
        scene
    }

    /// Stores an item on its first side: its other side begins there, too, as far as the table can
    /// see.
    fn put_into_first(&mut self, item: Item) {
        let there = Item { sides: [item.sides[0]; 2] };
        assert_eq!(self.table.insert::<L>(there), Ok(()));
        self.present.push(item);
    }

    /// Inserts after which the load is above the target: groups of buckets are split in turn.
    fn overdue() -> Self {
        let mut scene = Self::new(MANY, 1);
        let others: Vec<Item> = {
            let mut source = scene.items(8);
            let other = |_| {
                source.cores.clear();
                source.between::<L>([0..32, 0..32])
            };
            (0..STEP - 4).map(other).collect()
        };
        others.into_iter().for_each(|item| scene.put(item));
        assert_eq!(scene.table.buckets(), MANY, "it has not grown");
        scene.find_room(4 + 2 * STEP);
        // A thread that does this for the first time checks after twice as many inserts at most.
        let mine = scene.room.split_off(4);
        scene.grows = true;
        scene.call = Arc::new(move |table| {
            let all = mine.iter().all(|item| table.insert::<L>(*item) == Ok(()));
            all && table.buckets() > MANY
        });
        scene
    }

    /// Every item is found, in few steps, and without a lock.
    fn look(&self) {
        for item in &self.present {
            assert!(unblocked(LOOKUP, || self.contains(item)), "{item:?} is missing");
            let [one, other] = item.sides;
            let reversed = Item { sides: [other, one] };
            assert!(unblocked(LOOKUP, || self.contains(&reversed)), "{item:?} is missing");
        }
    }

    /// Inserts where there is room.
    fn insert_where_there_is_room(&mut self, count: usize) {
        for item in self.room.split_off(self.room.len() - count) {
            // A thread that splits buckets, too, waits for no lock.
            let insert = || self.table.insert::<L>(item);
            let inserted = if self.grows { insert() } else { unblocked(INSERT, insert) };
            assert_eq!(inserted, Ok(()));
            self.present.push(item);
        }
    }

    /// Checks everything after the call, or if it was cut off. Then at most one item has one copy
    /// too many: the one that was moved.
    fn look_after(&self, cut_off: bool) {
        self.look();
        let mut counts: Vec<usize> =
            self.present.iter().map(|item| self.table.count::<L>(*item)).collect();
        let mut least = counts.len();
        if let Some((target, copies)) = &self.target {
            let count = self.table.count::<L>(*target);
            assert_eq!(self.contains(target), count > 0);
            least += if cut_off { count.min(1) } else { copies.end };
            counts.push(count);
        }
        let excess = counts.iter().sum::<usize>() - least;
        // Ghosts count, and there are none of items that are known well enough.
        let has_ghosts = L::MAX_TAIL <= 4;
        assert!(excess <= usize::from(cut_off) || has_ghosts, "{excess} copies too many");
    }

    /// The table goes on as if nothing had been: it grows, holds every item, and is emptied. So no
    /// lock is held.
    fn go_on(&mut self) {
        let mut rng = rng(9);
        for _ in 0..300 {
            let item = self.table.growth().item::<L>(rng.random());
            match self.table.insert::<L>(item) {
                Ok(()) => self.present.push(item),
                // Many aliases and ghosts, in a layout of few bits.
                Err(InsertError::TooManyCopies | InsertError::Full) => assert!(L::MAX_TAIL < 6),
                Err(error) => panic!("{error:?}"),
            }
        }
        assert!(self.table.buckets() > self.table.growth().first());
        assert!(self.present.iter().all(|item| self.contains(item)), "an item is missing");
        assert!(self.present.iter().all(|item| self.table.remove::<L>(*item)), "none to remove");
    }
}

/// Stops a writer at each of its steps, and lets it panic at each of them.
fn at_every_step<L: GrowingLayout + Sync>(name: &str, scene: impl Fn() -> Scene<L>, room: usize) {
    let undisturbed = scene();
    let all = steps(|| assert!((undisturbed.call)(&undisturbed.table), "{name}"));
    undisturbed.look_after(false);
    println!("{name}: {} steps, {:?}", all.len(), undisturbed.table.size());
    // Most steps of a long call belong to its search.
    for number in (0..all.len()).step_by(1 + all.len() / 60) {
        let mut stop = scene();
        let (table, call) = (Arc::clone(&stop.table), Arc::clone(&stop.call));
        let has_stopped = stopped(
            move || call(&table),
            number,
            || {
                stop.look();
                stop.insert_where_there_is_room(room);
                stop.look();
            },
        );
        // Splits by others may leave it less to do.
        assert!(has_stopped || number + 8 * STEP > all.len(), "{name}: no step {number}");
        stop.look_after(false);
        stop.go_on();

        let mut panic = scene();
        let (table, call) = (Arc::clone(&panic.table), Arc::clone(&panic.call));
        if panicked(move || call(&table), number) {
            panic.look();
            panic.insert_where_there_is_room(room);
            panic.look_after(true);
            if let Some((target, _)) = panic.target.take() {
                // Only if no alias can be taken for it.
                while L::MAX_TAIL > 4 && panic.table.remove::<L>(target) {}
            }
            panic.go_on();
        }
    }
}

/// The numbers of crowded items whose insert splits a bucket, or moves one in a table that has been
/// split.
fn telling<L: GrowingLayout>(unique: bool) -> Vec<usize> {
    let takes_locks = |&number: &usize| {
        let scene = Scene::<L>::crowded(number, unique);
        let mut done = false;
        let all = steps(|| done = (scene.call)(&scene.table));
        let locks = all.iter().filter(|&&step| step == Step::Lock).count();
        done && locks > usize::from(unique)
    };
    (L::SLOTS as usize..30).filter(takes_locks).collect()
}

fn crowds<L: GrowingLayout + Sync>(name: &str) {
    for unique in [false, true] {
        let numbers = telling::<L>(unique);
        assert!(numbers.len() > 3, "{name}: {numbers:?}");
        for number in numbers.into_iter().step_by(2) {
            let what = format!("{name}, insert {number}, unique {unique}");
            at_every_step::<L>(&what, || Scene::crowded(number, unique), 4);
        }
    }
    for number in [0, 3] {
        let what = format!("{name}, removal {number}");
        at_every_step::<L>(&what, || Scene::removal(number, 20), 4);
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
    at_every_step::<Leveled<4, 7>>("4 x 15, due", Scene::overdue, 4);
    at_every_step::<Leveled<5, 10>>("tails of 1 bit, due", Scene::overdue, 4);
}

/// The table doubles while a mover is stopped at each of its steps: between its copy and its clear
/// the slot that it moves goes to a child, or to both.
fn doubles_beside_a_mover<L: GrowingLayout + Sync>(name: &str, rounds: u32) {
    let undisturbed = Scene::<L>::eviction();
    let all = steps(|| assert!((undisturbed.call)(&undisturbed.table), "{name}"));
    assert!(all.contains(&Step::Lock), "nothing is moved: {all:?}");
    let mut grown = 0;
    for number in 0..all.len() {
        let mut scene = Scene::<L>::eviction();
        let (table, call) = (Arc::clone(&scene.table), Arc::clone(&scene.call));
        let has_stopped = stopped(
            move || call(&table),
            number,
            || {
                scene.look();
                // None of these is blocked: a thread that finds a lock held splits other buckets.
                while let Some(item) = scene.room.pop() {
                    if scene.table.size().level == rounds {
                        break;
                    }
                    assert_eq!(scene.table.insert::<L>(item), Ok(()));
                    scene.present.push(item);
                    assert!(scene.contains(&item));
                }
                grown += usize::from(scene.table.size().level == rounds);
                scene.look();
            },
        );
        assert!(has_stopped, "{name}: no step {number}");
        scene.look_after(false);
        scene.go_on();
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
    let scene = Scene::<L>::new(FEW, 256);
    let item = scene.items(1).between::<L>([0..FEW as u32, 0..FEW as u32]);
    // The version, the size, both words, the version.
    assert_eq!(steps(|| assert!(!scene.contains(&item))), [Step::Load; 5]);
    let inserted = || assert_eq!(scene.table.insert::<L>(item), Ok(()));
    assert_eq!(steps(inserted), [Step::Load, Step::Load, Step::Load, Step::Change]);
    // A hit needs no second look at the version.
    assert!(steps(|| assert!(scene.contains(&item))).len() <= 5);
}
