//! Lookups: read the version, the words of both locations, and the version again.

use super::{Seen, Space, Stripe, Table, Version, Words};

/// The version that a thread read before the words of an item.
#[derive(Clone, Copy, Debug)]
pub(in crate::table) struct Reading<'a> {
    stripe: &'a Stripe,
    version: Version,
}

impl Reading<'_> {
    /// Returns whether the version is unchanged. If so, an item that is not in the words that were
    /// read is absent.
    #[inline]
    pub(in crate::table) fn is_valid(self) -> bool {
        self.stripe.validate(self.version)
    }
}

impl<S: Space> Table<S> {
    /// Reads the version, and then the words of both locations of an item.
    #[inline]
    pub(in crate::table) fn read<L: Words<S>>(&self, item: &S::Item) -> ([Seen; 2], Reading<'_>) {
        let stripe = self.stripe::<L>(item);
        let version = stripe.version();
        let words = self.space.load_both(item);
        (words, Reading { stripe, version })
    }

    /// Looks for an item by `find`, in the words of both locations. What it finds is an answer,
    /// whatever the versions are. If it finds nothing, nothing is an answer if the version is
    /// unchanged.
    #[inline]
    pub(in crate::table) fn look_up<L: Words<S>, T>(
        &self,
        item: &S::Item,
        find: impl Fn([Seen; 2]) -> Option<T>,
    ) -> Option<T> {
        loop {
            let (words, reading) = self.read::<L>(item);
            let found = find(words);
            if found.is_some() || reading.is_valid() {
                return found;
            }
            self.counters.lookup_retried();
        }
    }
}
