//! Random programs of a few threads on tiny tables, and a check that every history is linearizable:
//! that its calls can be put in one order that a multiset explains (see `history`).
//!
//! - `cargo test --test linearizability`: on real threads.
//! - `RUSTFLAGS="--cfg guira_steps" cargo test --test linearizability`: on real threads that dawdle
//!   now and then between two steps of a call.
//! - `RUSTFLAGS="--cfg shuttle" cargo test --release --test linearizability`: under shuttle, which
//!   decides at every atomic operation who goes on, at random and by PCT (Burckhardt et al., ASPLOS
//!   2010). Shuttle is sequentially consistent: this tests the steps, not the orderings.
//!
//! `GUIRA_PROGRAMS=n` runs n programs, for longer or shorter runs; `GUIRA_PROGRAM=k` only number k.
//!
//! The tables have 2 to 4 buckets with 5 classes of items in them, so aliases, duplicates, moves
//! and full buckets are everywhere; the test counts them, and fails where there were too few. Threads
//! remove only what they inserted, or what was handed to them before they started.

mod common;
mod history;

use std::{
    env,
    ops::AddAssign,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};

use common::rng;
use guira::{
    InsertError,
    raw::{Addressing, BucketLayout, Fingerprint, Pair, Plain, SemiSorted, Table},
};
use history::{Action, Answer, CLASSES, Class, Counts, Event, is_linearizable, show};
use rand::{RngExt, rngs::SmallRng};

/// One step of a thread's program.
#[derive(Clone, Copy, Debug)]
struct Step {
    action: Action,
    class: usize,
    /// By way of which of its two buckets.
    way: usize,
}

/// Makes one call.
fn operate<L: BucketLayout>(table: &Table, pair: Pair, action: Action) -> Answer {
    match action {
        Action::Contains => Answer::Contains(core.contains::<L>(pair)),
        Action::Count => Answer::Count(core.count::<L>(pair)),
        Action::Insert => Answer::Insert(core.insert::<L>(pair)),
        Action::InsertUnique => Answer::InsertUnique(core.insert_unique::<L>(pair)),
        Action::Remove => Answer::Remove(core.remove::<L>(pair)),
    }
}

/// A shape of table, and the classes that live in it.
#[derive(Clone, Debug)]
struct World {
    buckets: u32,
    lanes: u8,
    operate: fn(&Table, Pair, Action) -> Answer,
    /// Each class by way of either bucket.
    pairs: [[Pair; 2]; CLASSES],
    classes: [Class; CLASSES],
}

impl World {
    /// A world of few lanes, mostly.
    fn random(rng: &mut SmallRng) -> Self {
        match rng.random_range(0..5) {
            0 => Self::of::<Plain<4, 16>>(rng, 2),
            1 => Self::of::<Plain<2, 8>>(rng, 3),
            4 => Self::of::<SemiSorted<2, 8>>(rng, 2),
            buckets => Self::of::<Plain<2, 4>>(rng, 2 * buckets - 2),
        }
    }

    /// A world with this layout and this many buckets, its classes chosen at random.
    fn of<L: BucketLayout>(rng: &mut SmallRng, buckets: u32) -> Self {
        let geometry = Addressing::new(buckets.into());
        let mut pairs: Vec<[Pair; 2]> = Vec::new();
        while pairs.len() < CLASSES {
            let value = rng.random_range(L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT);
            let fingerprint = Fingerprint::new(value);
            let bucket = rng.random_range(0..buckets);
            let other = geometry.alt_bucket(fingerprint, bucket);
            let way = |buckets| Pair { fingerprint, buckets };
            // In a table of two, those with one bucket only drive the others to and fro.
            if bucket == other && buckets > 2 && rng.random_bool(0.8) {
                continue;
            }
            if pairs.iter().flatten().all(|&known| known != way([bucket, other])) {
                pairs.push([way([bucket, other]), way([other, bucket])]);
            }
        }
        let lanes = L::SLOTS as u8;
        let class = |index: usize| {
            let [here, there] = pairs[index][0].buckets;
            let beside = |bucket| std::array::from_fn(|c| pairs[c][0].buckets.contains(&bucket));
            let most = if here == there { lanes } else { 2 * lanes };
            Class { index, most, lanes, beside: [beside(here), beside(there)] }
        };
        let classes = std::array::from_fn(class);
        let pairs = std::array::from_fn(|index| pairs[index]);
        Self { buckets, lanes, operate: operate::<L>, pairs, classes }
    }

