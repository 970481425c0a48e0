//! The operations of a table, as values.

use std::fmt::{self, Debug, Formatter};

use guira::{
    InsertError,
    raw::{Addressing, BucketLayout, Merged, Pair, Table},
};

/// The operations of a table in one layout, as values: so checks are compiled once and not once
/// per layout.
#[derive(Clone, Copy)]
pub struct Operations {
    pub slots: u32,
    pub bits: u32,
    pub pair: fn(&Addressing, u64) -> Pair,
    pub insert: fn(&Table, Pair) -> Result<(), InsertError>,
    pub insert_unique: fn(&Table, Pair) -> Result<bool, InsertError>,
    pub remove: fn(&Table, Pair) -> bool,
    pub count: fn(&Table, Pair) -> usize,
    pub contains: fn(&Table, Pair) -> bool,
    pub clear: fn(&Table) -> u64,
    /// A copy, and the number of items in it.
    pub try_clone: fn(&Table) -> (Table, u64),
    pub merge: fn(&Table, &Table) -> Merged,
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
