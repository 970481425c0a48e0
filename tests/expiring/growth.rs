//! When filters grow whose items expire: with the items that are found, not with those that have
//! been; and what is given back.

#[cfg(feature = "std")]
use guira::Shrinking;
use guira::{GrowingExpiringFilter, Hashed, kind::Growing};
use rand::RngExt;

#[cfg(feature = "std")]
use super::ttl::{self, INTERVAL, TTL, left, pass};
use super::{
    builder,
    common::{
        chosen::{known_bits, relatives},
        rng, scaled, shrink,
    },
    layouts,
};

/// The windows of most tests.
const SOME_WINDOWS: [u32; 4] = [1, 5, 13, 253];

/// A filter that grows.
fn filter(window: u32, seed: u64) -> GrowingExpiringFilter {
    builder::<Growing>(1, window).seed(seed).build().expect("a small filter")
}

/// Inserts the items of one generation.
fn insert_all(filter: &GrowingExpiringFilter, first: u64, count: u64) {
    (first..first + count).for_each(|key| _ = filter.insert(&key).expect("room to grow"));
}

/// As many items come in each generation as go. What has expired is swept before buckets are split,
/// so the filter has room for the items that are found, and not for those of a further generation.
#[test]
fn a_steady_number_of_items_does_not_make_it_grow() {
    for window in SOME_WINDOWS {
        let filter = filter(window, 1);
        let found = u64::from(window) + 1;
        let each = scaled(20_000, 100_000) / found;
        let mut peak = 0;
        for generation in 0..found * 2 + 20 {
            insert_all(&filter, generation * each, each);
            if generation + 1 == found {
                peak = filter.slots();
            }
            filter.advance();
            // What was not swept in time would be visible once more.
            let visible = each * (generation + 1).min(found - 1);
            assert_eq!(filter.len() as u64, visible, "window {window}, {generation}");
        }
        let items = (each * found) as usize;
        let (slots, capacity) = (filter.slots(), filter.capacity());
        println!("window {window}: {items} items, {peak} slots at first, {slots} in the end");
        assert!(slots <= peak + peak / 64, "{slots} slots for {items} items, {peak} at first");
        assert!(capacity <= items + items / 32, "{capacity} for {items} items");
    }
}

/// The same without `advance` at the end of a generation: nothing is swept but by inserts.
#[test]
fn inserts_sweep_what_they_need() {
    for window in SOME_WINDOWS {
        let filter = filter(window, 2);
        let each = scaled(20_000, 100_000);
        insert_all(&filter, 0, each);
        let before = filter.slots();
        // They expire, and are swept by the advance at the end of the next generation.
        (0..=window).for_each(|_| _ = filter.advance());
        assert_eq!(filter.len(), 0);
        insert_all(&filter, each, each);
        assert_eq!(filter.slots(), before, "window {window}");
        assert!((each..2 * each).all(|key| filter.contains(&key)));
        assert_eq!(filter.len() as u64, each);
    }
}

/// After everything has expired, only as much memory is left as an empty filter has.
#[test]
fn what_has_expired_is_given_back() {
    for window in SOME_WINDOWS {
        for reserve in [false, true] {
            for swept in [false, true] {
                let new = builder::<Growing>(1, window).reserve_address_space(reserve);
                let new = new.build().expect("a small filter");
                let (mut filter, empty) = (new.clone(), new.size_in_bytes());
                insert_all(&filter, 0, scaled(20_000, 200_000));
                let grown = filter.size_in_bytes();
                assert_eq!(shrink(&mut filter), grown - filter.size_in_bytes());
                assert!(filter.size_in_bytes() > grown - grown / 8, "little was free");
                assert!((0..scaled(20_000, 200_000_u64)).all(|key| filter.contains(&key)));
                let grown = filter.size_in_bytes();
                (0..=window).for_each(|_| _ = filter.advance());
                while swept && filter.sweep(1_000) > 0 {}
                let released = shrink(&mut filter);
                let left = filter.size_in_bytes();
                assert_eq!(released, grown - left);
                assert!(left <= empty + (4 << 10), "window {window}: {left}, at first {empty}");
                assert_eq!(
                    (filter.len(), filter.generation()),
                    (0, new.generation() + u64::from(window) + 1)
                );
                // It grows on.
                insert_all(&filter, 0, 5_000);
                assert!((0..5_000_u64).all(|key| filter.contains(&key)) && filter.len() == 5_000);
            }
        }
    }
}

