//! Writers that stop or panic between two steps, in tables that split their buckets. Run by
//! `RUSTFLAGS="--cfg guira_steps" cargo test --test progress`. Without the cfg there are no tests
//! here.
//!
//! Each writer is stopped before its first step, then in a new table before its second, and so on
//! to its last. A step is an access to a bucket or to a version, or the acquisition of a lock.
//! While the writer is stopped, lookups must be right and inserts into buckets with an empty slot
//! must succeed, in as many steps as without the writer, and without a lock. Then each writer
//! panics before each of its steps instead. It must leave every lock free and every item in the
//! table. `tests/public/halts.rs` does the same with the public methods of all kinds of filters.
//! Here are scenes that lead through splits in and out of turn, and through moves between them; and
//! threads that stop while they sweep or copy a filter with a time to live.

#![cfg(guira_steps)]

mod common;

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use common::{
    Watchdog,
    halting::{panicked, steps, stopped, unblocked},
    rng,
};
use guira::{
    Filter, InsertError,
    kind::{self, Expiring},
    raw::{
        GrowingAddressing, GrowingTable, GrowingWords, Item, Leveled, Limits, Payload, Side,
        steps::Step,
    },
};
use rand::{RngExt, rngs::SmallRng};

/// Buckets at level 0: of tables that are crowded, so that several cores lead from a bucket to
/// itself, and of the others.
const FEW: u64 = 16;
const MANY: u64 = 64;
/// Stripes. The lock of the first eight buckets is that of the first stripe.
const STRIPES: usize = 64;
/// The groups of eight buckets of a table that has doubled once, from `MANY` buckets on.
const GROUPS: u64 = 2 * MANY / 8;
/// Number of inserts of a thread after which it checks whether the table must grow.
const STEP: usize = 32;
/// Most steps of a lookup that nobody disturbs: the size, the version, both words, the version. If
/// it goes by an old size, the same again, and both words once more, and both children.
const LOOKUP: usize = 14;
/// Most steps of an insert where there is room: the size, both words, and as many again, the change
/// of one; and the check whether the table must grow.
const INSERT: usize = 10;
/// Steps that a call may be spared if others have split buckets, or did not have to check whether
/// the table must grow.
const SPARED: usize = 8 * STEP;

/// Whether tails can run out, so that slots may belong to no item.
fn has_ghosts(leveled: &Leveled) -> bool {
    leveled.max_tail <= 4
}

/// Random items in the upper half of the first buckets, of which no bucket gets more than so many.
/// (Before the table has doubled, only a part of them is used.)
fn roomy(addressing: &GrowingAddressing, each: u32, count: usize) -> Vec<Item> {
    let half = addressing.first() as usize / 2;
    let (mut rng, mut used, mut room) = (rng(77), vec![0; 2 * half], Vec::new());
    while room.len() < count {
        let item = addressing.item(rng.random());
        let starts = item.sides.map(|side| side.start as usize);
        if starts.iter().all(|&start| start >= half && used[start] < each) {
            starts.iter().for_each(|&start| used[start] += 1);
            room.push(item);
        }
    }
    room
}

/// An item, of which there is one copy after the call, and the copies before it.
#[derive(Clone, Copy, Debug)]
struct Known {
    item: Item,
    before: usize,
}

/// A table, and a writer about to make its call, which returns whether it did what was expected.
struct Scene {
    table: Arc<GrowingTable>,
    known: Vec<Known>,
    call: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Whether an insert may find that the table must grow.
    grows: bool,
    /// Items whose locations have room.
    room: Vec<Item>,
}

impl Scene {
    /// Whether tails can run out, so that slots may belong to no item.
    fn has_ghosts(&self) -> bool {
        has_ghosts(self.table.leveled())
    }

    /// A table without items, which splits buckets when this share of its slots, in 256ths, is
    /// occupied, and a call that does nothing.
    fn new(leveled: &Leveled, first: u64, load: u32) -> Self {
        let limits = Limits { buckets: first << 15, load, copies: 1 };
        let table =
            GrowingTable::new(*leveled, Payload::NONE, first, limits, STRIPES, (true, false));
        let (table, call) = (Arc::new(table.expect("a small table")), Arc::new(|| true));
        Self { table, known: vec![], call, grows: false, room: vec![] }
    }

