//! Inserts with a limit on copies: what they decide beside moves, removals, and other inserts.

use guira::{
    InsertError,
    raw::{FixedTable, FixedWords},
};
use guira_loom_tests::{check, pair, relocate, spawn, with_copies};

/// Inserts an item, of which there is a copy in bucket 1, while this copy moves to bucket 0.
fn insert_beside_a_move(name: &str, limit: usize, expected: Result<(), InsertError>) {
    check(name, 450, &["done"], move |seen| {
        let (table, item) = with_copies(&[1]);
        let inserter = spawn(&table, move |table| {
            table.insert_up_to::<FixedWords>(limit, pair(table, item, 0))
        });
        let mover = spawn(&table, move |table| assert!(relocate(table, item, 1, 0)));
        assert_eq!(inserter.join().unwrap(), expected, "there was one copy throughout");
        mover.join().unwrap();
        let copies = table.count::<FixedWords>(pair(&table, item, 0));
        assert_eq!(copies, 1 + usize::from(expected.is_ok()));
        seen.note("done");
    });
}

/// Catches an insert that exceeds the limit because it misses a copy that is being moved.
#[test]
fn limit_reached_beside_a_move() {
    insert_beside_a_move("limit_reached_move", 1, Err(InsertError::TooManyCopies));
}

/// Catches an insert that is refused below the limit because a half-done move counts twice.
#[test]
fn limit_not_reached_beside_a_move() {
    insert_beside_a_move("limit_not_reached_move", 2, Ok(()));
}

/// Catches an insert that is refused although a copy had been removed before it began.
#[test]
fn limit_beside_a_removal() {
    check("limit_removal", 290, &["inserted", "too many"], |seen| {
        let (table, item) = with_copies(&[0, 1]);
        let inserter =
            spawn(&table, move |table| table.insert_up_to::<FixedWords>(2, pair(table, item, 0)));
        let remover =
            spawn(&table, move |table| assert!(table.remove::<FixedWords>(pair(table, item, 0))));
        let outcome = inserter.join().unwrap();
        remover.join().unwrap();
        let is_in = seen.note_if(outcome.is_ok(), "inserted", "too many");
        assert!(is_in || outcome == Err(InsertError::TooManyCopies), "{outcome:?}");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1 + usize::from(is_in));
    });
}

/// Catches two inserts that are both refused, or that exceed the limit by more than one copy.
#[test]
fn limit_of_two_inserts() {
    check("limit_two_inserts", 145, &["one", "both"], |seen| {
        let (table, item) = with_copies(&[1]);
        let insert = move |table: &FixedTable, from| {
            table.insert_up_to::<FixedWords>(2, pair(table, item, from)).is_ok()
        };
        let inserters = [0, 1].map(|from| spawn(&table, move |table| insert(table, from)));
        let outcomes = inserters.map(|inserter| inserter.join().unwrap());
        let accepted = outcomes.into_iter().filter(|&is_in| is_in).count();
        assert!(accepted > 0, "both were refused below the limit");
        seen.note_if(accepted == 1, "one", "both");
        assert_eq!(table.count::<FixedWords>(pair(&table, item, 0)), 1 + accepted);
        assert!(!insert(&table, 0), "the limit has been reached");
    });
}

/// Catches threads that add more than one copy each because none sees what the others have added.
/// Their items are aliases, which begin with different buckets.
#[test]
fn limit_of_two_threads() {
    check("limit_two_threads", 730, &["reached", "exceeded"], |seen| {
        let (table, item) = with_copies(&[]);
        let inserters = [0, 1].map(|from| {
            let insert = move |table: &FixedTable| {
                table.insert_up_to::<FixedWords>(2, pair(table, item, from))
            };
            spawn(&table, move |table| [insert(table).is_ok(), insert(table).is_ok()])
        });
        for inserter in inserters {
            inserter.join().unwrap();
        }
        let copies = table.count::<FixedWords>(pair(&table, item, 0));
        assert!(copies == 2 || copies == 3, "{copies} copies by two threads, for a limit of 2");
        seen.note_if(copies == 2, "reached", "exceeded");
    });
}
