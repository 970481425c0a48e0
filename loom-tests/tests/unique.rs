//! `insert_unique`: at most one of several adds an item, and none fails for want of room that there is.

use guira::{
    InsertError,
    raw::{Table, Fingerprint},
};
use guira_loom_tests::{L, check, check_deep, fingerprint, pair, put, relocate, spawn, table};
use loom::sync::Arc;

#[test]
fn beside_itself() {
    check("unique_unique", 25, &["first", "second"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        let [first, second] = [0, 1]
            .map(|from| {
                spawn(&core, move |core| core.insert_unique::<L>(pair(core, item, from)).unwrap())
            })
            .map(|inserter| inserter.join().unwrap());
        assert!(first != second, "added by {}", if first { "both" } else { "neither" });
        seen.note_if(first, "first", "second");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 1);
    });
}

#[test]
fn beside_a_removal() {
    check("unique_remove", 25, &["added", "was present"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let remover = spawn(&core, move |core| assert!(core.remove::<L>(pair(core, item, 0))));
        let inserter =
            spawn(&core, move |core| core.insert_unique::<L>(pair(core, item, 0)).unwrap());
        remover.join().unwrap();
        let added = seen.note_if(inserter.join().unwrap(), "added", "was present");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), usize::from(added));
    });
}

#[test]
fn beside_a_move() {
    check("unique_move", 23, &["present"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        put(&core, item, 1);
        let mover = spawn(&core, move |core| assert!(relocate(core, item, 1, 0)));
        let inserter =
            spawn(&core, move |core| core.insert_unique::<L>(pair(core, item, 0)).unwrap());
        mover.join().unwrap();
        assert!(!inserter.join().unwrap(), "added an item that was present all the time");
        seen.note("present");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 1);
    });
}

/// A plain insert takes no lock; together they are still in some order.
#[test]
fn beside_a_plain_insert() {
    check("unique_insert", 35, &["added", "was present"], |seen| {
        let core = Arc::new(table(2));
        let item = fingerprint(&core, 0, 1, 0, 0);
        let plain = spawn(&core, move |core| core.insert::<L>(pair(core, item, 0)).unwrap());
        let unique =
            spawn(&core, move |core| core.insert_unique::<L>(pair(core, item, 1)).unwrap());
        plain.join().unwrap();
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 1 + usize::from(added));
    });
}

/// Three buckets, of which 0 and 1 are full; `movers` of those in 0 can go to 2. Returns who is in.
fn crowded(core: &Table, movers: [u32; 2]) -> Vec<Fingerprint> {
    let mut all = Vec::new();
    for (nth, other) in movers.into_iter().enumerate() {
        // Of the stripe that the newcomers are of, which is what makes a kept lock wait for itself.
        all.push((fingerprint(core, 0, other, 0, 3 + nth), 0));
    }
    for nth in 0..2 {
        all.push((fingerprint(core, 1, 0, 1, nth), 1));
    }
    all.into_iter()
        .map(|(item, bucket)| {
            put(core, item, bucket);
            item
        })
        .collect()
}

/// Fails unless every item of [`crowded`] is still there, once.
fn assert_all_there(core: &Table, all: &[Fingerprint], movers: [u32; 2]) {
    for (nth, &item) in all.iter().enumerate() {
        let bucket = u32::from(nth >= movers.len());
        assert_eq!(core.count::<L>(pair(core, item, bucket)), 1, "lost or doubled");
    }
}

/// Two calls with one item, whose buckets are both full: both look for room, one adds.
fn beside_itself_making_room_by(name: &str, floor: usize, movers: [u32; 2]) {
    check(name, floor, &["first", "second"], move |seen| {
        let core = Arc::new(table(3));
        let all = crowded(&core, movers);
        let item = fingerprint(&core, 0, 1, 0, 0);
        let [first, second] = [0, 1]
            .map(|from| spawn(&core, move |core| core.insert_unique::<L>(pair(core, item, from))))
            .map(|inserter| inserter.join().unwrap());
        assert!(
            matches!((first, second), (Ok(true), Ok(false)) | (Ok(false), Ok(true))),
            "{first:?} and {second:?}"
        );
        seen.note_if(first == Ok(true), "first", "second");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 1);
        assert_all_there(&core, &all, movers);
    });
}

