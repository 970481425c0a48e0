//! The protocol: how threads share the buckets so that no look-up waits and none misses an item.
//!
//! # State
//!
//! - **Words.** Each bucket is one atomic `u64` with room for a few fingerprints. All changes are
//!   compare-and-swaps of the whole word (but for `clear` and loading, which have the table for themselves).
//! - **Stripes.** A fingerprint and the two buckets that may hold it are a *pair*; items that share
//!   one are *aliases*, and nothing can tell them apart. Every pair belongs to a stripe, which is a
//!   lock and an *epoch*, a counter that only ever grows. The stripe follows from the fingerprint
//!   alone, so both buckets agree on it, and so do all pairs with one fingerprint.
//!
//! # Steps
//!
//! 1. **Adding** a fingerprint to a bucket with room is one compare-and-swap. It needs no lock.
//! 2. **Clearing** a lane is done only by the holder of the stripe's lock, and only after it has
//!    advanced the stripe's epoch.
//! 3. **Moving** a fingerprint to its other bucket: take the lock, see that it is still there, add
//!    it to the destination, advance the epoch, clear the source, release the lock. Where `insert`
//!    makes room by it, the clearing puts the new fingerprint into the lane by the same
//!    compare-and-swap, so that no other thread can take it. (`insert_unique` only makes room, and then
//!    looks again.)
//! 4. **Looking up**: read the epoch; read both words; read the epoch again. A match is a hit, whatever
//!    the epochs say. Without one, the item is absent if the epoch is unchanged; if not, start again.
//!    (The first look at semi-sorted words is a glance, which can leave open whether there is a match. If a
//!    closer look at the same words finds none, start again as well, whatever the epoch says.)
//!
//! No thread ever holds two stripes' locks, so there is no order of locks and no deadlock. No lock
//! is held over code of the user's, nor while searching for room. (The one exception is a copy of the whole
//! table, which takes all of them, in order: see *Snapshots* below.)
//!
//! # Why a miss is right
//!
//! `remove` has a contract: each removal that succeeds is paid for by an insert of an item of this
//! pair (an `insert` that returned `Ok`, or an `insert_unique` that added), which happened before it and
//! pays for no other. Fix any one account of who paid for what. An item is *in the table* during a look-up if its
//! insert happened before the look-up, and the look-up happened before the removal that it pays for,
//! if there is one. (The accounts start anew at `clear`, which has the table for itself, and at loading, which pays
//! in advance for each copy in the snapshot.)
//!
//! Consider the last round of a look-up that misses: it read the epoch e, then the two words without
//! a match, then the epoch e again. Clearings of the stripe are in one order, that of its lock; each is
//! numbered by the epoch that it advanced to, no two alike. A load of a word returns what a prefix of
//! that word's changes, in modification order, made of it: call these changes *seen*.
//!
//! 1. *A clearing with a number above e was seen.* All changes are read-modify-writes, so the load,
//!    an Acquire, synchronizes with that clearing, a Release, even if it returned a later change. So
//!    the advance before that clearing happened before the second read of the epoch. Stores of the
//!    epoch are ordered by the lock, and grow: by coherence that read returned more than e, against
//!    the assumption.
//! 2. *No such clearing was seen.* Of the clearings up to e that took this fingerprint out of these
//!    two words let R be removals and M halves of moves. At most R + M copies were seen to go. What
//!    happened before one of these clearings advanced the epoch also happened before the loads of
//!    the words: the first read of the epoch, an Acquire, synchronizes with the advance to e, a
//!    Release, and the lock orders the earlier ones before it. So these were seen to come:
//!    - M copies, one made by each of the moves before its advance;
//!    - the copies of the I inserts of this pair that happened before the loads of the words, among
//!      them all that happened before the look-up.
//!
//!    There was no match, so I is at most R. Each of the R removals is paid for by an insert of its
//!    own that happened before it, hence before its advance and before the loads: these are among the
//!    I, and use them up. An item in the table would have to pay with one of these; but its removal
//!    happens after the look-up, and the R advanced before the look-up's loads. So no item of this
//!    pair is in the table, and the look-up may say so.
//!
//! In all cases an item that is in the table is found. Where both buckets are the same one, the
//! argument holds for its word alone. Copies of other pairs do not come in: a fingerprint in a word
//! has but one other bucket.
//!
//! What fails without the epoch: an item moves from j to i between a reader's load of i and of j.
//! So does reading the words twice (i to j to i again). So does advancing for moves alone: an item
//! stands in j; a reader loads i; an alias is inserted into i and removed again, but it is the copy in
//! j that goes; the reader loads j. The first item was in the table throughout.
//!
//! # Why it never waits
//!
//! Every further round of a look-up, but one after a glance, is paid for by an advance of the stripe's epoch beyond the value
//! that the round before it began with, so by another thread at work. A thread stopped or dead in the middle of
//! a move, lock held, advances nothing more: look-ups run on, and so do inserts into buckets with room.
//! (Lock-free beside writers that finish; not wait-free.)
//!
//! Whatever takes a lock does wait for it: `remove`, `count`, `insert_unique`, inserts that must move
//! something or are to say `TooManyCopies`, and a snapshot, which needs all of them. (While it waits for one it has others: a
//! thread suspended with one lock holds up a snapshot, and with it whatever waits for any.) And two threads whose paths cross at the last free lane can spoil each other's
//! plans. Each time one of them has moved something, and nothing is lost, but no number of times is
//! the last for certain; it takes lockstep to go on. (The searches of one batch take turns in lockstep; so
//! an insert of theirs whose plan went stale is settled by itself.) The copy of a half-done move, or of a thread
//! stopped in one, takes a lane, and a search beside it may say `Full` for want of that one.
//!
//! # Hits publish
//!
//! A look-up that finds a fingerprint happens after the insert of one of its copies: adding is a
//! Release, also where a newcomer is put in by a clearing; every load that can lead to a hit is an
//! Acquire; and a move, which reads the source by an Acquire before adding by a Release, passes on
//! what it acquired. The read-modify-writes of others on the same word keep the chain whole. `remove`,
//! `insert_unique` and `count` promise the same for what they find.
//!
//! # What needs the lock besides
//!
//! Between the two halves of a move both copies stand there, and the epoch does not tell: it advances
//! somewhere in between. So whatever counts copies does it under the lock: `remove` (of two racing removals of one copy exactly one
//! succeeds), `insert_unique`, `count`, and the verdict `TooManyCopies`. Under the lock, the holder's own
//! changes apart, the copies of a pair only grow, one by one, by inserts of others. So `count`, which reads one word after the other,
//! returns a number that stood at some moment in between. `remove` and `insert_unique` that found
//! nothing were right when they read the first word, and the verdict when it read the second; an insert
//! that comes between `insert_unique`'s look and its own addition is ordered after it.
//!
//! # Snapshots
//!
//! A snapshot copies all words while it holds all stripes. Who holds one stripe never waits for another, and
//! all snapshots take them in the same order; so nobody waits in a circle, and as long as holders run on and
//! the locks are fair enough, all are had in the end.
//!
//! While all are held no lane is cleared and no move is half done: words only gain. The loads return at least all
//! changes that happened before them: those of the moves and removals before, which held one of the stripes,
//! and those of the inserts that happened before the call. So of each pair the copy has as many fingerprints as
//! inserts of it were seen, less the removals before. Each of these is paid for by an insert of its own, which happened
//! before it and was seen. So was that of an item that is in the table throughout, and it pays for none of
//! them: one at least is left.
//!
//! Look-ups go on, for they take no lock, and so do inserts into buckets with room; each insert that overlaps the
//! copying is in the copy or not.
//!
//! # One order, and none
//!
//! All this is one order for the calls on one pair. Across pairs there is happens-before, and no single
//! order of all calls: of two threads that each insert one item and then look up the other's, the
//! memory model lets both miss. (On x86-64 one of them hits: its locked instructions are fences.)

