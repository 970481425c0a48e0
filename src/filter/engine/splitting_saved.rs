//! Snapshots of filters that grow.
//!
//! The words are those of the table's image. [`Grown`] has the rest. What is pending, the inserts
//! until the table next checks whether it must grow, follows from the number of items.

use alloc::{collections::TryReserveError, vec::Vec};
use core::num::NonZero;

use super::{Content, Lookups, SplittingEngine, splitting};
use crate::{
    bucket::with_growing_layout,
    filter::snapshot::{Form, LoadError, Saved, Words, field},
    table::{
        ClockAndSweep, Kernel,
        split::{GrowingTable, Grown, ImageLoader, doublings, rate},
    },
};

impl<P: Content> Words for &GrowingTable<P> {
    fn len(self) -> u64 {
        GrowingTable::words(self)
    }

    fn find_words<'a>(
        self,
        from: u64,
        found: &mut Vec<u32>,
        buffer: &'a mut [u64],
    ) -> Result<&'a [u64], TryReserveError>
    where
        Self: 'a,
    {
        GrowingTable::find_words(self, from, found, buffer)?;
        Ok(buffer)
    }

    fn words<'a>(self, from: u64, ahead: &[u32], buffer: &'a mut [u64]) -> &'a [u64]
    where
        Self: 'a,
    {
        self.words_from(from, ahead, buffer);
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
            stripes: self.table.stripes(),
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
    type Memory = ImageLoader<P>;

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
        let grown = form.grown.expect("the kind of a valid form");
        let expected = splitting::capacity(layout, grown.buckets(), grown.limits);
        field("capacity", capacity, capacity == expected)?;
        field("target rate", target.to_bits(), target > 0.0 && target < 1.0)?;
        let rate = rate(layout, doublings(grown.first, grown.limits.buckets));
        // A later release may round differently.
        field("target rate", target.to_bits(), rate <= target * (1.0 + 1e-9))
    }

    fn memory(form: &Form, _at_once: bool, reserve: bool) -> Option<ImageLoader<P>> {
        let &Form { layout, words, stripes, clock, .. } = form;
        let (grown, payload, memory) = (form.grown?, P::of(layout, clock), (reserve, true));
        with_growing_layout!(layout, L => {
            ImageLoader::new::<L>(payload, &grown, words, stripes, memory)
        })
    }

    fn restore(form: &Form, occupied: u64, memory: ImageLoader<P>) -> Option<Self> {
        let &Form { layout, target, clock, .. } = form;
        let clock = clock.zip(form.sweep.as_ref());
        let table = with_growing_layout!(layout, L => memory.finish::<L>(occupied, clock));
        // A limit that does not fit into a word has no effect: no memory holds that many copies.
        let limit = usize::try_from(form.max_copies).unwrap_or(usize::MAX);
        Some(Self::new(table?, layout, target, NonZero::new(limit), Kernel::best()))
    }
}