    /// How many copies of each class stand in each of its two buckets. For quiet moments.
    fn placement(&self, table: &Table) -> [[usize; 2]; CLASSES] {
        self.pairs.map(|[pair, _]| {
            pair.buckets.map(|bucket| {
                let alone = Pair { buckets: [bucket; 2], ..pair };
                match (self.operate)(core, alone, Action::Count) {
                    Answer::Count(copies) => copies,
                    _ => unreachable!("a count counts"),
                }
            })
        })
    }
}

/// A world, what is in it at the start and to whom it belongs, and what threads do with it.
#[derive(Clone, Debug)]
struct Program {
    number: u64,
    world: World,
    /// What to try to insert at first.
    filling: Vec<usize>,
    threads: Vec<Vec<Step>>,
}

/// Kinds of threads, by the weights of their actions in the order of [`Action`]'s variants.
const KINDS: [[u32; 5]; 4] =
    [[80, 20, 0, 0, 0], [10, 5, 35, 15, 35], [0, 0, 50, 0, 50], [35, 15, 20, 15, 15]];

impl Program {
    /// The program with this number, for so many threads: always the same.
    fn numbered(number: u64, threads: usize) -> Self {
        let mut rng = rng(number);
        let world = World::random(&mut rng);
        // Most of what happens, happens to two classes.
        let first = rng.random_range(0..CLASSES);
        let hot = [first, (first + rng.random_range(1..CLASSES)) % CLASSES];
        let focus = Focus { hot, aside: rng.random_bool(0.5) };
        let filling = filling(&mut rng, &world, &focus);
        let threads = (0..threads).map(|index| thread(&mut rng, &focus, index)).collect();
        Self { number, world, filling, threads }
    }
}

/// Which classes a program is about.
#[derive(Clone, Copy, Debug)]
struct Focus {
    hot: [usize; 2],
    /// Whether those who work leave the first hot class alone, but for moving it out of their way,
    /// and those who look on look at it.
    aside: bool,
}

impl Focus {
    /// A class, for one who looks on or for one who works.
    fn class(&self, rng: &mut SmallRng, looks_on: bool) -> usize {
        let any = rng.random_range(0..CLASSES);
        match (self.aside, looks_on) {
            (true, true) if rng.random_bool(0.8) => self.hot[0],
            (true, false) if any == self.hot[0] => self.hot[1],
            (false, _) if rng.random_bool(0.7) => self.hot[any % 2],
            _ => any,
        }
    }
}

/// What to fill a table with: mostly so that one to three lanes stay free.
fn filling(rng: &mut SmallRng, world: &World, focus: &Focus) -> Vec<usize> {
    let lanes = world.buckets * u32::from(world.lanes);
    let copies = match rng.random_range(0..8) {
        0 => lanes / 4,
        1 => lanes / 2,
        2 => lanes,
        _ => lanes - rng.random_range(1..=3),
    };
    // Now and then one class fills its buckets.
    let monotonous = rng.random_bool(0.1);
    let class = |_| if monotonous { focus.hot[1] } else { focus.class(rng, false) };
    let mut filling: Vec<usize> = (0..copies).map(class).collect();
    if focus.aside {
        filling[0] = focus.hot[0];
    }
    filling
}

