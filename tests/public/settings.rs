//! How the filters of the histories are made: what begins their generations, and how many copies of
//! a key and how many keys have room.

use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering::SeqCst},
};

use guira::Filter;

use super::{
    calls::{Action, GROWTH, KEYS},
    common::{
        Subject,
        kind::{BuilderOf, By, Kind, Of, Timing, stamp_bits},
    },
    run::{STEPS, THREADS},
    spec::Rules,
};

/// Keys that are there from the start, and the capacity of filters of a fixed size. Under shuttle,
/// each access to a word takes a microsecond. Filters that grow have so many keys that they do so
/// soon.
const FILLING: u64 = if cfg!(shuttle) { 10 } else { 170 };
const CAPACITY: usize = if cfg!(shuttle) { 40 } else { 220 };
/// The capacities of filters whose room is scarce: of a fixed size, and growing. They have two or
/// three buckets under shuttle, and growing ones 256 at least elsewhere.
const SCARCE: [usize; 2] = if cfg!(shuttle) { [8, 4] } else { [12; 2] };
/// The number of keys for which there is room when all keys of the histories are there.
const FREE: u64 = if cfg!(shuttle) { 0 } else { 2 };
/// If room is scarce and items expire, the number of those that are there from the start of which
/// some have expired.
const EXPIRING: u64 = 6;

/// The number of keys up to which filters grow, if their room is not scarce.
const MOST: u64 = 10_000;

/// The clocks, in nanoseconds, of filters of a fixed size and of those that grow, of each user.
/// Only [`Kind::pass`] moves them.
static CLOCKS: [[AtomicU64; 2]; 2] = [const { [const { AtomicU64::new(0) }; 2] }; 2];

/// How many copies and keys a filter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The limit on copies, if there is one.
    pub limit: Option<usize>,
    /// Whether the filter has few buckets, almost all of whose slots are in use from the start, so
    /// that inserts must move items.
    pub is_scarce: bool,
}

/// How the filters of some programs are made.
pub struct Setting {
    pub timing: Timing,
    pub room: Room,
    /// The number of keys that are there from the start.
    pub filling: u64,
    /// Seeds by which no two keys are aliases.
    pub seeds: Vec<u64>,
    pub actions: Vec<Action>,
}

impl Setting {
    /// The settings of a kind: what limits its room, or how its items expire. Users run beside one
    /// another, and each has its own clocks.
    pub fn all<K: Kind, const USER: usize>() -> Vec<Self> {
        let ways = [(1, By::Advance), (2, By::Advance), (6, By::Writes)];
        let rooms =
            [(None, false), (Some(1), true), (Some(2), false), (Some(3), true), (None, true)];
        let clock = &CLOCKS[USER][usize::from(K::GROWS)];
        let now = || CLOCKS[USER][usize::from(K::GROWS)].load(SeqCst);
        let timings = ways.map(|(window, by)| Timing { window, by, clock, now });
        if K::IS_PERMANENT {
            let room = |(limit, is_scarce)| Room { limit, is_scarce };
            rooms.map(|of| Self::new::<K>(timings[0], room(of))).into()
        } else {
            let of = |timing, is_scarce| Self::new::<K>(timing, Room { limit: None, is_scarce });
            timings
                .map(|timing| of(timing, false))
                .into_iter()
                .chain([of(timings[0], true)])
                .collect()
        }
    }

