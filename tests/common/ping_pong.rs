//! The smallest scene in which an item moves: two buckets and something to drive it out of each.

use guira::raw::{BucketLayout, Pair, Table};

use super::{core, find_pair, rng};

/// Two of sixteen buckets, in different cache lines.
pub const FAR: [u32; 2] = [0, 11];

/// Two buckets with one lane free in both together, and an item that may stand in either.
pub struct PingPong {
    pub core: Table,
    /// The item, by way of either bucket.
    pub item: Pair,
    pub alias: Pair,
    /// Items at home in one bucket only: inserting one drives the item out of it.
    pub drivers: [Pair; 2],
}

impl PingPong {
    /// The two buckets, without the item.
    pub fn new<L: BucketLayout>() -> Self {
        let core = table(16, 5);
        let mut rng = rng(5);
        let at_home = |pair: Pair, bucket| pair.buckets == [bucket; 2];
        let item = find_pair::<L>(&core, &mut rng, |pair| pair.buckets == FAR);
        let alias = Pair { buckets: [FAR[1], FAR[0]], ..item };
        let drivers = FAR.map(|b| find_pair::<L>(&core, &mut rng, |pair| at_home(pair, b)));
        for driver in drivers {
            for _ in 1..L::SLOTS {
                let filler = find_pair::<L>(&core, &mut rng, |pair| {
                    at_home(pair, driver.buckets[0]) && pair.fingerprint != driver.fingerprint
                });
                core.insert::<L>(filler).expect("a lane is left");
            }
        }
        Self { core, item, alias, drivers }
    }

    /// Drives the item from one bucket to the other and back.
    pub fn drive<L: BucketLayout>(&self, driver: Pair) -> bool {
        let driven = self.core.insert::<L>(driver).is_ok();
        // A second thread may be at it: then there was no room for both.
        assert!(!driven || self.core.remove::<L>(driver), "a driver is gone");
        driven
    }
}
