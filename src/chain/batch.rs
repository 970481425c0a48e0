//! Batches of lookups in all segments.

use super::{Chain, Entries};
use crate::table::{Answers, Hashes, Kernel, for_each_prefetched};
#[cfg(guira_vectors)]
use crate::table::{MAX_LEVELS, Part};

impl<V: Entries> Chain<V> {
    /// Looks up the hashes of a batch, of which there are `len`. Returns the number of items that
    /// were found.
    pub(crate) fn contains_each(
        &self,
        kernel: Kernel,
        len: usize,
        hashes: &mut Hashes<'_>,
        mut answers: Answers<'_>,
    ) -> usize {
        #[cfg(guira_vectors)]
        if let Some(count) = self.contains_by_kernel(kernel, len, hashes, &mut answers) {
            return count;
        }
        let _ = (kernel, len);
        let mut count = 0;
        self.for_each(hashes, |position, mixed| {
            let found = self.contains(mixed);
            answers.set(position, found.then_some(0));
            count += usize::from(found);
        });
        count
    }

    /// As `contains_each`, by a kernel. Returns `None` if it cannot serve this chain.
    ///
    /// The segments of the whole batch are those that exist now. An item that is in the table
    /// during the batch was inserted before it, and the copy assigned to it only goes to earlier
    /// segments.
    #[cfg(guira_vectors)]
    fn contains_by_kernel(
        &self,
        kernel: Kernel,
        len: usize,
        hashes: &mut Hashes<'_>,
        answers: &mut Answers<'_>,
    ) -> Option<usize> {
        if V::VALUED {
            return None;
        }
        let mut parts = [Part::NONE; MAX_LEVELS];
        // Listed once: the parts must be relative to the last segment among them.
        let segments = self.segments().rev();
        let last = segments.clone().next()?;
        let parts = &mut parts[..segments.len()];
        parts.iter_mut().zip(segments).for_each(|(part, segment)| *part = segment.part(last));
        let lookup = |mixed| self.contains(mixed).then_some(0);
        last.table().contains_by_kernel::<false>(parts, lookup, (kernel, len), hashes, answers)
    }

    /// Calls `operation` with each item's position and mixed hash, in order. The item's buckets in
    /// all segments were prefetched one batch window earlier.
    pub(crate) fn for_each(&self, hashes: &mut Hashes<'_>, operation: impl FnMut(usize, u64)) {
        let prefetch = |mixed| {
            self.prefetch_all(mixed);
            mixed
        };
        for_each_prefetched(hashes, 0, prefetch, operation);
    }
}
