//! The specification of one key: a multiset of tags. The tag is `None` if it is not known.
//!
//! Where items expire, the tag is the generation, and is always known. An advance is not one moment
//! to all calls, so each call decides by a generation of its own, which must be one that was the
//! present one between its start and its end. Nothing is ever swept: what has expired cannot be
//! seen.
//!
//! A limit on copies is that of `max_copies`: an insert is refused only if there are that many, and
//! k sequences of inserts, in each of which one insert ends before the next one starts, add no copy
//! beyond `limit + k - 1`. So a single sequence never exceeds it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    hash::Hash,
    marker::PhantomData,
};

use todc_utils::{Action as Moment, History, Specification, WGLChecker};

/// What distinguishes the copies of a key.
pub trait Tag: Copy + Debug + Ord + Hash {
    /// The generation that it is, where items expire.
    fn generation(self) -> Option<u64> {
        None
    }

    /// The tag that is this generation, where items expire.
    fn of(_generation: u64) -> Option<Self> {
        None
    }
}

/// Of a set.
impl Tag for () {}

/// Of a map: the value.
impl Tag for u16 {}

impl Tag for u64 {
    fn generation(self) -> Option<u64> {
        Some(self)
    }

    fn of(generation: u64) -> Option<u64> {
        Some(generation)
    }
}

/// What a call did to a key, or found of it.
#[derive(Clone, Copy, Debug)]
pub enum Op<T> {
    Contains(bool),
    /// The number of copies, in the filter or in a copy of it.
    Count(usize),
    /// With the age of the item, in generations.
    Add(Option<T>, u64),
    /// Of an absent key.
    AddUnique(Option<T>, u64),
    /// An insert found too many copies.
    Refused,
    /// A merge that is refused may add a copy first, and then removes it again. With whether it
    /// found too many copies of some key.
    Lend(T, bool),
    TakeBack(T),
    /// A copy was found in place of being added, with its tag if that was told.
    Found(Option<T>),
    Remove(T, bool),
    Retag(T, T),
    /// Whether there is a copy with this tag.
    Has(T, bool),
    Refresh(bool),
    Clear,
    /// The end of a clear: it clears the buckets of a key one after the other.
    ClearRest,
}

/// A step of a call, and the generations by which it can have decided: the first and the last.
#[derive(Clone, Copy, Debug)]
pub struct Event<T> {
    pub thread: usize,
    pub start: usize,
    pub end: usize,
    pub now: (u64, u64),
    pub op: Op<T>,
}

impl<T> Event<T> {
    /// Whether this may add a copy.
    fn adds(&self) -> bool {
        matches!(self.op, Op::Add(..) | Op::AddUnique(..) | Op::Lend(..))
    }
}

/// What filters differ in.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Largest age of an item that is found.
    pub window: u64,
    /// Slots of one item can know different parts of it. Then a refresh may refresh all copies in
    /// place of the oldest one, and a removal may refuse to take a copy beside a newer one.
    pub grows: bool,
    /// The limit on copies, if there is one.
    pub limit: Option<usize>,
    /// The fewest copies that can be too many.
    pub too_many: usize,
}

/// The copies of the key, and the merges that are to be refused: each by its start, and whether it
/// has added a copy. Also clears, with the copies that they have yet to take.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Contents<T> {
    tags: Vec<Option<T>>,
    lent: BTreeMap<usize, bool>,
    cleared: BTreeMap<usize, Vec<Option<T>>>,
}

/// The contents that there can be: more than one, if it is not known which copy a call took.
type States<T> = BTreeSet<Contents<T>>;

#[derive(Clone, Debug)]
enum Operation<T> {
    Filled(Vec<T>),
    /// With the most copies that there can be afterwards, if it adds one.
    Called(Event<T>, usize, Rules),
}

struct Multiset<T>(PhantomData<T>);

impl<T: Tag> Specification for Multiset<T> {
    type State = States<T>;
    type Operation = Operation<T>;

    fn init() -> States<T> {
        States::from([Contents { tags: vec![], lent: BTreeMap::new(), cleared: BTreeMap::new() }])
    }

