//! Threads that stop for ever, or panic, before a step of a public method.
//!
//! `RUSTFLAGS="--cfg guira_steps" cargo test --release --test public halts`. Without the cfg, this
//! is left out. A step is an access to a word, or the acquisition of a lock. `tests/progress.rs`
//! does the same beneath the public methods, in scenes that lead through moves and splits. Here
//! every method is halted, of filters of every kind, and others call public methods: lookups take
//! no lock and miss nothing, and an insert where there is room succeeds. After a panic, no lock is
//! held and nothing is lost.

use std::sync::Arc;

use guira::raw::steps::Step;

use super::{
    calls::{Action, GROWTH, KEYS, Place},
    common::{
        Watchdog,
        kind::{By, Kind, Of},
        suite::on_all_kinds,
    },
    halting::{panicked, steps, stopped, unblocked},
    run::{Setting, all_keys},
    spec::Tag,
};

/// Keys that no call touches. If items expire, the first ones have expired before.
const OTHERS: std::ops::Range<u64> = KEYS..KEYS + 140;
const EXPIRED: u64 = 40;
/// Most steps at which a call is halted.
const HALTS: usize = 30;
/// More steps than a call takes that waits for nobody.
const MANY: usize = 10_000;

on_all_kinds! { others_go_on_beside_each_method }

/// A filter, and a call that is about to be made on it.
struct Scene<K: Kind> {
    setting: Arc<Setting>,
    call: (Action, u64, u16),
    filter: Of<K>,
    other: Of<K>,
    /// The items of the keys that calls touch.
    owned: Vec<(u64, K::Tag)>,
    /// Keys that are found before the call, during it and after it.
    kept: Vec<u64>,
}

impl<K: Kind<Tag: Tag>> Scene<K> {
    fn new(setting: &Arc<Setting>, (action, choice): (Action, u16)) -> Arc<Self> {
        let [filter, other] = [(); 2].map(|()| setting.empty::<K>(setting.seeds[0]));
        let mut kept = OTHERS.collect::<Vec<_>>();
        if !K::IS_PERMANENT {
            let expired = kept.drain(..EXPIRED as usize);
            expired.for_each(|key| K::add(&filter, key).expect("room"));
            (0..=setting.timing.window).for_each(|_| K::pass(&filter, setting.timing, 0));
            // Time is counted from here, and nothing is due.
            K::pass(&filter, setting.timing, 2);
        }
        kept.iter().for_each(|&key| K::add(&filter, key).expect("room"));
        (0..KEYS).for_each(|key| K::add(&other, key).expect("room"));
        let is_added = matches!(
            action,
            Action::InsertUnique
                | Action::InsertUniqueFor
                | Action::InsertUniqueBatch
                | Action::InsertUniqueMask
        );
        let mut owned = Vec::new();
        for key in if is_added { 0..0 } else { 0..KEYS } {
            let want = K::usual_want(&filter, key);
            owned.push((key, K::insert(&filter, &key, want).expect("room")));
        }
        match action {
            Action::Clear => kept.clear(),
            Action::Remove | Action::RemoveBatch => {}
            _ => kept.extend(owned.iter().map(|&(key, _)| key)),
        }
        let setting = Arc::clone(setting);
        Arc::new(Self { setting, call: (action, 1, choice), filter, other, owned, kept })
    }

    /// Makes the call. Returns whether it neither evicted nor refused anything.
    fn call(&self) -> bool {
        let place = Place::<K> {
            filter: &self.filter,
            other: &self.other,
            timing: self.setting.timing,
            all_keys: all_keys::<K>(),
            growth: all_keys::<K>() - GROWTH,
        };
        place.call(self.call, &mut self.owned.clone()).is_some()
    }

    /// Looks everything up, without a lock.
    fn look(&self) {
        let is_found = |key: &u64| unblocked(MANY, || self.filter.contains(key));
        assert!(self.kept.iter().all(is_found), "{:?}: an item is missing", self.call);
        let mut answers = vec![false; self.kept.len()];
        unblocked(MANY, || self.filter.contains_batch(&self.kept, &mut answers));
        assert!(answers.iter().all(|&found| found), "{:?}: a batch misses an item", self.call);
    }

    /// A new key whose insert takes no lock. A clone shows which one.
    fn key_with_room(&self) -> u64 {
        let copy = self.filter.try_clone().expect("memory");
        let has_room = |key: &u64| {
            let taken = steps(|| K::add(&copy, *key).expect("room"));
            !taken.contains(&Step::Lock)
        };
        (OTHERS.end..all_keys::<K>() - GROWTH).find(has_room).expect("there is room")
    }

    /// Looks everything up, and acquires every lock.
    fn go_on(&self) {
        self.filter.try_clone().expect("memory");
        self.look();
        K::pass(&self.filter, self.setting.timing, 0);
        K::pass(&self.filter, self.setting.timing, 2);
        K::sweep(&self.filter, u64::MAX);
        K::add_unique(&self.filter, OTHERS.end).expect("room");
        self.filter.clear();
        assert!((0..OTHERS.end).all(|key| !self.filter.contains(&key)), "{:?}", self.call);
    }
}

/// Halts each method at some of its steps, from the first to the last.
fn others_go_on_beside_each_method<K: Kind<Tag: Tag>>() {
    let _watchdog = Watchdog::new("others_go_on_beside_each_method");
    for setting in Setting::all::<K, 1>() {
        let setting = Arc::new(setting);
        let mut actions = setting.actions.clone();
        actions.dedup();
        for action in actions {
            let has_ways = matches!(action, Action::Pass | Action::Get);
            for choice in if has_ways { 0..3 } else { 1..2 } {
                halt_at_every_step(|| Scene::<K>::new(&setting, (action, choice)));
            }
        }
    }
}

fn halt_at_every_step<K: Kind<Tag: Tag>>(scene: impl Fn() -> Arc<Scene<K>>) {
    let undisturbed = scene();
    let taken = steps(|| assert!(undisturbed.call(), "{:?}", undisturbed.call)).len();
    undisturbed.go_on();
    let call = |scene: &Arc<Scene<K>>| {
        let scene = Arc::clone(scene);
        move || scene.call()
    };
    for number in (0..taken).step_by(1 + taken / HALTS) {
        let stop = scene();
        // A write to a filter that keeps time waits for whoever begins a generation that is due.
        let by_others = matches!(stop.setting.timing.by, By::Advance | By::Clock);
        let goes_on = by_others || stop.call.0 != Action::Pass;
        let key = stop.key_with_room();
        let is_halted = stopped(call(&stop), number, || {
            stop.look();
            if goes_on {
                unblocked(MANY, || K::add(&stop.filter, key)).expect("there is room");
            }
            stop.look();
        });
        // Another thread may grow a filter at another item.
        assert!(is_halted || K::GROWS, "{:?} takes no step {number}", stop.call);
        stop.go_on();

        let panic = scene();
        let is_halted = panicked(call(&panic), number);
        assert!(is_halted || K::GROWS, "{:?} takes no step {number}", panic.call);
        panic.go_on();
    }
}
