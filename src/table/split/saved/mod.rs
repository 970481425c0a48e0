//! What a snapshot has of a table that grows, and copies of it.

mod image;
mod in_place;
#[cfg(feature = "std")]
mod loader;

use alloc::{collections::TryReserveError, vec::Vec};
use core::{ops::Range, slice};

use image::Image;
#[cfg(feature = "std")]
use image::Known;
#[cfg(feature = "std")]
pub use loader::ImageLoader;

use super::{
    GrowingSpace, GrowingTable, Limits, Size,
    whole::{SLACK, items},
};
use crate::{
    bucket::leveled::{MAX_LEVEL, level},
    sync::{Relaxed, acquire_fence, load_all},
    table::{ClockState, memory::touched_words},
};

/// A table that grows, without its words. Those are where `image.rs` says.
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
        let Self { first, size: Size { level, split }, limits, .. } = *self;
        let Limits { buckets, load, copies } = limits;
        // No overflow: at most 2^32 buckets, doubled at most 15 times.
        let round = || first << level;
        let numbers: [(_, _, &dyn Fn() -> bool); 7] = [
            ("first buckets", first, &|| (1..1 << 32).contains(&first)),
            ("level", level.into(), &|| level <= MAX_LEVEL),
            ("split buckets", split, &|| split < round()),
            // The table reserves addresses for as many.
            ("largest number of buckets", buckets, &|| {
                (self.buckets()..=(first << MAX_LEVEL).min(1 << 32)).contains(&buckets)
            }),
            ("load", load.into(), &|| (1..=256).contains(&load)),
            ("expected copies", copies.into(), &|| (1..=8).contains(&copies)),
            // A number and a word for each child ahead.
            ("words", words, &|| {
                let rest = words.checked_sub(self.buckets());
                rest.is_some_and(|rest| rest % 2 == 0 && rest / 2 <= round() - split)
            }),
        ];
        numbers.into_iter().find(|(_, _, valid)| !valid()).map(|(name, value, _)| (name, value))
    }

    /// The image with this number of words, which is valid.
    fn image(&self, words: u64) -> Image {
        let end = self.buckets();
        Image { end, ahead: (words - end) / 2 }
    }

    /// The places in the image that hold numbers of buckets, in place of words with slots.
    #[must_use]
    pub fn numbers(&self, words: u64) -> Range<u64> {
        let image = self.image(words);
        image.end..image.children()
    }

    /// Returns whether each word of the image can be at its place. The number of words is valid.
    #[cfg(feature = "std")]
    #[must_use]
    pub(crate) fn fits(&self, words: &[[u8; 8]]) -> bool {
        let image = self.image(words.len() as u64);
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let (buckets, ahead) = words.split_at(image.end as usize);
        let (numbers, children) = ahead.split_at(image.ahead as usize);
        let mut known = Known::NOTHING;
        known.add(self, 0, buckets.iter().map(word));
        let children = numbers.iter().map(word).zip(children.iter().map(word));
        known.fits(self, children, |bucket| word(&buckets[bucket as usize]))
    }

    /// Divides the occupied slots of the table into items and ghosts. (The ghosts may be fewer than
    /// were counted, if items were removed that had not been added.)
    #[must_use]
    pub fn items(&self, occupied: u64) -> u64 {
        items(occupied, self.ghosts)
    }
}

impl GrowingTable {
    /// Everything but the words. The caller knows that nobody changes the table, or holds all
    /// stripes and has settled the size.
    #[must_use]
    pub fn grown(&self) -> Grown {
        let limits = self.limits;
        let ghosts = self.occupancy.ghosts().max(0) as u64;
        Grown { first: self.addressing.first(), size: self.size(), ghosts, limits }
    }

    /// The number of buckets in use, for a caller that knows that nobody changes the table.
    #[must_use]
    pub fn in_use(&self) -> u64 {
        self.addressing.first() + self.occupancy.splits() as u64
    }

    /// The image, for a caller that knows that nobody changes the table. Otherwise it may be that
    /// of no moment.
    fn image(&self) -> Image {
        self.image_of(self.size())
    }

    /// The image of this size, likewise.
    fn image_of(&self, size: Size) -> Image {
        Image { end: self.addressing.buckets(size), ahead: self.split_ahead(size) }
    }

    /// The number of words in the image, likewise.
    #[must_use]
    pub fn words(&self) -> u64 {
        self.image().len()
    }

