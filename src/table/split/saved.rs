//! What a snapshot has of a table that grows: copied, validated, and restored.

use alloc::vec::Vec;
use core::ops::Range;

use super::{
    GrowingTable, Limits, Size,
    image::{Image, Run, part},
    whole::{Occupied, SLACK},
};
use crate::{
    bucket::{
        GrowingLayout,
        leveled::{MAX_LEVEL, level},
    },
    sync::{Relaxed, acquire_fence, load_all},
    table::{Clock, ClockAndSweep, ClockState, Payload, SweepState, memory::touched_words},
};

/// Words that are handled together. They stay in a first-level cache.
const BLOCK: usize = 512;

/// A table that grows, without its words. Those are where image says: see `image.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grown {
    /// The number of buckets at level 0.
    pub first: u64,
    /// How far the table has grown.
    pub size: Size,
    /// Slots that belong to no item.
    pub ghosts: u64,
    /// The limits.
    pub limits: Limits,
}

impl Grown {
    /// The number of buckets that follows from the size.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        (self.first << self.size.level) + self.size.split
    }

    /// Returns the name and the value of a number that no table can have, if there is one, given
    /// the number of words in the image.
    #[must_use]
    pub fn invalid(&self, words: u64) -> Option<(&'static str, u64)> {
        let Self { first, size: Size { level, split }, limits: Limits { buckets, load }, .. } =
            *self;
        // No overflow: at most 2^32 buckets, doubled at most 15 times.
        let round = || first << level;
        let numbers: [(_, _, &dyn Fn() -> bool); 6] = [
            ("first buckets", first, &|| (1..=1 << 32).contains(&first)),
            ("level", level.into(), &|| level <= MAX_LEVEL),
            ("split buckets", split, &|| split < round()),
            // The table reserves addresses for as many.
            ("largest number of buckets", buckets, &|| {
                (self.buckets()..=(first << MAX_LEVEL).min(1 << 32)).contains(&buckets)
            }),
            ("load", load.into(), &|| (1..=256).contains(&load)),
            // A number and a word for each child ahead.
            ("words", words, &|| {
                let rest = words.checked_sub(Image::new(first, self.size, 0).len());
                rest.is_some_and(|rest| rest % 2 == 0 && rest / 2 <= round() - split)
            }),
        ];
        numbers.into_iter().find(|(_, _, valid)| !valid()).map(|(name, value, _)| (name, value))
    }

    /// The image with this number of words, which is valid.
    fn image(&self, words: u64) -> Image {
        let Self { first, size, .. } = *self;
        Image::new(first, size, (words - Image::new(first, size, 0).len()) / 2)
    }

    /// The places in the image that hold numbers of buckets, in place of words with slots.
    #[must_use]
    pub fn numbers(&self, words: u64) -> Range<u64> {
        self.image(words).numbers()
    }

    /// Returns whether each word of the image is one that can be at its place. `read` copies words
    /// from a place on.
    #[must_use]
    pub fn has_places(&self, words: u64, mut read: impl FnMut(u64, &mut [u64])) -> bool {
        let Size { level: at, split } = self.size;
        let (round, image) = (self.first << at, self.image(words));
        let (numbers, mut ahead) = (image.numbers(), image.numbers());
        for run in image.runs() {
            let is_valid = for_each_word(run.places(), &mut read, |place, word, read| {
                let bucket = run.buckets.start + (place - run.place);
                let is_split = match level(word).checked_sub(at) {
                    Some(0) => false,
                    Some(1) => true,
                    _ => return false,
                };
                if !(split..round).contains(&bucket) {
                    return is_split;
                }
                // Its child is beyond the end. If it were the next one in turn, the size would be
                // larger.
                let (child, mut number) = (round + bucket, [0]);
                !is_split
                    || bucket > split
                        && child < self.limits.buckets
                        && ahead.next().is_some_and(|place| {
                            read(place, &mut number);
                            number == [child]
                        })
            });
            if !is_valid || !for_each_word(run.gap(), &mut read, |_, word, _| word == 0) {
                return false;
            }
        }
        ahead.is_empty()
            && for_each_word(numbers.end..words, &mut read, |_, word, _| level(word) == at + 1)
    }

    /// Divides the occupied slots of the table into items and ghosts. (The ghosts may be fewer than
    /// were counted, if items were removed that had not been added.)
    #[must_use]
    pub fn items(&self, occupied: u64) -> u64 {
        Occupied::new(occupied, signed(self.ghosts)).items
    }
}