/// What a thread does: the first looks on, the second works, a third does either.
fn thread(rng: &mut SmallRng, focus: &Focus, index: usize) -> Vec<Step> {
    let looks_on = index == 0 && rng.random_bool(0.75);
    let kind = if looks_on { 0 } else { rng.random_range(1..KINDS.len()) };
    let length = rng.random_range(2..=5);
    // Some care for one class only.
    let only = rng.random_bool(0.25).then(|| focus.class(rng, looks_on));
    let step = |_| Step {
        action: weighted(rng, KINDS[kind]),
        class: only.unwrap_or_else(|| focus.class(rng, looks_on)),
        way: rng.random_range(0..2),
    };
    (0..length).map(step).collect()
}

/// An action, by weights in the order of the variants.
fn weighted(rng: &mut SmallRng, weights: [u32; 5]) -> Action {
    const ACTIONS: [Action; 5] =
        [Action::Contains, Action::Count, Action::Insert, Action::InsertUnique, Action::Remove];
    let mut point = rng.random_range(0..weights.iter().sum());
    for (action, weight) in ACTIONS.into_iter().zip(weights) {
        if point < weight {
            return action;
        }
        point -= weight;
    }
    unreachable!("the point is below the sum")
}

/// A program with its table, filled and ready.
struct Run<'a> {
    program: &'a Program,
    core: Table,
    filled: Counts,
    /// How many copies each thread owns at the start: nobody else removes these.
    owned: Vec<Counts>,
    placement: [[usize; 2]; CLASSES],
    /// Orders starts and ends of calls. It orders more than an ordinary program would: what the
    /// orderings of the filter itself guarantee is for loom to say.
    clock: AtomicUsize,
}

impl<'a> Run<'a> {
    /// Fills a new table, and deals out most of what is in it among the threads.
    fn new(program: &'a Program) -> Self {
        let world = &program.world;
        let core = Table::new(Addressing::new(world.buckets.into()), false).expect("a tiny table");
        let mut filled = [0; CLASSES];
        let mut owned = vec![[0; CLASSES]; program.threads.len() + 1];
        for (deal, &class) in program.filling.iter().enumerate() {
            let answer = (world.operate)(&core, world.pairs[class][deal % 2], Action::Insert);
            if answer == Answer::Insert(Ok(())) {
                filled[class] += 1;
                let owner = deal % owned.len();
                owned[owner][class] += 1;
            }
        }
        let placement = world.placement(&core);
        Self { program, core, filled, owned, placement, clock: AtomicUsize::new(0) }
    }

    /// What one thread does. A removal of what the thread does not own becomes a look-up.
    fn perform(&self, thread: usize) -> Vec<Event> {
        let world = &self.program.world;
        let mut owned = self.owned[thread];
        let mut events = Vec::with_capacity(self.program.threads[thread].len());
        for &Step { mut action, class, way } in &self.program.threads[thread] {
            if matches!(action, Action::Remove) && owned[class] == 0 {
                action = Action::Contains;
            }
            let pair = world.pairs[class][way];
            let start = self.clock.fetch_add(1, SeqCst);
            let answer = (world.operate)(&self.core, pair, action);
            let end = self.clock.fetch_add(1, SeqCst);
            match answer {
                Answer::Insert(Ok(())) | Answer::InsertUnique(Ok(true)) => owned[class] += 1,
                Answer::Remove(true) => owned[class] -= 1,
                _ => {}
            }
            events.push(Event { thread, start, end, class: world.classes[class], answer });
        }
        events
    }

    /// Checks the history, then the table it left, and says what there was to see.
    fn check(&self, events: &[Event]) -> Sights {
        let (number, filled) = (self.program.number, self.filled);
        let fail = |what: &str| -> ! {
            let world = &self.program.world;
            panic!(
                "{what}: program {number} (GUIRA_PROGRAM={number} runs it alone)\n{}\
                 {} buckets of {} lanes, classes {:?}",
                show(filled, events),
                world.buckets,
                world.lanes,
                world.pairs.map(|[pair, _]| pair),
            )
        };
        if !is_linearizable(filled, events) {
            fail("not linearizable");
        }
        let placement = self.program.world.placement(&self.core);
        let left = left(filled, events);
        if self.counts(&placement) != left {
            fail("the table does not hold what is left");
        }
        if !self.empties(left) {
            fail("the table cannot be emptied and filled again");
        }
        Sights::of(self, &placement, events)
    }

