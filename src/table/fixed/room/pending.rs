//! Interleaved inserts: the inserts of a batch whose buckets are full search for room together.
//!
//! Near its capacity a filter spends most of its time on these. A lone search waits for memory
//! again and again, because it must know a bucket's fingerprints before it can prefetch their
//! alternate buckets. So several take turns, and each continues when its lines have arrived.

use arrayvec::ArrayVec;

use super::{FixedTable, FixedWords, Near, Pair, insert::SearchStep};
use crate::{InsertError, table::stats::RelocationCount};

/// Number of interleaved searches. 12 are equally good; 8, and 24 or more, are worse. Two under
/// loom and shuttle, so that small batches exceed it.
const INTERLEAVED: usize = if cfg!(any(loom, shuttle)) { 2 } else { 16 };
/// Prefetch distance of each search, in buckets. One is enough, because the other searches use the
/// time until it arrives. With 4 or 8, more prefetches are wasted than waits saved.
const PREFETCH_DISTANCE: usize = 1;

/// Inserts that search for room.
#[derive(Debug)]
pub struct PendingInserts {
    inserts: ArrayVec<Insert, INTERLEAVED>,
    /// The places in `inserts`: those of the pending inserts, then those of completed ones.
    order: [u8; INTERLEAVED],
    pending: usize,
}

/// An insert, by its position in the batch.
#[derive(Debug)]
struct Insert {
    position: usize,
    pair: Pair,
    search: Near,
    relocations: RelocationCount,
}

impl Default for PendingInserts {
    #[inline]
    fn default() -> Self {
        Self {
            inserts: ArrayVec::new(),
            order: core::array::from_fn(|place| place as u8),
            pending: 0,
        }
    }
}

impl PendingInserts {
    /// Adds the item at this position of a batch, or a pending insert if both buckets are full.
    /// Calls `done` for each insert that is completed by now.
    #[inline]
    pub fn insert(
        &mut self,
        table: &FixedTable,
        position: usize,
        pair: Pair,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) {
        if table.add_pair(&pair) || table.add_swept::<FixedWords>(&pair) {
            done(position, Ok(()));
        } else {
            self.push(table, position, pair, done);
        }
    }

    /// Adds an insert whose buckets were both full. Calls `done` for each insert that is completed
    /// by now, which may include the new one.
    #[inline(never)]
    fn push(
        &mut self,
        table: &FixedTable,
        position: usize,
        pair: Pair,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) {
        // In a cache there are hardly any waits.
        if table.starts_near() {
            return done(position, table.insert_by_relocating(pair));
        }
        while self.pending == INTERLEAVED {
            self.step_all(table, done);
        }
        if self.pending == self.inserts.len() {
            self.inserts.push(Insert {
                position,
                pair,
                search: Near::default(),
                relocations: RelocationCount::zero(),
            });
        }
        let insert = &mut self.inserts[usize::from(self.order[self.pending])];
        match table.start_search(pair, &mut insert.search) {
            Ok(()) => {
                (insert.position, insert.pair) = (position, pair);
                insert.relocations = RelocationCount::zero();
                self.pending += 1;
                // The lines of both buckets have arrived.
                self.step(table, self.pending - 1, done);
            }
            Err(error) => done(position, Err(error)),
        }
    }

    /// Completes all pending inserts.
    pub fn finish(
        &mut self,
        table: &FixedTable,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) {
        while self.pending > 0 {
            self.step_all(table, done);
        }
    }

    /// Advances each pending insert by one step.
    fn step_all(
        &mut self,
        table: &FixedTable,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) {
        let mut turn = 0;
        while turn < self.pending {
            turn += usize::from(!self.step(table, turn, done));
        }
    }

    /// Advances a pending insert by one step. Returns whether it is completed: then the last one
    /// has taken its turn.
    fn step(
        &mut self,
        table: &FixedTable,
        turn: usize,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) -> bool {
        let place = usize::from(self.order[turn]);
        let Insert { position, pair, search, relocations } = &mut self.inserts[place];
        let outcome = match table.step_search(*pair, search, relocations, PREFETCH_DISTANCE) {
            SearchStep::Prefetched => return false,
            // Alone, because two interleaved inserts could invalidate each other's plans
            // forever, and because a lone search reaches farther.
            SearchStep::Stale | SearchStep::Exhausted => table.insert_alone(*pair, relocations),
            SearchStep::Done => Ok(()),
        };
        done(*position, outcome);
        self.pending -= 1;
        self.order.swap(turn, self.pending);
        true
    }
}