    /// Returns a copy of the image, which contains every item that is in the table throughout the
    /// call, and the rest of the table; or `None` if the system refuses the memory.
    #[must_use]
    pub fn copy_words(&self) -> Option<(Grown, Option<ClockState>, Vec<u64>)> {
        let mut slack = 0;
        loop {
            let prepared = self.words() + slack;
            let mut copy = touched_words(usize::try_from(prepared).ok()?)?;
            let time = self.clock.time_of_copy();
            let paused = self.clock.pause();
            let stripes = self.stripes.lock_all();
            self.settle(&stripes);
            let size = self.size();
            let image = self.image_of(size);
            if image.len() <= prepared {
                copy.truncate(image.len() as usize);
                self.copy_image(size, image, &mut copy);
                // Pairs with the Release of whoever changed a word that was loaded.
                acquire_fence();
                // After the words: see "Copies" in `table/expiry/mod.rs`.
                let (grown, clock) = (self.grown(), self.clock.state(time));
                drop((stripes, paused));
                return Some((grown, clock, copy));
            }
            drop((stripes, paused));
            // The table has grown meanwhile: see `try_clone`.
            slack += prepared / SLACK + 1;
        }
    }

    /// Copies words of the image, from a place on, and adds the children ahead of the buckets among
    /// them to those that were found in all words before. For a caller that knows that nobody
    /// changes the table. If somebody does, the words may be those of no table, and no more
    /// children are found than there are in the image.
    ///
    /// # Errors
    /// If the system refuses the memory. Then nothing was found.
    pub fn find_words(
        &self,
        from: u64,
        found: &mut Vec<u32>,
        copy: &mut [u64],
    ) -> Result<(), TryReserveError> {
        let size = self.size();
        let image = self.image_of(size);
        found.try_reserve_exact((image.ahead as usize).saturating_sub(found.len()))?;
        self.copy_buckets(image, from, copy);
        let (at, unsplit) = (size.level, self.unsplit(size));
        let buckets = image.buckets_in(from, copy.len());
        for (bucket, &word) in (from..).zip(&copy[..buckets]) {
            let is_ahead = level(word) > at && unsplit.contains(&bucket);
            if is_ahead && (found.len() as u64) < image.ahead {
                found.push(self.addressing.child(bucket as u32, at));
            }
        }
        self.copy_ahead(image, from, found, copy);
        Ok(())
    }

    /// Copies words of the image, from a place on, given all children ahead. For a caller as that
    /// of [`find_words`](Self::find_words), which has found them.
    pub fn words_from(&self, from: u64, ahead: &[u32], copy: &mut [u64]) {
        let image = self.image();
        self.copy_buckets(image, from, copy);
        self.copy_ahead(image, from, ahead, copy);
    }

    /// Copies words of the image, from a place on, as far as they are numbers and words of these
    /// children ahead. The words of children that are none are arbitrary.
    fn copy_ahead(&self, image: Image, from: u64, ahead: &[u32], copy: &mut [u64]) {
        let before = image.buckets_in(from, copy.len());
        for (place, copied) in (from..).zip(copy).skip(before) {
            let is_word = place >= image.children();
            let nth = place - if is_word { image.children() } else { image.end };
            let child = ahead.get(nth as usize).map_or(0, |&child| child.into());
            *copied = child;
            if is_word && self.buckets.is_committed(child..child + 1) {
                self.copy_words_from(child, slice::from_mut(copied));
            }
        }
    }

    /// Copies the image. Words that other threads change meanwhile are copied before or after the
    /// change.
    fn copy_image(&self, size: Size, image: Image, copy: &mut [u64]) {
        self.copy_buckets(image, 0, copy);
        let mut places = (image.end..image.children()).zip(image.children()..);
        self.for_each_ahead(size, |child, word| {
            // There are as many as are ahead.
            let Some((number, place)) = places.next() else { return };
            copy[number as usize] = child.into();
            // Relaxed: as in `copy_words_from`.
            copy[place as usize] = word.load(Relaxed);
        });
    }

    /// Copies words of the image, from a place on, as far as they are buckets below the end.
    fn copy_buckets(&self, image: Image, from: u64, copy: &mut [u64]) {
        let buckets = image.buckets_in(from, copy.len());
        self.copy_words_from(from, &mut copy[..buckets]);
    }

    /// Copies words of buckets below the end, or of one child ahead, from a bucket on.
    pub(in crate::table) fn copy_words_from(&self, from: u64, mut copy: &mut [u64]) {
        self.buckets.for_each_run(from..from + copy.len() as u64, |words| {
            let (now, later) = core::mem::take(&mut copy).split_at_mut(words.len());
            // Relaxed: what must be in the copy happened before the locks were acquired, or before
            // the call.
            load_all(words, now);
            copy = later;
        });
    }
}
