//! The calls that a thread makes, and what each did to the keys.

use guira::{InsertError, Insertion, MergeError};

use super::{
    common::{
        Subject,
        kind::{By, Kind, Of, Timing},
    },
    spec::{Op, Tag},
};

/// The keys whose histories are checked. So many are looked up together.
pub const KEYS: u64 = 6;
/// Keys that a filter which grows gets in one step: more than a thread counts for itself.
pub const GROWTH: u64 = if cfg!(shuttle) { 2 } else { 40 };

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    Contains,
    ContainsBatch,
    ContainsMask,
    Count,
    Insert,
    InsertUnique,
    InsertBatch,
    Remove,
    RemoveBatch,
    Clone,
    #[cfg(feature = "std")]
    Save,
    Clear,
    // Not in maps.
    InsertUniqueBatch,
    InsertUniqueMask,
    // Only in maps.
    Values,
    Get,
    ContainsValue,
    Replace,
    // Not where items expire.
    Merge,
    // Only where items expire.
    InsertUniqueFor,
    Refresh,
    RefreshMask,
    InsertOrRefresh,
    InsertOrRefreshMask,
    Sweep,
    Pass,
    // Only in a filter that grows.
    Grow,
    SetMaxBytes,
}

impl Action {
    /// The actions on filters of a kind.
    pub fn of<K: Kind>() -> Vec<Self> {
        use Action::*;

        let mut actions = vec![Contains, ContainsBatch, ContainsMask, Count, Insert, InsertUnique];
        actions.extend([InsertBatch, Remove, RemoveBatch, Clone, Clear]);
        #[cfg(feature = "std")]
        actions.push(Save);
        actions.extend(if K::IS_MAP {
            vec![Values, Get, ContainsValue, Replace]
        } else {
            vec![InsertUniqueBatch, InsertUniqueMask]
        });
        if K::IS_PERMANENT {
            actions.push(Merge);
        } else {
            actions.extend([InsertUniqueFor, Refresh, RefreshMask, Sweep]);
            actions.extend([InsertOrRefresh, InsertOrRefreshMask]);
            actions.extend([Pass; 5]);
        }
        if K::GROWS {
            actions.extend([Grow, SetMaxBytes]);
        }
        actions
    }

    /// Whether it only looks up one key.
    pub fn is_lookup(self) -> bool {
        use Action::*;

        matches!(self, Contains | Count | Values | ContainsValue)
    }

    /// Whether it changes one key, or does as little.
    pub fn is_change(self) -> bool {
        use Action::*;

        let of_one_key = [Insert, InsertUnique, InsertUniqueFor, Remove, Replace, Refresh];
        of_one_key.contains(&self) || [Sweep, Grow].contains(&self)
    }
}

/// What a call did to keys.
pub struct Done<T> {
    pub ops: Vec<(u64, Op<T>)>,
    /// A generation that was the present one at some moment of the call.
    pub seen: Option<u64>,
    /// Whether all of it is about that generation.
    pub is_all_then: bool,
}

impl<T> From<Vec<(u64, Op<T>)>> for Done<T> {
    fn from(ops: Vec<(u64, Op<T>)>) -> Self {
        Self { ops, seen: None, is_all_then: false }
    }
}

/// What an insert did that returned an error: nothing, but the error can be about the copies.
fn refused<T>(key: u64, error: InsertError) -> Option<(u64, Op<T>)> {
    (error == InsertError::TooManyCopies).then_some((key, Op::Refused))
}

/// What an insert found that adds only absent keys, and returned an error.
fn absent<T>(error: InsertError) -> Op<T> {
    assert_ne!(error, InsertError::TooManyCopies);
    Op::Contains(false)
}

/// The counts of a copy.
pub fn counts<K: Kind>(copy: &Of<K>, all_keys: u64) -> Vec<usize> {
    let counts: Vec<usize> = (0..all_keys).map(|key| copy.count(&key)).collect();
    assert_eq!(copy.len(), counts.iter().sum(), "what is counted is not there");
    counts
}

/// What the calls are made on.
#[derive(Clone, Copy)]
pub struct Place<'a, K: Kind> {
    pub filter: &'a Of<K>,
    /// What is merged: each key once.
    pub other: &'a Of<K>,
    pub timing: Timing,
    /// The number of keys that there can be.
    pub all_keys: u64,
    /// The first key of those by which a filter grows in this step.
    pub growth: u64,
}

