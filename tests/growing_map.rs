//! Growing maps.

use guira::GrowingMap;

#[test]
fn smoke() {
    for bits in 0..=16 {
        let map = GrowingMap::builder().capacity(1_000).value_bits(bits).seed(1).build().unwrap();
        let value = |key: u64| (key % (1 << bits)) as u16;
        for key in 0..100_000_u64 {
            map.insert(&key, value(key)).unwrap();
        }
        assert!(map.segments().len() > 1);
        println!("{bits} {:?} {}", map.segments().collect::<Vec<_>>(), map.false_positive_rate());
        for key in 0..100_000_u64 {
            assert!(map.values(&key).any(|v| v == value(key)));
            assert!(map.get(&key).is_some() && map.by_hash().contains(map.hasher().hash_one(key)));
        }
        let false_hits = (100_000..200_000).filter(|key: &u64| map.get(key).is_some()).count();
        println!("{false_hits}");
        for key in 0..100_000_u64 {
            assert!(map.remove(&key, value(key)));
        }
        assert!(map.is_empty());
    }
}
use std::hash::BuildHasher;
