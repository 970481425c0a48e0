//! Tables that grow and whose slots expire: writers that stop, or panic, at each step of an insert, a
//! refresh, a removal, a sweep, a split, or the beginning of a generation.

use std::sync::Arc;

use guira::raw::{
    Aged, Clock as _, GrowingLayout, GrowingTable, Item, Leveled, Limits, steps::Step,
};
use rand::RngExt;

use super::{panicked, steps, stopped, unblocked};
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
/// Steps of a lookup if nobody changes the table: as in one whose slots do not expire, and the
/// generation twice.
const LOOKUP: usize = 11;
/// Steps of an insert where there is room, in the same way.
const INSERT: usize = 12;

/// A call of a writer, which returns whether it did what was expected.
type Call = Arc<dyn Fn(&Table) -> bool + Send + Sync>;

/// A table, and a writer about to make its call.
struct Scene {
    table: Arc<Table>,
    /// Items with their visible copies, before the call and after it.
    present: Vec<(Item, usize)>,
    /// An item that the call inserts or removes, with its copies after it.
    target: Option<(Item, usize)>,
    call: Call,
    /// Items whose locations have room.
    room: Vec<Item>,
}

impl Scene {
    /// A table of at most so many buckets.
    fn new(most: u32) -> Self {
        let payload = Aged::new(STAMP_BITS, WINDOW, START);
        let limits = Limits { buckets: most.into(), load: 256 };
        let table = Table::holding::<L>(payload, BUCKETS.into(), limits, STRIPES, (true, false));
        let table = Arc::new(table.expect("a small table"));
        let mut room = Vec::new();
        let (mut rng, mut used) = (rng(77), [0; BUCKETS as usize]);
        while room.len() < 8 {
            let item = table.growth().item::<L>(rng.random());
            let starts = item.sides.map(|side| side.start as usize);
            let is_upper = starts.iter().all(|&start| start >= BUCKETS as usize / 2);
            if is_upper && starts.iter().all(|&start| used[start] < 2) {
                starts.iter().for_each(|&start| used[start] += 1);
                room.push(item);
            }
        }
        Self { table, present: Vec::new(), target: None, call: Arc::new(|_| true), room }
    }

    /// Items that all begin in these first buckets on both sides, with different cores.
    fn items(&self, count: usize, buckets: u32) -> Vec<Item> {
        let (mut rng, mut items) = (rng(5), Vec::<Item>::new());
        while items.len() < count {
            let item = self.table.growth().item::<L>(rng.random());
            let core = item.sides[0].code.core;
            let is_new = items.iter().all(|other| other.sides[0].code.core != core);
            if is_new && item.sides.iter().all(|side| side.start < buckets) {
                items.push(item);
            }
        }
        items
    }

    fn put(&mut self, item: Item) {
        assert!(self.table.insert_for::<L>(item, WINDOW).is_ok(), "there is room");
        self.present.push((item, 1));
    }

    /// A few items in a few buckets: some that have expired and have not been swept, and then some
    /// that are visible. Returns further ones.
    fn crowded(most: u32, expired: usize, visible: usize) -> (Self, Vec<Item>) {
        let mut scene = Self::new(most);
        let mut items = scene.items(20, 2);
        for item in items.drain(..expired) {
            assert!(scene.table.insert_for::<L>(item, WINDOW).is_ok(), "there is room");
        }
        (0..=WINDOW).for_each(|_| _ = scene.table.advance::<L>());
        items.drain(..visible).for_each(|item| scene.put(item));
        (scene, items)
    }

    fn with_call(
        mut self,
        target: Option<(Item, usize)>,
        call: impl Fn(&Table) -> bool + Send + Sync + 'static,
    ) -> Self {
        (self.target, self.call) = (target, Arc::new(call));
        self
    }

    /// The insert of an item: where slots have expired, where others must move, and where buckets
    /// must be split.
    fn insert(expired: usize, visible: usize, unseen: bool) -> Self {
        let (scene, items) = Self::crowded(BUCKETS << 10, expired, visible);
        let item = items[0];
        scene.with_call(Some((item, 1)), move |table| {
            if unseen {
                table.insert_unseen::<L>(item).is_ok_and(|generation| generation.is_some())
            } else {
                table.insert_for::<L>(item, WINDOW).is_ok()
            }
        })
    }

