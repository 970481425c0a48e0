//! Numbers that threads lease: see `threads.rs`.

use core::num::NonZero;

use super::{Relaxed, atomic::AtomicUsize};

/// How many numbers there are.
pub(crate) const MAX_LEASES: usize = 64;

/// Numbers below [`MAX_LEASES`], each leased to the threads whose thread-locals are at one address.
///
/// Only one thread at a time has its thread-locals at an address, so no two threads have one number
/// at once. A thread that has ended does nothing to give its number back: that would need a
/// destructor, and its registration allocates memory, which can be refused. The next thread at this
/// address gets the number. What the last one did happened before: its thread-locals were in the
/// memory that the system has initialized again for the next one.
#[derive(Debug)]
pub struct Leases {
    /// The address to which each number is leased, or zero. The leased numbers come first.
    owners: [AtomicUsize; MAX_LEASES],
}

impl Leases {
    /// Returns all numbers, none of them leased.
    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Self { owners: [const { AtomicUsize::new(0) }; MAX_LEASES] }
    }

    /// Returns all numbers, none of them leased. Loom's atomics cannot be constants.
    #[cfg(loom)]
    #[must_use]
    pub fn new() -> Self {
        Self { owners: core::array::from_fn(|_| AtomicUsize::new(0)) }
    }

    /// Returns the number that is leased to this address, or leases the lowest one that is free, or
    /// returns `None` if all are leased to others. Waits for nothing.
    pub fn of(&self, owner: NonZero<usize>) -> Option<usize> {
        self.owners.iter().position(|place| {
            // Relaxed: the address publishes nothing.
            let leased = place.compare_exchange(0, owner.get(), Relaxed, Relaxed);
            leased.is_ok() || leased == Err(owner.get())
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use core::num::NonZero;

    use super::{Leases, MAX_LEASES};

    #[test]
    fn an_address_keeps_its_number() {
        let leases = Leases::new();
        let of = |owner: usize| leases.of(NonZero::new(owner).expect("an address"));
        assert!((0..MAX_LEASES).all(|number| of(1_000 + number) == Some(number)));
        assert_eq!(of(1), None);
        assert!((0..MAX_LEASES).rev().all(|number| of(1_000 + number) == Some(number)));
    }
}