    /// Records an item that is in the table throughout.
    fn know(&mut self, item: Item) {
        self.known.push(Known { item, before: 1 });
    }

    /// Inserts an item that is in the table throughout.
    fn put(&mut self, item: Item) {
        assert_eq!(self.table.insert::<GrowingWords>(item), Ok(()), "there is room");
        self.know(item);
    }

    /// Sets the call, which inserts an item that is absent.
    fn inserting(mut self, item: Item, unique: bool) -> Self {
        self.known.push(Known { item, before: 0 });
        let table = Arc::clone(&self.table);
        self.call = Arc::new(move || match unique {
            true => table.insert_unique::<GrowingWords>(item) == Ok(true),
            false => table.insert::<GrowingWords>(item) == Ok(()),
        });
        self
    }

    fn finds(&self, item: Item) -> bool {
        self.table.contains(item)
    }

    /// Looks everything up, with either location first, in few steps and without a lock.
    fn look(&self) {
        for &Known { item, before } in &self.known {
            let [one, other] = item.sides;
            for item in [item, Item { sides: [other, one] }] {
                let found = unblocked(LOOKUP, || self.finds(item));
                assert!(found || before == 0, "a lookup misses {item:?}");
            }
        }
    }

    /// Inserts where there is room, in few steps and without a lock.
    fn insert_where_there_is_room(&mut self) {
        for item in self.room.split_off(self.room.len().saturating_sub(4)) {
            // A thread that splits buckets, too, waits for no lock.
            let insert = || self.table.insert::<GrowingWords>(item);
            let inserted = if self.grows { insert() } else { unblocked(INSERT, insert) };
            assert_eq!(inserted, Ok(()), "there is room at {item:?}");
            self.know(item);
        }
    }

    /// Checks everything after the call, or if it was cut off. Then at most one item has one copy
    /// too many: one that was moved.
    fn look_after(&self, cut_off: bool) {
        let mut excess = 0;
        for &Known { item, before } in &self.known {
            let count = self.table.count::<GrowingWords>(item);
            assert_eq!(self.finds(item), count > 0, "{item:?}");
            assert!(count >= if cut_off { before } else { 1 }, "{item:?} is missing");
            if !self.has_ghosts() {
                assert!(before == 1 || count <= 1, "{count} of {item:?}");
                excess += count.saturating_sub(1);
            }
        }
        assert!(excess <= usize::from(cut_off), "{excess} copies too many");
    }

    /// The table goes on as if nothing had been: it grows, holds every item, and is emptied. So no
    /// lock is held.
    fn go_on(&self) {
        let table = &self.table;
        let (stay, inserted): (Vec<Known>, Vec<Known>) =
            self.known.iter().copied().partition(|known| known.before > 0);
        for Known { item, .. } in inserted {
            // Only if no alias can be taken for it.
            while !self.has_ghosts() && table.remove::<GrowingWords>(item) {}
        }
        let mut present: Vec<Item> = stay.into_iter().map(|known| known.item).collect();
        let mut rng = rng(9);
        for _ in 0..300 {
            let item = table.addressing().item(rng.random());
            match table.insert::<GrowingWords>(item) {
                Ok(()) => present.push(item),
                // Many aliases and ghosts, in a layout of few bits.
                Err(InsertError::TooManyCopies | InsertError::Full) => {
                    assert!(table.leveled().max_tail < 6)
                }
                Err(error) => panic!("{error:?}"),
            }
        }
        assert!(table.buckets() > table.addressing().first());
        assert!(present.iter().all(|item| self.finds(*item)), "an item is missing");
        assert!(present.iter().all(|item| table.remove::<GrowingWords>(*item)), "none to remove");
    }
}

