//! Threads that stop for ever, or panic, before a step of a public method.
//!
//! `RUSTFLAGS="--cfg guira_steps" cargo test --test public halts`. Without the cfg, this
//! is left out. A step is an access to a word, or the acquisition of a lock. `tests/progress.rs`
//! does the same beneath the public methods, in scenes that lead through moves and splits. Here
//! every method is halted, of filters of every kind, and others call public methods: lookups take
//! no lock and miss nothing, an insert where there is room succeeds, and so do writers that take
//! other locks than those that the thread may hold (see `writers`). After a panic, no lock is held
//! and nothing is lost, also when the filter is shrunk. (Nobody can go on beside a call that
//! shrinks it: that has exclusive access. And no code of users runs there that could panic.)

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::{Arc, atomic::Ordering::SeqCst},
};

use guira::{
    CuckooFilter, InsertError, Layout,
    raw::steps::{Step, with_hook},
};

use super::{
    calls::{Action, KEYS, Place},
    common::{
        Subject, Watchdog,
        halting::{before_step, bounded, panicked, steps, stopped, unblocked},
        kind::{By, Kind, Of, new},
        suite::on_all_kinds,
    },
    settings::{Room, Setting},
    spec::Tag,
    writers::{Writer, beside, held, stripes},
};

/// Keys that no call touches, if there is room for them. If items expire, the first ones have
/// expired before.
const OTHERS: u64 = 140;
const EXPIRED: u64 = 40;
/// Most steps at which a call is halted.
const HALTS: usize = 30;
/// More steps than a call takes that waits for nobody.
const MANY: usize = 10_000;
/// Most steps of a lookup that nobody disturbs: the generation, the size, the version, both words,
/// the version, the generation. If it goes by an old size, the same again, and both words once
/// more, and both children.
const LOOKUP: usize = 18;
/// The same with a time to live: when the oldest visible generation expires, and that of a match;
/// and the same again by a time, for which it reads when each generation expires.
const TIMED_LOOKUP: usize = 2 * LOOKUP + 2 + 7;

/// Calls that add items or copies, and calls that take or change them.
const ADDING: &[Action] = &[
    Action::Insert,
    Action::InsertUnique,
    Action::InsertBatch,
    Action::InsertUniqueBatch,
    Action::InsertUniqueMask,
    Action::Merge,
];
const REMOVING: &[Action] =
    &[Action::Remove, Action::RemoveBatch, Action::Replace, Action::Refresh];

on_all_kinds! {
    others_go_on_beside_each_method,
    calls_without_interference_take_few_steps_and_no_lock,
}

/// A filter, and a call that is about to be made on it.
pub struct Scene<K: Kind> {
    pub setting: Arc<Setting>,
    call: (Action, u64, u16),
    pub filter: Of<K>,
    /// What is merged.
    other: Arc<Of<K>>,
    /// The items of the keys that calls touch.
    owned: Vec<(u64, K::Tag)>,
    /// Items that no call touches.
    pub others: Vec<(u64, K::Tag)>,
    /// Keys that are found before the call, during it and after it.
    kept: Vec<u64>,
    /// The first key that is absent.
    absent: u64,
}

impl<K: Kind<Tag: Tag>> Scene<K> {
    fn new(
        setting: &Arc<Setting>,
        other: &Arc<Of<K>>,
        (action, choice): (Action, u16),
    ) -> Arc<Self> {
        // Both of two scenes begin at the same time.
        setting.timing.clock.store(0, SeqCst);
        let filter = setting.empty::<K>(setting.seeds[0]);
        let others =
            if setting.room.is_scarce || action == Action::Grow { setting.filling } else { OTHERS };
        let absent = KEYS + others;
        let mut keys = KEYS..absent;
        let insert =
            |key| K::insert(&filter, &key, K::usual_want(&filter, key)).ok().map(|tag| (key, tag));
        if !K::IS_PERMANENT {
            let expired = keys.by_ref().take(EXPIRED.min(others / 4) as usize);
            expired.for_each(|key| K::add(&filter, key).expect("room"));
            (0..=setting.timing.window).for_each(|_| K::pass(&filter, setting.timing));
        }
        let others: Vec<_> = keys.filter_map(insert).collect();
        let is_added = matches!(
            action,
            Action::InsertUnique
                | Action::InsertUniqueFor
                | Action::InsertUniqueBatch
                | Action::InsertUniqueMask
        );
        let owned: Vec<_> = (0..if is_added { 0 } else { KEYS }).filter_map(insert).collect();
        let touched = match action {
            Action::Remove | Action::RemoveBatch => &[],
            _ => &owned[..],
        };
        let kept = match action {
            Action::Clear => vec![],
            _ => {
                let left = others.iter().filter(|&&(key, _)| !Writer::Remove.takes(key));
                left.chain(touched).map(|&(key, _)| key).collect()
            }
        };
        let (setting, other) = (Arc::clone(setting), Arc::clone(other));
        let call = (action, 1, choice);
        Arc::new(Self { setting, call, filter, other, owned, others, kept, absent })
    }