/// A number of ghosts, of which a snapshot may claim any.
fn signed(ghosts: u64) -> i64 {
    i64::try_from(ghosts).unwrap_or(i64::MAX)
}

/// Reads the words at these places, and calls a function with each place, its word, and `read`,
/// until it returns `false`. Returns whether it never did.
fn for_each_word<R: FnMut(u64, &mut [u64])>(
    places: Range<u64>,
    read: &mut R,
    mut each: impl FnMut(u64, u64, &mut R) -> bool,
) -> bool {
    let mut block = [0; BLOCK];
    places.clone().step_by(BLOCK).all(|start| {
        let block = &mut block[..BLOCK.min((places.end - start) as usize)];
        read(start, block);
        (start..).zip(&*block).all(|(place, &word)| each(place, word, read))
    })
}

impl<P: Payload> GrowingTable<P> {
    /// Everything but the words. The caller knows that nobody changes the table, or holds all
    /// stripes and has settled the size.
    #[must_use]
    pub fn grown(&self) -> Grown {
        self.grown_with(self.clock_of_copy().1.as_ref())
    }

    /// As [`grown`](Self::grown), given how far the table is swept.
    fn grown_with(&self, sweep: Option<&SweepState>) -> Grown {
        let limits = self.limits;
        let ghosts = self.ghosts_in(sweep).max(0) as u64;
        Grown { first: self.growth.first(), size: self.size(), ghosts, limits }
    }

    /// The clock, if slots expire, likewise.
    #[must_use]
    pub fn clock_state(&self) -> Option<ClockAndSweep> {
        let (now, sweep) = self.clock_of_copy();
        self.clock.read(now).zip(sweep)
    }

    /// The number of buckets in use, for a caller that knows that nobody changes the table.
    #[must_use]
    pub fn in_use(&self) -> u64 {
        self.growth.first() + self.occupancy.splits() as u64
    }

    /// The image, for a caller that knows that nobody changes the table. Otherwise it may be that
    /// of no moment.
    fn image(&self) -> Image {
        let size = self.size();
        Image::new(self.growth.first(), size, self.ahead(size))
    }

    /// The number of words in the image, likewise.
    #[must_use]
    pub fn words(&self) -> u64 {
        self.image().len()
    }

    /// Returns a copy of the image, which contains every item that is in the table throughout the
    /// call, and the rest of the table; or `None` if the system refuses the memory.
    #[must_use]
    pub fn copy_words(&self) -> Option<(Grown, Option<ClockAndSweep>, Vec<u64>)> {
        let mut slack = 0;
        loop {
            let prepared = self.words() + slack;
            let mut copy = touched_words(usize::try_from(prepared).ok()?)?;
            // mutant: split-copy-no-pause
            let paused = self.clock.pause();
            // mutant: split-copy-no-locks, split-copy-one-lock-fewer, split-copy-any-order
            let stripes = self.stripes.lock_all();
            self.settle(&stripes);
            let image = self.image();
            // mutant: split-copy-early-unlock, split-copy-despite-growth
            if image.len() <= prepared {
                copy.truncate(image.len() as usize);
                self.copy_image(image, 0, &mut copy);
                // Pairs with the Release of whoever changed a word that was loaded.
                // mutant: split-copy-no-fence
                acquire_fence();
                // mutant: split-copy-late-ghosts, split-copy-early-now, split-copy-two-generations
                let (now, sweep) = self.clock_of_copy();
                let grown = self.grown_with(sweep.as_ref());
                // Before the lock of the schedule is taken: see "Copies" in `table/clock.rs`.
                // mutant: split-copy-late-resume
                drop((stripes, paused));
                return Some((grown, self.clock.read(now).zip(sweep), copy));
            }
            drop((stripes, paused));
            // The table has grown meanwhile: see `try_clone`.
            slack += prepared / SLACK + 1;
        }
    }

