//! Batches write all of their answers, over whatever was there before.

use guira::{
    Contains, CuckooFilter, CuckooMap, ExpiringFilter, GrowingExpiringFilter, GrowingFilter,
    GrowingMap, Hashed,
};

/// Numbers of keys: few are looked up one by one, and others in groups and a rest.
const NUMBERS: [usize; 8] = [1, 5, 6, 8, 17, 64, 67, 200];

fn check_lookups(filter: &dyn Contains<Hashed>) {
    for number in NUMBERS {
        let hashes: Vec<u64> = (0..number as u64).collect();
        let mut found = vec![true; number];
        assert_eq!(filter.contains_batch(Hashed::slice(&hashes), &mut found), 0);
        assert!(!found.contains(&true), "{number} keys: an old answer was left");
    }
}

/// Keys that are absent are answered, too.
#[test]
fn lookups_of_absent_keys_write_their_answers() {
    check_lookups(&CuckooFilter::with_capacity(1_000));
    check_lookups(&GrowingFilter::with_capacity(1_000));
    check_lookups(&CuckooMap::with_capacity(1_000));
    check_lookups(&GrowingMap::with_capacity(1_000));
    check_lookups(&ExpiringFilter::builder().capacity(1_000).window(13).build().unwrap());
    check_lookups(&GrowingExpiringFilter::builder().capacity(1_000).window(13).build().unwrap());
}

/// The same of values, removals and unique inserts.
#[test]
fn other_batches_write_their_answers() {
    let (map, growing) = (CuckooMap::with_capacity(1_000), GrowingMap::with_capacity(1_000));
    let (set, seen) = (
        CuckooFilter::with_capacity(1_000),
        ExpiringFilter::builder().capacity(1_000).window(13).build().unwrap(),
    );
    for number in NUMBERS {
        let hashes: Vec<u64> = (0..number as u64).collect();
        let keys = Hashed::slice(&hashes);
        let (mut found, mut values) = (vec![true; number], vec![Some(7); number]);
        assert_eq!(map.get_batch(keys, &mut values), 0);
        assert!(values.iter().all(Option::is_none), "{number}");
        let mut values = vec![Some(7); number];
        assert_eq!(growing.get_batch(keys, &mut values), 0);
        assert!(values.iter().all(Option::is_none), "{number}");
        assert_eq!(set.remove_batch(keys, &mut found), 0);
        assert!(!found.contains(&true), "{number}");
        found.fill(true);
        assert_eq!(map.remove_batch(keys, &vec![7; number], &mut found), 0);
        assert!(!found.contains(&true), "{number}");
        // What is present is not added.
        set.insert_batch(keys).expect("room");
        found.fill(true);
        assert_eq!(set.insert_unique_batch(keys, &mut found), Ok(0));
        assert!(!found.contains(&true), "{number}");
        seen.insert_batch(keys).expect("room");
        found.fill(true);
        assert_eq!(seen.insert_unique_batch(keys, &mut found), Ok(0));
        assert!(!found.contains(&true), "{number}");
        assert_eq!(set.remove_batch(keys, &mut found), number);
        seen.clear();
    }
}
