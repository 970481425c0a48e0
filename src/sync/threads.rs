//! The number of the current thread.

#[cfg(all(feature = "std", not(any(loom, shuttle))))]
mod imp {
    use crate::sync::leases::{Leases, MAX_LEASES};
    use core::{
        cell::Cell,
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
    };

    /// The number of a thread that has none yet.
    const NONE: usize = usize::MAX;

    static LEASES: Leases = Leases::new();

    thread_local! {
        /// The thread's number, or [`NONE`]. It has no destructor, so it is quick to read, and can
        /// be read in the destructors of other thread-locals.
        static NUMBER: Cell<usize> = const { Cell::new(NONE) };
        static LEASE: Lease = Lease(LEASES.take());
    }

    /// The number that this thread leases, if one was free.
    struct Lease(Option<usize>);

    impl Drop for Lease {
        /// The thread ends, but other thread-locals may still have to be dropped.
        fn drop(&mut self) {
            // On targets without native thread-locals, `NUMBER` may be gone in spite of having no
            // destructor, and this may fail. If it is created again later, it is `NONE`.
            let _ = NUMBER.try_with(|number| number.set(MAX_LEASES));
            if let Some(number) = self.0 {
                LEASES.give_back(number);
            }
        }
    }

    /// Returns the number that this thread leases. No other thread has it meanwhile. If all numbers
    /// were leased at the thread's first call, or if the thread is ending, returns one that is at
    /// least [`MAX_LEASES`] and may be another thread's, too.
    #[inline]
    pub(crate) fn number_of_this_thread() -> usize {
        let number = NUMBER.get();
        if number == NONE { assign_number() } else { number }
    }

    /// Assigns a number to this thread.
    #[cold]
    fn assign_number() -> usize {
        static UNLEASED: AtomicUsize = AtomicUsize::new(0);
        // The lease is gone if the thread is ending.
        let leased = LEASE.try_with(|lease| lease.0).ok().flatten();
        // Relaxed: the number publishes nothing, and need not be unique.
        let other = || MAX_LEASES + UNLEASED.fetch_add(1, Relaxed) % MAX_LEASES;
        let number = leased.unwrap_or_else(other);
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
    use core::{cell::RefCell, iter::repeat_with};
    use std::{
        sync::{Barrier, mpsc},
        thread,
    };

    use super::number_of_this_thread;
    use crate::sync::leases::MAX_LEASES;

    /// The number of a thread that has begun and ended.
    fn number_of_another_thread() -> usize {
        thread::spawn(number_of_this_thread).join().unwrap()
    }

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

    #[test]
    fn threads_that_ended_have_given_their_numbers_back() {
        // Threads of other tests may hold all numbers for a while.
        let numbers = (0..100_000).map(|_| number_of_another_thread());
        let leased = numbers.filter(|&number| number < MAX_LEASES).take(2 * MAX_LEASES);
        assert_eq!(leased.count(), 2 * MAX_LEASES);
    }

    /// Asks for its thread's number when it is dropped.
    struct Last(mpsc::Sender<usize>);

    impl Drop for Last {
        fn drop(&mut self) {
            self.0.send(number_of_this_thread()).unwrap();
        }
    }

    thread_local! {
        static BEFORE: RefCell<Option<Last>> = const { RefCell::new(None) };
        static AFTER: RefCell<Option<Last>> = const { RefCell::new(None) };
    }

    /// One thread-local is first used before the lease, the other after it. So one of them is
    /// dropped before the lease and the other after it, whether drops are in the order of first
    /// uses or in the reverse order.
    #[test]
    fn no_number_is_used_once_it_was_given_back() {
        let run = || {
            let (give, numbers) = mpsc::channel();
            let leased = thread::spawn(move || {
                BEFORE.set(Some(Last(give.clone())));
                let leased = number_of_this_thread();
                AFTER.set(Some(Last(give)));
                leased
            });
            (leased.join().unwrap(), numbers.iter().collect::<Vec<_>>())
        };
        // Again and again, because threads of other tests may hold all numbers for a while.
        let (leased, mut last) =
            repeat_with(run).take(100_000).find(|run| run.0 < MAX_LEASES).unwrap();
        last.sort_unstable();
        assert_eq!(last, [leased, MAX_LEASES]);
    }
}