    /// Copies of each class, by placement.
    fn counts(&self, placement: &[[usize; 2]; CLASSES]) -> Counts {
        std::array::from_fn(|class| {
            let [here, there] = placement[class];
            let one = self.program.world.pairs[class][0].buckets;
            (if one[0] == one[1] { here } else { here + there }) as u8
        })
    }

    /// Whether everything that is left can be removed, and then nothing stands in the way of one
    /// class in both of its buckets.
    fn empties(&self, left: Counts) -> bool {
        let world = &self.program.world;
        let call = |class: usize, way, action| {
            (world.operate)(&self.core, world.pairs[class][way], action)
        };
        let removed = (0..CLASSES).all(|class| {
            (0..left[class]).all(|copy| {
                call(class, usize::from(copy) % 2, Action::Remove) == Answer::Remove(true)
            }) && call(class, 0, Action::Contains) == Answer::Contains(false)
        });
        let class = world.classes[self.program.number as usize % CLASSES];
        let fits = |_| call(class.index, 0, Action::Insert) == Answer::Insert(Ok(()));
        removed
            && (0..class.most).all(fits)
            && call(class.index, 0, Action::Insert)
                == Answer::Insert(Err(InsertError::TooManyCopies))
    }
}

/// What must be in the table after these calls, in whatever order they took effect.
fn left(filled: Counts, events: &[Event]) -> Counts {
    let mut counts = filled;
    for Event { class, answer, .. } in events {
        match answer {
            Answer::Insert(Ok(())) | Answer::InsertUnique(Ok(true)) => counts[class.index] += 1,
            Answer::Remove(true) => counts[class.index] -= 1,
            _ => {}
        }
    }
    counts
}

/// How often the interesting things happened.
#[derive(Clone, Copy, Debug, Default)]
struct Sights {
    executions: usize,
    calls: usize,
    /// Pairs of calls that overlapped.
    overlaps: usize,
    /// Classes that nobody inserted or removed, and that stood elsewhere afterwards.
    moved: usize,
    /// Look-ups of one of those that overlapped an insert.
    beside_moves: usize,
    /// Counts and `insert_unique`s of one of those that overlapped an insert.
    locked_beside_moves: usize,
    removals: usize,
    full: usize,
    too_many: usize,
    unique_present: usize,
    misses: usize,
}

impl Sights {
    /// What there was to see in one execution.
    fn of(run: &Run, after: &[[usize; 2]; CLASSES], events: &[Event]) -> Self {
        let number = |wanted: &dyn Fn(&Event) -> bool| events.iter().filter(|e| wanted(e)).count();
        let inserted =
            |e: &Event| matches!(e.answer, Answer::Insert(Ok(())) | Answer::InsertUnique(Ok(true)));
        let changed = |e: &Event| inserted(e) || e.answer == Answer::Remove(true);
        let moved: [bool; CLASSES] = std::array::from_fn(|class| {
            let touched = events.iter().any(|e| e.class.index == class && changed(e));
            !touched && after[class] != run.placement[class]
        });
        let beside_move = |e: &Event| {
            moved[e.class.index] && events.iter().any(|other| inserted(other) && other.overlaps(e))
        };
        let is_look_up = |e: &Event| matches!(e.answer, Answer::Contains(_));
        Self {
            executions: 1,
            calls: events.len(),
            overlaps: number(&|e| events.iter().any(|o| o.thread != e.thread && o.overlaps(e))),
            moved: moved.iter().filter(|&&moved| moved).count(),
            beside_moves: number(&|e| is_look_up(e) && beside_move(e)),
            locked_beside_moves: number(&|e| !is_look_up(e) && beside_move(e)),
            removals: number(&|e| e.answer == Answer::Remove(true)),
            full: number(&|e| {
                let full = InsertError::Full;
                [Answer::Insert(Err(full)), Answer::InsertUnique(Err(full))].contains(&e.answer)
            }),
            too_many: number(&|e| e.answer == Answer::Insert(Err(InsertError::TooManyCopies))),
            unique_present: number(&|e| e.answer == Answer::InsertUnique(Ok(false))),
            misses: number(&|e| e.answer == Answer::Contains(false)),
        }
    }
}

