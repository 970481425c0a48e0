//! The smallest scene in which an item moves: two buckets, and an item that evicts it from each.

use guira::raw::{Pair, Table};

use super::{find_pair, operations::Operations, rng, table};

/// Two of sixteen buckets, in different cache lines.
pub const FAR: [u32; 2] = [0, 11];

/// Two buckets with one empty slot together, and an item that can be in either.
pub struct PingPong {
    operations: Operations,
    pub core: Table,
    /// The item.
    pub item: Pair,
    /// The same pair with its buckets exchanged.
    pub alias: Pair,
    /// Items with a single bucket: to insert one evicts the item from that bucket.
    pub drivers: [Pair; 2],
}

impl PingPong {
    /// The two buckets, without the item.
    pub fn new(operations: Operations) -> Self {
        let table = table(16, 5);
        let mut rng = rng(5);
        let mut find =
            |wanted: &dyn Fn(Pair) -> bool| find_pair(operations, &table, &mut rng, wanted);
        let is_alone = |pair: Pair, bucket| pair.buckets == [bucket; 2];
        let item = find(&|pair| pair.buckets == FAR);
        let alias = Pair { buckets: [FAR[1], FAR[0]], ..item };
        let drivers = FAR.map(|bucket| find(&|pair| is_alone(pair, bucket)));
        for driver in drivers {
            for _ in 1..operations.slots {
                let filler = find(&|pair| {
                    is_alone(pair, driver.buckets[0]) && pair.fingerprint != driver.fingerprint
                });
                (operations.insert)(&table, filler).expect("an empty slot is left");
            }
        }
        Self { operations, core: table, item, alias, drivers }
    }

    /// Inserts a copy, for which there is a slot.
    pub fn insert(&self, pair: Pair) {
        (self.operations.insert)(&self.core, pair).expect("a slot is left for this copy");
    }

    pub fn remove(&self, pair: Pair) -> bool {
        (self.operations.remove)(&self.core, pair)
    }

    pub fn count(&self, pair: Pair) -> usize {
        (self.operations.count)(&self.core, pair)
    }

    pub fn contains(&self, pair: Pair) -> bool {
        (self.operations.contains)(&self.core, pair)
    }

    /// Evicts the item from one bucket to the other, if the driver fits, and removes the driver.
    pub fn drive(&self, driver: Pair) -> bool {
        let driven = (self.operations.insert)(&self.core, driver).is_ok();
        // With two drivers at the same moment, there is no room for both.
        assert!(!driven || self.remove(driver), "the driver is missing");
        driven
    }
}
