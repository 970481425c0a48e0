//! Random programs of a few threads, and what they do.

use std::{
    collections::BTreeSet,
    hash::Hash,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

#[cfg(feature = "std")]
use guira::Filter;
use guira::Insertion;
use rand::{RngExt, rngs::SmallRng};
#[cfg(shuttle)]
use shuttle::thread;
#[cfg(not(shuttle))]
use std::thread;

use super::{
    common::{
        kind::{Kind, Of, new},
        rng,
    },
    history::{programs, variable},
    spec::{Event, Op, is_linearizable},
};

/// The keys whose histories are checked. So many are looked up together.
const KEYS: u64 = 6;
/// Threads, and steps of each.
const THREADS: usize = 3;
const STEPS: usize = 5;
/// Keys that a filter which grows gets in one step, and keys that are there from the start.
const GROWTH: u64 = 20;
const FILLING: [u64; 2] = [170, 30];
/// Programs of each kind. A schedule of real threads is one of many.
const PROGRAMS: u64 = if cfg!(shuttle) { 150 } else { 400 };

/// One step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    Contains,
    ContainsBatch,
    ContainsMask,
    Count,
    Tags,
    Insert,
    InsertUnique,
    InsertBatch,
    InsertUniqueBatch,
    InsertUniqueMask,
    Remove,
    RemoveBatch,
    Retag,
    Merge,
    Clone,
    Save,
    Clear,
    Grow,
    Advance,
    Refresh,
}

const ACTIONS: [Action; 20] = [
    Action::Contains,
    Action::ContainsBatch,
    Action::ContainsMask,
    Action::Count,
    Action::Tags,
    Action::Insert,
    Action::InsertUnique,
    Action::InsertBatch,
    Action::InsertUniqueBatch,
    Action::InsertUniqueMask,
    Action::Remove,
    Action::RemoveBatch,
    Action::Retag,
    Action::Merge,
    Action::Clone,
    Action::Save,
    Action::Clear,
    Action::Grow,
    Action::Advance,
    Action::Refresh,
];

/// A filter, and the steps of one thread after another.
struct Scene<K: Kind> {
    seed: u64,
    filter: Of<K>,
    /// What is merged: each key once.
    other: Of<K>,
    filled: Vec<(u64, K::Tag)>,
    steps: Vec<Vec<(Action, u64, u16)>>,
    /// Orders starts and ends of calls.
    clock: AtomicUsize,
    done: Mutex<BTreeSet<Action>>,
}

/// All keys that a program may insert.
fn all_keys(grows: bool) -> Vec<u64> {
    let filling = FILLING[usize::from(grows)];
    let growth = if grows { (THREADS * STEPS) as u64 * GROWTH } else { 0 };
    (0..KEYS + filling + growth).collect()
}

fn empty<K: Kind>(seed: u64) -> Of<K> {
    let builder = new::<K>().capacity(if K::GROWS { 10 } else { 220 }).seed(seed);
    builder.build().expect("a small filter")
}

/// Seeds by which no two keys are aliases.
fn seeds<K: Kind>() -> Vec<u64> {
    let keys = all_keys(K::GROWS);
    let tells_all = |seed: &u64| {
        let filter = empty::<K>(*seed);
        keys.iter().all(|key| K::insert(&filter, key, K::usual_want(&filter, *key)).is_ok())
            && keys.iter().all(|key| filter.count(key) == 1)
    };
    (0..).filter(tells_all).take(4).collect()
}

