//! The bodies of the fuzz targets. Each compares the library with a simple oracle, and panics if
//! they disagree.

#[path = "../../tests/common/mod.rs"]
mod common;
pub mod decisions;
pub mod filter;
pub mod operations;
pub mod snapshot;
pub mod words;

use guira::{Layout, raw::Slots};

/// Returns the words that a number selects: those of one of the library's layouts, or smaller ones,
/// which are sooner full and whose fingerprints collide sooner.
fn some_slots(number: u8) -> Slots {
    let small = [
        Slots::plain(2, 5, 0),
        Slots::plain(3, 5, 0),
        Slots::plain(4, 6, 0),
        Slots::plain(8, 5, 0),
        Slots::plain(2, 16, 0),
        Slots::plain(2, 32, 0),
        Slots::semi_sorted(2, 5),
        Slots::semi_sorted(3, 6),
        Slots::semi_sorted(6, 5),
    ];
    let large = Layout::ALL.iter().map(|layout| layout.slots());
    let all: Vec<Slots> = large.chain(small).collect();
    all[usize::from(number) % all.len()]
}
