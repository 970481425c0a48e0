//! Adding, removing, and adding what is absent: each step for plain words, and for all others.
//!
//! Code of semi-sorted words is called, and across a call the compiler keeps the parts of an item
//! in memory. So where words are plain, the step is compiled without it. Steps that acquire a lock
//! are out of line for both forms, and take the parts of a pair, which are passed in registers:
//! what is stored before a lock is acquired delays its acquisition, and in the loop of a batch,
//! inline steps have too few registers. (That took a tenth longer.) The step that adds takes no
//! lock, and is inline for plain words.

use super::{FixedTable, FixedWords, Pair};
use crate::InsertError;

/// Words that are known to be plain.
type Plain = FixedWords<true>;

impl FixedTable {
    /// Adds the pair if one of its buckets has an empty slot. Returns whether it was added.
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

    /// Adds the pair unless there is one with its key. Returns `None` if it was added, and
    /// otherwise the value that was found.
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