use alloc::vec::Vec;
use core::{hint::select_unpredictable, mem::take};

use crate::{
    InsertError,
    geometry::{Pair, Placement},
    path::{Move, Progress, Search},
    shared::Core,
    stats::Made,
    stripes::Held,
    sync::{Acquire, Relaxed, Release, Word},
    table::onto_huge_pages,
    word::{Fingerprint, WordLayout},
};

/// Buckets that a search by itself asks for ahead: more would be asked for in vain too often.
const ASKED_BY_ONE: usize = 12;

/// How an insert that searches for room stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settling {
    /// Lines have been asked for.
    Asked,
    /// The plan went stale.
    Stale,
    /// That is how it ended.
    Done(Result<(), InsertError>),
}

/// Reads a pair's words, without the epoch: what is in them is there; what is not may have been overlooked.
#[inline]
fn words([first, second]: [&Word; 2]) -> [u64; 2] {
    // Acquire, twice: pairs with the Release of `try_add` (and of `relocate` and `clear_lane`, which
    // add as well), so that a hit happens after the insert it found, and with that of `clear_lane`, so
    // that a clearing seen shows its epoch to a look-up.
    [first.load(Acquire), second.load(Acquire)]
}

/// How many copies of a pair's fingerprint are in its buckets, of which `word` reads one after the other.
#[inline]
fn copies<L: WordLayout>(pair: Pair, word: impl Fn(u32) -> u64) -> usize {
    let pattern = L::pattern(pair.fingerprint);
    let count = |bucket| L::count(word(bucket), pattern) as usize;
    let [first, second] = pair.buckets;
    if first == second { count(first) } else { count(first) + count(second) }
}

