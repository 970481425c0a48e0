//! Code shared with the measuring program: keys and cores. Its allocator, on huge pages, comes along.

pub use guira_bench::{BATCH, Cores, Keys, Pick};
