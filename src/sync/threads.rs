//! The number of the current thread.

#[cfg(all(feature = "std", not(any(loom, shuttle))))]
mod imp {
    use crate::sync::leases::{Leases, MAX_LEASES};
    use core::{
        cell::Cell,
        num::NonZero,
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
    };

    /// The number of a thread that has none yet.
    const NONE: usize = usize::MAX;

    static LEASES: Leases = Leases::new();

    thread_local! {
        /// The thread's number, or [`NONE`]. It has no destructor: to register one, libc allocates
        /// memory, and aborts the process if that is refused.
        static NUMBER: Cell<usize> = const { Cell::new(NONE) };
    }

    /// Returns the number that this thread leases. No other thread has it meanwhile. If all numbers
    /// were leased at the thread's first call, returns one that is at least [`MAX_LEASES`] and may
    /// be another thread's, too.
    #[inline]
    pub(crate) fn number_of_this_thread() -> usize {
        let number = NUMBER.get();
        if number == NONE { assign_number() } else { number }
    }

    /// Assigns a number to this thread.
    #[cold]
    fn assign_number() -> usize {
        static UNLEASED: AtomicUsize = AtomicUsize::new(0);
        let address = NUMBER.with(|number| NonZero::new(core::ptr::from_ref(number).addr()));
        // Relaxed: the number publishes nothing, and need not be unique.
        let other = || MAX_LEASES + UNLEASED.fetch_add(1, Relaxed) % MAX_LEASES;
        let number = address.and_then(|address| LEASES.of(address)).unwrap_or_else(other);
        NUMBER.set(number);
        number
    }
}

/// Without std, threads cannot be distinguished.
#[cfg(not(any(feature = "std", loom, shuttle)))]
mod imp {
    pub(crate) fn number_of_this_thread() -> usize {
        usize::MAX
    }
}

/// Model checkers run all threads of a model on one thread of the system, with identifiers of their
/// own, which are not used twice.
#[cfg(any(loom, shuttle))]
mod imp {
    #[cfg(loom)]
    use loom::thread;

    #[cfg(all(shuttle, not(loom)))]
    use shuttle::thread;

    /// Returns the number in the printed form of the checker's identifier. It is the same in every
    /// execution. The identifier's hash is not, and a model must be deterministic for each
    /// schedule.
    pub(crate) fn number_of_this_thread() -> usize {
        let printed = format!("{:?}", thread::current().id());
        printed
            .bytes()
            .filter(u8::is_ascii_digit)
            .fold(0, |n, digit| 10 * n + usize::from(digit - b'0'))
    }
}

pub(crate) use imp::number_of_this_thread;

#[cfg(all(test, feature = "std", not(any(loom, shuttle))))]
mod tests {
    use alloc::collections::BTreeSet;
    use std::{sync::Barrier, thread};

    use super::number_of_this_thread;
    use crate::sync::leases::MAX_LEASES;

    #[test]
    fn threads_that_live_at_once_have_numbers_of_their_own() {
        const THREADS: usize = 2 * MAX_LEASES;
        let all_live = Barrier::new(THREADS);
        let numbers = thread::scope(|scope| {
            let number = || {
                let number = number_of_this_thread();
                all_live.wait();
                assert_eq!(number_of_this_thread(), number);
                number
            };
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(number)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let is_leased = |&number: &usize| number < MAX_LEASES;
        let leased: Vec<_> = numbers.into_iter().filter(is_leased).collect();
        assert_eq!(leased.iter().collect::<BTreeSet<_>>().len(), leased.len());
    }
}
