//! The suite for every kind of filter, with the default hasher and with worse ones.

mod common;

use common::suite::suite;

suite!(good);
// The worst ones: most items are aliases.
suite!(bad);
suite!(bad_high);
// In between, what depends on how items spread.
suite!(identity: model, readers_beside_writers_miss_nothing, many_threads_fill);
suite!(truncated_16: model, readers_beside_writers_miss_nothing, many_threads_fill);
