//! Writers that stop, or die, in the middle: `RUSTFLAGS="--cfg guira_steps" cargo test --release
//! --test progress`. Without the cfg there is nothing here.
//!
//! Each writer is stopped before its first step, then in a new table before its second, and so on to
//! its last; a step is an access to a bucket or to an epoch, or the taking of a lock. While it stands,
//! look-ups must be right and inserts into buckets with room succeed, in as many steps as without
//! the writer and without a lock. Then each writer panics at each of its steps instead, and must leave
//! every lock free and every item in.

#![cfg(guira_steps)]

mod common;

use std::{
    cell::{Cell, RefCell},
    panic::resume_unwind,
    rc::Rc,
    sync::{Arc, mpsc::channel},
    thread,
};

use common::{Watchdog, rng};
use guira::{
    Layout,
    raw::{
        Addressing, BucketLayout, Chain, Fingerprint, Nested, Pair, Plain, Table,
        steps::{Step, with_hook},
    },
};
use rand::RngExt;

/// The layout of these tables.
type L = Plain<4, 16>;
/// Buckets of these tables.
const BUCKETS: u64 = 8;
/// Stripes of tables that small; a fingerprint's is its remainder.
const STRIPES: u32 = 8;
/// Steps of a look-up that nobody disturbs: the epoch, both words, the epoch.
const LOOK_UP: usize = 4;
/// Steps of an insert into a bucket with room: both words, and the change of one.
const INSERT: usize = 3;

/// What the writer does.
#[derive(Clone, Copy, Debug)]
enum Call {
    Insert,
    InsertUnique,
    Remove,
}

/// A pair, and how many copies of it there are before and after the call.
#[derive(Clone, Copy, Debug)]
struct Known {
    pair: Pair,
    before: usize,
    after: usize,
}

/// A writer, about to make its call.
struct Writer {
    core: Arc<Table>,
    call: Call,
    pair: Pair,
}

impl Writer {
    /// Makes the call; says whether it did what it was to do.
    fn perform(&self) -> bool {
        match self.call {
            Call::Insert => self.core.insert::<L>(self.pair) == Ok(()),
            Call::InsertUnique => self.core.insert_unique::<L>(self.pair) == Ok(true),
            Call::Remove => self.core.remove::<L>(self.pair),
        }
    }
}

/// A table, and what a writer is to do to it.
struct Scene {
    core: Arc<Table>,
    call: Call,
    known: Vec<Known>,
    /// Which of the known pairs the call is about.
    target: usize,
    /// How often the call takes a lock.
    locks: usize,
    /// The bucket with room at the end of the path.
    end: u32,
    /// The stripe of all fingerprints, if they are of one.
    stripe: Option<u32>,
    last: u32,
}

impl Scene {
    /// An empty table.
    fn new(call: Call, locks: usize, end: u32, stripe: Option<u32>) -> Self {
        let core = Table::new(Addressing::new(BUCKETS), false).expect("a small table");
        Self {
            core: Arc::new(core),
            call,
            known: Vec::new(),
            target: 0,
            locks,
            end,
            stripe,
            last: 0,
        }
    }

    /// A pair with these buckets whose fingerprint has not been used.
    fn unused(&mut self, buckets: [u32; 2]) -> Pair {
        let geometry = self.core.addressing();
        let fits = |&value: &u32| {
            self.stripe.is_none_or(|stripe| value % STRIPES == stripe)
                && geometry.alt_bucket(Fingerprint::new(value), buckets[0]) == buckets[1]
        };
        let found = (self.last + 1..=L::MAX_FINGERPRINT).find(fits);
        self.last = found.expect("such fingerprints are many");
        Pair { fingerprint: Fingerprint::new(self.last), buckets }
    }

    /// Puts copies of a new pair into its first bucket.
    fn put(&mut self, buckets: [u32; 2], copies: usize) -> usize {
        let pair = self.unused(buckets);
        for _ in 0..copies {
            let here = Pair { buckets: [buckets[0]; 2], ..pair };
            self.core.insert::<L>(here).expect("room in this bucket");
        }
        self.known.push(Known { pair, before: copies, after: copies });
        self.known.len() - 1
    }

    /// Puts as many pairs into the first bucket as fit there.
    fn crowd(&mut self, buckets: [u32; 2]) {
        for _ in 0..L::SLOTS {
            self.put(buckets, 1);
        }
    }

