//! Steps that several operations share, for the callers that no other model covers.

use guira::{
    InsertError,
    raw::{FixedTable, FixedWords},
};
use guira_loom_tests::{Written, check, fingerprint, pair, publishes, put, spawn, table};
use loom::sync::Arc;

/// Catches an `insert_unique` that does not publish what it adds.
#[test]
fn unique_happens_before_a_hit() {
    let set_up = || Arc::new(table(2));
    let insert = |table: &FixedTable| {
        let item = fingerprint(table, 0, 1, 0, 0);
        assert_eq!(table.insert_unique::<FixedWords>(pair(table, item, 0)), Ok(true));
    };
    publishes("publish_unique", 32, set_up, insert, |table| {
        table.contains(pair(table, fingerprint(table, 0, 1, 0, 0), 0))
    });
}

/// Catches an `insert` that does not publish what it adds once its search has found a slot that
/// became empty meanwhile.
#[test]
fn insert_after_a_search_happens_before_a_hit() {
    check("publish_search", 215, &["found", "not yet", "full"], |seen| {
        let table = Arc::new(table(1));
        let [item, other, leaving] = [0, 1, 2].map(|nth| fingerprint(&table, 0, 0, 0, nth));
        put(&table, other, 0);
        put(&table, leaving, 0);
        let written = Written::new();
        let inserter = {
            let written = written.clone();
            spawn(&table, move |table| {
                written.write();
                table.insert::<FixedWords>(pair(table, item, 0))
            })
        };
        let remover = {
            let seen = seen.clone();
            spawn(&table, move |table| {
                assert!(table.remove::<FixedWords>(pair(table, leaving, 0)));
                if seen.note_if(table.contains(pair(table, item, 0)), "found", "not yet") {
                    written.assert();
                }
            })
        };
        remover.join().unwrap();
        if let Err(error) = inserter.join().unwrap() {
            assert_eq!(error, InsertError::Full);
            seen.note("full");
        }
    });
}
