//! Snapshots of filters that grow.
//!
//! The plan has one segment: the layout of the table, and the number of words. The words are those
//! of the buckets in order, and after them the children of the buckets that were split ahead of
//! their turn, in the order of their parents. [`Grown`] has the rest. What is pending, the inserts
//! until the table next checks whether it must grow, follows from the number of items.

use alloc::vec::Vec;
use core::{iter, num::NonZero};

use super::{Content, Engine, Lookups, SplittingEngine, splitting};
use crate::{
    bucket::with_growing_layout,
    filter::snapshot::{Form, LoadError, PerSegment, PlannedSegment, Saved, Words, field},
    table::{
        Buckets, Kernel,
        split::{GrowingTable, Grown, doublings, rate},
    },
};

/// Why a form has the part of a table that grows.
const GROWN: &str = "the kind of a valid form";

impl<P: Content> Words for &GrowingTable<P> {
    fn len(self) -> usize {
        self.in_use() as usize
    }

    fn words<'a>(self, from: usize, buffer: &'a mut [u64]) -> &'a [u64]
    where
        Self: 'a,
    {
        self.words_from(from as u64, buffer);
        buffer
    }
}

#[expect(private_bounds, reason = "sealed")]
impl<P: Content> SplittingEngine<P>
where
    Self: Lookups,
{
    /// The form of an engine whose table has this many words.
    fn form_of(&self, grown: Grown, words: u64) -> Form {
        let plan = PlannedSegment { layout: self.layout, level: 0, buckets: words };
        Form {
            capacity: self.capacity() as u64,
            max_copies: self.max_copies.map_or(0, |limit| limit.get() as u64),
            target: self.target,
            stripes: self.stripes(),
            clock: None,
            grown: Some(grown),
            plan: iter::once(plan).collect(),
        }
    }
}

impl<P: Content> Saved for SplittingEngine<P>
where
    Self: Lookups,
{
    const KIND: u8 = P::KINDS[1];

    fn form(&self) -> Form {
        self.form_of(self.table.grown(), self.table.in_use())
    }

    fn copy_words(&self) -> Option<(Form, PerSegment<Vec<u64>>)> {
        let (grown, _, words) = self.table.copy_words()?;
        Some((self.form_of(grown, words.len() as u64), iter::once(words).collect()))
    }

    fn words(&self) -> impl Iterator<Item = impl Words> + Clone {
        iter::once(&self.table)
    }

    fn check(form: &Form) -> Result<(), LoadError> {
        field("planned segments", form.plan.len() as u64, form.plan.len() == 1)?;
        let PlannedSegment { layout, buckets, .. } = form.plan[0];
        let grown = form.grown.as_ref().expect(GROWN);
        if let Some((name, value)) = grown.invalid(buckets) {
            return field(name, value, false);
        }
        let Form { capacity, target, .. } = *form;
        let expected = splitting::capacity(layout, grown.buckets(), grown.limits);
        field("capacity", capacity, capacity == expected)?;
        field("target rate", target.to_bits(), target > 0.0 && target < 1.0)?;
        let rate = rate(layout, doublings(grown.first, grown.limits.buckets));
        // A later release may round differently.
        field("target rate", target.to_bits(), rate <= target * (1.0 + 1e-9))
    }

    fn min_fingerprint(_form: &Form, _number: usize) -> u32 {
        1
    }

    fn has_valid_places(form: &Form, words: &Buckets) -> bool {
        let read = |from: u64, copy: &mut [u64]| words.copy_words_from(from as usize, copy);
        form.grown.as_ref().expect(GROWN).has_levels(words.len() as u64, read)
    }

    fn restore(form: &Form, segments: PerSegment<Buckets>, reserve: bool) -> Option<Self> {
        let Form { target, stripes, .. } = *form;
        let (layout, words) = (form.plan[0].layout, &segments[0]);
        let grown = form.grown.as_ref().expect(GROWN);
        let table = with_growing_layout!(layout, L => {
            let read = |from: u64, copy: &mut [u64]| words.copy_words_from(from as usize, copy);
            GrowingTable::restore::<L>(P::of(layout, form.clock), form.clock, grown, words.len() as u64, stripes, (reserve, true), read)
        });
        // A limit that does not fit into a word has no effect: no memory holds that many copies.
        let limit = usize::try_from(form.max_copies).unwrap_or(usize::MAX);
        Some(Self::new(table?, layout, target, NonZero::new(limit), Kernel::best()))
    }
}