    /// The removal of one of so many copies, which stand in the second bucket that the call looks at.
    fn removal(copies: usize, stripe: Option<u32>) -> Self {
        let mut scene = Self::new(Call::Remove, 1, 0, stripe);
        scene.put([0, 1], 1);
        scene.put([1, 1], 1);
        scene.target = scene.put([1, 0], copies);
        let target = &mut scene.known[scene.target];
        target.pair.buckets.reverse();
        target.after -= 1;
        scene
    }

    /// The insertion of an item whose buckets are full, and to make room for which so many others must
    /// move, each into the bucket that the one before it leaves.
    fn path(call: Call, moves: usize, stripe: Option<u32>) -> Self {
        // An `insert_unique` looks before the moves and after them.
        let locks = if matches!(call, Call::InsertUnique) { moves + 2 } else { moves };
        let end = moves as u32 + 1;
        let mut scene = Self::new(call, locks, end, stripe);
        scene.crowd([1, 1]);
        scene.crowd([0, 2]);
        (2..end).for_each(|bucket| scene.crowd([bucket, bucket + 1]));
        scene.put([end, end], 1);
        scene.target = scene.put([0, 1], 0);
        scene.known[scene.target].after = 1;
        scene
    }

    /// Every kind of scene, with its name.
    fn all() -> Vec<(String, Maker)> {
        let mut scenes: Vec<(String, Maker)> = Vec::new();
        for stripe in [Some(1), None] {
            for copies in 1..=2 {
                let name = format!("removal of 1 of {copies}, stripe {stripe:?}");
                scenes.push((name, Box::new(move || Self::removal(copies, stripe))));
            }
            for moves in [1, 2, 4] {
                for call in [Call::Insert, Call::InsertUnique] {
                    let name = format!("{call:?} by {moves} moves, stripe {stripe:?}");
                    scenes.push((name, Box::new(move || Self::path(call, moves, stripe))));
                }
            }
        }
        scenes
    }

    /// The writer of this scene.
    fn writer(&self) -> Writer {
        let pair = self.known[self.target].pair;
        Writer { core: Arc::clone(&self.core), call: self.call, pair }
    }

    /// Looks at everything, by way of either bucket, while a writer stands still.
    fn look(&self) {
        for &Known { pair, before, after } in &self.known {
            for buckets in [pair.buckets, [pair.buckets[1], pair.buckets[0]]] {
                let look_up = || self.core.contains::<L>(Pair { buckets, ..pair });
                let present = unblocked(LOOK_UP, look_up);
                if (before > 0) == (after > 0) {
                    assert_eq!(present, before > 0, "a look-up is wrong at {pair:?}");
                }
            }
        }
        let none = Pair { fingerprint: Fingerprint::new(L::MAX_FINGERPRINT), buckets: [0, 1] };
        assert!(!unblocked(LOOK_UP, || self.core.contains::<L>(none)), "nobody inserted this");
    }

    /// Inserts where there is room: into a bucket that nobody cares for, and into the one that is
    /// the end of the path.
    fn insert_where_there_is_room(&mut self) {
        for buckets in [[6, 7], [7, 7], [self.end; 2]] {
            let pair = self.unused(buckets);
            let inserted = unblocked(INSERT, || self.core.insert::<L>(pair));
            assert_eq!(inserted, Ok(()), "there is room at {pair:?}");
            self.known.push(Known { pair, before: 1, after: 1 });
        }
    }

    /// Looks at everything after the call.
    fn look_after(&self) {
        for &Known { pair, after, .. } in &self.known {
            assert_eq!(self.core.count::<L>(pair), after, "{pair:?}");
            assert_eq!(self.core.contains::<L>(pair), after > 0, "{pair:?}");
        }
    }

    /// Looks at everything after the writer died: nothing is missing, and at most one copy too many,
    /// of what it was just moving.
    fn look_after_death(&self) {
        let mut doubled = 0;
        for &Known { pair, before, after } in &self.known {
            let count = self.core.count::<L>(pair);
            assert!(count >= before.min(after), "{pair:?} is missing");
            assert_eq!(self.core.contains::<L>(pair), count > 0, "{pair:?}");
            doubled += count.saturating_sub(before.max(after));
        }
        assert!(doubled <= 1, "{doubled} copies too many");
    }