/// Half of the items stay: they need half of the memory, keep their generations, and can be
/// removed.
#[test]
fn what_has_not_expired_stays_when_it_shrinks() {
    for window in SOME_WINDOWS {
        let mut filter = filter(window, 3);
        let each = scaled(10_000, 50_000);
        insert_all(&filter, 0, each);
        let old = filter.generation();
        (0..window).for_each(|_| _ = filter.advance());
        insert_all(&filter, each, each);
        let (now, before) = (filter.generation(), filter.slots());
        shrink(&mut filter);
        assert_eq!(filter.len() as u64, 2 * each);
        assert!((0..2 * each).all(|key| filter.contains(&key)));
        assert!((0..100).all(|key| filter.remove(&key, old)));
        filter.advance();
        shrink(&mut filter);
        assert_eq!(filter.len() as u64, each);
        assert!(filter.slots() <= before * 5 / 8, "{} of {before}", filter.slots());
        assert!((each..2 * each).all(|key| filter.contains(&key)));
        assert!((each..2 * each).all(|key| filter.remove(&key, now)));
        assert!(filter.is_empty());
    }
}

/// There are an old item, an alias of it that slots distinguish in a larger table, and a twin of
/// that alias which they do not. After the refresh of the twin has taken the slot of the alias, the
/// slot of the old item is the only one with the stamp that both had. A removal of the alias leaves
/// it: also in clones, and after shrinking, when slots know as little as at first.
#[test]
fn a_removal_leaves_what_a_refresh_had_a_choice_of() {
    for window in SOME_WINDOWS {
        for layout in layouts::<Growing>(window) {
            for seed in 0..30 {
                let builder = builder::<Growing>(1, window).layout(layout).seed(7);
                let mut filter = builder.build().expect("a small filter");
                let hash = rng(seed).random();
                let first = filter.slots() as u64 / u64::from(layout.slots_per_bucket());
                let Some(relatives) = relatives(hash, 7, (layout, first), 24) else { continue };
                let (old, [new, twin]) = (Hashed(hash), relatives.map(Hashed));
                let before = filter.insert(&old);
                // Both buckets are split, or one of them may be.
                let (most, mut others) = (filter.slots() * (seed as usize % 4 + 5) / 4, rng(1));
                while filter.slots() < most {
                    filter.insert(&Hashed(others.random())).expect("room to grow");
                }
                let generation = filter.insert(&new).expect("room");
                assert_eq!(before, Ok(generation));
                // Its own slot, and that of the old item.
                assert!(filter.count(&new) >= 2 && filter.count(&twin) >= 2, "{layout:?}");
                filter.advance();
                assert!(filter.refresh(&twin));
                match seed % 3 {
                    1 => filter = filter.clone(),
                    2 => assert!(shrink(&mut filter) == 0 || filter.contains(&new)),
                    _ => {}
                }
                // (Another item's slot may match, and know less.)
                filter.remove(&new, generation);
                assert!(filter.contains(&old), "{layout:?}: an item was lost");
                // It does not last longer than it should.
                (0..window).for_each(|_| _ = filter.advance());
                assert!(!filter.remove(&new, generation));
            }
        }
    }
}

