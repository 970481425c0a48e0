//! Writers that are halted at each of their steps, on tables of each kind.

mod expiring;
mod fixed;
mod halting;
mod meanwhile;
mod scene;
mod splitting;

use guira::raw::{GrowingLayout, Growth, Item, Payload};
use halting::{before_step, panicked, steps, stopped, unblocked};
use rand::RngExt;

use crate::common::rng;

/// The item with its sides in the other order.
fn reversed(item: Item) -> Item {
    let [one, other] = item.sides;
    Item { sides: [other, one] }
}

/// Random items in the upper half of the first buckets, of which no bucket gets more than so many.
/// (Before the table has doubled, only a part of them is used.)
fn roomy<P: Payload, L: GrowingLayout>(growth: &Growth<P>, each: u32, count: usize) -> Vec<Item> {
    let half = growth.first() as usize / 2;
    let (mut rng, mut used, mut room) = (rng(77), vec![0; 2 * half], Vec::new());
    while room.len() < count {
        let item = growth.item::<L>(rng.random());
        let starts = item.sides.map(|side| side.start as usize);
        if starts.iter().all(|&start| start >= half && used[start] < each) {
            starts.iter().for_each(|&start| used[start] += 1);
            room.push(item);
        }
    }
    room
}