    /// Takes every lock, and takes out everything: all that there is works on.
    fn empty(&mut self) {
        for &Known { pair, .. } in &self.known {
            while self.core.remove::<L>(pair) {}
            assert_eq!(self.core.count::<L>(pair), 0, "{pair:?} is in no other place");
        }
        for stripe in 0..STRIPES {
            self.stripe = Some(stripe);
            let pair = self.unused([0, 1]);
            assert_eq!(self.core.insert_unique::<L>(pair), Ok(true), "{pair:?} fits");
            assert!(self.core.remove::<L>(pair), "{pair:?} is in");
        }
    }
}

/// Makes a scene anew.
type Maker = Box<dyn Fn() -> Scene>;

/// Does what must take so many steps at most, and no lock.
fn unblocked<R>(most: usize, work: impl FnOnce() -> R) -> R {
    let mut left = most;
    let hook = move |step| {
        assert!(step != Step::Lock, "this takes no lock");
        left = left.checked_sub(1).unwrap_or_else(|| panic!("this takes {most} steps at most"));
    };
    with_hook(hook, work)
}

/// The steps that the work takes.
fn steps<R>(work: impl FnOnce() -> R) -> Vec<Step> {
    let steps = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&steps);
    with_hook(move |step| seen.borrow_mut().push(step), work);
    steps.take()
}

/// Does `halt` once, before the step with this number.
fn before_step(number: usize, mut halt: impl FnMut()) -> impl FnMut(Step) {
    let mut taken = 0;
    move |_| {
        if taken == number {
            halt();
        }
        taken += 1;
    }
}

/// Stops the writer before the step with this number, looks around, and lets it go on. `false`: it
/// takes no such step.
fn stop_at(scene: &mut Scene, number: usize) -> bool {
    let (stopped, stop) = channel();
    let (go, resume) = channel::<()>();
    let halt = move || {
        let _ = stopped.send(());
        // Until the other end is dropped, also by a panic over there.
        let _ = resume.recv();
    };
    let writer = scene.writer();
    let hook = before_step(number, halt);
    let thread = thread::spawn(move || with_hook(hook, || writer.perform()));
    // The hook is dropped, and with it the sender, when the writer is done.
    let has_stopped = stop.recv().is_ok();
    if has_stopped {
        scene.look();
        scene.insert_where_there_is_room();
        scene.look();
    }
    drop(go);
    assert!(thread.join().expect("the writer goes on"), "the call did something else");
    scene.look_after();
    has_stopped
}

/// What a writer dies of here.
struct Planted;

/// Lets the writer panic before the step with this number, and looks at what it left behind. `false`:
/// it takes no such step.
fn die_at(scene: &mut Scene, number: usize) -> bool {
    let writer = scene.writer();
    // Like a panic in every respect, but for the message.
    let hook = before_step(number, || resume_unwind(Box::new(Planted)));
    let thread = thread::spawn(move || with_hook(hook, || writer.perform()));
    let Err(panic) = thread.join() else { return false };
    if !panic.is::<Planted>() {
        resume_unwind(panic);
    }
    scene.look();
    scene.insert_where_there_is_room();
    scene.look_after_death();
    scene.empty();
    true
}

/// Halts the writer of every scene at each of its steps.
fn at_every_step(halt_at: fn(&mut Scene, usize) -> bool) {
    for (name, scene) in Scene::all() {
        let undisturbed = scene();
        let writer = undisturbed.writer();
        let steps = steps(|| assert!(writer.perform(), "the call did something else"));
        undisturbed.look_after();
        let locks = steps.iter().filter(|&&step| step == Step::Lock).count();
        assert_eq!(locks, undisturbed.locks, "{name}: the moves are not as planned");
        for number in 0..steps.len() {
            assert!(halt_at(&mut scene(), number), "{name}: no step {number}");
        }
        println!("{name}: {} steps", steps.len());
    }
}

#[test]
fn others_go_on_beside_a_writer_that_stopped() {
    let _watchdog = Watchdog::new("others_go_on_beside_a_writer_that_stopped");
    at_every_step(stop_at);
}

#[test]
fn a_writer_that_panics_leaves_every_lock_free_and_every_item_in() {
    let _watchdog = Watchdog::new("a_writer_that_panics_leaves_every_lock_free_and_every_item_in");
    at_every_step(die_at);
}

/// Two buckets with one lane free in both together, and an item that is at home in both.
struct PingPong {
    core: Arc<Table>,
    item: Pair,
    /// Items at home in one bucket: where there is no room for one, it drives the item out.
    drivers: [Pair; 2],
    /// In which of the two buckets the item stands.
    place: usize,
}