impl<K: Kind> Scene<K>
where
    K::Tag: Hash,
{
    fn new(seeds: &[u64], number: u64) -> Self {
        let mut rng = rng(number);
        let seed = seeds[rng.random_range(0..seeds.len())];
        let (filter, other) = (empty::<K>(seed), empty::<K>(seed));
        let insert = |filter: &Of<K>, key: u64| {
            K::insert(filter, &key, K::usual_want(filter, key)).expect("room")
        };
        let filling = FILLING[usize::from(K::GROWS)];
        (KEYS..KEYS + filling).for_each(|key| _ = insert(&filter, key));
        (0..KEYS).for_each(|key| _ = insert(&other, key));
        let is_filled = |rng: &mut SmallRng| rng.random_bool(0.6);
        let keys = (0..KEYS).filter(|_| is_filled(&mut rng)).collect::<Vec<_>>();
        let filled = keys.into_iter().map(|key| (key, insert(&filter, key))).collect();
        // Nobody removes what a clear may have removed.
        let clears = number.is_multiple_of(4);
        let mut step = |_| loop {
            let action = ACTIONS[rng.random_range(0..ACTIONS.len())];
            let is_removal = matches!(action, Action::Remove | Action::RemoveBatch | Action::Retag);
            if if clears { !is_removal } else { action != Action::Clear } {
                return (action, rng.random_range(0..KEYS), rng.random_range(0..3));
            }
        };
        let steps = (0..THREADS).map(|_| (0..STEPS).map(&mut step).collect()).collect();
        let clock = AtomicUsize::new(0);
        Self { seed, filter, other, filled, steps, clock, done: Mutex::default() }
    }

    /// What an insert of a key wants: one of a few values, in a map.
    fn want(&self, key: u64, choice: u16) -> u16 {
        let has_values = K::tags(&self.filter, &key).is_some();
        if has_values { choice } else { K::usual_want(&self.filter, key) }
    }

    /// Performs the steps of a thread. Returns the steps of each key, or `None` if a merge was
    /// refused: others may find what it removes again.
    fn perform(&self, thread: usize) -> Option<Vec<(u64, Event<K::Tag>)>> {
        let (mut owned, mut events) = (Vec::new(), Vec::new());
        for (key, tag) in &self.filled {
            if *key as usize % THREADS == thread {
                owned.push((*key, *tag));
            }
        }
        for (nth, &(action, key, choice)) in self.steps[thread].iter().enumerate() {
            let start = self.clock.fetch_add(1, SeqCst);
            let number = (thread * STEPS + nth) as u64;
            let done = self.step(action, (key, choice, number), &mut owned)?;
            let end = self.clock.fetch_add(1, SeqCst);
            self.done.lock().expect("no panic").insert(action);
            events
                .extend(done.into_iter().map(|(key, op)| (key, Event { thread, start, end, op })));
        }
        Some(events)
    }

    /// Makes a call. Returns what it did, by key.
    #[expect(clippy::too_many_lines, reason = "one arm for each call")]
    fn step(
        &self,
        action: Action,
        (key, choice, number): (u64, u16, u64),
        owned: &mut Vec<(u64, K::Tag)>,
    ) -> Option<Vec<(u64, Op<K::Tag>)>> {
        let (filter, want) = (&self.filter, self.want(key, choice));
        let keys: &[u64] = &(0..KEYS).collect::<Vec<_>>();
        let wants: Vec<u16> = keys.iter().map(|&key| self.want(key, choice)).collect();
        let mut answers = [choice == 0; KEYS as usize];
        let each = |op: &dyn Fn(usize) -> Op<K::Tag>| -> Vec<(u64, Op<K::Tag>)> {
            keys.iter().map(|&key| (key, op(key as usize))).collect()
        };
        // The first key is refreshed where items expire, and never removed there.
        let is_own = |of: &(u64, K::Tag)| of.0 == key && (K::IS_PERMANENT || key != 0);
        let own = owned.iter().position(is_own);
        let unique = |added| if added { Op::AddUnique(None) } else { Op::Found(None) };
        Some(match action {
            Action::Contains => vec![(key, Op::Contains(filter.contains(&key)))],
            Action::ContainsBatch => {
                let count = filter.contains_batch(keys, &mut answers);
                assert_eq!(count, answers.iter().filter(|&&found| found).count());
                each(&|at| Op::Contains(answers[at]))
            }
            Action::ContainsMask => {
                let mask = filter.contains_mask(keys);
                each(&|at| Op::Contains(mask >> at & 1 == 1))
            }
            Action::Count => vec![(key, Op::Count(filter.count(&key)))],
            Action::Tags => match K::tags(filter, &key) {
                None => vec![(key, Op::Contains(filter.contains(&key)))],
                Some(tags) => {
                    let tag = K::tag(filter, choice).expect("it fits");
                    vec![
                        (key, Op::Has(tag, tags.contains(&tag))),
                        (key, Op::Contains(!tags.is_empty())),
                    ]
                }
            },
            Action::Insert => match K::insert(filter, &key, want) {
                Ok(tag) => {
                    owned.push((key, tag));
                    vec![(key, Op::Add(Some(tag)))]
                }
                Err(_) => vec![],
            },
            Action::InsertUnique => match K::insert_unique(filter, &key, want) {
                Ok(Insertion::New(tag)) => {
                    owned.push((key, tag));
                    vec![(key, Op::AddUnique(Some(tag)))]
                }
                Ok(Insertion::Found(tag)) => vec![(key, Op::Found(tag))],
                Err(_) => vec![],
            },
            Action::InsertBatch => {
                let failed: Vec<usize> = match K::insert_batch(filter, keys, &wants) {
                    Ok(()) => vec![],
                    Err(error) => error.failures().map(|(place, _)| place).collect(),
                };
                let known = |at: usize| K::tag(filter, wants[at]).ok().filter(|_| K::IS_PERMANENT);
                let mut added = each(&|at| Op::Add(known(at)));
                added.retain(|(key, _)| !failed.contains(&(*key as usize)));
                added
            }
            Action::InsertUniqueBatch => match K::insert_unique_batch(filter, keys, &mut answers) {
                None => vec![],
                Some(Ok(_)) => each(&|at| unique(answers[at])),
                Some(Err(_)) => return None,
            },
            Action::InsertUniqueMask => match K::insert_unique_mask(filter, keys) {
                None => vec![],
                Some(mask) if mask.refused == 0 => each(&|at| unique(mask.added >> at & 1 == 1)),
                Some(_) => return None,
            },
            Action::Remove => match own {
                None => vec![],
                Some(own) => {
                    let (key, tag) = owned.swap_remove(own);
                    vec![(key, Self::removed(tag, K::remove(filter, &key, tag)))]
                }
            },
            Action::RemoveBatch => {
                let is_kept = |of: &&(u64, K::Tag)| of.0 == 0 && !K::IS_PERMANENT;
                let (kept, all): (Vec<_>, Vec<_>) = owned.iter().partition(is_kept);
                *owned = kept;
                let of: Vec<u64> = all.iter().map(|&(key, _)| key).collect();
                let tags: Vec<K::Tag> = all.iter().map(|&(_, tag)| tag).collect();
                let mut removed = vec![choice == 0; all.len()];
                K::remove_batch(filter, &of, &tags, &mut removed);
                let ops = all.iter().zip(removed);
                ops.map(|(&(key, tag), removed)| (key, Self::removed(tag, removed))).collect()
            }
            Action::Retag => match own {
                None => vec![],
                Some(own) => match K::retag(filter, key, owned[own].1, choice) {
                    None => vec![],
                    Some(new) => {
                        vec![(key, Op::Retag(std::mem::replace(&mut owned[own].1, new), new))]
                    }
                },
            },
            Action::Merge => match K::merge(filter, &self.other) {
                None => vec![],
                Some(Ok(())) => {
                    let tag = |at: usize| K::tag(filter, K::usual_want(filter, at as u64)).ok();
                    each(&|at| Op::Add(tag(at)))
                }
                Some(Err(_)) => return None,
            },
            Action::Clone => Self::copied(&filter.try_clone().expect("memory"), each),
            #[cfg(feature = "std")]
            Action::Save => {
                let bytes = filter.to_bytes();
                let copy = Filter::loader().bytes(&bytes).expect("its own bytes");
                Self::copied(&copy, each)
            }
            #[cfg(not(feature = "std"))]
            Action::Save => vec![],
            Action::Clear => {
                filter.clear();
                each(&|_| Op::Clear)
            }
            Action::Grow => {
                let first = KEYS + FILLING[1] + number * GROWTH;
                let growth = if K::GROWS { GROWTH } else { 0 };
                for key in first..first + growth {
                    let want = K::usual_want(filter, key);
                    K::insert(filter, &key, want).expect("room to grow");
                }
                vec![]
            }
            Action::Advance => {
                K::advance(filter);
                vec![]
            }
            Action::Refresh if K::IS_PERMANENT => vec![],
            Action::Refresh => vec![(0, Op::Contains(K::refresh(filter, 0)))],
        })
    }

    fn removed(tag: K::Tag, removed: bool) -> Op<K::Tag> {
        let may_spare = K::GROWS && !K::IS_PERMANENT;
        if removed || !may_spare { Op::Remove(tag, removed) } else { Op::Spared }
    }

    /// Checks the counts of a copy.
    fn copied(
        copy: &Of<K>,
        each: impl Fn(&dyn Fn(usize) -> Op<K::Tag>) -> Vec<(u64, Op<K::Tag>)>,
    ) -> Vec<(u64, Op<K::Tag>)> {
        let counts: Vec<usize> = all_keys(K::GROWS).iter().map(|key| copy.count(key)).collect();
        assert_eq!(copy.len(), counts.iter().sum(), "a copy counts what it does not hold");
        each(&|at| Op::Count(counts[at]))
    }

    /// Checks the history of each key, and the counts in the end.
    fn check(&self, number: u64, mut events: Vec<(u64, Event<K::Tag>)>) {
        let counts: Vec<usize> =
            all_keys(K::GROWS).iter().map(|key| self.filter.count(key)).collect();
        assert_eq!(self.filter.len(), counts.iter().sum(), "program {number}: miscounted");
        let start = self.clock.load(SeqCst);
        for key in 0..KEYS {
            let op = Op::Count(counts[key as usize]);
            events.push((key, Event { thread: THREADS, start, end: start + 1, op }));
            let filled: Vec<_> =
                self.filled.iter().filter(|of| of.0 == key).map(|of| of.1).collect();
            let mut of_key: Vec<_> =
                events.iter().filter(|of| of.0 == key).map(|of| of.1).collect();
            of_key.sort_unstable_by_key(|event| event.start);
            assert!(
                is_linearizable(&filled, &of_key),
                "key {key} is not linearizable: program {number} (GUIRA_PROGRAM={number} runs it \
                 alone), seed {}, filled with {filled:?}\n{of_key:#?}",
                self.seed,
            );
        }
    }
}

