//! The tests that hold for every engine, with any hasher, however bad.

mod limits;
mod model;
mod whole;

pub use limits::{batch_errors_list_positions, copies_are_limited, refusals_change_nothing};
pub use model::model;
pub use whole::{clear_beside_readers, clone_beside_movers};

/// Numbers of buckets (of the first segment) to try.
pub const SIZES: [usize; 5] = [1, 2, 3, 8, 40];

/// Tests, each of them a function that is generic over the engine, for both engines.
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

/// A module of tests for one hasher of `hashers` and both engines.
macro_rules! suite {
    ($make:ident) => {
        mod $make {
            use crate::common::{
                Subject, Watchdog,
                churn::{Plan, churn_on},
                hashers, races, scaled,
                suite::{self, on_both_engines},
            };
            use guira::Layout;

            on_both_engines! {
                model,
                refusals_change_nothing,
                copies_are_limited,
                batch_errors_list_positions,
                readers_beside_writers_miss_nothing,
                racing_removals_take_each_copy_once,
                insert_unique_excludes,
                many_threads_fill,
                clear_beside_readers,
                clone_beside_movers,
            }

            fn model<E: Subject>() {
                let _watchdog = Watchdog::new("model");
                suite::model(hashers::$make::<guira::kind::Set, E>);
            }

            fn refusals_change_nothing<E: Subject>() {
                let _watchdog = Watchdog::new("refusals_change_nothing");
                suite::refusals_change_nothing(hashers::$make::<guira::kind::Set, E>);
            }

            fn copies_are_limited<E: Subject>() {
                suite::copies_are_limited(hashers::$make::<guira::kind::Set, E>);
            }

            fn batch_errors_list_positions<E: Subject>() {
                suite::batch_errors_list_positions(hashers::$make::<guira::kind::Set, E>);
            }

            fn readers_beside_writers_miss_nothing<E: Subject>() {
                let _watchdog = Watchdog::new("readers_beside_writers_miss_nothing");
                for (number, &layout) in Layout::ALL.iter().enumerate() {
                    let plan = Plan {
                        layout,
                        buckets: 48,
                        readers: 2,
                        writers: 2,
                        reads: scaled(30_000, 60_000),
                        changes: scaled(2_000, 4_000),
                        seed: 31 + number as u64,
                    };
                    churn_on(hashers::$make::<guira::kind::Set, E>, &plan);
                }
            }

            fn racing_removals_take_each_copy_once<E: Subject>() {
                let _watchdog = Watchdog::new("racing_removals_take_each_copy_once");
                races::removals_of_one_copy(
                    hashers::$make::<guira::kind::Set, E>,
                    Layout::Plain6x10,
                );
                races::removals_balance(hashers::$make::<guira::kind::Set, E>, Layout::Plain4x16);
            }

            fn insert_unique_excludes<E: Subject>() {
                let _watchdog = Watchdog::new("insert_unique_excludes");
                races::unique_excludes(hashers::$make::<guira::kind::Set, E>, Layout::Plain8x8);
                races::unique_excludes(hashers::$make::<guira::kind::Set, E>, Layout::Plain4x16);
            }

            fn many_threads_fill<E: Subject>() {
                let _watchdog = Watchdog::new("many_threads_fill");
                for &layout in Layout::ALL {
                    races::fill_on(hashers::$make::<guira::kind::Set, E>, layout, 100);
                }
            }

            fn clear_beside_readers<E: Subject>() {
                let _watchdog = Watchdog::new("clear_beside_readers");
                suite::clear_beside_readers(
                    hashers::$make::<guira::kind::Set, E>,
                    Layout::Plain4x16,
                );
                suite::clear_beside_readers(
                    hashers::$make::<guira::kind::Set, E>,
                    Layout::SemiSorted5x14,
                );
            }

            fn clone_beside_movers<E: Subject>() {
                let _watchdog = Watchdog::new("clone_beside_movers");
                suite::clone_beside_movers(
                    hashers::$make::<guira::kind::Set, E>,
                    Layout::Plain4x16,
                );
                suite::clone_beside_movers(
                    hashers::$make::<guira::kind::Set, E>,
                    Layout::SemiSorted5x14,
                );
            }
        }
    };
}
pub(crate) use suite;
