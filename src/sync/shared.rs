//! Boxes and shared pointers whose memory the system may refuse. `Box` and `Arc` end the process
//! then.

use alloc::{boxed::Box, vec::Vec};
use core::{
    borrow::Borrow,
    fmt,
    ops::Deref,
    ptr::NonNull,
    // Not those of a model checker: models do not check `Arc` either.
    sync::atomic::AtomicUsize,
};

use super::{AcqRel, Relaxed};

/// Moves a value to the heap, or drops it and returns `None` if the system refuses the memory.
pub(crate) fn try_box<T>(value: T) -> Option<Box<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(1).ok()?;
    values.push(value);
    let values = Box::into_raw(values.into_boxed_slice());
    // SAFETY: a slice of one value has the address and the layout of the value.
    Some(unsafe { Box::from_raw(values.cast()) })
}

/// A value with several owners, as in an `Arc`. The last one drops it.
pub struct Shared<T>(NonNull<Counted<T>>);

struct Counted<T> {
    value: T,
    owners: AtomicUsize,
}

// SAFETY: any owner may use the value, and the last one, in whatever thread, drops it.
unsafe impl<T: Send + Sync> Send for Shared<T> {}
// SAFETY: as above. A reference to an owner can be cloned.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// Bytes that [`new`](Self::new) allocates.
    pub(crate) const BYTES: usize = size_of::<Counted<T>>();

    /// Returns the first owner of a value, or `None` if the system refuses the memory.
    pub(crate) fn new(value: T) -> Option<Self> {
        let counted = try_box(Counted { value, owners: AtomicUsize::new(1) })?;
        Some(Self(NonNull::from(Box::leak(counted))))
    }

    fn counted(&self) -> &Counted<T> {
        // SAFETY: the pointer comes from a box, which is freed only once there is no owner left.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        // Relaxed: there is an owner meanwhile, so nobody frees the value. The count does not
        // overflow: a filter has an owner for each of its segments.
        self.counted().owners.fetch_add(1, Relaxed);
        Self(self.0)
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire of the last owner, which comes after all uses of the
        // value by other owners.
        let owners = self.counted().owners.fetch_sub(1, AcqRel); // mutant-ok: not a model's atomic
        if owners == 1 {
            // SAFETY: this was the last owner, and the pointer comes from a box.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.counted().value
    }
}

impl<T> Borrow<T> for Shared<T> {
    #[inline]
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::{sync::Mutex, thread};

    use super::{Shared, try_box};

    /// Counts its drops.
    struct Dropped<'a>(&'a Mutex<u32>);

    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }

    #[test]
    fn the_last_owner_drops_the_value() {
        let drops = Mutex::new(0);
        let first = Shared::new(Dropped(&drops)).expect("memory");
        thread::scope(|scope| {
            for _ in 0..4 {
                let other = first.clone();
                scope.spawn(move || assert_eq!(*(*other).0.lock().unwrap(), 0));
            }
        });
        assert_eq!(*drops.lock().unwrap(), 0);
        drop(first);
        assert_eq!(*drops.lock().unwrap(), 1);
    }

    #[test]
    fn a_box_holds_its_value() {
        assert_eq!(*try_box([1_u64, 2, 3]).expect("memory"), [1, 2, 3]);
    }
}
