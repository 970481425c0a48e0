//! STUB
use super::GrowingTable;
use crate::{bucket::GrowingLayout, table::Merged};
impl GrowingTable {
    pub(crate) fn try_clone<L: GrowingLayout>(&self) -> Option<(Self, u64)> {
        todo!()
    }
    pub(crate) fn clear<L: GrowingLayout>(&self) -> u64 {
        todo!()
    }
    pub(crate) fn merge<L: GrowingLayout>(&self, _other: &Self, _limit: Option<usize>) -> Merged {
        todo!()
    }
    pub(crate) fn shrink_to_fit<L: GrowingLayout>(&mut self) -> usize {
        todo!()
    }
    pub(crate) fn next_growth(&self) -> Option<usize> {
        todo!()
    }
}
