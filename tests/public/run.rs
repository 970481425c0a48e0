//! Random programs of a few threads, and what they do.

use std::{
    collections::BTreeSet,
    env,
    ops::Range,
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
    settings::Setting,
    spec::{Event, Op, Tag, is_linearizable},
};

/// Threads, and steps of each.
pub const THREADS: usize = 3;
pub const STEPS: usize = 5;
/// Programs of each kind. A schedule of real threads is one of many.
const PROGRAMS: u64 = if cfg!(shuttle) { 600 } else { 400 };
/// Schedules of each kind under shuttle, of a program with many calls and of one with few.
#[cfg(shuttle)]
const SCHEDULES: [usize; 2] = [5, 20];

/// Whether one thread looks up a single key, which nobody changes, while another one changes
/// others. So lookups meet moves more often than among many calls.
fn is_aside(number: u64) -> bool {
    number / 8 % 2 == 1
}

/// The key that is looked up in these programs. (The first one is refreshed where items expire.)
const LOOKED_UP: u64 = 1;

/// A generation that was the present one at some moment of a call, if it told one, and whether the
/// call may have begun one.
#[derive(Clone, Copy)]
struct Seen {
    start: usize,
    end: usize,
    generation: Option<u64>,
    begins: bool,
}

/// What the programs did.
#[derive(Default)]
struct Sights {
    actions: BTreeSet<Action>,
    /// Moves, and lookups that were retried.
    disturbances: [u64; 2],
}

impl Sights {
    fn append(&mut self, mut other: Self) {
        self.actions.append(&mut other.actions);
        (0..2).for_each(|of| self.disturbances[of] += other.disturbances[of]);
    }
}

/// Moves in a filter, and lookups that were retried.
fn disturbances<K: Kind>(filter: &Of<K>) -> [u64; 2] {
    #[cfg(feature = "stats")]
    return [filter.stats().relocations, filter.stats().lookup_retries];
    #[cfg(not(feature = "stats"))]
    return [0; 2];
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
    disturbances: [u64; 2],
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
            let of_this_age = filling.clone().filter(|&key| setting.age::<K>(key) == age);
            of_this_age.for_each(|key| _ = add(key));
            for key in 0..KEYS {
                let is_looked_up = age == 0 && key == LOOKED_UP && is_aside(number);
                let share = if oldest == 0 { 0.6 } else { 0.4 };
                let is_there = rng.random_bool(if setting.room.is_scarce { 0.9 } else { share });
                if age < 2 && is_there || is_looked_up {
                    filled.extend(add(key));
                }
            }
            if age > 0 {
                K::pass(&filter, timing);
            }
        }
        let steps = Self::steps(setting, number, &mut rng);
        #[cfg(not(shuttle))]
        let threads = steps.len();
        Self {
            setting,
            seed,
            first: K::now(&filter),
            slots: filter.slots(),
            disturbances: disturbances::<K>(&filter),
            filter,
            other,
            filled,
            steps,
            moments: AtomicUsize::new(0),
            #[cfg(not(shuttle))]
            gate: (Gate::new(threads), AtomicBool::new(false)),
        }
    }

    fn steps(setting: &Setting, number: u64, rng: &mut SmallRng) -> Vec<Vec<(Action, u64, u16)>> {
        // Nobody removes what a clear may have removed.
        let clears = number.is_multiple_of(4);
        let (mut passes, aside) = (0, is_aside(number));
        let mut step = |thread: usize| loop {
            let action = setting.actions[rng.random_range(0..setting.actions.len())];
            let is_possible = match action {
                _ if aside && thread == 0 => action.is_lookup(),
                // Where generations pass, there is room.
                Action::Pass if aside && setting.room.is_scarce => false,
                Action::Pass => passes < setting.max_passes(),
                _ if aside => action.is_change(),
                Action::Remove | Action::RemoveBatch | Action::Replace => !clears,
                Action::Clear => clears,
                _ => true,
            };
            if is_possible {
                passes += usize::from(action == Action::Pass);
                let key = match thread {
                    _ if !aside => rng.random_range(0..KEYS),
                    0 => LOOKED_UP,
                    _ => rng.random_range(LOOKED_UP + 1..KEYS),
                };
                return (action, key, rng.random_range(0..3));
            }
        };
        let threads = if aside { 2 } else { THREADS };
        let mut steps = |thread| (0..STEPS).map(|_| step(thread)).collect();
        (0..threads).map(&mut steps).collect()
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
    fn check(&self, number: u64, histories: Vec<History<K::Tag>>) -> Sights {
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
            return Sights::default();
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
        let now = disturbances::<K>(&self.filter);
        let disturbances = [0, 1].map(|of| now[of] - self.disturbances[of]);
        Sights { actions, disturbances }
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
        let line = |Event { thread, start, end, now, op }: &Event<K::Tag>| {
            format!("{start:>4} ..{end:>4}  thread {thread}  {op:?} in {now:?}\n")
        };
        format!(
            "key {key} is not linearizable: program {number} (GUIRA_PROGRAM={number} runs it \
             alone), seed {}, {:?}, filled with {filled:?} before the generation {}\n{}",
            self.seed,
            self.setting.rules::<K>(&self.filter),
            self.first,
            events.iter().map(line).collect::<String>(),
        )
    }
}

