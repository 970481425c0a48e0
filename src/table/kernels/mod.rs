//! Batch lookups in vector registers, on x86-64: the items of a group stay in registers from their
//! hashes to their answers.
//!
//! There is one sequence of steps, in `steps.rs`, and two sets of operations for it: eight items
//! per group by AVX-512, and four by AVX2. The layout is a value here, not a type, because the
//! zero-lane test is the same for all of them, so each kernel is compiled once.
//!
//! A group is looked up as the argument in `table/mod.rs` requires: the versions, both words of
//! each item, the versions again. The loads and their order are those of `sync/vector.rs`. Each
//! item that was not found and whose version changed is looked up again by itself.
//!
//! The versions are read in one of two ways:
//!
//! - *Gathered*, for each group before and after its words.
//! - *Copied*, if there are few stripes: all versions before a round of items, and again after it.
//!   The argument sets no limit to the time between the two reads. A version that changed concerns
//!   every miss of the round, so after such a round the versions are gathered.

mod avx2;
mod avx512;
mod steps;
#[cfg(test)]
mod tests;

use super::{
    Answers, Hashes, Kernel, MAX_BURST, Table,
    addressing::{MIXER, SCATTER},
    batch::WINDOW,
    mix,
    stripes::{Stripe, Version},
};
use crate::{
    bucket::{BucketLayout, Lanes},
    sync::Word,
};

/// Largest number of items between two copies of the versions.
const ROUND: usize = 512;
/// Largest number of stripes of which all versions are copied.
const MAX_COPIED: usize = 128;
/// Smallest number of items per stripe for which versions are copied.
const ITEMS_PER_COPY: usize = 4;

/// What a kernel needs of a table and its layout.
struct View<'a> {
    /// The seed of the mixer.
    seed: u64,
    words: &'a [Word],
    stripes: &'a [Stripe],
    min_fingerprint: u32,
    fingerprints: u32,
    lanes: Lanes,
    bits_below: u32,
    /// Whether buckets are prefetched.
    prefetches: bool,
    /// Looks up one hash.
    lookup: &'a dyn Fn(u64) -> bool,
}

/// Copies of all versions.
type Versions = [Version; MAX_COPIED];

impl View<'_> {
    /// Prefetches a bucket's cache line.
    #[inline]
    fn prefetch(&self, bucket: u64) {
        super::prefetch(self.words.as_ptr().wrapping_add(bucket as usize).cast());
    }

    /// Copies all versions.
    #[inline]
    fn copy_versions(&self, versions: &mut Versions) {
        for (copy, stripe) in versions.iter_mut().zip(self.stripes) {
            *copy = stripe.version();
        }
    }

    /// Returns whether all versions are unchanged since they were copied.
    #[inline]
    fn validate(&self, versions: &Versions) -> bool {
        let pairs = versions.iter().zip(self.stripes);
        pairs.fold(true, |unchanged, (&copy, stripe)| unchanged & stripe.validate(copy))
    }

    /// Looks up the hashes whose bits are set, one by one. Returns those that were found.
    #[cold]
    fn look_up_again(&self, lanes: u32, hashes: &[u64]) -> u32 {
        let lanes = (0..hashes.len()).filter(|&lane| lanes >> lane & 1 != 0);
        lanes.fold(0, |found, lane| found | u32::from((self.lookup)(hashes[lane])) << lane)
    }
}

/// Returns whether the versions of so many stripes are copied for a batch of so many items.
fn are_copied(stripes: usize, len: usize) -> bool {
    stripes <= MAX_COPIED && len >= ITEMS_PER_COPY * stripes
}

/// Returns a mask of this many bits, up to 32.
#[inline]
fn mask(bits: usize) -> u32 {
    ((1_u64 << bits) - 1) as u32
}

impl Table {
    /// Looks up the hashes of a batch, of which there are `len`, by a kernel. Returns the number of
    /// items that were found, or `None` if the kernel cannot serve this table.
    pub(super) fn contains_by_kernel<L: BucketLayout>(
        &self,
        kernel: Kernel,
        len: usize,
        hashes: &mut Hashes<'_>,
        answers: &mut Answers<'_>,
    ) -> Option<usize> {
        let words = self.buckets.as_slice();
        // This check comes before any hash is taken, because the scalar code needs all of them. The
        // kernels multiply by the number of buckets as a number of 32 bits.
        if kernel == Kernel::Scalar || words.len() > u32::MAX as usize {
            return None;
        }
        let seed = hashes.seed();
        let lookup = |hash| self.contains::<L>(self.addressing.pair::<L>(mix(hash, seed)));
        let view = View {
            seed,
            words,
            stripes: self.stripes.as_slice(),
            min_fingerprint: L::MIN_FINGERPRINT,
            fingerprints: L::FINGERPRINTS,
            lanes: L::LANES,
            bits_below: L::BITS_BELOW,
            prefetches: !self.is_cached(),
            lookup: &lookup,
        };
        let copied = are_copied(view.stripes.len(), len);
        debug_assert!(kernel.is_available());
        // SAFETY: the builder has checked that the processor has the features of the kernel.
        Some(unsafe {
            if len <= MAX_BURST {
                let mut block = None;
                let burst = hashes.burst(&mut block);
                let found = match kernel {
                    Kernel::Avx512 => avx512::contains_burst(&view, burst),
                    Kernel::Avx2 => avx2::contains_burst(&view, burst),
                    Kernel::Scalar => return None,
                };
                return Some(answers.put(0, found, len));
            }
            match (kernel, copied) {
                (Kernel::Avx512, true) => avx512::contains_by_copies(&view, hashes, answers),
                (Kernel::Avx512, false) => avx512::contains(&view, hashes, 0, answers),
                (Kernel::Avx2, true) => avx2::contains_by_copies(&view, hashes, answers),
                (Kernel::Avx2, false) => avx2::contains(&view, hashes, 0, answers),
                (Kernel::Scalar, _) => return None,
            }
        })
    }
}