/// How many lanes a pair's buckets have.
fn lanes_of<L: WordLayout>(pair: Pair) -> usize {
    let [first, second] = pair.buckets;
    (if first == second { L::LANES } else { 2 * L::LANES }) as usize
}

impl<P: Placement> Core<P> {
    /// Whether the pair's fingerprint is in one of its buckets.
    #[inline]
    #[must_use]
    pub fn contains<L: WordLayout>(&self, pair: Pair) -> bool {
        let Pair { fingerprint, buckets: [first, second] } = pair;
        let (words, is_still) = self.read(pair);
        let (found, certain) = L::glance(words, L::pattern(fingerprint));
        // One branch, in plain words as good as always taken, where hits and misses come as they like. In
        // semi-sorted ones it is taken for misses.
        if (found | is_still) & certain {
            return found;
        }
        self.look_closely::<L>(fingerprint, first, second, words[0], words[1])
    }

    /// The rest of `contains`, out of its way: a closer look at the words read, and further rounds if there
    /// is no match in them. (A register for each argument: the pair or the words as a whole would be
    /// written to memory before every glance. There is none left for `is_still`, so a glance that was
    /// not certain and turns out a miss is made good by one round more.)
    #[cold]
    #[inline(never)]
    fn look_closely<L: WordLayout>(
        &self,
        fingerprint: Fingerprint,
        first: u32,
        second: u32,
        first_word: u64,
        second_word: u64,
    ) -> bool {
        let pattern = L::pattern(fingerprint);
        // A match is a hit, whatever the epochs say.
        if L::either_contains([first_word, second_word], pattern) {
            return true;
        }
        loop {
            self.counters.retried();
            let (words, is_still) = self.read(Pair { fingerprint, buckets: [first, second] });
            let found = L::either_contains(words, pattern);
            if found | is_still {
                return found;
            }
        }
    }

    /// Reads a pair's words as a look-up does, and whether the epoch stood still meanwhile: if it did, what is not
    /// in these words is absent.
    #[inline]
    fn read(&self, pair: Pair) -> ([u64; 2], bool) {
        let stripe = self.stripe(pair.fingerprint);
        let buckets = self.both(pair);
        let epoch = stripe.epoch();
        let words = words(buckets);
        (words, stripe.is_still(epoch))
    }