/// Stops a writer at each of its steps, and lets it panic at each of them.
fn at_every_step(name: &str, scene: impl Fn() -> Scene) {
    let undisturbed = scene();
    let all = steps(|| assert!((undisturbed.call)(), "{name}: the call did something else")).len();
    undisturbed.look_after(false);
    // Most steps of a long call belong to its search.
    for number in (0..all).step_by(1 + all / 100) {
        let is_right = |halted| assert!(halted || number + SPARED > all, "{name}: {number}");
        let mut stop = scene();
        let call = Arc::clone(&stop.call);
        let look = |_: &[Step]| {
            stop.look();
            stop.insert_where_there_is_room();
            stop.look();
        };
        is_right(stopped(move || call(), number, look));
        stop.look_after(false);
        stop.go_on();

        let mut panic = scene();
        let call = Arc::clone(&panic.call);
        let has_panicked = panicked(move || call(), number);
        is_right(has_panicked);
        if has_panicked {
            panic.look();
            panic.insert_where_there_is_room();
            panic.look_after(true);
            panic.go_on();
        }
    }
}

/// Items that differ in their cores and in the bucket at level 0 on both sides, as far as there are
/// such.
struct Items<'a> {
    addressing: &'a GrowingAddressing,
    rng: SmallRng,
    cores: Vec<u64>,
    /// No item has a stripe whose lock is held while one of so many groups of buckets is split.
    groups: u64,
}

impl Items<'_> {
    /// An item whose sides begin in these buckets, with another core than all before.
    fn between(&mut self, starts: [Range<u32>; 2]) -> Item {
        loop {
            let item = self.addressing.item(self.rng.random());
            let [one, other] = item.sides;
            let fits = starts[0].contains(&one.start) && starts[1].contains(&other.start);
            let core = one.code.core % STRIPES as u64;
            if fits && core >= self.groups && !self.cores.contains(&core) {
                self.cores.push(core);
                return item;
            }
        }
    }
}

fn items(table: &GrowingTable, seed: u64) -> Items<'_> {
    Items { addressing: table.addressing(), rng: rng(seed), cores: Vec::new(), groups: 1 }
}

/// Whether a slot that knows four bits of a tail could belong to either item, on one of its sides.
fn alike(leveled: &Leveled, item: &Item, other: &Item) -> bool {
    const KNOWN: u64 = 0b1111;
    let all = item.sides.iter().flat_map(|side| other.sides.iter().map(move |other| (side, other)));
    let is_one = |(side, other): (&Side, &Side)| {
        let (code, other) = (side.code, other.code);
        code.core == other.core && (code.extension ^ other.extension) & KNOWN == 0
    };
    // With shorter tails there are ghosts, which the scenes allow for.
    !has_ghosts(leveled) && all.map(is_one).any(|is_one| is_one)
}

/// Items that all begin in one bucket on both sides. Their buckets are full again and again, and
/// nothing else has room for them. The call inserts the one with this number: if it finds no room,
/// it moves others, and splits buckets ahead of their turn.
fn crowded(leveled: &Leveled, number: usize, unique: bool) -> Scene {
    let (mut scene, mut all) = (Scene::new(leveled, FEW, 256), Vec::new());
    {
        let mut source = items(&scene.table, 5);
        while all.len() <= number {
            source.cores.clear();
            let item = source.between([0..1, 0..1]);
            if all.iter().all(|other| !alike(leveled, &item, other)) {
                all.push(item);
            }
        }
    }
    let target = all.pop().expect("one at least");
    for item in all {
        // A few are refused, since too many aliases or copies would be there.
        if scene.table.insert::<GrowingWords>(item) == Ok(()) {
            scene.know(item);
        }
    }
    scene.room = roomy(scene.table.addressing(), 3 * leveled.slots, 4);
    scene.inserting(target, unique)
}

