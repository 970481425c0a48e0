//! Merges into a table that other threads use, and merges that are refused and undone.

use guira::raw::{Fingerprint, FixedTable, FixedWords, MergeRefusal, Merged};
use guira_loom_tests::{
    EVERY_WAY, Written, check, copies, fingerprint, look_up_beside, pair, put, put_each, relocate,
    spawn, table, with_copies,
};
use loom::{sync::Arc, thread};

/// A merge with a table that holds these fingerprints in these buckets. They come in this order:
/// give them with ascending buckets.
fn merge(
    target: &FixedTable,
    limit: Option<usize>,
    held: &[(Fingerprint, u32)],
) -> Result<(), MergeRefusal> {
    let source = table(2);
    for &(item, bucket) in held {
        put(&source, item, bucket);
    }
    let Merged { change, outcome } = target.merge(&source, limit);
    let added = outcome.map_or(0, |()| held.len());
    assert_eq!(change, added as i64, "the number of items is wrong");
    outcome
}

/// Returns a table with one empty slot, in bucket 1, and with an item in bucket 0; the item; and
/// another one, of which nothing is in the table.
fn nearly_full() -> (Arc<FixedTable>, Fingerprint, Fingerprint) {
    let table = table(2);
    let item = fingerprint(&table, 0, 1, 0, 0);
    // Their high parts differ from that of the item, so that a comparison of high parts settles the
    // answer in semi-sorted words, too.
    let differs = |other: &Fingerprint| other.get() >> 4 != item.get() >> 4;
    let mut others = (0..).map(|nth| fingerprint(&table, 0, 1, 1, nth)).filter(differs);
    let [first, second, other] = [(); 3].map(|()| others.next().expect("enough fingerprints"));
    put(&table, item, 0);
    put(&table, first, 0);
    put(&table, second, 1);
    (Arc::new(table), item, other)
}

/// The refusal of a merge of two items for which there is one slot.
const ONE_FITTED: Result<(), MergeRefusal> = Err(MergeRefusal::Full { fitted: 1, items: 2 });

/// Catches a lookup that misses an item while a refused merge adds an alias and removes the item's
/// own copy.
#[test]
fn lookup_beside_a_refused_merge() {
    check("merge_refused_lookup", 10_000, EVERY_WAY, |seen| {
        let (table, item, other) = nearly_full();
        // It reads bucket 1 first: there the merge adds its copy, and from bucket 0 it removes one.
        look_up_beside(&table, seen, pair(&table, item, 1), move |table| {
            assert_eq!(merge(table, None, &[(item, 0), (other, 1)]), ONE_FITTED);
        });
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1, "not undone");
    });
}

/// Catches a refused merge that removes the same copy as another thread.
#[test]
fn removal_beside_a_refused_merge() {
    check("merge_refused_removal", 95, &["both fit", "refused"], |seen| {
        let (table, item, other) = nearly_full();
        let remover = spawn(&table, move |table| table.remove::<FixedWords>(pair(table, item, 1)));
        let merger = spawn(&table, move |table| merge(table, None, &[(item, 0), (other, 1)]));
        assert!(remover.join().unwrap(), "found nothing to remove");
        let outcome = merger.join().unwrap();
        let fits = seen.note_if(outcome.is_ok(), "both fit", "refused");
        assert!(fits || outcome == ONE_FITTED, "{outcome:?}");
        let left = [item, other].map(|item| table.count::<FixedWords>(pair(&table, item, 0)));
        assert_eq!(left, [usize::from(fits); 2], "lost, or not undone");
    });
}

/// Catches a refused merge that removes what was inserted after a `clear` took what it had added.
#[test]
fn refused_merge_beside_a_clear_and_an_insert() {
    check("merge_refused_clear", 6_500, &["1", "2"], |seen| {
        let (table, item) = with_copies(&[]);
        let other = fingerprint(&table, 0, 1, 1, 0);
        let clearer = spawn(&table, move |table| {
            let _ = table.clear();
            table.insert::<FixedWords>(pair(table, item, 1)).expect("an empty slot");
        });
        // Both are threads of their own, so that switching to the first of them is no preemption.
        let merger = spawn(&table, move |table| {
            let source = self::table(2);
            put(&source, item, 0);
            put_each(&source, other, &[1, 1]);
            // Refused, unless the clear comes between the two copies.
            table.merge(&source, Some(1)).outcome
        });
        clearer.join().unwrap();
        let outcome = merger.join().unwrap();
        let left = table.count::<FixedWords>(pair(&table, item, 0));
        assert!(left >= 1, "removed instead of its alias: {outcome:?}");
        seen.note(if left == 1 { "1" } else { "2" });
    });
}

