//! The exact state of every key, to check answers while other threads change the keys.
//!
//! Each key has a word with three fields: whether the key is present, the version of its row, and
//! whether a change is in progress. A writer locks the key, flags the word, changes the store, and
//! then stores the new state. A reader takes no lock and loads the word before and after its
//! lookup. If both loads agree and no change was in progress, exactly one answer is right.
//! Otherwise the lookup overlaps a change, and its answer cannot be checked.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering, fence},
};

/// Number of locks that all keys share: enough that threads seldom wait for one another.
const LOCKS: usize = 1024;

/// Flag of a word: the key is in the store.
const PRESENT: u64 = 1;
/// Flag of a word: a change is in progress.
const CHANGING: u64 = 2;
/// The unit of the version, which fills the bits above the flags.
const VERSION: u64 = 4;

/// The state of a key at one moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct State(u64);

impl State {
    /// Returns whether the key is in the store.
    pub fn is_present(self) -> bool {
        self.0 & PRESENT != 0
    }

    /// Returns the number of changes so far.
    pub fn version(self) -> u64 {
        self.0 / VERSION
    }

    /// Returns the version of the key's row, if it has one.
    pub fn row(self) -> Option<u64> {
        self.is_present().then_some(self.version())
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
        let words = present.iter().map(|&present| AtomicU64::new(u64::from(present))).collect();
        Self { words, locks: (0..LOCKS).map(|_| Mutex::new(())).collect() }
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
        before.0 & CHANGING == 0 && self.words[index].load(Ordering::Relaxed) == before.0
    }

    /// Locks a key against changes by other threads.
    pub fn lock(&self, index: usize) -> LockedKey<'_> {
        let lock = self.locks[index % LOCKS].lock().unwrap_or_else(PoisonError::into_inner);
        LockedKey { word: &self.words[index], _lock: lock }
    }
}

/// A key that no other thread can change.
pub struct LockedKey<'a> {
    word: &'a AtomicU64,
    _lock: MutexGuard<'a, ()>,
}

impl LockedKey<'_> {
    /// Returns the state of the key.
    pub fn state(&self) -> State {
        // Relaxed: the lock orders it after the last change.
        State(self.word.load(Ordering::Relaxed))
    }

    /// Begins a change: from here on, lookups may find the key present or absent.
    pub fn begin(&self) {
        // Relaxed: the fence orders it before the change.
        self.word.store(self.state().0 | CHANGING, Ordering::Relaxed);
        // Release: pairs with the fence in `Ledger::is_still`.
        fence(Ordering::Release);
    }

    /// Finishes a change and unlocks the key.
    pub fn finish(self, present: bool) {
        let word = ((self.state().version() + 1) * VERSION) | u64::from(present);
        // Release: pairs with the load in `Ledger::load`.
        self.word.store(word, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(ledger.load(0).version(), 2);
        assert_eq!(ledger.load(1).row(), None);
    }
}