    /// Copies words of the image, from a place on, for a caller that knows that nobody changes the
    /// table.
    pub fn words_from(&self, from: u64, copy: &mut [u64]) {
        self.copy_image(self.image(), from, copy);
    }

    /// Copies words of the image, from a place on. Words that other threads change meanwhile are
    /// copied before or after the change.
    fn copy_image(&self, image: Image, from: u64, copy: &mut [u64]) {
        for run in image.runs() {
            if let Some((place, words)) = part(copy, from, run.places()) {
                self.copy_words_from(run.buckets.start + (place - run.place), words);
            }
            if let Some((_, zeros)) = part(copy, from, run.gap()) {
                zeros.fill(0);
            }
        }
        let numbers = image.numbers();
        if from + copy.len() as u64 <= numbers.start {
            return;
        }
        let mut places = numbers.clone().zip(numbers.end..);
        // mutant: split-copy-none-ahead
        self.for_each_ahead(image.size, |child, word| {
            // There are as many as are ahead.
            let Some((number, place)) = places.next() else { return };
            if let Some((_, copied)) = part(copy, from, number..number + 1) {
                copied[0] = child.into();
            }
            if let Some((_, copied)) = part(copy, from, place..place + 1) {
                // Relaxed: as in `copy_words_from`.
                copied[0] = word.load(Relaxed);
            }
        });
    }

    /// Copies words of buckets below the end, from a bucket on.
    fn copy_words_from(&self, from: u64, mut copy: &mut [u64]) {
        self.buckets.for_each_run(from..from + copy.len() as u64, |words| {
            let (now, later) = core::mem::take(&mut copy).split_at_mut(words.len());
            // Relaxed: what must be in the copy happened before the locks were acquired, or before
            // the call.
            load_all(words, now);
            copy = later;
        });
    }

    /// Returns the table with this image, of which `read` copies words from a place on, and with
    /// stripes and counters of its own; or `None` if the system refuses the memory.
    ///
    /// The numbers and the places must be [valid](Grown::has_places).
    #[must_use]
    pub fn restore<L: GrowingLayout>(
        payload: P,
        grown: &Grown,
        clock: Option<(ClockState, &SweepState)>,
        words: u64,
        stripes: usize,
        memory: (bool, bool),
        mut read: impl FnMut(u64, &mut [u64]),
    ) -> Option<Self> {
        let Grown { first, size, ghosts, limits } = *grown;
        let mut table = Self::holding::<L>(payload, first, limits, stripes, memory)?;
        let (image, end) = (grown.image(words), grown.buckets());
        let mut occupied = 0;
        let count =
            |words: &[u64]| words.iter().map(|&word| u64::from(L::occupied(word))).sum::<u64>();
        table.buckets.commit(0..end)?;
        for Run { buckets, mut place } in image.runs() {
            table.buckets.with_values(buckets, |run| {
                read(place, run);
                place += run.len() as u64;
                occupied += count(run);
            });
        }
        let numbers = image.numbers();
        for (number, place) in numbers.clone().zip(numbers.end..) {
            let mut child = [0];
            read(number, &mut child);
            let child = child[0]..child[0] + 1;
            table.buckets.commit(child.clone())?;
            table.buckets.with_values(child, |run| {
                read(place, run);
                occupied += count(run);
            });
        }
        table.set_size(size);
        let Occupied { items, ghosts } = Occupied::new(occupied, signed(ghosts));
        let splits = end + image.ahead - first;
        table.occupancy.start(items as i64, ghosts as i64, splits as i64);
        if let Some((clock, sweep)) = clock {
            table.start_clock::<L>(clock, sweep);
        }
        Some(table)
    }
}