/// Catches merges that hold locks of the other table: they deadlock. Also catches a merge that
/// leaves out a copy.
#[test]
fn opposite_merges() {
    check("merge_opposite", 42, &["1, 1", "1, 2", "2, 1"], |seen| {
        let tables = [Arc::new(table(2)), Arc::new(table(2))];
        let items = [0, 1].map(|stripe| fingerprint(&tables[0], 0, 1, stripe, 0));
        put(&tables[0], items[0], 0);
        put(&tables[1], items[1], 1);
        let other = tables.clone();
        let merger = thread::spawn(move || other[0].merge(&other[1], None).outcome);
        assert_eq!(tables[1].merge(&tables[0], None).outcome, Ok(()));
        assert_eq!(merger.join().unwrap(), Ok(()));
        let count = |table: &FixedTable, item| table.count::<FixedWords>(pair(table, item, 0));
        // The one that copies last also copies what the other one has added.
        let own = [0, 1].map(|number| count(&tables[number], items[number]));
        seen.note(match own {
            [1, 1] => "1, 1",
            [1, 2] => "1, 2",
            [2, 1] => "2, 1",
            _ => panic!("{own:?} copies"),
        });
        assert_eq!([count(&tables[0], items[1]), count(&tables[1], items[0])], [1; 2]);
    });
}

/// Catches a merge with itself that waits for itself, or adds less than every copy.
#[test]
fn with_itself_beside_a_removal() {
    check("merge_itself", 32, &["doubled, then removed", "removed before"], |seen| {
        let (table, item) = with_copies(&[]);
        let other = fingerprint(&table, 0, 1, 1, 0);
        put(&table, item, 0);
        put(&table, other, 1);
        let remover = spawn(&table, move |table| table.remove::<FixedWords>(pair(table, item, 0)));
        assert_eq!(table.merge(&table, None).outcome, Ok(()));
        assert!(remover.join().unwrap(), "found nothing to remove");
        let count = |item| table.count::<FixedWords>(pair(&table, item, 0));
        assert_eq!(count(other), 2);
        assert!(count(item) <= 1, "added twice");
        seen.note_if(count(item) == 1, "doubled, then removed", "removed before");
    });
}

/// Catches a hit on a merged item that does not happen after the insert into the other table.
#[test]
fn a_hit_happens_after_the_insert_into_the_source() {
    check("merge_publishes", 165, &["hit", "miss"], |seen| {
        let tables = [Arc::new(table(2)), Arc::new(table(2))];
        let item = fingerprint(&tables[0], 0, 1, 0, 0);
        let written = Written::new();
        let inserter = {
            let written = written.clone();
            spawn(&tables[0], move |source| {
                written.write();
                source.insert::<FixedWords>(pair(source, item, 0)).unwrap();
            })
        };
        let [source, target] = tables.clone();
        let merger = thread::spawn(move || target.merge(&source, None).outcome);
        let hit = tables[1].contains(pair(&tables[1], item, 0));
        if seen.note_if(hit, "hit", "miss") {
            written.assert();
        }
        inserter.join().unwrap();
        assert_eq!(merger.join().unwrap(), Ok(()));
    });
}

/// Catches a merged copy that is lost, or taken for a copy too many, beside `insert_unique`.
#[test]
fn insert_unique_beside_a_merge() {
    check("merge_unique", 26, &["added", "was present"], |seen| {
        let (table, item) = with_copies(&[]);
        let unique = spawn(&table, move |table| {
            table.insert_unique::<FixedWords>(pair(table, item, 1)).unwrap()
        });
        let merger = spawn(&table, move |table| merge(table, None, &[(item, 0)]));
        assert_eq!(merger.join().unwrap(), Ok(()));
        let added = seen.note_if(unique.join().unwrap(), "added", "was present");
        assert_eq!(copies(&table, item, 0) + copies(&table, item, 1), 1 + usize::from(added));
    });
}

/// Catches a merge that ignores the limit, or counts an item twice that is being moved.
#[test]
fn limit_beside_a_move() {
    check("merge_limit_move", 190, &["done"], |seen| {
        let (table, item) = with_copies(&[1]);
        let mover = spawn(&table, move |table| assert!(relocate(table, item, 1, 0)));
        assert_eq!(merge(&table, Some(2), &[(item, 0)]), Ok(()), "there was one copy throughout");
        mover.join().unwrap();
        let refused = Err(MergeRefusal::TooManyCopies);
        assert_eq!(merge(&table, Some(2), &[(item, 0)]), refused);
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 2);
        seen.note("done");
    });
}