    /// Both buckets of a pair.
    #[inline]
    fn both(&self, pair: Pair) -> [&Word; 2] {
        pair.buckets.map(|bucket| self.table.bucket(bucket))
    }

    /// Whether the pair's fingerprint is in its words as they are read, one after the other. A *no* says nothing,
    /// but for who holds the stripe or sees its epoch unchanged. (If a glance leaves it open, this looks closely at the same
    /// words before the epoch is read again, which is as good as another round.)
    #[inline]
    pub(crate) fn look<L: WordLayout>(&self, pair: Pair) -> bool {
        let (words, pattern) = (words(self.both(pair)), L::pattern(pair.fingerprint));
        let (found, certain) = L::glance(words, pattern);
        if certain { found } else { L::either_contains(words, pattern) }
    }

    /// How many copies of the pair's fingerprint its buckets hold.
    #[must_use]
    pub fn count<L: WordLayout>(&self, pair: Pair) -> usize {
        let held = self.stripe(pair.fingerprint).lock();
        self.count_held::<L>(&held, pair)
    }

    /// A copy of all words, in which no item is missing that was in the table throughout the call.
    ///
    /// `None` when the system refuses the memory.
    #[must_use]
    pub fn copy_words(&self) -> Option<Vec<u64>> {
        let words = self.table.as_slice();
        let mut copy = Vec::new();
        copy.try_reserve_exact(words.len()).ok()?;
        // Its page faults come under the locks: the fewer the better.
        onto_huge_pages(copy.spare_capacity_mut());
        let _held = self.stripes.lock_all();
        // Relaxed: what must be seen happened before the locks were taken, or before the call.
        copy.extend(words.iter().map(|word| word.load(Relaxed)));
        Some(copy)
    }

    /// Adds a copy of the pair's fingerprint, relocating others where both buckets are full.
    ///
    /// # Errors
    /// `TooManyCopies` when both buckets hold nothing but this fingerprint, `Full` when a search
    /// found no free lane. Either way the table holds the same multiset as without the call.
    #[inline]
    pub fn insert<L: WordLayout>(&self, pair: Pair) -> Result<(), InsertError> {
        if self.add::<L>(pair) {
            return Ok(());
        }
        self.insert_crowded::<L>(pair)
    }

    /// Adds a copy of the pair's fingerprint unless there is one: `true` if it was added.
    ///
    /// # Errors
    /// `Full` when the fingerprint is absent and a search found no free lane.
    #[inline]
    pub fn insert_unique<L: WordLayout>(&self, pair: Pair) -> Result<bool, InsertError> {
        let (mut room_was_made, mut made) = (Ok(()), Made::none());
        loop {
            let held = self.stripe(pair.fingerprint).lock();
            if let Some(added) = self.add_absent::<L>(&held, pair) {
                if added {
                    self.counters.settled(&made);
                }
                return Ok(added);
            }
            drop(held);
            // `Full` only now: while searching in vain, another call may have added the item.
            room_was_made?;
            // The lock is free while making room: the fingerprints in the way may be of the same
            // stripe, and the thread to move one of them would wait for itself.
            room_was_made = self.make_room::<L>(pair, &mut made);
        }
    }

    /// Takes out one copy of the pair's fingerprint: `true` if there was one.
    #[inline]
    #[must_use]
    pub fn remove<L: WordLayout>(&self, pair: Pair) -> bool {
        // The caller has asked for the words, but does not wait for them before it takes the lock: that
        // takes a tenth longer, and with so many stripes hardly anybody waits for this one.
        let held = self.stripe(pair.fingerprint).lock();
        self.remove_held::<L>(&held, pair)
    }

