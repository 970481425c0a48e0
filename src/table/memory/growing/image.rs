//! Buckets in the image of a table, which somebody else owns: for lookups alone.

use alloc::boxed::Box;

use super::{Chunks, GrowingBuckets, Segments};
use crate::{
    sync::{Lock, Relaxed, Word},
    table::Borrowed,
};

impl GrowingBuckets {
    /// Returns the buckets in an image, of which this many are below its end.
    ///
    /// # Panics
    /// If there are fewer words.
    pub(crate) fn in_place(image: Borrowed, end: u64) -> Self {
        assert!(0 < end && end <= image.as_slice().len() as u64, "buckets beyond the image");
        Self {
            base: Some(image.first()),
            reservation: None,
            image: Some((image, end as usize)),
            chunks: Chunks::new(end, end, 0),
            committed: Box::new([]),
            segments: Segments::none(),
            publishing: Lock::new(),
        }
    }

    /// Returns a bucket of an image, or `None` if there is no image. A word that this library did
    /// not write can lead to a bucket that is in no image: then any bucket is as good.
    pub(crate) fn in_image(&self, bucket: u32) -> Option<&Word> {
        let (image, end) = self.image.as_ref()?;
        let (buckets, ahead) = image.as_slice().split_at(*end);
        let below = buckets.get(bucket as usize);
        Some(below.unwrap_or_else(|| {
            let (numbers, words) = ahead.split_at(ahead.len() / 2);
            // Relaxed: nobody changes them.
            let nth = numbers.binary_search_by_key(&bucket.into(), |child| child.load(Relaxed));
            nth.map_or(&buckets[0], |nth| &words[nth])
        }))
    }
}
