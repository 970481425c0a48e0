//! guira itself, in each layout and with each kernel.

use guira::{Layout, raw::Kernel};

use super::{Alone, Peer, Size};
use crate::workload::filter_by;

pub fn with_layout(layout: Layout, size: Size) -> Box<dyn Peer> {
    Box::new(Alone(guira_harness::filter(size.items, layout)))
}

pub fn with_kernel(kernel: Kernel, size: Size) -> Box<dyn Peer> {
    Box::new(Alone(filter_by(kernel, size.items)))
}