impl AddAssign for Sights {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.calls += other.calls;
        self.overlaps += other.overlaps;
        self.moved += other.moved;
        self.beside_moves += other.beside_moves;
        self.locked_beside_moves += other.locked_beside_moves;
        self.removals += other.removals;
        self.full += other.full;
        self.too_many += other.too_many;
        self.unique_present += other.unique_present;
        self.misses += other.misses;
    }
}

impl Sights {
    /// Fails where the programs did not provoke what they are for.
    fn assert_telling(&self) {
        println!("{self:?}");
        if variable("GUIRA_PROGRAM").is_some() {
            return;
        }
        let often = self.executions / 50;
        assert!(self.removals > often && self.misses > often, "nothing was removed, or absent");
        assert!(self.full > often && self.too_many > often, "the tables were not full");
        assert!(self.unique_present > often, "insert_unique met no copy");
        assert!(self.moved > often, "nothing was moved");
        // Real threads meet as they please, and hardly ever on a single processor.
        let met = if cfg!(shuttle) { self.executions / 200 } else { 0 };
        if cfg!(shuttle) || (processors() > 1 && self.executions > 5_000) {
            assert!(self.overlaps > 10 * met, "the threads did not meet");
            assert!(self.beside_moves > met, "no look-up met a move");
            assert!(self.locked_beside_moves > met / 4, "no locked call met a move");
        }
    }
}

/// How many threads can run at once.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A number from the environment.
fn variable(name: &str) -> Option<u64> {
    let value = env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name}={value} is not a number")))
}

/// The numbers of the programs to run, by default this many.
fn programs(default: u64) -> impl Iterator<Item = u64> {
    let only = variable("GUIRA_PROGRAM");
    (0..variable("GUIRA_PROGRAMS").unwrap_or(default)).map(move |number| only.unwrap_or(number))
}

#[test]
fn the_checker_accepts_what_an_order_explains_and_nothing_else() {
    let class = World::of::<Plain<2, 8>>(&mut rng(0), 3).classes[0];
    let event = |thread, start, end, answer| Event { thread, start, end, class, answer };
    let inserted = event(0, 0, 3, Answer::Insert(Ok(())));
    let judge = |answers: &[(usize, usize, Answer)]| {
        let others = answers.iter().map(|&(start, end, answer)| event(1, start, end, answer));
        let events: Vec<Event> = others.chain([inserted]).collect();
        is_linearizable([0; CLASSES], &events)
    };
    // Beside the insert either answer is right, but not first one and then the other; after it only
    // one is.
    assert!(judge(&[(1, 2, Answer::Contains(true))]));
    assert!(judge(&[(1, 2, Answer::Contains(false)), (4, 5, Answer::Contains(true))]));
    assert!(!judge(&[(1, 2, Answer::Contains(true)), (4, 5, Answer::Contains(false))]));
    assert!(!judge(&[(4, 5, Answer::Count(2))]));
    assert!(!judge(&[(4, 5, Answer::Remove(false))]));
    assert!(!judge(&[(4, 5, Answer::Remove(true)), (6, 7, Answer::Remove(true))]));
    assert!(!judge(&[(4, 5, Answer::InsertUnique(Ok(true)))]));
    assert!(judge(&[(1, 5, Answer::InsertUnique(Ok(true))), (6, 7, Answer::Count(2))]));
    // One copy does not crowd a bucket.
    assert!(!judge(&[(4, 5, Answer::Insert(Err(InsertError::Full)))]));
    assert!(!judge(&[(4, 5, Answer::Insert(Err(InsertError::TooManyCopies)))]));
}

