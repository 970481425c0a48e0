//! The view of an expiring filter by hash, which also implements every operation on items.

use super::Expiring;
use crate::{InsertError, bucket::with_layout, filter::ByHash, table::Pair};

#[expect(clippy::missing_errors_doc, reason = "`Filter` has the documentation")]
#[expect(clippy::must_use_candidate, reason = "as in `Filter`")]
impl ByHash<'_, Expiring> {
    /// `ExpiringFilter::insert` by hash.
    pub fn insert(self, hash: u64) -> Result<u64, InsertError> {
        self.insert_for(hash, self.engine().table.clock().window())
    }

    /// `ExpiringFilter::insert_for` by hash.
    pub fn insert_for(self, hash: u64, generations: u32) -> Result<u64, InsertError> {
        let Expiring { table, layout, .. } = self.engine();
        with_layout!(layout, L => {
            let pair = self.pair(hash);
            table.prefetch(pair);
            table.insert_for::<L>(pair, generations)
        })
    }

    /// `ExpiringFilter::insert_unique` by hash.
    pub fn insert_unique(self, hash: u64) -> Result<Option<u64>, InsertError> {
        let Expiring { table, layout, .. } = self.engine();
        with_layout!(layout, L => {
            let pair = self.pair(hash);
            table.prefetch_with_stripe(pair);
            table.insert_unseen::<L>(pair)
        })
    }

    /// `ExpiringFilter::insert_evicting` by hash.
    pub fn insert_evicting(self, hash: u64) -> (u64, bool) {
        let Expiring { table, layout, .. } = self.engine();
        with_layout!(layout, L => table.insert_evicting::<L>(self.pair(hash)))
    }

    /// `ExpiringFilter::contains` by hash.
    #[inline]
    #[must_use]
    pub fn contains(self, hash: u64) -> bool {
        let Expiring { table, layout, .. } = self.engine();
        with_layout!(layout, L => table.is_visible::<L>(self.pair(hash)))
    }

    /// `ExpiringFilter::refresh` by hash.
    pub fn refresh(self, hash: u64) -> bool {
        let Expiring { table, layout, .. } = self.engine();
        with_layout!(layout, L => table.refresh::<L>(self.pair(hash)))
    }

    /// `ExpiringFilter::remove` by hash.
    pub fn remove(self, hash: u64, generation: u64) -> bool {
        let Expiring { table, layout, .. } = self.engine();
        with_layout!(layout, L => table.remove_of::<L>(self.pair(hash), generation))
    }

    /// `ExpiringFilter::count` by hash.
    #[must_use]
    pub fn count(self, hash: u64) -> usize {
        let Expiring { table, layout, .. } = self.engine();
        with_layout!(layout, L => table.count_visible::<L>(self.pair(hash)))
    }

    fn engine(&self) -> &Expiring {
        &self.core.engine
    }

    fn pair(self, hash: u64) -> Pair {
        let Expiring { table, layout, .. } = self.engine();
        with_layout!(layout, L => table.addressing().pair::<L>(self.mix(hash)))
    }
}