    /// Makes the call. Returns that it is done.
    fn call(&self) -> bool {
        let place = Place::<K> {
            filter: &self.filter,
            other: &self.other,
            timing: self.setting.timing,
            all_keys: self.setting.all_keys::<K>(),
            growth: self.setting.growth_of_step::<K>(0, 0),
        };
        match self.action() {
            // What is done with the copy is no part of it.
            Action::Clone => drop(self.filter.try_clone().expect("memory")),
            #[cfg(feature = "std")]
            Action::Save => drop(self.filter.to_bytes()),
            _ => drop(place.call(self.call, &mut self.owned.clone())),
        }
        true
    }

    pub fn action(&self) -> Action {
        self.call.0
    }

    /// Keys that are absent.
    pub fn absent(&self) -> Range<u64> {
        self.absent..self.absent + 60
    }

    /// Whether items have a time to live.
    fn is_timed(&self) -> bool {
        !K::IS_PERMANENT && self.setting.timing.by == By::Writes
    }

    /// Looks everything up, without a lock.
    fn look(&self) {
        let most = if self.is_timed() { TIMED_LOOKUP } else { LOOKUP };
        let is_found = |key: &u64| unblocked(most, || self.filter.contains(key));
        assert!(self.kept.iter().all(is_found), "{:?}: an item is missing", self.call);
        let mut answers = vec![false; self.kept.len()];
        unblocked(MANY, || self.filter.contains_batch(&self.kept, &mut answers));
        assert!(answers.iter().all(|&found| found), "{:?}: a batch misses an item", self.call);
    }

    /// A new key whose insert takes no lock, unless the room is scarce. A clone shows which one.
    fn key_with_room(&self) -> Option<u64> {
        let copy = self.filter.try_clone().expect("memory");
        let has_room = |key: &u64| {
            let mut is_added = false;
            let taken = steps(|| is_added = K::add(&copy, *key).is_ok());
            is_added && !taken.into_iter().any(Step::is_lock)
        };
        let key = self.absent().find(has_room);
        assert!(key.is_some() || self.setting.room.is_scarce, "there is room");
        key
    }

    /// Inserts a key for which there is room. Takes no lock. With a time to live, it may do a part
    /// of the sweep if nobody holds the locks for that: if it waited for the thread that has
    /// stopped, it would never return.
    fn insert(&self, key: u64) {
        let insert = || K::add(&self.filter, key);
        let inserted =
            if self.is_timed() { bounded(MANY, insert) } else { unblocked(MANY, insert) };
        inserted.expect("there is room");
    }

    /// Looks everything up, shrinks the filter if it grows, and acquires every lock.
    fn go_on(scene: Arc<Self>) {
        let mut scene = Arc::into_inner(scene).expect("the other thread has ended");
        scene.filter.try_clone().expect("memory");
        scene.look();
        K::Growth::shrink(&mut scene.filter);
        scene.look();
        let Self { setting, call, filter, .. } = &scene;
        K::pass(filter, setting.timing);
        K::sweep(filter, u64::MAX);
        let absent = scene.absent;
        assert!(K::add_unique(filter, absent).is_ok() || setting.room.is_scarce, "{call:?}");
        filter.clear();
        assert!((0..absent).all(|key| !filter.contains(&key)), "{call:?}");
    }
}

/// Halts each method at some of its steps, from the first to the last.
fn others_go_on_beside_each_method<K: Kind<Tag: Tag>>() {
    let _watchdog = Watchdog::new("others_go_on_beside_each_method");
    let mut writers = BTreeSet::new();
    for setting in Setting::all::<K, 1>() {
        let mut actions = setting.actions.clone();
        actions.retain(|action| match setting.room {
            Room { limit: None, is_scarce: false } => true,
            // What moves items, and what others may do to those that are moved.
            // (Where items expire, an insert into a filter that cannot grow tries to sweep.)
            Room { limit: None, .. } => {
                let is_apart = K::IS_PERMANENT || !K::GROWS;
                is_apart && (ADDING.contains(action) || REMOVING.contains(action))
            }
            // What meets the limit.
            Room { limit, .. } => limit == Some(1) && ADDING.contains(action),
        });
        actions.dedup();
        let other = setting.empty::<K>(setting.seeds[0]);
        (0..KEYS).for_each(|key| K::add(&other, key).expect("room"));
        let (setting, other) = (Arc::new(setting), Arc::new(other));
        for action in actions {
            let has_ways = matches!(action, Action::Pass | Action::Get | Action::SetMaxBytes);
            for choice in if has_ways { 0..3 } else { 1..2 } {
                let scene = || Scene::<K>::new(&setting, &other, (action, choice));
                halt_at_every_step(scene, &mut writers);
            }
        }
    }
    assert!(Writer::of::<K>().all(|writer| writers.contains(&writer)), "only {writers:?} went on");
}

