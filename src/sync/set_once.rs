//! A cell that is set once. Neither setting nor reading takes a lock.

use alloc::boxed::Box;
use core::{fmt, mem, ptr};

#[cfg(guira_steps)]
use super::steps;
use super::{Acquire, Relaxed, Release, atomic::AtomicPtr, shared::try_box};

/// A cell that any thread can read and set. The first value stays.
///
/// The value is changed or dropped through an exclusive reference, so never while a thread reads
/// it.
pub(crate) struct SetOnce<T>(AtomicPtr<Inner<T>>);

/// A value, and a cell that stands for it under loom.
struct Inner<T> {
    value: T,
    /// Written when the value is created, and read with the value. Loom does not observe the value
    /// itself, but it reports every read of this cell that is not ordered after the write.
    #[cfg(loom)]
    created: loom::cell::UnsafeCell<()>,
}

// `Send + Sync`, because any thread may read, set and drop the value.
impl<T: Send + Sync> SetOnce<T> {
    /// Bytes that [`set`](Self::set) allocates.
    pub(crate) const VALUE_BYTES: usize = size_of::<Inner<T>>();

    /// Returns an empty cell.
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Returns the value if it has been set. Never waits.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        step!(Load);
        // Acquire: pairs with the Release in `set`, which publishes the value.
        let inner = self.0.load(Acquire);
        // SAFETY: the pointer is null or comes from `Box::into_raw` in `set`. Once it is published,
        // only `take`, which has `&mut self`, borrows it exclusively or frees it.
        let inner = unsafe { inner.as_ref() }?;
        #[cfg(loom)]
        inner.created.with(|_| ());
        Some(&inner.value)
    }

    /// Sets the value if the cell is empty. Otherwise drops the value that was passed. Returns
    /// `None` if the system refuses the memory: the cell may be empty then.
    #[must_use]
    pub(crate) fn set(&self, value: T) -> Option<()> {
        step!(Change);
        let inner = Inner {
            value,
            #[cfg(loom)]
            created: loom::cell::UnsafeCell::new(()),
        };
        let inner = Box::into_raw(try_box(inner)?);
        #[cfg(loom)]
        // SAFETY: the box was created above, and no other thread has the pointer yet.
        unsafe {
            (*inner).created.with_mut(|_| ());
        }
        // Release: pairs with the Acquire in `get`. Relaxed: after a failure this thread does not
        // read the other value.
        // mutant: set-once-second-wins
        if self.0.compare_exchange(ptr::null_mut(), inner, Release, Relaxed).is_err() {
            // SAFETY: the box was created above and has not been published.
            drop(unsafe { Box::from_raw(inner) });
        }
        Some(())
    }
}

impl<T> SetOnce<T> {
    /// Returns the value if it has been set.
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        #[cfg(not(loom))]
        let inner = *self.0.get_mut();
        #[cfg(loom)]
        let inner = self.0.with_mut(|inner| *inner);
        // SAFETY: the pointer is null or comes from `Box::into_raw` in `set`, and `&mut self` makes
        // the access exclusive.
        let inner = unsafe { inner.as_mut() }?;
        Some(&mut inner.value)
    }

    /// Empties the cell, and drops the value.
    pub(crate) fn clear(&mut self) {
        #[cfg(not(loom))]
        let inner = mem::replace(self.0.get_mut(), ptr::null_mut());
        #[cfg(loom)]
        let inner = self.0.with_mut(|inner| mem::replace(inner, ptr::null_mut()));
        if !inner.is_null() {
            // SAFETY: the pointer comes from `Box::into_raw` in `set`, and `&mut self` makes the
            // access exclusive. The cell no longer has it.
            drop(unsafe { Box::from_raw(inner) });
        }
    }
}

impl<T> Drop for SetOnce<T> {
    fn drop(&mut self) {
        self.clear();
    }
}

impl<T: Send + Sync + fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SetOnce").field(&self.get()).finish()
    }
}