/// There is room to be made for one of the two: the other must not say that the table is full.
#[test]
fn beside_itself_making_room() {
    beside_itself_making_room_by("unique_unique_making_room", 160, [2, 1]);
}

/// There is room to be made for both: the other must look again whether the item is there.
#[test]
fn beside_itself_making_room_twice() {
    beside_itself_making_room_by("unique_unique_making_room_twice", 160, [2, 2]);
}

/// Two items make room in the same bucket, where one can: the other is told `Full`, or it finds the
/// lane before the first does.
#[test]
fn two_items_making_room_for_one() {
    check("unique_two_items_one_lane", 156, &["first", "second"], |seen| {
        let core = Arc::new(table(3));
        let movers = [2, 1];
        let all = crowded(&core, movers);
        let items = [0, 1].map(|nth| fingerprint(&core, 0, 1, 0, nth));
        let [first, second] = items
            .map(|item| spawn(&core, move |core| core.insert_unique::<L>(pair(core, item, 0))))
            .map(|inserter| inserter.join().unwrap());
        let added = [first == Ok(true), second == Ok(true)];
        assert!(added[0] != added[1], "{first:?} and {second:?}");
        assert!([first, second].contains(&Err(InsertError::Full)), "{first:?} and {second:?}");
        seen.note_if(added[0], "first", "second");
        for (item, added) in items.into_iter().zip(added) {
            assert_eq!(core.count::<L>(pair(&core, item, 0)), usize::from(added));
        }
        assert_all_there(&core, &all, movers);
    });
}

/// A plain insert takes the lane that `insert_unique` has made room in; it makes room again.
#[test]
fn beside_a_thief_of_the_room_made() {
    check("unique_thief", 208, &["done"], |seen| {
        let core = Arc::new(table(3));
        let movers = [2, 2];
        let all = crowded(&core, movers);
        let item = fingerprint(&core, 0, 1, 0, 0);
        let stolen = fingerprint(&core, 0, 1, 1, 3);
        let unique = spawn(&core, move |core| core.insert_unique::<L>(pair(core, item, 0)));
        let thief = spawn(&core, move |core| core.insert::<L>(pair(core, stolen, 0)));
        assert_eq!(unique.join().unwrap(), Ok(true));
        assert_eq!(thief.join().unwrap(), Ok(()));
        seen.note("done");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 1);
        assert_eq!(core.count::<L>(pair(&core, stolen, 0)), 1);
        assert_all_there(&core, &all, movers);
    });
}

/// While one thread makes room for an item, another puts that item in: the scan after making room
/// must see it.
#[test]
fn making_room_beside_a_plain_insert_of_the_same() {
    check("unique_making_room_insert", 208, &["added", "was present"], |seen| {
        let core = Arc::new(table(3));
        let movers = [2, 2];
        let all = crowded(&core, movers);
        let item = fingerprint(&core, 0, 1, 0, 0);
        let unique =
            spawn(&core, move |core| core.insert_unique::<L>(pair(core, item, 0)).unwrap());
        let plain = spawn(&core, move |core| core.insert::<L>(pair(core, item, 0)).unwrap());
        plain.join().unwrap();
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert_eq!(core.count::<L>(pair(&core, item, 0)), 1 + usize::from(added));
        assert_all_there(&core, &all, movers);
    });
}

/// A plain insert takes the last lane, gives it back, and takes it again. At every moment there is the
/// item, or room for it: `Full` would be wrong.
#[test]
fn beside_an_insert_that_toggles_the_last_lane() {
    check_deep(6, "unique_toggle", 1_500, &["added", "was present"], |seen| {
        let core = Arc::new(table(1));
        let item = fingerprint(&core, 0, 0, 0, 0);
        put(&core, fingerprint(&core, 0, 0, 1, 0), 0);
        let toggler = spawn(&core, move |core| {
            let toggle = || core.insert::<L>(pair(core, item, 0)).is_ok();
            toggle() && core.remove::<L>(pair(core, item, 0)) && toggle()
        });
        let unique = spawn(&core, move |core| core.insert_unique::<L>(pair(core, item, 0)));
        toggler.join().unwrap();
        let added = unique.join().unwrap().expect("there was the item, or room for it");
        seen.note_if(added, "added", "was present");
    });
}
