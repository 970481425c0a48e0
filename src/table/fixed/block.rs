//! Blocks of items of a table of a fixed size: see `table/block.rs`.

#[cfg(guira_vectors)]
use super::Addressing;
use super::{FixedSpace, FixedTable, FixedWords, Pair, lookup::Reader};
use crate::{
    bucket::{Fingerprint, Slots},
    table::{
        BLOCK, Blocks, Kernel, Lookups, Mixer, Stripe, block::is_cached, stripes::StripesReader,
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
        is_cached(self.addressing.buckets())
    }

    #[inline]
    fn locate(&self, kernel: Kernel, mixer: Mixer, hashes: &[u64], columns: &mut Columns) {
        #[cfg(guira_vectors)]
        if let Ok(all) = hashes.try_into() {
            let from = &self.addressing;
            match kernel {
                Kernel::Scalar => {}
                // SAFETY: the processor has the instructions of the kernel of a table.
                Kernel::Avx2 => return unsafe { avx2::locate(from, mixer, all, columns) },
                // SAFETY: as above.
                Kernel::Avx512 => return unsafe { avx512::locate(from, mixer, all, columns) },
            }
        }
        let _ = kernel;
        for (&hash, place) in hashes.iter().zip(0..BLOCK) {
            let (key, [first, second]) = self.addressing.locate(mixer.mix(hash));
            columns.keys[place] = key;
            (columns.buckets[0][place], columns.buckets[1][place]) = (first, second);
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

    #[inline]
    fn compare<const VALUES: bool>(
        &self,
        kernel: Kernel,
        columns: &Columns,
        lookups: &mut Lookups,
    ) -> bool {
        match kernel {
            // SAFETY: the processor has the instructions of the kernel of a table.
            #[cfg(guira_vectors)]
            Kernel::Avx2 => unsafe { avx2::compare::<VALUES>(&self.slots, &columns.keys, lookups) },
            // SAFETY: as above.
            #[cfg(guira_vectors)]
            Kernel::Avx512 => unsafe {
                avx512::compare::<VALUES>(&self.slots, &columns.keys, lookups);
            },
            _ => compare::<VALUES>(&self.slots, &columns.keys, lookups),
        }
        // A semi-sorted word that has the lane of a key may hold it.
        if self.slots.is_semi_sorted() {
            lookups.open = lookups.found;
        }
        self.slots.is_semi_sorted()
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

/// Writes the keys and the buckets of the hashes of a block, by products of 32 bits, which vectors
/// have.
#[cfg(guira_vectors)]
#[expect(clippy::inline_always, reason = "so that it gets the instructions of its caller")]
#[inline(always)]
fn locate(addressing: &Addressing, mixer: Mixer, hashes: &[u64; BLOCK], columns: &mut Columns) {
    // A copy, which no store to the block can change.
    let addressing = *addressing;
    let Columns { keys, buckets: [first, second] } = columns;
    for place in 0..BLOCK {
        let mixed = mixer.mix_by_halves(hashes[place]);
        let (key, buckets) = addressing.locate_by_words(mixed);
        keys[place] = key;
        [first[place], second[place]] = buckets;
    }
}

/// See [`Blocks::compare`].
#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn compare<const VALUES: bool>(slots: &Slots, keys: &[u32; BLOCK], lookups: &mut Lookups) {
    // A copy, as above.
    let slots = *slots;
    let Lookups { words: [first, second], found, values, .. } = lookups;
    for place in 0..BLOCK {
        let words = [first[place], second[place]];
        if VALUES {
            (found[place], values[place]) = slots.first_value(words, keys[place]);
        } else {
            found[place] = slots.either_may_hold(words, keys[place]);
        }
    }
}

/// Compiles the two loops over columns for a set of instructions.
#[cfg(guira_vectors)]
macro_rules! compile {
    ($module:ident, $features:literal) => {
        mod $module {
            use super::{Addressing, BLOCK, Columns, Lookups, Mixer, Slots};

            #[target_feature(enable = $features)]
            pub(super) fn locate(
                from: &Addressing,
                mixer: Mixer,
                hashes: &[u64; BLOCK],
                columns: &mut Columns,
            ) {
                super::locate(from, mixer, hashes, columns);
            }

            #[target_feature(enable = $features)]
            pub(super) fn compare<const VALUES: bool>(
                slots: &Slots,
                keys: &[u32; BLOCK],
                lookups: &mut Lookups,
            ) {
                super::compare::<VALUES>(slots, keys, lookups);
            }
        }
    };
}
#[cfg(guira_vectors)]
compile!(avx2, "avx2");
#[cfg(guira_vectors)]
compile!(avx512, "avx512f,avx512dq,avx512vl,avx512bw");