    /// The refresh of an item with one copy, or with an older copy that knows less and a younger one
    /// that knows more, which gets both refreshed.
    fn refresh(copies: usize) -> Self {
        let (mut scene, items) = Self::crowded(BUCKETS << 10, 2, 3);
        let item = items[0];
        scene.put(item);
        scene.table.advance::<L>();
        scene.present.retain(|&(other, _)| scene.table.is_visible::<L>(other));
        if copies == 2 {
            while scene.table.size().level == 0 {
                assert!(scene.table.split_one::<L>());
            }
            scene.put(item);
            scene.present.retain(|&(other, _)| other != item);
            scene.present.push((item, 2));
        }
        scene.with_call(None, move |table| table.refresh::<L>(item))
    }

    fn removal() -> Self {
        let (mut scene, items) = Self::crowded(BUCKETS << 10, 2, 3);
        let item = items[0];
        scene.put(item);
        scene.present.pop();
        let generation = scene.table.clock().generation();
        scene.with_call(Some((item, 0)), move |table| table.remove_of::<L>(item, generation))
    }

    fn sweep() -> Self {
        let (scene, _) = Self::crowded(BUCKETS << 10, 5, 4);
        scene.with_call(None, |table| table.sweep::<L>(u64::MAX) == 0)
    }

    /// In the next generation, what is present is still visible.
    fn advance() -> Self {
        let (scene, _) = Self::crowded(BUCKETS << 10, 5, 4);
        let next = scene.table.clock().generation() + 1;
        scene.with_call(None, move |table| table.advance::<L>() == next)
    }

    fn split() -> Self {
        let (scene, _) = Self::crowded(BUCKETS << 10, 4, 5);
        scene.with_call(None, |table| table.split_one::<L>())
    }

    /// An eviction, in a table that may not grow: the item that goes is not looked up.
    fn eviction() -> Self {
        let mut scene = Self::new(BUCKETS);
        let mut items = scene.items(20, 2);
        let call = items.pop().expect("one");
        let is_full = |item: &Item| scene.table.insert_for::<L>(*item, WINDOW).is_err();
        assert!(items.iter().any(is_full));
        // Further ones, by which everything is full that is within reach.
        let mut rng = rng(6);
        let further = (0..400).map(|_| scene.table.growth().item::<L>(rng.random()));
        further.for_each(|item| _ = scene.table.insert_for::<L>(item, WINDOW));
        scene.room.clear();
        scene.with_call(Some((call, 1)), move |table| table.insert_evicting::<L>(call).1)
    }

    /// Every item is found, in few steps, and without a lock.
    fn look(&self) {
        for (item, _) in &self.present {
            let [one, other] = item.sides;
            for item in [*item, Item { sides: [other, one] }] {
                assert!(unblocked(LOOKUP, || self.table.is_visible::<L>(item)), "{item:?}");
            }
        }
    }

    /// Inserts where there is room.
    fn insert_where_there_is_room(&mut self) {
        for item in self.room.split_off(self.room.len().saturating_sub(4)) {
            let inserted = unblocked(INSERT, || self.table.insert_for::<L>(item, WINDOW));
            assert!(inserted.is_ok());
            self.present.push((item, 1));
        }
    }

    /// Checks everything after the call, or if it was cut off. Then an item can have a copy more:
    /// the one that was moved.
    fn look_after(&self, cut_off: bool) {
        self.look();
        let mut excess = 0;
        for &(item, copies) in &self.present {
            let count = self.table.count::<L>(item);
            assert!(count >= copies, "{count} of {item:?}");
            excess += count - copies;
        }
        if let Some((item, copies)) = self.target {
            let count = self.table.count::<L>(item);
            assert!(count == copies || cut_off && count <= 1);
        }
        assert!(excess <= usize::from(cut_off), "{excess} copies too many");
    }

