//! What the workspace's reports share: plots, tables, and what machine they were made on.

#[path = "../../benches/common/mod.rs"]
mod common;

pub mod machine;
pub mod plot;
pub mod table;