/// The insert of an item whose buckets are full. Others have room in other buckets.
fn eviction(leveled: &Leveled) -> Scene {
    let mut scene = Scene::new(leveled, MANY, 1);
    let (target, others) = {
        let mut source = items(&scene.table, 6);
        source.groups = GROUPS;
        let target = source.between([8..20, 20..32]);
        let other = |slot: u32| {
            let full = target.sides[slot as usize % 2].start;
            source.between([full..full + 1, 0..32])
        };
        (target, (0..2 * leveled.slots).map(other).collect::<Vec<Item>>())
    };
    for item in others {
        // On its first side: its other side begins there, too, as far as the table can see.
        let there = Item { sides: [item.sides[0]; 2] };
        assert_eq!(scene.table.insert::<GrowingWords>(there), Ok(()));
        scene.know(item);
    }
    scene.room = roomy(scene.table.addressing(), 3 * leveled.slots, 3 * STEP + 8);
    scene.inserting(target, false)
}

/// Inserts after which the load is above the target: groups of buckets are split in turn.
fn overdue(leveled: &Leveled) -> Scene {
    let mut scene = Scene::new(leveled, MANY, 1);
    let others: Vec<Item> = {
        let mut source = items(&scene.table, 8);
        let other = |_| {
            source.cores.clear();
            source.between([0..32, 0..32])
        };
        (0..STEP - 4).map(other).collect()
    };
    others.into_iter().for_each(|item| scene.put(item));
    assert_eq!(scene.table.buckets(), MANY, "it has not grown");
    scene.room = roomy(scene.table.addressing(), 3 * leveled.slots, 4 + 2 * STEP);
    // A thread that does this for the first time checks after twice as many inserts at most.
    let mine = scene.room.split_off(4);
    scene.grows = true;
    let table = Arc::clone(&scene.table);
    scene.call = Arc::new(move || {
        let all = mine.iter().all(|item| table.insert::<GrowingWords>(*item) == Ok(()));
        all && table.buckets() > MANY
    });
    scene
}

/// The numbers of crowded items whose insert splits a bucket, or moves one in a table that has been
/// split.
fn telling(leveled: &Leveled, unique: bool) -> Vec<usize> {
    let takes_locks = |&number: &usize| {
        let scene = crowded(leveled, number, unique);
        let mut done = false;
        let all = steps(|| done = (scene.call)());
        let locks = all.iter().filter(|step| step.is_lock()).count();
        done && locks > usize::from(unique)
    };
    (leveled.slots as usize..30).filter(takes_locks).collect()
}

fn crowds(leveled: &Leveled, name: &str) {
    for unique in [false, true] {
        let numbers = telling(leveled, unique);
        assert!(numbers.len() > 3, "{name}: {numbers:?}");
        for number in numbers.into_iter().step_by(2) {
            let what = format!("{name}, insert {number}, unique {unique}");
            at_every_step(&what, || crowded(leveled, number, unique));
        }
    }
}

#[test]
fn writers_stop_or_panic_in_crowds() {
    let _watchdog = Watchdog::new("writers_stop_or_panic_in_crowds");
    crowds(&Leveled::new(5, 6, 0), "5 x 12");
    crowds(&Leveled::new(4, 7, 0), "4 x 15");
    crowds(&Leveled::new(2, 8, 0), "2 x 30");
}

#[test]
fn tails_run_out_beside_writers_that_stop_or_panic() {
    let _watchdog = Watchdog::new("tails_run_out_beside_writers_that_stop_or_panic");
    crowds(&Leveled::new(5, 9, 0), "5 x 12 with tails of 2 bits");
    crowds(&Leveled::new(5, 10, 0), "5 x 12 with tails of 1 bit");
}

#[test]
fn writers_stop_or_panic_in_splits_that_are_due() {
    let _watchdog = Watchdog::new("writers_stop_or_panic_in_splits_that_are_due");
    at_every_step("4 x 15, due", || overdue(&Leveled::new(4, 7, 0)));
    at_every_step("tails of 1 bit, due", || overdue(&Leveled::new(5, 10, 0)));
}

