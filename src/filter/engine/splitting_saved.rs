//! Snapshots of filters that grow.
//!
//! The words are those of the table's image. [`Grown`] has the rest. What is pending, the inserts
//! until the table next checks whether it must grow, follows from the number of items.

use alloc::vec::Vec;
use core::num::NonZero;

use super::{Content, Engine, Lookups, SplittingEngine, splitting};
use crate::{
    bucket::with_growing_layout,
    filter::snapshot::{Form, LoadError, Saved, Words, field},
    table::{
        Buckets, ClockAndSweep, Kernel,
        split::{GrowingTable, Grown, doublings, rate},
    },
};

/// Why a form has the part of a table that grows.
const GROWN: &str = "the kind of a valid form";

impl<P: Content> Words for &GrowingTable<P> {
    fn len(self) -> u64 {
        GrowingTable::words(self)
    }

    fn words<'a>(self, from: u64, buffer: &'a mut [u64]) -> &'a [u64]
    where
        Self: 'a,
    {
        self.words_from(from, buffer);
        buffer
    }
}

#[expect(private_bounds, reason = "sealed")]
impl<P: Content> SplittingEngine<P>
where
    Self: Lookups,
{
    /// The form of an engine whose table has this many words, and this clock if items expire.
    fn form_of(&self, grown: Grown, words: u64, clock: Option<ClockAndSweep>) -> Form {
        let (clock, sweep) = clock.unzip();
        Form {
            layout: self.layout,
            words,
            capacity: splitting::capacity(self.layout, grown.buckets(), grown.limits),
            max_copies: self.max_copies.map_or(0, |limit| limit.get() as u64),
            target: self.target,
            stripes: self.stripes(),
            clock,
            grown: Some(grown),
            sweep,
        }
    }
}

impl<P: Content> Saved for SplittingEngine<P>
where
    Self: Lookups,
{
    fn form(&self) -> Form {
        // Each of several threads may have seen its own splits alone, and left the size behind.
        self.table.advance_size();
        self.form_of(self.table.grown(), self.table.words(), self.table.clock_state())
    }

    fn copy_words(&self) -> Option<(Form, Vec<u64>)> {
        let (grown, clock, words) = self.table.copy_words()?;
        Some((self.form_of(grown, words.len() as u64, clock), words))
    }

    fn words(&self) -> impl Words {
        &self.table
    }

    fn check(form: &Form) -> Result<(), LoadError> {
        let Form { layout, capacity, target, .. } = *form;
        let grown = form.grown.expect(GROWN);
        let expected = splitting::capacity(layout, grown.buckets(), grown.limits);
        field("capacity", capacity, capacity == expected)?;
        field("target rate", target.to_bits(), target > 0.0 && target < 1.0)?;
        let rate = rate(layout, doublings(grown.first, grown.limits.buckets));
        // A later release may round differently.
        field("target rate", target.to_bits(), rate <= target * (1.0 + 1e-9))
    }

    fn has_valid_places(form: &Form, read: impl FnMut(u64, &mut [u64])) -> bool {
        form.grown.expect(GROWN).has_places(form.words, read)
    }

    fn restore(form: &Form, words: Buckets, reserve: bool) -> Option<Self> {
        let Form { layout, target, stripes, clock, .. } = *form;
        let (grown, clock) = (form.grown.expect(GROWN), clock.zip(form.sweep.as_ref()));
        let (payload, memory) = (P::of(layout, form.clock), (reserve, true));
        let read = |from: u64, copy: &mut [u64]| words.copy_words_from(from as usize, copy);
        let table = with_growing_layout!(layout, L => {
            GrowingTable::restore::<L>(payload, &grown, clock, form.words, stripes, memory, read)
        });
        // A limit that does not fit into a word has no effect: no memory holds that many copies.
        let limit = usize::try_from(form.max_copies).unwrap_or(usize::MAX);
        Some(Self::new(table?, layout, target, NonZero::new(limit), Kernel::best()))
    }
}
