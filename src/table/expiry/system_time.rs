//! The clock of filters that keep time: the monotonic clock of the system, the coarse one on Linux.
//!
//! Every write reads it. The coarse clock takes 10 ns where `Instant` takes 25 (on a virtual
//! machine; a real one takes half as long), and it never needs a system call. If only every n-th
//! write read a clock, it would cost nothing, but nobody would know when the others came: after a
//! pause, the filter would have to remember what is long due for another time to live.

/// Largest time by which the clock lags behind, in nanoseconds. One processor moves the coarse
/// clock at each of its ticks, at least 100 times in a second, by whole ticks: the rest, less than
/// one, stays out. Since Linux 5.18, another processor does so at the fifth tick at which it finds
/// the clock unmoved, so after six. These are seven ticks, and this is a little more.
/// `docs/expiry.md` says when that does not hold. The same on all systems, since a snapshot may be
/// loaded on another one.
pub(crate) const MAX_LAG: u64 = 72_000_000;

/// Nanoseconds since some time before the first call.
#[cfg(all(feature = "std", target_os = "linux"))]
pub(super) fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is that of a local variable. The call cannot fail for this clock; if it
    // did, the clock would stand still.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds since the first call.
#[cfg(all(feature = "std", not(target_os = "linux")))]
pub(super) fn now() -> u64 {
    use std::{sync::OnceLock, time::Instant};

    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}
