//! The table that grows by splitting, from its first bucket to its last.

mod common;

use common::{rng, scaled};
use guira::{
    GrowingFilter, InsertError, Layout,
    raw::{GrowingLayout, GrowingTable, Item, Leveled, Limits, mix},
};
use rand::RngExt;

/// Most doublings of a table.
const DOUBLINGS: u32 = 15;
/// Number of buckets below which searches reach too few of them.
const SMALL: u64 = 64;
/// A load at which searches succeed in every layout, in 256ths.
const LOAD: u32 = 190;

/// A table with numbered items.
struct Numbered {
    table: GrowingTable,
    seed: u64,
}

impl Numbered {
    fn new<L: GrowingLayout>(first: u64, buckets: u64, load: u32) -> Self {
        let limits = Limits { buckets, load };
        let table = GrowingTable::new::<L>(first, limits, 64, (true, true));
        Self { table: table.expect("a small table"), seed: first }
    }

    fn item<L: GrowingLayout>(&self, number: u64) -> Item {
        self.table.growth().item::<L>(mix(number, self.seed))
    }

    fn contains<L: GrowingLayout>(&self, number: u64) -> bool {
        self.table.contains::<L>(&self.item::<L>(number))
    }

    /// Checks that none of these items is missed.
    fn check_all<L: GrowingLayout>(&self, numbers: impl Iterator<Item = u64>) {
        for number in numbers {
            let size = self.table.size();
            assert!(self.contains::<L>(number), "{number} is missing at {size:?}");
        }
    }

    /// Inserts items until one is refused, and checks all of them after every doubling. Returns
    /// their numbers, and why the last one was refused.
    ///
    /// In tables of fewer buckets than the library makes, a search does not always reach one that
    /// has not been split in this round. Then other items follow.
    fn fill<L: GrowingLayout>(&self) -> (Vec<u64>, InsertError) {
        let (mut present, mut level, mut unlucky) = (Vec::new(), self.table.size().level, 0);
        for number in 0.. {
            match self.table.insert::<L>(&self.item::<L>(number)) {
                Ok(()) => present.push(number),
                Err(InsertError::Full) if self.table.buckets() < SMALL => unlucky += 1,
                Err(error) => {
                    // A refused insert changes nothing.
                    assert_eq!(self.table.insert::<L>(&self.item::<L>(number)), Err(error));
                    self.check_all::<L>(present.iter().copied());
                    return (present, error);
                }
            }
            if self.table.size().level > level {
                level = self.table.size().level;
                self.check_all::<L>(present.iter().copied());
            }
            assert!(unlucky < 1_000, "{:?}", self.table.size());
        }
        unreachable!("no table takes every item")
    }

    /// Removes all items, half of them first.
    fn empty<L: GrowingLayout>(&self, present: &[u64]) {
        let remove = |number: &u64| self.table.remove::<L>(&self.item::<L>(*number));
        let (first, rest) = present.split_at(present.len() / 2);
        assert!(first.iter().all(remove), "an item is missing");
        self.check_all::<L>(rest.iter().copied());
        assert!(rest.iter().all(remove), "an item is missing");
    }
}

/// Fills tables of a few first buckets until their sixteenth doubling is due.
fn to_the_sixteenth_doubling<L: GrowingLayout>() {
    for first in [1, 2, 3] {
        let numbered = Numbered::new::<L>(first, first << DOUBLINGS, LOAD);
        let (present, error) = numbered.fill::<L>();
        let size = numbered.table.size();
        assert_eq!((error, size.level, size.split), (InsertError::FullyGrown, DOUBLINGS, 0));
        let slots = numbered.table.buckets() * u64::from(L::SLOTS);
        assert_eq!(numbered.table.buckets(), first << DOUBLINGS);
        let share = |present: &[u64]| present.len() as f64 / slots as f64;
        println!("{} slots, {first}: {:.3}", L::SLOTS, share(&present));
        assert!(share(&present) > 0.6, "{first}: {}", share(&present));
        numbered.empty::<L>(&present);
        // Only ghosts are left. They take room, and nothing else is wrong with the table.
        let (present, error) = numbered.fill::<L>();
        assert_eq!(error, InsertError::FullyGrown);
        println!("{} slots, {first}: {:.3} again", L::SLOTS, share(&present));
        assert!(share(&present) > 0.5, "{first}: {} again", share(&present));
        numbered.empty::<L>(&present);
    }
}

#[test]
fn tables_of_one_to_three_first_buckets_grow_to_the_last_level() {
    to_the_sixteenth_doubling::<Leveled<5, 6>>();
    to_the_sixteenth_doubling::<Leveled<4, 7>>();
    to_the_sixteenth_doubling::<Leveled<3, 8>>();
    to_the_sixteenth_doubling::<Leveled<2, 8>>();
}

/// The load stays at the target, at every moment: it is never much above it, and the table does not
/// grow before it is reached.
fn grows_at_the_target_load<L: GrowingLayout>(first: u64, load: u32, doublings: u32) {
    let numbered = Numbered::new::<L>(first, first << DOUBLINGS, load);
    let table = &numbered.table;
    let mut inserted = 0_u64;
    for level in 0..scaled(3, doublings) {
        while table.size().level == level {
            let before = table.buckets();
            table.insert::<L>(&numbered.item::<L>(inserted)).expect("room to grow");
            inserted += 1;
            let target = |buckets: u64| buckets * u64::from(L::SLOTS) * u64::from(load) / 256;
            // A check after every 32 inserts, ghosts, and buckets that are split out of turn.
            let slack = 64 + inserted / 50;
            assert!(inserted <= target(table.buckets()) + slack, "{inserted}, {:?}", table.size());
            let ghosts = inserted / 2;
            let has_grown = table.buckets() > before;
            // A group of eight buckets at most is split too early.
            let due = inserted + ghosts + slack + 8 * u64::from(L::SLOTS);
            assert!(!has_grown || due > target(before), "{inserted}, {:?}", table.size());
        }
        numbered.check_all::<L>(0..inserted);
    }
}

