//! Batch lookups in vector registers, on x86-64: the items of a group stay in registers from their
//! hashes to their answers.
//!
//! The steps are written once, over the trait [`Vector`](vector::Vector), which has an
//! implementation for each instruction set: eight items per vector by AVX-512, and four by AVX2.
//! `ways.rs` has the ways in which a batch is looked up, and `fixed.rs` has lookups in tables of a
//! fixed size. The layout is a value there, not a type, because the zero-lane test is the same for
//! all of them. So each kernel is compiled twice: with and without values in the answers.
//! `growing.rs` has lookups in a table that grows by splitting, compiled for each of its layouts
//! and for pairs of vectors (`two.rs`), and `single.rs` its lookups of one item.
//!
//! A group is looked up as the argument in `table/mod.rs` requires: the versions, both words of
//! each item, the versions again. The loads and their order are those of `sync/vector.rs`. Each
//! item that was not found and whose version changed is looked up again by itself.
//!
//! The versions are read in one of two ways:
//!
//! - *Gathered*, for each group before and after its words.
//! - *Copied*, if there are few stripes: all versions before a round of items, and again after it.
//!   The argument sets no limit to the time between the two reads. If any version changed, every
//!   miss of the round is looked up again, so after such a round the versions are gathered.

#![expect(
    clippy::inline_always,
    reason = "code that is not compiled for the features must not be called, but only inlined"
)]

mod avx2;
mod avx512;
mod fixed;
mod growing;
mod mixing;
mod neighbours;
mod single;
#[cfg(test)]
mod tests;
mod two;
mod vector;
mod ways;

/// The constants of words of a table that grows, at compile time, for the kernels that have them.
pub(in crate::table) trait Form: 'static {
    /// Words without values.
    const L: Leveled;
}

/// Words with this many slots, and cores of this many bits.
pub(in crate::table) struct Of<const SLOTS: u32, const CORE: u32>;

impl<const SLOTS: u32, const CORE: u32> Form for Of<SLOTS, CORE> {
    const L: Leveled = Leveled::new(SLOTS, CORE, 0);
}

/// Evaluates the body with `$L` bound to the form of these words, or returns `None` if kernels have
/// none.
macro_rules! by_form {
    ($leveled:expr, $L:ident => $body:expr) => {
        by_form!(@ $leveled, $L => $body, [5, 6] [4, 7] [3, 8] [2, 8])
    };
    (@ $leveled:expr, $L:ident => $body:expr, $([$slots:literal, $core:literal])*) => {
        match $leveled {
            $(&Leveled { slots: $slots, core: $core, value_bits: 0, .. } => {
                type $L = $crate::table::kernels::Of<$slots, $core>;
                Some($body)
            })*
            _ => None,
        }
    };
}
use by_form;

pub(crate) use self::single::{ContainsOne, contains_one};
use self::{
    avx2::Four,
    avx512::Eight,
    fixed::{Fixed, FixedView},
    vector::{InAvx2, InAvx512},
    ways::Lookup,
};
pub(in crate::table) use self::{
    growing::GrowingView,
    neighbours::{has_neighbours, neighbours},
};
use super::{
    Answers, FixedTable, Hashes, Kernel, MAX_BURST,
    answers::FOUND,
    batch::{WINDOW, is_cached},
    mix::{MULTIPLIER, Mixer, REFLECTION, SCATTER},
    stripes::{Stripe, Version},
};
use crate::{bucket::Leveled, sync::Word};

/// Largest number of items between two copies of the versions.
const ROUND: usize = 512;
/// Largest number of stripes of which all versions are copied.
const MAX_COPIED: usize = 128;
/// Smallest number of items per stripe for which versions are copied.
const ITEMS_PER_COPY: usize = 4;

/// What a kernel needs of a table of any kind.
pub(in crate::table) struct View<'a> {
    words: &'a [Word],
    stripes: &'a [Stripe],
    mixer: Mixer,
    /// Whether words are prefetched.
    prefetches: bool,
    /// Looks up one hash. Returns its value, or any number if values are not asked for.
    lookup: &'a dyn Fn(u64) -> Option<u16>,
}

/// Copies of all versions.
type Versions = [Version; MAX_COPIED];

impl<'a> View<'a> {
    /// What a kernel needs of a table with these words and stripes. `lookup` looks up one hash,
    /// which is not mixed. It returns the hash's value, or any number if values are not asked for.
    pub(in crate::table) fn new(
        words: &'a [Word],
        stripes: &'a [Stripe],
        mixer: Mixer,
        lookup: &'a dyn Fn(u64) -> Option<u16>,
    ) -> Self {
        Self { words, stripes, mixer, prefetches: !is_cached(words), lookup }
    }

