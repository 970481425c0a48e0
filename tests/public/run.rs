//! Random programs of a few threads, and what they do.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};
#[cfg(not(shuttle))]
use std::{sync::atomic::AtomicBool, thread};

use rand::{RngExt, rngs::SmallRng};
#[cfg(shuttle)]
use shuttle::thread;

#[cfg(not(shuttle))]
use super::common::races::Gate;
use super::{
    calls::{Action, Done, KEYS, Place, counts},
    common::{
        kind::{Kind, Of},
        rng,
    },
    history::{programs, variable},
    settings::Setting,
    spec::{Event, Op, Tag, is_linearizable},
};

/// Threads, and steps of each.
pub const THREADS: usize = 3;
pub const STEPS: usize = 5;
/// Programs of each kind. A schedule of real threads is one of many.
const PROGRAMS: u64 = if cfg!(shuttle) { 110 } else { 400 };
/// Schedules of each program: under shuttle, or one of real threads.
const SCHEDULES: usize = if cfg!(shuttle) { 20 } else { 1 };

/// A generation that was the present one at some moment of a call, if it told one, and whether the
/// call may have begun one.
#[derive(Clone, Copy)]
struct Seen {
    start: usize,
    end: usize,
    generation: Option<u64>,
    begins: bool,
}

/// What a thread did: to each key, and of time.
struct History<T> {
    events: Vec<(u64, Event<T>)>,
    seen: Vec<Seen>,
    actions: BTreeSet<Action>,
}

/// A filter, and the steps of one thread after another.
struct Scene<'a, K: Kind> {
    setting: &'a Setting,
    seed: u64,
    filter: Of<K>,
    /// What is merged: each key once.
    other: Of<K>,
    filled: Vec<(u64, K::Tag)>,
    steps: Vec<Vec<(Action, u64, u16)>>,
    /// The generation in which the threads start, and the number of slots.
    first: u64,
    slots: usize,
    /// Orders starts and ends of calls.
    moments: AtomicUsize,
    /// Real threads start together.
    #[cfg(not(shuttle))]
    gate: (Gate, AtomicBool),
}

impl<'a, K: Kind<Tag: Tag>> Scene<'a, K> {
    fn new(setting: &'a Setting, number: u64) -> Self {
        let mut rng = rng(number);
        let seed = setting.seeds[rng.random_range(0..setting.seeds.len())];
        let (filter, other) = (setting.empty::<K>(seed), setting.empty::<K>(seed));
        (0..KEYS).for_each(|key| K::add(&other, key).expect("room"));
        let timing = setting.timing;
        // The others are of all ages. Some have expired when the threads start.
        let filling = KEYS..KEYS + setting.filling;
        let oldest = if K::IS_PERMANENT { 0 } else { u64::from(timing.window) + 1 };
        let mut filled = Vec::new();
        let add = |key| match K::insert(&filter, &key, K::usual_want(&filter, key)) {
            Ok(tag) => Some((key, tag)),
            Err(error) => {
                assert!(setting.room.is_scarce, "{error}");
                None
            }
        };
        for age in (0..=oldest).rev() {
            let of_this_age = filling.clone().filter(|key| key % (oldest + 1) == age);
            of_this_age.for_each(|key| _ = add(key));
            for key in 0..KEYS {
                if age < 2 && rng.random_bool(if oldest == 0 { 0.6 } else { 0.4 }) {
                    filled.extend(add(key));
                }
            }
            if age > 0 {
                K::pass(&filter, timing, 0);
            }
        }
        setting.count_time_from_here::<K>(&filter);
        let steps = Self::steps(setting, number, &mut rng);
        let (first, slots) = (K::now(&filter), filter.slots());
        Self {
            setting,
            seed,
            filter,
            other,
            filled,
            steps,
            first,
            slots,
            moments: AtomicUsize::new(0),
            #[cfg(not(shuttle))]
            gate: (Gate::new(THREADS), AtomicBool::new(false)),
        }
    }