    /// The same, under the pair's lock.
    #[inline]
    pub(crate) fn remove_held<L: WordLayout>(&self, held: &Held, pair: Pair) -> bool {
        let pattern = L::pattern(pair.fingerprint);
        let [first, second] = pair.buckets;
        // Acquire: pairs with the Release of `try_add`, so that the removal happens after the insert of a
        // copy that it found, also where that is an alias. (Which copy it takes, nothing can tell.)
        let first_word = self.table.bucket(first).load_to_change(Acquire);
        let second_word = self.table.bucket(second).load_to_change(Acquire);
        let in_first = L::contains(first_word, pattern);
        if !(in_first | L::contains(second_word, pattern)) {
            return false;
        }
        // No branch: a wrong guess would be known only when the word has come from memory, and what
        // comes after this call would wait as long.
        let bucket = select_unpredictable(in_first, first, second);
        let word = select_unpredictable(in_first, first_word, second_word);
        held.advance();
        self.clear_lane::<L>(held, bucket, word, pattern, None);
        true
    }

    /// Adds the fingerprint to the emptier of its buckets; `false` when both are full.
    #[inline]
    pub(crate) fn add<L: WordLayout>(&self, pair: Pair) -> bool {
        loop {
            // Relaxed: the compare-and-swap validates what was read; nothing else is concluded.
            let [first, second] = pair.buckets;
            let words = [
                self.table.bucket(first).load_to_change(Relaxed),
                self.table.bucket(second).load_to_change(Relaxed),
            ];
            match self.try_add::<L>(pair, words) {
                Some(true) => return true,
                Some(false) => {}
                None => return false,
            }
        }
    }

    /// Adds the fingerprint to the emptier of its buckets, unless copies of it take half of their lanes: `Ok(false)`
    /// when both are full.
    ///
    /// # Errors
    /// `TooManyCopies`.
    #[inline]
    pub(crate) fn add_within_half<L: WordLayout>(&self, pair: Pair) -> Result<bool, InsertError> {
        let many = |copies| 2 * copies >= lanes_of::<L>(pair);
        // Relaxed: a glance, to spare all but the hopeless the lock. (Half of a move counts twice.)
        if many(copies::<L>(pair, |bucket| self.table.bucket(bucket).load_to_change(Relaxed))) {
            let held = self.stripe(pair.fingerprint).lock();
            if many(self.count_held::<L>(&held, pair)) {
                return Err(InsertError::TooManyCopies);
            }
        }
        Ok(self.add::<L>(pair))
    }

    /// Adds the fingerprint, under its lock, unless it is there: `Some(true)` if it was added, `None`
    /// when it is absent and both buckets are full.
    ///
    /// Presence and room are judged by the same words. Between two looks a plain insert could put this
    /// very fingerprint into the last lane, and it would seem absent and without room.
    #[inline]
    pub(crate) fn add_absent<L: WordLayout>(&self, _held: &Held, pair: Pair) -> Option<bool> {
        let pattern = L::pattern(pair.fingerprint);
        loop {
            // Acquire: as in `words`. Nobody clears this fingerprint beside us: one look is enough.
            let words =
                pair.buckets.map(|bucket| self.table.bucket(bucket).load_to_change(Acquire));
            if words.into_iter().any(|word| L::contains(word, pattern)) {
                return Some(false);
            }
            if self.try_add::<L>(pair, words)? {
                return Some(true);
            }
        }
    }

    /// Adds the fingerprint to the emptier of its buckets, whose words were read: `Some(false)` when that
    /// word has changed since, `None` when both are full.
    #[inline]
    fn try_add<L: WordLayout>(&self, pair: Pair, words: [u64; 2]) -> Option<bool> {
        let ([first, second], [first_word, second_word]) = (pair.buckets, words);
        // No branches, as in `remove`.
        let second_is_emptier = L::is_emptier(second_word, first_word);
        let seen = select_unpredictable(second_is_emptier, second_word, first_word);
        let bucket = select_unpredictable(second_is_emptier, second, first);
        let new = L::with(seen, pair.fingerprint)?;
        let word = self.table.bucket(bucket);
        // Release: pairs with the Acquire loads of `words`, `remove`, `add_absent`, `count_held` and
        // `relocate`: whoever finds the fingerprint happens after its insert. Relaxed: read again.
        let added = word.compare_exchange(seen, new, Release, Relaxed).is_ok();
        if added {
            self.counters.inserted();
        }
        Some(added)
    }

