//! Lookups in vector registers, of tables whose buckets lie behind one another: in
//! reserved memory, or in an image.

use core::slice;

use crate::table::{
    Answers, Hashes, Kernel,
    kernels::{ContainsOne, GrowingView, Vectors, View, contains_one},
    split::GrowingTable,
};

impl GrowingTable {
    /// Returns the fastest single lookup for a kernel, which must be available. `None` if it cannot
    /// serve this table, whatever its size will be.
    pub(crate) fn contains_one(&self, kernel: Kernel) -> Option<ContainsOne> {
        self.buckets.base()?;
        u32::try_from(self.growth.first()).ok()?;
        contains_one(self.leveled(), kernel)
    }

    /// Looks up a mixed hash by what [`contains_one`](Self::contains_one) of this table and its
    /// layout has returned. `None` leaves it open: [`contains`](Self::contains) decides.
    ///
    /// # Safety
    /// `contains_one` of this table has returned it.
    #[inline]
    pub(crate) unsafe fn contains_by(&self, one: ContainsOne, mixed: u64) -> Option<bool> {
        let base = self.buckets.base()?.as_ptr();
        // SAFETY: the hint was loaded by Acquire, so the buckets of a table of this size are
        // committed, or in the image. They lie behind one another, and there are fewer than 2^32
        // at level 0.
        unsafe { one(base, &self.growth, &self.stripes, self.hint(), mixed) }
    }

    /// Looks up the hashes of a batch, of which there are `len`, by a kernel. Returns the number of
    /// items that were found, or `None` if the kernel cannot serve this table. Then no hash was
    /// taken.
    pub(crate) fn contains_by_kernel(
        &self,
        kernel: Kernel,
        len: usize,
        hashes: &mut Hashes<'_>,
        answers: &mut Answers<'_>,
    ) -> Option<usize> {
        let (vectors, base) = (Vectors::of(kernel)?, self.buckets.base()?);
        let (size, mixer) = (self.hint(), hashes.mixer());
        let buckets = u32::try_from(self.growth.buckets(size)).ok()?;
        // SAFETY: as in `contains_by`. The words are atomic.
        let words = unsafe { slice::from_raw_parts(base.as_ptr(), buckets as usize) };
        let lookup = |hash| self.contains(self.growth.item(mixer.mix(hash))).then_some(0);
        let view = View::new(words, self.stripes.as_slice(), mixer, &lookup);
        let table = GrowingView::new(view, self.growth.first(), size)?;
        // SAFETY: the builder has checked that the processor has the features of the kernel.
        unsafe { vectors.contains_growing(self.leveled(), &table, len, hashes, answers) }
    }
}
