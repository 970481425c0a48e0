//! Corner cases of tables that grow, which random sequences hardly reach.

use guira::{
    Shrinking,
    raw::{Aged, Code, GrowingLayout, GrowingTable, Item, Leveled, Limits, Payload, Place, Side},
};

/// Three slots of 20 bits. With stamps of 4 bits, tails have 7 bits at most.
type L = Leveled<3, 8>;
/// Two slots of 30 bits.
type Two = Leveled<2, 8>;

/// The item with this core, bucket at level 0, and extension.
fn item<P: Payload, L: GrowingLayout>(
    table: &GrowingTable<P>,
    core: u64,
    start: u32,
    bits: u64,
) -> Item {
    let core = core << table.growth().payload().value_bits();
    let side = Side { start, code: Code { core, extension: 1 << L::EXTENSION | bits } };
    Item { sides: [side, table.growth().other(side)] }
}

/// A false positive may be refreshed, and takes the only slot of another item with it. A removal of
/// that item must not take the slot of a third one, which knows less and has the stamp.
#[test]
fn a_removal_after_the_refresh_of_a_false_positive_takes_nothing() {
    const WINDOW: u32 = 13;
    let limits = Limits { buckets: 512, load: 256 };
    let aged = Aged::new(4, WINDOW, u64::from(WINDOW));
    let table = GrowingTable::<Aged>::holding::<L>(aged, 16, limits, 8, (false, false));
    let table = table.expect("memory");
    // The first eight buckets are at level 1, the others at level 0.
    assert!(table.split_one::<L>());
    let of = |core, bits| item::<_, L>(&table, core, 0, bits);
    let core = (0..256).find(|&core| of(core, 0).sides[1].start >= 8).expect("one of many");
    // What a slot knows at level 1, and not at level 0, is the 8th bit.
    let (item, less, alias) = (of(core, 0), of(core, 1 << 7), of(core, 1 << 8));
    let generation = table.insert_for::<L>(item, WINDOW).expect("room");
    assert_eq!(table.advance::<L>(), generation + 1);
    assert!(table.refresh::<L>(alias), "the slot knows 8 bits");
    // Into the emptier bucket, at level 0.
    assert_eq!(table.insert_for::<L>(less, WINDOW - 1), Ok(generation));
    assert!(!table.remove_of::<L>(item, generation));
    assert!(table.is_visible::<L>(less) && table.is_visible::<L>(item));
    // Once nothing that was refreshed is visible, a removal depends on the stamp alone.
    while table.clock().generation() < generation + 1 + u64::from(WINDOW) {
        table.advance::<L>();
    }
    table.advance::<L>();
    let generation = table.insert_for::<L>(less, WINDOW).expect("room");
    assert!(table.remove_of::<L>(less, generation) && !table.is_visible::<L>(less));
}

/// A bucket that was split ahead of its turn, and whose slots fit nowhere else, stays in use when
/// the table shrinks, and so does the memory of its child.
#[test]
fn a_child_that_cannot_be_given_up_keeps_its_memory() {
    for bucket in 1..256 {
        let limits = Limits { buckets: 1_024, load: 256 };
        let table = GrowingTable::new::<Two>(256, limits, 8, (false, false));
        let mut table = table.expect("memory");
        assert_eq!(table.split_early::<Two>(Place { bucket, level: 0 }), Ok(true));
        let of = |core, bits| item::<_, Two>(&table, core, bucket, bits);
        // Both sides of such an item begin in the bucket.
        let Some(core) = (0..256).find(|&core| of(core, 0).sides[1].start == bucket) else {
            continue;
        };
        let items: Vec<Item> = (0..64).map(|bits| of(core, bits)).collect();
        let kept: Vec<Item> = items
            .into_iter()
            .filter(|item| table.insert_unique::<Two>(*item) == Ok(true))
            .take(3)
            .collect();
        assert_eq!(kept.len(), 3, "{bucket}");
        assert_ne!(table.shrink::<Two>(u64::MAX), Shrinking::Unfinished);
        assert_eq!(table.in_use(), 257);
        assert!(kept.iter().all(|item| table.contains::<Two>(*item)), "{bucket}");
    }
}
