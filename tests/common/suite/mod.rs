//! The tests that hold for every kind of filter, with any hasher, however bad.

mod compare;
mod limits;
mod model;
mod whole;

pub use limits::copies_are_limited;
pub use model::{Checker, model};

use std::hash::BuildHasher;

use super::{
    Watchdog,
    churn::{Plan, churn},
    kind::{Kind, Maker, Of},
    races, scaled,
};

/// Numbers of buckets to try, at first if a filter grows.
pub const SIZES: [usize; 5] = [1, 2, 3, 8, 40];

/// Two layouts of a kind.
fn two_layouts<K: Kind>() -> [guira::Layout; 2] {
    let layouts = K::layouts();
    [layouts[layouts.len() / 3], layouts[layouts.len() * 2 / 3]]
}

/// A clone, as a copy for [`churn`].
pub fn cloned<K: Kind, S: BuildHasher + Clone>(filter: &Of<K, S>, _number: u64) -> Of<K, S> {
    filter.try_clone().expect("a small filter")
}

pub fn readers_beside_writers_miss_nothing<K, S>(make: Maker<K, S>)
where
    K: Kind,
    S: BuildHasher + Clone + Send + Sync,
{
    let layouts = K::layouts();
    // As many reads in all, however many layouts there are.
    let share = |all: u64| all * 8 / layouts.len() as u64;
    for (number, &layout) in layouts.iter().enumerate() {
        let plan = Plan {
            layout,
            buckets: 48,
            readers: 2,
            writers: 2,
            reads: share(scaled(30_000, 60_000)),
            changes: share(scaled(2_000, 4_000)),
            copies: 5,
            seed: 31 + number as u64,
        };
        churn::<K, S>(make, &plan, &cloned::<K, S>);
    }
}

pub fn many_threads_fill<K: Kind, S: BuildHasher + Send + Sync>(make: Maker<K, S>) {
    for layout in K::layouts() {
        races::fill_on::<K, S>(make, layout, 100);
    }
}

pub fn clone_beside_movers<K: Kind, S>(make: Maker<K, S>)
where
    S: BuildHasher + Clone + Send + Sync,
{
    for layout in two_layouts::<K>() {
        // With a bad hasher, there may be no changes, as the filter is as full as it can be.
        let (reads, changes) = (10_000, 0);
        let plan = Plan {
            layout,
            buckets: 6_000,
            readers: 1,
            writers: 1,
            reads,
            changes,
            copies: scaled(10, 20),
            seed: 42,
        };
        churn::<K, S>(make, &plan, &cloned::<K, S>);
    }
}

/// Runs a test with a watchdog.
pub fn watched<K: Kind, S>(name: &'static str, test: impl FnOnce(Maker<K, S>), make: Maker<K, S>) {
    let _watchdog = Watchdog::new(name);
    test(make);
}

/// Tests, each of them a function that is generic over the growth of a set, for both.
macro_rules! on_both_engines {
    ($($test:ident),* $(,)?) => {
        mod fixed {
            $(#[test]
            fn $test() {
                super::$test::<guira::kind::Fixed>();
            })*
        }

        mod growing {
            $(#[test]
            fn $test() {
                super::$test::<guira::kind::Growing>();
            })*
        }
    };
}
pub(crate) use on_both_engines;

/// Tests, each of them a function that is generic over the kind, for these kinds of filters.
macro_rules! on_kinds {
    ([$($kind:ident: $type:ident),* $(,)?] $tests:tt) => {
        $($crate::common::suite::on_kinds!(@ $kind $type $tests);)*
    };
    (@ $kind:ident $type:ident {$($test:ident),* $(,)?}) => {
        mod $kind {
            $(#[test]
            fn $test() {
                super::$test::<$crate::common::kind::$type>();
            })*
        }
    };
}
pub(crate) use on_kinds;

/// As above, for all kinds.
macro_rules! on_all_kinds {
    ($($test:ident),* $(,)?) => {
        $crate::common::suite::on_kinds! {
            [
                sets: Sets,
                growing_sets: GrowingSets,
                maps: Maps,
                growing_maps: GrowingMaps,
                expiring: ExpiringSets,
                growing_expiring: GrowingExpiringSets,
            ]
            {$($test),*}
        }
    };
}
pub(crate) use on_all_kinds;

/// As above, for sets and maps.
macro_rules! on_permanent_kinds {
    ($($test:ident),* $(,)?) => {
        $crate::common::suite::on_kinds! {
            [sets: Sets, growing_sets: GrowingSets, maps: Maps, growing_maps: GrowingMaps]
            {$($test),*}
        }
    };
}
pub(crate) use on_permanent_kinds;

/// A module of tests for one hasher of `hashers`, and all kinds of filters.
macro_rules! suite {
    ($make:ident) => {
        $crate::common::suite::suite! {
            $make:
            model,
            copies_are_limited,
            readers_beside_writers_miss_nothing,
            many_threads_fill,
            clone_beside_movers,
        }
    };
    ($make:ident: $($test:ident),* $(,)?) => {
        mod $make {
            use crate::common::{hashers, kind::Kind, suite};

            suite::on_all_kinds! { $($test),* }

            $(fn $test<K: Kind>() {
                suite::watched::<K, _>(
                    stringify!($test),
                    suite::$test::<K, hashers::Part>,
                    hashers::$make::<K::Contents, K::Growth>,
                );
            })*
        }
    };
}
pub(crate) use suite;