    fn apply(operation: &Operation<T>, states: &States<T>) -> (bool, States<T>) {
        let after: States<T> = match operation {
            Operation::Filled(tags) => {
                let tags: Vec<_> = tags.iter().copied().map(Some).collect();
                let filled =
                    |contents: &Contents<T>| Contents { tags: tags.clone(), ..contents.clone() };
                states.iter().map(filled).collect()
            }
            Operation::Called(event, most, rules) => {
                let after = states.iter().flat_map(|contents| match event.op {
                    Op::Lend(tag, _) => lend(contents, event.start, tag),
                    Op::TakeBack(tag) => {
                        take_back(contents, event.start, tag).into_iter().collect()
                    }
                    Op::Clear => clear_some(contents, event.start),
                    Op::ClearRest => clear_rest(contents, event.start),
                    op => {
                        let with = |tags| Contents { tags, ..contents.clone() };
                        let all = (event.now.0..=event.now.1)
                            .flat_map(|now| step(&contents.tags, op, now, *rules));
                        all.map(with).collect()
                    }
                });
                let is_possible = |after: &Contents<T>| !event.adds() || after.tags.len() <= *most;
                after.filter(is_possible).collect()
            }
        };
        (!after.is_empty(), after)
    }
}

/// A merge adds a copy or not.
fn lend<T: Tag>(contents: &Contents<T>, merge: usize, tag: T) -> Vec<Contents<T>> {
    let [mut without, mut with] = [contents.clone(), contents.clone()];
    without.lent.insert(merge, false);
    with.lent.insert(merge, true);
    with.tags.push(Some(tag));
    with.tags.sort_unstable();
    vec![without, with]
}

/// The merge removes what it added. `None` if it has not begun.
fn take_back<T: Tag>(contents: &Contents<T>, merge: usize, tag: T) -> Option<Contents<T>> {
    let mut after = contents.clone();
    if after.lent.remove(&merge)? {
        let place = after.tags.iter().position(|other| *other == Some(tag))?;
        after.tags.remove(place);
    }
    Some(after)
}

/// The ways to keep a part of some tags.
fn parts<T: Tag>(tags: &[Option<T>]) -> Vec<Vec<Option<T>>> {
    let mut parts = vec![vec![]];
    for &tag in tags {
        let with = |part: &Vec<_>| part.iter().copied().chain([tag]).collect();
        let with: Vec<_> = parts.iter().map(with).collect();
        parts.extend(with);
    }
    parts
}

/// A clear takes the copies in one bucket.
fn clear_some<T: Tag>(contents: &Contents<T>, clear: usize) -> Vec<Contents<T>> {
    let left = |tags: Vec<Option<T>>| {
        let mut after = Contents { tags: tags.clone(), ..contents.clone() };
        after.cleared.insert(clear, tags);
        after
    };
    parts(&contents.tags).into_iter().map(left).collect()
}

/// It takes those that were in the other one, and what was added there. Nothing, if it has not
/// begun.
fn clear_rest<T: Tag>(contents: &Contents<T>, clear: usize) -> Vec<Contents<T>> {
    let mut after = contents.clone();
    let Some(rest) = after.cleared.remove(&clear) else { return vec![] };
    for tag in rest {
        if let Some(place) = after.tags.iter().position(|other| *other == tag) {
            after.tags.remove(place);
        }
    }
    parts(&after.tags).into_iter().map(|tags| Contents { tags, ..after.clone() }).collect()
}