/// Halts a call at some of its steps. Adds the writers that went on while it may have held a lock.
fn halt_at_every_step<K: Kind<Tag: Tag>>(
    scene: impl Fn() -> Arc<Scene<K>>,
    writers: &mut BTreeSet<Writer>,
) {
    let undisturbed = scene();
    let taken = steps(|| assert!(undisturbed.call())).len();
    Scene::go_on(undisturbed);
    let call = |scene: &Arc<Scene<K>>| {
        let scene = Arc::clone(scene);
        move || scene.call()
    };
    for number in (0..taken).step_by(1 + taken / HALTS) {
        let [panic, stop] = [scene(), scene()];
        let has_panicked = panicked(call(&panic), number);
        // Another thread may grow a filter at another item.
        assert!(has_panicked || K::GROWS, "{:?} takes no step {number}", panic.call);

        // One that grows because it is loaded may need memory, and wait for it.
        let key = if stop.action() == Action::Grow { None } else { panic.key_with_room() };
        let stripes = stripes::<K>(&stop.filter);
        let has_stopped = stopped(call(&stop), number, |taken| {
            stop.look();
            if let Some(key) = key {
                stop.insert(key);
                K::add(&panic.filter, key).expect("there is room");
            }
            // A longer window changes nothing about locks.
            if stop.setting.timing.window == 1 {
                let held = held(stop.action(), taken, &stripes);
                let mut beside = beside(&stop, &panic, &held, &stripes);
                // Beside a thread that holds no lock, everybody goes on.
                if !held.is_empty() {
                    writers.append(&mut beside);
                }
            }
            stop.look();
        });
        assert!(has_stopped || K::GROWS, "{:?} takes no step {number}", stop.call);
        Scene::go_on(stop);
        Scene::go_on(panic);
    }
}

fn calls_without_interference_take_few_steps_and_no_lock<K: Kind>() {
    let filter = new::<K>().capacity(1_000).seed(1).build().expect("a small filter");
    // The version, the size, both words, the version; and the generation before and after.
    let lookup = 4 + usize::from(K::GROWS) + 2 * usize::from(!K::IS_PERMANENT);
    assert_eq!(steps(|| assert!(!filter.contains(&1))), vec![Step::Load; lookup]);
    // The generation, the size, both words, the change of one; and the check whether it must grow.
    let inserted = steps(|| K::add(&filter, 1).expect("room"));
    let insert = 3 + usize::from(K::GROWS) + usize::from(!K::IS_PERMANENT);
    let most = insert + if K::GROWS { 6 } else { 0 };
    assert!((insert..=most).contains(&inserted.len()), "{inserted:?}");
    assert!(!inserted.into_iter().any(Step::is_lock), "this takes no lock");
    // A hit needs no second look at the version.
    assert!(steps(|| assert!(filter.contains(&1))).len() <= lookup);
}

/// The last attempt of an insert whose search found no empty slot. Without it, `Full` would be a
/// right answer too, so no model can demand it.
#[test]
fn an_insert_takes_a_slot_that_becomes_empty_during_its_search() {
    // One bucket, so that nothing can move.
    let full = || {
        let filter = CuckooFilter::builder().capacity(4).layout(Layout::Plain4x16).seed(1);
        let filter = Arc::new(filter.build().expect("a small filter"));
        filter.insert_batch(0..4).expect("room");
        filter
    };
    let filter = full();
    let all = steps(|| assert_eq!(filter.insert(&4), Err(InsertError::Full)));
    assert!(all.iter().all(|&step| step == Step::Load), "nothing moves: {all:?}");
    // Both words are read for the first attempt, for the limit on copies, by the searches, for the
    // last attempt, and for the limit again.
    let last_attempt = all.len() - 4;
    assert!(last_attempt >= 4, "there is a search: {all:?}");
    for number in 0..=last_attempt {
        let filter = full();
        let other = Arc::clone(&filter);
        let remove = move |_: &[Step]| assert!(other.remove(&0));
        let outcome = with_hook(before_step(number, remove), || filter.insert(&4));
        assert_eq!(outcome, Ok(()), "the slot was empty before step {number}");
        assert!(filter.contains(&4));
    }
}