/// Slots that belong to no item, of which there are many in large tables with short tails, make the
/// number of items an upper bound, and expire with the others.
#[test]
fn the_number_of_items_is_an_upper_bound() {
    for window in [1, 5, 13, 253] {
        let layout = layouts::<Growing>(window).min_by_key(|&layout| known_bits(layout));
        let new = builder::<Growing>(1, window).layout(layout.expect("a layout"));
        let mut filter = new.build().expect("a small filter");
        let (first, mut next) = (filter.slots(), 0_u64);
        // The items of each generation: how many are left, and those that can be removed.
        let mut items: Vec<(u64, usize, Vec<u64>)> = Vec::new();
        let most = first * scaled(32, 128);
        // Until all stamps were used twice.
        let most_steps = 2 * (window as usize + 3) + 20;
        let (mut cleared, mut is_exceeded) = (false, false);
        for step in 0..most_steps {
            // Tails run out of what comes while the filter grows so far.
            let count = match step {
                1 => most / 2,
                _ if filter.slots() < most => filter.slots() * 2 / (window as usize + 1),
                _ => filter.slots() / 2 / (window as usize + 1),
            };
            let count = count as u64 + 10;
            for key in next..next + count {
                filter.insert(&key).expect("room to grow");
            }
            let some = (next..next + count / 16).collect();
            items.push((filter.generation(), count as usize, some));
            next += count;
            let total = |items: &[(u64, usize, Vec<u64>)]| -> usize {
                items.iter().map(|&(_, count, _)| count).sum()
            };
            let what = format!("window {window}, step {step}");
            let is_bound = |filter: &GrowingExpiringFilter, items: &_| {
                (total(items)..=filter.slots()).contains(&filter.len())
            };
            assert!(is_bound(&filter, &items), "{what}, after inserts");
            is_exceeded |= filter.len() > total(&items);
            for (generation, count, some) in &mut items {
                for key in some.drain(some.len() / 2..) {
                    assert!(filter.remove(&key, *generation), "{what}");
                    *count -= 1;
                }
            }
            assert!(is_bound(&filter, &items), "{what}, after removals");
            match step % 7 {
                2 => {
                    let before = filter.len();
                    filter = filter.clone();
                    assert_eq!(filter.len(), before, "{what}");
                }
                4 if step > window as usize => _ = shrink(&mut filter),
                5 => while filter.sweep(1_000) > 0 {},
                6 if step > most_steps / 2 && !cleared => {
                    filter.clear();
                    items.clear();
                    cleared = true;
                    assert!(filter.is_empty(), "{what}");
                }
                1 => {
                    let copy = filter.clone();
                    copy.clear();
                    assert_eq!((copy.insert(&0), copy.len()), (Ok(copy.generation()), 1));
                }
                _ => {}
            }
            assert!(is_bound(&filter, &items), "{what}, after {}", step % 7);
            let now = filter.advance();
            items.retain(|&(generation, ..)| generation + u64::from(window) >= now);
            assert!(is_bound(&filter, &items), "{what}, in the next generation");
        }
        println!("window {window}: {first} slots, then {}", filter.slots());
        assert!(filter.slots() > 16 * first, "{} slots of {first}", filter.slots());
        assert!(is_exceeded, "a test in which some slots belong to no item");
        // What expires frees the slots that belong to no item, too.
        (0..=window).for_each(|_| _ = filter.advance());
        let slots = filter.slots();
        (0..filter.capacity() as u64 / 2).for_each(|key| _ = filter.insert(&key).expect("room"));
        assert_eq!(filter.slots(), slots);
    }
}

/// A filter that grows, and to which items come at a steady rate: it has room for those that are
/// found, and counts them exactly, whatever its splits have copied.
#[cfg(feature = "std")]
#[test]
fn a_steady_rate_with_a_ttl_does_not_make_it_grow() {
    let filter = ttl::builder::<Growing>(TTL, 1).build().expect("memory");
    let (each, mut peak) = (4_000, 0);
    for key in 0..each * scaled(40, 200) {
        filter.insert(&key).expect("room to grow");
        pass(INTERVAL / each);
        if key == 10 * each {
            peak = filter.slots();
        }
        if key % 777 == 0 && key > 8 * each {
            let found = 6 * each as usize - 1..=7 * each as usize + 1;
            assert!(found.contains(&filter.len()), "{} items", filter.len());
        }
    }
    assert!(filter.generation() > 40 && filter.slots() <= peak + peak / 8);
}

