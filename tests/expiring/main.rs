//! Expiring filters, of a fixed size and growing: how long an item is found, under every operation,
//! and beside threads.

#[path = "../common/mod.rs"]
mod common;
mod growth;
mod settings;
mod threads;
mod ttl;

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use common::{
    Subject,
    kind::{occupied, stamp_bits},
    suite::on_both_engines,
};
use guira::{Filter, FilterBuilder, InsertError, Layout, kind::Expiring};

on_both_engines! {
    a_full_filter_loses_nothing,
}

/// All windows with stamps of up to 4 bits, and the longest ones with 5 and with 8 bits.
const WINDOWS: [u32; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 29, 253];

/// The layouts with stamps for a window.
fn layouts<G: Subject>(window: u32) -> impl Iterator<Item = Layout> {
    let layout = if <G as Subject>::GROWS { Layout::growing } else { Layout::with_values };
    (2..=6).filter_map(move |slots| layout(slots, stamp_bits(window)))
}

/// A builder with a window and a seed.
fn builder<G: Subject>(capacity: usize, window: u32) -> FilterBuilder<Expiring, G> {
    Filter::<Expiring, G>::builder().capacity(capacity).window(window).seed(7)
}

/// Ends the loops of all threads when it is dropped: at the end of a test, or after a failure.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

fn a_full_filter_loses_nothing<G: Subject>() {
    for window in [1, 5, 13, 253] {
        let filter = builder::<G>(500, window).build().expect("a small filter");
        G::set_max_bytes(&filter, Some(0));
        let most = 4 * filter.slots() as u64;
        let fitted: Vec<u64> = (0..most).filter(|key| filter.insert(key).is_ok()).collect();
        assert!((filter.capacity()..=filter.slots()).contains(&fitted.len()));
        assert_eq!(filter.len(), fitted.len());
        let absent =
            (most..9 * most).find(|key| !filter.contains(key) && filter.insert(key).is_err());
        let absent = absent.expect("a key without room");
        assert_eq!(filter.insert(&absent), Err(InsertError::Full));
        assert_eq!(filter.insert_for(&absent, 1), Err(InsertError::Full));
        assert_eq!(filter.insert_unique(&absent), Err(InsertError::Full));
        let error = filter.insert_batch([absent; 9]).expect_err("no room");
        assert!(error.failures().eq((0..9).map(|position| (position, InsertError::Full))));
        assert_eq!((error.added(), error.tried()), (0, 9));
        let error = filter.insert_unique_batch(&[0, absent], &mut [false; 2]).expect_err("no room");
        let failures: Vec<_> = error.failures().collect();
        assert_eq!(failures, [(1, InsertError::Full)], "window {window}");
        assert_eq!((error.added(), error.tried(), error.is_complete()), (0, 2, true));
        assert_eq!(filter.insert_unique_mask(&[absent, 0]).refused, 1);
        assert!(fitted.iter().all(|key| filter.contains(key)));
        // What has expired makes room, without a sweep.
        for _ in 0..=window {
            filter.advance();
        }
        assert_eq!(filter.insert(&absent), Ok(filter.generation()));
    }
}
