//! Growth at the promised load and rates, from the first bucket to the last.

use guira::{
    GrowingFilter, InsertError, Layout,
    raw::{GrowingLayout, Leveled},
};

use super::{
    Held,
    common::{for_every_growing_layout, scaled},
};

/// Most doublings of a table.
const DOUBLINGS: u32 = 15;
/// Number of buckets below which searches reach too few of them.
const SMALL: u64 = 64;
/// A load at which searches succeed in every layout, in 256ths.
const LOAD: u32 = 190;

/// Inserts items from this one on until one is refused, and checks all of them after every
/// doubling. Returns why the last one was refused.
///
/// In tables of fewer buckets than the library makes, a search does not always reach one that has
/// not been split in this round. Then other items follow.
fn fill<L: GrowingLayout>(held: &mut Held<L>) -> InsertError {
    let (mut level, mut unlucky) = (held.table.size().level, 0);
    for key in 0.. {
        match held.insert(key) {
            Ok(()) => {}
            Err(InsertError::Full) if held.table.buckets() < SMALL => unlucky += 1,
            Err(error) => {
                // A refused insert changes nothing.
                assert_eq!(held.insert(key), Err(error));
                held.check();
                return error;
            }
        }
        if held.table.size().level > level {
            level = held.table.size().level;
            held.check();
        }
        assert!(unlucky < 1_000, "{:?}", held.table.size());
    }
    unreachable!("no table takes every item")
}

/// Fills tables of a few first buckets until their sixteenth doubling is due.
fn to_the_sixteenth_doubling<L: GrowingLayout>() {
    for first in [1, 2, 3] {
        let mut held = Held::<L>::new(first, first << DOUBLINGS, LOAD, 64);
        let error = fill(&mut held);
        let size = held.table.size();
        assert_eq!((error, size.level, size.split), (InsertError::FullyGrown, DOUBLINGS, 0));
        assert_eq!(held.table.buckets(), first << DOUBLINGS);
        let slots = held.table.buckets() * u64::from(L::SLOTS);
        let share = |held: &Held<L>| held.keys.len() as f64 / slots as f64;
        assert!(share(&held) > 0.6, "{first}: {}", share(&held));
        held.drain();
        // Only ghosts are left. They take room, and nothing else is wrong with the table.
        assert_eq!(fill(&mut held), InsertError::FullyGrown);
        assert!(share(&held) > 0.5, "{first}: {} again", share(&held));
        held.drain();
    }
}

#[test]
fn tables_of_one_to_three_first_buckets_grow_to_the_last_level() {
    for_every_growing_layout!(to_the_sixteenth_doubling());
}

/// Tables that may have few buckets say so when they have as many, and never have more.
#[test]
fn the_largest_number_of_buckets_is_kept() {
    for (first, largest) in [(1, 1), (1, 5), (3, 3), (3, 100), (1_000, 1_999), (1_000, 2_001)] {
        let mut held = Held::<Leveled<4, 7>>::new(first, largest, LOAD, 64);
        assert_eq!(fill(&mut held), InsertError::MaxCapacity, "{first} to {largest}");
        assert!(held.table.buckets() <= largest);
        assert!(largest < 100 || held.table.buckets() == largest, "{largest}");
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

#[test]
fn all_layouts_grow_at_the_promised_rate() {
    for &layout in Layout::GROWING {
        grows_at_the_promised_rate(layout, 11);
    }
}

/// The sixteenth doubling is one too many: one layout is filled up to there.
#[test]
#[ignore = "long: 31 million items; run it in release mode"]
fn four_slots_grow_to_the_end_at_the_promised_rate() {
    grows_at_the_promised_rate(Layout::GROWING[1], DOUBLINGS + 1);
}
