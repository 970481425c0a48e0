//! Lookups in the image of a table, which perhaps this library did not write.

use super::GrowingSpace;
#[cfg(guira_in_place)]
use super::{GrowingTable, Grown};
use crate::sync::Word;
#[cfg(guira_in_place)]
use crate::{
    bucket::Leveled,
    table::{Borrowed, GrowingBuckets, Payload},
};

#[cfg(guira_in_place)]
impl GrowingTable {
    /// Returns a table for lookups alone, whose image is these words, or `None` if the system
    /// refuses the memory for the rest. The numbers must be [valid](Grown::invalid).
    pub(crate) fn in_place(
        form: (Leveled, Payload),
        grown: &Grown,
        image: Borrowed,
        stripes: usize,
    ) -> Option<Self> {
        let &Grown { first, size, limits, .. } = grown;
        let buckets = GrowingBuckets::in_place(image, grown.buckets());
        let memory = (false, false);
        let mut table = Self::with_buckets(form, first, buckets, limits, stripes, memory)?;
        table.set_size(size);
        Some(table)
    }
}

impl GrowingSpace {
    /// A bucket to which a size or the level in a word led. In an image, the level may be any.
    #[inline]
    pub(in crate::table) fn found_bucket(&self, bucket: u32) -> &Word {
        #[cfg(guira_in_place)]
        if let Some(word) = self.buckets.in_image(bucket) {
            return word;
        }
        self.bucket(bucket)
    }

    /// Whether the buckets are in an image.
    #[cfg_attr(
        not(guira_in_place),
        expect(clippy::unused_self, reason = "a question to the table, in every build")
    )]
    pub(in crate::table) fn is_image(&self) -> bool {
        #[cfg(guira_in_place)]
        return self.buckets.in_image(0).is_some();
        #[cfg(not(guira_in_place))]
        false
    }
}