/// The table doubles while a mover is stopped at each of its steps: between its copy and its clear
/// the slot that it moves goes to a child, or to both.
fn doubles_beside_a_mover(leveled: &Leveled, name: &str, rounds: u32) {
    let undisturbed = eviction(leveled);
    let all = steps(|| assert!((undisturbed.call)(), "{name}"));
    assert!(all.iter().any(|step| step.is_lock()), "nothing is moved: {all:?}");
    let mut grown = 0;
    for number in 0..all.len() {
        let mut scene = eviction(leveled);
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
        scene.go_on();
    }
    assert_eq!(grown, all.len(), "{name}: the table did not grow at each step");
}

#[test]
fn a_table_doubles_beside_a_mover_that_stopped() {
    let _watchdog = Watchdog::new("a_table_doubles_beside_a_mover_that_stopped");
    doubles_beside_a_mover(&Leveled::new(5, 6, 0), "5 x 12", 1);
    doubles_beside_a_mover(&Leveled::new(4, 7, 0), "4 x 15", 2);
    doubles_beside_a_mover(&Leveled::new(3, 8, 0), "3 x 20", 2);
    doubles_beside_a_mover(&Leveled::new(5, 9, 0), "5 x 12 with tails of 2 bits", 2);
    doubles_beside_a_mover(&Leveled::new(5, 10, 0), "5 x 12 with tails of 1 bit", 2);
}

/// A call on a filter with a time to live.
type Timed<G> = fn(&Filter<Expiring, G>) -> bool;

/// Stops a thread for ever at each step of calls that sweep the filter, copy it, or hold a stripe,
/// while generations fall due and others write: nobody waits, and nothing is forgotten early. Once
/// the thread goes on, what is written is forgotten in time.
fn writes_go_on_beside<G: kind::Growth>(calls: &[Timed<G>])
where
    Filter<Expiring, G>: Send + Sync + 'static,
{
    const TTL: u64 = 6_000_000;
    for &call in calls {
        let scene = || {
            let clock = Arc::new(AtomicU64::new(0));
            let now = Arc::clone(&clock);
            let builder = Filter::<Expiring, G>::builder().capacity(20_000).seed(3);
            let builder = builder.ttl(Duration::from_nanos(TTL));
            let filter = builder.clock(move || now.load(SeqCst)).build().expect("memory");
            // Several generations, of which some have expired.
            for key in 0..40_u64 {
                filter.insert(&key).expect("room");
                clock.fetch_add(TTL / 20, SeqCst);
            }
            (Arc::new(filter), clock)
        };
        let all = steps(|| assert!(call(&scene().0))).len();
        for number in (0..all).step_by(1 + all / 80) {
            let (filter, clock) = scene();
            let caller = Arc::clone(&filter);
            stopped(
                move || call(&caller),
                number,
                |_| {
                    for key in 100..300_u64 {
                        clock.fetch_add(TTL / 20, SeqCst);
                        filter.insert(&key).expect("room");
                        let young = key.saturating_sub(19).max(100)..=key;
                        assert!(young.clone().all(|key| filter.contains(&key)), "forgotten early");
                    }
                },
            );
            clock.fetch_add(2 * TTL, SeqCst);
            for key in 1_000..1_020_u64 {
                filter.insert(&key).expect("room");
            }
            clock.fetch_add(TTL + TTL / 5, SeqCst);
            let found = (1_000..1_020).filter(|key: &u64| filter.contains(key)).count();
            assert!(found < 3, "{found} are found for too long");
        }
    }
}

#[test]
fn writes_go_on_beside_a_thread_that_stops_with_the_clock() {
    let _watchdog = Watchdog::new("writes_go_on_beside_a_thread_that_stops_with_the_clock");
    fn calls<G: kind::Growth>() -> [Timed<G>; 6] {
        [
            |filter| filter.sweep(u64::MAX) == 0,
            |filter| filter.try_clone().is_ok(),
            |filter| filter.insert(&99_999).is_ok(),
            |filter| !filter.refresh(&77_777),
            |filter| filter.insert_or_refresh(&88_888).is_ok_and(|new| new.is_new()),
            |filter| filter.sweep(10) < u64::MAX,
        ]
    }
    writes_go_on_beside(&calls::<kind::Fixed>());
    writes_go_on_beside(&calls::<kind::Growing>());
}
