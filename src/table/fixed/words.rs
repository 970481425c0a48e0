//! What the steps of the protocol need of a table of a fixed size.

use core::hint::select_unpredictable;

use super::{
    Attempts, FixedSpace, FixedTable, Move, Pair, Payload, Seen, Space, Stripe, StripeGuard,
    Stripes, Words,
};
use crate::{
    InsertError,
    bucket::{BucketLayout, Fingerprint, Lanes},
    sync::{Acquire, Relaxed, Word},
    table::Hashes,
};

impl<P: Payload> Space for FixedSpace<P> {
    type Payload = P;
    type Item = Pair;
    type Move = Move;
    type Incoming = Fingerprint;
    const GROWS: bool = false;

    #[inline]
    fn payload(&self) -> P {
        *self.addressing.payload()
    }

    #[inline]
    fn with_value(pair: Pair, value: u16) -> Pair {
        pair.with_value(value)
    }

    #[inline]
    fn prefetch(&self, pair: &Pair) {
        self.buckets.prefetch(pair.buckets[0]);
        self.buckets.prefetch(pair.buckets[1]);
    }

    #[inline]
    fn bucket(&self, bucket: u32) -> &Word {
        self.buckets.bucket(bucket)
    }

    #[inline]
    fn load_both(&self, pair: &Pair) -> [Seen; 2] {
        // Acquire: as in `BothWords::load`.
        pair.buckets.map(|bucket| Seen { bucket, word: self.bucket(bucket).load(Acquire) })
    }

    #[inline]
    fn load_both_to_change(&self, pair: &Pair) -> [Seen; 2] {
        // Acquire: as above.
        pair.buckets
            .map(|bucket| Seen { bucket, word: self.bucket(bucket).load_to_change(Acquire) })
    }

    #[inline]
    fn level(_word: u64) -> u32 {
        0
    }

    #[inline]
    fn slots(word: u64) -> u64 {
        word
    }

    #[inline]
    fn count(&self, _change: i64) {}

    fn buckets(&self) -> u64 {
        self.addressing.buckets()
    }

    fn retire_ghosts(&self, _retired: i64) {}
}

impl<L: BucketLayout, P: Payload> Words<L> for FixedSpace<P> {
    const LANES: Lanes = L::LANES;

    #[inline]
    fn item(&self, mixed: u64) -> Pair {
        self.addressing.pair::<L>(mixed)
    }

    #[inline]
    fn for_each_item(
        table: &FixedTable<P>,
        hashes: &mut Hashes<'_>,
        operation: impl FnMut(usize, Pair),
    ) {
        table.for_each_pair::<L>(hashes, operation);
    }

