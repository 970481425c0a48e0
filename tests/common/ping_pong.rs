//! The smallest scene in which an item moves: two buckets, and an item that evicts it from each.

use guira::raw::{BucketLayout, Pair, Table};

use super::{find_pair, rng, table};

/// Two of sixteen buckets, in different cache lines.
pub const FAR: [u32; 2] = [0, 11];

/// Two buckets with one empty slot together, and an item that can be in either.
pub struct PingPong {
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
    pub fn new<L: BucketLayout>() -> Self {
        let table = table(16, 5);
        let mut rng = rng(5);
        let is_alone = |pair: Pair, bucket| pair.buckets == [bucket; 2];
        let item = find_pair::<L>(&table, &mut rng, |pair| pair.buckets == FAR);
        let alias = Pair { buckets: [FAR[1], FAR[0]], ..item };
        let drivers = FAR.map(|b| find_pair::<L>(&table, &mut rng, |pair| is_alone(pair, b)));
        for driver in drivers {
            for _ in 1..L::SLOTS {
                let filler = find_pair::<L>(&table, &mut rng, |pair| {
                    is_alone(pair, driver.buckets[0]) && pair.fingerprint != driver.fingerprint
                });
                table.insert::<L>(filler).expect("an empty slot is left");
            }
        }
        Self { core: table, item, alias, drivers }
    }

    /// Evicts the item from one bucket to the other, if the driver fits, and removes the driver.
    pub fn drive<L: BucketLayout>(&self, driver: Pair) -> bool {
        let driven = self.core.insert::<L>(driver).is_ok();
        // With two drivers at the same moment, there is no room for both.
        assert!(!driven || self.core.remove::<L>(driver), "the driver is missing");
        driven
    }
}