/// What somebody does between two steps of a look-up.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Nothing,
    /// The item moves to its other bucket.
    Move,
    /// An alias comes into the other bucket, then the copy in the first one is removed.
    Replace,
}

impl PingPong {
    /// A table with the item in the bucket of this number.
    fn new(place: usize) -> Self {
        let core = Table::new(Addressing::new(2), false).expect("a small table");
        let pair = |buckets: [u32; 2], number| {
            let fits = |&value: &u32| {
                core.addressing().alt_bucket(Fingerprint::new(value), buckets[0]) == buckets[1]
            };
            let value = (L::MIN_FINGERPRINT..=L::MAX_FINGERPRINT).filter(fits).nth(number);
            Pair { fingerprint: Fingerprint::new(value.expect("enough of them")), buckets }
        };
        let item = pair([0, 1], 0);
        let drivers = [pair([0, 0], 0), pair([1, 1], 0)];
        let insert = |pair| core.insert::<L>(pair).expect("room");
        insert(Pair { buckets: [place as u32; 2], ..item });
        for bucket in [0, 1] {
            (1..L::SLOTS as usize).for_each(|number| insert(pair([bucket, bucket], number)));
        }
        Self { core: Arc::new(core), item, drivers, place }
    }

    /// Does something that leaves the item in the table at every moment.
    fn act(&mut self, meanwhile: Meanwhile) {
        let here = Pair { buckets: [self.place as u32; 2], ..self.item };
        match meanwhile {
            Meanwhile::Nothing => return,
            Meanwhile::Move => {
                let driver = self.drivers[self.place];
                assert_eq!(self.core.insert::<L>(driver), Ok(()), "the item makes way");
                assert!(self.core.remove::<L>(driver), "the driver is in");
            }
            Meanwhile::Replace => {
                assert_eq!(self.core.insert::<L>(self.item), Ok(()), "one lane is free");
                assert!(self.core.remove::<L>(here), "the first copy is in");
            }
        }
        self.place = 1 - self.place;
        assert_eq!(self.core.count::<L>(here), 0, "the item has left");
    }
}

/// Looks the item up by way of either bucket, with something done before each step: the digits of
/// `script` say what. Returns how many steps the look-up took.
fn look_up_meanwhile(place: usize, first: usize, script: usize) -> usize {
    const ACTIONS: [Meanwhile; 3] = [Meanwhile::Nothing, Meanwhile::Move, Meanwhile::Replace];
    let mut table = PingPong::new(place);
    let core = Arc::clone(&table.core);
    let pair = Pair { buckets: [first as u32, 1 - first as u32], ..table.item };
    let steps = Rc::new(Cell::new(0));
    let (taken, mut rest) = (Rc::clone(&steps), script);
    let hook = move |step| {
        assert!(step != Step::Lock, "a look-up takes no lock");
        table.act(ACTIONS[rest % ACTIONS.len()]);
        rest /= ACTIONS.len();
        taken.set(taken.get() + 1);
    };
    let present = with_hook(hook, || core.contains::<L>(pair));
    assert!(present, "missed from {place} by way of {first}, script {script}");
    steps.get()
}

#[test]
fn a_look_up_is_right_whatever_happens_between_its_steps() {
    // Everything that can happen before each of the steps of two rounds.
    const SCRIPTS: usize = 3_usize.pow(2 * LOOK_UP as u32);
    let _watchdog = Watchdog::new("a_look_up_is_right_whatever_happens_between_its_steps");
    let mut longest = 0;
    for script in 0..SCRIPTS {
        for (place, first) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            longest = longest.max(look_up_meanwhile(place, first, script));
        }
    }
    // Two rounds in vain, and a third that nobody disturbs.
    assert!(longest == 3 * LOOK_UP, "{longest} steps");
}

#[test]
fn undisturbed_calls_take_few_steps_and_no_lock() {
    let mut scene = Scene::new(Call::Insert, 0, 0, None);
    let pair = scene.unused([0, 1]);
    assert_eq!(steps(|| scene.core.contains::<L>(pair)), [Step::Load; LOOK_UP]);
    let insert = steps(|| scene.core.insert::<L>(pair));
    assert_eq!(insert, [Step::Load, Step::Load, Step::Change]);
    assert_eq!(insert.len(), INSERT);
    assert_eq!(steps(|| scene.core.contains::<L>(pair)), [Step::Load; LOOK_UP]);
}

