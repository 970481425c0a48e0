//! A place that is filled once, without a lock, and read without one.

use alloc::boxed::Box;
use core::{fmt, ptr};

#[cfg(guira_steps)]
use super::steps;
use super::{Acquire, Relaxed, Release, atomic::AtomicPtr};

/// A place for a value that many threads read and one of them sets.
///
/// The value is dropped with the place, or taken out through an exclusive reference: never while somebody reads it.
pub(crate) struct SetOnce<T>(AtomicPtr<Inner<T>>);

/// A value, and what a model checker sees of it.
struct Inner<T> {
    value: T,
    /// Written when the value is made and read whenever it is: loom then says if one does not happen before the
    /// other. It does not see the value itself.
    #[cfg(loom)]
    made: loom::cell::UnsafeCell<()>,
}

// `Send + Sync`: the value may be read, set and dropped by any thread.
impl<T: Send + Sync> SetOnce<T> {
    /// An empty place.
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// The value, once there is one. Never waits.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        step!(Load);
        // Acquire: pairs with the Release in `set`, which publishes what the value is made of.
        let inner = self.0.load(Acquire);
        // SAFETY: null, or from `Box::into_raw` in `set`; it is freed only by who has `&mut self`, and never
        // borrowed exclusively before.
        let inner = unsafe { inner.as_ref() }?;
        #[cfg(loom)]
        inner.made.with(|_| ());
        Some(&inner.value)
    }

    /// Sets the value, if there is none. Where another thread was first, this one's is dropped.
    pub(crate) fn set(&self, value: T) {
        step!(Change);
        let inner = Box::into_raw(Box::new(Inner {
            value,
            #[cfg(loom)]
            made: loom::cell::UnsafeCell::new(()),
        }));
        #[cfg(loom)]
        // SAFETY: just made, and nobody else's yet.
        unsafe {
            (*inner).made.with_mut(|_| ());
        }
        // Release: pairs with the Acquire in `get`. Relaxed: who comes second looks at nothing here.
        if self.0.compare_exchange(ptr::null_mut(), inner, Release, Relaxed).is_err() {
            // SAFETY: made above, and published to nobody.
            drop(unsafe { Box::from_raw(inner) });
        }
    }
}

impl<T> Drop for SetOnce<T> {
    fn drop(&mut self) {
        #[cfg(not(loom))]
        let inner = *self.0.get_mut();
        #[cfg(loom)]
        let inner = self.0.with_mut(|inner| *inner);
        if !inner.is_null() {
            // SAFETY: from `Box::into_raw` in `set`, and `&mut self` makes the access exclusive.
            drop(unsafe { Box::from_raw(inner) });
        }
    }
}

impl<T: Send + Sync + fmt::Debug> fmt::Debug for SetOnce<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SetOnce").field(&self.get()).finish()
    }
}
