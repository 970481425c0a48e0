//! Numbers that threads lease: see `threads.rs`.

use super::{Acquire, Release, atomic::AtomicU64};

/// How many numbers there are.
pub(crate) const MAX_LEASES: usize = u64::BITS as usize;

/// Numbers below [`MAX_LEASES`], each leased to one thread at a time. What a thread did before it
/// gave its number back happened before the next thread got it.
#[derive(Debug)]
pub struct Leases {
    /// Bit `i` is set while the number `i` is leased.
    leased: AtomicU64,
}

impl Leases {
    /// Returns all numbers, none of them leased.
    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Self { leased: AtomicU64::new(0) }
    }

    /// Returns all numbers, none of them leased. Loom's atomics cannot be constants.
    #[cfg(loom)]
    #[must_use]
    pub fn new() -> Self {
        Self { leased: AtomicU64::new(0) }
    }

    /// Leases the lowest number that is free, or returns `None` if all are leased. Waits for
    /// nothing.
    pub fn take(&self) -> Option<usize> {
        (0..MAX_LEASES).find(|number| {
            // Acquire: pairs with the Release in `give_back`.
            // mutant: lease-twice
            let leased = self.leased.fetch_or(1 << number, Acquire);
            leased >> number & 1 == 0
        })
    }

    /// Gives a leased number back.
    pub fn give_back(&self, number: usize) {
        // Release: publishes what this thread did as the number's owner. Pairs with the Acquire in
        // `take`.
        self.leased.fetch_and(!(1 << number), Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Leases, MAX_LEASES};

    #[test]
    fn a_number_that_was_given_back_is_leased_again() {
        let leases = Leases::new();
        assert!((0..MAX_LEASES).all(|number| leases.take() == Some(number)));
        assert_eq!(leases.take(), None);
        leases.give_back(5);
        assert_eq!((leases.take(), leases.take()), (Some(5), None));
    }
}
