//! The inserts of a batch whose buckets are full: searches for room, side by side.
//!
//! Near its capacity a filter spends its time on these. A search by itself waits for memory again and
//! again, since it must know a bucket's fingerprints before it can ask for their other buckets; so
//! several take turns, each going on when the lines that it asked for have come.

use alloc::vec::Vec;

use crate::{
    InsertError, geometry::Pair, path::Search, protocol::Settling, shared::Core, stats::Made,
    word::WordLayout,
};

/// Searches under way at once. 12 to 24 are as good; 8 and 32 are worse.
const SIDE_BY_SIDE: usize = 16;
/// Buckets that each of them asks for ahead: one is enough to expand the next, whatever it holds. With 4
/// or 8 more lines are asked for in vain than are waited for less.
const ASKED_BY_EACH: usize = 1;

/// Inserts that search for room.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    /// Those under way, and behind them those that have ended, kept for their memory.
    inserts: Vec<Insert>,
    under_way: usize,
}

/// An insert, by its position in the batch.
#[derive(Debug)]
struct Insert {
    position: usize,
    pair: Pair,
    search: Search,
}

impl Crowd {
    /// Takes in an insert whose buckets were both seen full. Calls `done` for each whose outcome is
    /// known by now, the new one perhaps among them.
    pub(crate) fn take_in<L: WordLayout>(
        &mut self,
        core: &Core,
        position: usize,
        pair: Pair,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) {
        while self.under_way == SIDE_BY_SIDE {
            self.go_round::<L>(core, done);
        }
        if self.under_way == self.inserts.len() {
            self.inserts.push(Insert { position, pair, search: Search::default() });
        }
        let insert = &mut self.inserts[self.under_way];
        match core.begin::<L>(pair, &mut insert.search) {
            Ok(()) => {
                (insert.position, insert.pair) = (position, pair);
                insert.search.made = Made::none();
                self.under_way += 1;
            }
            Err(error) => done(position, Err(error)),
        }
    }

    /// Settles all that are left.
    pub(crate) fn finish<L: WordLayout>(
        mut self,
        core: &Core,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) {
        while self.under_way > 0 {
            self.go_round::<L>(core, done);
        }
    }

    /// Takes each a step further.
    fn go_round<L: WordLayout>(
        &mut self,
        core: &Core,
        done: &mut impl FnMut(usize, Result<(), InsertError>),
    ) {
        let mut turn = 0;
        while turn < self.under_way {
            let Insert { position, pair, search } = &mut self.inserts[turn];
            let outcome = match core.settle::<L>(*pair, search, ASKED_BY_EACH) {
                Settling::Asked => {
                    turn += 1;
                    continue;
                }
                // By itself, since two of a crowd might go on to spoil each other's plans.
                Settling::Stale => core.insert_alone::<L>(*pair, search),
                Settling::Done(outcome) => outcome,
            };
            done(*position, outcome);
            self.under_way -= 1;
            self.inserts.swap(turn, self.under_way);
        }
    }
}
