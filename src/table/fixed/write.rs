//! The steps that change a word, for each form of words: where these are plain, the code of
//! semi-sorted ones is out of line, since its calls would take the registers.
//!
//! Each function takes the parts of a pair, which are passed in registers. (A step that is inline in
//! the loop of a batch has too few of them, and what it stores before a lock is acquired delays that:
//! it takes a tenth longer.)

use super::{FixedTable, FixedWords, Pair};
use crate::InsertError;

/// Plain words.
type Plain = FixedWords<true>;

impl FixedTable {
    /// Adds the pair if one of its buckets has an empty slot. Returns whether it has.
    #[inline]
    pub(crate) fn add_pair(&self, pair: &Pair) -> bool {
        if self.slots.is_semi_sorted() {
            let &Pair { fingerprint, value, buckets: [first, second] } = pair;
            return self.add_semi_sorted(fingerprint.get(), value, first, second);
        }
        self.add::<Plain>(pair)
    }

    #[inline(never)]
    fn add_semi_sorted(&self, key: u32, value: u16, first: u32, second: u32) -> bool {
        self.add::<FixedWords>(&Pair::new(key, value, first, second))
    }

    /// Adds the pair unless there is one with its key. Returns `None` if it was added, and otherwise
    /// the value that was found.
    ///
    /// # Errors
    /// As `get_or_insert`.
    #[inline]
    pub(crate) fn get_or_insert_pair(&self, pair: Pair) -> Result<Option<u16>, InsertError> {
        let Pair { fingerprint, value, buckets: [first, second] } = pair;
        if self.slots.is_semi_sorted() {
            return self.get_or_insert_by::<false>(fingerprint.get(), value, first, second);
        }
        self.get_or_insert_by::<true>(fingerprint.get(), value, first, second)
    }

    #[inline(never)]
    fn get_or_insert_by<const PLAIN: bool>(
        &self,
        key: u32,
        value: u16,
        first: u32,
        second: u32,
    ) -> Result<Option<u16>, InsertError> {
        self.get_or_insert::<FixedWords<PLAIN>>(Pair::new(key, value, first, second))
    }

    /// Removes a copy of the pair. Returns whether there was one.
    #[inline]
    pub(crate) fn remove_pair(&self, pair: Pair) -> bool {
        let Pair { fingerprint, value, buckets: [first, second] } = pair;
        if self.slots.is_semi_sorted() {
            return self.remove_by::<false>(fingerprint.get(), value, first, second);
        }
        self.remove_by::<true>(fingerprint.get(), value, first, second)
    }

    #[inline(never)]
    fn remove_by<const PLAIN: bool>(&self, key: u32, value: u16, first: u32, second: u32) -> bool {
        self.remove::<FixedWords<PLAIN>>(Pair::new(key, value, first, second))
    }
}
