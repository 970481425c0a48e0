//! guira itself, in each layout.

use guira::{CuckooFilter, Layout, raw::Kernel};

use super::{Peer, Size};
use crate::threads::Shared;

struct Guira(CuckooFilter);

fn build(layout: Layout, size: Size) -> Box<dyn Peer> {
    Box::new(Guira(guira_harness::filter(size.items, layout)))
}

pub fn plain4x16(size: Size) -> Box<dyn Peer> {
    build(Layout::Plain4x16, size)
}

pub fn plain5x12(size: Size) -> Box<dyn Peer> {
    build(Layout::Plain5x12, size)
}

pub fn plain6x10(size: Size) -> Box<dyn Peer> {
    build(Layout::Plain6x10, size)
}

pub fn plain8x8(size: Size) -> Box<dyn Peer> {
    build(Layout::Plain8x8, size)
}

pub fn scalar(size: Size) -> Box<dyn Peer> {
    Box::new(Guira(guira_harness::filter_by(Kernel::Scalar, size.items)))
}

pub fn avx2(size: Size) -> Box<dyn Peer> {
    Box::new(Guira(guira_harness::filter_by(Kernel::Avx2, size.items)))
}

pub fn avx512(size: Size) -> Box<dyn Peer> {
    Box::new(Guira(guira_harness::filter_by(Kernel::Avx512, size.items)))
}

impl Peer for Guira {
    fn lookups(&self, keys: &[u64]) -> usize {
        self.0.lookups(keys)
    }

    fn lookup_batch(&self, keys: &[u64], found: &mut [bool]) -> Option<usize> {
        Some(Shared::lookup_batch(&self.0, keys, found))
    }

    fn inserts(&mut self, keys: &[u64]) -> Option<usize> {
        Some(self.0.inserts(keys))
    }

    fn insert_batch(&mut self, keys: &[u64]) -> Option<usize> {
        Some(Shared::insert_batch(&self.0, keys))
    }

    fn removes(&mut self, keys: &[u64]) -> Option<usize> {
        self.0.removes(keys)
    }

    fn remove_batch(&mut self, keys: &[u64], removed: &mut [bool]) -> Option<usize> {
        Shared::remove_batch(&self.0, keys, removed)
    }

    fn shared(&self) -> Option<&dyn Shared> {
        Some(&self.0)
    }
}