    #[inline]
    fn stripe<'a>(&self, stripes: &'a Stripes, pair: &Pair) -> &'a Stripe {
        stripes.of(self.addressing.stripe_fingerprint(pair.fingerprint))
    }

    fn stripe_of_slot<'a>(&self, stripes: &'a Stripes, _seen: Seen, slot: u32) -> &'a Stripe {
        stripes.of(self.addressing.stripe_fingerprint(Fingerprint::new(slot)))
    }

    #[inline]
    fn stripe_of_move<'a>(&self, stripes: &'a Stripes, step: Move) -> &'a Stripe {
        stripes.of(self.addressing.stripe_fingerprint(step.fingerprint))
    }

    #[inline]
    fn marks(&self, pair: &Pair, words: [Seen; 2]) -> [u64; 2] {
        let pattern = L::LANES.broadcast(pair.fingerprint.get());
        // The exact tests: every mark is right.
        let marks = words.map(|seen| L::LANES.zeros((seen.word ^ pattern) & !self.values::<L>()));
        [marks[0], if pair.buckets[0] == pair.buckets[1] { 0 } else { marks[1] }]
    }

    #[inline]
    fn copies_in(&self, pair: &Pair, words: [Seen; 2]) -> usize {
        let pattern = L::pattern(self.key(pair.fingerprint));
        // mutant: copies-with-value
        let count = |seen: Seen| L::count(seen.word & !self.values::<L>(), pattern) as usize;
        let [first, second] = words.map(count);
        // mutant: copies-one-bucket-twice, copies-first-bucket
        if pair.buckets[0] == pair.buckets[1] { first } else { first + second }
    }

    #[inline]
    fn value_in(&self, pair: &Pair, words: [Seen; 2]) -> Option<u16> {
        let pattern = L::pattern(self.key(pair.fingerprint));
        let is_in = |seen: &Seen| L::contains(seen.word & !self.values::<L>(), pattern);
        let place = words.iter().position(is_in)?;
        Some(self.first_value::<L>(words[place].word, pair.fingerprint))
    }

    #[inline]
    fn changed(
        &self,
        pair: &Pair,
        [first, second]: [Seen; 2],
        value: Option<u16>,
    ) -> Option<(Seen, u64)> {
        // mutant: changed-by-key
        let pattern = L::pattern(pair.fingerprint);
        let in_first = L::contains(first.word, pattern);
        if !(in_first | L::contains(second.word, pattern)) {
            return None;
        }
        // No branch: the words may still be on their way from memory, as in `try_add`.
        let bucket = select_unpredictable(in_first, first.bucket, second.bucket);
        let word = select_unpredictable(in_first, first.word, second.word);
        let new = match value {
            None => L::without(word, pattern),
            Some(value) => {
                let key = self.key(pair.fingerprint).get();
                L::replace(word, pattern, Fingerprint::new(key | u32::from(value)))
            }
        };
        Some((Seen { bucket, word }, new?))
    }

    #[inline]
    fn knowledge(_word: u64, _slot: u32) -> u32 {
        0
    }

    #[inline]
    fn slot_of(&self, pair: &Pair, _is_second: bool, _word: u64) -> u32 {
        pair.fingerprint.get()
    }

    #[inline]
    fn is_emptier(word: u64, other: u64) -> bool {
        L::is_emptier(word, other)
    }

    #[inline]
    fn with(word: u64, slot: u32) -> Option<u64> {
        L::with(word, Fingerprint::new(slot))
    }

    #[inline]
    fn without_all(word: u64, marks: u64) -> u64 {
        L::LANES.without(word, marks)
    }

    #[inline]
    fn with_changed(word: u64, slot: u32, new: Option<u32>) -> Option<u64> {
        let pattern = L::pattern(Fingerprint::new(slot));
        match new {
            None => L::without(word, pattern),
            Some(new) => L::replace(word, pattern, Fingerprint::new(new)),
        }
    }

    #[inline]
    fn source(&self, step: Move) -> Option<(Seen, u32)> {
        // Acquire: pairs with the Release of `try_add`. The copy passes on what its original
        // published.
        let word = self.bucket(step.from).load_to_change(Acquire);
        let is_there = L::contains(word, L::pattern(step.fingerprint));
        is_there.then_some((Seen { bucket: step.from, word }, step.fingerprint.get()))
    }

    #[inline]
    fn destination(&self, step: Move) -> Option<(Seen, u32)> {
        // Relaxed: the compare-and-swap validates what was read, and nothing else depends on it.
        let word = self.bucket(step.to).load_to_change(Relaxed);
        Some((Seen { bucket: step.to, word }, step.fingerprint.get()))
    }

    #[inline]
    fn incoming_slot(&self, _step: Move, incoming: Fingerprint) -> u32 {
        incoming.get()
    }

    fn clear_elsewhere(_table: &FixedTable<P>, _guard: &StripeGuard, _step: Move) -> bool {
        unreachable!("no bucket is split")
    }

    fn make_room(
        table: &FixedTable<P>,
        pair: &Pair,
        attempts: &mut Attempts,
    ) -> Result<(), InsertError> {
        table.make_room::<L>(*pair, &mut attempts.relocations)
    }

    #[inline]
    fn insert_by_making_room(table: &FixedTable<P>, pair: &Pair) -> Result<(), InsertError> {
        table.insert_by_relocating::<L>(*pair)
    }

    #[inline]
    fn count_added(_table: &FixedTable<P>) {}

    #[inline]
    fn sweep_bucket(table: &FixedTable<P>, now: u64, bucket: u32, _end: u64) {
        table.sweep_one::<L>(now, bucket);
    }
}