/// Runs a program once. Returns what was done in a history that did not end early.
fn run<K: Kind<Tag: Tag>>(setting: &Setting, number: u64) -> Sights {
    let scene = &Scene::<K>::new(setting, number);
    let histories: Vec<_> = thread::scope(|scope| {
        let perform = |thread| move || delayed(number, thread, || scene.perform(thread));
        let threads = 0..scene.steps.len();
        let threads: Vec<_> = threads.map(|thread| scope.spawn(perform(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    scene.check(number, histories)
}

/// Performs the steps of a thread.
#[cfg(not(guira_steps))]
fn delayed<R>(_number: u64, _thread: usize, work: impl FnOnce() -> R) -> R {
    work()
}

/// Performs the steps of a thread, with random delays between those of a call.
#[cfg(guira_steps)]
fn delayed<R>(number: u64, thread: usize, work: impl FnOnce() -> R) -> R {
    let mut rng = rng(number * THREADS as u64 + thread as u64);
    let delay = move |_| match rng.random_range(0..64) {
        0 => thread::yield_now(),
        1..8 => (0..rng.random_range(0..500)).for_each(|_| std::hint::spin_loop()),
        _ => {}
    };
    guira::raw::steps::with_hook(delay, work)
}

/// Runs a program once, on real threads.
#[cfg(not(shuttle))]
fn explore(program: impl Fn() + Send + Sync + 'static, _number: u64) {
    program();
}

/// Runs a program under schedules that shuttle chooses: some at random, others by PCT.
#[cfg(shuttle)]
fn explore(program: impl Fn() + Send + Sync + 'static, number: u64) {
    use shuttle::scheduler::{PctScheduler, RandomScheduler};

    let program = Arc::new(program);
    let (at_random, by_pct) = (Arc::clone(&program), program);
    let schedules = SCHEDULES[usize::from(is_aside(number))];
    scheduled(RandomScheduler::new_from_seed(number, schedules), move || at_random());
    scheduled(PctScheduler::new_from_seed(number, 3, schedules), move || by_pct());
}

#[cfg(shuttle)]
fn scheduled(
    scheduler: impl shuttle::scheduler::Scheduler + 'static,
    program: impl Fn() + Send + Sync + 'static,
) {
    let mut config = shuttle::Config::new();
    config.stack_size = 1 << 20;
    config.max_steps = shuttle::MaxSteps::None;
    shuttle::Runner::new(scheduler, config).run(program);
}

/// The numbers of the programs to run.
fn programs() -> Range<u64> {
    let variable = |name| env::var(name).ok().map(|value| value.parse().expect("a number"));
    match variable("GUIRA_PROGRAM") {
        Some(only) => only..only + 1,
        None => 0..variable("GUIRA_PROGRAMS").unwrap_or(PROGRAMS),
    }
}

/// Runs programs, and checks that each call was among them.
pub fn histories_are_linearizable<K: Kind<Tag: Tag>>() {
    let settings = Arc::new(Mutex::new(None::<Vec<Setting>>));
    let done = Arc::new(Mutex::new(Sights::default()));
    let made = Arc::clone(&settings);
    let make = move || *made.lock().expect("no panic") = Some(Setting::all::<K, 0>());
    #[cfg(not(shuttle))]
    make();
    #[cfg(shuttle)]
    scheduled(shuttle::scheduler::RandomScheduler::new(1), make);
    let settings = Arc::new(settings.lock().expect("no panic").take().expect("made"));
    let actions = settings[0].actions.clone();
    for number in programs() {
        let (settings, done) = (Arc::clone(&settings), Arc::clone(&done));
        let program = move || {
            let scarce = settings.iter().filter(|setting| setting.room.is_scarce);
            let setting = match number % 3 {
                0 => scarce.cycle().nth(number as usize / 3 % 8).expect("there are some"),
                _ => &settings[number as usize % settings.len()],
            };
            done.lock().expect("no panic").append(run::<K>(setting, number));
        };
        explore(program, number);
    }
    let Sights { actions: done, disturbances } = &*done.lock().expect("no panic");
    if programs().end - programs().start < PROGRAMS {
        return;
    }
    let missing: Vec<_> = actions.iter().filter(|action| !done.contains(action)).collect();
    assert!(missing.is_empty(), "never done: {missing:?}");
    // Lookups of real threads are hardly ever disturbed.
    let floors = if cfg!(shuttle) { [300, 50] } else { [1, 0] };
    let is_enough = disturbances.iter().zip(floors).all(|(times, floor)| *times >= floor);
    assert!(is_enough || !cfg!(feature = "stats"), "only {disturbances:?} moves and retries");
}
