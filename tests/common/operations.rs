//! The operations of a table, as values.

use std::fmt::{self, Debug, Formatter};

use guira::{
    InsertError,
    raw::{Addressing, BucketLayout, FixedTable, Merged, Pair},
};

/// The operations of a table in one layout, as values: so checks are compiled once and not once
/// per layout.
#[derive(Clone, Copy)]
pub struct Operations {
    pub slots: u32,
    pub bits: u32,
    pub pair: fn(&Addressing, u64) -> Pair,
    pub insert: fn(&FixedTable, Pair) -> Result<(), InsertError>,
    pub insert_unique: fn(&FixedTable, Pair) -> Result<bool, InsertError>,
    pub remove: fn(&FixedTable, Pair) -> bool,
    pub count: fn(&FixedTable, Pair) -> usize,
    pub contains: fn(&FixedTable, Pair) -> bool,
    pub clear: fn(&FixedTable) -> u64,
    /// A copy, and the number of items in it.
    pub try_clone: fn(&FixedTable) -> (FixedTable, u64),
    pub merge: fn(&FixedTable, &FixedTable) -> Merged,
}

impl Operations {
    /// The operations in the layout `L`.
    pub fn of<L: BucketLayout>() -> Self {
        Self {
            slots: L::SLOTS,
            bits: L::BITS,
            pair: |addressing, hash| addressing.pair::<L>(hash),
            insert: |table, pair| table.insert::<L>(pair),
            insert_unique: |table, pair| table.insert_unique::<L>(pair),
            remove: |table, pair| table.remove::<L>(pair),
            count: |table, pair| table.count::<L>(pair),
            contains: |table, pair| table.contains::<L>(pair),
            clear: |table| table.clear::<L>(),
            try_clone: |table| table.try_clone::<L>(false).expect("memory"),
            merge: |table, other| table.merge::<L>(other, None),
        }
    }
}

impl Debug for Operations {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.slots, self.bits)
    }
}
