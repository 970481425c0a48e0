//! Tables of one or two buckets that grow by splitting, and items whose way a model chooses.
//!
//! With two first buckets, bucket 0 is split into 0 and 2, and bucket 1 into 1 and 3. In the next
//! round bucket b is split into b and b + 4.

use guira::raw::{
    ClockState, Code, GrowingTable, GrowingWords, Grown, ImageLoader, Item, Leveled, Limits,
    Payload, Place, Side, Size,
};
use loom::{sync::Arc, thread::JoinHandle};

use crate::Lookup;

/// The layout: a bucket is full after two inserts.
pub type S = GrowingWords;

/// Their constants, for slots with this payload.
#[must_use]
pub fn leveled(payload: Payload) -> Leveled {
    Leveled::new(2, 8, payload.value_bits())
}

/// Returns an empty table.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn growing(payload: Payload, first: u64, limits: Limits) -> GrowingTable {
    let table = GrowingTable::new(leveled(payload), payload, first, limits, 2, (false, false));
    table.expect("memory for a few words")
}

/// Number of bits that the items of models know, more than any model has levels.
pub const KNOWN: u32 = 6;

impl Lookup for GrowingTable {
    type Item = Item;

    fn finds(&self, item: Item) -> bool {
        self.contains(item)
    }
}

/// Returns a table that grows from `first` to `max` buckets, but not because of its load.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn table(first: u64, max: u64) -> Arc<GrowingTable> {
    with_load(first, max, 1024)
}

/// Returns a table that grows from `first` to `max` buckets, and splits the next bucket when more
/// than this share of the slots is occupied, in 256ths.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn with_load(first: u64, max: u64, load: u32) -> Arc<GrowingTable> {
    let limits = Limits { buckets: max, load, copies: 1 };
    Arc::new(growing(Payload::NONE, first, limits))
}

/// Returns the table with this image, as a snapshot of it is loaded.
///
/// # Panics
/// If no table has this image, or if there is no memory.
#[must_use]
pub fn loaded(
    payload: Payload,
    grown: &Grown,
    words: &[u64],
    clock: Option<&ClockState>,
) -> GrowingTable {
    let length = words.len() as u64;
    assert_eq!(grown.invalid(length), None, "{grown:?}");
    let loader = ImageLoader::new((leveled(payload), payload), grown, length, 2, (false, false));
    let mut loader = loader.expect("memory for a few words");
    loader.add(0, words).expect("memory for a few words");
    assert!(loader.has_valid_places(), "{grown:?} has words that no table has: {words:x?}");
    let numbers = grown.numbers(length);
    let buckets = (0..).zip(words).filter(|(place, _)| !numbers.contains(place));
    let occupied = buckets.map(|(_, &word)| u64::from(leveled(payload).occupied(word))).sum();
    loader.finish(occupied, clock).expect("memory for a few words")
}

/// A table with values.
pub type Map = GrowingTable;

/// Returns a table with values that grows from 2 to 4 buckets, but not because of its load.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn map() -> Arc<Map> {
    let limits = Limits { buckets: 4, load: 1024, copies: 1 };
    Arc::new(growing(Payload::values(4), 2, limits))
}

/// Returns the `nth` item of a stripe that begins in these buckets. `bits` are the first two bits
/// of its extension on each side, the lowest bit first.
///
/// # Panics
/// If there are too few cores.
#[must_use]
pub fn item(
    table: &GrowingTable,
    stripe: u64,
    starts: [u32; 2],
    bits: [u64; 2],
    nth: usize,
) -> Item {
    let fits = |side: Side| side.start == starts[1] && side.code.extension & 3 == bits[1];
    let value_bits = table.leveled().value_bits;
    let code = |core: u64| Code { core: core << value_bits, extension: 1 << KNOWN | bits[0] };
    (0..256)
        .filter(|core| core % 2 == stripe)
        .map(|core| Side { start: starts[0], code: code(core) })
        .map(|side| Item { sides: [side, table.addressing().other(side)] })
        .filter(|item| fits(item.sides[1]))
        .nth(nth)
        .expect("a core for these buckets")
}