/// On real threads.
#[cfg(not(shuttle))]
mod real {
    use std::{
        hint::spin_loop,
        sync::atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{Relaxed, SeqCst},
        },
        thread,
        time::{Duration, Instant},
    };

    use super::{Program, Run, Sights, common, history::Event, programs, variable};

    /// How long is long enough, unless a number of programs was asked for.
    const ENOUGH: Duration = Duration::from_secs(10);
    /// Programs that the threads run before histories are checked.
    const BATCH: usize = 64;

    /// Where threads wait for one another before each program, so that their calls meet.
    struct Gate {
        threads: usize,
        arrived: AtomicUsize,
        /// Whether a thread has panicked, and will not come.
        broken: AtomicBool,
    }

    impl Gate {
        /// Waits until all threads have come to this round.
        fn pass(&self, round: usize) {
            self.arrived.fetch_add(1, SeqCst);
            let mut spins = 0_u32;
            while self.arrived.load(SeqCst) < (round + 1) * self.threads {
                assert!(!self.broken.load(Relaxed), "another thread has panicked");
                spins += 1;
                if spins > 256 { thread::yield_now() } else { spin_loop() }
            }
        }
    }

    /// Breaks the gate if its thread panics.
    struct BreakOnPanic<'a>(&'a Gate);

    impl Drop for BreakOnPanic<'_> {
        fn drop(&mut self) {
            if thread::panicking() {
                self.0.broken.store(true, Relaxed);
            }
        }
    }

    /// Does what one thread does, straight on.
    #[cfg(not(guira_steps))]
    fn perform(run: &Run, thread: usize) -> Vec<Event> {
        run.perform(thread)
    }

    /// Does what one thread does, dawdling before a step now and then.
    #[cfg(guira_steps)]
    fn perform(run: &Run, thread: usize) -> Vec<Event> {
        use rand::RngExt;

        let mut rng = common::rng(run.program.number * 8 + thread as u64);
        let dawdle = move |_| match rng.random_range(0..64_u32) {
            0 => thread::yield_now(),
            1..16 => (0..rng.random_range(0..1000)).for_each(|_| spin_loop()),
            _ => {}
        };
        guira::raw::steps::with_hook(dawdle, || run.perform(thread))
    }

    /// One thread's part in all of the runs.
    fn take_part(runs: &[Run], gate: &Gate, thread: usize) -> Vec<Vec<Event>> {
        let _break_on_panic = BreakOnPanic(gate);
        let part = |(round, run)| {
            gate.pass(round);
            perform(run, thread)
        };
        runs.iter().enumerate().map(part).collect()
    }

    /// Runs programs one after another, each on all threads together, and checks their histories.
    fn run_batch(programs: &[Program], threads: usize) -> Sights {
        let runs: Vec<Run> = programs.iter().map(Run::new).collect();
        let gate = Gate { threads, arrived: AtomicUsize::new(0), broken: AtomicBool::new(false) };
        let (runs_ref, gate) = (&runs, &gate);
        let histories: Vec<Vec<Vec<Event>>> = thread::scope(|scope| {
            let part = |thread| scope.spawn(move || take_part(runs_ref, gate, thread));
            let parts: Vec<_> = (0..threads).map(part).collect();
            parts.into_iter().map(|part| part.join().expect("no thread panics")).collect()
        });
        let mut sights = Sights::default();
        for (round, run) in runs.iter().enumerate() {
            let events: Vec<Event> =
                histories.iter().flat_map(|history| &history[round]).copied().collect();
            sights += run.check(&events);
        }
        sights
    }

    /// Runs a number of programs on so many threads; by default fewer, where the machine is so busy
    /// that the threads take long to meet.
    fn run(default: u64, threads: usize) {
        let programs: Vec<u64> = programs(default).collect();
        let patience = Duration::from_secs(180 + programs.len() as u64 / 100);
        let _watchdog = common::Watchdog::patient("linearizability", patience);
        let (start, asked) = (Instant::now(), variable("GUIRA_PROGRAMS").is_some());
        let mut sights = Sights::default();
        for batch in programs.chunks(BATCH) {
            let batch: Vec<_> = batch.iter().map(|&n| Program::numbered(n, threads)).collect();
            sights += run_batch(&batch, threads);
            if !asked && start.elapsed() > ENOUGH {
                break;
            }
        }
        sights.assert_telling();
    }

    #[test]
    fn two_threads_linearize() {
        run(common::scaled(60_000, 400_000), 2);
    }

    #[test]
    fn three_threads_linearize() {
        run(common::scaled(40_000, 200_000), 3);
    }
}

