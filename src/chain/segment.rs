//! One table of a chain, and the protocol's steps on it by mixed hash.

use super::Nested;
use crate::{
    InsertError, Layout,
    geometry::Pair,
    shared::Core,
    stats::{Counters, Made},
    stripes::{Held, Stripes},
    word::with_layout,
};

/// One table of a chain.
#[derive(Debug)]
pub(super) struct Segment {
    layout: Layout,
    core: Core<Nested>,
}

impl Segment {
    /// An empty segment, or `None` when the system refuses the memory.
    pub(super) fn new(
        layout: Layout,
        nested: Nested,
        huge_pages: bool,
        stripes: &Stripes,
        counters: &Counters,
    ) -> Option<Self> {
        Some(Self { layout, core: Core::sharing(nested, huge_pages, stripes, counters)? })
    }

    pub(super) fn layout(&self) -> Layout {
        self.layout
    }

    pub(super) fn nested(&self) -> &Nested {
        self.core.geometry()
    }

    /// Bytes of this segment alone.
    pub(super) fn size_in_bytes(&self) -> usize {
        size_of_val(self) + self.core.table.size_in_bytes()
    }

    pub(super) fn clear(&mut self) {
        self.core.clear();
    }
}

/// Each is the step of `protocol` for the item's pair in this segment.
impl Segment {
    #[inline]
    fn pair(&self, mixed: u64) -> Pair {
        self.core.geometry().pair(mixed)
    }

    #[inline]
    pub(super) fn prefetch(&self, mixed: u64) {
        self.core.prefetch(self.pair(mixed));
    }

    #[inline]
    pub(super) fn contains(&self, mixed: u64) -> bool {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.core.look::<L>(pair))
    }

    #[inline]
    pub(super) fn add(&self, mixed: u64) -> bool {
        let pair = self.pair(mixed);
        self.core.prefetch(pair);
        with_layout!(self.layout, L => self.core.add::<L>(pair))
    }

    #[inline]
    pub(super) fn add_within_half(&self, mixed: u64) -> Result<bool, InsertError> {
        let pair = self.pair(mixed);
        self.core.prefetch(pair);
        with_layout!(self.layout, L => self.core.add_within_half::<L>(pair))
    }

    pub(super) fn insert_crowded(&self, mixed: u64) -> Result<(), InsertError> {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.core.insert_crowded::<L>(pair))
    }

    pub(super) fn make_room(&self, mixed: u64, made: &mut Made) -> Result<(), InsertError> {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.core.make_room::<L>(pair, made))
    }

    pub(super) fn add_absent(&self, held: &Held, mixed: u64) -> Option<bool> {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.core.add_absent::<L>(held, pair))
    }

    pub(super) fn count(&self, held: &Held, mixed: u64) -> usize {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.core.count_held::<L>(held, pair))
    }

    #[inline]
    pub(super) fn remove(&self, held: &Held, mixed: u64) -> bool {
        let pair = self.pair(mixed);
        with_layout!(self.layout, L => self.core.remove_held::<L>(held, pair))
    }
}
