//! What is true of every key, exactly, so that every answer can be checked while others change the keys.
//!
//! Each key has a word: whether it is present, the version of its row, and whether it is being changed.
//! Who changes a key holds its lock, marks the word, and sets it anew when the change is complete. Who asks takes
//! no lock, and reads the word before and after: if it is the same, and not marked, then the key was not
//! changed in between, and there is one right answer. Otherwise the answer overlaps a change and cannot be
//! checked.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering, fence},
};

/// Locks for all keys: so many that threads seldom wait for one another.
const LOCKS: usize = 1024;

const PRESENT: u64 = 1;
const CHANGING: u64 = 2;
const VERSION: u64 = 4;

/// What is true of a key at one time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct State(u64);

impl State {
    pub fn is_present(self) -> bool {
        self.0 & PRESENT != 0
    }

    /// Counts the changes of the key.
    pub fn version(self) -> u64 {
        self.0 / VERSION
    }

    /// The version of its row, if it has one.
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
    /// A ledger in which each key is present or not, in its first version.
    pub fn new(present: &[bool]) -> Self {
        let words = present.iter().map(|&present| AtomicU64::new(u64::from(present))).collect();
        Self { words, locks: (0..LOCKS).map(|_| Mutex::new(())).collect() }
    }

    /// The state of a key before it is asked about.
    pub fn look(&self, at: usize) -> State {
        // Acquire: the end of the last change, in `Held::settle`.
        State(self.words[at].load(Ordering::Acquire))
    }

    /// Whether the state still is what it was, so that the answer to what was asked meanwhile can be checked.
    pub fn is_still(&self, at: usize, before: State) -> bool {
        // Acquire: whose change the asking met, has marked the word, in `Held::mark`.
        fence(Ordering::Acquire);
        // Relaxed: the fence orders it after the asking.
        before.0 & CHANGING == 0 && self.words[at].load(Ordering::Relaxed) == before.0
    }

    /// Waits until nobody else holds the key.
    pub fn hold(&self, at: usize) -> Held<'_> {
        let lock = self.locks[at % LOCKS].lock().unwrap_or_else(PoisonError::into_inner);
        Held { word: &self.words[at], _lock: lock }
    }
}

/// A key that nobody else changes.
pub struct Held<'a> {
    word: &'a AtomicU64,
    _lock: MutexGuard<'a, ()>,
}

impl Held<'_> {
    pub fn state(&self) -> State {
        // Relaxed: the lock orders it after the last change.
        State(self.word.load(Ordering::Relaxed))
    }

    /// Says that from here on the key may be found present, and absent.
    pub fn mark(&self) {
        // Relaxed: the fence orders it before the change.
        self.word.store(self.state().0 | CHANGING, Ordering::Relaxed);
        // Release: whoever meets the change, in `Ledger::is_still`.
        fence(Ordering::Release);
    }

    /// Says that the key is present, or absent, from here on, in the next version.
    pub fn settle(self, present: bool) {
        let word = ((self.state().version() + 1) * VERSION) | u64::from(present);
        // Release: whoever looks, in `Ledger::look`, finds the change complete.
        self.word.store(word, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_noticed() {
        let ledger = Ledger::new(&[true, false]);
        let before = ledger.look(0);
        assert_eq!(before.row(), Some(0));
        assert!(ledger.is_still(0, before));

        let held = ledger.hold(0);
        held.mark();
        assert!(!ledger.is_still(0, before));
        let during = ledger.look(0);
        assert!(!ledger.is_still(0, during));
        held.settle(true);
        assert!(!ledger.is_still(0, before));
        assert_eq!(ledger.look(0).row(), Some(1));
        assert!(ledger.is_still(0, ledger.look(0)));

        ledger.hold(0).settle(false);
        assert_eq!(ledger.look(0).row(), None);
        assert_eq!(ledger.look(0).version(), 2);
        assert_eq!(ledger.look(1).row(), None);
    }
}