/// Under shuttle.
#[cfg(shuttle)]
mod modelled {
    use std::{
        panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
        sync::{Arc, Mutex},
    };

    use shuttle::{
        Config, Runner,
        scheduler::{PctScheduler, RandomScheduler, Scheduler},
        thread,
    };

    use super::{
        Action, Plain, Program, Run, Sights, Step, World, common::rng, history::Event, programs,
        variable,
    };

    /// Schedules tried with each program, unless `GUIRA_SCHEDULES` says otherwise.
    const SCHEDULES: u64 = 40;

    /// Runs a program once, on threads that shuttle schedules.
    fn run_once(program: &Program) -> Sights {
        let run = &Run::new(program);
        let histories: Vec<Vec<Event>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..program.threads.len())
                .map(|thread| scope.spawn(move || run.perform(thread)))
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
        });
        run.check(&histories.concat())
    }

    /// Runs each program under a scheduler made from a seed and a number of schedules.
    fn run<S: Scheduler + 'static>(default: u64, scheduler: impl Fn(u64, usize) -> S) {
        let schedules = variable("GUIRA_SCHEDULES").unwrap_or(SCHEDULES) as usize;
        let sights = Arc::new(Mutex::new(Sights::default()));
        for number in programs(default) {
            let program = Program::numbered(number, 2 + usize::from(number % 3 == 0));
            let seen = Arc::clone(&sights);
            let runner = Runner::new(scheduler(number, schedules), Config::new());
            let run = || runner.run(move || *seen.lock().unwrap() += run_once(&program));
            catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
                println!("GUIRA_PROGRAM={number} runs the program alone");
                resume_unwind(panic)
            });
        }
        sights.lock().unwrap().assert_telling();
    }

    /// A plain insert takes the last lane, gives it back and takes it again beside an `insert_unique` of
    /// the same class, which may say `Full` only if the class was absent from a full bucket. Random
    /// programs do not come upon this.
    #[test]
    fn full_is_not_said_where_there_was_the_item_or_room_for_it() {
        let world = World::of::<Plain<2, 8>>(&mut rng(0), 1);
        let step = |action| Step { action, class: 1, way: 0 };
        let toggle = [Action::Insert, Action::Remove, Action::Insert].map(step).to_vec();
        let threads = vec![toggle, vec![step(Action::InsertUnique)]];
        let program = Program { number: 0, world, filling: vec![0], threads };
        let run = move || {
            run_once(&program);
        };
        shuttle::check_random(run, 20_000);
    }

    #[test]
    fn random_schedules_linearize() {
        run(6_000, RandomScheduler::new_from_seed);
    }

    #[test]
    fn pct_schedules_linearize() {
        run(6_000, |seed, schedules| PctScheduler::new_from_seed(seed, 3, schedules));
    }
}
