//! Blocks of items of a table of a fixed size: see `table/block.rs`.

use super::{FixedSpace, FixedTable, FixedWords, Pair, lookup::Reader};
use crate::{
    bucket::Fingerprint,
    table::{
        BLOCK, Blocks, Lookups, Mixer, Stripe, block::is_in_second_level, stripes::StripesReader,
    },
};

/// The keys and the buckets of the items of a block.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Columns {
    keys: [u32; BLOCK],
    buckets: [[u32; BLOCK]; 2],
}

impl Columns {
    #[inline]
    fn buckets(&self, place: usize) -> [u32; 2] {
        [self.buckets[0][place], self.buckets[1][place]]
    }
}

impl Blocks for FixedSpace {
    type Columns = Columns;
    const EMPTY: Columns = Columns { keys: [0; BLOCK], buckets: [[0; BLOCK]; 2] };
    type Reader<'a> = Reader<'a>;

    #[inline]
    fn is_in_second_level(&self) -> bool {
        is_in_second_level(self.addressing.buckets())
    }

    #[inline]
    fn locate(&self, mixer: Mixer, hashes: &[u64], columns: &mut Columns) {
        for (&hash, place) in hashes.iter().zip(0..BLOCK) {
            let (key, [first, second]) = self.addressing.locate(mixer.mix(hash));
            columns.keys[place] = key;
            (columns.buckets[0][place], columns.buckets[1][place]) = (first, second);
        }
    }

    #[cfg(guira_vectors)]
    #[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
    #[inline(always)]
    fn locate_all(&self, mixer: Mixer, hashes: &[u64; BLOCK], columns: &mut Columns) {
        // A copy, which no store to the block can change.
        let addressing = self.addressing;
        let Columns { keys, buckets: [first, second] } = columns;
        for place in 0..BLOCK {
            let mixed = mixer.mix_by_halves(hashes[place]);
            let (key, buckets) = addressing.locate_by_words(mixed);
            keys[place] = key;
            [first[place], second[place]] = buckets;
        }
    }

    #[inline]
    fn item_at(&self, columns: &Columns, place: usize) -> Pair {
        let fingerprint = Fingerprint::new(columns.keys[place]);
        Pair { fingerprint, value: 0, buckets: columns.buckets(place) }
    }

    #[inline]
    fn prefetch_at(&self, columns: &Columns, place: usize) {
        let [first, second] = columns.buckets(place);
        self.buckets.prefetch(first);
        self.buckets.prefetch(second);
    }

    #[inline]
    fn reader(&self) -> Reader<'_> {
        Reader { words: self.buckets.as_slice() }
    }

    #[inline]
    fn stripe_at<'a>(stripes: StripesReader<'a>, columns: &Columns, place: usize) -> &'a Stripe {
        stripes.of(Fingerprint::new(columns.keys[place]))
    }

    #[inline]
    fn words_at(reader: Reader<'_>, columns: &Columns, place: usize) -> [u64; 2] {
        reader.words_of(columns.buckets(place))
    }

    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn compare<const VALUES: bool>(&self, columns: &Columns, lookups: &mut Lookups) {
        // A copy, as above.
        let slots = self.slots;
        let Lookups { words: [first, second], found, open, values } = lookups;
        for place in 0..BLOCK {
            let (words, key) = ([first[place], second[place]], columns.keys[place]);
            if VALUES {
                (found[place], values[place]) = slots.first_value(words, key);
            } else {
                found[place] = slots.either_may_hold(words, key);
            }
        }
        // A semi-sorted word that has the lane of a key may hold it.
        if slots.is_semi_sorted() {
            *open = *found;
        }
    }

    fn settle<const VALUES: bool>(
        table: &FixedTable,
        columns: &Columns,
        place: usize,
        [first, second]: [u64; 2],
        unchanged: bool,
    ) -> Option<u16> {
        let (key, [one, other]) = (columns.keys[place], columns.buckets(place));
        let slots = &table.slots;
        if slots.is_semi_sorted() && slots.semi_sorted_in_either(first, second, key) {
            return Some(0);
        }
        if unchanged {
            None
        } else if VALUES {
            table.get_again(key, one, other)
        } else {
            table.contains_again(key, one, other).then_some(0)
        }
    }

    fn look_for_visible_at(table: &FixedTable, columns: &Columns, place: usize) -> bool {
        table.look_for_visible::<FixedWords>(&table.item_at(columns, place))
    }
}
