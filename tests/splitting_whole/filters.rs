//! Snapshots of filters.

use guira::{GrowingFilter, LoadError};

/// A filter with ghosts: the layout has short tails, and the first size is small.
fn grown() -> GrowingFilter {
    let builder = GrowingFilter::builder().capacity(1).layout(guira::Layout::Growing5x12);
    let filter = builder.seed(7).build().expect("a filter");
    filter.insert_batch(0..120_000).expect("room");
    for key in 0..20_000 {
        assert!(filter.remove(&key));
    }
    filter
}

#[test]
fn a_filter_is_saved_and_loaded() {
    let filter = grown();
    let bytes = filter.to_bytes();
    let loaded = GrowingFilter::loader().bytes(&bytes).expect("a snapshot");
    assert_eq!((loaded.len(), filter.len()), (100_000, 100_000));
    assert_eq!(loaded.to_bytes(), bytes);
    // Both go on alike.
    for filter in [&filter, &loaded] {
        filter.insert_batch(200_000..300_000).expect("room");
        assert!((20_000..120_000).chain(200_000..300_000).all(|key| filter.contains(&key)));
    }
    assert!(loaded.to_bytes() == filter.to_bytes());
    let copy = loaded.clone();
    assert_eq!((copy.len(), loaded.clear(), loaded.len()), (200_000, (), 0));
    assert!(copy.to_bytes() == filter.to_bytes());
}

#[test]
fn a_dump_has_the_bytes_of_a_snapshot() {
    let filter = grown();
    let mut dump = filter.dump();
    while !dump.prepare(&filter, 1).expect("memory") {}
    let mut bytes = vec![0; dump.len() as usize + 1];
    let mut read = 0;
    for len in (1..).step_by(997) {
        let end = bytes.len().min(read + len);
        match dump.read_at(&filter, read as u64, &mut bytes[read..end]) {
            0 => break,
            more => read += more,
        }
    }
    assert!(bytes[..read] == filter.to_bytes());
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let bytes = grown().to_bytes();
    for at in (0..160).chain((160..bytes.len()).step_by(10_007)) {
        for bit in [0, 6] {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            assert!(GrowingFilter::loader().bytes(&bytes).is_err(), "byte {at}");
        }
    }
    let truncated = GrowingFilter::loader().bytes(&bytes[..bytes.len() - 1]);
    assert!(matches!(truncated, Err(LoadError::Truncated { .. })));
    // A header of the largest size that its start can name.
    let mut most = bytes[..200].to_vec();
    (most[13], most[14]) = (33, 33);
    assert!(GrowingFilter::loader().bytes(&most).is_err());
}
