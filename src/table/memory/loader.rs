//! The table loader: words that arrive in order, chunk by chunk.

use core::{fmt, ops::Range};

use bytemuck::cast_slice_mut;

use super::Buckets;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();
/// Bytes per chunk. A chunk stays in a second-level cache.
pub(crate) const LOADED_CHUNK: usize = 64 << 10;

/// The memory of a table whose words arrive. Bytes and words count from the first one.
pub(crate) trait LoaderMemory {
    /// What is known of the words in complete chunks.
    type Known: Copy + fmt::Debug;

    /// The number of words.
    fn words(&self) -> usize;

    /// Calls a function with the bytes of the current chunk. Every word is little-endian.
    fn with_chunk<R>(&mut self, chunk: Range<usize>, change: impl FnOnce(&mut [u8]) -> R) -> R;

    /// Keeps the current chunk, which is complete. If the system refuses the memory, returns
    /// `None`, and the chunk is still the current one.
    fn keep(&mut self, chunk: Range<usize>) -> Option<()>;

    /// Copies words from an index on. They are part of one chunk, which has arrived so far, or of
    /// the one at this byte, which is the current one.
    fn copy_words_from(&self, current: usize, from: usize, copy: &mut [u64]);

    fn known(&self) -> Self::Known;

    /// Goes back from a current chunk, by the byte at which it begins, to a former one, of which
    /// some bytes had arrived, or to a former state of the same one. What was known then is passed.
    fn go_back(&mut self, current: usize, to: usize, filled: usize, known: Self::Known);

    /// Returns whether the words, all of which have arrived, can be those of one table. Each by
    /// itself is a valid bucket, if it is one.
    fn fit_together(&self) -> bool {
        true
    }
}

/// The buckets of a fixed table.
impl LoaderMemory for Buckets {
    type Known = ();

    fn words(&self) -> usize {
        self.len()
    }

    fn with_chunk<R>(&mut self, chunk: Range<usize>, change: impl FnOnce(&mut [u8]) -> R) -> R {
        self.with_words(|words| {
            let words = &mut words[chunk.start / WORD..chunk.end / WORD];
            swap_if_big_endian(words);
            let result = change(cast_slice_mut(words));
            swap_if_big_endian(words);
            result
        })
    }

    fn keep(&mut self, _chunk: Range<usize>) -> Option<()> {
        Some(())
    }

    fn copy_words_from(&self, _current: usize, from: usize, copy: &mut [u64]) {
        self.copy_words_from(from, copy);
    }

    fn known(&self) {}

    fn go_back(&mut self, _current: usize, _to: usize, _filled: usize, (): ()) {}
}

/// A table whose words arrive one chunk after the other.
#[derive(Debug)]
pub(crate) struct TableLoader<M> {
    memory: M,
    /// Number of words in complete chunks.
    arrived: usize,
    /// Bytes of the current chunk, the one after these, that have arrived.
    filled: usize,
}

/// A position up to which a table has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoaderPosition<K> {
    arrived: usize,
    filled: usize,
    known: K,
}

impl<M: LoaderMemory> TableLoader<M> {
    pub(crate) fn new(memory: M) -> Self {
        Self { memory, arrived: 0, filled: 0 }
    }

    /// The place up to which the table has arrived.
    pub(crate) fn position(&self) -> LoaderPosition<M::Known> {
        LoaderPosition { arrived: self.arrived, filled: self.filled, known: self.memory.known() }
    }

    /// Goes back to a former position. Later bytes overwrite those after it.
    pub(crate) fn go_back(&mut self, to: LoaderPosition<M::Known>) {
        let current = self.from();
        (self.arrived, self.filled) = (to.arrived, to.filled);
        self.memory.go_back(current, self.from(), to.filled, to.known);
    }

    /// Number of words in complete chunks.
    pub(crate) fn arrived(&self) -> usize {
        self.arrived
    }

    /// Bytes of the current chunk that have arrived.
    pub(crate) fn filled(&self) -> usize {
        self.filled
    }

    /// Copies words that have arrived, from an index on. They are part of one chunk.
    pub(crate) fn copy_words_from(&self, from: usize, copy: &mut [u64]) {
        self.memory.copy_words_from(self.from(), from, copy);
    }

    /// Returns whether words are still missing.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.arrived < self.memory.words()
    }

    /// Reads missing bytes of the current chunk: `read` writes some, little-endian, to the front of
    /// what it gets, and returns their number. The final chunk is only as long as the missing
    /// words.
    ///
    /// # Panics
    /// If the current chunk is complete.
    pub(crate) fn read<E>(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let (chunk, filled) = (self.chunk(), self.filled);
        assert!(filled < chunk.len(), "a complete chunk is accepted first");
        let more = self.memory.with_chunk(chunk.clone(), |chunk| read(&mut chunk[filled..]))?;
        self.filled += more;
        assert!(self.filled <= chunk.len(), "a reader reported more bytes than given");
        Ok(more)
    }

    /// Returns whether all bytes of the current chunk have been read.
    pub(crate) fn chunk_is_complete(&self) -> bool {
        self.filled == self.chunk().len()
    }

    /// Calls a function with the bytes of the current chunk, which is complete.
    ///
    /// # Panics
    /// If the chunk is not complete.
    pub(crate) fn check<R>(&mut self, check: impl FnOnce(&[u8]) -> R) -> R {
        assert!(self.chunk_is_complete(), "an incomplete chunk");
        self.memory.with_chunk(self.chunk(), |chunk| check(chunk))
    }

    /// Accepts the current chunk, and goes on to the next one. If the system refuses the memory,
    /// returns `None`, and does not go on.
    ///
    /// # Panics
    /// If the chunk is not complete.
    pub(crate) fn accept(&mut self) -> Option<()> {
        assert!(self.chunk_is_complete(), "an incomplete chunk");
        let chunk = self.chunk();
        self.memory.keep(chunk.clone())?;
        self.arrived = chunk.end / WORD;
        self.filled = 0;
        Some(())
    }

    /// Returns whether the words, all of which have arrived, can be those of one table.
    pub(crate) fn fit_together(&self) -> bool {
        self.memory.fit_together()
    }

    /// Where the current chunk starts, in bytes.
    fn from(&self) -> usize {
        self.arrived * WORD
    }

    /// The bytes of the current chunk.
    fn chunk(&self) -> Range<usize> {
        let from = self.from();
        from..(from + LOADED_CHUNK).min(self.memory.words() * WORD)
    }

    /// Returns the memory.
    ///
    /// # Panics
    /// If words are missing.
    pub(crate) fn finish(self) -> M {
        assert!(!self.is_incomplete(), "words are missing");
        self.memory
    }
}

/// Converts words between the machine's byte order and little-endian.
pub(crate) fn swap_if_big_endian(words: &mut [u64]) {
    for word in words {
        *word = word.to_le();
    }
}
