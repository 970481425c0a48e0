//! Writers that take locks, beside a thread that has stopped in a public method.
//!
//! A stopped thread delays only those that need a lock that it holds: that of one stripe, or of
//! several ones if its call is one on the whole filter. (The writers here take no other locks, such
//! as that of sweeps.) To release a lock is no step, so it may hold the last stripe that it locked,
//! and in a call on the whole filter all that it locked.
//!
//! Which locks a writer takes is seen in copies of a filter whose thread panicked before the same
//! step: no lock is held there, and the words are the same. The writers that take none of those
//! locks go on beside the stopped thread.

use std::collections::BTreeSet;

use guira::{
    Insertion,
    raw::steps::{Step, with_hook},
};

use super::{
    calls::Action,
    common::{
        halting::steps,
        kind::{Kind, Of},
    },
    halts::Scene,
    spec::Tag,
};

/// A call that takes a lock. A second one takes back what it added or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writer {
    Count,
    Remove,
    Replace,
    Refresh,
    /// An insert that moves other items.
    MakeRoom,
    InsertUnique,
}

impl Writer {
    const ALL: [Self; 6] = [
        Self::Count,
        Self::Remove,
        Self::Replace,
        Self::Refresh,
        Self::MakeRoom,
        Self::InsertUnique,
    ];

    /// The writers of filters of a kind.
    pub fn of<K: Kind>() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|writer| match writer {
            Self::Count | Self::Remove => true,
            Self::MakeRoom => K::IS_PERMANENT,
            Self::InsertUnique => K::IS_PERMANENT || !K::GROWS,
            Self::Replace => K::IS_MAP,
            Self::Refresh => !K::IS_PERMANENT,
        })
    }

    /// Whether it is tried beside this call.
    fn is_beside<K: Kind<Tag: Tag>>(self, scene: &Scene<K>) -> bool {
        match self {
            Self::Count => true,
            // Others insert nothing that may make the filter grow.
            Self::MakeRoom => scene.setting.room.is_scarce,
            Self::InsertUnique if K::GROWS => scene.setting.room.is_scarce,
            // What is inserted or removed may be cleared.
            _ => scene.action() != Action::Clear,
        }
    }

    /// Whether the writer takes items with this key, among those that no call touches.
    pub fn takes(self, key: u64) -> bool {
        key as usize % Self::ALL.len() == self as usize
    }

    /// Writes an item, which is absent if this inserts it. Returns whether all went well.
    fn write<K: Kind>(self, filter: &Of<K>, (key, tag): (u64, K::Tag)) -> bool {
        let want = K::usual_want(filter, key);
        match self {
            // A panic may have left a second copy of an item that was to be moved.
            Self::Count => filter.count(&key) <= 2,
            Self::Remove => K::remove(filter, &key, tag),
            Self::InsertUnique => match K::insert_unique(filter, &key, want) {
                Ok(Insertion::New(tag)) => K::remove(filter, &key, tag),
                _ => false,
            },
            Self::MakeRoom => K::add(filter, key).is_ok() && K::remove(filter, &key, tag),
            Self::Replace => K::retag(filter, key, tag, want ^ 1)
                .is_some_and(|new| K::retag(filter, key, new, want) == Some(tag)),
            Self::Refresh => K::refresh(filter, key),
        }
    }
}

/// The locks of all stripes, in order.
pub fn stripes<K: Kind>(filter: &Of<K>) -> Vec<Step> {
    let taken = steps(|| filter.try_clone().expect("memory"));
    let locks = taken.into_iter().filter_map(|step| match step {
        Step::Lock(address) => Some(address),
        _ => None,
    });
    // A copy takes all of them, one after the other, and they are at equal distances.
    let locks: Vec<usize> = locks.collect();
    let middle = locks.len() / 2;
    let distance = locks[middle] - locks[middle - 1];
    let is_stripe = |lock: &&usize| {
        [**lock - distance, **lock + distance].iter().any(|next| locks.contains(next))
    };
    locks.iter().filter(is_stripe).map(|&lock| Step::Lock(lock)).collect()
}

