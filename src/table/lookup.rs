//! Lookups: read the version, the words of both locations, and the version again.

use super::{Seen, Space, Table, Words};

impl<S: Space> Table<S> {
    /// Reads the words of both locations of an item, and returns whether the version was unchanged
    /// meanwhile. If so, an item that is not in these words is absent.
    #[inline]
    pub(super) fn read<L>(&self, item: &S::Item) -> ([Seen; 2], bool)
    where
        S: Words<L>,
    {
        // mutant: read-wrong-stripe
        let stripe = self.stripe::<L>(item);
        // mutant: read-late-version, read-version-relaxed
        let version = stripe.version();
        // mutant: read-words-relaxed, read-first-only
        let words = self.space.load_both(item);
        // mutant: read-no-validation
        (words, stripe.validate(version))
    }

    /// Looks for an item by `find`, in the words of both locations. What it finds is an answer,
    /// whatever the versions are. If it finds nothing, nothing is an answer if the version is
    /// unchanged.
    #[inline]
    pub(super) fn look_up<L, T>(
        &self,
        item: &S::Item,
        find: impl Fn([Seen; 2]) -> Option<T>,
    ) -> Option<T>
    where
        S: Words<L>,
    {
        loop {
            let (words, unchanged) = self.read::<L>(item);
            let found = find(words);
            // mutant: look-up-no-validation
            if found.is_some() || unchanged {
                return found;
            }
            self.counters.lookup_retried();
        }
    }
}
