//! Words that somebody else owns, for lookups alone.

use core::ptr::NonNull;

use crate::sync::Word;

/// Words that somebody else owns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Borrowed(NonNull<[Word]>);

// SAFETY: it gives shared access to words, and `Word` is `Sync`.
unsafe impl Send for Borrowed {}
// SAFETY: as above.
unsafe impl Sync for Borrowed {}

impl Borrowed {
    /// Returns these words, which may be in memory that can only be read.
    ///
    /// # Safety
    /// As long as this, a copy of it, or a table that was made of one is in use, the words are
    /// borrowed, and nothing is called that changes words of such a table.
    pub(crate) unsafe fn new(words: &[u64]) -> Self {
        // A `Word` is an atomic, which has the size, the alignment and the valid values of its
        // integer.
        let words = NonNull::from(words);
        Self(NonNull::slice_from_raw_parts(words.cast(), words.len()))
    }

    /// The words.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[Word] {
        // SAFETY: they are borrowed as long as this is in use, and nobody writes them. Loads are
        // all that is done. On the processors for which `build.rs` compiles this in, std promises
        // that a Relaxed load of a word writes nothing, and an Acquire is the same instruction, or
        // one more that touches no memory.
        unsafe { self.0.as_ref() }
    }

    /// The address of the first word.
    pub(super) fn first(self) -> NonNull<Word> {
        self.0.cast()
    }
}