    fn steps(setting: &Setting, number: u64, rng: &mut SmallRng) -> Vec<Vec<(Action, u64, u16)>> {
        // Nobody removes what a clear may have removed.
        let clears = number.is_multiple_of(4);
        let mut passes = 0;
        let mut step = |_| loop {
            let action = setting.actions[rng.random_range(0..setting.actions.len())];
            let is_possible = match action {
                Action::Remove | Action::RemoveBatch | Action::Replace => !clears,
                Action::Clear => clears,
                Action::Pass => passes < setting.max_passes(),
                _ => true,
            };
            if is_possible {
                passes += usize::from(action == Action::Pass);
                return (action, rng.random_range(0..KEYS), rng.random_range(0..3));
            }
        };
        (0..THREADS).map(|_| (0..STEPS).map(&mut step).collect()).collect()
    }

    /// Performs the steps of a thread.
    fn perform(&self, thread: usize) -> History<K::Tag> {
        let is_given = |of: &&(u64, K::Tag)| of.0 as usize % THREADS == thread;
        let mut owned: Vec<_> = self.filled.iter().filter(is_given).copied().collect();
        let mut history =
            History { events: Vec::new(), seen: Vec::new(), actions: BTreeSet::new() };
        #[cfg(not(shuttle))]
        self.gate.0.pass(&self.gate.1);
        for (nth, &step) in self.steps[thread].iter().enumerate() {
            let Self { setting, filter, other, .. } = self;
            let place = Place::<K> {
                filter,
                other,
                timing: setting.timing,
                all_keys: setting.all_keys::<K>(),
                growth: setting.growth_of_step::<K>(thread, nth),
            };
            let start = self.moments.fetch_add(1, SeqCst);
            let Done { ops, seen, is_all_then } = place.call(step, &mut owned);
            let end = self.moments.fetch_add(1, SeqCst);
            history.actions.insert(step.0);
            let now = seen.filter(|_| is_all_then).map_or((0, u64::MAX), |seen| (seen, seen));
            let event = |op| Event { thread, start, end, now, op };
            history.events.extend(ops.into_iter().map(|(key, op)| (key, event(op))));
            let begins = step.0 == Action::Pass;
            history.seen.push(Seen { start, end, generation: seen, begins });
        }
        history
    }

    /// The generations that can have been the present one between two moments.
    fn generations(&self, (start, end): (usize, usize), seen: &[Seen]) -> (u64, u64) {
        let before = seen.iter().filter(|seen| seen.end < start).filter_map(|seen| seen.generation);
        let after = seen.iter().filter(|seen| seen.start > end).filter_map(|seen| seen.generation);
        let begun = seen.iter().filter(|seen| seen.begins && seen.start < end).count() as u64;
        (before.fold(self.first, u64::max), after.fold(self.first + begun, u64::min))
    }

    /// Checks the history of each key, and the counts in the end.
    ///
    /// Returns what was done.
    fn check(&self, number: u64, histories: Vec<History<K::Tag>>) -> BTreeSet<Action> {
        let (mut events, mut seen, mut actions) = (Vec::new(), Vec::new(), BTreeSet::new());
        for history in histories {
            events.extend(history.events);
            seen.extend(history.seen);
            actions.extend(history.actions);
        }
        let is_done = |action| actions.contains(&action);
        if is_done(Action::Clear)
            && events.iter().any(|(_, event)| matches!(event.op, Op::Lend(..)))
        {
            // What a merge that is refused has added when others clear may remain.
            return BTreeSet::new();
        }
        let counts = counts::<K>(&self.filter, self.setting.all_keys::<K>());
        let (start, last) = (self.moments.load(SeqCst), K::now(&self.filter));
        seen.push(Seen { start, end: start + 1, generation: Some(last), begins: false });
        for key in 0..KEYS {
            let (start, end, op) = (start + 2, start + 3, Op::Count(counts[key as usize]));
            events.push((key, Event { thread: THREADS, start, end, now: (last, last), op }));
        }
        for (_, event) in &mut events {
            let (first, last) = self.generations((event.start, event.end), &seen);
            event.now = (event.now.0.max(first), event.now.1.min(last));
        }
        events.sort_unstable_by_key(|(_, event)| event.start);
        let of = |key| events.iter().filter(move |of| of.0 == key).map(|of| of.1);
        for key in 0..KEYS {
            let events: Vec<_> = of(key).collect();
            assert!(self.is_linearizable(key, &events), "{}", self.show(number, key, &events));
        }
        for merge in of(0).filter(|event| matches!(event.op, Op::Lend(_, true))) {
            let at_its_key = |event: Event<K::Tag>| match event.op {
                Op::TakeBack(_) if event.start == merge.start => None,
                Op::Lend(..) if event.start == merge.start => {
                    Some(Event { op: Op::Refused, ..event })
                }
                _ => Some(event),
            };
            let explains = |key| {
                self.is_linearizable(key, &of(key).filter_map(at_its_key).collect::<Vec<_>>())
            };
            let all: Vec<_> =
                (0..KEYS).map(|key| self.show(number, key, &of(key).collect::<Vec<_>>())).collect();
            assert!((0..KEYS).any(explains), "no key explains {merge:?}\n{}", all.concat());
        }
        // What did not make the filter grow does not count.
        actions.retain(|&action| action != Action::Grow || self.filter.slots() > self.slots);
        actions
    }

