//! Interleaved inserts: the inserts of a batch whose buckets are full search for room together.
//!
//! Near its capacity a filter spends most of its time on these. A lone search waits for memory
//! again and again, because it must know a bucket's fingerprints before it can prefetch their
//! alternate buckets. So several take turns, and each continues when its lines have arrived.

use alloc::vec::Vec;

use super::{Nesting, Pair, Search, Table, insert::SearchStep, stats::RelocationCount};
use crate::{InsertError, bucket::BucketLayout};

/// Number of interleaved searches. 12 are equally good; 8, and 24 or more, are worse. Two under
/// loom and shuttle, so that small batches exceed it.
const INTERLEAVED: usize = if cfg!(any(loom, shuttle)) { 2 } else { 16 };
/// Prefetch distance of each search, in buckets. One is enough, because the other searches use the
/// time until it arrives. With 4 or 8, more prefetches are wasted than waits saved.
const PREFETCH_DISTANCE: usize = 1;

/// Inserts that search for room.
#[derive(Debug, Default)]
pub struct PendingInserts {
    /// The pending inserts, followed by completed ones, which are kept for their memory.
    inserts: Vec<Insert>,
    pending: usize,
}

/// An insert, by its position in the batch.
#[derive(Debug)]
struct Insert {
    position: usize,
    pair: Pair,
    search: Search,
}

impl PendingInserts {
    /// Adds the item at this position of a batch, or a pending insert if both buckets are full.
    /// Calls `done` for each insert that is completed by now.
    #[inline]
    pub fn insert<L: BucketLayout>(
        &mut self,
        table: &Table<impl Nesting>,
        position: usize,
        pair: Pair,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) {
        // mutant: batch-add-relaxed
        if table.add::<L>(pair) || table.add_swept::<L>(pair) {
            done(position, Ok(()));
        } else {
            self.push::<L>(table, position, pair, done);
        }
    }

    /// Adds an insert whose buckets were both full. Calls `done` for each insert that is completed
    /// by now, which may include the new one.
    fn push<L: BucketLayout>(
        &mut self,
        table: &Table<impl Nesting>,
        position: usize,
        pair: Pair,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) {
        while self.pending == INTERLEAVED {
            self.step_all::<L>(table, done);
        }
        if self.pending == self.inserts.len() {
            self.inserts.push(Insert { position, pair, search: Search::default() });
        }
        let insert = &mut self.inserts[self.pending];
        // mutant: batch-copies-wrong-lock
        match table.start_search::<L>(pair, &mut insert.search) {
            Ok(()) => {
                (insert.position, insert.pair) = (position, pair);
                insert.search.relocations = RelocationCount::zero();
                self.pending += 1;
            }
            Err(error) => done(position, Err(error)),
        }
    }

    /// Completes all pending inserts.
    pub fn finish<L: BucketLayout>(
        mut self,
        table: &Table<impl Nesting>,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) {
        while self.pending > 0 {
            self.step_all::<L>(table, done);
        }
    }

    /// Advances each pending insert by one step.
    fn step_all<L: BucketLayout>(
        &mut self,
        table: &Table<impl Nesting>,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) {
        let mut turn = 0;
        while turn < self.pending {
            let Insert { position, pair, search } = &mut self.inserts[turn];
            // mutant: batch-relocate-wrong-lock, batch-relocate-no-bump
            // mutant: batch-relocate-bump-relaxed
            let outcome = match table.step_search::<L>(*pair, search, PREFETCH_DISTANCE) {
                SearchStep::Prefetched => {
                    turn += 1;
                    continue;
                }
                // Alone, because two interleaved inserts could invalidate each other's plans
                // forever.
                // mutant: batch-stale-dropped
                SearchStep::Stale => table.insert_alone::<L>(*pair, search),
                SearchStep::Done(outcome) => outcome,
            };
            done(*position, outcome);
            self.pending -= 1;
            self.inserts.swap(turn, self.pending);
        }
    }
}