/// A filter from which many items have expired in a pause, and to which one came then.
#[cfg(feature = "std")]
fn after_a_pause(items: u64) -> GrowingExpiringFilter {
    let filter = ttl::builder::<Growing>(TTL, 1).build().expect("memory");
    (0..items).for_each(|key| _ = filter.insert(&key).expect("room to grow"));
    pass(2 * TTL);
    filter.insert(&items).expect("room");
    filter
}

/// What expired in a pause is given back, although only a write came since, which did not sweep it.
#[cfg(feature = "std")]
#[test]
fn what_expired_in_a_pause_is_given_back() {
    for steps in [1_000, u64::MAX] {
        let mut filter = after_a_pause(100_000);
        let grown = filter.size_in_bytes();
        while filter.shrink_step(steps) == Shrinking::Unfinished {}
        let left = filter.size_in_bytes();
        assert!(left < grown / 8 && filter.contains(&100_000), "{left} of {grown} bytes are left");
    }
}

/// As many items as expired in a pause find room.
#[cfg(feature = "std")]
#[test]
fn a_batch_after_a_pause_does_not_make_it_grow() {
    let filter = after_a_pause(100_000);
    let slots = filter.slots();
    filter.insert_batch(100_001..200_000).expect("room to grow");
    assert_eq!(filter.slots(), slots);
}

/// A sweep of a generation covers the buckets that were there when it began, however far the filter
/// grows, also in a copy.
#[test]
#[cfg(feature = "std")]
fn a_sweep_ends_where_it_began() {
    let filter = builder::<Growing>(1_000, 5).build().expect("memory");
    let per_bucket = filter.layout().slots_per_bucket() as usize;
    let buckets = |filter: &GrowingExpiringFilter| (filter.slots() / per_bucket) as u64;
    let grow = |keys: std::ops::Range<u64>| {
        let before = filter.slots();
        keys.for_each(|key| _ = filter.insert(&key).expect("room to grow"));
        assert!(filter.slots() > before + before / 2);
    };
    assert_eq!(left(&filter), 0, "there is nothing to sweep yet");
    filter.advance();
    let all = buckets(&filter);
    assert_eq!(left(&filter), all);
    // Growth sweeps a part.
    grow(0..3_000);
    let rest = left(&filter);
    assert!(rest <= all, "{rest} buckets are left of {all}");
    assert_eq!(filter.sweep(rest), 0);
    grow(3_000..9_000);
    assert_eq!(left(&filter), 0, "a sweep was complete, and goes on");
    let copy = GrowingExpiringFilter::loader().bytes(&filter.to_bytes()).expect("its own bytes");
    assert_eq!((left(&copy), left(&filter.clone())), (0, 0));
    assert!((0..9_000_u64).all(|key| copy.contains(&key)));
    filter.advance();
    assert_eq!(left(&filter), buckets(&filter));
}

/// A sweep that was complete in a larger filter is so after the filter has shrunk, and is saved.
#[test]
#[cfg(feature = "std")]
fn a_swept_filter_is_saved_after_it_has_shrunk() {
    let mut filter = builder::<Growing>(1_000, 5).build().expect("memory");
    (0..20_000_u64).for_each(|key| _ = filter.insert(&key).expect("room to grow"));
    (0..=filter.window()).for_each(|_| _ = filter.advance());
    filter.insert(&7).expect("room");
    while filter.sweep(1_000) > 0 {}
    assert!(shrink(&mut filter) > 0);
    let copy = GrowingExpiringFilter::loader().bytes(&filter.to_bytes()).expect("its own bytes");
    assert!(copy.contains(&7) && left(&copy) == 0);
}
