//! Tables in which a writer is stopped, or panics, at each of its steps, and the checks of what
//! other threads see.

use std::{fmt::Debug, marker::PhantomData, sync::Arc};

use guira::raw::{Space, Table, Words, steps::Step};

use super::{panicked, steps, stopped, unblocked};

/// What the scenes need of a kind of table.
pub trait Subject<L>: Words<L> + Space<Item: Debug> {
    /// Steps of a lookup if nobody changes the table.
    const LOOKUP: usize;
    /// Steps of an insert where there is room.
    const INSERT: usize;
    /// Steps that a call may be spared if others have split buckets, or did not have to check
    /// whether the table must grow.
    const SPARED: usize = 0;
    /// Whether tails can run out, so that slots may belong to no item.
    const HAS_GHOSTS: bool = false;

    /// Looks an item up.
    fn finds(table: &Table<Self>, item: Self::Item) -> bool;

    /// Inserts an item. Returns whether there was room.
    fn insert(table: &Table<Self>, item: Self::Item) -> bool;

    /// The item with its locations in the other order.
    fn reversed(item: Self::Item) -> Self::Item;

    /// The table goes on as if nothing had been, and holds every item. So no lock is held.
    fn go_on(scene: &mut Scene<Self, L>, cut_off: bool);
}

/// An item, and its copies before and after the call.
#[derive(Clone, Copy, Debug)]
pub struct Known<I> {
    pub item: I,
    pub before: usize,
    pub after: usize,
}

/// The call of a writer, which returns whether it did what was expected.
pub type Call = Arc<dyn Fn() -> bool + Send + Sync>;

/// A table, and a writer about to make its call.
pub struct Scene<S: Subject<L>, L> {
    pub table: Arc<Table<S>>,
    pub known: Vec<Known<S::Item>>,
    pub call: Call,
    /// Whether an insert may find that the table must grow.
    pub grows: bool,
    /// Items whose locations have room.
    pub room: Vec<S::Item>,
    layout: PhantomData<L>,
}

impl<S: Subject<L>, L> Scene<S, L> {
    /// A table without items, and a call that does nothing.
    pub fn new(table: Table<S>) -> Self {
        let (table, call) = (Arc::new(table), Arc::new(|| true));
        Self { table, known: vec![], call, grows: false, room: vec![], layout: PhantomData }
    }

    /// Records an item that is in the table throughout.
    pub fn know(&mut self, item: S::Item, copies: usize) {
        self.known.push(Known { item, before: copies, after: copies });
    }

    /// Inserts an item that is in the table throughout.
    pub fn put(&mut self, item: S::Item) {
        assert!(S::insert(&self.table, item), "there is room");
        self.know(item, 1);
    }

    /// Sets the call, which inserts an item that is absent, or removes one that is present.
    pub fn concerning(
        mut self,
        item: S::Item,
        (before, after): (usize, usize),
        call: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        self.known.push(Known { item, before, after });
        self.with_call(call)
    }

    /// Sets a call that concerns no item.
    pub fn with_call(mut self, call: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.call = Arc::new(call);
        self
    }

    pub fn finds(&self, item: S::Item) -> bool {
        S::finds(&self.table, item)
    }

    /// The items that are present before the call and after it.
    pub fn present(&self) -> impl Iterator<Item = S::Item> {
        self.known.iter().filter(|known| known.before.min(known.after) > 0).map(|known| known.item)
    }

    /// Looks everything up, with either location first, in few steps and without a lock.
    pub fn look(&self) {
        for &Known { item, before, after } in &self.known {
            for item in [item, S::reversed(item)] {
                let found = unblocked(S::LOOKUP, || self.finds(item));
                if (before > 0) == (after > 0) {
                    assert_eq!(found, before > 0, "a lookup is wrong at {item:?}");
                }
            }
        }
    }

    /// Inserts where there is room, in few steps and without a lock.
    pub fn insert_where_there_is_room(&mut self) {
        for item in self.room.split_off(self.room.len().saturating_sub(4)) {
            // A thread that splits buckets, too, waits for no lock.
            let insert = || S::insert(&self.table, item);
            let inserted = if self.grows { insert() } else { unblocked(S::INSERT, insert) };
            assert!(inserted, "there is room at {item:?}");
            self.know(item, 1);
        }
    }

    /// Checks everything after the call, or if it was cut off. Then at most one item has one copy
    /// too many: one that was moved.
    pub fn look_after(&self, cut_off: bool) {
        let mut excess = 0;
        for &Known { item, before, after } in &self.known {
            let count = self.table.count::<L>(item);
            assert_eq!(self.finds(item), count > 0, "{item:?}");
            let least = if cut_off { before.min(after) } else { after };
            let most = if cut_off { before.max(after) } else { after };
            assert!(count >= least, "{item:?} is missing");
            if !S::HAS_GHOSTS {
                assert!(before == after || count <= most, "{count} of {item:?}");
                excess += count.saturating_sub(most);
            }
        }
        assert!(excess <= usize::from(cut_off), "{excess} copies too many");
    }
}

/// Stops a writer at each of its steps, and lets it panic at each of them. Returns how many locks
/// it acquires.
pub fn at_every_step<S: Subject<L>, L>(name: &str, scene: impl Fn() -> Scene<S, L>) -> usize {
    let undisturbed = scene();
    let all = steps(|| assert!((undisturbed.call)(), "{name}: the call did something else"));
    undisturbed.look_after(false);
    println!("{name}: {} steps", all.len());
    // Most steps of a long call belong to its search.
    for number in (0..all.len()).step_by(1 + all.len() / 100) {
        let is_right =
            |halted| assert!(halted || number + S::SPARED > all.len(), "{name}: {number}");
        let mut stop = scene();
        let call = Arc::clone(&stop.call);
        let look = |_: &[Step]| {
            stop.look();
            stop.insert_where_there_is_room();
            stop.look();
        };
        is_right(stopped(move || call(), number, look));
        stop.look_after(false);
        S::go_on(&mut stop, false);

        let mut panic = scene();
        let call = Arc::clone(&panic.call);
        let has_panicked = panicked(move || call(), number);
        is_right(has_panicked);
        if has_panicked {
            panic.look();
            panic.insert_where_there_is_room();
            panic.look_after(true);
            S::go_on(&mut panic, true);
        }
    }
    all.iter().filter(|step| step.is_lock()).count()
}