    /// The table goes on as if nothing had been: it grows, holds every item, and everything expires.
    /// So no lock is held.
    fn go_on(&mut self, cut_off: bool) {
        let mut rng = rng(9);
        let mut added = Vec::new();
        for number in 0..300 {
            let item = self.table.growth().item::<L>(rng.random());
            // Few are refused, because of aliases; and all in a table that may not grow.
            let outcome = if number % 2 == 0 {
                self.table.insert_for::<L>(item, WINDOW).is_ok()
            } else {
                self.table.insert_unseen::<L>(item).is_ok()
            };
            if outcome {
                added.push(item);
            }
        }
        assert!(added.len() > 250 || self.room.is_empty() && self.target.is_some());
        let all = added.iter().chain(self.present.iter().map(|(item, _)| item));
        assert!(all.clone().all(|item| self.table.is_visible::<L>(*item)), "an item is missing");
        assert!(all.clone().all(|item| self.table.refresh::<L>(*item)), "none to refresh");
        assert!(all.clone().all(|item| self.table.is_visible::<L>(*item)), "an item is missing");
        // Twice, because a generation whose beginning was cut off is not swept.
        (0..2 << STAMP_BITS).for_each(|_| _ = self.table.advance::<L>());
        if !cut_off {
            assert!(all.into_iter().all(|item| !self.table.is_visible::<L>(*item)));
            let (grown, _, words) = self.table.copy_words().expect("memory for a few words");
            let numbers = grown.numbers(words.len() as u64);
            let mut buckets = (0..).zip(words).filter(|(place, _)| !numbers.contains(place));
            assert!(buckets.all(|(_, word)| L::occupied(word) == 0), "a slot leaked");
            assert_eq!(self.table.clock().visible_slots(), Some(0));
        }
    }
}

/// Stops a writer at each of its steps, and lets it panic at each of them. Returns how many locks it
/// acquires.
fn at_every_step(name: &str, scene: impl Fn() -> Scene) -> usize {
    let undisturbed = scene();
    let all = steps(|| assert!((undisturbed.call)(&undisturbed.table), "{name}"));
    undisturbed.look_after(false);
    println!("{name}: {} steps, {:?}", all.len(), undisturbed.table.size());
    for number in (0..all.len()).step_by(1 + all.len() / 100) {
        let mut stop = scene();
        let (table, call) = (Arc::clone(&stop.table), Arc::clone(&stop.call));
        let has_stopped = stopped(
            move || call(&table),
            number,
            || {
                stop.look();
                stop.insert_where_there_is_room();
                stop.look();
            },
        );
        assert!(has_stopped, "{name}: no step {number}");
        stop.look_after(false);
        stop.go_on(false);

        let mut panic = scene();
        let (table, call) = (Arc::clone(&panic.table), Arc::clone(&panic.call));
        assert!(panicked(move || call(&table), number), "{name}: no step {number}");
        panic.look();
        panic.insert_where_there_is_room();
        panic.look_after(true);
        panic.go_on(true);
    }
    all.iter().filter(|&&step| step == Step::Lock).count()
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
            locks += at_every_step(&name, || Scene::insert(expired, visible, unseen));
        }
    }
    assert!(locks > 20, "{locks}: nothing was moved or split");
}

#[test]
fn refreshes_and_removals_stop_or_panic() {
    let _watchdog = Watchdog::new("refreshes_and_removals_stop_or_panic");
    for copies in 1..=2 {
        assert_eq!(at_every_step(&format!("refresh of {copies}"), || Scene::refresh(copies)), 1);
        // Both of two.
        let scene = Scene::refresh(copies);
        let &(item, _) = scene.present.last().expect("the item");
        assert!((scene.call)(&scene.table));
        scene.table.advance::<L>();
        assert_eq!(scene.table.count::<L>(item), copies);
    }
    assert_eq!(at_every_step("removal", Scene::removal), 1);
    assert!(at_every_step("eviction", Scene::eviction) >= 1);
}

#[test]
fn sweeps_and_splits_stop_or_panic() {
    let _watchdog = Watchdog::new("sweeps_and_splits_stop_or_panic");
    assert!(at_every_step("sweep", Scene::sweep) >= 1);
    assert!(at_every_step("split", Scene::split) >= 1);
    // The lock of all advances, that of the sweeps twice, and every stripe.
    assert!(at_every_step("advance", Scene::advance) > STRIPES);
}
