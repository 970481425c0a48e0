//! Filters that have grown, where slots know different parts of their items, and where there are
//! slots that belong to no item.

use guira::{GrowingExpiringFilter, Hashed, Layout, kind::Growing, raw::mix};
use rand::RngExt;

use super::{
    builder,
    common::{chosen::unmix, rng, scaled},
    layouts,
};

/// The seed of the filters.
pub const SEED: u64 = 7;

/// The bits of an item's extension that each slot knows.
pub fn known_bits(layout: Layout) -> u32 {
    let core = [8, 8, 7, 6][layout.slots_per_bucket() as usize - 2];
    layout.fingerprint_bits() - core
}

/// The key of a mixed hash with other bits of the extension: after those that each slot knows, the
/// first bit is bit 0.
pub fn relative(mixed: u64, layout: Layout, bits: u64) -> Hashed {
    // As in `docs::snapshots`.
    let mixing_seed = mix(SEED + 0x9e37_79b9_7f4a_7c15, 0);
    Hashed(unmix(mixed ^ bits << (32 + known_bits(layout)).min(61), mixing_seed))
}

/// The layout for this window whose slots know least.
pub fn shortest(window: u32) -> Layout {
    layouts::<Growing>(window).min_by_key(|&layout| known_bits(layout)).expect("a layout")
}

/// A filter with this layout.
pub fn filter(window: u32, layout: Layout) -> GrowingExpiringFilter {
    let builder = builder::<Growing>(1, window).layout(layout).seed(SEED);
    builder.build().expect("a small filter")
}

/// Inserts other items until the filter has so many slots.
fn grow(filter: &GrowingExpiringFilter, slots: usize) {
    let mut rng = rng(1);
    while filter.slots() < slots {
        filter.insert(&Hashed(rng.random())).expect("room to grow");
    }
}

/// An old item, an alias of it that slots distinguish in a larger table, and an alias of that one
/// which they do not.
struct Aliases {
    filter: GrowingExpiringFilter,
    old: Hashed,
    new: Hashed,
    twin: Hashed,
}

impl Aliases {
    /// The old item was inserted before the filter grew, and the new one afterwards. Some filters have
    /// grown so far that both buckets were split, others so far that one of them may be.
    fn new(window: u32, layout: Layout, seed: u64) -> (Self, u64) {
        let (filter, mixed) = (filter(window, layout), rng(seed).random());
        let [old, new, twin] = [0, 1, 3].map(|bits| relative(mixed, layout, bits));
        let before = filter.insert(&old);
        grow(&filter, filter.slots() * (seed as usize % 4 + 5) / 4);
        let generation = filter.insert(&new).expect("room");
        assert_eq!(before, Ok(generation));
        // Its own slot, and that of the old item.
        assert!(filter.count(&new) >= 2 && filter.count(&twin) >= 2, "{layout:?}");
        (Self { filter, old, new, twin }, generation)
    }

    fn check(&self, layout: Layout) {
        assert!(self.filter.contains(&self.old), "{layout:?}: an item was lost");
    }
}

/// Of two slots with the stamp, a removal takes the one that knows more: the other one is all that
/// the old item has.
#[test]
fn a_removal_takes_the_slot_that_knows_most() {
    for window in [1, 5, 13, 253] {
        for layout in layouts::<Growing>(window) {
            for seed in 0..20 {
                let (aliases, generation) = Aliases::new(window, layout, seed);
                let Aliases { filter, new, .. } = &aliases;
                assert!(filter.remove(new, generation));
                aliases.check(layout);
            }
        }
    }
}

/// After the refresh of a twin has taken the slot of the new item, the slot of the old one is the
/// only one with the stamp that both had. A removal of the new item leaves it: also in clones.
#[test]
fn a_removal_leaves_what_a_refresh_had_a_choice_of() {
    for window in [1, 5, 13, 253] {
        for layout in layouts::<Growing>(window) {
            for seed in 0..10 {
                let (mut aliases, generation) = Aliases::new(window, layout, seed);
                aliases.filter.advance();
                assert!(aliases.filter.refresh(&aliases.twin));
                if seed % 2 == 1 {
                    aliases.filter = aliases.filter.clone();
                }
                let Aliases { filter, new, .. } = &aliases;
                // (Another item's slot may match, and know less.)
                filter.remove(new, generation);
                aliases.check(layout);
                // It does not last longer than it should.
                (0..window).for_each(|_| _ = filter.advance());
                assert!(!filter.remove(new, generation));
            }
        }
    }
}

/// After a shrink, slots know as little as at first, and no item is lost.
#[test]
fn no_alias_is_lost_when_it_shrinks() {
    for window in [1, 5, 13, 253] {
        for layout in layouts::<Growing>(window) {
            for seed in 0..10 {
                let (mut aliases, generation) = Aliases::new(window, layout, seed);
                aliases.filter.advance();
                // All that made it grow is removed, or expires later.
                assert!(aliases.filter.refresh(&aliases.twin));
                aliases.filter.shrink_to_fit();
                assert!(aliases.filter.contains(&aliases.new));
                aliases.filter.remove(&aliases.new, generation);
                aliases.check(layout);
            }
        }
    }
}

/// Slots that belong to no item, of which there are many in large tables with short tails, do not
/// count as items, in no generation, and expire with the others.
#[test]
fn slots_of_no_item_do_not_count() {
    for window in [1, 5, 13, 253] {
        let mut filter = filter(window, shortest(window));
        let (first, mut next) = (filter.slots(), 0_u64);
        // The items of each generation: how many are left, and those that can be removed.
        let mut items: Vec<(u64, usize, Vec<u64>)> = Vec::new();
        let most = first * scaled(32, 128);
        // Until all stamps were used twice.
        let (most_steps, mut cleared) = (2 * (window as usize + 3) + 20, false);
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
            assert_eq!(filter.len(), total(&items), "{what}, after inserts");
            for (generation, count, some) in &mut items {
                for key in some.drain(some.len() / 2..) {
                    assert!(filter.remove(&key, *generation), "{what}");
                    *count -= 1;
                }
            }
            assert_eq!(filter.len(), total(&items), "{what}, after removals");
            match step % 7 {
                2 => filter = filter.clone(),
                4 if step > window as usize => _ = filter.shrink_to_fit(),
                5 => while filter.sweep(1_000) > 0 {},
                6 if step > most_steps / 2 && !cleared => {
                    filter.clear();
                    items.clear();
                    cleared = true;
                }
                1 => {
                    let copy = filter.clone();
                    copy.clear();
                    assert_eq!((copy.insert(&0), copy.len()), (Ok(copy.generation()), 1));
                }
                _ => {}
            }
            assert_eq!(filter.len(), total(&items), "{what}, after {}", step % 7);
            let now = filter.advance();
            items.retain(|&(generation, ..)| generation + u64::from(window) >= now);
            assert_eq!(filter.len(), total(&items), "{what}, in the next generation");
        }
        println!("window {window}: {first} slots, then {}", filter.slots());
        assert!(filter.slots() > 16 * first, "{} slots of {first}", filter.slots());
        // What expires frees the slots that belong to no item, too.
        (0..=window).for_each(|_| _ = filter.advance());
        let slots = filter.slots();
        (0..filter.capacity() as u64 / 2).for_each(|key| _ = filter.insert(&key).expect("room"));
        assert_eq!(filter.slots(), slots);
    }
}
