//! Snapshots that are taken beside writers: they hold every item that was there throughout, as
//! often as it was.

use guira::Layout;

use super::common::{
    Watchdog,
    churn::{Plan, churn},
    hashers,
    kind::{Kind, Of},
    rng,
    saved::{loader, pushed},
    scaled,
    suite::on_all_kinds,
};

/// Some layouts of a kind, of filters that can be filled to 95 % of their slots.
fn some_layouts<K: Kind>() -> Vec<Layout> {
    let layouts = K::layouts()
        .into_iter()
        .filter(|layout| layout.slots_per_bucket() > 3 && layout.fingerprint_bits() > 8);
    let layouts: Vec<Layout> = layouts.collect();
    let last = layouts.len() - 1;
    vec![layouts[0], layouts[last / 2], layouts[last]]
}

/// A filter that is saved and loaded, in one of several ways.
fn reloaded<K: Kind>(filter: &Of<K>, number: u64) -> Of<K> {
    let bytes = if number.is_multiple_of(2) {
        filter.to_bytes()
    } else {
        let mut bytes = Vec::new();
        filter.write_to(&mut bytes).expect("memory");
        bytes
    };
    let copy = if number.is_multiple_of(3) {
        pushed::<K>(&bytes, 1 << 24, &mut rng(number))
    } else {
        loader::<K>().reader(&bytes[..])
    };
    copy.expect("a snapshot")
}

/// Filters that writers keep at 95 % load of their present slots.
fn snapshots_are_complete<K: Kind>() {
    let _watchdog = Watchdog::new("snapshots_are_complete");
    for layout in some_layouts::<K>() {
        let (buckets, copies) = (500, scaled(20, 100));
        let (reads, changes) = (10_000, 1_000);
        let plan =
            Plan { layout, buckets, readers: 1, writers: 2, reads, changes, copies, seed: 3 };
        churn::<K, _>(hashers::default, &plan, &reloaded::<K>);
    }
}

on_all_kinds! { snapshots_are_complete }
