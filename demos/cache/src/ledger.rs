//! The exact state of every key, to check answers while other threads change the keys.
//!
//! Each key has a word: [`CHANGING`], or its [`State`]. A writer locks the key, flags the word,
//! changes the store, and then stores the new state. A reader takes no lock and loads the word
//! before and after its lookup. If both loads agree and no change was in progress, exactly one
//! answer is right. Otherwise the lookup overlaps a change, and its answer cannot be checked.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering, fence},
};

/// Number of locks that all keys share: enough that threads seldom wait for one another.
const LOCKS: usize = 1024;

/// Word of a key while a change is in progress.
const CHANGING: u64 = u64::MAX;

/// The state of a key at one moment: whether it is in the store, below its version, which is the
/// number of changes so far.
#[derive(Clone, Copy)]
pub struct State(u64);

impl State {
    fn new(version: u64, is_present: bool) -> Self {
        Self(version << 1 | u64::from(is_present))
    }

    /// Returns the version that the key has after the next change.
    pub fn next_version(self) -> u64 {
        (self.0 >> 1) + 1
    }

    /// Returns the version of the key's row, if it has one.
    pub fn row(self) -> Option<u64> {
        (self.0 & 1 != 0).then_some(self.0 >> 1)
    }
}

/// The words and locks of all keys.
pub struct Ledger {
    words: Vec<AtomicU64>,
    locks: Vec<Mutex<()>>,
}

impl Ledger {
    /// Creates a ledger from the initial presence of each key, with all versions at 0.
    pub fn new(present: &[bool]) -> Self {
        let words = present.iter().map(|&present| AtomicU64::new(State::new(0, present).0));
        Self { words: words.collect(), locks: (0..LOCKS).map(|_| Mutex::new(())).collect() }
    }

    /// Loads the state of a key, before a lookup.
    pub fn load(&self, index: usize) -> State {
        // Acquire: pairs with the store in `LockedKey::finish`, so the lookup sees that change.
        State(self.words[index].load(Ordering::Acquire))
    }

    /// Returns whether the key was unchanged since `before`, so that the answer can be checked.
    pub fn is_still(&self, index: usize, before: State) -> bool {
        // Acquire: pairs with the fence in `LockedKey::begin`. If the lookup saw the effect of a
        // change, the load below sees that change's flag.
        fence(Ordering::Acquire);
        // Relaxed: the fence orders it after the lookup.
        before.0 != CHANGING && self.words[index].load(Ordering::Relaxed) == before.0
    }

    /// Locks a key against changes by other threads.
    pub fn lock(&self, index: usize) -> LockedKey<'_> {
        let lock = self.locks[index % LOCKS].lock().unwrap_or_else(PoisonError::into_inner);
        let word = &self.words[index];
        // Relaxed: the lock orders it after the last change.
        LockedKey { word, state: State(word.load(Ordering::Relaxed)), _lock: lock }
    }
}

/// A key that no other thread can change.
pub struct LockedKey<'a> {
    word: &'a AtomicU64,
    /// The state of the key when it was locked.
    pub state: State,
    _lock: MutexGuard<'a, ()>,
}

impl LockedKey<'_> {
    /// Begins a change: from here on, lookups may find the key present or absent.
    pub fn begin(&self) {
        // Relaxed: the fence orders it before the change.
        self.word.store(CHANGING, Ordering::Relaxed);
        // Release: pairs with the fence in `Ledger::is_still`.
        fence(Ordering::Release);
    }

    /// Finishes a change and unlocks the key.
    pub fn finish(self, is_present: bool) {
        // Release: pairs with the load in `Ledger::load`.
        self.word.store(State::new(self.state.next_version(), is_present).0, Ordering::Release);
    }
}

#[cfg(test)]
#[test]
fn a_change_is_noticed() {
    let ledger = Ledger::new(&[true, false]);
    let before = ledger.load(0);
    assert_eq!(before.row(), Some(0));
    assert!(ledger.is_still(0, before));

    let key = ledger.lock(0);
    key.begin();
    assert!(!ledger.is_still(0, before));
    let during = ledger.load(0);
    assert!(!ledger.is_still(0, during));
    key.finish(true);
    assert!(!ledger.is_still(0, before));
    assert_eq!(ledger.load(0).row(), Some(1));
    assert!(ledger.is_still(0, ledger.load(0)));

    ledger.lock(0).finish(false);
    assert_eq!(ledger.load(0).row(), None);
    assert_eq!(ledger.load(0).next_version(), 3);
    assert_eq!(ledger.load(1).row(), None);
}