impl<K: Kind<Tag: Tag>> Place<'_, K> {
    /// What an insert of a key wants: one of a few values, or a long or a short life.
    pub fn want(&self, key: u64, choice: u16) -> u16 {
        if !K::IS_PERMANENT {
            if choice == 0 { 1 } else { self.timing.window as u16 }
        } else if K::IS_MAP {
            choice
        } else {
            K::usual_want(self.filter, key)
        }
    }

    /// The age with which this life begins.
    fn age(&self, life: u16) -> u64 {
        let has_ages = !K::IS_PERMANENT && self.timing.by == By::Advance;
        if has_ages { u64::from(self.timing.window) - u64::from(life) } else { 0 }
    }

    /// Makes a call, and returns what it did.
    #[expect(clippy::too_many_lines, reason = "one arm for each call")]
    pub fn call(
        self,
        (action, key, choice): (Action, u64, u16),
        owned: &mut Vec<(u64, K::Tag)>,
    ) -> Done<K::Tag> {
        let (filter, want) = (self.filter, self.want(key, choice));
        let keys: &[u64] = &(0..KEYS).collect::<Vec<_>>();
        let wants: Vec<u16> = keys.iter().map(|&key| self.want(key, choice)).collect();
        let mut answers = [choice == 0; KEYS as usize];
        let each = |op: &dyn Fn(usize) -> Op<K::Tag>| -> Vec<(u64, Op<K::Tag>)> {
            keys.iter().map(|&key| (key, op(key as usize))).collect()
        };
        // The first key is refreshed where items expire, and never removed there.
        let is_own = |of: &(u64, K::Tag)| of.0 == key && (K::IS_PERMANENT || key != 0);
        let own = owned.iter().position(is_own);
        let unique = |added| if added { Op::AddUnique(None, 0) } else { Op::Found(None) };
        let tag = |choice| K::tag(filter, choice).expect("it fits");
        let nothing = Done::from(vec![]);
        let ops = match action {
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
            Action::Values => {
                let tags = K::tags(filter, &key).expect("it is a map");
                let has = Op::Has(tag(choice), tags.contains(&tag(choice)));
                vec![(key, has), (key, Op::Contains(!tags.is_empty()))]
            }
            Action::Get => {
                let found = K::get_each(filter, keys, choice).expect("it is a map");
                each(&|at| found[at].map_or(Op::Contains(false), |tag| Op::Has(tag, true)))
            }
            Action::ContainsValue => {
                let found = K::contains_tag(filter, key, tag(choice)).expect("it is a map");
                vec![(key, Op::Has(tag(choice), found))]
            }
            Action::Insert => match K::insert(filter, &key, want) {
                Ok(tag) => {
                    owned.push((key, tag));
                    vec![(key, Op::Add(Some(tag), self.age(want)))]
                }
                Err(error) => refused(key, error).into_iter().collect(),
            },
            Action::InsertUnique | Action::InsertUniqueFor => {
                let (inserted, age) = if action == Action::InsertUnique {
                    (K::insert_unique(filter, &key, want), 0)
                } else {
                    (K::insert_unique_for(filter, &key, want), self.age(want))
                };
                match inserted {
                    Ok(Insertion::New(tag)) => {
                        owned.push((key, tag));
                        vec![(key, Op::AddUnique(Some(tag), age))]
                    }
                    Ok(Insertion::Found(tag)) => vec![(key, Op::Found(tag))],
                    Err(error) => vec![(key, absent(error))],
                }
            }
            Action::InsertBatch => {
                let (failed, told) = match K::insert_batch(filter, keys, &wants) {
                    Ok(tag) => (vec![], tag),
                    Err(error) => (error.failures().collect(), None),
                };
                let known = |at: usize| K::tag(filter, wants[at]).ok().filter(|_| K::IS_PERMANENT);
                let mut ops = each(&|at| Op::Add(told.or_else(|| known(at)), 0));
                ops.retain(|&(key, _)| failed.iter().all(|&(at, _)| at as u64 != key));
                ops.extend(failed.iter().filter_map(|&(at, error)| refused(at as u64, error)));
                let seen = told.and_then(K::Tag::generation);
                return Done { ops, seen, is_all_then: seen.is_some() };
            }
            Action::InsertUniqueBatch => {
                let outcome = K::insert_unique_batch(filter, keys, &mut answers);
                let failed: Vec<_> = match outcome.expect("it is no map") {
                    Ok(_) => vec![],
                    Err(error) => error.failures().collect(),
                };
                let error = |at| failed.iter().find(|failure| failure.0 == at).map(|of| of.1);
                each(&|at| error(at).map_or_else(|| unique(answers[at]), absent))
            }
            Action::InsertUniqueMask => {
                let mask = K::insert_unique_mask(filter, keys).expect("it is no map");
                let is_refused = |at: usize| mask.refused >> at & 1 == 1;
                let added = |at: usize| unique(mask.added >> at & 1 == 1);
                each(&|at| if is_refused(at) { Op::Contains(false) } else { added(at) })
            }
            Action::Remove => {
                let Some(own) = own else { return nothing };
                let (key, tag) = owned.swap_remove(own);
                vec![(key, Op::Remove(tag, K::remove(filter, &key, tag)))]
            }
            Action::RemoveBatch => {
                let is_kept = |of: &&(u64, K::Tag)| of.0 == 0 && !K::IS_PERMANENT;
                let (kept, all): (Vec<_>, Vec<_>) = owned.iter().partition(is_kept);
                *owned = kept;
                let of: Vec<u64> = all.iter().map(|&(key, _)| key).collect();
                let tags: Vec<K::Tag> = all.iter().map(|&(_, tag)| tag).collect();
                let mut removed = vec![choice == 0; all.len()];
                K::remove_batch(filter, &of, &tags, &mut removed);
                let ops = all.iter().zip(removed);
                ops.map(|(&(key, tag), removed)| (key, Op::Remove(tag, removed))).collect()
            }
            Action::Replace => {
                let Some(own) = own else { return nothing };
                let Some(new) = K::retag(filter, key, owned[own].1, choice) else {
                    return nothing;
                };
                vec![(key, Op::Retag(std::mem::replace(&mut owned[own].1, new), new))]
            }
            Action::Merge => {
                let tag = |at: usize| K::tag_of(filter, at as u64);
                match K::merge(filter, self.other).expect("it is permanent") {
                    Ok(()) => each(&|at| Op::Add(Some(tag(at)), 0)),
                    Err(error) => {
                        let too_many = error == MergeError::TooManyCopies;
                        let mut ops = each(&|at| Op::Lend(tag(at), too_many));
                        ops.extend(each(&|at| Op::TakeBack(tag(at))));
                        ops
                    }
                }
            }
            Action::Clone => return self.copied(&filter.try_clone().expect("memory")),
            #[cfg(feature = "std")]
            Action::Save => {
                let bytes = filter.to_bytes();
                let copy = K::load(&bytes, self.timing);
                return self.copied(&copy);
            }
            Action::Clear => {
                filter.clear();
                each(&|_| Op::Clear)
            }
            Action::Grow => {
                for key in self.growth..self.growth + GROWTH {
                    let want = K::usual_want(filter, key);
                    match K::insert(filter, &key, want) {
                        // Of the cap.
                        Ok(_) | Err(InsertError::Full | InsertError::Crowded) => {}
                        Err(error) => panic!("room to grow: {error}"),
                    }
                }
                vec![]
            }
            Action::SetMaxBytes => {
                let cap = (choice == 0).then_some(0);
                K::Growth::set_max_bytes(filter, cap);
                vec![]
            }
            Action::Refresh => vec![(0, Op::Refresh(K::refresh(filter, 0)))],
            Action::RefreshMask => {
                let mask = K::refresh_mask(filter, &[0; KEYS as usize]);
                (0..KEYS).map(|at| (0, Op::Refresh(mask >> at & 1 == 1))).collect()
            }
            Action::InsertOrRefresh => vec![(
                0,
                match K::insert_or_refresh(filter, 0) {
                    Ok(Insertion::New(tag)) => Op::AddUnique(Some(tag), 0),
                    Ok(Insertion::Found(())) => Op::Refresh(true),
                    Err(error) => absent(error),
                },
            )],
            Action::InsertOrRefreshMask => {
                let mask = K::insert_or_refresh_mask(filter, &[0; KEYS as usize]);
                let op = |at: u64| match (mask.refused >> at & 1, mask.added >> at & 1) {
                    (1, _) => Op::Contains(false),
                    (_, 1) => unique(true),
                    _ => Op::Refresh(true),
                };
                (0..KEYS).map(|at| (0, op(at))).collect()
            }
            Action::Sweep => {
                K::sweep(filter, 1 + 20 * u64::from(choice));
                vec![]
            }
            Action::Pass => {
                K::pass(filter, self.timing);
                return Done { seen: Some(K::now(filter)), ..nothing };
            }
        };
        Done::from(ops)
    }

    /// Checks the counts of a copy, which is in the generation in which it was made. (If writes
    /// begin generations, its time goes on by the clock of the filter.)
    fn copied(self, copy: &Of<K>) -> Done<K::Tag> {
        let is_still = K::IS_PERMANENT || self.timing.by == By::Advance;
        let counts = loop {
            let time = (self.timing.now)();
            let counts: Vec<usize> = (0..self.all_keys).map(|key| copy.count(&key)).collect();
            let len = copy.len();
            if is_still || (self.timing.now)() == time {
                assert_eq!(len, counts.iter().sum(), "what is counted is not there");
                break counts;
            }
        };
        let ops = (0..KEYS).map(|key| (key, Op::Count(counts[key as usize]))).collect();
        if !is_still {
            return Done::from(ops);
        }
        Done { ops, seen: Some(K::now(copy)), is_all_then: true }
    }
}
