//! Expiry: the clock of a table whose slots have ages, who makes it tick, and the steps and sweeps
//! of such tables. `clock.rs` has the protocol.

mod advance;
mod clock;
mod generations;
mod keeper;
mod schedule;
mod stamp_counts;
mod steps;
mod system_time;
mod time;

pub use clock::Generations;
#[cfg(feature = "std")]
pub(crate) use clock::MAX_STAMPS;
pub(crate) use clock::stamp_bits;
pub use generations::{ClockAndSweep, SweepState};
pub(crate) use schedule::MAX_READING;
pub use schedule::{ClockState, TimeSource};
pub use steps::Aged;
pub(crate) use system_time::MAX_LAG;
pub use time::Clock;