    /// Whether these steps on a key have an order.
    fn is_linearizable(&self, key: u64, events: &[Event<K::Tag>]) -> bool {
        let filled: Vec<_> = self.filled_with(key).collect();
        is_linearizable(&filled, events, self.setting.rules::<K>(&self.filter))
    }

    /// The copies of a key before the threads start.
    fn filled_with(&self, key: u64) -> impl Iterator<Item = K::Tag> {
        self.filled.iter().filter(move |of| of.0 == key).map(|of| of.1)
    }

    fn show(&self, number: u64, key: u64, events: &[Event<K::Tag>]) -> String {
        let filled: Vec<_> = self.filled_with(key).collect();
        format!(
            "key {key} is not linearizable: program {number} (GUIRA_PROGRAM={number} runs it \
             alone), seed {}, {:?}, filled with {filled:?} before the generation {}\n{events:#?}",
            self.seed,
            self.setting.rules::<K>(&self.filter),
            self.first,
        )
    }
}

/// Runs a program once. Returns what was done.
fn run<K: Kind<Tag: Tag>>(setting: &Setting, number: u64) -> BTreeSet<Action> {
    let scene = &Scene::<K>::new(setting, number);
    let histories: Vec<_> = thread::scope(|scope| {
        let perform = |thread| scope.spawn(move || scene.perform(thread));
        let threads: Vec<_> = (0..THREADS).map(perform).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    scene.check(number, histories)
}

/// Runs a program this many times, on real threads.
#[cfg(not(shuttle))]
fn explore(program: impl Fn() + Send + Sync + 'static, schedules: usize, _number: u64) {
    (0..schedules).for_each(|_| program());
}

/// Runs a program under this many schedules, which shuttle chooses at random.
#[cfg(shuttle)]
fn explore(program: impl Fn() + Send + Sync + 'static, schedules: usize, number: u64) {
    use shuttle::{Config, MaxSteps, Runner, scheduler::RandomScheduler};

    let mut config = Config::new();
    config.stack_size = 1 << 20;
    config.max_steps = MaxSteps::None;
    let scheduler = RandomScheduler::new_from_seed(number, schedules);
    Runner::new(scheduler, config).run(program);
}

/// Runs programs, and checks that each call was among them.
pub fn histories_are_linearizable<K: Kind<Tag: Tag>>() {
    let settings = Arc::new(Mutex::new(None::<Vec<Setting>>));
    let done = Arc::new(Mutex::new(BTreeSet::new()));
    let made = Arc::clone(&settings);
    let make = move || *made.lock().expect("no panic") = Some(Setting::all::<K, 0>());
    explore(make, 1, 0);
    let settings = Arc::new(settings.lock().expect("no panic").take().expect("made"));
    let actions = settings[0].actions.clone();
    for number in programs(PROGRAMS) {
        let (settings, done) = (Arc::clone(&settings), Arc::clone(&done));
        let program = move || {
            let setting = &settings[number as usize % settings.len()];
            done.lock().expect("no panic").append(&mut run::<K>(setting, number));
        };
        explore(program, SCHEDULES, number);
    }
    let done = done.lock().expect("no panic");
    let missing: Vec<_> = actions.iter().filter(|action| !done.contains(action)).collect();
    assert!(missing.is_empty() || variable("GUIRA_PROGRAM").is_some(), "never done: {missing:?}");
}
