//! The number of the current thread, and the number of processors.

#[cfg(all(feature = "std", not(any(loom, shuttle))))]
mod imp {
    use core::{
        cell::Cell,
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
    };
    use std::{sync::OnceLock, thread};

    thread_local! {
        /// The thread's number, or `usize::MAX` before it has one.
        static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    /// Returns a number that only this thread has. Threads are numbered in the order of their first
    /// calls.
    #[inline]
    pub(crate) fn number_of_this_thread() -> usize {
        let number = NUMBER.get();
        if number == usize::MAX { assign_number() } else { number }
    }

    /// Assigns the next number to this thread.
    #[cold]
    fn assign_number() -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: the number publishes nothing. Numbers are distinct because a read-modify-write
        // is atomic, whatever its ordering.
        let number = NEXT.fetch_add(1, Relaxed) & (usize::MAX >> 1);
        NUMBER.set(number);
        number
    }

    /// Returns how many threads can run at once, as the system reports it for the first call.
    pub(crate) fn processors() -> usize {
        static PROCESSORS: OnceLock<usize> = OnceLock::new();
        *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Without std, neither threads nor processors can be distinguished.
#[cfg(not(any(feature = "std", loom, shuttle)))]
mod imp {
    pub(crate) fn number_of_this_thread() -> usize {
        0
    }

    pub(crate) fn processors() -> usize {
        1
    }
}

/// Model checkers run all threads of a model on one thread of the system, with identifiers of their
/// own.
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

    pub(crate) fn processors() -> usize {
        2
    }
}

pub(crate) use imp::{number_of_this_thread, processors};