    /// Looks up the hashes whose bits are set, one by one. Returns those that were found, and
    /// writes their answers, unless there are no `values`.
    #[cold]
    fn look_up_again(&self, lanes: u32, hashes: &[u64], values: &mut [u32]) -> u32 {
        let lanes = (0..hashes.len()).filter(|&lane| lanes >> lane & 1 != 0);
        lanes.fold(0, |found, lane| {
            let Some(value) = (self.lookup)(hashes[lane]) else { return found };
            if let Some(answer) = values.get_mut(lane) {
                *answer = FOUND | u32::from(value);
            }
            found | 1 << lane
        })
    }
}

/// Copies all versions.
#[inline]
fn copy_versions(stripes: &[Stripe], versions: &mut Versions) {
    for (copy, stripe) in versions.iter_mut().zip(stripes) {
        *copy = stripe.version();
    }
}

/// Returns whether all versions are unchanged since they were copied.
#[inline]
fn validate(stripes: &[Stripe], versions: &Versions) -> bool {
    let pairs = versions.iter().zip(stripes);
    pairs.fold(true, |unchanged, (&copy, stripe)| unchanged & stripe.validate(copy))
}

/// Returns whether the versions are copied, given the numbers of stripes and of items.
fn are_copied(stripes: usize, len: usize) -> bool {
    stripes <= MAX_COPIED && len >= ITEMS_PER_COPY * stripes
}

/// Returns a mask of this many bits, up to 32.
#[inline]
fn mask(bits: usize) -> u32 {
    ((1_u64 << bits) - 1) as u32
}

/// The values from this position, or none if the answers have no values.
#[inline]
fn part_of(has_values: bool, values: &mut [u32], position: usize) -> &mut [u32] {
    if has_values { &mut values[position..] } else { &mut [] }
}

/// The kernels in this folder.
#[derive(Clone, Copy)]
pub(in crate::table) enum Vectors {
    Avx2,
    Avx512,
}

impl Vectors {
    /// The vectors of a kernel.
    pub(in crate::table) fn of(kernel: Kernel) -> Option<Self> {
        debug_assert!(kernel.is_available());
        match kernel {
            Kernel::Scalar => None,
            Kernel::Avx2 => Some(Self::Avx2),
            Kernel::Avx512 => Some(Self::Avx512),
        }
    }

    /// Looks up the hashes of a batch, of which there are `len`, given how each instruction set
    /// looks up, and whether versions are copied. Returns the number of items that were found.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn contains<
        'a,
        V: InAvx2,
        W: InAvx512,
        F: Lookup<'a, V>,
        E: Lookup<'a, W, Table = F::Table>,
    >(
        self,
        table: &'a F::Table,
        (len, copied): (usize, bool),
        hashes: &mut Hashes<'_>,
        answers: &mut Answers<'_>,
    ) -> usize {
        // SAFETY: the caller promises that the processor has the instructions.
        unsafe {
            if len <= MAX_BURST {
                let mut block = None;
                let burst = hashes.burst(&mut block);
                let mut values = [0; MAX_BURST];
                let values = part_of(F::VALUES, &mut values, 0);
                let found = match self {
                    Self::Avx512 => avx512::contains_burst::<W, E>(table, burst, values),
                    Self::Avx2 => avx2::contains_burst::<V, F>(table, burst, values),
                };
                return answers.put_lanes(0, found, values, len);
            }
            match (self, copied) {
                (Self::Avx512, true) => avx512::contains_by_copies::<W, E>(table, hashes, answers),
                (Self::Avx512, false) => avx512::contains::<W, E>(table, hashes, 0, answers),
                (Self::Avx2, true) => avx2::contains_by_copies::<V, F>(table, hashes, answers),
                (Self::Avx2, false) => avx2::contains::<V, F>(table, hashes, 0, answers),
            }
        }
    }
}

impl FixedTable {
    /// Looks up the hashes of a batch, of which there are `len`, by the table's kernel. Returns the
    /// number of items that were found, or `None` if the kernel cannot serve this table. Then no
    /// hash was taken, since the scalar code needs all of them. `VALUES` tells whether the answers
    /// have values.
    pub(super) fn contains_by_kernel<const VALUES: bool>(
        &self,
        len: usize,
        hashes: &mut Hashes<'_>,
        answers: &mut Answers<'_>,
    ) -> Option<usize> {
        let words = self.buckets.as_slice();
        let vectors = Vectors::of(self.kernel)?;
        let mixer = hashes.mixer();
        let lookup = |hash| {
            let mixed = mixer.mix(hash);
            if VALUES { self.get_mixed(mixed) } else { self.contains_mixed(mixed).then_some(0) }
        };
        let view = View::new(words, self.stripes.as_slice(), mixer, &lookup);
        let table = FixedView::new(view, &self.slots);
        let copied = are_copied(self.stripes.as_slice().len(), len);
        // SAFETY: the processor has the features of the kernel: see `set_kernel`.
        Some(unsafe {
            vectors.contains::<_, _, Fixed<'_, Four, VALUES>, Fixed<'_, Eight, VALUES>>(
                &table,
                (len, copied),
                hashes,
                answers,
            )
        })
    }
}