/// The numbers of the stripes whose locks a thread may hold after these steps of a call.
pub fn held(action: Action, taken: &[Step], stripes: &[Step]) -> Vec<usize> {
    let places = taken.iter().filter_map(|step| stripes.iter().position(|lock| lock == step));
    let mut held: Vec<usize> = places.collect();
    let is_whole = match action {
        #[cfg(feature = "std")]
        Action::Save => true,
        Action::Clear | Action::Clone => true,
        _ => false,
    };
    if !is_whole {
        held.drain(..held.len().saturating_sub(1));
    }
    held
}

/// Has writers of each kind go on beside a thread that has stopped in a call on `scene`, and may
/// hold some stripes. In `twin` it has panicked before the same step. Returns which ones went on.
pub fn beside<K: Kind<Tag: Tag>>(
    scene: &Scene<K>,
    twin: &Scene<K>,
    held: &[usize],
    locks: &[Step],
) -> BTreeSet<Writer> {
    let stripes = stripes::<K>(&twin.filter);
    let is_possible = |writer: &Writer| writer.is_beside(twin);
    let goes_on = |writer: &Writer| {
        let mut present = twin.others.iter().copied().filter(|&(key, _)| writer.takes(key));
        let mut absent = twin.absent().map(|key| (key, K::tag_of(&twin.filter, key)));
        // Every writer takes the lock that a count takes.
        let count = |key| steps(|| _ = twin.filter.count(&key));
        let is_apart = |item: &(u64, K::Tag)| are_apart(&count(item.0), held, &stripes);
        let moves_apart = |item: &_| moves_apart::<K>(&twin.filter, *item, held);
        let item = match writer {
            Writer::InsertUnique => absent.find(is_apart),
            Writer::MakeRoom => absent.filter(is_apart).find(moves_apart),
            _ => present.find(is_apart),
        };
        let Some(item) = item else { return false };
        let mut is_written = false;
        let alone = steps(|| is_written = writer.write::<K>(&twin.filter, item));
        if *writer == Writer::InsertUnique && !(is_written && are_apart(&alone, held, &stripes)) {
            // There is no room, or not without other locks. No other writer follows.
            return false;
        }
        assert!(is_written, "{writer:?} where a thread has panicked in {:?}", scene.action());
        let held: Vec<Step> = held.iter().map(|&place| locks[place]).collect();
        let hook = move |step| {
            assert!(!held.contains(&step), "this waits for the thread that has stopped");
        };
        let is_written = with_hook(hook, || writer.write::<K>(&scene.filter, item));
        assert!(is_written, "{writer:?} beside {:?}", scene.action());
        true
    };
    Writer::of::<K>().filter(is_possible).filter(goes_on).collect()
}

/// Whether all locks among these steps are those of stripes, and none of these.
fn are_apart(taken: &[Step], held: &[usize], stripes: &[Step]) -> bool {
    let is_free = |step: &Step| {
        let place = stripes.iter().position(|lock| lock == step);
        place.is_some_and(|place| !held.contains(&place))
    };
    taken.iter().filter(|step| step.is_lock()).all(is_free)
}

/// Whether a copy shows that an insert of an item moves others, and takes none of these locks.
fn moves_apart<K: Kind>(filter: &Of<K>, item: (u64, K::Tag), held: &[usize]) -> bool {
    let copy = filter.try_clone().expect("memory");
    let mut is_written = false;
    let taken = steps(|| is_written = Writer::MakeRoom.write::<K>(&copy, item));
    // One is taken when the item is removed again.
    let moves = taken.iter().filter(|step| step.is_lock()).count() > 1;
    is_written && moves && are_apart(&taken, held, &stripes::<K>(&copy))
}