/// Runs a program once. Returns what was done.
fn run<K: Kind>(seeds: &[u64], number: u64) -> BTreeSet<Action>
where
    K::Tag: Hash,
{
    let scene = &Scene::<K>::new(seeds, number);
    let histories: Option<Vec<_>> = thread::scope(|scope| {
        let perform = |thread| scope.spawn(move || scene.perform(thread));
        let threads: Vec<_> = (0..THREADS).map(perform).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    if let Some(histories) = histories {
        scene.check(number, histories.concat());
    }
    std::mem::take(&mut *scene.done.lock().expect("no panic"))
}

/// Runs programs, and checks that each call was among them.
pub fn histories_are_linearizable<K: Kind>()
where
    K::Tag: Hash,
{
    let (seeds, done) = (Arc::new(seeds::<K>()), Arc::new(Mutex::new(BTreeSet::new())));
    for number in programs(PROGRAMS) {
        let (seeds, done) = (Arc::clone(&seeds), Arc::clone(&done));
        let run = move || done.lock().expect("no panic").append(&mut run::<K>(&seeds, number));
        #[cfg(shuttle)]
        shuttle::check_random(run, 20);
        #[cfg(not(shuttle))]
        run();
    }
    let done = done.lock().expect("no panic");
    let missing: Vec<_> = ACTIONS.iter().filter(|action| !done.contains(action)).collect();
    assert!(missing.is_empty() || variable("GUIRA_PROGRAM").is_some(), "never done: {missing:?}");
}