#[test]
fn tables_of_odd_sizes_grow_at_the_target_load() {
    for first in [1_000, 1_023, 257] {
        grows_at_the_target_load::<Leveled<5, 6>>(first, 210, 6);
        grows_at_the_target_load::<Leveled<4, 7>>(first, 205, 6);
        grows_at_the_target_load::<Leveled<3, 8>>(first, 205, 6);
        grows_at_the_target_load::<Leveled<2, 8>>(first, 190, 6);
    }
}

/// A table with fewer buckets than its doublings allow says so, and never has more. Items that come
/// and go find room there.
#[test]
fn the_largest_number_of_buckets_is_kept() {
    type L = Leveled<4, 7>;
    for (first, largest) in [(1, 1), (1, 5), (3, 3), (3, 100), (1_000, 1_999), (1_000, 2_001)] {
        let numbered = Numbered::new::<L>(first, largest, LOAD);
        let (mut present, error) = numbered.fill::<L>();
        assert_eq!(error, InsertError::MaxCapacity, "{first} to {largest}");
        assert!(numbered.table.buckets() <= largest);
        assert!(largest < 100 || numbered.table.buckets() == largest, "{largest}");
        let (mut next, mut rng) = (1 << 20.., rng(first));
        for _ in 0..scaled(20, 200) {
            for _ in 0..present.len().div_ceil(20) {
                let number = present.swap_remove(rng.random_range(0..present.len()));
                assert!(numbered.table.remove::<L>(&numbered.item::<L>(number)));
            }
            for number in next.by_ref().take(present.len().div_ceil(20)) {
                if numbered.table.insert::<L>(&numbered.item::<L>(number)).is_ok() {
                    present.push(number);
                }
            }
        }
        numbered.check_all::<L>(present.iter().copied());
        assert!(numbered.table.buckets() <= largest);
    }
}

/// The layouts of sets that grow, with the bits of their cores: a filter of the least capacity,
/// filled until it refuses an item, or up to the `last` doubling. At each doubling all items are
/// found, and the measured rate is close to the promised one, and not above it.
fn grows_at_the_promised_rate(layout: Layout, last: u32) {
    let filter = GrowingFilter::builder().capacity(1).layout(layout).seed(3).build();
    let filter = filter.expect("a small filter");
    let first = filter.slots();
    assert!((1_024..1_300).contains(&first), "{first} slots");
    let target = filter.target_false_positive_rate();
    let mut inserted = 0_u64;
    // The measured rate as a share of another one, and how far chance may take it from there.
    let share_of = |rate: f64| {
        let queries = (scaled(3_000.0, 10_000.0) / rate).min(4e6);
        let absent = (1 << 40..).take(queries as usize);
        let positives = absent.filter(|key: &u64| filter.contains(key)).count() as f64;
        let expected = rate * queries.floor();
        (positives / expected, 5.0 / expected.sqrt())
    };
    let check = |inserted: u64| {
        assert!((0..inserted).all(|key| filter.contains(&key)), "{filter:?} misses an item");
        let rate = filter.false_positive_rate();
        assert!(rate <= target, "{rate} > {target}");
        let (share, chance) = share_of(rate);
        let expected = 0.88 - chance..1.0 + chance;
        assert!(expected.contains(&share), "{layout:?}: {inserted} items, {share} of {rate}");
    };
    for doubling in 1..=DOUBLINGS {
        while filter.slots() < first << doubling {
            filter.insert(&inserted).expect("room to grow");
            inserted += 1;
        }
        // Several buckets are split at a time.
        let excess = filter.slots() - (first << doubling);
        assert!(excess <= 64 * layout.slots_per_bucket() as usize, "{excess} slots more");
        let capacity = filter.capacity() as u64;
        // Ghosts take room, too, and it may be that buckets are split for want of room.
        assert!((capacity * 6 / 10..=capacity + 200).contains(&inserted), "{inserted}, {filter:?}");
        check(inserted);
        if doubling == scaled(5, last) {
            return;
        }
    }
    let refused = (inserted..u64::MAX).find(|key| match filter.insert(key) {
        Ok(()) => false,
        Err(error) => {
            assert_eq!(error, InsertError::FullyGrown);
            true
        }
    });
    let inserted = refused.expect("it is full");
    assert_eq!((filter.len() as u64, filter.slots()), (inserted, first << DOUBLINGS));
    // Full: the promise is that of the target, which is the rate of a full table.
    assert!((0..inserted).all(|key| filter.contains(&key)));
    let (share, chance) = share_of(target);
    let expected = 0.88 - chance..1.0 + chance;
    assert!(expected.contains(&share), "{layout:?}: {share} of {target}");
}

/// The sixteenth doubling is one too many: one layout is filled up to there, 31 million items.
#[test]
fn four_slots_grow_to_the_end_at_the_promised_rate() {
    grows_at_the_promised_rate(Layout::GROWING[1], DOUBLINGS + 1);
}

#[test]
fn other_layouts_grow_at_the_promised_rate() {
    for index in [0, 2, 3] {
        grows_at_the_promised_rate(Layout::GROWING[index], 11);
    }
}
