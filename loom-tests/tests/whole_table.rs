//! Operations that hold all stripes, beside others: a table is cleared, or cloned.

use guira::{
    CuckooFilter,
    raw::{Fingerprint, Table},
};
use guira_loom_tests::{L, check, fingerprint, pair, put, put_each, relocate, spawn, table};
use loom::{cell::UnsafeCell, sync::Arc, thread};

/// Clears a table beside a move of an item of this stripe: the item is gone, wherever it stood.
fn clear_beside_a_move(name: &str, floor: usize, stripe: u32) {
    check(name, floor, &["moved", "cleared"], move |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, stripe, 0);
        put(&table, item, 1);
        let clearer = spawn(&table, |table| table.clear::<L>());
        let mover = spawn(&table, move |table| relocate(table, item, 1, 0));
        assert_eq!(clearer.join().unwrap(), 1, "cleared twice, or not at all");
        seen.note_if(mover.join().unwrap(), "moved", "cleared");
        assert_eq!(table.count::<L>(pair(&table, item, 0)), 0, "left behind");
    });
}

/// A clear beside a move in the first stripe.
#[test]
fn clear_beside_a_move_in_the_first_stripe() {
    clear_beside_a_move("clear_move_first", 23, 0);
}

/// A clear beside a move in the last stripe.
#[test]
fn clear_beside_a_move_in_the_last_stripe() {
    clear_beside_a_move("clear_move_last", 23, 1);
}

/// A clear beside an insert that must relocate.
#[test]
fn clear_beside_an_insert_that_relocates() {
    check("clear_path", 72, &["kept", "cleared"], |seen| {
        let table = Arc::new(table(3));
        let [near, far] = [0, 1].map(|nth| fingerprint(&table, 0, 2, 1, nth));
        let settled = fingerprint(&table, 1, 2, 1, 0);
        let incoming = fingerprint(&table, 0, 1, 0, 0);
        for (item, bucket) in [(near, 0), (far, 0), (settled, 1), (settled, 1)] {
            put(&table, item, bucket);
        }
        let clearer = spawn(&table, |table| table.clear::<L>());
        let inserter = spawn(&table, move |table| table.insert::<L>(pair(table, incoming, 0)));
        let cleared = clearer.join().unwrap();
        inserter.join().unwrap().expect("one move makes room");
        let left = table.count::<L>(pair(&table, incoming, 0));
        seen.note_if(left == 1, "kept", "cleared");
        assert_eq!(cleared + left as u64, 5);
        for (item, bucket) in [(near, 0), (far, 0), (settled, 1)] {
            assert_eq!(table.count::<L>(pair(&table, item, bucket)), 0, "left behind");
        }
    });
}

/// A clear beside an insert: the item is counted as cleared, or remains and is found.
#[test]
fn clear_beside_an_insert() {
    check("clear_insert", 28, &["kept", "cleared"], |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 0, 0);
        let clearer = spawn(&table, |table| table.clear::<L>());
        let inserter = spawn(&table, move |table| {
            table.insert::<L>(pair(table, item, 0)).expect("room");
        });
        let cleared = clearer.join().unwrap();
        inserter.join().unwrap();
        let left = table.count::<L>(pair(&table, item, 0));
        assert_eq!(cleared + left as u64, 1);
        seen.note_if(left == 1, "kept", "cleared");
        assert_eq!(table.contains::<L>(pair(&table, item, 0)), left == 1);
    });
}

/// What a clear removes happened before it.
#[test]
fn clear_after_what_it_removes() {
    check("publish_clear", 7, &["removed", "not yet"], |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 0, 0);
        let written = Arc::new(UnsafeCell::new(0));
        let inserter = {
            let written = written.clone();
            spawn(&table, move |table| {
                // SAFETY: no thread reads it before it has removed the item.
                written.with_mut(|written| unsafe { *written = 1 });
                table.insert::<L>(pair(table, item, 0)).expect("room");
            })
        };
        if seen.note_if(table.clear::<L>() == 1, "removed", "not yet") {
            // SAFETY: written before the insert, and not since.
            written.with(|written| assert_eq!(unsafe { *written }, 1));
        }
        inserter.join().unwrap();
    });
}

/// Two clears at once, which take all locks in one order, beside a move.
#[test]
fn clear_beside_another() {
    check("clear_clear", 40, &["first", "second"], |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 1, 0);
        put(&table, item, 1);
        let [first, second] = [(); 2]
            .map(|()| spawn(&table, |table| table.clear::<L>()))
            .map(|clearer| clearer.join().unwrap());
        assert_eq!(first + second, 1);
        seen.note_if(first == 1, "first", "second");
    });
}

/// A lookup of an item that is inserted once the table has been cleared, beside its move.
#[test]
fn lookup_of_an_item_inserted_after_a_clear() {
    check("clear_lookup", 11900, &["found", "not yet"], |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 0, 0);
        put(&table, item, 1);
        let inserted = Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let writer = {
            let inserted = inserted.clone();
            spawn(&table, move |table| {
                assert_eq!(table.clear::<L>(), 1);
                put(table, item, 1);
                inserted.store(true, std::sync::atomic::Ordering::Release);
                assert!(relocate(table, item, 1, 0));
            })
        };
        let was_inserted = inserted.load(std::sync::atomic::Ordering::Acquire);
        let found = table.contains::<L>(pair(&table, item, 0));
        assert!(found || !was_inserted, "an item that is present all the time was missed");
        seen.note_if(was_inserted, "found", "not yet");
        writer.join().unwrap();
    });
}

/// The copies of an item in both buckets of a clone.
fn cloned(table: &Table, item: Fingerprint) -> usize {
    let (clone, occupied) = table.try_clone::<L>(false).expect("memory for a few words");
    let copies = clone.count::<L>(pair(&clone, item, 0));
    assert_eq!(occupied, copies as u64);
    copies
}

/// A clone beside a move there and back.
#[test]
fn clone_beside_a_move_and_back() {
    check("clone_move_and_back", 31, &["done"], |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 0, 0);
        put(&table, item, 1);
        let cloner = spawn(&table, move |table| assert_eq!(cloned(table, item), 1));
        let mover = spawn(&table, move |table| {
            assert!(relocate(table, item, 1, 0) && relocate(table, item, 0, 1));
        });
        cloner.join().unwrap();
        mover.join().unwrap();
        seen.note("done");
    });
}

/// Two clones at once, beside a removal and an insert.
#[test]
fn clone_beside_another() {
    check("clone_clone", 58, &["done"], |seen| {
        let table = Arc::new(table(2));
        let item = fingerprint(&table, 0, 1, 1, 0);
        put_each(&table, item, &[0, 1]);
        let cloners = [(); 2]
            .map(|()| spawn(&table, move |table| assert!((1..=2).contains(&cloned(table, item)))));
        assert!(table.remove::<L>(pair(&table, item, 0)));
        for cloner in cloners {
            cloner.join().unwrap();
        }
        seen.note("done");
    });
}

/// The number of items of a filter that is cleared beside an insert.
#[test]
fn len_beside_a_clear() {
    check("len_clear", 12, &["kept", "cleared"], |seen| {
        let filter = CuckooFilter::builder().capacity(4).seed(1).build().expect("memory");
        let filter = Arc::new(filter);
        filter.by_hash().insert(1).expect("room");
        let clearer = {
            let filter = filter.clone();
            thread::spawn(move || filter.clear())
        };
        filter.by_hash().insert(2).expect("room");
        clearer.join().unwrap();
        let kept = seen.note_if(filter.by_hash().contains(2), "kept", "cleared");
        assert_eq!(filter.len(), usize::from(kept));
    });
}
