//! The suite for both engines, with the default hasher and with worse ones.

mod common;

use common::suite::suite;

suite!(good);
suite!(identity);
suite!(bad);
suite!(bad_high);
suite!(truncated_32);
suite!(truncated_high);
suite!(truncated_16);
