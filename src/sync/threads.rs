//! Which thread this is, and how many can run at once.

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

    /// A number of this thread's own: threads are numbered as they first ask.
    #[inline]
    pub(crate) fn number_of_this_thread() -> usize {
        let number = NUMBER.get();
        if number == usize::MAX { take_a_number() } else { number }
    }

    #[cold]
    fn take_a_number() -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: only distinctness matters, and hardly that.
        let number = NEXT.fetch_add(1, Relaxed) & (usize::MAX >> 1);
        NUMBER.set(number);
        number
    }

    /// How many threads can run at once; the system is asked only the first time.
    pub(crate) fn processors() -> usize {
        static PROCESSORS: OnceLock<usize> = OnceLock::new();
        *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Without std there is nothing to ask.
#[cfg(not(any(feature = "std", loom, shuttle)))]
mod imp {
    pub(crate) fn number_of_this_thread() -> usize {
        0
    }

    pub(crate) fn processors() -> usize {
        1
    }
}

/// Model checkers run their threads on one of the system's, and tell them apart themselves.
#[cfg(any(loom, shuttle))]
mod imp {
    #[cfg(loom)]
    use loom::thread;

    #[cfg(all(shuttle, not(loom)))]
    use shuttle::thread;

    /// The number that the checker prints. It is the same in every execution; the identifier's hash
    /// is not, and a model must do the same thing whenever it is run on the same schedule.
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