    fn new<K: Kind>(timing: Timing, room: Room) -> Self {
        let mut setting = Self { timing, room, filling: FILLING, seeds: vec![], actions: vec![] };
        let filter = setting.empty::<K>(0);
        setting.actions = Action::of::<K>();
        if room.is_scarce {
            setting.actions.retain(|&action| action != Action::Grow);
            let refused = (0..MOST).find(|key| K::add(&filter, *key).is_err());
            setting.filling = refused.expect("it cannot grow").saturating_sub(KEYS + FREE);
        } else if K::GROWS {
            let slots = filter.slots();
            let grows = |key: &u64| {
                K::add(&filter, *key).expect("it grows");
                filter.slots() > slots
            };
            let fitting = (0..MOST).find(grows).expect("it grows") - KEYS;
            // Keys of one age in `window + 2` have expired when the threads start, and are swept.
            let window = u64::from(timing.window);
            let [all, left] = if K::IS_PERMANENT { [1; 2] } else { [window + 2, window + 1] };
            setting.filling = fitting / left * all;
        }
        let tells_all = |seed: &u64| setting.tells_all_keys::<K>(*seed);
        setting.seeds = (0..).filter(tells_all).take(4).collect();
        setting
    }

    /// A filter without keys.
    pub fn empty<K: Kind>(&self, seed: u64) -> Of<K> {
        let builder = self.builder::<K>(seed);
        let builder = self.room.limit.map_or(builder.clone(), |limit| K::limited(builder, limit));
        builder.build().expect("a small filter")
    }

    fn builder<K: Kind>(&self, seed: u64) -> BuilderOf<K> {
        let [first, most] = match (self.room.is_scarce, K::GROWS) {
            (true, grows) => [SCARCE[usize::from(grows)]; 2],
            (false, true) => [10, MOST as usize],
            (false, false) => [CAPACITY; 2],
        };
        let builder = K::Growth::up_to(most, Filter::builder().capacity(first).seed(seed));
        K::timed(builder, self.timing)
    }

    /// Whether no two keys are aliases, not even by what a small filter that is merged knows.
    fn tells_all_keys<K: Kind>(&self, seed: u64) -> bool {
        let limited = || K::limited(self.builder::<K>(seed), 1).build().expect("a small filter");
        let (filter, others, few) = (limited(), limited(), limited());
        let adds_all = |filter: &Of<K>, mut keys: Range<u64>| {
            keys.all(|key| K::add(filter, key).is_ok() && filter.count(&key) == 1)
        };
        let all = self.all_keys::<K>();
        let is_merged = || K::merge(&others, &few).is_none_or(|merged| merged.is_ok());
        adds_all(&filter, 0..all)
            && adds_all(&others, KEYS..all)
            && adds_all(&few, 0..KEYS)
            && (self.room.is_scarce || is_merged())
            && (0..all).all(|key| filter.count(&key) == 1)
    }

    /// The generations that may begin in a program. With one more, an insert that a thread was long
    /// about could be found again: its stamp comes twice.
    pub fn max_passes(&self) -> usize {
        (1 << stamp_bits(self.timing.window)) - self.timing.window as usize
    }

    /// The age of a key that is there from the start. One more than the window is too old.
    pub fn age<K: Kind>(&self, key: u64) -> u64 {
        let oldest = if K::IS_PERMANENT { 0 } else { u64::from(self.timing.window) + 1 };
        let stays = self.room.is_scarce && key >= KEYS + EXPIRING;
        if stays { oldest.saturating_sub(1) } else { key % (oldest + 1) }
    }

    /// The number of keys that a program may insert.
    pub fn all_keys<K: Kind>(&self) -> u64 {
        self.growth_of_step::<K>(THREADS, 0)
    }

    /// The first of the keys by which a filter grows in a step of a thread.
    pub fn growth_of_step<K: Kind>(&self, thread: usize, step: usize) -> u64 {
        let steps = if K::GROWS && !self.room.is_scarce { thread * STEPS + step } else { 0 };
        KEYS + self.filling + steps as u64 * GROWTH
    }

    /// The rules for this filter.
    pub fn rules<K: Kind>(&self, filter: &Of<K>) -> Rules {
        let limit = self.room.limit;
        let [of_table, _] = K::Growth::copy_limits(filter.layout());
        Rules {
            window: self.timing.window.into(),
            grows: K::GROWS,
            limit,
            too_many: limit.map_or(of_table, |limit| limit.min(of_table)),
        }
    }
}