    /// The rest of `insert`, once both buckets were seen full.
    #[cold]
    #[inline(never)]
    pub(crate) fn insert_crowded<L: WordLayout>(&self, pair: Pair) -> Result<(), InsertError> {
        self.insert_alone::<L>(pair, &mut Search::default())
    }

    /// The same for an insert that may have searched before.
    pub(crate) fn insert_alone<L: WordLayout>(
        &self,
        pair: Pair,
        search: &mut Search,
    ) -> Result<(), InsertError> {
        loop {
            self.begin::<L>(pair, search)?;
            loop {
                match self.settle::<L>(pair, search, ASKED_BY_ONE) {
                    Settling::Asked => {}
                    Settling::Stale => break,
                    Settling::Done(outcome) => return outcome,
                }
            }
        }
    }

    /// Begins to search room for an insert whose buckets were both seen full.
    ///
    /// # Errors
    /// `TooManyCopies` when they hold nothing but its fingerprint.
    pub(crate) fn begin<L: WordLayout>(
        &self,
        pair: Pair,
        search: &mut Search,
    ) -> Result<(), InsertError> {
        if self.only_copies::<L>(pair) {
            return Err(InsertError::TooManyCopies);
        }
        search.start(&self.geometry, pair.buckets);
        Ok(())
    }

    /// Takes an insert that has begun a step further.
    #[inline]
    pub(crate) fn settle<L: WordLayout>(
        &self,
        pair: Pair,
        search: &mut Search,
        ahead: usize,
    ) -> Settling {
        match self.search_on::<L>(search, ahead) {
            Progress::Asked => Settling::Asked,
            Progress::Room => {
                let done = self.follow::<L>(pair, Some(pair.fingerprint), search);
                if done || self.add::<L>(pair) { self.settled(search) } else { Settling::Stale }
            }
            // Room, or copies of this very fingerprint, may have come since its buckets were read.
            Progress::Exhausted if self.add::<L>(pair) => self.settled(search),
            Progress::Exhausted if self.only_copies::<L>(pair) => {
                Settling::Done(Err(InsertError::TooManyCopies))
            }
            Progress::Exhausted => Settling::Done(Err(InsertError::Full)),
        }
    }

    /// An insert that searched is done.
    fn settled(&self, search: &Search) -> Settling {
        self.counters.settled(&search.made);
        Settling::Done(Ok(()))
    }

    /// Whether both buckets hold nothing but the pair's fingerprint, at one moment.
    fn only_copies<L: WordLayout>(&self, pair: Pair) -> bool {
        let pattern = L::pattern(pair.fingerprint);
        // Relaxed: a glance, to spare all but the hopeless the lock.
        let hopeless = |bucket| {
            L::count(self.table.bucket(bucket).load_to_change(Relaxed), pattern) == L::LANES
        };
        if !pair.buckets.into_iter().all(hopeless) {
            return false;
        }
        let held = self.stripe(pair.fingerprint).lock();
        self.count_held::<L>(&held, pair) == lanes_of::<L>(pair)
    }

    /// Counts the copies of the pair's fingerprint, under its lock: no move is half done.
    pub(crate) fn count_held<L: WordLayout>(&self, _held: &Held, pair: Pair) -> usize {
        // Acquire: as in `words`; a copy counted happened before.
        copies::<L>(pair, |bucket| self.table.bucket(bucket).load(Acquire))
    }

    /// Looks for a free lane and moves fingerprints so that one of the pair's buckets may have room.
    ///
    /// # Errors
    /// `Full` when no free lane was found.
    pub(crate) fn make_room<L: WordLayout>(
        &self,
        pair: Pair,
        made: &mut Made,
    ) -> Result<(), InsertError> {
        let mut search = Search::default();
        search.made = take(made);
        search.start(&self.geometry, pair.buckets);
        let outcome = loop {
            match self.search_on::<L>(&mut search, ASKED_BY_ONE) {
                Progress::Asked => {}
                Progress::Exhausted => break Err(InsertError::Full),
                Progress::Room => {
                    // Whether all moves were made does not matter: the caller looks again.
                    let _ = self.follow::<L>(pair, None, &search);
                    break Ok(());
                }
            }
        };
        *made = search.made;
        outcome
    }