/// The contents that there can be after a step that decides by the generation `now`: none, if it is
/// not possible.
fn step<T: Tag>(tags: &[Option<T>], op: Op<T>, now: u64, rules: Rules) -> Vec<Vec<Option<T>>> {
    let is_visible = |tag: &Option<T>| {
        let generation = tag.and_then(T::generation);
        generation.is_none_or(|generation| now.saturating_sub(generation) <= rules.window)
    };
    let (mut after, mut all_refreshed) = (tags.to_vec(), None);
    let place = |tag: T| tags.iter().position(|other| *other == Some(tag) && is_visible(other));
    let may_have = |tag: T| {
        tags.iter().any(|other| other.is_none_or(|other| other == tag) && is_visible(other))
    };
    let copies = tags.iter().filter(|tag| is_visible(tag)).count();
    let mut add = |tag: Option<T>, age: u64| {
        let of_now = T::of(now - age);
        after.push(tag.or(of_now));
        tag.is_none() || of_now.is_none() || tag == of_now
    };
    let is_right = match op {
        Op::Contains(found) => found == (copies > 0),
        Op::Count(counted) => counted == copies,
        Op::Add(tag, age) => add(tag, age),
        Op::AddUnique(tag, age) => add(tag, age) && copies == 0,
        Op::Found(found) => found.map_or(copies > 0, may_have),
        Op::Remove(tag, removed) => {
            let is_newer = |other: &Option<T>| *other > Some(tag) && is_visible(other);
            let may_spare = rules.grows && tag.generation().is_some() && tags.iter().any(is_newer);
            if removed || !may_spare {
                place(tag).map(|place| after.remove(place));
                place(tag).is_some() == removed
            } else {
                true
            }
        }
        Op::Retag(old, new) => {
            let place = place(old);
            if let Some(place) = place {
                after[place] = Some(new);
            }
            place.is_some()
        }
        Op::Has(tag, found) => {
            if found {
                may_have(tag)
            } else {
                place(tag).is_none()
            }
        }
        Op::Refresh(found) => {
            let refreshed = |tag: &Option<T>| if is_visible(tag) { T::of(now) } else { *tag };
            all_refreshed = rules.grows.then(|| tags.iter().map(refreshed).collect::<Vec<_>>());
            // They are sorted.
            if let Some(oldest) = tags.iter().position(is_visible) {
                after[oldest] = T::of(now);
            }
            found == (copies > 0)
        }
        Op::Refused => copies >= rules.too_many,
        Op::Lend(..) | Op::TakeBack(_) | Op::Clear | Op::ClearRest => {
            unreachable!("these are no step of the tags alone")
        }
    };
    if !is_right {
        return vec![];
    }
    let mut all: Vec<_> = all_refreshed.into_iter().chain([after]).collect();
    for tags in &mut all {
        tags.sort_unstable();
    }
    all
}

/// Whether these steps, on a key with these tags, can be put into an order that explains all
/// answers. A call that ended before another one started comes first.
pub fn is_linearizable<T: Tag>(filled: &[T], events: &[Event<T>], rules: Rules) -> bool {
    let filled = Operation::Filled(filled.to_vec());
    let mut moments = Vec::new();
    // Steps of one call overlap, so each is that of a thread of its own.
    let rest = |event: &Event<T>| Event { op: Op::ClearRest, ..*event };
    let clears = events.iter().filter(|event| matches!(event.op, Op::Clear)).map(rest);
    let all = events.iter().copied().chain(clears);
    for (thread, event) in (1..).zip(all) {
        let step = Operation::Called(event, most_copies(&event, events, rules), rules);
        moments.push((event.start, (thread, Moment::Call(step.clone()))));
        moments.push((event.end, (thread, Moment::Response(step))));
    }
    moments.sort_unstable_by_key(|&(moment, _)| moment);
    let mut actions = vec![(0, Moment::Call(filled.clone())), (0, Moment::Response(filled))];
    actions.extend(moments.into_iter().map(|(_, action)| action));
    WGLChecker::<Multiset<T>>::is_linearizable(History::from_actions(actions))
}

/// The most copies that there can be when a call has added one.
fn most_copies<T: Tag>(event: &Event<T>, events: &[Event<T>], rules: Rules) -> usize {
    let overlaps = |other: &Event<T>| other.start < event.end && event.start < other.end;
    let is_clear = |other: &&Event<T>| matches!(other.op, Op::Clear);
    // What is added while others are cleared may remain or not, and which ones it met is not known.
    let is_cleared = events.iter().filter(is_clear).any(overlaps);
    let Some(limit) = rules.limit.filter(|_| !is_cleared) else { return usize::MAX };
    // As many sequences are needed as there are calls at one moment.
    let adds = events.iter().filter(|other| other.adds() && other.start < event.end);
    let at_start = |one: &Event<T>| {
        adds.clone().filter(|other| other.start <= one.start && one.start < other.end).count()
    };
    limit + adds.clone().map(at_start).max().unwrap_or(0).saturating_sub(1)
}