/// Returns an item that begins in buckets 0 and 1, and goes to the child of bucket 0. It stays in
/// bucket 1.
#[must_use]
pub fn leaving(table: &GrowingTable, stripe: u64, nth: usize) -> Item {
    item(table, stripe, [0, 1], [1, 0], nth)
}

/// Returns an item that has one bucket only, and stays in it.
#[must_use]
pub fn staying(table: &GrowingTable, bucket: u32, nth: usize) -> Item {
    item(table, 1, [bucket; 2], [0, 0], nth)
}

/// Returns the item that differs from another one in this bit of its extension.
#[must_use]
pub fn differing(table: &GrowingTable, item: Item, bit: u32) -> Item {
    let mut side = item.sides[0];
    side.code.extension ^= 1 << bit;
    Item { sides: [side, table.addressing().other(side)] }
}

/// Returns what a slot knows of a side that has forgotten all but this many bits.
#[must_use]
pub fn forgetful(side: Side, bits: u32) -> Side {
    let extension = side.code.extension & ((1 << bits) - 1) | 1 << bits;
    Side { code: Code { extension, ..side.code }, ..side }
}

/// Returns the same item with the other side first.
#[must_use]
pub fn reversed(item: Item) -> Item {
    let [first, second] = item.sides;
    Item { sides: [second, first] }
}

/// Returns an item that has this side twice: it is inserted, and found, on this side only.
#[must_use]
pub fn only(side: Side) -> Item {
    Item { sides: [side; 2] }
}

/// Puts a slot on this side.
///
/// # Panics
/// If there is no room.
pub fn put(table: &GrowingTable, side: Side) {
    table.insert::<S>(only(side)).expect("room");
}

/// The place of a side at a level.
#[must_use]
pub fn place(table: &GrowingTable, side: Side, level: u32) -> Place {
    table.addressing().place_of_item(side, Size { level, split: 0 })
}

/// Moves a slot that has this side, at this level.
#[must_use]
pub fn relocate_at(table: &GrowingTable, side: Side, level: u32, incoming: Option<Side>) -> bool {
    table.relocate_slot(side, place(table, side, level), incoming)
}

/// Moves a slot that has this side, whether or not its bucket has been split once.
#[must_use]
pub fn relocate(table: &GrowingTable, side: Side) -> bool {
    (0..2).any(|level| relocate_at(table, side, level, None))
}

/// Splits the next bucket. If all locks are taken, waits for one.
///
/// # Panics
/// If the table may not grow further.
pub fn split(table: &GrowingTable) {
    if !table.split_one() {
        let Size { level, split } = table.size();
        let bucket = u32::try_from(split).expect("a handful of buckets");
        table.split_early(Place { bucket, level }).expect("room for a bucket");
    }
}

/// Splits bucket 0 of level 0, and leaves the size behind: first rounds of lookups there end open.
///
/// # Panics
/// If it has been split.
pub fn split_unseen(table: &GrowingTable) {
    assert!(table.split_only(Place { bucket: 0, level: 0 }), "bucket 0 has been split");
}

/// Checks how far the table has grown.
///
/// # Panics
/// If it has not grown so far, or further.
pub fn assert_size(table: &GrowingTable, level: u32, split: u64) {
    assert_eq!(table.size(), Size { level, split });
}

/// The number of items in a table that no other thread uses.
///
/// # Panics
/// If there is no memory.
#[must_use]
pub fn items(table: &GrowingTable) -> u64 {
    table.try_clone().expect("memory for a few words").1
}

/// Runs one thread of a model, which uses two tables.
pub fn thread_with<R: 'static>(
    table: &Arc<GrowingTable>,
    other: &Arc<GrowingTable>,
    work: impl FnOnce(&GrowingTable, &GrowingTable) -> R + 'static,
) -> JoinHandle<R> {
    let other = other.clone();
    crate::spawn(table, move |table| work(table, &other))
}