    /// Takes a search for room a step further.
    #[inline]
    fn search_on<L: WordLayout>(&self, search: &mut Search, ahead: usize) -> Progress {
        // Relaxed: a plan; every move validates its own step of it. `Full` is not validated: lanes
        // that were free at different moments, or are taken by half of a move, can be overlooked.
        let read = |bucket| self.table.bucket(bucket).load_to_change(Relaxed);
        let prefetch = |bucket| self.table.prefetch(bucket);
        let progress = search.go_on::<L>(&self.geometry, ahead, read, prefetch);
        match progress {
            Progress::Asked => {}
            Progress::Room => self.counters.found_path(search.moves::<L>()),
            Progress::Exhausted => self.counters.found_none(),
        }
        progress
    }

    /// Makes the moves that a search has found, as far as they are still possible; `true` when
    /// `newcomer` went into the room made, by the last of them.
    fn follow<L: WordLayout>(
        &self,
        pair: Pair,
        newcomer: Option<Fingerprint>,
        search: &Search,
    ) -> bool {
        for step in search.moves::<L>() {
            let newcomer = newcomer.filter(|_| pair.buckets.contains(&step.from));
            if !self.relocate::<L>(step, newcomer) {
                return false;
            }
            search.made.one_more();
            if newcomer.is_some() {
                return true;
            }
        }
        false
    }

    /// Makes one move, and puts `newcomer` into the lane it leaves; `false` when the plan is stale:
    /// the fingerprint is not there any more, or there is no room where it should go. `step.to` must
    /// be the fingerprint's other bucket, and not `step.from`.
    #[must_use]
    pub fn relocate<L: WordLayout>(&self, step: Move, newcomer: Option<Fingerprint>) -> bool {
        let pattern = L::pattern(step.fingerprint);
        let [from, to] = [step.from, step.to].map(|bucket| self.table.bucket(bucket));
        let held = self.stripe(step.fingerprint).lock();
        // Acquire: pairs with the Release of `try_add`; the copy passes on what its original published.
        let seen = from.load_to_change(Acquire);
        if !L::contains(seen, pattern) {
            return false;
        }
        loop {
            // Relaxed: as in `add`.
            let word = to.load_to_change(Relaxed);
            let Some(new) = L::with(word, step.fingerprint) else { return false };
            // Release: pairs with the Acquire loads of `words` and the others, as in `try_add`.
            if to.compare_exchange(word, new, Release, Relaxed).is_ok() {
                break;
            }
        }
        held.advance();
        self.clear_lane::<L>(&held, step.from, seen, pattern, newcomer);
        self.counters.relocated();
        if newcomer.is_some() {
            self.counters.inserted();
        }
        true
    }

    /// Clears a lane that holds a fingerprint, or puts another into it.
    ///
    /// The caller holds the fingerprint's stripe, has found it in this `word` of the bucket, and has
    /// advanced the epoch since. So it is still there, whatever else the word holds by now: whoever else
    /// would clear it needs the same lock.
    fn clear_lane<L: WordLayout>(
        &self,
        _held: &Held,
        bucket: u32,
        mut word: u64,
        pattern: L::Pattern,
        newcomer: Option<Fingerprint>,
    ) {
        loop {
            let new = match newcomer {
                None => L::without(word, pattern),
                Some(fingerprint) => L::replace(word, pattern, fingerprint),
            }
            .expect("only the holder of its stripe clears a fingerprint");
            // Release: pairs with the Acquire loads of `words`: who sees the lane cleared sees the
            // epoch advanced. It also publishes a newcomer, as in `try_add`. Relaxed: as there.
            match self.table.bucket(bucket).compare_exchange(word, new, Release, Relaxed) {
                Ok(()) => return,
                Err(now) => word = now,
            }
        }
    }
}
