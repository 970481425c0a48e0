//! Maps: values beside fingerprints.

use guira::CuckooMap;

#[test]
fn a_value_is_found_replaced_and_removed() {
    let map = CuckooMap::builder().capacity(10_000).value_bits(4).seed(1).build().unwrap();
    for key in 0..10_000_u64 {
        map.insert(&key, (key % 16) as u16).unwrap();
    }
    for key in 0..10_000_u64 {
        assert!(map.values(&key).any(|value| u64::from(value) == key % 16));
        assert!(map.get(&key).is_some());
    }
    for key in 0..10_000_u64 {
        assert!(map.remove(&key, (key % 16) as u16));
    }
    assert!(map.is_empty());
}
