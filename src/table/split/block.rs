//! Blocks of items of a table that grows: see `table/block.rs`.
//!
//! A block is located by one size. A word whose level is not what follows from the size leaves its
//! item open.

use core::ptr::NonNull;

#[cfg(guira_vectors)]
use super::address::Formulas;
use super::{GrowingSpace, GrowingTable, GrowingWords, Item, address::Located};
#[cfg(guira_vectors)]
use crate::table::mix::spread;
use crate::{
    sync::{Acquire, Word},
    table::{
        BLOCK, Blocks, GrowingBuckets, Lookups, Mixer, Stripe, block::is_in_second_level,
        stripes::StripesReader,
    },
};

/// What lookups need of the items of a block.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Columns {
    mixed: [u64; BLOCK],
    buckets: [[u32; BLOCK]; 2],
    /// What the slots in both words are compared with, and which of the two levels they have.
    expected: [[u32; BLOCK]; 2],
    /// The numbers that select the stripes.
    stripes: [u32; BLOCK],
    /// The level of the size.
    level: u32,
}

/// The words of a table, for many reads.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    base: Option<NonNull<Word>>,
    buckets: &'a GrowingBuckets,
}

impl Columns {
    #[inline]
    fn buckets(&self, place: usize) -> [u32; 2] {
        [self.buckets[0][place], self.buckets[1][place]]
    }

    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn put(&mut self, place: usize, located: Located) {
        let Located { buckets, expected, stripe } = located;
        [self.buckets[0][place], self.buckets[1][place]] = buckets;
        [self.expected[0][place], self.expected[1][place]] = expected;
        self.stripes[place] = stripe;
    }
}

impl Blocks for GrowingSpace {
    type Columns = Columns;
    const EMPTY: Columns = Columns {
        mixed: [0; BLOCK],
        buckets: [[0; BLOCK]; 2],
        expected: [[0; BLOCK]; 2],
        stripes: [0; BLOCK],
        level: 0,
    };
    type Reader<'a> = Reader<'a>;

    #[inline]
    fn is_in_second_level(&self) -> bool {
        is_in_second_level(self.addressing.buckets(self.hint()))
    }

    #[inline]
    fn locate(&self, mixer: Mixer, hashes: &[u64], columns: &mut Columns) {
        let size = self.hint();
        columns.level = size.level;
        for (&hash, place) in hashes.iter().zip(0..BLOCK) {
            let mixed = mixer.mix(hash);
            columns.mixed[place] = mixed;
            columns.put(place, self.addressing.locate_one(mixed, size));
        }
    }

    #[cfg(guira_vectors)]
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn locate_all(&self, mixer: Mixer, hashes: &[u64; BLOCK], columns: &mut Columns) {
        // A copy, which no store to the block can change.
        let (formulas, size) = (**self.addressing(), self.hint());
        columns.level = size.level;
        // Each loop has numbers of one width: as many of them as a vector has.
        let [mut upper, mut lower, mut scattered] = [[0; BLOCK]; 3];
        let ([mut starts, mut fractions], [mut t, mut s]) = ([[0; BLOCK]; 2], [[0; BLOCK]; 2]);
        for place in 0..BLOCK {
            let mixed = mixer.mix_by_halves(hashes[place]);
            columns.mixed[place] = mixed;
            let mixed = spread(mixed);
            (upper[place], lower[place]) = ((mixed >> 32) as u32, mixed as u32);
        }
        for place in 0..BLOCK {
            scattered[place] = Formulas::scatter(formulas.core(upper[place]));
        }
        for place in 0..BLOCK {
            (starts[place], fractions[place]) = formulas.start(lower[place]);
            (t[place], s[place]) = formulas.reflection(Formulas::product(scattered[place]));
        }
        for place in 0..BLOCK {
            let start = (starts[place], fractions[place]);
            columns.put(place, formulas.locate(upper[place], start, (t[place], s[place]), size));
        }
    }

    #[inline]
    fn item_at(&self, columns: &Columns, place: usize) -> Item {
        self.addressing.item(columns.mixed[place])
    }

    #[inline]
    fn prefetch_at(&self, columns: &Columns, place: usize) {
        let [first, second] = columns.buckets(place);
        self.buckets.prefetch(first);
        self.buckets.prefetch(second);
    }

    #[inline]
    fn reader(&self) -> Reader<'_> {
        Reader { base: self.buckets.base(), buckets: &self.buckets }
    }

    #[inline]
    fn stripe_at<'a>(stripes: StripesReader<'a>, columns: &Columns, place: usize) -> &'a Stripe {
        stripes.at(columns.stripes[place] as usize)
    }

    #[inline]
    fn words_at(reader: Reader<'_>, columns: &Columns, place: usize) -> [u64; 2] {
        // Acquire: pairs with the Release of whoever changed the word, a split included.
        columns.buckets(place).map(|bucket| reader.word(bucket).load(Acquire))
    }

    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn compare<const VALUES: bool>(&self, columns: &Columns, lookups: &mut Lookups) {
        // A copy, as above.
        let leveled = *self.leveled();
        let Columns { expected: [one, other], level, .. } = columns;
        let Lookups { words: [first, second], found, open, values } = lookups;
        for place in 0..BLOCK {
            let words = [first[place], second[place]];
            let compared = leveled.compare::<VALUES>(words, [one[place], other[place]], *level);
            (found[place], open[place]) = (compared.found, !compared.settled);
            if VALUES {
                values[place] = compared.value;
            }
        }
    }

    fn settle<const VALUES: bool>(
        table: &GrowingTable,
        columns: &Columns,
        place: usize,
        _words: [u64; 2],
        unchanged: bool,
    ) -> Option<u16> {
        let mixed = columns.mixed[place];
        if VALUES {
            table.get_again(mixed, unchanged)
        } else {
            table.contains_again(mixed, unchanged).then_some(0)
        }
    }

    fn look_for_visible_at(table: &GrowingTable, columns: &Columns, place: usize) -> bool {
        table.look_for_visible::<GrowingWords>(&table.item_at(columns, place))
    }
}

impl<'a> Reader<'a> {
    /// A bucket that the addressing has returned for the hint.
    #[inline]
    fn word(self, bucket: u32) -> &'a Word {
        match self.base {
            // SAFETY: the hint was loaded by Acquire, so the buckets of a table of this size are
            // committed, or in the image. They lie behind one another.
            Some(base) => unsafe { base.add(bucket as usize).as_ref() },
            // SAFETY: they are committed, as above.
            None => unsafe { self.buckets.bucket(bucket) },
        }
    }
}
