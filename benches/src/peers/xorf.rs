//! `xorf`: a binary fuse filter, which is built from all its keys at once and never changes.

use xorf::{BinaryFuse16, Filter};

use super::{Peer, Size};

struct Fuse(Option<BinaryFuse16>);

pub fn build(_: Size) -> Box<dyn Peer> {
    Box::new(Fuse(None))
}

impl Peer for Fuse {
    fn lookups(&self, keys: &[u64]) -> usize {
        let filter = self.0.as_ref().expect("built before it is used");
        keys.iter().filter(|&key| filter.contains(key)).count()
    }

    fn inserts(&mut self, _: &[u64]) -> Option<usize> {
        None
    }

    fn removes(&mut self, _: &[u64]) -> Option<usize> {
        None
    }

    fn make(&mut self, keys: &[u64]) -> Option<()> {
        self.0 = Some(BinaryFuse16::try_from(keys).expect("distinct keys"));
        Some(())
    }
}