/// A chain of one segment, which is full.
struct Grown {
    chain: Arc<Chain>,
    present: Vec<u64>,
    /// Items that another segment must be appended for.
    newcomers: [u64; 2],
}

impl Grown {
    /// The chain, which can grow.
    fn new() -> Self {
        let plan = |segments: u32| {
            let nested = |level| Nested::new(2, level, (1, 1 << 15), 0);
            (0..segments).map(|level| (Layout::Plain4x16, nested(level))).collect::<Vec<_>>()
        };
        let [alone, chain] =
            [1, 3].map(|segments| Chain::new(plan(segments), false).expect("a small table"));
        let (mut rng, mut present, mut newcomers) = (rng(1), Vec::new(), Vec::new());
        while newcomers.len() < 2 {
            let item = rng.random();
            match alone.insert(item) {
                Ok(()) => present.push(item),
                Err(_) => newcomers.push(item),
            }
        }
        present.iter().for_each(|&item| chain.insert(item).expect("as in the other"));
        assert_eq!(chain.layouts().len(), 1);
        let newcomers = [newcomers[0], newcomers[1]];
        Self { chain: Arc::new(chain), present, newcomers }
    }

    /// What a writer can do: an insert and an `insert_unique`, for which a segment is appended, and a removal.
    fn calls(&self) -> [Box<dyn Fn(&Chain) -> bool + Send>; 3] {
        let (new, old) = (self.newcomers[0], self.present[0]);
        [
            Box::new(move |chain| chain.insert(new) == Ok(())),
            Box::new(move |chain| chain.insert_unique(new) == Ok(true)),
            Box::new(move |chain| chain.remove(old)),
        ]
    }

    /// While a writer stands still, or is dead: what it does not remove is found, and another item appends a
    /// segment for itself. All of it without a lock.
    fn look(&self) {
        let found = |item| unblocked(LOOK_UP * 2 + 8, || self.chain.contains(item));
        assert!(self.present[1..].iter().all(|&item| found(item)), "missed");
        let inserted = unblocked(100, || self.chain.insert(self.newcomers[1]));
        assert_eq!(inserted, Ok(()));
        assert!(found(self.newcomers[1]) && self.present[1..].iter().all(|&item| found(item)));
    }

    /// When the writer is done as well.
    fn look_after(&self, removed: bool) {
        let copies = |item| self.chain.count(item);
        assert!(self.present[1..].iter().all(|&item| copies(item) == 1), "lost or doubled");
        assert_eq!(copies(self.present[0]), usize::from(!removed));
        assert_eq!(self.newcomers.map(copies), [usize::from(!removed), 1]);
    }
}

#[test]
fn growth_goes_on_beside_a_writer_that_stopped_or_panicked() {
    let _watchdog = Watchdog::new("growth_goes_on_beside_a_writer_that_stopped_or_panicked");
    for call in 0..3 {
        let all = steps(|| assert!(Grown::new().calls()[call](&Grown::new().chain))).len();
        assert!(all > 3, "call {call} takes {all} steps");
        // (Those of making the chains are counted as well: more than there are.)
        let mut halted = 0;
        for number in 0..all {
            let scene = Grown::new();
            let (work, chain) = (scene.calls(), Arc::clone(&scene.chain));
            let (stopped, stop) = channel();
            let (go, resume) = channel::<()>();
            let hook = before_step(number, move || {
                let _ = stopped.send(());
                let _ = resume.recv();
            });
            let writer = thread::spawn(move || with_hook(hook, || work[call](&chain)));
            let has_stopped = stop.recv().is_ok();
            if has_stopped {
                scene.look();
            }
            drop(go);
            assert!(writer.join().expect("the writer goes on"), "call {call}");
            if !has_stopped {
                break;
            }
            halted += 1;
            scene.look_after(call == 2);

            let scene = Grown::new();
            let (work, chain) = (scene.calls(), Arc::clone(&scene.chain));
            let hook = before_step(number, || resume_unwind(Box::new(Planted)));
            let writer = thread::spawn(move || with_hook(hook, || work[call](&chain)));
            assert!(writer.join().is_err_and(|panic| panic.is::<Planted>()));
            scene.look();
            for &item in &scene.present[1..] {
                assert!(scene.chain.remove(item), "a lock is held, or an item missing");
            }
            assert!(scene.chain.remove(scene.newcomers[1]));
        }
        assert!(halted > 3, "call {call} was halted {halted} times");
    }
}
